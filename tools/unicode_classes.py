"""Writes fastmetrics/_kernels/unicodeclasses.h: the class of every code point, as the tokenizers ask for it.

    python tools/unicode_classes.py

General categories and scripts are those of the `regex` module, which sacrebleu's `intl` tokenizer asks; the header says
which version of Unicode that was. White space is what str.split() splits at.
"""

import importlib.metadata
import re
from pathlib import Path

import regex

HEADER = Path(__file__).parent.parent / "fastmetrics" / "_kernels" / "unicodeclasses.h"
N_POINTS = 0x110000
BLOCK = 128             # code points of a block, 16 in a word of the table
NAMES = ["OTHER", "LETTER", "SOLO", "NUMBER", "SOLO_NUMBER", "MARK", "PUNCTUATION", "SYMBOL", "SPACE"]
# Scripts that put no spaces between words. What Han and kana share counts for them (scx), as the long vowel mark; what
# Thai shares with others does not, as the apostrophe.
SOLO_SCRIPTS = ["scx=Hani", "scx=Hira", "scx=Kana", "sc=Thai", "sc=Laoo", "sc=Khmr", "sc=Mymr"]

TEMPLATE = """\
/* Written by tools/unicode_classes.py: the classes of Unicode {version}'s code points.
 *
 * Letters, marks, numbers, punctuation and symbols are general categories. SOLO are letters, and SOLO_NUMBER letter
 * numbers, of scripts without spaces between words ({scripts}).
 * SPACE is what str.split() splits at. Equal blocks of {block} code points are stored once, with four bits a class. */
#ifndef FASTMETRICS_UNICODECLASSES_H
#define FASTMETRICS_UNICODECLASSES_H

#include <stdint.h>

enum {{
{names}
}};

#define FM_UNICODE_VERSION "{version}"

static const uint8_t fm_class_blocks[{n_blocks}] = {{
{blocks}
}};

static const uint64_t fm_classes[{n_words}] = {{
{words}
}};

static inline int fm_unicode_class(uint32_t point) {{
    if (point < {end:#x}u) {{
        uint64_t word = fm_classes[fm_class_blocks[point / {block}] * {words_a_block} + point % {block} / 16];
        return (int)(word >> point % 16 * 4 & 15);
    }}
{rest}
    return FM_OTHER;
}}

#endif
"""


def classes() -> list[int]:
    """The class of every code point."""
    solo = regex.compile("[" + "".join(rf"\p{{{script}}}" for script in SOLO_SCRIPTS) + "]")
    solo_numbers = regex.compile(r"[\p{Nl}&&\p{scx=Hani}]", flags=regex.V1)
    patterns = [
        ("LETTER", regex.compile(r"\p{L}")),
        ("NUMBER", regex.compile(r"\p{N}")),
        ("MARK", regex.compile(r"\p{M}")),
        ("PUNCTUATION", regex.compile(r"\p{P}")),
        ("SYMBOL", regex.compile(r"\p{S}")),
    ]
    found = []
    for point in range(N_POINTS):
        character = chr(point)
        name = next((name for name, pattern in patterns if pattern.match(character)), "OTHER")
        if character.isspace():
            if name != "OTHER":
                raise ValueError(f"U+{point:04X} is white space and {name}")
            name = "SPACE"
        elif name == "LETTER" and solo.match(character):
            name = "SOLO"
        elif solo_numbers.match(character):
            name = "SOLO_NUMBER"
        found.append(NAMES.index(name))
    return found


def lines(values: list[str], a_line: int) -> str:
    return "\n".join("    " + ", ".join(values[i : i + a_line]) + "," for i in range(0, len(values), a_line))


def header(classes: list[int], version: str) -> str:
    """The text of the header. What lies far above the rest (marks only, so far) is compared by ranges."""
    end = max(point for point in range(0xE0000) if classes[point]) // BLOCK * BLOCK + BLOCK
    blocks: dict[tuple[int, ...], int] = {}
    index = [blocks.setdefault(tuple(classes[i : i + BLOCK]), len(blocks)) for i in range(0, end, BLOCK)]
    words = [
        sum(kind << 4 * place for place, kind in enumerate(block[i : i + 16]))
        for block in blocks
        for i in range(0, BLOCK, 16)
    ]
    rest = []
    starts = [p for p in range(end, N_POINTS) if classes[p] and classes[p] != classes[p - 1]]
    for start in starts:
        stop = next(p for p in range(start, N_POINTS) if classes[p] != classes[start])
        rest.append(f"    if (point >= {start:#x}u && point < {stop:#x}u) return FM_{NAMES[classes[start]]};")
    return TEMPLATE.format(
        version=version,
        scripts=", ".join(SOLO_SCRIPTS),
        block=BLOCK,
        names="\n".join(f"    FM_{name} = {number}," for number, name in enumerate(NAMES)),
        n_blocks=len(index),
        blocks=lines([str(block) for block in index], 24),
        n_words=len(words),
        words=lines([f"{word:#018x}u" for word in words], 5),
        words_a_block=BLOCK // 16,
        end=end,
        rest="\n".join(rest),
    )


def unicode_version() -> str:
    described = str(importlib.metadata.metadata("regex").get_payload())
    said = re.search(r"This module supports Unicode (\d+\.\d+\.\d+)", described)
    if said is None:
        raise ValueError("the description of regex does not say its version of Unicode")
    return said[1]


if __name__ == "__main__":
    HEADER.write_text(header(classes(), unicode_version()), encoding="ascii")
