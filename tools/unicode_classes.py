"""Write the header unicode_classes.h, which has the class of every code point for the tokenizers.

    python tools/unicode_classes.py

General categories and scripts come from the `regex` module, which sacrebleu's `intl` tokenizer uses. The header names
its version of Unicode. White space is defined by str.split().
"""

import importlib.metadata
import re
from pathlib import Path

import regex

HEADER = Path(__file__).parent.parent / "fastmetrics" / "_kernels" / "text" / "tokens" / "unicode_classes.h"
N_POINTS = 0x110000
BLOCK = 128             # code points in a block; 16 in a word of the table
NAMES = ["OTHER", "LETTER", "UNSPACED_LETTER", "NUMBER", "UNSPACED_NUMBER", "MARK", "PUNCTUATION", "SYMBOL", "SPACE"]
# Scripts without spaces between words. For Han and kana, characters of several scripts are included (scx), such as the
# long vowel mark. For Thai they are not (sc), because one of them is the apostrophe.
UNSPACED_SCRIPTS = ["scx=Hani", "scx=Hira", "scx=Kana", "sc=Thai", "sc=Laoo", "sc=Khmr", "sc=Mymr"]

TEMPLATE = """\
/* Written by tools/unicode_classes.py: the classes of Unicode {version}'s code points.
 *
 * LETTER, NUMBER, MARK, PUNCTUATION and SYMBOL are general categories. UNSPACED_LETTER and UNSPACED_NUMBER are letters
 * and letter numbers of scripts without spaces between words
 * ({scripts}).
 * SPACE is white space as str.split() defines it. Equal blocks of {block} code points are stored once, with four bits
 * per class. */
#ifndef FASTMETRICS_TEXT_TOKENS_UNICODE_CLASSES_H
#define FASTMETRICS_TEXT_TOKENS_UNICODE_CLASSES_H

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
        uint64_t word = fm_classes[fm_class_blocks[point / {block}] * {words_per_block} + point % {block} / 16];
        return (int)(word >> point % 16 * 4 & 15);
    }}
{rest}
    return FM_OTHER;
}}

#endif
"""


def classes() -> list[int]:
    """Return the class of every code point."""
    unspaced = regex.compile("[" + "".join(rf"\p{{{script}}}" for script in UNSPACED_SCRIPTS) + "]")
    unspaced_numbers = regex.compile(r"[\p{Nl}&&\p{scx=Hani}]", flags=regex.V1)
    patterns = [
        ("LETTER", regex.compile(r"\p{L}")),
        ("NUMBER", regex.compile(r"\p{N}")),
        ("MARK", regex.compile(r"\p{M}")),
        ("PUNCTUATION", regex.compile(r"\p{P}")),
        ("SYMBOL", regex.compile(r"\p{S}")),
    ]
    numbers = []
    for point in range(N_POINTS):
        character = chr(point)
        name = next((name for name, pattern in patterns if pattern.match(character)), "OTHER")
        if character.isspace():
            if name != "OTHER":
                raise ValueError(f"U+{point:04X} is white space and {name}")
            name = "SPACE"
        elif name == "LETTER" and unspaced.match(character):
            name = "UNSPACED_LETTER"
        elif unspaced_numbers.match(character):
            name = "UNSPACED_NUMBER"
        numbers.append(NAMES.index(name))
    return numbers


def format_lines(values: list[str], per_line: int) -> str:
    return "\n".join("    " + ", ".join(values[i : i + per_line]) + "," for i in range(0, len(values), per_line))


def header(classes: list[int], version: str) -> str:
    """Return the text of the header. Code points far above the others (so far only marks) are compared by ranges."""
    end = max(point for point in range(0xE0000) if classes[point]) // BLOCK * BLOCK + BLOCK
    blocks: dict[tuple[int, ...], int] = {}
    index = [blocks.setdefault(tuple(classes[i : i + BLOCK]), len(blocks)) for i in range(0, end, BLOCK)]
    words = [
        sum(number << 4 * position for position, number in enumerate(block[i : i + 16]))
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
        scripts=", ".join(UNSPACED_SCRIPTS),
        block=BLOCK,
        names="\n".join(f"    FM_{name} = {number}," for number, name in enumerate(NAMES)),
        n_blocks=len(index),
        blocks=format_lines([str(block) for block in index], 20),
        n_words=len(words),
        words=format_lines([f"{word:#018x}u" for word in words], 5),
        words_per_block=BLOCK // 16,
        end=end,
        rest="\n".join(rest),
    )


def unicode_version() -> str:
    """Return the version of Unicode of the `regex` module, from its description."""
    description = str(importlib.metadata.metadata("regex").get_payload())
    version = re.search(r"This module supports Unicode (\d+\.\d+\.\d+)", description)
    if version is None:
        raise ValueError("the description of regex does not name its version of Unicode")
    return version[1]


if __name__ == "__main__":
    HEADER.write_text(header(classes(), unicode_version()), encoding="ascii")
