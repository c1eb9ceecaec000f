"""Concordance: how often scores put two rows in the same order as their targets.

Rows are sorted by target and score, then the scores are sorted again by merging, which counts the discordant pairs.
What sorts is NumPy, on unsigned integers that hold two columns: both keys where each has 32 bits, else the first bits
of the target and the number of the row. Counts are whole numbers, and the value is one division of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core.by_score import ordered_keys
from fastmetrics._core.exact import divide
from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._core.rows import SERIAL_ROWS, block_bounds
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._core.weighted import span_of
from fastmetrics._kernels import concordance

__all__ = ["xauc"]

RUN_ROWS = 1 << 16  # sorted by one thread at a time: keys and room fit the second-level cache
WORD_BITS = 63
WEIGHT_BITS = 126
ONE_TARGET = "all targets are equal"


class Pairs(NamedTuple):
    """Pairs of rows with different targets, twice: all, those in the other order, those with tied scores."""

    all: int
    discordant: int
    tied: int

    def share(self) -> float:
        """Concordant pairs and half of the tied, by all pairs; rounded once. There is a pair."""
        return divide(2 * (self.all - self.discordant) - self.tied, 2 * self.all)


class Order(NamedTuple):
    """Keys in the order of (target, score), and weights."""

    targets: np.ndarray
    scores: np.ndarray
    weights: np.ndarray | None


def to_integer(count: np.ndarray) -> int:
    return sum(int(word) << (64 * place) for place, word in enumerate(count.tolist()))


def tie_squares(keys: np.ndarray, others: np.ndarray | None, weights: np.ndarray | None) -> int:
    count = np.zeros(concordance.COUNT_WORDS, np.uint64)
    concordance.add_tie_squares(keys, others, weights, count)
    return to_integer(count)


def whole_weights(weights: np.ndarray) -> np.ndarray:
    """Positive weights as whole numbers below 2**126, in a unit of their own: an array of their words.

    Exactly, unless the greatest is more than 2**126 times the last bit of another: then rounded.
    """
    span = span_of(weights)
    bits = min(span.highest - span.lowest, WEIGHT_BITS)
    whole = np.ldexp(weights, bits - span.highest)
    if bits <= WORD_BITS:
        words: np.ndarray = whole.astype(np.uint64)[:, None]
        return words
    high = np.floor(np.ldexp(whole, -64))
    low = np.rint(whole - np.ldexp(high, 64))
    return np.stack((low.astype(np.uint64), high.astype(np.uint64)), axis=1)


def sort_rows(targets: np.ndarray, scores: np.ndarray, weights: np.ndarray | None, threads: int) -> Order:
    """Rows of ordered keys in the order of target, then score."""
    if targets.dtype == scores.dtype == np.uint32 and weights is None:
        packed = targets.astype(np.uint64)
        packed <<= np.uint64(32)
        packed |= scores
        packed.sort()
        both = packed.view(np.uint32).reshape(-1, 2)
        low, high = (0, 1) if np.little_endian else (1, 0)
        return Order(both[:, high].copy(), both[:, low].copy(), None)
    targets, scores = targets.astype(np.uint64), scores.astype(np.uint64)
    rows = targets.shape[0]
    row_bits = max(1, (rows - 1).bit_length())
    # Targets from 0 on, their first bit at the front: as many bits as the number of the row leaves tell them apart.
    targets -= targets.min()
    targets <<= np.uint64(64 - max(1, int(targets.max()).bit_length()))
    packed = targets >> np.uint64(row_bits)
    packed <<= np.uint64(row_bits)
    packed |= np.arange(rows, dtype=np.uint64)
    packed.sort()
    out = Order(np.empty_like(targets), np.empty_like(scores), None if weights is None else np.empty_like(weights))
    bounds = list(block_bounds(rows))

    def make_worker() -> Callable[[int], None]:
        def work(unit: int) -> None:
            start, stop = bounds[unit]
            concordance.gather_rows(
                packed, (1 << row_bits) - 1, targets, scores, weights, start, stop, out.targets, out.scores, out.weights
            )

        return work

    for_each(len(bounds), make_worker, threads)
    settle(out, row_bits)
    return out


def settle(order: Order, shift: int) -> None:
    """Rows whose targets agree in all bits but the last `shift` are put in order."""
    rows = order.targets.shape[0]
    unsettled = np.empty((rows // 64 + 1, 2), np.int64)
    room, weight_room = rooms(order, min(rows, concordance.ROOM_ROWS))
    n = concordance.settle_rows(*order, shift, room, weight_room, unsettled)
    for start, stop in unsettled[:n].tolist():
        targets, scores = order.targets[start:stop], order.scores[start:stop]
        if order.weights is None and (targets == targets[0]).all():
            scores.sort()
            continue
        places = np.lexsort((scores, targets))
        for column in (targets, scores, order.weights[start:stop] if order.weights is not None else None):
            if column is not None:
                column[:] = column[places]


def rooms(order: Order, rows: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Memory for so many rows, the scores' keys and the weights."""
    weights = None if order.weights is None else np.empty((rows, order.weights.shape[1]), np.uint64)
    return np.empty(rows, order.scores.dtype), weights


