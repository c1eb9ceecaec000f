"""Tokenizers of translations and summaries, rule by rule, in plain Python.

NIST, mteval-v13a.pl and mteval-v14.pl (NormalizeText and tokenization_international), which sacrebleu (M. Post, WMT
2018) follows; C.-Y. Lin, ROUGE-1.5.5.pl. The scripts are a list of substitutions, s/AB/A B /g, each made on what the
one before left, everywhere from left to right; what was matched is not looked at again. Then the line is split at
blanks.

What sacrebleu does otherwise: it drops white space at the end of a line before anything else; `zh` compares characters
with the ends of ranges as strings, and some of these have two characters.

Unicode's categories are those of Python: characters that came into Unicode later have none here.
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
# How Unicode's names of letters and letter numbers begin that belong to a script without spaces.
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


def is_no_digit(character: str) -> bool:
    return character not in DIGITS


def put_spaces_around(text: str, wanted: Is) -> str:
    """s/(X)/ $1 /g"""
    return "".join(f" {character} " if wanted(character) else character for character in text)


def part(text: str, first: Is, second: Is, form: str) -> str:
    """s/(A)(B)/form/g, where the form says where spaces come: "{} {} " or " {} {}"."""
    parted, place = [], 0
    while place < len(text):
        if place + 1 < len(text) and first(text[place]) and second(text[place + 1]):
            parted.append(form.format(text[place], text[place + 1]))
            place += 2
        else:
            parted.append(text[place])
            place += 1
    return "".join(parted)


def western(text: str) -> list[str]:
    """The language-dependent part of mteval-v13a."""
    text = put_spaces_around(text, ASCII_SYMBOLS.__contains__)
    text = part(text, is_no_digit, is_mark, "{} {} ")
    text = part(text, is_mark, is_no_digit, " {} {}")
    text = part(text, is_digit, "-".__eq__, "{} {} ")
    return text.split()


def thirteen_a(text: str) -> list[str]:
    text = text.rstrip().replace("<skipped>", "").replace("-\n", "").replace("\n", " ")
    for entity, character in ENTITIES:
        text = text.replace(entity, character)
    return western(f" {text} ")


def international(text: str) -> list[str]:
    text = text.rstrip()
    text = part(text, lambda c: category(c) != "N", lambda c: category(c) == "P", "{} {} ")
    text = part(text, lambda c: category(c) == "P", lambda c: category(c) != "N", " {} {}")
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
    """ROUGE-1.5.5: what is neither a-z nor 0-9 in the text in lower case is a blank."""
    small = set("abcdefghijklmnopqrstuvwxyz0123456789")
    return "".join(character if character in small else " " for character in text.lower()).split()


def unicode_words(text: str) -> list[str]:
    """Runs of letters, marks and numbers; letters of scripts without spaces are apart, with the marks that follow."""
    tokens: list[str] = []
    joined = apart = False
    for character in text.lower():
        kind = category(character)
        spaceless = unicodedata.name(character, "").startswith(SPACELESS)
        if kind not in "LMN":
            joined = apart = False
        elif spaceless and (kind == "L" or unicodedata.category(character) == "Nl"):
            tokens.append(character)
            joined, apart = False, True
        elif joined or (apart and kind == "M"):
            tokens[-1] += character
        else:
            tokens.append(character)
            joined, apart = True, False
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
