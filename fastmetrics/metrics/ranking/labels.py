"""Every row ranks its labels by their scores: how well the relevant ones are ranked, as scikit-learn measures it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fastmetrics._core import exact, inputs
from fastmetrics._core import labels as targets
from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._core.rows import BLOCK_ROWS, SERIAL_ROWS
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels import columns, sums
from fastmetrics._kernels import labelranks as kernel

ZERO_AND_ONE = columns.SAW_ZERO | columns.SAW_ONE
NO_KEYS: np.ndarray = np.empty(0, np.uint64)


def label_ranking_average_precision_score(
    y_true: Any, y_score: Any, *, sample_weight: Any = None, n_threads: int | None = None
) -> float:
    """The precision among the labels that rank at least as high as a relevant one, averaged over these, then rows.

    LRAP = 1/n sum_i 1/|Y_i| sum over l in Y_i of L_il / r_il, with r_il the labels whose score is not below that of l,
    and L_il the relevant ones among them (Schapire and Singer, BoosTexter, Machine Learning 39, 2000; Tsoumakas,
    Katakis and Vlahavas, Mining multi-label data, 2010). Ties count against the row: tied labels all have the lowest
    rank among them.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n, n_labels)
        0 and 1; what is not 0 is relevant.
    y_score : array-like of shape (n, n_labels)
        Real numbers, greater for labels more likely relevant; infinities are ordered.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative. A row of weight zero is absent.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        In (0, 1]. A row where no label is relevant, or every one, counts as 1. NaN, with an UndefinedMetricWarning,
        where no row weighs anything.

    Raises
    ------
    ValueError
        Labels that are no sets (one column of one or two values is taken for sets of one label), matrices of different
        shapes, NaN among the scores, no rows, weights that are negative or not finite.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.label_ranking_average_precision_score([[1, 0, 0], [0, 0, 1]], [[0.75, 0.5, 1], [1, 0.2, 0.1]])
    0.41666666666666663
    """
    if sample_weight is None and n_threads is None:
        value = kernel.mean_of_short(y_true, y_score, kernel.PRECISION)
        if value is not None:
            return value
    return average_rows(y_true, y_score, sample_weight, n_threads, kernel.PRECISION)


def label_ranking_loss(y_true: Any, y_score: Any, *, sample_weight: Any = None, n_threads: int | None = None) -> float:
    """The share of a row's pairs of a relevant label and another that are not in order, averaged over rows.

    loss = 1/n sum_i |{(k, l) : s_ik <= s_il}| / (|Y_i| (n_labels - |Y_i|)), k relevant and l not (Schapire and Singer,
    BoosTexter, Machine Learning 39, 2000; Tsoumakas, Katakis and Vlahavas, Mining multi-label data, 2010). A tie is a
    pair lost.

    Parameters
    ----------
    y_true : array-like or sparse matrix of shape (n, n_labels)
        0 and 1; what is not 0 is relevant. At least two labels.
    y_score : array-like of shape (n, n_labels)
        Real numbers, greater for labels more likely relevant; infinities are ordered.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative. A row of weight zero is absent.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        In [0, 1], 0 being the best. A row where no label is relevant, or every one, counts as 0. NaN, with an
        UndefinedMetricWarning, where no row weighs anything.

    Raises
    ------
    ValueError
        Labels that are no sets, matrices of different shapes, NaN among the scores, no rows, weights that are negative
        or not finite.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.label_ranking_loss([[1, 0, 0], [0, 0, 1]], [[0.75, 0.5, 1], [1, 0.2, 0.1]])
    0.75
    """
    if sample_weight is None and n_threads is None:
        value = kernel.mean_of_short(y_true, y_score, kernel.LOSS)
        if value is not None:
            return value
    return average_rows(y_true, y_score, sample_weight, n_threads, kernel.LOSS)


def coverage_error(y_true: Any, y_score: Any, *, sample_weight: Any = None, n_threads: int | None = None) -> float:
    """How many labels have to be taken, the highest scores first, until every relevant one is among them.

    coverage = 1/n sum_i max over l in Y_i of r_il, with r_il the labels whose score is not below that of l: one more
    than in Tsoumakas, Katakis and Vlahavas (Mining multi-label data, 2010), so that a row without a relevant label can
    be 0. Ties count against the row.

    Parameters
    ----------
    y_true : array-like of shape (n, n_labels)
        0 and 1; what is not 0 is relevant. At least two labels. Not sparse, as in scikit-learn.
    y_score : array-like of shape (n, n_labels)
        Real numbers, greater for labels more likely relevant; infinities are ordered.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative. A row of weight zero is absent.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        From 0 to n_labels; the best value is the mean number of relevant labels. A row without one counts as 0. NaN,
        with an UndefinedMetricWarning, where no row weighs anything.

    Raises
    ------
    ValueError
        Labels that are no sets, matrices of different shapes, NaN among the scores, no rows, weights that are negative
        or not finite.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.coverage_error([[1, 0, 0], [0, 1, 1]], [[1, 0, 0], [0, 1, 1]])
    1.5
    """
    if sample_weight is None and n_threads is None:
        value = kernel.mean_of_short(y_true, y_score, kernel.COVERAGE)
        if value is not None:
            return value
    if targets.is_sparse(y_true):
        raise inputs.OptionError("y_true must be a dense array of labels here; found a sparse one")
    return average_rows(y_true, y_score, sample_weight, n_threads, kernel.COVERAGE)


NAMES = {
    kernel.PRECISION: label_ranking_average_precision_score.__name__,
    kernel.LOSS: label_ranking_loss.__name__,
    kernel.COVERAGE: coverage_error.__name__,
}


def average_rows(y_true: Any, y_score: Any, sample_weight: Any, n_threads: int | None, measure: int) -> float:
    """The mean over rows of a measure of one row; what is wrong with the arguments is told here."""
    threads = count_threads(n_threads)
    truth = open_sets(y_true)
    scores = inputs.as_floats(y_score, "y_score")
    if scores.ndim == 0:
        raise inputs.InputError(f"y_score must be an array with a column for each label; found a single {scores.dtype}")
    rows = truth.shape[0]
    inputs.check_lengths(rows, scores.shape[0], "y_true", "y_score")
    weights = None if sample_weight is None else as_row_weights(sample_weight, rows)
    truth = as_sets(truth, one_label=measure == kernel.PRECISION)
    if truth.shape != scores.shape:
        raise ValueError(f"y_true and y_score must have one shape; found {truth.shape} and {scores.shape}")
    values = measure_rows(truth, scores, measure, threads)
    state = exact.new_states()
    sums.sum_values(values, weights, state)
    if weights is None:
        return exact.divide(exact.to_integer(state), rows << exact.EXPONENT)
    total = exact.new_states()
    sums.sum_values(weights, None, total)
    weight = exact.to_integer(total)
    if not weight:
        return warn_undefined(NAMES[measure], "no row weighs anything", stacklevel=4)
    return exact.divide(exact.to_integer(state), weight)


def as_row_weights(sample_weight: Any, rows: int) -> np.ndarray:
    if isinstance(sample_weight, (str, bytes)) or not inputs.has_rows(sample_weight):
        raise inputs.OptionError(f"sample_weight must be an array of weights or None; found {sample_weight!r}")
    weights = inputs.as_array(sample_weight, "sample_weight")
    if weights.ndim > 1:
        raise inputs.InputError(f"sample_weight must have one dimension; found {weights.ndim} (shape {weights.shape})")
    return inputs.as_weights(weights, rows)


def open_sets(y_true: Any) -> np.ndarray:
    """A dense array of numbers of any type, or of what will be refused."""
    array = targets.as_target(y_true, "y_true")
    if array.dtype == object:
        array = inputs.object_numbers(array, "y_true")
    elif array.dtype.kind not in "biuf":
        inputs.refuse_type(array, "y_true", "labels must be 0 and 1")
    if array.shape[0] == 0:
        raise ValueError(f"y_true is empty: {targets.NO_ROWS}")
    return array


def as_sets(array: np.ndarray, one_label: bool) -> np.ndarray:
    """Sets of labels as the kernels read them; anything else is refused.

    Two labels per column, mostly 0 and 1, are the indicators themselves: whether there are others the blocks tell. A
    matrix with one column is sets of one label for the measure that scikit-learn gives it.
    """
    if array.ndim == 2 and array.shape[1] > 1 and array.dtype.char in inputs.LABEL_TYPES | {"?"}:
        readable = inputs.contiguous(array)
        return readable.view(np.uint8) if readable.dtype.char == "?" else readable
    return judged(array, one_label)


def judged(array: np.ndarray, one_label: bool = False) -> np.ndarray:
    """1 where a label is set, of what is no matrix of 0 and 1; refused where it is no sets of labels."""
    kind = targets.kind_of_target(array, "y_true")
    if kind != targets.MULTILABEL and not (one_label and kind == "binary" and array.ndim == 2):
        raise ValueError(
            f"y_true must have a column for each label, with 0 and 1; found {kind} targets of shape {array.shape}"
        )
    return targets.indicators(array)


def measure_rows(truth: np.ndarray, scores: np.ndarray, measure: int, threads: int) -> np.ndarray:
    """The measure of every row."""
    values, seen = measure_blocks(truth, scores, measure, threads)
    if seen & ~ZERO_AND_ONE:
        values, _ = measure_blocks(judged(truth), scores, measure, threads)
    return values


def measure_blocks(truth: np.ndarray, scores: np.ndarray, measure: int, threads: int) -> tuple[np.ndarray, int]:
    """The values of all rows, and which labels were seen: where there are others than 0 and 1, the values are none."""
    rows, n_labels = scores.shape
    at_once = max(1, BLOCK_ROWS // n_labels)
    n_blocks = -(-rows // at_once)
    labels, values = truth.reshape(-1), np.empty(rows)
    seen, problems = np.zeros(n_blocks, np.int64), np.zeros(n_blocks, np.int64)

    def make_worker() -> Callable[[int], None]:
        block = np.empty(min(rows, at_once) * n_labels, np.uint8)
        keys = np.empty(3 * n_labels, np.uint64) if n_labels > kernel.COMPARED else NO_KEYS

        def work(unit: int) -> None:
            start, stop = unit * at_once, min(rows, (unit + 1) * at_once)
            columns.decode_labels(labels, start * n_labels, stop * n_labels, block, seen[unit : unit + 1])
            kernel.measure_rows(scores, block, start, stop, measure, keys, values, problems[unit : unit + 1])

        return work

    for_each(n_blocks, make_worker, threads if rows * n_labels > SERIAL_ROWS else 1)
    if problems.any():
        raise ValueError(f"y_score has NaN at row {int(np.flatnonzero(np.isnan(scores).any(axis=1))[0])}")
    return values, int(np.bitwise_or.reduce(seen))
