"""chrF and chrF++ beside sacrebleu."""

from functools import partial

import pytest

import fastmetrics as fm
from bench.texts import n_segments, translations
from bench.timing import format_count

SEGMENTS_PER_DOCUMENT = 80


@pytest.fixture(scope="module")
def pairs(rows):
    return translations(n_segments(rows))


def sacrebleu(pairs, **options):
    peer = pytest.importorskip("sacrebleu")
    return lambda: peer.CHRF(**options).corpus_score(pairs[0], [pairs[1]]).score


def ours(pairs, **options):
    return fm.corpus_chrf(pairs[0], [pairs[1]], **options).score


@pytest.mark.parametrize(("name", "options"), [("chrF", {}), ("chrF++", {"word_order": 2})])
def test_corpus(timing, pairs, name, options):
    work = f"`corpus_chrf`, {name}, {format_count(len(pairs[0]))} segments"
    timing.compare(
        work, partial(ours, pairs, **options), "sacrebleu", sacrebleu(pairs, **options), within=0,
        rounds=1,
    )  # fmt: skip


def test_one_thread(timing, pairs):
    work = f"`corpus_chrf`, chrF, {format_count(len(pairs[0]))} segments, one thread of ours"
    timing.compare(work, partial(ours, pairs, n_threads=1), "sacrebleu", sacrebleu(pairs), within=0, rounds=1)


def test_documents(timing, pairs):
    """Segments of 10,000 characters, for which the kernel uses tables instead of masks."""
    starts = range(0, len(pairs[0]), SEGMENTS_PER_DOCUMENT)
    joined = [[" ".join(texts[start : start + SEGMENTS_PER_DOCUMENT]) for start in starts] for texts in pairs]
    work = f"`corpus_chrf`, chrF, {format_count(len(joined[0]))} segments of 10,000 characters"
    timing.compare(work, partial(ours, joined), "sacrebleu", sacrebleu(joined), within=0, rounds=1)


def test_sentences(timing, pairs):
    few = list(zip(*pairs, strict=True))[:200]
    peer = pytest.importorskip("sacrebleu").CHRF()

    def mine():
        return sum(fm.sentence_chrf(hypothesis, reference).score for hypothesis, reference in few)

    def theirs():
        return sum(peer.sentence_score(hypothesis, [reference]).score for hypothesis, reference in few)

    timing.compare("`sentence_chrf`, 200 calls", mine, "sacrebleu", theirs, within=0)
