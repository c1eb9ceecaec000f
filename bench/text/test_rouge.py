"""ROUGE beside rouge-score, on words of real translations: short pairs, long ones, summaries of many sentences, stems.

Of long pairs the peer scores a part, and its time is multiplied.
"""

import os
import random
from functools import lru_cache
from pathlib import Path

import pytest

import fastmetrics as fm
from bench.race import at_least

DATA = Path(os.environ.get("FASTMETRICS_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))

SHORT = ["rouge1", "rouge2", "rougeL"]
LONG_PART = 20


@lru_cache
def real_words():
    path = DATA / "wmt17_ende" / "ref0.txt"
    if not path.is_file():
        pytest.skip(f"no {path}: set FASTMETRICS_DATA")
    return path.read_text(encoding="utf-8").split()


@lru_cache
def pairs(n, n_words, words_per_line=0):
    """Pieces of a translation and the same with three words of ten replaced; in lines, or in one."""
    chance = random.Random(20260601)
    words = real_words()
    hypotheses, references = [], []
    for _ in range(n):
        start = chance.randrange(len(words) - n_words)
        reference = words[start : start + n_words]
        hypothesis = [chance.choice(words) if chance.random() < 0.3 else word for word in reference]
        for texts, own in ((hypotheses, hypothesis), (references, reference)):
            step = words_per_line or n_words
            texts.append("\n".join(" ".join(own[first : first + step]) for first in range(0, n_words, step)))
    return hypotheses, references


def ours(hypotheses, references, types, **options):
    result = fm.rouge_score(hypotheses, references, types, **options)
    scores = [result[name] for name in types]
    return tuple(values for own in scores for values in (own.precisions, own.recalls, own.fmeasures))


def theirs(hypotheses, references, types, **options):
    rouge_scorer = pytest.importorskip("rouge_score.rouge_scorer")

    def work():
        scorer = rouge_scorer.RougeScorer(types, **options)
        scores = [scorer.score(reference, own) for own, reference in zip(hypotheses, references, strict=True)]
        return tuple([score[name][part] for score in scores] for name in types for part in range(3))

    return work


@pytest.mark.parametrize("stem", [False, True], ids=["words", "stems"])
def test_short_pairs(race, stem):
    texts = pairs(20_000, 25)
    work = f"`rouge_score`, 1, 2 and L, 20k pairs of 25 words{', stemmed' if stem else ''}"
    race.against(
        work, lambda: ours(*texts, SHORT, stem=stem), "rouge-score", theirs(*texts, SHORT, use_stemmer=stem),
        within=0.0, target=at_least(40), rounds=1,
    )  # fmt: skip


def test_long_pairs(race):
    texts = pairs(1_000, 1_000)
    part = [own[:LONG_PART] for own in texts]
    race.against(
        "`rouge_score`, 1, 2 and L, 1k pairs of 1,000 words", lambda: ours(*texts, SHORT), "rouge-score",
        theirs(*part, SHORT), within=0.0, expected=ours(*part, SHORT), target=at_least(100), rounds=2,
        scale=1_000 / LONG_PART,
    )  # fmt: skip


def test_summaries_of_many_sentences(race):
    texts = pairs(1_000, 200, 20)
    part = [own[:100] for own in texts]
    types = ["rougeLsum"]
    race.against(
        "`rouge_score`, Lsum, 1k summaries of 10 sentences", lambda: ours(*texts, types), "rouge-score",
        theirs(*part, types), within=0.0, expected=ours(*part, types), target=at_least(40), rounds=2, scale=10,
    )  # fmt: skip


def test_one_pair(race):
    texts = pairs(1, 25)
    race.against(
        "`rouge_score`, 1, 2 and L, one pair of 25 words", lambda: ours(*texts, SHORT), "rouge-score",
        theirs(*texts, SHORT), within=0.0, rounds=20, calls=10,
    )  # fmt: skip


def test_a_pair_of_fifty_thousand_words(race):
    texts = pairs(1, 50_000)
    race.alone("`rouge_score`, 1, 2 and L, one pair of 50,000 words", lambda: ours(*texts, SHORT), rounds=2)
