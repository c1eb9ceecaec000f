"""Probabilities against labels: log loss, Brier score, normalised entropy, calibration.

Every metric here is a ratio of counts and exact sums over rows. The terms of a row are computed in float64 whatever the input type; their
sum has no rounding error, and the result is rounded once.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import exact, inputs
from fastmetrics._core.exact import divide
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.registry import metric
from fastmetrics._core.rows import BLOCK_ROWS, Rows, block_bounds
from fastmetrics._core.statistic import Additive, Sums, Value, accumulate
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels import columns, losses, sums

__all__ = [
    "brier_score_loss",
    "copc",
    "expected_calibration_error",
    "log_loss",
    "normalized_entropy",
    "pcoc",
]

ONE = 1 << exact.EXPONENT


class LabelCounts(NamedTuple):
    """Rows, positives; with weights also their weights."""

    statistic: str = "labels"

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


class ProbabilitySum(NamedTuple):
    """The (weighted) sum of the probabilities."""

    statistic: str = "probabilities"

    def new(self) -> Sums:
        return Sums(0, 1)

    def update(self, state: Sums, rows: Rows) -> None:
        check_range(rows)
        sums.sum_values(rows.scores, rows.weights, state.exact[0])


class LogTerms(NamedTuple):
    """The (weighted) sum of -log(q), q the probability given to what happened, clipped to [eps, 1 - eps]; how many were clipped."""

    eps: float | str = "auto"

    def new(self) -> Sums:
        return Sums(1, 1)

    def update(self, state: Sums, rows: Rows) -> None:
        problem = np.zeros(1, np.int64)
        eps = resolve_eps(self.eps, rows.scores.dtype)
        losses.log_loss_terms(rows.labels, rows.scores, rows.weights, eps, state.exact[0], state.counts, problem)
        if problem[0]:
            rows.raise_bad_probability()


class SquaredErrors(NamedTuple):
    """The (weighted) sum of (p - y)^2."""

    statistic: str = "squares"

    def new(self) -> Sums:
        return Sums(0, 1)

    def update(self, state: Sums, rows: Rows) -> None:
        problem = np.zeros(1, np.int64)
        losses.squared_error_terms(rows.labels, rows.scores, rows.weights, state.exact[0], problem)
        if problem[0]:
            rows.raise_bad_probability()


class CalibrationBins(NamedTuple):
    """Bins of equal width: rows, positives, sum of p; with weights those of w p, w and w y."""

    bins: int = 15

    def new(self) -> Sums:
        return Sums(2 * self.bins + 1, 3 * self.bins)

    def update(self, state: Sums, rows: Rows) -> None:
        problem = np.zeros(1, np.int64)
        probabilities, weights, positives = state.exact.reshape(3, self.bins, exact.SIZE)
        losses.calibration_terms(
            rows.labels, rows.scores, rows.weights, state.counts[:-1].reshape(self.bins, 2), probabilities, weights, positives,
            problem,
        )  # fmt: skip
        if problem[0]:
            rows.raise_bad_probability()
        if rows.weights is not None:
            state.counts[-1] = 1

    def bin_sums(self, state: Sums) -> list[tuple[int, int, int]]:
        """(weight, weight of positives, sum of w p) of every bin, times 2**EXPONENT."""
        table = []
        for index in range(self.bins):
            if state.count(2 * self.bins):
                weight, positive = state.integer(self.bins + index), state.integer(2 * self.bins + index)
            else:
                weight = state.count(2 * index) << exact.EXPONENT
                positive = state.count(2 * index + 1) << exact.EXPONENT
            table.append((weight, positive, state.integer(index)))
        return table


def check_range(rows: Rows) -> None:
    """Every score a probability (the sum of values outside [0, 1] means nothing here)."""
    low, high = rows.scores.min(), rows.scores.max()
    if not (low >= 0 and high <= 1):
        rows.raise_bad_probability()


def resolve_eps(eps: float | str, dtype: np.dtype) -> float:
    """The clip: a number, or "auto" for the machine epsilon of the type the probabilities came in."""
    if eps == "auto":
        return float(np.finfo(dtype).eps)
    return float(eps)


def check_eps(eps: Any) -> None:
    if eps == "auto":
        return
    if isinstance(eps, (bool, str)) or not isinstance(eps, (int, float, np.number)) or not 0 < eps < 0.5:
        raise ValueError(f"eps must be 'auto' or a number in (0, 0.5); found {eps!r}")


def check_bins(bins: Any) -> None:
    if isinstance(bins, bool) or not isinstance(bins, (int, np.integer)) or not 1 <= bins <= 1_000_000:
        raise ValueError(f"bins must be an integer from 1 to 1000000; found {bins!r}")


def check_base_rate(base_rate: Any) -> None:
    if base_rate == "sample":
        return
    if isinstance(base_rate, (bool, str)) or not isinstance(base_rate, (int, float, np.number)) or not 0 < base_rate < 1:
        raise ValueError(f"base_rate must be 'sample' or a number in (0, 1); found {base_rate!r}")


class ProbabilityColumns(NamedTuple):
    """Checked columns of one call; weights hold no zeros."""

    labels: np.ndarray
    scores: np.ndarray
    weights: np.ndarray | None
    name: str

    def reduce(self, statistics: Sequence[Additive], n_threads: int | None) -> list[Sums]:
        """The statistics over all rows, block by block."""
        rows = self.labels.shape[0]
        bounds = list(block_bounds(rows))
        seen = np.zeros((len(bounds), 2), np.int64)

        def make_loader() -> Callable[[int], Rows]:
            scratch = np.empty(min(rows, BLOCK_ROWS), np.uint8)

            def load(unit: int) -> Rows:
                start, stop = bounds[unit]
                columns.decode_labels(self.labels, start, stop, scratch, seen[unit])
                weights = None if self.weights is None else self.weights[start:stop]
                return Rows(scratch[: stop - start], self.scores[start:stop], weights, start, self.name)

            return load

        threads = count_threads(n_threads)
        states = accumulate(statistics, len(bounds), make_loader, threads)
        found = int(np.bitwise_or.reduce(seen[:, 0]))
        inputs.check_seen_labels(found, lambda what: inputs.find_label(self.labels, what), "y_true")
        return states


def as_columns(y_true: Any, y_prob: Any, sample_weight: Any, name: str) -> ProbabilityColumns:
    """Binary labels and probabilities of the positive class."""
    labels = inputs.as_labels(y_true)
    scores = inputs.as_scores(y_prob, name)
    inputs.check_lengths(labels.shape[0], scores.shape[0], "y_true", name)
    weights = None
    if sample_weight is not None:
        weights = inputs.as_weights(sample_weight, labels.shape[0])
        present = weights > 0
        if not present.all():
            labels, scores, weights = labels[present], scores[present], weights[present]
    return ProbabilityColumns(labels, scores, weights, name)


def input_eps(values: Any, eps: float | str) -> float | str:
    """float16 probabilities are widened, but their epsilon stays."""
    check_eps(eps)
    if eps == "auto" and getattr(values, "dtype", None) == np.float16:
        return float(np.finfo(np.float16).eps)
    return eps


def log_loss(
    y_true: Any,
    y_pred: Any,
    *,
    normalize: bool = True,
    sample_weight: Any = None,
    labels: Any = None,
    eps: float | str = "auto",
    n_threads: int | None = None,
) -> float:
    """The mean of -log of the probability given to what happened (cross-entropy, natural logarithm).

    log loss = -(1/W) sum_i w_i log q_i, with q_i the predicted probability of row i's own class, clipped to [eps, 1 - eps], and W the
    sum of the weights (Good, J. R. Stat. Soc. B 14, 1952). It is not divided by the number of classes, as one formula in
    circulation does. Terms are float64, their sum is exact.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Binary labels 0 and 1 (or -1 and +1), or with 2-D y_pred class labels of any kind.
    y_pred : array-like of shape (n,) or (n, n_classes)
        Probabilities in [0, 1]: of the positive class, or of every class in sorted order of the labels.
    normalize : bool
        Mean (True) or sum (False) of the terms.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    labels : array-like, optional
        The classes, when y_true does not hold all of them.
    eps : "auto" or float in (0, 0.5)
        The clip; "auto" is the machine epsilon of y_pred's type, as in scikit-learn. At p = 0 or 1 the clip is the metric.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        At least 0.

    Raises
    ------
    ValueError
        Probabilities outside [0, 1] or NaN, bad labels, lengths that differ, no rows; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> round(fm.log_loss([1, 0, 0, 1], [0.9, 0.1, 0.2, 0.65]), 6)
    0.216162
    """
    eps = input_eps(y_pred, eps)
    predictions = inputs.as_floats(y_pred, "y_pred")
    if predictions.ndim == 2:
        return multiclass_log_loss(y_true, predictions, normalize, sample_weight, labels, eps)
    rows = as_columns(y_true, predictions, sample_weight, "y_pred")
    if labels is not None:
        check_binary_labels(labels)
    counts, terms = rows.reduce((LabelCounts(), LogTerms(eps)), n_threads)
    if not normalize:
        return exact.to_float(terms.exact[0])
    return divide(terms.integer(0), LabelCounts.totals(counts)[0])


def check_binary_labels(labels: Any) -> None:
    classes = inputs.as_array(labels, "labels")
    if classes.ndim != 1 or set(classes.tolist()) not in ({0, 1}, {-1, 1}):
        raise ValueError(f"labels must be [0, 1] or [-1, 1] when y_pred has one column; found {classes.tolist()!r}")


def class_codes(y_true: Any, n_classes: int, labels: Any) -> np.ndarray:
    """Labels of any sortable kind as column numbers."""
    values = inputs.as_array(y_true, "y_true")
    inputs.check_column(values, "y_true")
    if values.dtype.kind == "f" and np.isnan(values).any():
        inputs.raise_nan(values, "y_true")
    classes = np.unique(values if labels is None else inputs.as_array(labels, "labels"))
    if classes.shape[0] != n_classes:
        where = "y_true has" if labels is None else "labels has"
        raise ValueError(f"y_pred has {n_classes} columns but {where} {classes.shape[0]} classes; name them all with labels=")
    codes = np.searchsorted(classes, values)
    unknown = (codes == n_classes) | (classes[np.minimum(codes, n_classes - 1)] != values)
    if unknown.any():
        row = int(np.flatnonzero(unknown)[0])
        raise ValueError(f"y_true has {values[row]!r} at row {row}, which is not among labels")
    return codes.astype(np.int64, copy=False)


def multiclass_log_loss(
    y_true: Any, y_pred: np.ndarray, normalize: bool, sample_weight: Any, labels: Any, eps: float | str
) -> float:
    if y_pred.shape[1] == 1:
        y_pred = np.hstack((1 - y_pred, y_pred))
    codes = class_codes(y_true, y_pred.shape[1], labels)
    inputs.check_lengths(codes.shape[0], y_pred.shape[0], "y_true", "y_pred")
    weights = None if sample_weight is None else inputs.as_weights(sample_weight, codes.shape[0])
    state = exact.new_states()
    clipped = np.zeros(1, np.int64)
    problem = np.zeros(1, np.int64)
    predictions = np.ascontiguousarray(y_pred)
    losses.log_loss_terms_multiclass(
        codes, predictions, weights, resolve_eps(eps, y_pred.dtype), state, clipped, problem
    )  # fmt: skip
    if problem[0]:
        inputs.raise_bad_probability(predictions, "y_pred")
    warn_unnormalised(predictions)
    if not normalize:
        return exact.to_float(state)
    total = codes.shape[0] << exact.EXPONENT
    if weights is not None:
        weight_state = exact.new_states()
        sums.sum_values(weights, None, weight_state)
        total = exact.to_integer(weight_state)
    return divide(exact.to_integer(state), total)


def warn_unnormalised(y_pred: np.ndarray) -> None:
    """Rows are taken as they are, never rescaled; a row that does not sum to 1 is worth a warning, as in scikit-learn."""
    totals = y_pred.sum(axis=1, dtype=np.float64)
    off = np.abs(totals - 1) > np.sqrt(np.finfo(y_pred.dtype).eps)
    if off.any():
        import warnings

        row = int(np.flatnonzero(off)[0])
        warnings.warn(f"y_pred sums to {totals[row]} at row {row}, not to 1; it is used as given", UserWarning, stacklevel=4)


def brier_score_loss(
    y_true: Any,
    y_proba: Any,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
    labels: Any = None,
    scale_by_half: bool | str = "auto",
    n_threads: int | None = None,
) -> float:
    """The mean squared distance between probabilities and outcomes.

    Brier score = (1/W) sum_i w_i (p_i - y_i)^2 for binary labels (Brier, Monthly Weather Review 78, 1950, divided by two). With
    one column per class it is the sum over the classes, halved when scale_by_half says so.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Binary labels 0 and 1 (or -1 and +1), or with 2-D y_proba class labels of any kind.
    y_proba : array-like of shape (n,) or (n, n_classes)
        Probabilities in [0, 1].
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    pos_label : optional
        The label y_proba speaks of, for binary labels: by default 1.
    labels : array-like, optional
        The classes, when y_true does not hold all of them (2-D y_proba).
    scale_by_half : bool or "auto"
        Halve the sum over classes; "auto" does so for two classes, as in scikit-learn.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        In [0, 1] for binary labels.

    Raises
    ------
    ValueError
        Probabilities outside [0, 1] or NaN, bad labels, lengths that differ, no rows; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.brier_score_loss([0, 1, 1, 0], [0.0, 0.5, 1.0, 0.5])
    0.125
    """
    if scale_by_half not in ("auto", True, False):
        raise ValueError(f"scale_by_half must be 'auto', True or False; found {scale_by_half!r}")
    predictions = inputs.as_floats(y_proba, "y_proba")
    if predictions.ndim == 2:
        return multiclass_brier(y_true, predictions, sample_weight, labels, scale_by_half)
    rows = as_columns(positive_labels(y_true, pos_label), predictions, sample_weight, "y_proba")
    counts, squares = rows.reduce((LabelCounts(), SquaredErrors()), n_threads)
    numerator = squares.integer(0)
    denominator = LabelCounts.totals(counts)[0]
    return divide(numerator, denominator) if scale_by_half in ("auto", True) else divide(2 * numerator, denominator)


def positive_labels(y_true: Any, pos_label: Any) -> Any:
    """With pos_label, whether each label is it (of at most two); else the labels themselves."""
    if pos_label is None:
        return y_true
    values = inputs.as_array(y_true, "y_true")
    found = np.unique(values)
    if found.shape[0] > 2 or pos_label not in found.tolist():
        raise ValueError(f"pos_label must be one of the two labels of y_true; found {pos_label!r} and labels {found.tolist()[:5]!r}")
    return values == pos_label


def multiclass_brier(
    y_true: Any, y_proba: np.ndarray, sample_weight: Any, labels: Any, scale_by_half: bool | str
) -> float:
    codes = class_codes(y_true, y_proba.shape[1], labels)
    inputs.check_lengths(codes.shape[0], y_proba.shape[0], "y_true", "y_proba")
    if not ((y_proba >= 0) & (y_proba <= 1)).all():
        inputs.raise_bad_probability(y_proba, "y_proba")
    warn_unnormalised(y_proba)
    weights = None if sample_weight is None else inputs.as_weights(sample_weight, codes.shape[0])
    state = exact.new_states()
    problem = np.zeros(1, np.int64)
    for column in range(y_proba.shape[1]):
        happened = (codes == column).view(np.uint8)
        losses.squared_error_terms(happened, np.ascontiguousarray(y_proba[:, column]), weights, state, problem)
    total = codes.shape[0] << exact.EXPONENT
    if weights is not None:
        weight_state = exact.new_states()
        sums.sum_values(weights, None, weight_state)
        total = exact.to_integer(weight_state)
    half = scale_by_half is True or (scale_by_half == "auto" and y_proba.shape[1] == 2)
    return divide(exact.to_integer(state), 2 * total if half else total)


def normalized_entropy(
    y_true: Any,
    y_prob: Any,
    *,
    base_rate: float | str = "sample",
    sample_weight: Any = None,
    eps: float | str = "auto",
    n_threads: int | None = None,
) -> float:
    """Log loss relative to that of always predicting the base rate: below 1 the model knows something.

    NE = log loss / H(r), with H(r) = -(c log r + (1 - c) log(1 - r)), c the observed rate and r the base rate (He et al., ADKDD 2014).
    With base_rate="sample", r = c.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class, in [0, 1].
    base_rate : "sample" or float in (0, 1)
        The constant prediction to compare with.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    eps : "auto" or float in (0, 0.5)
        The clip of the log loss.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        At least 0; NaN with an UndefinedMetricWarning when only one class is present and base_rate is "sample".

    Raises
    ------
    ValueError
        Probabilities outside [0, 1] or NaN, bad labels, lengths that differ, no rows; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.normalized_entropy([0, 1, 0, 1], [0.5, 0.5, 0.5, 0.5])
    1.0
    """
    check_base_rate(base_rate)
    eps = input_eps(y_prob, eps)
    rows = as_columns(y_true, y_prob, sample_weight, "y_prob")
    result = finalise_ne({"base_rate": base_rate}, *rows.reduce((LabelCounts(), LogTerms(eps)), n_threads))
    return warn_undefined("normalized_entropy", result.reason) if result.reason else result.value


def copc(y_true: Any, y_prob: Any, *, sample_weight: Any = None, n_threads: int | None = None) -> float:
    """Clicks observed over clicks predicted: 1 is calibrated on the whole, above 1 the model predicts too little.

    COPC = sum_i w_i y_i / sum_i w_i p_i.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class, in [0, 1].
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        At least 0; NaN with an UndefinedMetricWarning when all probabilities are zero.

    Raises
    ------
    ValueError
        Probabilities outside [0, 1] or NaN, bad labels, lengths that differ, no rows; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.copc([0, 1, 0, 1], [0.25, 0.5, 0.25, 0.0])
    2.0
    """
    rows = as_columns(y_true, y_prob, sample_weight, "y_prob")
    result = finalise_copc({}, *rows.reduce((LabelCounts(), ProbabilitySum()), n_threads))
    return warn_undefined("copc", result.reason) if result.reason else result.value


def pcoc(y_true: Any, y_prob: Any, *, sample_weight: Any = None, n_threads: int | None = None) -> float:
    """Clicks predicted over clicks observed: the inverse of COPC.

    PCOC = sum_i w_i p_i / sum_i w_i y_i.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class, in [0, 1].
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        At least 0; NaN with an UndefinedMetricWarning when there is no positive row.

    Raises
    ------
    ValueError
        Probabilities outside [0, 1] or NaN, bad labels, lengths that differ, no rows; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.pcoc([0, 1, 0, 1], [0.25, 0.5, 0.25, 0.0])
    0.5
    """
    rows = as_columns(y_true, y_prob, sample_weight, "y_prob")
    result = finalise_pcoc({}, *rows.reduce((LabelCounts(), ProbabilitySum()), n_threads))
    return warn_undefined("pcoc", result.reason) if result.reason else result.value


def expected_calibration_error(
    y_true: Any,
    y_prob: Any,
    *,
    bins: int = 15,
    strategy: str = "uniform",
    norm: str = "l1",
    sample_weight: Any = None,
    n_threads: int | None = None,
) -> float:
    """How far predicted probabilities are from observed rates, bin by bin.

    With d_b = |mean p - mean y| in bin b and W_b / W its share of the weight: l1 is sum_b (W_b / W) d_b (Naeini et al., AAAI 2015),
    l2 the square root of sum_b (W_b / W) d_b^2, max the largest d_b. Empty bins count nothing.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1.
    y_prob : array-like of shape (n,)
        Probabilities of the positive class, in [0, 1].
    bins : int
        The number of bins.
    strategy : {"uniform", "quantile"}
        Bins of equal width, bin = min(floor(p * bins), bins - 1); or of about equal numbers of rows in the order of p, cut before row
        ceil(n * j / bins) of that order, where equal probabilities are never split: a tie stays with the bin of its first row.
    norm : {"l1", "l2", "max"}
        How the bins' distances become one number.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent. Quantile bins count rows, not weight.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    ValueError
        Probabilities outside [0, 1] or NaN, bad labels or options, lengths that differ, no rows; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.expected_calibration_error([0, 1, 0, 1], [0.25, 0.75, 0.25, 0.75], bins=4)
    0.25
    """
    check_bins(bins)
    inputs.check_option(strategy, "strategy", ("uniform", "quantile"))
    inputs.check_option(norm, "norm", ("l1", "l2", "max"))
    rows = as_columns(y_true, y_prob, sample_weight, "y_prob")
    if strategy == "uniform":
        statistic = CalibrationBins(int(bins))
        (state,) = rows.reduce((statistic,), n_threads)
        return calibration_error(statistic.bin_sums(state), norm)
    return calibration_error(quantile_bins(rows, int(bins)), norm)


def quantile_bins(rows: ProbabilityColumns, bins: int) -> list[tuple[int, int, int]]:
    """As CalibrationBins.bin_sums, for bins of about equal numbers of rows."""
    labels = inputs.decode_labels(rows.labels)
    if not ((rows.scores >= 0) & (rows.scores <= 1)).all():
        inputs.raise_bad_probability(rows.scores, rows.name)
    order = np.argsort(rows.scores, kind="stable")
    scores, labels = rows.scores[order], labels[order]
    n = scores.shape[0]
    # A cut inside a tie moves to the tie's end.
    cuts = [-(-n * j // bins) for j in range(1, bins)]
    ends = [int(np.searchsorted(scores, scores[cut - 1], "right")) if 0 < cut < n else cut for cut in cuts]
    edges = [0, *np.maximum.accumulate(ends).tolist(), n] if ends else [0, n]
    table = []
    for start, stop in zip(edges[:-1], edges[1:], strict=True):
        if start == stop:
            continue
        probability, weight, positive = exact.new_states(3)
        part = slice(start, stop)
        if rows.weights is None:
            total, hits = (stop - start) << exact.EXPONENT, int(labels[part].sum()) << exact.EXPONENT
            sums.sum_values(scores[part], None, probability)
        else:
            weights = rows.weights[order[part]]
            sums.sum_values(scores[part], weights, probability)
            sums.sum_values(weights, None, weight)
            sums.sum_where(labels[part], weights, positive)
            total, hits = exact.to_integer(weight), exact.to_integer(positive)
        table.append((total, hits, exact.to_integer(probability)))
    return table


def calibration_error(table: list[tuple[int, int, int]], norm: str) -> float:
    """The norm over bins of (weight, weight of positives, sum of w p)."""
    total = sum(weight for weight, _, _ in table)
    distances = [(weight, abs(probability - positive)) for weight, positive, probability in table if weight]
    if norm == "l1":
        return divide(sum(distance for _, distance in distances), total)
    if norm == "max":
        return max(divide(distance, weight) for weight, distance in distances)
    from fractions import Fraction

    return float(sum(Fraction(distance * distance, weight * total) for weight, distance in distances)) ** 0.5


def row_coverage(counts: Sums) -> dict[str, Any]:
    return {"rows": counts.count(0), "positives": counts.count(1)}


@metric("ctr", exchange="none", statistics=lambda: (LabelCounts(),), function=None, undefined="never")
def finalise_ctr(parameters: dict[str, Any], counts: Sums) -> Value:
    """Observed rate: the share of positive rows."""
    total, positive = LabelCounts.totals(counts)
    return Value(divide(positive, total), row_coverage(counts))


@metric(
    "logloss",
    exchange="none",
    statistics=lambda eps: (LabelCounts(), LogTerms(eps)),
    function=log_loss,
    undefined="never",
    parameters={"eps": "auto"},
    checks={"eps": check_eps},
)
def finalise_log_loss(parameters: dict[str, Any], counts: Sums, terms: Sums) -> Value:
    """Log loss: the mean of -log of the probability given to what happened."""
    coverage = row_coverage(counts) | {"rows_clipped": terms.count(0)}
    return Value(divide(terms.integer(0), LabelCounts.totals(counts)[0]), coverage)


@metric(
    "ne",
    exchange="none",
    statistics=lambda base_rate, eps: (LabelCounts(), LogTerms(eps)),
    function=normalized_entropy,
    undefined="one class only, with base_rate=sample",
    parameters={"base_rate": "sample", "eps": "auto"},
    checks={"base_rate": check_base_rate, "eps": check_eps},
)
def finalise_ne(parameters: dict[str, Any], counts: Sums, terms: Sums) -> Value:
    """Normalised entropy: log loss over that of always predicting the base rate."""
    total, positive = LabelCounts.totals(counts)
    coverage = row_coverage(counts) | {"rows_clipped": terms.count(0)}
    base_rate = parameters["base_rate"]
    if base_rate == "sample" and positive in (0, total):
        return Value(float("nan"), coverage, "only one class is present, so the base rate has no entropy")
    rate = divide(positive, total)
    base = rate if base_rate == "sample" else float(base_rate)
    entropy = -(rate * float(np.log(base)) + (1 - rate) * float(np.log1p(-base)))
    return Value(divide(terms.integer(0), total) / entropy, coverage)


@metric("brier", exchange="none", statistics=lambda: (LabelCounts(), SquaredErrors()), function=brier_score_loss, undefined="never")
def finalise_brier(parameters: dict[str, Any], counts: Sums, squares: Sums) -> Value:
    """Brier score: the mean squared distance between probability and outcome."""
    return Value(divide(squares.integer(0), LabelCounts.totals(counts)[0]), row_coverage(counts))


@metric("copc", exchange="none", statistics=lambda: (LabelCounts(), ProbabilitySum()), function=copc, undefined="all probabilities zero")
def finalise_copc(parameters: dict[str, Any], counts: Sums, probabilities: Sums) -> Value:
    """Clicks observed over clicks predicted."""
    positive, predicted = LabelCounts.totals(counts)[1], probabilities.integer(0)
    if predicted == 0:
        return Value(float("nan"), row_coverage(counts), "the probabilities sum to zero")
    return Value(divide(positive, predicted), row_coverage(counts))


@metric("pcoc", exchange="none", statistics=lambda: (LabelCounts(), ProbabilitySum()), function=pcoc, undefined="no positive row")
def finalise_pcoc(parameters: dict[str, Any], counts: Sums, probabilities: Sums) -> Value:
    """Clicks predicted over clicks observed."""
    positive, predicted = LabelCounts.totals(counts)[1], probabilities.integer(0)
    if positive == 0:
        return Value(float("nan"), row_coverage(counts), "there is no positive row")
    return Value(divide(predicted, positive), row_coverage(counts))


@metric(
    "ece",
    exchange="none",
    statistics=lambda bins, norm: (LabelCounts(), CalibrationBins(bins)),
    function=expected_calibration_error,
    undefined="never",
    parameters={"bins": 15, "norm": "l1"},
    checks={"bins": check_bins, "norm": ("l1", "l2", "max")},
)
def finalise_ece(parameters: dict[str, Any], counts: Sums, bins: Sums) -> Value:
    """Expected calibration error over bins of equal width."""
    table = CalibrationBins(parameters["bins"]).bin_sums(bins)
    return Value(calibration_error(table, parameters["norm"]), row_coverage(counts))
