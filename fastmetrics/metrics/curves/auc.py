"""Area under the ROC curve: binary, partial, multiclass and multilabel; and the area under any curve, `auc`."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import class_labels as labeled
from fastmetrics._core.columns import validation
from fastmetrics._core.columns.array_types import machine_epsilon, sum_tolerance
from fastmetrics._core.columns.binary_probabilities import warn_and_unwrap
from fastmetrics._core.columns.categorical import CategoricalColumn
from fastmetrics._core.columns.row_blocks import SERIAL_ROWS
from fastmetrics._core.columns.small_inputs import small_inputs
from fastmetrics._core.exchange.sorted_rows import MOST_SHORT, OrderedRows, as_column, check_infinities, order_rows
from fastmetrics._core.exchange.weighted_ranges import WeightedPairs
from fastmetrics._core.metric_spec import IntervalSpec, ScoreInfluence
from fastmetrics._core.registry import metric
from fastmetrics._core.score_statistics.delong_placements import Placements, find_interval
from fastmetrics._core.score_statistics.pair_counts import PairsWon, finalize_pairs, pair_influence, undefined_reason
from fastmetrics._core.score_statistics.row_placements import compare_areas
from fastmetrics._core.score_statistics.slice_pairs import PairCounts
from fastmetrics._core.statistic import Value
from fastmetrics._kernels.columns import column_checks
from fastmetrics._kernels.sweep import curve_points, mann_whitney, short_curves
from fastmetrics.metrics.curves.multiclass import (
    AVERAGES,
    BinaryMetric,
    EncodedTarget,
    as_score_matrix,
    average_class_pairs,
    average_labels,
    read_any_labels,
    read_target,
)  # fmt: skip
from fastmetrics.metrics.curves.partial_area import (
    CurvePiece,
    PartialArea,
    check_max_fpr,
    finalize_partial_area,
    height_at,
    influence_of_area,
    standardized_area,
)
from fastmetrics.metrics.curves.roc_curve import compute_roc_rates

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, Floats, Label, MatrixLike, NumericArrayLike
    from fastmetrics._core.types.options import MultiClass, ScoreAverage

__all__ = ["auc", "partial_auc_score", "roc_auc_score"]


def count_small_pairs(y_true: np.ndarray, y_score: np.ndarray) -> PairCounts:
    """Pair counts of two short columns by one kernel: calls in a loop cost little."""
    rows = y_true.shape[0]
    labels = np.empty(rows, np.uint8)
    seen = np.zeros(2, np.int64)
    column_checks.decode_labels(y_true, 0, rows, labels, seen)
    if seen[0] > column_checks.SAW_ZERO + column_checks.SAW_ONE:
        validation.check_label_kinds(int(seen[0]), lambda what: validation.find_label(y_true, what), "y_true")
    positives, wins, has_nan = mann_whitney.count_pairs(
        labels, y_score, np.empty(mann_whitney.n_scratch_words(rows), np.uint64)
    )
    if has_nan:
        validation.raise_nan(y_score, "y_score")
    return PairCounts(rows - positives, positives, wins)


@overload
def roc_auc_score(
    y_true: MatrixLike, y_score: NumericArrayLike, *, average: None, sample_weight: NumericArrayLike | None = ...,
    max_fpr: float | None = ..., multi_class: MultiClass = ..., labels: ArrayLike | None = ...,
    allow_infinite: bool = ..., n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@overload
def roc_auc_score(
    y_true: MatrixLike, y_score: NumericArrayLike, *, average: ScoreAverage = ...,
    sample_weight: NumericArrayLike | None = ..., max_fpr: float | None = ..., multi_class: MultiClass = ...,
    labels: ArrayLike | None = ..., allow_infinite: bool = ..., n_threads: int | None = ...,
) -> float: ...  # fmt: skip
@small_inputs(short_curves.roc_auc)
def roc_auc_score(
    y_true: MatrixLike,
    y_score: NumericArrayLike,
    *,
    average: ScoreAverage | None = "macro",
    sample_weight: NumericArrayLike | None = None,
    max_fpr: float | None = None,
    multi_class: MultiClass = "raise",
    labels: ArrayLike | None = None,
    allow_infinite: bool = False,
    n_threads: int | None = None,
) -> float | Floats:
    """The probability that a positive row scores above a negative one, ties counting one half.

    AUC = (pairs won + pairs tied / 2) / (positives * negatives), over all pairs of a positive and a negative row. This
    is the area under the ROC curve. It is also the Mann-Whitney U statistic divided by its maximum (Hanley and McNeil,
    Radiology 143, 1982). Pairs are counted in integers, so the result is correctly rounded for any order of the rows.
    More than two classes are split into binary problems, each exact: every class against the rest ("ovr"), or every
    pair of classes in both directions ("ovo"; Hand and Till, Machine Learning 45, 2001).

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_labels)
        Labels of any kind. With two classes, the greater label is positive. Multilabel: a matrix (dense or sparse) of
        0 and 1, or -1 and 1.
    y_score : array-like of shape (n,), (n, 1), (n, n_classes) or (n, n_labels)
        Scores, higher for more likely positive. float32 and float64 are read without conversion; integers and float16
        are widened. -0.0 ties with 0.0, and scores tie only if they are exactly equal. With more than two classes:
        probabilities that add up to 1 in every row, one column per class in sorted order. Sums may be away from 1 by
        1e-5 and the greater of 5e-7 for each class and the square root of the epsilon of their type (float32 3.5e-4,
        float16 0.03, bfloat16 0.09); nothing is rescaled. Multilabel: one column per label.
    average : {"macro", "micro", "weighted", "samples"} or None
        How the values of classes or labels are averaged. "macro": their mean. "weighted": their mean, weighted by the
        number of rows with the label. "micro": one problem of all labels of all rows (not with "ovo"). "samples": the
        mean of one problem per row (multilabel only). None: an array of all values. No effect with two classes.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300. A row of weight zero is left out.

        The weight of a pair is the product of the weights of its rows. Sums and products of weights are exact, so the
        result is correctly rounded for any weights. Not with "ovo".
    max_fpr : float in (0, 1], optional
        If given, the standardized partial AUC over false positive rates up to max_fpr (McClish, Medical Decision
        Making 9, 1989). Not with more than two classes.
    multi_class : {"raise", "ovr", "ovo"}
        With more than two classes. "raise": an error. "ovr": every class against the rest. "ovo": every pair of
        classes, in both directions.
    labels : array-like of shape (n_classes,), optional
        The classes of the columns of `y_score`, sorted; by default the classes in `y_true`. No effect with two
        classes.
    allow_infinite : bool
        Order infinite scores: the greatest and the least, ties among themselves. By default they are an error, as in
        scikit-learn.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float or ndarray of shape (n_classes,)
        In [0, 1]; NaN with an UndefinedMetricWarning if only one class is present. A class or label without a positive
        or a negative row makes the average NaN, except for "weighted". An array for `average=None`.

    Raises
    ------
    ValueError
        NaN or infinite scores, labels of mixed types, different lengths, no rows or invalid weights; the message names
        the row. Columns that do not match the classes or do not add up to 1, and options that cannot be combined.
    NotImplementedError
        average=None with multi_class="ovo".

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    >>> fm.roc_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8])
    0.875
    >>> fm.roc_auc_score([0, 1, 1, 0, 0, 1, 1], [0.3, 0.5, 0.5, 0.5, 0.5, 0.7, 0.8]) == 10 / 12
    True
    >>> chances = [[0.8, 0.1, 0.1], [0.3, 0.4, 0.3], [0.5, 0.25, 0.25], [0.0, 0.25, 0.75]]
    >>> fm.roc_auc_score(["a", "b", "b", "c"], chances, multi_class="ovr", average=None).tolist()
    [1.0, 0.875, 1.0]
    """
    validation.check_option(average, "average", AVERAGES)
    if labels is not None and (isinstance(labels, (str, bytes)) or not validation.is_array_like(labels)):
        raise validation.OptionError(f"labels must be an array of labels or None; found {labels!r}")
    validation.check_option(multi_class, "multi_class", ("raise", "ovr", "ovo"))
    check_optional_max_fpr(max_fpr)
    raw_labels = read_any_labels(y_true)
    scores = as_column(as_score_matrix(y_score))
    allow_infinite = check_infinities(scores, sample_weight, allow_infinite, n_threads)
    if sample_weight is not None:
        sample_weight = as_column(validation.as_array(sample_weight, "sample_weight"))
    if isinstance(raw_labels, np.ndarray) and raw_labels.ndim == scores.ndim == 1 and raw_labels.dtype.kind in "biuf":
        try:
            truth = validation.as_labels(raw_labels)
            value = solve_binary_auc(truth, scores, sample_weight, n_threads, max_fpr, allow_infinite)
        except validation.LabelError:  # other labels than 0 and 1, or more classes
            pass
        else:
            return warn_and_unwrap("roc_auc_score", value)
    measure = BinaryMetric("roc_auc_score", partial(solve_binary_auc, max_fpr=max_fpr))
    target = read_target(raw_labels)
    is_multilabel = target.kind == labeled.MULTILABEL
    has_classes = not is_multilabel and (target.kind == "multiclass" or (scores.ndim == 2 and scores.shape[1] > 2))
    if has_classes:
        if max_fpr is not None and max_fpr != 1:
            raise ValueError(f"max_fpr must be None or 1 where there are more than two classes; found {max_fpr!r}")
        target = check_class_columns(target, scores, machine_epsilon(y_score, scores), average, multi_class, labels)
        if multi_class == "ovo":
            if sample_weight is not None:
                raise ValueError("sample_weight must be None with multi_class='ovo'")
            return average_class_pairs(measure, target.coded.codes, scores, average, n_threads).warn_and_unwrap(measure)
    if has_classes or is_multilabel:
        return average_labels(measure, target, scores, average, sample_weight, n_threads).warn_and_unwrap(measure)
    if scores.ndim != 1:
        raise validation.InputError(
            f"y_score must be one column where there are two classes; found shape {scores.shape}"
        )
    is_greater = (target.coded.codes == 1).view(np.uint8)
    value = solve_binary_auc(is_greater, scores, sample_weight, n_threads, max_fpr, allow_infinite)
    return warn_and_unwrap("roc_auc_score", value)


def check_class_columns(
    target: EncodedTarget, scores: np.ndarray, eps: float, average: str | None, multi_class: str, labels: Any
) -> EncodedTarget:
    """Check the classes, the columns of scores and the options; return the target encoded with `labels`."""
    if multi_class == "raise":
        found = max(len(target.classes), scores.shape[-1] if scores.ndim == 2 else 0)
        raise validation.OptionError(f"multi_class must be 'ovr' or 'ovo' where y_true may have {found} classes")
    if scores.ndim != 2:
        raise ValueError(
            f"y_score must have a column for each of {len(target.classes)} classes; found shape {scores.shape}"
        )
    validation.check_lengths(len(target.coded.codes), scores.shape[0], "y_true", "y_score")
    check_row_sums(scores, eps)
    validation.check_option(
        average, "average", ("macro", "weighted", None) + (("micro",) if multi_class == "ovr" else ())
    )
    if average is None and multi_class == "ovo":
        raise NotImplementedError("average=None is not defined for multi_class='ovo'")
    if labels is None:
        if len(target.classes) != scores.shape[1]:
            raise ValueError(
                f"y_score must have a column for each of {len(target.classes)} classes in y_true; found "
                f"{scores.shape[1]}: name the classes of the columns with labels="
            )
        return target
    column_labels = labeled.as_column(labeled.as_target(labels, "labels"), "labels")
    classes = labeled.sorted_classes(column_labels, "labels")
    if len(classes) != len(column_labels):
        raise ValueError(f"labels must be distinct; found {len(classes)} labels in {len(column_labels)}")
    if not np.array_equal(classes, column_labels):
        raise ValueError(f"labels must be sorted; found {column_labels.tolist()!r}")
    if len(classes) != scores.shape[1]:
        raise ValueError(f"labels has {len(classes)} classes but y_score has {scores.shape[1]} columns")
    return EncodedTarget(
        target.kind, CategoricalColumn(*labeled.encode_with_labels(target.coded, classes, "y_true")), target.truth
    )


def check_row_sums(scores: np.ndarray, eps: float) -> None:
    """Check that every row of probabilities adds up to 1, with a tolerance that is never less than scikit-learn's."""
    totals = scores.sum(axis=1, dtype=np.float64)
    near = np.isclose(1.0, totals, atol=sum_tolerance(eps, scores.shape[1]))
    if near.all():
        return
    row = int(np.flatnonzero(~near)[0])
    if np.isnan(totals).any():
        row = int(np.flatnonzero(np.isnan(totals))[0])
        if np.isnan(scores[row]).any():
            raise ValueError(f"y_score has NaN at row {row}")
    raise ValueError(f"y_score must have probabilities that add up to 1 in every row; found {totals[row]} at row {row}")


