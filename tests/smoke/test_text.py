"""Texts: one hypothesis that has one other word than its reference.

Of its 1-grams to 4-grams 5 of 6, 3 of 5, 1 of 4 and 0 of 3 match; the longest common subsequence has 5 of 6 words.
"""

from math import log2

import pytest

import fastmetrics as fm

from .cases import Case, FileCase, near, of_type, plain

pytestmark = pytest.mark.smoke

HYPOTHESIS = "the cat sat on the mat"
REFERENCE = "the cat is on the mat"
PAIR = ([HYPOTHESIS], [REFERENCE])

# The first of the orders without a match counts half a match: 1/2 of 3 n-grams.
BLEU = near(100 * (5 / 6 * 3 / 5 * 1 / 4 * 1 / 6) ** (1 / 4))
# "abcd" and "abce" have 3 of 4 characters in common and 2 of 3 pairs of them.
CHRF = near(100 * (3 / 4 + 2 / 3) / 2)
# "a" is two of the four words of the reference "a b a c", "b" one; "a b" is one of two pairs that begin with "a".
NIST = near((log2(4 / 2) + log2(4 / 1) + log2(4 / 2)) / 4 + log2(2 / 1) / 3)
# Five words match in two chunks.
METEOR = near(5 / 6 * (1 - 0.5 * (2 / 5) ** 3))
EXACT = {"modules": ("exact",)}
# The number of NLTK 3.10, nltk.translate.meteor_score with a WordNet that knows no synonym.
OBEYS, HEED = "the military always obeys the commands of the party", "the military will forever heed party commands"
NLTK = {"modules": ("exact", "stem"), "alignment": "nltk"}
ROUGE = ("rouge1", "rouge2")
SYSTEMS = {"old": [HYPOTHESIS] * 2, "new": [REFERENCE] * 2}

CASES: list[Case] = [
    ("corpus_bleu", lambda function: function(*PAIR).score, BLEU),
    ("sentence_bleu", lambda function: function(HYPOTHESIS, [REFERENCE]).score, BLEU),
    ("BleuScore", lambda kind: of_type(kind, fm.corpus_bleu(*PAIR)).counts, (5, 3, 1, 0)),
    ("corpus_chrf", lambda function: function(["abcd"], ["abce"], char_order=2).score, CHRF),
    ("sentence_chrf", lambda function: function("abcd", ["abce"], char_order=2).score, CHRF),
    ("ChrfScore", lambda kind: float(of_type(kind, fm.corpus_chrf(["abcd"], ["abce"], char_order=1))), 100 * 3 / 4),
    ("corpus_ter", lambda function: function(*PAIR).score, near(100 * 1 / 6)),
    ("sentence_ter", lambda function: function(HYPOTHESIS, [REFERENCE]).score, near(100 * 1 / 6)),
    ("TerScore", lambda kind: of_type(kind, fm.corpus_ter(*PAIR)).num_edits, 1),
    ("corpus_nist", lambda function: function(["a b a d"], ["a b a c"]).score, NIST),
    ("sentence_nist", lambda function: function("a b a d", ["a b a c"]).score, NIST),
    ("NistScore", lambda kind: of_type(kind, fm.corpus_nist(["a b a d"], ["a b a c"])).individual[0], near(4 / 4)),
    ("corpus_meteor", lambda function: function(*PAIR, **EXACT).score, METEOR),
    ("sentence_meteor", lambda function: function(HYPOTHESIS, [REFERENCE], **EXACT).score, METEOR),
    ("sentence_meteor", lambda function: function(OBEYS, HEED, **NLTK).score, near(0.2777777777777778)),
    ("MeteorScore", lambda kind: of_type(kind, fm.corpus_meteor(*PAIR, **EXACT)).chunks, 2),
    ("rouge_score", lambda function: [function(*PAIR)[name].fmeasure for name in ROUGE], near([5 / 6, 3 / 5])),
    ("RougeResult", lambda kind: of_type(kind, fm.rouge_score(*PAIR))["rougeL"].fmeasure, near(5 / 6)),
    ("RougeScore", lambda kind: of_type(kind, fm.rouge_score(*PAIR)["rougeLsum"]).recall, near(5 / 6)),
    # Lengths of both texts, matches of the four orders, n-grams of the hypothesis.
    ("segment_statistics", lambda function: function("bleu", *PAIR).counts, [[6, 6, 5, 3, 1, 0, 6, 5, 4, 3]]),
    ("SegmentStatistics", lambda kind: of_type(kind, fm.segment_statistics("ter", *PAIR)).score().score, near(100 / 6)),
    ("tokenize", lambda function: function("No, it's 3.5 km."), ["No", ",", "it's", "3.5", "km", "."]),
    ("perplexity", lambda function: function([-1.0, -3.0], base=2), 4),
    ("token_nll", lambda function: function([-1.0, -3.0]), 2),
    (
        "compare_texts",
        lambda function: function(SYSTEMS, [REFERENCE] * 2, "ter").difference("ter").difference,
        near(0 - 100 / 6),
    ),
    ("TextComparison", lambda kind: len(of_type(kind, compared()).differences), 1),
    ("SystemScore", lambda kind: of_type(kind, compared().systems["old"]["ter"]).score, near(100 / 6)),
]

FILE_CASES: list[FileCase] = [
    ("read_segments", lambda function, folder: fm.corpus_ter(function(written(folder)), [REFERENCE] * 2).num_edits, 1),
    ("TextFile", lambda kind, folder: list(of_type(kind, fm.read_segments(written(folder)))), [HYPOTHESIS, REFERENCE]),
]


def compared():
    return fm.compare_texts(SYSTEMS, [REFERENCE] * 2, "ter")


def written(folder):
    (folder / "segments.txt").write_text(f"{HYPOTHESIS}\n{REFERENCE}\n")
    return folder / "segments.txt"


@pytest.mark.parametrize(("name", "call", "expected"), CASES, ids=[name for name, *_ in CASES])
def test_value(name, call, expected):
    assert plain(call(getattr(fm, name))) == expected


@pytest.mark.parametrize(("name", "call", "expected"), FILE_CASES, ids=[name for name, *_ in FILE_CASES])
def test_value_from_files(name, call, expected, tmp_path):
    assert plain(call(getattr(fm, name), tmp_path)) == expected
