"""Binary labels with one column of probabilities or of other numbers: checked, weighted, reduced block by block.

Shared by the families of probability metrics: the counts of labels, the step from a caller's columns to additive
statistics, the correction for sampled negatives, and the step from a ratio of exact sums to a value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.columns.array_types import numpy_array
from fastmetrics._core.columns.row_blocks import BLOCK_ROWS, Rows, block_bounds, map_reduce
from fastmetrics._core.columns.weights import as_weights, scale_tiny_weights
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.option_numbers import number_value
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.state import Fields, ManySums, Sums, exact_sum
from fastmetrics._core.statistic import AdditiveStatistic, ByUnit, StatesOfUnits, Value
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels.columns import column_checks
from fastmetrics._kernels.numeric import sums
from fastmetrics._kernels.probability import losses

NO_WEIGHT = "every weight is zero"


class LabelCounts(ByUnit, AdditiveStatistic):
    """Rows and positives, and their weights if rows have weights."""

    __slots__ = ()
    fields = Fields("rows", "positives", "weighted", exact_sum("weight"), exact_sum("positive weight"))
    sums_weights = True

    def update(self, state: Sums, rows: Rows) -> None:
        state.add_count("rows", rows.labels.shape[0])
        state.add_count("positives", int(np.count_nonzero(rows.labels)))
        if rows.weights is not None:
            state.set_flag("weighted")
            sums.sum_values(rows.weights, None, state.sum_of("weight"))
            sums.sum_positive_weights(rows.labels, rows.weights, state.sum_of("positive weight"))

    def update_units(self, states: StatesOfUnits, rows: Rows, numbers: np.ndarray) -> None:
        sums.count_labels_by_number(numbers, rows.labels, states.counts)
        if rows.weights is not None:
            states.set_flag("weighted")
            states.add(rows.weights, numbers, "weight")
            positives = np.flatnonzero(rows.labels)
            states.add(rows.weights[positives], numbers[positives], "positive weight")

    @staticmethod
    def totals(state: Sums | ManySums) -> tuple[Any, Any]:
        """(total weight, weight of positives) as `number` gives them. Without weights every row has weight 1."""
        if state.is_set("weighted"):
            return state.number("weight"), state.number("positive weight")
        return state.number("rows"), state.number("positives")


class ProbabilityTerms(ByUnit, AdditiveStatistic):
    """Base of the (weighted) sums of a term of every row's probability, which the kernel knows by its `kind`.

    A term that clips probabilities counts "clipped rows".
    """

    __slots__ = ("sampling_rate",)
    fields = Fields(exact_sum("terms"))
    kind: ClassVar[int]

    def __init__(self, sampling_rate: float | None = None) -> None:
        self.sampling_rate = sampling_rate

    def clip_of(self, rows: Rows) -> float:
        """The probability that those below it are clipped to."""
        return 0.0

    def update(self, state: Sums, rows: Rows) -> None:
        terms = state.sum_of("terms")
        eps, rate = self.clip_of(rows), kernel_sampling_rate(self.sampling_rate)
        n_clipped = losses.add_terms(self.kind, rows.labels, rows.scores, rows.weights, eps, rate, terms)
        if n_clipped < 0:
            rows.raise_bad_probability()
        if n_clipped:
            state.add_count("clipped rows", n_clipped)

    def update_units(self, states: StatesOfUnits, rows: Rows, numbers: np.ndarray) -> None:
        terms = np.empty(rows.labels.shape[0])
        eps, rate = self.clip_of(rows), kernel_sampling_rate(self.sampling_rate)
        n_clipped = losses.write_terms(self.kind, rows.labels, rows.scores, rows.weights, eps, rate, terms)
        if n_clipped < 0:
            rows.raise_bad_probability()
        states.add(terms, numbers, "terms")
        if n_clipped:
            states.count(numbers[clipped_rows_of(rows, eps, rate)])


def clipped_rows_of(rows: Rows, eps: float, rate: float) -> np.ndarray:
    """The rows whose label has a predicted probability outside [eps, 1 - eps]."""
    predicted = rows.scores
    if rate:
        predicted = np.empty(rows.scores.shape[0])
        losses.correct_probabilities(rows.scores, rate, predicted)
    # The bounds may be rounded to float32, so rows at a bound are looked at too.
    near = np.flatnonzero((predicted <= 2 * eps) | (predicted >= 1 - 2 * eps))
    outcomes = predicted[near].astype(np.float64)
    outcomes = np.where(rows.labels[near], outcomes, 1 - outcomes)
    return near[(outcomes < eps) | (outcomes > 1 - eps)]


class BinaryColumns(NamedTuple):
    """The checked columns of one call. No weight is zero."""

    labels: np.ndarray
    scores: np.ndarray
    weights: np.ndarray | None
    name: str

    def reduce(self, statistics: Sequence[AdditiveStatistic], n_threads: int | None) -> list[Sums]:
        """The states of statistics over all rows. Raises LabelError if labels are not 0 and 1, or -1 and +1."""
        rows = self.labels.shape[0]
        bounds = list(block_bounds(rows))
        label_kinds = np.zeros((len(bounds), 2), np.int64)

        def make_loader() -> Callable[[int], tuple[Rows]]:
            scratch = np.empty(min(rows, BLOCK_ROWS), np.uint8)

            def load(number: int) -> tuple[Rows]:
                start, stop = bounds[number]
                column_checks.decode_labels(self.labels, start, stop, scratch, label_kinds[number])
                weights = None if self.weights is None else self.weights[start:stop]
                return (Rows(scratch[: stop - start], self.scores[start:stop], weights, start, self.name),)

            return load

        threads = count_threads(n_threads)
        states = map_reduce(statistics, len(bounds), make_loader, threads)
        seen = int(np.bitwise_or.reduce(label_kinds[:, 0]))
        validation.check_label_kinds(seen, lambda kind: validation.find_label(self.labels, kind), "y_true")
        return states


CheckValues = Callable[[np.ndarray, str], None]


def check_binary_columns(
    y_true: Any, y_score: Any, sample_weight: Any, name: str, check_values: CheckValues | None
) -> BinaryColumns:
    """Check binary labels, a column of numbers and weights; drop rows of weight zero.

    The metrics of these columns do not change if all weights are multiplied by one factor: tiny weights are.
    `name` is the name of the numbers in errors. `check_values(numbers, name)` raises for a value of the wrong kind:
    `validation.check_finite` or `validation.check_probabilities`. It sees all rows, also those of weight zero. With
    None, the statistics check the probabilities that they read (see `check_binary_probabilities`).
    """
    labels = validation.as_labels(y_true)
    scores = validation.as_scores(y_score, name)
    validation.check_lengths(labels.shape[0], scores.shape[0], "y_true", name)
    weights = None
    if sample_weight is not None:
        weights = scale_tiny_weights(as_weights(sample_weight, labels.shape[0]))
    if check_values is None:
        return drop_zero_weight_rows(labels, scores, weights, name, validation.check_probabilities)
    check_values(scores, name)
    return drop_zero_weight_rows(labels, scores, weights, name, None)


def check_binary_probabilities(y_true: Any, y_proba: Any, sample_weight: Any, name: str) -> BinaryColumns:
    """As `check_binary_columns`, for statistics whose kernels refuse values outside [0, 1]: no pass over all rows.

    Values that are not probabilities need `check_binary_columns`: here they are an error, at the latest if rows are
    dropped.
    """
    return check_binary_columns(y_true, y_proba, sample_weight, name, None)


def drop_zero_weight_rows(
    labels: np.ndarray, scores: np.ndarray, weights: np.ndarray | None, name: str, check_values: CheckValues | None
) -> BinaryColumns:
    """The columns without the rows of weight zero. If there are any, `check_values` sees all rows first.

    `check_values` is None if the values are checked already.
    """
    if weights is not None:
        kept = weights > 0
        if not kept.all():
            # Values are checked before rows are dropped, so that an error has the row number of the caller.
            validation.decode_labels(labels)
            if check_values is not None:
                check_values(scores, name)
            labels, scores, weights = labels[kept], scores[kept], weights[kept]
    return BinaryColumns(labels, scores, weights, name)


def require_sequence(values: Any, name: str, what: str) -> Any:
    """Check that the values are a dense sequence: not text, not a scalar, not sparse. They are not converted."""
    if isinstance(values, np.ndarray) and values.ndim:
        return values
    if hasattr(values, "__array__") and not hasattr(values, "__len__"):
        values = numpy_array(values, name)
    is_sparse = hasattr(values, "nnz") and hasattr(values, "toarray")
    is_scalar = isinstance(values, (str, bytes)) or not hasattr(values, "__len__") or getattr(values, "ndim", 1) == 0
    if is_scalar or is_sparse:
        raise validation.OptionError(f"{name} must be {what}; found {values!r}")
    return values


def split_two_values(column: np.ndarray) -> tuple[np.ndarray, list[Any]] | None:
    """A mask of the greater of two values in a column of numbers, and the sorted values.

    None if the column has more than two values, or one is not finite. Two passes are faster than a sort.
    """
    low, high = column.min(), column.max()
    if not (np.isfinite(low) and np.isfinite(high)):
        return None
    mask = column == high
    if not (mask | (column == low)).all():
        return None
    return mask, [low.item()] if low == high else [low.item(), high.item()]


def check_sampling_rate(sampling_rate: Any) -> None:
    """Check the share of the negatives that the model was trained on; None means all of them."""
    if sampling_rate is not None and not 0 < number_value(sampling_rate) <= 1:
        raise validation.OptionError(f"sampling_rate must be None or a number in (0, 1]; found {sampling_rate!r}")


def kernel_sampling_rate(sampling_rate: float | None) -> float:
    """The rate in the form of the kernels: 0 if there is nothing to correct."""
    return 0.0 if sampling_rate is None or sampling_rate == 1 else float(sampling_rate)


def warn_and_unwrap(function: str, result: Value) -> float:
    """The return value of a public function: the result's value, with a warning if it is undefined."""
    return warn_undefined(function, result.reason) if result.reason else result.value


def mean_of_terms(parameters: dict[str, Any], counts: Any, terms: Any) -> tuple[Any, Any]:
    """The sum of the terms and the weight of a LabelCounts state, or of many."""
    return terms.number("terms"), LabelCounts.totals(counts)[0]


def row_coverage(counts: Sums) -> dict[str, Any]:
    """The coverage of a LabelCounts state."""
    return {"rows": counts.count("rows"), "positives": counts.count("positives")}
