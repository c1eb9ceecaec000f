"""ROUGE beside rouge-score, on words of real translations: short pairs, long ones, summaries of many sentences, stems.

The peer scores a sample of long pairs, and its time is scaled up.
"""

import os
import random
from functools import lru_cache
from pathlib import Path

import pytest

import fastmetrics as fm

DATA = Path(os.environ.get("FASTMETRICS_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))

SHORT = ["rouge1", "rouge2", "rougeL"]
LONG_SAMPLE = 20  # long pairs that the peer scores


@lru_cache
def real_words():
    path = DATA / "wmt17_ende" / "ref0.txt"
    if not path.is_file():
        pytest.skip(f"no {path}: set FASTMETRICS_DATA")
    return path.read_text(encoding="utf-8").split()


@lru_cache
def pairs(n, n_words, words_per_line=0):
    """Return excerpts of a translation with three words of ten replaced, and the excerpts; in one line or several."""
    chance = random.Random(20260601)
    words = real_words()
    hypotheses, references = [], []
    for _ in range(n):
        start = chance.randrange(len(words) - n_words)
        reference = words[start : start + n_words]
        hypothesis = [chance.choice(words) if chance.random() < 0.3 else word for word in reference]
        for texts, text in ((hypotheses, hypothesis), (references, reference)):
            step = words_per_line or n_words
            texts.append("\n".join(" ".join(text[first : first + step]) for first in range(0, n_words, step)))
    return hypotheses, references


def ours(hypotheses, references, types, **options):
    result = fm.rouge_score(hypotheses, references, types, **options)
    scores = [result[name] for name in types]
    return tuple(values for score in scores for values in (score.precisions, score.recalls, score.fmeasures))


def theirs(hypotheses, references, types, **options):
    rouge_scorer = pytest.importorskip("rouge_score.rouge_scorer")

    def work():
        scorer = rouge_scorer.RougeScorer(types, **options)
        scores = [scorer.score(reference, text) for text, reference in zip(hypotheses, references, strict=True)]
        return tuple([score[name][field] for score in scores] for name in types for field in range(3))

    return work


@pytest.mark.parametrize("stem", [False, True], ids=["words", "stems"])
def test_short_pairs(timing, stem):
    texts = pairs(20_000, 25)
    work = f"`rouge_score`, 1, 2 and L, 20k pairs of 25 words{', stemmed' if stem else ''}"
    timing.compare(
        work, lambda: ours(*texts, SHORT, stem=stem), "rouge-score", theirs(*texts, SHORT, use_stemmer=stem),
        within=0.0, rounds=1,
    )  # fmt: skip


def test_long_pairs(timing):
    texts = pairs(1_000, 1_000)
    sample = [stream[:LONG_SAMPLE] for stream in texts]
    timing.compare(
        "`rouge_score`, 1, 2 and L, 1k pairs of 1,000 words", lambda: ours(*texts, SHORT), "rouge-score",
        theirs(*sample, SHORT), within=0.0, expected=ours(*sample, SHORT), rounds=2,
        scale=1_000 / LONG_SAMPLE,
    )  # fmt: skip


def test_summaries_of_many_sentences(timing):
    texts = pairs(1_000, 200, 20)
    sample = [stream[:100] for stream in texts]
    types = ["rougeLsum"]
    timing.compare(
        "`rouge_score`, Lsum, 1k summaries of 10 sentences", lambda: ours(*texts, types), "rouge-score",
        theirs(*sample, types), within=0.0, expected=ours(*sample, types), rounds=2, scale=10,
    )  # fmt: skip


def test_one_pair(timing):
    texts = pairs(1, 25)
    timing.compare(
        "`rouge_score`, 1, 2 and L, one pair of 25 words", lambda: ours(*texts, SHORT), "rouge-score",
        theirs(*texts, SHORT), within=0.0, rounds=20, calls=10,
    )  # fmt: skip


def test_a_pair_of_fifty_thousand_words(timing):
    texts = pairs(1, 50_000)
    timing.measure("`rouge_score`, 1, 2 and L, one pair of 50,000 words", lambda: ours(*texts, SHORT), rounds=2)
