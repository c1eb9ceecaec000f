"""The Jaccard index of true and predicted labels, as scikit-learn defines it, and the Jaccard distance."""

from __future__ import annotations

from collections.abc import Set
from functools import partial
from typing import TYPE_CHECKING, Any, cast, overload

from fastmetrics._core.calls.compiled_functions import computed_by
from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.undefined import UndefinedMetricWarning, warn_user
from fastmetrics.metrics.classification import count_ratios

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, Floats, Label, MatrixLike, NumericArrayLike
    from fastmetrics._core.types.options import Average, ZeroDivision

__all__ = ["jaccard_distance", "jaccard_score"]


@overload
def jaccard_score(
    y_true: MatrixLike, y_pred: MatrixLike, *, labels: ArrayLike | None = ..., pos_label: Label = ..., average: None,
    sample_weight: NumericArrayLike | None = ..., zero_division: ZeroDivision = ..., n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@overload
def jaccard_score(
    y_true: MatrixLike, y_pred: MatrixLike, *, labels: ArrayLike | None = ..., pos_label: Label = ...,
    average: Average = ..., sample_weight: NumericArrayLike | None = ..., zero_division: ZeroDivision = ...,
    n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@computed_by(partial(count_ratios.average_ratio, count_ratios.jaccard_ratio, nan=False))
def jaccard_score(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    labels: ArrayLike | None = None,
    pos_label: Label = 1,
    average: Average | None = "binary",
    sample_weight: NumericArrayLike | None = None,
    zero_division: ZeroDivision = "warn",
    n_threads: int | None = None,
) -> float | Floats:
    """Rows with a label in y_true and y_pred, as a share of the rows with it in either.

    Jaccard = tp / (tp + fp + fn), with tp, fp and fn the true positives, false positives and false negatives of a label
    (Jaccard, Bull. Soc. Vaudoise Sci. Nat. 37, 1901). For two clusterings see `pair_jaccard_score`, which counts pairs
    of rows.

    Parameters
    ----------
    y_true, y_pred : array-like of shape (n,) or (n, n_labels)
        True and predicted labels, both of one kind: integers, strings or bools. Multilabel input has one column per
        label, with 0 and 1 (dense or sparse).
    labels : array-like, optional
        The labels to include and their order, for every average except "binary". By default all labels that occur,
        sorted. A label that does not occur has no true and no predicted rows. For multilabel input, column numbers.
    pos_label : int, float, bool or str
        The positive label with average="binary"; ignored for other averages.
    average : "binary", "micro", "macro", "samples", "weighted" or None
        "binary": the value for `pos_label`, for two classes only. None: an array with one value per label. "micro":
        computed from the summed counts of all labels. "macro": the mean over labels. "weighted": the mean over labels,
        weighted by their true rows. "samples": the mean over rows, for multilabel input.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero.
    zero_division : "warn", 0 or 1
        The value of 0/0. "warn" gives 0 with an UndefinedMetricWarning.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float or ndarray of float64
        In [0, 1]; an array with one value per label if average=None.

    Raises
    ------
    ValueError
        Values that are not class labels, labels of two kinds, different lengths, no rows, an invalid option, a
        `pos_label` that does not occur although two other labels do, or average="binary" with more than two classes.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.jaccard_score([0, 1, 1, 0], [1, 1, 1, 0], average=None)
    array([0.5       , 0.66666667])
    >>> fm.jaccard_score([[0, 1, 1], [1, 1, 0]], [[1, 1, 1], [1, 0, 0]], average="micro")
    0.6
    """


@overload
def jaccard_distance(
    y_true: MatrixLike | Set[object], y_pred: MatrixLike | Set[object], *, labels: ArrayLike | None = ...,
    pos_label: Label = ..., average: None, sample_weight: NumericArrayLike | None = ...,
    zero_division: ZeroDivision = ..., n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@overload
def jaccard_distance(
    y_true: MatrixLike | Set[object], y_pred: MatrixLike | Set[object], *, labels: ArrayLike | None = ...,
    pos_label: Label = ..., average: Average = ..., sample_weight: NumericArrayLike | None = ...,
    zero_division: ZeroDivision = ..., n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@answers_unknown
def jaccard_distance(
    y_true: MatrixLike | Set[object],
    y_pred: MatrixLike | Set[object],
    *,
    labels: ArrayLike | None = None,
    pos_label: Label = 1,
    average: Average | None = "binary",
    sample_weight: NumericArrayLike | None = None,
    zero_division: ZeroDivision = 1,
    n_threads: int | None = None,
) -> float | Floats:
    """The Jaccard distance of two sets, 1 - |A and B| / |A or B|; for columns of labels, 1 - `jaccard_score`.

    For columns (fp + fn) / (tp + fp + fn), with tp, fp and fn those of a label; P. Jaccard, Bull. Soc. Vaudoise Sci.
    Nat. 37, 1901. It is a metric (M. Levandowsky, D. Winter, "Distance between sets", Nature 234, 1971). For columns of
    0 and 1 it is `scipy.spatial.distance.jaccard`.

    Parameters
    ----------
    y_true, y_pred : set, frozenset, or array-like of shape (n,) or (n, n_labels)
        Two sets of any elements; or two columns of labels of one kind; or multilabel input with one column per label,
        with 0 and 1 (dense or sparse).
    labels : array-like, optional
        The labels to include and their order, for every average except "binary". By default all labels that occur,
        sorted. A label that does not occur has no true and no predicted rows. For multilabel input, column numbers.

        Only for columns of labels.
    pos_label : int, float, bool or str
        The positive label with average="binary"; ignored for other averages.

        Only for columns of labels.
    average : "binary", "micro", "macro", "samples", "weighted" or None
        "binary": the value for `pos_label`, for two classes only. None: an array with one value per label. "micro":
        computed from the summed counts of all labels. "macro": the mean over labels. "weighted": the mean over labels,
        weighted by their true rows. "samples": the mean over rows, for multilabel input.

        Only for columns of labels.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero.

        Only for columns of labels.
    zero_division : 1, 0 or "warn"
        The Jaccard index at 0/0. By default 1: two empty sets are equal, so their distance is 0. "warn" gives an index
        of 0, so a distance of 1, with an UndefinedMetricWarning.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float or ndarray of float64
        In [0, 1], rounded once for one label and for sets; an array with one value per label if average=None.

    Raises
    ------
    ValueError
        A set together with a column, options of columns together with sets, or any error of `jaccard_score`.

    Notes
    -----
    `jaccard_score` has another default of `zero_division`, the one of scikit-learn.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.jaccard_distance({"a", "b", "c"}, {"b", "c", "d"})
    0.5
    >>> fm.jaccard_distance([1, 0, 1, 0], [1, 1, 0, 0])
    0.6666666666666666
    """
    zero = 1 - count_ratios.check_options(average, pos_label, zero_division, nan=False)
    warn = isinstance(zero_division, str)
    if isinstance(y_true, Set) or isinstance(y_pred, Set):
        count_threads(n_threads)
        check_sets(y_true, y_pred, labels, pos_label, average, sample_weight)
        return set_distance(cast("Set[Any]", y_true), cast("Set[Any]", y_pred), zero, warn)
    counts = count_ratios.count_for_average(y_true, y_pred, labels, pos_label, average, sample_weight, n_threads)
    ratios = count_ratios.divide_counts(count_ratios.jaccard_distance_ratio(counts), counts, zero, warn)
    distance: float | Floats = count_ratios.average_ratios(ratios, counts)
    return distance


def check_sets(y_true: Any, y_pred: Any, labels: Any, pos_label: Any, average: Any, sample_weight: Any) -> None:
    """Check that both are sets and that no option of columns is given."""
    for name, value in (("y_true", y_true), ("y_pred", y_pred)):
        if not isinstance(value, Set):
            raise validation.InputError(f"{name} must be a set, like the other argument; found {type(value).__name__}")
    not_default = {
        "labels": labels is not None,
        "pos_label": pos_label is None or pos_label != 1,
        "average": average != "binary",
        "sample_weight": sample_weight is not None,
    }
    for name, is_given in not_default.items():
        if is_given:
            raise ValueError(f"{name} is an option of columns and cannot be used with sets")


def set_distance(a: Set[Any], b: Set[Any], zero: float, warn: bool) -> float:
    both = sum(1 for element in a if element in b)
    either = len(a) + len(b) - both
    if either:
        return (either - both) / either
    if warn:
        warn_user(
            "jaccard distance is undefined: both sets are empty; set to 1.0 (zero_division= changes this)",
            UndefinedMetricWarning,
        )
    return float(zero)


# Options that `fastmetrics.testing` checks.
CHECKED_OPTIONS: dict[str, Any] = {
    "jaccard_score": ({}, *count_ratios.CHECKED_AVERAGES),
    "jaccard_distance": ({}, *count_ratios.CHECKED_AVERAGES),
}
