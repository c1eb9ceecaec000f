"""The Porter stemmer: examples of the paper, and NLTK's default mode as peer on dictionaries, texts and suffixes."""

import itertools
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmetrics._kernels.text.tokens import stemmer
from support.cases import assert_raises, each_case
from support.files.wordnet_files import REQUIRED
from support.peers import peer

WORDNET = Path("/usr/share/wordnet")
ENDINGS = (
    "sses ies ied ss s eed ed ing ated bled ized zzing ssing lled y yy ly ally ational tional enci anci izer "
    "abli bli alli entli eli ousli ization ation ator alism iveness fulness ousness aliti iviti biliti fulli "
    "logi icate ative alize iciti ical ful ness al ance ence er ic able ible ant ement ment ent sion tion ion "
    "ou ism ate iti ous ive ize e ll *ded *ding "
)
SUFFIXES = tuple(ENDINGS.split())
LETTERS = "aeiouyybcdlstzng"
# Examples of the paper, by step, and words that NLTK treats in its own way.
EXAMPLES = {
    "caresses": "caress", "ponies": "poni", "ties": "tie", "caress": "caress", "cats": "cat", "feed": "feed",
    "agreed": "agre", "plastered": "plaster", "bled": "bled", "motoring": "motor", "sing": "sing", "sized": "size",
    "hopping": "hop", "falling": "fall", "hissing": "hiss", "fizzed": "fizz", "filing": "file", "happy": "happi",
    "relational": "relat", "rational": "ration", "radically": "radic", "vietnamization": "vietnam", "geology": "geolog",
    "theology": "theolog", "electrical": "electr", "goodness": "good", "adjustment": "adjust", "replacement": "replac",
    "adoption": "adopt", "probate": "probat", "rate": "rate", "cease": "ceas", "controlling": "control", "roll": "roll",
    "sky": "sky", "skies": "sky", "dying": "die", "news": "news", "innings": "inning", "succeed": "succeed",
    "enjoy": "enjoy", "spied": "spi", "died": "die", "flies": "fli", "dies": "die", "by": "by", "a": "a", "": "",
    "ies": "i", "sss": "sss", "o*ding": "od", "былs": "был",
}  # fmt: skip


def pack_words(words):
    points = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), np.uint32).copy()
    starts = np.zeros(len(words) + 1, np.int64)
    np.cumsum([len(word) for word in words], out=starts[1:])
    return points, starts


def unpack_words(points, starts):
    whole = points[: starts[-1]].tobytes().decode("utf-32-le", "surrogatepass")
    return [whole[start:stop] for start, stop in itertools.pairwise(starts)]


def stems(words, first=0, stop=None, shortest=0):
    points, starts = pack_words(words)
    stop = len(words) if stop is None else stop
    out_points = np.empty(int(starts[stop] - starts[first]), np.uint32)
    out_starts = np.empty(stop - first + 1, np.int64)
    stemmer.stem_words(points, starts, first, stop, out_points, out_starts, shortest)
    return unpack_words(out_points, out_starts)


@pytest.fixture(scope="module")
def nltk_stem():
    return peer("nltk.stem.porter").PorterStemmer().stem


def test_examples():
    assert dict(zip(EXAMPLES, stems(list(EXAMPLES)), strict=True)) == EXAMPLES


def test_examples_are_equal_in_nltk(nltk_stem):
    assert {word: nltk_stem(word) for word in EXAMPLES} == EXAMPLES


def test_words_of_the_dictionary(nltk_stem):
    """Every third word: the peer is slow."""
    files = sorted(WORDNET.glob("index.*"))
    if not files:
        assert not REQUIRED, f"no dictionary at {WORDNET}"
        pytest.skip(f"no dictionary at {WORDNET}")
    lines = (line for file in files for line in file.read_text(encoding="utf-8").splitlines())
    words = sorted({line.split(" ", 1)[0] for line in lines if not line.startswith(" ")})
    assert len(words) > 100_000
    words = words[::3]
    assert stems(words) == [nltk_stem(word) for word in words]


