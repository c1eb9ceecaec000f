"""BLEU beside sacrebleu, and beside NLTK on the same tokens."""

from functools import partial

import pytest

import fastmetrics as fm
from bench.texts import clear_line_cache, n_segments, translations
from bench.timing import format_count

ONE_UNIT = 2.0**-51  # relative: our logarithms and exponentials are not those of the C library


@pytest.fixture(scope="module")
def pairs(rows):
    return translations(n_segments(rows))


def sacrebleu_cold(pairs, **options):
    """Return a function that scores with a new sacrebleu metric, as a script does."""
    sacrebleu = pytest.importorskip("sacrebleu")
    hypotheses, references = pairs

    def work():
        metric = sacrebleu.BLEU(force=True, **options)
        clear_line_cache(metric)
        return metric.corpus_score(hypotheses, [references]).score

    return work


def ours(pairs, **options):
    return fm.corpus_bleu(pairs[0], [pairs[1]], **options).score


@pytest.mark.parametrize("tokenize", ["13a", "intl", "zh", "char", "none"])
def test_corpus(timing, pairs, tokenize):
    work = f"`corpus_bleu`, {tokenize}, {format_count(len(pairs[0]))} segments"
    theirs = sacrebleu_cold(pairs, tokenize=tokenize)
    timing.compare(work, partial(ours, pairs, tokenize=tokenize), "sacrebleu", theirs, within=ONE_UNIT)


def test_one_thread(timing, pairs):
    work = f"`corpus_bleu`, 13a, {format_count(len(pairs[0]))} segments, one thread of ours"
    timing.compare(work, partial(ours, pairs, n_threads=1), "sacrebleu", sacrebleu_cold(pairs), within=ONE_UNIT)


def test_tokens(timing, pairs):
    """The same lists of tokens. Segments of less than four are left out: NLTK counts an n-gram in them."""
    bleu_score = pytest.importorskip("nltk.translate.bleu_score")
    hypotheses, references = ([text.split() for text in texts] for texts in pairs)
    kept = [number for number, tokens in enumerate(hypotheses) if len(tokens) > 3]
    hypotheses, references = [hypotheses[number] for number in kept], [references[number] for number in kept]
    reference_lists = [[reference] for reference in references]

    def mine():
        return fm.corpus_bleu(hypotheses, [references], smooth="none").score / 100

    work = f"`corpus_bleu`, lists of tokens, {format_count(len(kept))} segments"
    theirs = partial(bleu_score.corpus_bleu, reference_lists, hypotheses)
    timing.compare(work, mine, "NLTK", theirs, within=1e-12)


def test_sentences(timing, pairs):
    """A loop over segments, as decoders score them."""
    sacrebleu = pytest.importorskip("sacrebleu")
    few = list(zip(*pairs, strict=True))[:1000]
    metric = sacrebleu.BLEU(effective_order=True)

    def mine():
        return tuple(fm.sentence_bleu(*pair).score for pair in few)

    def theirs():
        clear_line_cache(metric)
        return tuple(metric.sentence_score(hypothesis, [reference]).score for hypothesis, reference in few)

    timing.compare(f"`sentence_bleu`, a loop over {len(few):,}", mine, "sacrebleu", theirs, within=ONE_UNIT)
