"""XAUC, the concordance index: how often scores order two rows as their targets do.

Rows are sorted by target and score. A merge sort of the scores then counts the discordant pairs. NumPy does the first
sort, on unsigned integers that pack two columns: both keys if each has 32 bits, otherwise the first bits of the target
and the row number. Counts are integers, and the value is one division of two of them.

In a log, ranges of scores are counted one by one. Of two neighboring ranges, a pair of rows is discordant if the row
with the lower score has the greater target: merging their sorted targets counts these pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.columns.row_blocks import SERIAL_ROWS, map_blocks
from fastmetrics._core.columns.weights import as_weights
from fastmetrics._core.exact import divide
from fastmetrics._core.exchange.range_exchange import ordered_keys
from fastmetrics._core.exchange.row_ranges import Allocate, RowRange, RowRangeStatistic
from fastmetrics._core.exchange.weighted_ranges import WeightSpan, merge_spans, span_of
from fastmetrics._core.kinds import NUMBERS
from fastmetrics._core.metric_spec import PairInfluence
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._core.registry import metric
from fastmetrics._core.statistic import Positioned, TakesTies, Value
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels.regression import concordance

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import NumericArrayLike

__all__ = ["xauc"]

RUN_ROWS = 1 << 16  # rows of the first sorted runs, one thread per run: keys and scratch fit the second-level cache
MERGED_ROWS = 1 << 16  # rows of two ranges that are merged at a time
WORD_BITS = 63
WEIGHT_BITS = 126
NO_WEIGHT = "every weight is zero"
EQUAL_TARGETS = "all targets are equal"


class RowsByTargetAndScore(NamedTuple):
    """Keys of targets and scores and the integer weights, sorted by (target, score)."""

    targets: np.ndarray
    scores: np.ndarray
    weights: np.ndarray | None


def words_to_integer(count: np.ndarray) -> int:
    """Return the integer of a count in words of 64 bits, least significant first."""
    return sum(int(word) << (64 * index) for index, word in enumerate(count.tolist()))


def sum_squared_ties(keys: np.ndarray, others: np.ndarray | None, weights: np.ndarray | None) -> int:
    """Return the sum of squared weights of the runs of rows with equal keys (and equal others)."""
    count = np.zeros(concordance.COUNT_WORDS, np.uint64)
    concordance.add_tie_squares(keys, others, weights, count)
    return words_to_integer(count)


def integer_weights(weights: np.ndarray, span: WeightSpan) -> np.ndarray:
    """Return positive weights as integers below 2**126, as an array of words. They share a power of two as unit.

    `span` is that of all weights that are counted together. They are exact, unless the largest is more than 2**126
    times the last bit of another; then they are rounded.
    """
    bits = min(span.highest - span.lowest, WEIGHT_BITS)
    whole = np.ldexp(weights, bits - span.highest)
    if bits <= WORD_BITS:
        return np.asarray(whole.astype(np.uint64)[:, None])
    high = np.floor(np.ldexp(whole, -64))
    low = np.rint(whole - np.ldexp(high, 64))
    return np.stack((low.astype(np.uint64), high.astype(np.uint64)), axis=1)


def sort_rows(
    targets: np.ndarray, scores: np.ndarray, weights: np.ndarray | None, threads: int
) -> RowsByTargetAndScore:
    """Sort rows of ordered keys by target, then by score."""
    if targets.dtype == scores.dtype == np.uint32 and weights is None:
        packed = targets.astype(np.uint64)
        packed <<= np.uint64(32)
        packed |= scores
        packed.sort()
        columns = packed.view(np.uint32).reshape(-1, 2)
        low, high = (0, 1) if np.little_endian else (1, 0)
        return RowsByTargetAndScore(columns[:, high].copy(), columns[:, low].copy(), None)
    targets, scores = targets.astype(np.uint64), scores.astype(np.uint64)
    rows = targets.shape[0]
    row_bits = max(1, (rows - 1).bit_length())
    # Targets start at 0, shifted so that their first bit is in front. Their prefix has the bits above the row number.
    targets -= targets.min()
    targets <<= np.uint64(64 - max(1, int(targets.max()).bit_length()))
    packed = targets >> np.uint64(row_bits)
    packed <<= np.uint64(row_bits)
    packed |= np.arange(rows, dtype=np.uint64)
    packed.sort()
    out_weights = None if weights is None else np.empty_like(weights)
    out = RowsByTargetAndScore(np.empty_like(targets), np.empty_like(scores), out_weights)

    def gather(start: int, stop: int) -> None:
        concordance.gather_rows(
            packed, (1 << row_bits) - 1, targets, scores, weights, start, stop, out.targets, out.scores, out.weights
        )

    map_blocks(rows, gather, threads)
    sort_ties_of_prefixes(out, row_bits)
    return out


def sort_ties_of_prefixes(order: RowsByTargetAndScore, shift: int) -> None:
    """Sort the rows whose targets have equal prefixes: all bits but the last `shift`."""
    rows = order.targets.shape[0]
    unsorted_ranges = np.empty((rows // 64 + 1, 2), np.int64)
    scratch, weight_scratch = allocate_scratch(order, min(rows, concordance.SCRATCH_ROWS))
    n = concordance.sort_within_prefixes(*order, shift, scratch, weight_scratch, unsorted_ranges)
    for start, stop in unsorted_ranges[:n].tolist():
        targets, scores = order.targets[start:stop], order.scores[start:stop]
        if order.weights is None and (targets == targets[0]).all():
            scores.sort()
            continue
        sorting = np.lexsort((scores, targets))
        for column in (targets, scores, order.weights[start:stop] if order.weights is not None else None):
            if column is not None:
                column[:] = column[sorting]


def allocate_scratch(order: RowsByTargetAndScore, rows: int) -> tuple[np.ndarray, np.ndarray | None]:
    """Return uninitialized arrays for the score keys and the weights of so many rows."""
    weights = None if order.weights is None else np.empty((rows, order.weights.shape[1]), np.uint64)
    return np.empty(rows, order.scores.dtype), weights


def count_discordant(order: RowsByTargetAndScore, threads: int) -> tuple[int, np.ndarray, np.ndarray | None]:
    """Return the discordant pairs, and the sorted score keys with their weights."""
    rows = order.scores.shape[0]
    edges = [(start, min(rows, start + RUN_ROWS)) for start in range(0, rows, RUN_ROWS)]
    counts = np.zeros((len(edges), concordance.COUNT_WORDS), np.uint64)

    def make_worker() -> Callable[[int], None]:
        scratch = allocate_scratch(order, min(rows, RUN_ROWS))
        return lambda chunk: concordance.count_discordant(
            order.scores, order.weights, *edges[chunk], *scratch, counts[chunk]
        )

    for_each(len(edges), make_worker, threads)
    discordant = sum(map(words_to_integer, counts))
    runs, other = (order.scores, order.weights), allocate_scratch(order, rows if rows > RUN_ROWS else 0)
    run = RUN_ROWS
    while run < rows:
        discordant += merge_neighboring_runs(runs, other, run, threads)
        runs, other = other, runs
        run *= 2
    return discordant, *runs


def merge_neighboring_runs(
    runs: tuple[np.ndarray, np.ndarray | None], out: tuple[np.ndarray, np.ndarray | None], run: int, threads: int
) -> int:
    """Merge every two neighboring sorted runs. Return the discordant pairs between them."""
    rows = runs[0].shape[0]
    edges = [(start, min(start + run, rows), min(start + 2 * run, rows)) for start in range(0, rows, 2 * run)]
    counts = np.zeros((len(edges), concordance.COUNT_WORDS), np.uint64)

    def merge(chunk: int) -> None:
        concordance.merge_discordant(*runs, *edges[chunk], *out, counts[chunk])

    for_each(len(edges), lambda: merge, threads)
    return sum(map(words_to_integer, counts))


def count_pairs(
    targets: np.ndarray, scores: np.ndarray, weights: np.ndarray | None, threads: int
) -> tuple[int, int, int]:
    """Twice the (weighted) pairs of rows with different targets: all, discordant, and with tied scores.

    The columns are floats without NaN. Weights are integers in words.
    """
    order = sort_rows(ordered_keys(targets), ordered_keys(scores), weights, threads)
    tied_targets = sum_squared_ties(order.targets, None, order.weights)
    tied_both = sum_squared_ties(order.targets, order.scores, order.weights)
    total = targets.shape[0] if order.weights is None else sum_integer_weights(order.weights)
    discordant, keys, key_weights = count_discordant(order, threads)
    tied_scores = sum_squared_ties(keys, None, key_weights)
    # A squared sum counts every pair twice and every row with itself; the rows cancel in the differences.
    return total * total - tied_targets, 2 * discordant, tied_scores - tied_both


def sum_integer_weights(weights: np.ndarray) -> int:
    """Return the sum of weights of several words. Halves of words are summed, which cannot overflow."""
    total = 0
    for index, words in enumerate(weights.T):
        halves = words & np.uint64(0xFFFFFFFF), words >> np.uint64(32)
        total += sum(int(half.sum(dtype=np.uint64)) << (64 * index + 32 * i) for i, half in enumerate(halves))
    return total


@answers_unknown
def xauc(
    y_true: NumericArrayLike,
    y_score: NumericArrayLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    n_threads: int | None = None,
) -> float:
    """The share of pairs of rows that the scores order as the targets do: AUC for numeric targets.

    XAUC = sum over i, j with y_i > y_j of w_i w_j ([s_i > s_j] + [s_i = s_j] / 2), divided by the sum of w_i w_j over
    the same pairs (Zhan et al., KDD 2022; Harrell's C: Harrell et al., JAMA 247, 1982). For targets 0 and 1 it is AUC.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Targets: numbers, including infinity. Only their order counts.
    y_score : array-like of shape (n,)
        Scores; float32 and float64 are read as they are, integers and float16 widened.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300. A row of weight zero is left out.

        Weights are exact, unless the largest is more than 2^126 times the last bit of another: then they are rounded to
        126 bits of the largest.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float
        In [0, 1]; NaN with an UndefinedMetricWarning if all targets are equal.

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
    targets = validation.as_scores(y_true, "y_true")
    scores = validation.as_scores(y_score)
    rows = targets.shape[0]
    validation.check_lengths(rows, scores.shape[0], "y_true", "y_score")
    weights = None if sample_weight is None else as_weights(sample_weight, rows)
    for column, name in ((targets, "y_true"), (scores, "y_score")):
        if np.isnan(column).any():
            validation.raise_nan(column, name)
    if weights is not None:
        present = weights > 0
        if not present.all():
            targets, scores, weights = targets[present], scores[present], weights[present]
        if not weights.shape[0]:
            return warn_undefined("xauc", NO_WEIGHT)
        weights = integer_weights(weights, span_of(weights))
    total, discordant, tied = count_pairs(targets, scores, weights, threads if rows > SERIAL_ROWS else 1)
    if not total:
        return warn_undefined("xauc", EQUAL_TARGETS)
    return concordant_share(total, discordant, tied)


def concordant_share(total: int, discordant: int, tied: int) -> float:
    """The share of concordant pairs, tied pairs counted as half, rounded once. Counts are those of `count_pairs`."""
    return divide(2 * (total - discordant) - tied, 2 * total)


class Span(NamedTuple):
    """The span of the weights of ranges."""

    weights: WeightSpan

    def __add__(self, other: Any) -> Span:
        return Span(merge_spans(self.weights, other.weights))


class CountedPairs(NamedTuple):
    """State of ranges of scores: pairs inside, as `count_pairs` has them, and the targets, for pairs with other ranges.

    `targets` are ascending keys, with the integer `weights` of the rows (None: every row counts once). Where targets
    are often equal, equal ones are one key, whose weight is the number of rows. `total` is known of all rows.
    """

    rows: int
    discordant: int
    tied: int
    targets: np.ndarray
    weights: np.ndarray | None
    total: int = 0

    @property
    def weight(self) -> int:
        """The weight of all rows."""
        return self.rows if self.weights is None else sum_integer_weights(self.weights)


NO_PAIRS = CountedPairs(0, 0, 0, np.empty(0, np.uint64), None)


class ConcordantPairs(TakesTies, Positioned, RowRangeStatistic):
    """Pairs of rows inside ranges of scores, and between them. The state has the sorted targets of the rows."""

    __slots__ = ()
    needs_sorted_rows = False
    totals_weights = True
    needs_whole_column = True

    def total_of_range(self, rows: RowRange) -> Span | None:
        return None if rows.weights is None else Span(span_of(rows.weights))

    def reduce(self, rows: RowRange, above: Span | None, total: Span | None) -> CountedPairs:
        targets = rows.labels.astype(np.float64)
        weights = None
        if rows.weights is not None and total is not None:
            weights = integer_weights(rows.weights, total.weights)
        _, discordant, tied = count_pairs(targets, rows.scores, weights, 1)
        keys = ordered_keys(targets)
        if weights is not None:
            order = np.argsort(keys)
            return CountedPairs(keys.shape[0], discordant, tied, keys[order], weights[order])
        keys.sort()
        return CountedPairs(keys.shape[0], discordant, tied, *join_equal_targets(keys))

    def merge(self, higher: CountedPairs, lower: CountedPairs) -> CountedPairs:
        return self.merge_large(higher, lower, np.empty)

    def merge_large(self, higher: CountedPairs, lower: CountedPairs, allocate: Allocate) -> CountedPairs:
        high, low = higher, lower
        if not high.rows or not low.rows:
            return high if high.rows else low
        merged, between = merge_rows(low, high, allocate)
        return merged._replace(discordant=merged.discordant + 2 * between)

    def merge_tie(self, one: CountedPairs, other: CountedPairs, allocate: Allocate) -> CountedPairs:
        merged, _ = merge_rows(one, other, allocate)
        squares = [sum_squared_ties(own.targets, None, own.weights) for own in (merged, one, other)]
        different = 2 * one.weight * other.weight - (squares[0] - squares[1] - squares[2])
        return merged._replace(tied=merged.tied + different)

    def move_state(self, state: CountedPairs, allocate: Allocate) -> CountedPairs:
        weights = None if state.weights is None else join((state.weights,), allocate)
        return state._replace(targets=join((state.targets,), allocate), weights=weights)

    def finish(self, state: CountedPairs) -> CountedPairs:
        total = state.weight * state.weight - sum_squared_ties(state.targets, None, state.weights)
        return NO_PAIRS._replace(rows=state.rows, discordant=state.discordant, tied=state.tied, total=total)

    def empty(self) -> CountedPairs:
        return NO_PAIRS


def merge_rows(low: CountedPairs, high: CountedPairs, allocate: Allocate) -> tuple[CountedPairs, int]:
    """The rows of two ranges with the pairs inside each; and the discordant pairs between them."""
    if low.weights is not None or high.weights is not None:
        low, high = (state._replace(weights=weights_of(state)) for state in (low, high))
    n = low.targets.shape[0] + high.targets.shape[0]
    out = allocate((n,), low.targets.dtype)
    out_weights = None if low.weights is None else allocate((n, low.weights.shape[1]), np.uint64)
    between = merge_targets(low, high, out, out_weights)
    inside = low.discordant + high.discordant, low.tied + high.tied
    return CountedPairs(low.rows + high.rows, *inside, out, out_weights), between


def merge_targets(low: CountedPairs, high: CountedPairs, out: np.ndarray, out_weights: np.ndarray | None) -> int:
    """Merge the sorted targets of two ranges of scores, chunk by chunk; return the discordant pairs between them.

    The row with the lower score has the greater target.
    """
    every = slice(MERGED_ROWS, None, MERGED_ROWS)
    cuts = np.unique(np.concatenate((low.targets[every], high.targets[every])))
    edges = [
        [0, *np.searchsorted(state.targets, cuts).tolist(), state.targets.shape[0]] for state in (low, high)
    ]  # fmt: skip
    count = np.zeros(concordance.COUNT_WORDS, np.uint64)
    discordant, low_weight = 0, weight_of(low, 0, low.targets.shape[0])
    for (first_low, last_low), (first_high, last_high) in zip(*map(pairwise, edges), strict=True):
        parts = (low, slice(first_low, last_low)), (high, slice(first_high, last_high))
        keys = np.concatenate([state.targets[rows] for state, rows in parts])
        where = slice(first_low + first_high, last_low + last_high)
        weights = None
        if out_weights is not None:
            weights = np.concatenate([state.weights[rows] for state, rows in parts if state.weights is not None])
        # The rows of `low` in later chunks have greater targets than the rows of `high` in this one.
        low_weight -= weight_of(low, first_low, last_low)
        discordant += low_weight * weight_of(high, first_high, last_high)
        n_low, n = last_low - first_low, keys.shape[0]
        if 0 < n_low < n:
            of_chunk = None if out_weights is None else out_weights[where]
            concordance.merge_discordant(keys, weights, 0, n_low, n, out[where], of_chunk, count)
            continue
        out[where] = keys
        if out_weights is not None:
            out_weights[where] = weights
    return discordant + words_to_integer(count)


def weight_of(state: CountedPairs, start: int, stop: int) -> int:
    """The weight of some targets."""
    return stop - start if state.weights is None else sum_integer_weights(state.weights[start:stop])


def weights_of(state: CountedPairs) -> np.ndarray:
    """The weights of targets; one where every row counts once."""
    return np.ones((state.targets.shape[0], 1), np.uint64) if state.weights is None else state.weights


def join(arrays: Sequence[np.ndarray], allocate: Allocate) -> np.ndarray:
    """The rows of arrays one after the other."""
    rows = sum(array.shape[0] for array in arrays)
    return np.concatenate(arrays, out=allocate((rows, *arrays[0].shape[1:]), arrays[0].dtype))


def join_equal_targets(keys: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Sorted keys and their weights: distinct keys with their numbers of rows, where that takes less memory."""
    starts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    if 2 * starts.shape[0] > keys.shape[0]:
        return keys, None
    return keys[starts], np.diff(np.append(starts, keys.shape[0])).astype(np.uint64)[:, None]


def concordance_influence(masses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What a row of each class of targets and of scores adds to the value, and its share of the pairs."""
    of_scores = masses.sum(axis=0)
    lower = masses.cumsum(axis=0) - masses
    higher = of_scores - lower - masses
    below_lower, below_higher = (own.cumsum(axis=1) - own / 2 for own in (lower, higher))
    won = below_lower + higher.sum(axis=1, keepdims=True) - below_higher
    pairs = (lower + higher).sum(axis=1, keepdims=True)
    total = (masses * pairs).sum() / 2
    if not total:
        return np.zeros_like(masses), np.zeros_like(masses)
    value = (masses * won).sum() / 2 / total
    return (won - value * pairs) / total, np.broadcast_to(pairs / (2 * total), masses.shape)


@metric(
    "xauc",
    exchange="range",
    influence=lambda: PairInfluence(concordance_influence),
    scale="share",
    roles=NUMBERS,
    statistics=ConcordantPairs(),
    function=xauc,
    undefined="all labels are equal",
    default=False,
    aliases=("concordance_index", "c_index"),
)
def finalize_xauc(parameters: dict[str, Any], pairs: CountedPairs) -> Value:
    """The share of pairs of rows that the scores order as the labels do: AUC for numeric labels."""
    coverage = {"rows": pairs.rows}
    if not pairs.rows:
        return Value(float("nan"), coverage, NO_WEIGHT)
    if not pairs.total:
        return Value(float("nan"), coverage, EQUAL_TARGETS)
    return Value(concordant_share(pairs.total, pairs.discordant, pairs.tied), coverage)
