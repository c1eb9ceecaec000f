"""Tokenizers against an oracle of their rules, sacrebleu and rouge-score, token by token."""

import importlib.metadata
import re
import sys
import unicodedata
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmetrics._kernels.text.tokens import tokenizers as kernels
from fastmetrics.metrics.text.tokens.tokenizers import ALL_TOKENIZERS, TOKENIZERS, Tokenizer, tokenize
from oracles.text import tokenizers as oracle
from support.cases import assert_raises, each_case
from support.peers import peer

SPACES = [chr(point) for point in range(sys.maxunicode + 1) if chr(point).isspace()]
HARD = [
    *".,.,.,--''&;<>(/0129 \n\t\r\x0b\x1c\x1f\x85\xa0\u200b\u2009\u3000aZzé%$\"()",
    "<skipped>", "<s", "skipped>", "&amp;", "&lt;", "&gt;", "&quot;", "-\n", "&", "lt;", "amp;", "quot;", "&#39;",
    # Digits and numbers that are not 0 to 9; punctuation of every category (Pc Pd Ps Pe Pi Pf Po), symbols of each.
    "٣", "½", "Ⅷ", "²", "〇", "\U0001d7d8", "‿", "—", "⁅", "⁆", "«", "»", "¿", "。", "٫", "，", "№", "€", "^",
    "±", "😀", "\u00a9",
    # Characters at the ends of the ranges of zh, and of its ranges whose ends have two characters.
    "\u2000", "\u2001", "\u2a6d", "\u2a6e", "\u2e7f", "\u2fe0", "\u33ff", "\u4db5", "\u4db6", "\u9fbb", "\u9fbc",
    "\ufa2e", "\ufa6a", "\ufada", "\ufe50", "\uff00", "\uffef", "\ufff0", "\U00020000", "\U0002f800",
    # Characters with special lower case; marks; characters of other planes; a lone surrogate.
    "K", "İ", "ı", "ß", "Σ", "\u0301", "\u0307", "\ufe0f", "\U000e0100", "\U00010400", "\U0010ffff", "\ud800",
]  # fmt: skip
SCRIPTS = {
    "Latin": "The U.S. economy—up 3.5%—didn't \"grow\" in 1,000-year-old Zürich, said J.-P. Łukasz (1990-95).",
    "Cyrillic": "Президент сказал: «Это стоит 2,5 млн руб.», № 5-й.",
    "Greek": "Η τιμή είναι 3,14€· «καλημέρα», είπε ο Γιώργος;",
    "Arabic": "قال الرئيس، ١٢٫٥٪ من الناس؟ نعم! 3.5",
    "Hebrew": "ראש הממשלה אמר: \"זה עולה 12.5₪\", בצה״ל־2.",
    "Devanagari": "प्रधानमंत्री ने कहा, \"१२.५ करोड़ रुपये।\" हिन्दी",
    "Han": "我有3.5元，约1,000-2,000人。（《人民日报》）A股",
    "Kana": "東京タワーは333メートルです。ラーメン、ガガ、々〆ヵ",
    "Thai": "กำลังพัฒนา ๑๒.๕ ล้านบาท (ประเทศไทย) น้ำ",
    "Hangul": "대통령은 2.5% 성장했다고 말했다. \"좋다\"",
    "Khmer": "ភាសាខ្មែរ ១២៣។ ລາວ မြန်မာ",
}
hard_texts = st.lists(st.sampled_from(HARD), max_size=14).map("".join)
marks = st.text("a1.,-' ", max_size=12)
any_text = st.text(st.characters(), max_size=20)
script_texts = st.lists(
    st.one_of(*(st.sampled_from(sorted(set(text))) for text in SCRIPTS.values()), st.sampled_from([*".,- 5"])),
    max_size=20,
).map("".join)
texts = st.one_of(hard_texts, marks, script_texts, any_text)


def is_assigned(text):
    """Whether all characters are assigned in the Unicode version of this Python."""
    return all(unicodedata.category(character) != "Cn" for character in text)


@pytest.fixture(scope="module")
def theirs():
    """The tokenizers of peers by name: functions from a text to its tokens."""
    bleu = peer("sacrebleu.metrics").BLEU
    functions = {
        name: lambda text, tokenizer=tokenizer: tokenizer(text.rstrip()).split()
        for name, tokenizer in {name: bleu(tokenize=name).tokenizer for name in TOKENIZERS}.items()
    }
    rouge = peer("rouge_score.tokenize").tokenize
    return {**functions, "alphanumeric": lambda text: rouge(text, None)}


def classify_all():
    """Return the name of the class of every code point."""
    out = np.empty(sys.maxunicode + 1, np.uint8)
    kernels.classify(np.arange(sys.maxunicode + 1, dtype=np.uint32), out)
    return np.array(kernels.CLASSES)[out]