def solve_binary_auc(
    labels: np.ndarray,
    scores: np.ndarray,
    weights: Any,
    n_threads: int | None,
    max_fpr: float | None = None,
    allow_infinite: bool = True,
) -> Value:
    """AUC of labels 0 and 1, or -1 and +1, by the fastest path for the number of rows."""
    validation.check_lengths(labels.shape[0], scores.shape[0], "y_true", "y_score")
    if weights is None and labels.shape[0] <= SERIAL_ROWS and is_whole(max_fpr):
        area: float | None = short_curves.roc_auc(labels, scores) if labels.shape[0] <= MOST_SHORT else None
        if area is not None:
            return Value(area, {})
        return finalize_pairs(count_small_pairs(labels, scores))
    return compute_auc(OrderedRows(labels, scores, weights, n_threads, allow_infinite), max_fpr)


def compute_auc(rows: OrderedRows, max_fpr: float | None) -> Value:
    if max_fpr is not None and max_fpr != 1:
        return compute_partial_auc(rows, float(max_fpr), True)
    (state,) = rows.sweep(PairsWon())
    return finalize_pairs(state)


def roc_auc_from_rows(rows: OrderedRows, max_fpr: float | None) -> float:
    """The result of `roc_auc_score` for binary labels."""
    result = compute_auc(rows, max_fpr)
    return warn_and_unwrap("roc_auc_score", result)


