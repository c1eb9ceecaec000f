"""Tokenizers of translations and summaries, rule by rule, in plain Python.

NIST, mteval-v13a.pl and mteval-v14.pl (NormalizeText and tokenization_international), which sacrebleu (M. Post, WMT
2018) follows; C.-Y. Lin, ROUGE-1.5.5.pl. The scripts are lists of substitutions, s/AB/A B /g. Each is applied to the
result of the one before, from left to right, and does not read a match twice. Then the line is split at blanks.

sacrebleu differs in two points: it first drops white space at the end of a line; and `zh` compares characters with the
ends of ranges as strings, some of which have two characters.

Unicode categories are those of Python. Characters that are newer than its version of Unicode have none here.
"""

import unicodedata
from collections.abc import Callable

Is = Callable[[str], bool]

ASCII_SYMBOLS = set("{|}~[\\]^_` !\"#$%&()*+:;<=>?@/")
DIGITS = set("0123456789")
ENTITIES = [("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")]
CHINESE = [
    ("\u3400", "\u4db5"), ("\u4e00", "\u9fa5"), ("\u9fa6", "\u9fbb"), ("\uf900", "\ufa2d"), ("\ufa30", "\ufa6a"),
    ("\ufa70", "\ufad9"), ("\u2000" "0", "\u2a6d" "6"), ("\u2f80" "0", "\u2fa1" "d"), ("\uff00", "\uffef"),
    ("\u2e80", "\u2eff"), ("\u3000", "\u303f"), ("\u31c0", "\u31ef"), ("\u2f00", "\u2fdf"), ("\u2ff0", "\u2fff"),
    ("\u3100", "\u312f"), ("\u31a0", "\u31bf"), ("\ufe10", "\ufe1f"), ("\ufe30", "\ufe4f"), ("\u2600", "\u26ff"),
    ("\u2700", "\u27bf"), ("\u3200", "\u32ff"), ("\u3300", "\u33ff"),
]  # fmt: skip
# Letters and letter numbers of scripts without spaces have Unicode names that begin like this.
SPACELESS = (
    "CJK ", "HALFWIDTH KATAKANA", "HANGZHOU ", "HENTAIGANA ", "HIRAGANA ", "IDEOGRAPHIC ", "KATAKANA", "KHMER ", "LAO ",
    "MASU ", "MYANMAR ", "OLD CHINESE ", "THAI ", "VERTICAL IDEOGRAPHIC ", "VERTICAL KANA ",
)  # fmt: skip


def category(character: str) -> str:
    return unicodedata.category(character)[0]


def is_mark(character: str) -> bool:
    return character in (".", ",")


def is_digit(character: str) -> bool:
    return character in DIGITS


def is_not_digit(character: str) -> bool:
    return character not in DIGITS


def put_spaces_around(text: str, matches: Is) -> str:
    """Substitute s/(X)/ $1 /g."""
    return "".join(f" {character} " if matches(character) else character for character in text)


def separate_pairs(text: str, first: Is, second: Is, replacement: str) -> str:
    """Substitute s/(A)(B)/replacement/g, where the replacement places the spaces: "{} {} " or " {} {}"."""
    separated, position = [], 0
    while position < len(text):
        if position + 1 < len(text) and first(text[position]) and second(text[position + 1]):
            separated.append(replacement.format(text[position], text[position + 1]))
            position += 2
        else:
            separated.append(text[position])
            position += 1
    return "".join(separated)


def western(text: str) -> list[str]:
    """Apply the language-dependent rules of mteval-v13a."""
    text = put_spaces_around(text, ASCII_SYMBOLS.__contains__)
    text = separate_pairs(text, is_not_digit, is_mark, "{} {} ")
    text = separate_pairs(text, is_mark, is_not_digit, " {} {}")
    text = separate_pairs(text, is_digit, "-".__eq__, "{} {} ")
    return text.split()


def thirteen_a(text: str) -> list[str]:
    text = text.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, character in ENTITIES:
        text = text.replace(entity, character)
    return western(f" {text} ")


def international(text: str) -> list[str]:
    text = text.rstrip()
    text = separate_pairs(text, lambda c: category(c) != "N", lambda c: category(c) == "P", "{} {} ")
    text = separate_pairs(text, lambda c: category(c) == "P", lambda c: category(c) != "N", " {} {}")
    return put_spaces_around(text, lambda c: category(c) == "S").split()


def chinese(text: str) -> list[str]:
    def is_chinese(character: str) -> bool:
        return any(first <= character <= last for first, last in CHINESE)

    return western(put_spaces_around(text.strip(), is_chinese))


def characters(text: str) -> list[str]:
    return [character for character in text if not character.isspace()]


def none(text: str) -> list[str]:
    return text.split()


def alphanumeric(text: str) -> list[str]:
    """ROUGE-1.5.5: in the lower-cased text, every character except a-z and 0-9 becomes a blank."""
    alphanumerics = set("abcdefghijklmnopqrstuvwxyz0123456789")
    return "".join(character if character in alphanumerics else " " for character in text.lower()).split()


def unicode_words(text: str) -> list[str]:
    """Runs of letters, marks and numbers. A letter of a script without spaces is a token, with the marks after it."""
    tokens: list[str] = []
    in_run = after_single = False
    for character in text.lower():
        kind = category(character)
        spaceless = unicodedata.name(character, "").startswith(SPACELESS)
        if kind not in "LMN":
            in_run = after_single = False
        elif spaceless and (kind == "L" or unicodedata.category(character) == "Nl"):
            tokens.append(character)
            in_run, after_single = False, True
        elif in_run or (after_single and kind == "M"):
            tokens[-1] += character
        else:
            tokens.append(character)
            in_run, after_single = True, False
    return tokens


TOKENIZERS = {
    "13a": thirteen_a,
    "intl": international,
    "char": characters,
    "zh": chinese,
    "none": none,
    "alphanumeric": alphanumeric,
    "unicode": unicode_words,
}
