"""BLEU beside sacrebleu, and beside NLTK on the same tokens."""

from functools import partial

import pytest

import fastmetrics as fm
from bench.race import at_least, count
from bench.texts import forget_lines, n_segments, translations


@pytest.fixture(scope="module")
def pairs(rows):
    return translations(n_segments(rows))


def sacrebleu_cold(pairs, **options):
    """sacrebleu as a script calls it."""
    sacrebleu = pytest.importorskip("sacrebleu")
    hypotheses, references = pairs

    def work():
        metric = sacrebleu.BLEU(force=True, **options)
        forget_lines(metric)
        return metric.corpus_score(hypotheses, [references]).score

    return work


def ours(pairs, **options):
    return fm.corpus_bleu(pairs[0], [pairs[1]], **options).score


@pytest.mark.parametrize("tokenize", ["13a", "intl", "zh", "char", "none"])
def test_corpus(race, pairs, tokenize):
    work = f"`corpus_bleu`, {tokenize}, {count(len(pairs[0]))} segments"
    target = at_least(40) if tokenize == "13a" else None
    theirs = sacrebleu_cold(pairs, tokenize=tokenize)
    race.against(work, partial(ours, pairs, tokenize=tokenize), "sacrebleu", theirs, within=0, target=target)


def test_one_thread(race, pairs):
    work = f"`corpus_bleu`, 13a, {count(len(pairs[0]))} segments, one thread of ours"
    race.against(work, partial(ours, pairs, n_threads=1), "sacrebleu", sacrebleu_cold(pairs), within=0)


def test_tokens(race, pairs):
    """The same lists of tokens; every segment has four, for NLTK counts an n-gram in shorter ones."""
    bleu_score = pytest.importorskip("nltk.translate.bleu_score")
    hypotheses, references = ([text.split() for text in own] for own in pairs)
    kept = [number for number, tokens in enumerate(hypotheses) if len(tokens) > 3]
    hypotheses, references = [hypotheses[number] for number in kept], [references[number] for number in kept]
    listed = [[reference] for reference in references]

    def mine():
        return fm.corpus_bleu(hypotheses, [references], smooth="none").score / 100

    work = f"`corpus_bleu`, lists of tokens, {count(len(kept))} segments"
    theirs = partial(bleu_score.corpus_bleu, listed, hypotheses)
    race.against(work, mine, "NLTK", theirs, within=1e-12, target=at_least(30))


def test_sentences(race, pairs):
    """A loop over segments, as decoders score them."""
    sacrebleu = pytest.importorskip("sacrebleu")
    few = list(zip(*pairs, strict=True))[:1000]
    metric = sacrebleu.BLEU(effective_order=True)

    def mine():
        return tuple(fm.sentence_bleu(*pair).score for pair in few)

    def theirs():
        forget_lines(metric)
        return tuple(metric.sentence_score(hypothesis, [reference]).score for hypothesis, reference in few)

    race.against(f"`sentence_bleu`, a loop over {len(few):,}", mine, "sacrebleu", theirs, within=0)