def compute_partial_auc(rows: OrderedRows, max_fpr: float, standardize: bool) -> Value:
    """The area up to max_fpr, with linear interpolation at max_fpr and, optionally, McClish's standardization."""
    totals = rows.totals()
    reason = undefined_reason(totals.negatives, totals.positives)
    if reason:
        return Value(float("nan"), {}, reason)
    fpr, tpr, _ = compute_roc_rates(rows, True)
    stop = int(np.searchsorted(fpr, max_fpr, "right"))
    x = np.concatenate((fpr[:stop], [max_fpr]))
    y = np.concatenate((tpr[:stop], [height_at(float(max_fpr), fpr, tpr, stop)]))
    area = math.fsum(((x[1:] - x[:-1]) * (y[1:] + y[:-1]) / 2).tolist())
    return Value(standardized_area(area, max_fpr) if standardize else area, {})


@answers_unknown
def partial_auc_score(
    y_true: ArrayLike,
    y_score: NumericArrayLike,
    *,
    max_fpr: float,
    standardize: bool = False,
    pos_label: Label | None = None,
    sample_weight: NumericArrayLike | None = None,
    n_threads: int | None = None,
) -> float:
    """The area under the ROC curve up to a false positive rate.

    pAUC = integral of TPR over FPR from 0 to max_fpr, with linear interpolation at max_fpr. The standardized area is
    (1 + (pAUC - max_fpr^2 / 2) / (max_fpr - max_fpr^2 / 2)) / 2: one half for a random ranking, 1 for a perfect one
    (McClish, Medical Decision Making 9, 1989). `roc_auc_score(max_fpr=...)` returns the standardized area.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1; any kind with `pos_label`.
    y_score : array-like of shape (n,)
        Scores, higher for more likely positive. float32 and float64 are read without conversion; integers and float16
        are widened. Infinities are ordered, -0.0 ties with 0.0, and scores tie only if they are exactly equal.
    max_fpr : float in (0, 1]
        The greatest false positive rate of the area.
    standardize : bool
        Whether to apply McClish's standardization.
    pos_label : int, float, bool or str, optional
        The label of the positive class; all other labels are negative. Required if labels are not 0 and 1, or -1 and
        +1.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300. A row of weight zero is left out.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float
        In [0, max_fpr], or in [0, 1] with `standardize`; NaN with an UndefinedMetricWarning if only one class is
        present.

    Raises
    ------
    ValueError
        NaN scores, invalid labels, different lengths, no rows or invalid weights; the message names the row.
        A max_fpr outside (0, 1].

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.partial_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], max_fpr=0.5)
    0.25
    """
    return partial_auc_from_rows(order_rows(y_true, y_score, pos_label, sample_weight, n_threads), max_fpr, standardize)


