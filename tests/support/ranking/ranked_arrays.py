"""Measures of one long ranked list in NumPy, for sizes at which the oracles are too slow.

A row is relevant if its grade is at least 1. All judged items are in the list.
"""

import functools
import math
from collections.abc import Callable

import numpy as np

from oracles.ranking import tied_orders

LINEAR = ("cg", "dcg", "mind_mrr", "ndcg", "p", "rbp", "recall", "rprec")
OF_HITS = ("auc", "bpref", "err", "hr", "map", "mrr")


def weights_of_ranks(name: str, n: int, k: int, n_relevant: int) -> np.ndarray:
    """The weight of each rank in a measure that is a sum of gain (or hits) times weight."""
    ranks = np.arange(1, n + 1)
    weight = {
        "cg": np.ones(n),
        "dcg": 1 / np.log2(ranks + 1),
        "ndcg": 1 / np.log2(ranks + 1),
        "mind_mrr": 1 / ranks / n_relevant,
        "p": np.ones(n) / k,
        "rbp": 0.2 * 0.8 ** (ranks - 1),
        "recall": np.ones(n) / n_relevant,
        "rprec": np.ones(n) / n_relevant,
    }[name]
    return np.where(ranks <= (n_relevant if name == "rprec" else k), weight, 0.0)


def linear(name: str, scores: np.ndarray, grades: np.ndarray, k: int) -> float:
    """The expected value of a measure in LINEAR: every row of a tie has the mean gain of the tie."""
    gains = grades if name in ("cg", "dcg", "ndcg") else (grades >= 1).astype(float)
    order = np.argsort(-scores, kind="stable")
    _, tie = np.unique(-scores[order], return_inverse=True)
    means = np.bincount(tie, weights=gains[order]) / np.bincount(tie)
    weights = weights_of_ranks(name, len(scores), k, int((grades >= 1).sum()))
    best = math.fsum(np.sort(gains)[::-1] * weights) if name == "ndcg" else 1.0
    return math.fsum(means[tie] * weights) / best


def of_hits(name: str, scores: np.ndarray, grades: np.ndarray, k: int, **options: str) -> float:
    """The expected value of a measure in OF_HITS, for grades 0 and 1, by drawing rows one by one."""
    relevant = tuple(grade >= 1 for grade in grades.tolist())
    r, n = sum(relevant), len(relevant)

    def final(hits: int, total: float) -> float:
        if name == "auc":
            return (total + 0.5 * (r - hits) * (n - r - (min(k, n) - hits))) / (r * (n - r))
        divisor = {"min": min(k, r), "relevant": r, "k": k, "hits": hits}[options.get("normalize", "relevant")]
        return (total / divisor if hits else 0.0) if name in ("map", "bpref") else total

    cutoff = n if name == "bpref" else min(k, n)
    drawn = draw_hits(name, tuple(scores.tolist()), relevant, cutoff)
    return math.fsum(chance * final(hits, mean) for hits, chance, mean in drawn)


@functools.lru_cache(maxsize=100)
def draw_hits(
    name: str, scores: tuple[float, ...], relevant: tuple[bool, ...], cutoff: int
) -> list[tuple[int, float, float]]:
    """The numbers of hits up to a cutoff, which all divisors of a measure and all cutoffs past the end share."""
    r, n = sum(relevant), len(relevant)
    worst = min(r, n - r)
    gain_of_hit: dict[str, Callable[[int, int], float]] = {
        "auc": lambda above, rank: n - r - (rank - 1 - above),
        "bpref": lambda above, rank: 1 - (min(rank - 1 - above, r) / worst if worst else 0.0),
        "err": lambda above, rank: 0.5 * 0.5**above / rank,
        "hr": lambda above, rank: float(above == 0),
        "map": lambda above, rank: (above + 1) / rank,
        "mrr": lambda above, rank: float(above == 0) / rank,
    }
    return tied_orders.numbers_of_hits(scores, relevant, cutoff, gain_of_hit[name])