@pytest.mark.parametrize("name", ALL_TOKENIZERS)
@given(rows=st.lists(texts, max_size=4))
def test_tokens_are_those_of_the_rules(name, rows):
    rows = [text for text in rows if is_assigned(text)]
    assert tokenize(rows, name) == [oracle.TOKENIZERS[name](text) for text in rows]


@pytest.mark.parametrize("name", [*TOKENIZERS, "alphanumeric"])
@given(rows=st.lists(texts, max_size=4))
def test_tokens_are_those_of_peers(theirs, name, rows):
    assert tokenize(rows, name) == [theirs[name](text) for text in rows]


@pytest.mark.parametrize("name", [*TOKENIZERS, "alphanumeric"])
def test_translations_of_news(theirs, name, data_folder):
    paths = sorted((data_folder / "wmt17_ende").glob("*.txt"))
    assert len(paths) == 4
    for number, path in enumerate(paths):
        lines = path.read_text("utf-8").split("\n")[number::4]
        assert tokenize(lines, name) == [theirs[name](line) for line in lines]
        if path.name == "ref0.txt":
            lines = lines[:200]
            assert tokenize(lines, name) == [oracle.TOKENIZERS[name](line) for line in lines]


@each_case("script", SCRIPTS)
@pytest.mark.parametrize("name", ALL_TOKENIZERS)
def test_scripts(theirs, name, script):
    text = SCRIPTS[script]
    tokens = tokenize(text, name)
    assert tokens == oracle.TOKENIZERS[name](text)
    assert name not in theirs or tokens == theirs[name](text)


@each_case("length", range(7))
@pytest.mark.parametrize("name", TOKENIZERS)
def test_all_short_texts_of_marks(theirs, name, length):
    """Rules apply to pairs of characters. This tests every text of these characters."""
    letters = "a1.,- " if length < 6 else "a1. "
    rows = [""]
    for _ in range(length):
        rows = [text + letter for text in rows for letter in letters]
    assert tokenize(rows, name) == [oracle.TOKENIZERS[name](text) for text in rows]


@each_case(
    ("text", "tokens"),
    [
        ("1.,2 a..1 a... 1...2", "1 . , 2 a . .1 a . . . 1 . . .2"),
        (",, 1-2 1--2 a-b -1", ", , 1 - 2 1 - -2 a-b -1"),
        ("it's $5.50/kg", "it's $ 5.50 / kg"),
        ("&amp;lt; &amp;quot; &quot;a&quot;", '< & quot ; " a "'),
        ("&am-\np;lt; &amp;amp;lt;", "< & amp ; lt ;"),
        ("a-\nb a-<skipped>\nb <skip<skipped>ped>c", "ab ab < skipped > c"),
        ("--\n\n end-\n", "- end-"),
        ("a\x1cb\x85c\xa0.5", "a b c . 5"),
    ],
)
def test_examples_of_13a(text, tokens):
    assert tokenize(text) == tokens.split() == oracle.thirteen_a(text)


def test_ends_of_lines_of_intl_and_zh():
    assert tokenize(["5.", " 5.", ".5", " .5", "5. ", "a.", "5.."], "intl") == [
        ["5."], ["5."], [".5"], [".", "5"], ["5."], ["a", "."], ["5", ".", "."],
    ]  # fmt: skip
    assert tokenize([" .5", "5.", "。5.", "-1", "1-"], "zh") == [[".5"], ["5."], ["。", "5."], ["-1"], ["1", "-"]]


@pytest.mark.parametrize("name", ["none", "13a", "intl", "zh", "char"])
def test_white_space_is_that_of_str_split(name):
    assert tokenize("".join(f"a{space}" for space in SPACES), name) == ["a"] * len(SPACES)
    assert {chr(point) for point in np.flatnonzero(classify_all() == "space")} == set(SPACES)


def test_every_character_beside_letters_and_digits(theirs):
    """The ranges of the first plane that have punctuation, or in which the ranges of zh begin and end."""
    points = [*range(0x3500), *range(0x4DA0, 0x4E10), *range(0x9F90, 0x9FD0), *range(0xF8F0, 0x10000)]
    rows = [f"{chr(point)}5.a{chr(point)}.5{chr(point)}" for point in points if not 0xD800 <= point < 0xE000]
    for name in ("13a", "zh", "intl"):
        assert tokenize(rows, name) == [theirs[name](text) for text in rows]


def test_every_character_in_lower_case(theirs):
    text = "".join(f"{chr(point)}a" for point in range(sys.maxunicode + 1))
    assert tokenize(text, "alphanumeric") == theirs["alphanumeric"](text)