def partial_auc_from_rows(rows: OrderedRows, max_fpr: float, standardize: bool) -> float:
    """The result of `partial_auc_score`."""
    check_max_fpr(max_fpr)
    validation.check_flag(standardize, "standardize")
    result = compute_partial_auc(rows, float(max_fpr), standardize)
    return warn_and_unwrap("partial_auc_score", result)


@answers_unknown
def auc(x: NumericArrayLike, y: NumericArrayLike) -> float:
    """The area under a curve given by its points, by the trapezoidal rule.

    area = sum_i (x_{i+1} - x_i) (y_i + y_{i+1}) / 2. For the area under a ROC curve, `roc_auc_score` is exact. For
    precision and recall, use `average_precision_score`: it does not interpolate, the trapezoidal rule does.

    Parameters
    ----------
    x : array-like of shape (n,)
        x coordinates of the points, ascending or descending.
    y : array-like of shape (n,)
        y coordinates of the points.

    Returns
    -------
    float
        The area. It is positive for positive `y`, whether `x` ascends or descends. NaN if a point is NaN, for example
        for the ROC curve of one class.

    Raises
    ------
    ValueError
        Fewer than two points, different lengths, or `x` that is not monotonic.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.auc([0.0, 0.5, 1.0], [0.0, 1.0, 1.0])
    0.75
    """
    x_points = as_points(x, "x")
    y_points = as_points(y, "y")
    validation.check_lengths(x_points.shape[0], y_points.shape[0], "x", "y")
    if x_points.shape[0] < 2:
        raise ValueError(f"x must have at least 2 points; found {x_points.shape[0]}")
    area, direction, problem = curve_points.trapezoid_area(x_points, y_points)
    if problem:
        raise_not_monotonic(x_points)
    return area if direction >= 0 else -area


