"""Binary labels beside one column of probabilities: checked, weighted, reduced block by block.

What the families of probabilities share: the counts of labels, the way from a caller's columns to additive statistics,
the correction for sampled negatives, and from a ratio of exact sums to a value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import exact, inputs
from fastmetrics._core.exact import divide
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.rows import BLOCK_ROWS, Rows, block_bounds
from fastmetrics._core.statistic import Additive, Statistic, Sums, Value, accumulate
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels import columns, shortlosses, sums

SHORT_LIST = 1 << 12
NO_WEIGHT = "every weight is zero"


class LabelCounts(Statistic):
    """Rows, positives; with weights also their weights."""

    __slots__ = ()

    def new(self) -> Sums:
        return Sums(3, 2)

    def update(self, state: Sums, rows: Rows) -> None:
        state.counts[0] += rows.labels.shape[0]
        state.counts[1] += np.count_nonzero(rows.labels)
        if rows.weights is not None:
            state.counts[2] = 1
            sums.sum_values(rows.weights, None, state.exact[0])
            sums.sum_where(rows.labels, rows.weights, state.exact[1])

    @staticmethod
    def totals(state: Sums) -> tuple[int, int]:
        """(total weight, weight of positives) times 2**EXPONENT; without weights every row weighs 1."""
        if state.count(2):
            return state.integer(0), state.integer(1)
        return state.count(0) << exact.EXPONENT, state.count(1) << exact.EXPONENT


class BinaryColumns(NamedTuple):
    """Checked columns of one call; weights hold no zeros."""

    labels: np.ndarray
    scores: np.ndarray
    weights: np.ndarray | None
    name: str

    def reduce(self, statistics: Sequence[Additive], n_threads: int | None) -> list[Sums]:
        """The statistics over all rows, block by block. LabelError where labels are not 0 and 1, or -1 and +1."""
        rows = self.labels.shape[0]
        bounds = list(block_bounds(rows))
        seen = np.zeros((len(bounds), 2), np.int64)

        def make_loader() -> Callable[[int], tuple[Rows]]:
            scratch = np.empty(min(rows, BLOCK_ROWS), np.uint8)

            def load(unit: int) -> tuple[Rows]:
                start, stop = bounds[unit]
                columns.decode_labels(self.labels, start, stop, scratch, seen[unit])
                weights = None if self.weights is None else self.weights[start:stop]
                return (Rows(scratch[: stop - start], self.scores[start:stop], weights, start, self.name),)

            return load

        threads = count_threads(n_threads)
        states = accumulate(statistics, len(bounds), make_loader, threads)
        found = int(np.bitwise_or.reduce(seen[:, 0]))
        inputs.check_seen_labels(found, lambda what: inputs.find_label(self.labels, what), "y_true")
        return states


def as_columns(y_true: Any, y_prob: Any, sample_weight: Any, name: str) -> BinaryColumns:
    """Binary labels and probabilities of the positive class."""
    labels = inputs.as_labels(y_true)
    scores = inputs.as_scores(y_prob, name)
    inputs.check_lengths(labels.shape[0], scores.shape[0], "y_true", name)
    weights = None if sample_weight is None else inputs.as_weights(sample_weight, labels.shape[0])
    return present_rows(labels, scores, weights, name)


def present_rows(labels: np.ndarray, scores: np.ndarray, weights: np.ndarray | None, name: str) -> BinaryColumns:
    """Checked columns of equal length, without the rows of weight zero."""
    if weights is not None:
        present = weights > 0
        if not present.all():
            # Everything is judged before rows go, so that an error names the row the caller knows.
            inputs.decode_labels(labels)
            if not ((scores >= 0) & (scores <= 1)).all():
                inputs.raise_bad_probability(scores, name)
            labels, scores, weights = labels[present], scores[present], weights[present]
    return BinaryColumns(labels, scores, weights, name)


def as_given(values: Any, name: str, what: str) -> Any:
    """An array of anything, as it came: no text, no scalar, nothing sparse."""
    if isinstance(values, np.ndarray) and values.ndim:
        return values
    if hasattr(values, "__array__") and not hasattr(values, "__len__"):
        values = np.asarray(values)
    is_sparse = hasattr(values, "nnz") and hasattr(values, "toarray")
    is_scalar = isinstance(values, (str, bytes)) or not hasattr(values, "__len__") or getattr(values, "ndim", 1) == 0
    if is_scalar or is_sparse:
        raise inputs.OptionError(f"{name} must be {what}; found {values!r}")
    return values


def plain_sums(y_true: Any, y_prob: Any, sample_weight: Any, terms: int) -> tuple[int, int, int, int, int] | None:
    """shortlosses.sum_terms of a few rows in NumPy arrays and lists of numbers; None for all that is not as plain."""
    if type(y_true) is list:
        y_true = plain_list(y_true)
    if type(y_prob) is list:
        y_prob = plain_list(y_prob)
    if type(y_true) is not np.ndarray or type(y_prob) is not np.ndarray:
        return None
    if sample_weight is not None and type(sample_weight) is not np.ndarray:
        sample_weight = plain_list(sample_weight) if type(sample_weight) is list else None
        if sample_weight is None:
            return None
    return shortlosses.sum_terms(y_true, y_prob, sample_weight, terms)


def plain_list(values: list[Any]) -> np.ndarray | None:
    """An array of a short list, of numbers if they were."""
    if len(values) > SHORT_LIST:
        return None
    try:
        return np.array(values)
    except ValueError:
        return None


def two_values(column: np.ndarray) -> tuple[np.ndarray, list[Any]] | None:
    """Where a column of numbers is at its greatest value, and its sorted values, if these are at most two and finite.

    Two passes instead of a sort.
    """
    low, high = column.min(), column.max()
    if not (np.isfinite(low) and np.isfinite(high)):
        return None
    mask = column == high
    if not (mask | (column == low)).all():
        return None
    return mask, [low.item()] if low == high else [low.item(), high.item()]


def check_sampling_rate(sampling_rate: Any) -> None:
    """None, or the share of the negatives that the model was trained on."""
    if sampling_rate is None:
        return
    is_number = isinstance(sampling_rate, (int, float, np.number)) and not isinstance(sampling_rate, bool)
    if not is_number or not 0 < sampling_rate <= 1:
        raise inputs.OptionError(f"sampling_rate must be None or a number in (0, 1]; found {sampling_rate!r}")


def kernel_rate(sampling_rate: float | None) -> float:
    """The rate as kernels take it: 0 where there is nothing to correct."""
    return 0.0 if sampling_rate is None or sampling_rate == 1 else float(sampling_rate)


def answer(function: str, result: Value) -> float:
    """What a public function returns for a result: its value, and a warning when it is undefined."""
    return warn_undefined(function, result.reason, 4) if result.reason else result.value


def ratio(numerator: int, denominator: int, coverage: dict[str, Any], reason: str) -> Value:
    """Rounded once; NaN for the reason given when the denominator is zero."""
    if denominator == 0:
        return Value(float("nan"), coverage, reason)
    return Value(divide(numerator, denominator), coverage)


def row_coverage(counts: Sums) -> dict[str, Any]:
    return {"rows": counts.count(0), "positives": counts.count(1)}