def test_classes_are_those_of_the_regex_module():
    """All code points; if `regex` has another version of Unicode, only those with a class in both."""
    regex = peer("regex")
    description = str(importlib.metadata.metadata("regex").get_payload())
    version = re.search(r"supports Unicode (\d+\.\d+\.\d+)", description)
    same_version = version is not None and version[1] == kernels.UNICODE_VERSION
    everything = "".join(map(chr, range(sys.maxunicode + 1)))
    theirs = np.full(sys.maxunicode + 1, "other", dtype="<U12")
    for letter, name in zip("LMNPS", ("letter", "mark", "number", "punctuation", "symbol"), strict=True):
        for found in regex.finditer(rf"\p{{{letter}}}+", everything):
            theirs[found.start() : found.end()] = name
    ours = classify_all()
    ours = np.char.replace(np.where(ours == "space", "other", ours), "unspaced number", "number")
    ours = np.char.replace(ours, "unspaced letter", "letter")
    differ = ours != theirs
    if not same_version:
        differ &= (ours != "other") & (theirs != "other")
    assert np.flatnonzero(differ).tolist() == []


def test_letters_without_spaces_between_words():
    assert tokenize("東京tower 3日", "unicode") == ["東", "京", "tower", "3", "日"]
    assert tokenize("กำลัง", "unicode") == ["ก", "ำ", "ลั", "ง"]
    assert tokenize("HÉLLO, wörld_x हिन्दी e\u0301 x²", "unicode") == ["héllo", "wörld", "x", "हिन्दी", "e\u0301", "x²"]
    classes = classify_all()
    for text in ("中々〇", "ひらがな", "カタカナー", "ไทย", "ລາວ", "ខ្មែរ", "မြန်မာ"):
        letters = [point for point in map(ord, text) if unicodedata.category(chr(point)) != "Mn"]
        assert {str(kind) for kind in classes[letters]} <= {"unspaced letter", "unspaced number", "mark"}


def test_a_text_or_a_list_of_texts():
    assert tokenize("") == []
    assert tokenize([]) == []
    assert tokenize(["", "a.", ""]) == [[], ["a", "."], []]
    assert tokenize(("A.",), lowercase=True) == [["a", "."]]
    assert tokenize("A \ud800.") == ["A", "\ud800", "."]


@each_case(
    ("text", "error"),
    [(None, "text must be"), (5, "text must be"), (b"a", "text must be"), (["a", None], r"text\[1\] must be a string")],
)
def test_bad_texts(text, error):
    assert_raises(TypeError, error, tokenize, text)


def test_unknown_tokenizers():
    assert_raises(ValueError, r"tokenizer must be one of '13a', .* found 'moses'", tokenize, "a", "moses")


@pytest.mark.parametrize("name", ALL_TOKENIZERS)
def test_blocks_with_an_offset(name):
    """A block need not begin at the first code point. A second call reuses the tokenizer's arrays."""
    rows = ["&amp;lt; a-\nb", "", "1.5 東京", "x &lt;y"]
    points = np.array([ord(character) for character in "zzz" + "".join(rows)], np.uint32)
    offsets = 3 + np.cumsum([0, *map(len, rows)])
    tokenizer = Tokenizer(name)
    for _ in range(2):
        token_points, token_starts, text_tokens = tokenizer.split(points, offsets)
        found = [
            ["".join(map(chr, token_points[token_starts[t] : token_starts[t + 1]])) for t in range(first, stop)]
            for first, stop in pairwise(text_tokens)
        ]
        assert found == tokenize(rows, name)
        assert points.tolist() == [ord(character) for character in "zzz" + "".join(rows)]


def test_kernels_reject_outputs_that_are_too_small():
    points, offsets = np.zeros(3, np.uint32), np.array([0, 3])
    outputs = [np.zeros(3, np.uint32), np.zeros(4, np.int64), np.zeros(2, np.int64)]
    for short in range(3):
        shortened = [output[: len(output) - (index == short)] for index, output in enumerate(outputs)]
        assert_raises(ValueError, "too short", kernels.split, 0, points, offsets, *shortened)
    assert_raises(ValueError, "offsets must rise", kernels.split, 0, points[:2], offsets, *outputs)
    assert_raises(ValueError, "empty", kernels.split, 0, points, offsets[:0], *outputs)
    assert_raises(ValueError, "shorter than points", kernels.classify, points, np.zeros(2, np.uint8))


def test_unspaced_letters_are_those_of_the_oracle():
    unspaced = np.flatnonzero(np.char.startswith(classify_all(), "unspaced"))
    names = {chr(point): unicodedata.name(chr(point), "") for point in unspaced.tolist() if is_assigned(chr(point))}
    assert {name for name in names.values() if not name.startswith(oracle.SPACELESS)} == set()