def as_points(values: Any, name: str) -> np.ndarray:
    if type(values) is np.ndarray and values.dtype == np.float64 and values.ndim == 1 and values.flags.c_contiguous:
        return values
    array = validation.as_floats(values, name)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array.reshape(-1)
    validation.check_one_dimension(array, name, ValueError if array.ndim else validation.InputError)
    return array.astype(np.float64, copy=False)


def raise_not_monotonic(x: np.ndarray) -> None:
    """Raise if x both ascends and descends. NaN does neither; values that are not finite are left to the sum."""
    with np.errstate(invalid="ignore"):
        steps = np.diff(x)
    down = steps < 0
    if down.any() and not (steps <= 0).all():
        turn = int(np.flatnonzero(~(steps <= 0))[0] if down[0] else np.flatnonzero(down)[0]) + 1
        raise ValueError(f"x must go one way; found {x[turn - 1]} and then {x[turn]} at row {turn}")


def is_whole(max_fpr: float | None) -> bool:
    """Is the whole area asked for? Then pairs are counted."""
    return max_fpr is None or max_fpr == 1


def check_optional_max_fpr(max_fpr: Any) -> None:
    if max_fpr is not None:
        check_max_fpr(max_fpr)


@metric(
    "auc",
    exchange="range",
    scale="share",
    statistics=lambda max_fpr: (PairsWon() if is_whole(max_fpr) else PartialArea(max_fpr),),
    influence=lambda max_fpr: ScoreInfluence(pair_influence) if is_whole(max_fpr) else influence_of_area(max_fpr),
    function=roc_auc_score,
    undefined="one class only",
    parameters={"max_fpr": None},
    checks={"max_fpr": check_optional_max_fpr},
    interval=IntervalSpec(
        "delong", lambda max_fpr: (Placements(),) if is_whole(max_fpr) else (), find_interval, compare_areas
    ),
    variants=("auc(max_fpr=0.1)", "auc(max_fpr=1)"),
    aliases=("roc_auc_score", "roc_auc", "auc_roc", "auroc", "area_under_roc", "area_under_roc_curve"),
    near_names={
        "gini": "the Gini coefficient of scores is 2 * auc - 1; 'auc' is not rescaled",
        "gini_coefficient": "the Gini coefficient of scores is 2 * auc - 1; 'auc' is not rescaled",
    },
)
def finalize_auc(parameters: dict[str, Any], state: PairCounts | WeightedPairs | CurvePiece) -> Value:
    """Area under the ROC curve: the share of pairs of both classes in the right order; with max_fpr, McClish's."""
    if isinstance(state, CurvePiece):
        return finalize_partial_area(parameters["max_fpr"], True, state)
    return finalize_pairs(state)


@metric(
    "partial_auc",
    exchange="range",
    scale="share",
    statistics=lambda max_fpr, standardize: (PartialArea(max_fpr),),
    influence=influence_of_area,
    function=partial_auc_score,
    undefined="one class only",
    parameters={"max_fpr": 0.1, "standardize": False},
    checks={"max_fpr": check_max_fpr, "standardize": (False, True)},
    default=False,
    variants=("partial_auc(max_fpr=0.3)", "partial_auc(max_fpr=0.5, standardize=True)", "partial_auc(max_fpr=1)"),
    aliases=("partial_auc_score",),
)
def finalize_partial_auc(parameters: dict[str, Any], piece: CurvePiece) -> Value:
    """Partial AUC: the area under the ROC curve up to a false positive rate; with standardize, as McClish's."""
    return finalize_partial_area(parameters["max_fpr"], parameters["standardize"], piece)


# Options that `fastmetrics.testing` checks.
CHECKED_OPTIONS: dict[str, Any] = {
    "roc_auc_score": ({}, {"max_fpr": 0.1}),
    "partial_auc_score": ({"max_fpr": 0.1}, {"max_fpr": 0.5, "standardize": True}),
}
