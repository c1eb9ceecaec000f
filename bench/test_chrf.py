"""chrF and chrF++ beside sacrebleu."""

from functools import partial

import pytest

import fastmetrics as fm
from bench.race import at_least, count
from bench.texts import n_segments, translations

SENTENCES = 80


@pytest.fixture(scope="module")
def pairs(rows):
    return translations(n_segments(rows))


def sacrebleu(pairs, **options):
    peer = pytest.importorskip("sacrebleu")
    return lambda: peer.CHRF(**options).corpus_score(pairs[0], [pairs[1]]).score


def ours(pairs, **options):
    return fm.corpus_chrf(pairs[0], [pairs[1]], **options).score


@pytest.mark.parametrize(("name", "options"), [("chrF", {}), ("chrF++", {"word_order": 2})])
def test_corpus(race, pairs, name, options):
    work = f"`corpus_chrf`, {name}, {count(len(pairs[0]))} segments"
    race.against(
        work, partial(ours, pairs, **options), "sacrebleu", sacrebleu(pairs, **options), within=0, target=at_least(20),
        rounds=1,
    )  # fmt: skip


def test_one_thread(race, pairs):
    work = f"`corpus_chrf`, chrF, {count(len(pairs[0]))} segments, one thread of ours"
    race.against(work, partial(ours, pairs, n_threads=1), "sacrebleu", sacrebleu(pairs), within=0, rounds=1)


def test_documents(race, pairs):
    """Segments of 10,000 characters: tables instead of masks."""
    joined = [
        [" ".join(own[start : start + SENTENCES]) for start in range(0, len(own), SENTENCES)]
        for own in pairs
    ]
    work = f"`corpus_chrf`, chrF, {count(len(joined[0]))} segments of 10,000 characters"
    race.against(work, partial(ours, joined), "sacrebleu", sacrebleu(joined), within=0, rounds=1)


def test_sentences(race, pairs):
    some = [own[:200] for own in pairs]
    peer = pytest.importorskip("sacrebleu").CHRF()

    def mine():
        return sum(fm.sentence_chrf(one, other).score for one, other in zip(*some, strict=True))

    def theirs():
        return sum(peer.sentence_score(one, [other]).score for one, other in zip(*some, strict=True))

    race.against("`sentence_chrf`, 200 calls", mine, "sacrebleu", theirs, within=0)