def test_every_word_of_real_text(data_folder, nltk_stem):
    files = sorted((data_folder / "wmt17_ende").glob("*.txt"))
    words = sorted({word.lower() for file in files for word in file.read_text(encoding="utf-8").split()})
    assert len(words) > 10_000
    assert stems(words) == [nltk_stem(word) for word in words]


def test_random_suffixes(nltk_stem):
    chance = random.Random(20260601)
    words = []
    for _ in range(40_000):
        head = "".join(chance.choices(LETTERS, k=chance.randrange(6)))
        words.append(head + "".join(chance.choices(SUFFIXES, k=chance.randrange(1, 4))))
    assert stems(words) == [nltk_stem(word) for word in words]


@given(st.lists(st.text(st.sampled_from(LETTERS + "*1éж\U0001f600"), max_size=12)))
def test_any_letters(words):
    nltk_stem = peer("nltk.stem.porter").PorterStemmer().stem
    assert stems(words) == [nltk_stem(word) for word in words]


@given(st.lists(st.text(max_size=9)))
def test_any_text(words):
    """NLTK does not stem words of one or two letters. It measures the word before lower-casing, here after it.

    The two differ for words that become longer in lower case.
    """
    nltk_stem = peer("nltk.stem.porter").PorterStemmer().stem
    lowered = [word.lower() for word in words]
    assert stems(lowered) == [nltk_stem(word) for word in lowered]
    comparable = [len(word) == len(low) or len(word) > 2 for word, low in zip(words, lowered, strict=True)]
    expected = [nltk_stem(word) for word, is_same in zip(words, comparable, strict=True) if is_same]
    assert [stem for stem, is_same in zip(stems(lowered), comparable, strict=True) if is_same] == expected


def test_short_words_that_grow_in_lower_case(nltk_stem):
    word = "\u0130s"
    assert nltk_stem(word) == word.lower() == "i\u0307s"
    assert stems([word.lower()]) == ["i\u0307"] == [nltk_stem(word.lower())]


def test_runs_of_y(nltk_stem):
    words = ["y" * n + tail for n in range(12) for tail in ("", "s", "ed", "ing", "al", "ement", "e", "ll", "x")]
    assert stems(words) == [nltk_stem(word) for word in words]


def test_time_is_linear_in_a_word_of_a_million_letters():
    """A quadratic algorithm would take days."""
    assert stems(["y" * 1_000_000 + "ing"]) == ["y" * 999_999 + "i"]
    assert stems(["b" * 1_000_000 + "ed"]) == ["b" * 1_000_000 + "ed"]


def test_surrogates_are_stemmed_like_other_letters():
    assert stems(["\ud800s", "\udfffing"]) == ["\ud800s", "\udfffing"]
    assert stems(["a\ud800as"]) == ["a\ud800a"]


def test_ranges_of_words_and_minimum_length():
    words = ["cats", "dogs", "was", "its", "trees"]
    assert stems(words, 1, 3) == ["dog", "wa"]
    assert stems(words, 2, 2) == []
    assert stems(words, shortest=4) == ["cat", "dog", "was", "its", "tree"]
    assert stems([]) == []


@given(st.lists(st.text(st.sampled_from("aelisty"), max_size=9)))
def test_stems_can_be_written_in_place_and_are_never_longer(words):
    expected = stems(words)
    assert all(len(stem) <= len(word) and bool(stem) == bool(word) for stem, word in zip(expected, words, strict=True))
    points, starts = pack_words(words)
    out_starts = np.empty(len(words) + 1, np.int64)
    stemmer.stem_words(points, starts, 0, len(words), points, out_starts)
    assert unpack_words(points, out_starts) == expected


BAD_SIZES = [(0, 3, 9, 9), (1, 0, 9, 9), (-1, 1, 9, 9), (0, 2, 7, 9), (0, 2, 9, 2)]


@each_case(("first", "stop", "n_points", "n_starts"), BAD_SIZES)
def test_bad_ranges_and_outputs_that_are_too_small(first, stop, n_points, n_starts):
    points, starts = pack_words(["cats", "dogs"])
    assert_raises(
        ValueError, "words|out_points|token_starts",
        stemmer.stem_words, points, starts, first, stop, np.empty(n_points, np.uint32), np.empty(n_starts, np.int64),
    )
