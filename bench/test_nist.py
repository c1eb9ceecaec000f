"""NIST beside NLTK, on the same lists of tokens: one reference each, so that both mean the same."""

from functools import partial

import pytest

import fastmetrics as fm
from bench.race import at_least, count
from bench.texts import n_segments, translations

SAME = {"information": "formula"}  # to NLTK the word "0" is a word like others


@pytest.fixture(scope="module")
def pairs(rows):
    return translations(n_segments(rows))


@pytest.fixture(scope="module")
def tokens(pairs):
    return [fm.tokenize(own) for own in pairs]


def nltk(tokens):
    nist_score = pytest.importorskip("nltk.translate.nist_score")
    hypotheses, references = tokens
    listed = [[reference] for reference in references]
    return lambda: nist_score.corpus_nist(listed, hypotheses)


def ours(pairs, **options):
    return fm.corpus_nist(*pairs, **options).score


def test_tokens(race, tokens):
    work = f"`corpus_nist`, {count(len(tokens[0]))} segments of tokens"
    race.against(work, partial(ours, tokens, **SAME), "NLTK", nltk(tokens), within=1e-12, target=at_least(40), rounds=1)


def test_one_thread(race, tokens):
    work = f"`corpus_nist`, {count(len(tokens[0]))} segments of tokens, one thread of ours"
    race.against(work, partial(ours, tokens, **SAME, n_threads=1), "NLTK", nltk(tokens), within=1e-12, rounds=1)


def test_texts(race, pairs, tokens):
    """Ours tokenizes as mteval-v13a does; NLTK is given the tokens."""
    work = f"`corpus_nist`, 13a, {count(len(pairs[0]))} segments of text"
    race.against(
        work, partial(ours, pairs, **SAME), "NLTK", nltk(tokens), within=1e-12, rounds=1, note="NLTK is given tokens"
    )
