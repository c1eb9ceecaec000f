"""NIST beside NLTK, on the same lists of tokens, with one reference each so that both compute the same score."""

from functools import partial

import pytest

import fastmetrics as fm
from bench.texts import n_segments, translations
from bench.timing import format_count

SAME = {"information": "formula"}  # NLTK has no special rule for the word "0"


@pytest.fixture(scope="module")
def pairs(rows):
    return translations(n_segments(rows))


@pytest.fixture(scope="module")
def tokens(pairs):
    return [fm.tokenize(texts) for texts in pairs]


def nltk(tokens):
    nist_score = pytest.importorskip("nltk.translate.nist_score")
    hypotheses, references = tokens
    reference_lists = [[reference] for reference in references]
    return lambda: nist_score.corpus_nist(reference_lists, hypotheses)


def ours(pairs, **options):
    return fm.corpus_nist(*pairs, **options).score


def test_tokens(timing, tokens):
    work = f"`corpus_nist`, {format_count(len(tokens[0]))} segments of tokens"
    timing.compare(
        work, partial(ours, tokens, **SAME), "NLTK", nltk(tokens), within=1e-12, rounds=1
    )


def test_one_thread(timing, tokens):
    work = f"`corpus_nist`, {format_count(len(tokens[0]))} segments of tokens, one thread of ours"
    timing.compare(work, partial(ours, tokens, **SAME, n_threads=1), "NLTK", nltk(tokens), within=1e-12, rounds=1)


def test_texts(timing, pairs, tokens):
    """Ours tokenizes as mteval-v13a does; NLTK receives the tokens."""
    work = f"`corpus_nist`, 13a, {format_count(len(pairs[0]))} segments of text"
    timing.compare(
        work, partial(ours, pairs, **SAME), "NLTK", nltk(tokens), within=1e-12, rounds=1, note="NLTK is given tokens"
    )