def count_discordant(order: Order, threads: int) -> tuple[int, np.ndarray, np.ndarray | None]:
    """Discordant pairs; and the keys of the scores, sorted, with their weights."""
    rows = order.scores.shape[0]
    edges = [(start, min(rows, start + RUN_ROWS)) for start in range(0, rows, RUN_ROWS)]
    counts = np.zeros((len(edges), concordance.COUNT_WORDS), np.uint64)

    def make_worker() -> Callable[[int], None]:
        room = rooms(order, min(rows, RUN_ROWS))

        def work(unit: int) -> None:
            concordance.count_discordant(order.scores, order.weights, *edges[unit], *room, counts[unit])

        return work

    for_each(len(edges), make_worker, threads)
    discordant = sum(map(to_integer, counts))
    runs, other = (order.scores, order.weights), rooms(order, rows if rows > RUN_ROWS else 0)
    run = RUN_ROWS
    while run < rows:
        discordant += merge_all(runs, other, run, threads)
        runs, other = other, runs
        run *= 2
    return discordant, *runs


def merge_all(
    runs: tuple[np.ndarray, np.ndarray | None], out: tuple[np.ndarray, np.ndarray | None], run: int, threads: int
) -> int:
    """Merge every two neighbouring sorted runs; the discordant pairs between them."""
    rows = runs[0].shape[0]
    edges = [(start, min(start + run, rows), min(start + 2 * run, rows)) for start in range(0, rows, 2 * run)]
    counts = np.zeros((len(edges), concordance.COUNT_WORDS), np.uint64)

    def make_worker() -> Callable[[int], None]:
        def work(unit: int) -> None:
            concordance.merge_discordant(*runs, *edges[unit], *out, counts[unit])

        return work

    for_each(len(edges), make_worker, threads)
    return sum(map(to_integer, counts))


def count_pairs(targets: np.ndarray, scores: np.ndarray, weights: np.ndarray | None, threads: int) -> Pairs:
    """Of float columns without NaN; weights are whole numbers."""
    order = sort_rows(ordered_keys(targets), ordered_keys(scores), weights, threads)
    tied_targets = tie_squares(order.targets, None, order.weights)
    tied_both = tie_squares(order.targets, order.scores, order.weights)
    total = targets.shape[0] if order.weights is None else sum_whole(order.weights)
    discordant, keys, key_weights = count_discordant(order, threads)
    tied_scores = tie_squares(keys, None, key_weights)
    # Squares of sums hold every pair twice, and every row with itself.
    return Pairs(total * total - tied_targets, 2 * discordant, tied_scores - tied_both)


def sum_whole(weights: np.ndarray) -> int:
    """The sum of weights of several words, in halves that do not overflow."""
    total = 0
    for place, words in enumerate(weights.T):
        halves = words & np.uint64(0xFFFFFFFF), words >> np.uint64(32)
        total += sum(int(half.sum(dtype=np.uint64)) << (64 * place + 32 * i) for i, half in enumerate(halves))
    return total


def xauc(y_true: Any, y_score: Any, *, sample_weight: Any = None, n_threads: int | None = None) -> float:
    """The share of pairs of rows that the scores put in the order of their targets: AUC for targets that are numbers.

    XAUC = sum over i, j with y_i > y_j of w_i w_j ([s_i > s_j] + [s_i = s_j] / 2), divided by the sum of w_i w_j over
    the same pairs (Zhan et al., KDD 2022; Harrell's C: Harrell et al., JAMA 247, 1982). Of targets 0 and 1 it is AUC.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Targets: numbers, of which only the order counts; infinity is a number here.
    y_score : array-like of shape (n,)
        Scores; float32 and float64 are read as they are, integers and float16 widened.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent. Weights are exact unless the greatest is more
        than 2^126 times the last bit of another: then they are rounded to 126 bits of the greatest.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        In [0, 1]; NaN with an UndefinedMetricWarning where all targets are equal.

    Raises
    ------
    ValueError
        NaN or null in any column, lengths that differ, no rows; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.xauc([10.0, 30.0, 20.0, 5.0], [0.3, 0.9, 0.9, 0.4])
    0.75
    """
    threads = count_threads(n_threads)
    targets = inputs.as_scores(y_true, "y_true")
    scores = inputs.as_scores(y_score)
    rows = targets.shape[0]
    inputs.check_lengths(rows, scores.shape[0], "y_true", "y_score")
    weights = None if sample_weight is None else inputs.as_weights(sample_weight, rows)
    for column, name in ((targets, "y_true"), (scores, "y_score")):
        if np.isnan(column).any():
            inputs.raise_nan(column, name)
    if weights is not None:
        present = weights > 0
        if not present.all():
            targets, scores, weights = targets[present], scores[present], weights[present]
        if not weights.shape[0]:
            return warn_undefined("xauc", "every weight is zero")
        weights = whole_weights(weights)
    pairs = count_pairs(targets, scores, weights, threads if rows > SERIAL_ROWS else 1)
    return pairs.share() if pairs.all else warn_undefined("xauc", ONE_TARGET)
