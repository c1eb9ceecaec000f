"""The area under the ROC curve: of two classes, up to a false positive rate, of more classes and of sets of labels."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, overload

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core import labels as labelled
from fastmetrics._core.coding import Coded
from fastmetrics._core.ordered_rows import MOST_SHORT, OrderedRows, are_short, as_column, order_rows
from fastmetrics._core.pairs import PairCounts, PairsWon, finalise_pairs, why_undefined
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.placements import Placements, find_interval
from fastmetrics._core.registry import IntervalSpec, metric
from fastmetrics._core.row_placements import compare_areas
from fastmetrics._core.rows import SERIAL_ROWS
from fastmetrics._core.statistic import Value
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._core.weighted import WeightedPairs
from fastmetrics._kernels import columns, ranksum, shortcurves
from fastmetrics.metrics.curves.averaging import (
    AVERAGES,
    Measure,
    Target,
    as_score_matrix,
    average_pairs,
    average_sets,
    open_labels,
    read_target,
)  # fmt: skip
from fastmetrics.metrics.curves.roc import rates_of_rows


def pairs_of_small(y_true: np.ndarray, y_score: np.ndarray) -> PairCounts:
    """The pair counts of two short columns: one kernel, for calls in loops."""
    rows = y_true.shape[0]
    labels = np.empty(rows, np.uint8)
    seen = np.zeros(2, np.int64)
    columns.decode_labels(y_true, 0, rows, labels, seen)
    if seen[0] > columns.SAW_ZERO + columns.SAW_ONE:
        inputs.check_seen_labels(int(seen[0]), lambda what: inputs.find_label(y_true, what), "y_true")
    positives, wins, has_nan = ranksum.count_pairs(labels, y_score, np.empty(ranksum.work_words(rows), np.uint64))
    if has_nan:
        inputs.raise_nan(y_score, "y_score")
    return PairCounts(rows - positives, positives, wins)


@overload
def roc_auc_score(
    y_true: Any,
    y_score: Any,
    *,
    average: str = ...,
    sample_weight: Any = ...,
    max_fpr: float | None = ...,
    multi_class: str = ...,
    labels: Any = ...,
    n_threads: int | None = ...,
) -> float: ...
@overload
def roc_auc_score(
    y_true: Any,
    y_score: Any,
    *,
    average: None,
    sample_weight: Any = ...,
    max_fpr: float | None = ...,
    multi_class: str = ...,
    labels: Any = ...,
    n_threads: int | None = ...,
) -> Any: ...
def roc_auc_score(
    y_true: Any,
    y_score: Any,
    *,
    average: str | None = "macro",
    sample_weight: Any = None,
    max_fpr: float | None = None,
    multi_class: str = "raise",
    labels: Any = None,
    n_threads: int | None = None,
) -> Any:
    """The probability that a positive row scores above a negative one, ties counting one half.

    AUC = (pairs won + pairs tied / 2) / (positives * negatives), over all pairs of a positive and a negative row. This
    is the area under the ROC curve and the Mann-Whitney U statistic divided by its maximum (Hanley and McNeil,
    Radiology 143, 1982). Counted in integers, so the result is the correctly rounded quotient for any order of the
    rows. More than two classes are several problems of two, each exact: every class against the rest ("ovr"), or every
    pair of classes in either direction ("ovo"; Hand and Till, Machine Learning 45, 2001).

    Parameters
    ----------
    y_true : array-like of shape (n,) or (n, n_labels)
        Labels of any kind; of two, the greater is positive. Or sets of labels: a matrix (dense or sparse) of 0 and 1,
        or -1 and 1.
    y_score : array-like of shape (n,), (n, 1), (n, n_classes) or (n, n_labels)
        Scores, higher for more likely positive; float32 and float64 are read as they are, integers and float16 widened.
        Infinities are ordered, -0.0 ties with 0.0, scores are equal only when they are exactly equal. Of more than two
        classes: probabilities that add up to 1 in every row, a column for every class in sorted order. Of sets: a
        column for every label.
    average : {"macro", "micro", "weighted", "samples"} or None
        How the values of classes or labels become one: their mean ("macro"), that weighted by how many rows have the
        label ("weighted"), one problem of all labels of all rows ("micro"; not with "ovo"), the mean over rows of a
        problem per row ("samples"; sets only). None: an array of all. Without effect where there are two classes.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a pair weighs the product of its rows' weights, a row of weight zero is
        absent. Sums and products of weights are exact, so the result is correctly rounded for any weights. Not with
        "ovo".
    max_fpr : float in (0, 1], optional
        Standardised partial AUC over false positive rates up to max_fpr (McClish, Medical Decision Making 9, 1989). Not
        with more than two classes.
    multi_class : {"raise", "ovr", "ovo"}
        What to do with more than two classes.
    labels : array-like of shape (n_classes,), optional
        The classes that columns of `y_score` stand for, sorted; by default those found in `y_true`. Without effect
        where there are two classes.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float or ndarray of shape (n_classes,)
        In [0, 1]; NaN with an UndefinedMetricWarning when only one class is present. Classes and labels without a
        positive or a negative row make averages NaN, but for "weighted". An array for `average=None`.

    Raises
    ------
    ValueError
        NaN scores, labels of different types, lengths that differ, no rows, bad weights; the row is named. Columns that
        do not match the classes or do not add up to 1, options that do not go together.
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
    inputs.check_option(average, "average", AVERAGES)
    if labels is not None and (isinstance(labels, (str, bytes)) or not inputs.has_rows(labels)):
        raise inputs.OptionError(f"labels must be an array of labels or None; found {labels!r}")
    inputs.check_option(multi_class, "multi_class", ("raise", "ovr", "ovo"))
    if max_fpr is not None:
        check_max_fpr(max_fpr)
    if n_threads is not None:
        count_threads(n_threads)
    if are_short(y_true, y_score, sample_weight, max_fpr, n_threads):
        area: float | None = shortcurves.area(y_true, y_score)
        if area is not None:
            return area
    given = open_labels(y_true)
    scores = as_column(as_score_matrix(y_score))
    if sample_weight is not None:
        sample_weight = as_column(inputs.as_array(sample_weight, "sample_weight"))
    if isinstance(given, np.ndarray) and given.ndim == scores.ndim == 1 and given.dtype.kind in "biuf":
        try:
            value = area_of_problem(inputs.as_labels(given), scores, sample_weight, n_threads, max_fpr)
        except inputs.LabelError:  # of other classes, or of more
            pass
        else:
            return warn_undefined("roc_auc_score", value.reason) if value.reason else value.value
    measure = Measure("roc_auc_score", partial(area_of_problem, max_fpr=max_fpr))
    target = read_target(given)
    if target.kind == labelled.MULTILABEL:
        return average_sets(measure, target, scores, average, sample_weight, n_threads).tell(measure)
    if target.kind == "multiclass" or (scores.ndim == 2 and scores.shape[1] > 2):
        if max_fpr is not None and max_fpr != 1:
            raise ValueError(f"max_fpr must be None or 1 where there are more than two classes; found {max_fpr!r}")
        target = expect_classes(target, scores, average, multi_class, labels)
        if multi_class == "ovo":
            if sample_weight is not None:
                raise ValueError("sample_weight must be None with multi_class='ovo'")
            return average_pairs(measure, target.coded.codes, scores, average, n_threads).tell(measure)
        return average_sets(measure, target, scores, average, sample_weight, n_threads).tell(measure)
    if scores.ndim != 1:
        raise inputs.InputError(f"y_score must be one column where there are two classes; found shape {scores.shape}")
    is_greater = (target.coded.codes == 1).view(np.uint8)
    value = area_of_problem(is_greater, scores, sample_weight, n_threads, max_fpr)
    return warn_undefined("roc_auc_score", value.reason) if value.reason else value.value


def expect_classes(
    target: Target, scores: np.ndarray, average: str | None, multi_class: str, labels: Any
) -> Target:
    """The classes that columns of scores stand for, everything about them checked."""
    if multi_class == "raise":
        found = max(len(target.classes), scores.shape[-1] if scores.ndim == 2 else 0)
        raise inputs.OptionError(f"multi_class must be 'ovr' or 'ovo' where y_true may have {found} classes")
    if scores.ndim != 2:
        raise ValueError(
            f"y_score must have a column for each of {len(target.classes)} classes; found shape {scores.shape}"
        )
    inputs.check_lengths(len(target.coded.codes), scores.shape[0], "y_true", "y_score")
    check_chances(scores)
    inputs.check_option(average, "average", ("macro", "weighted", None) + (("micro",) if multi_class == "ovr" else ()))
    if average is None and multi_class == "ovo":
        raise NotImplementedError("average=None is not defined for multi_class='ovo'")
    if labels is None:
        if len(target.classes) != scores.shape[1]:
            raise ValueError(
                f"y_score must have a column for each of {len(target.classes)} classes in y_true; found "
                f"{scores.shape[1]}: labels= says what they stand for"
            )
        return target
    given = labelled.as_column(labelled.as_target(labels, "labels"), "labels")
    classes = labelled.sorted_classes(given, "labels")
    if len(classes) != len(given):
        raise ValueError(f"labels must be distinct; found {len(classes)} labels in {len(given)}")
    if not np.array_equal(classes, given):
        raise ValueError(f"labels must be sorted; found {given.tolist()!r}")
    if len(classes) != scores.shape[1]:
        raise ValueError(f"labels has {len(classes)} classes but y_score has {scores.shape[1]} columns")
    return Target(target.kind, Coded(*labelled.recode(target.coded, classes, "y_true")), target.truth)


def check_chances(scores: np.ndarray) -> None:
    """Rows of probabilities add up to 1, as nearly as scikit-learn wants it."""
    totals = scores.sum(axis=1, dtype=np.float64)
    near = np.isclose(1.0, totals)
    if near.all():
        return
    row = int(np.flatnonzero(~near)[0])
    if np.isnan(totals).any():
        row = int(np.flatnonzero(np.isnan(totals))[0])
        if np.isnan(scores[row]).any():
            raise ValueError(f"y_score has NaN at row {row}")
    raise ValueError(f"y_score must have probabilities that add up to 1 in every row; found {totals[row]} at row {row}")


def area_of_problem(
    labels: np.ndarray, scores: np.ndarray, weights: Any, n_threads: int | None, max_fpr: float | None = None
) -> Value:
    """The area for labels 0 and 1, or -1 and +1; the shortest way to it."""
    inputs.check_lengths(labels.shape[0], scores.shape[0], "y_true", "y_score")
    if weights is None and labels.shape[0] <= SERIAL_ROWS and (max_fpr is None or max_fpr == 1):
        area: float | None = shortcurves.area(labels, scores) if labels.shape[0] <= MOST_SHORT else None
        if area is not None:
            return Value(area, {})
        return finalise_pairs(pairs_of_small(labels, scores))
    return area_of_rows(OrderedRows(labels, scores, weights, n_threads), max_fpr)


def area_of_rows(rows: OrderedRows, max_fpr: float | None) -> Value:
    if max_fpr is None or max_fpr == 1:
        (state,) = rows.sweep(PairsWon())
        return finalise_pairs(state)
    return partial_area(rows, float(max_fpr), True)


def area_of(rows: OrderedRows, max_fpr: float | None) -> float:
    """What `roc_auc_score` returns for binary labels."""
    result = area_of_rows(rows, max_fpr)
    return warn_undefined("roc_auc_score", result.reason, 4) if result.reason else result.value


def partial_area(rows: OrderedRows, max_fpr: float, standardize: bool) -> Value:
    """The area up to max_fpr, the curve interpolated linearly there; McClish's standardisation if wanted."""
    totals = rows.totals()
    reason = why_undefined(totals.negatives, totals.positives)
    if reason:
        return Value(float("nan"), {}, reason)
    fpr, tpr, _ = rates_of_rows(rows, True)
    stop = int(np.searchsorted(fpr, max_fpr, "right"))
    tpr_at_stop = np.interp(max_fpr, fpr[stop - 1 : stop + 1], tpr[stop - 1 : stop + 1])
    x = np.append(fpr[:stop], max_fpr)
    y = np.append(tpr[:stop], tpr_at_stop)
    area = math.fsum((np.diff(x) * (y[1:] + y[:-1]) / 2).tolist())
    if not standardize:
        return Value(area, {})
    least = max_fpr**2 / 2
    return Value(0.5 * (1 + (area - least) / (max_fpr - least)), {})


def check_max_fpr(max_fpr: Any) -> None:
    if isinstance(max_fpr, bool) or not isinstance(max_fpr, (int, float, np.number)) or not 0 < max_fpr <= 1:
        raise inputs.OptionError(f"max_fpr must lie in (0, 1]; found {max_fpr!r}")


def partial_auc_score(
    y_true: Any,
    y_score: Any,
    *,
    max_fpr: float,
    standardize: bool = False,
    pos_label: Any = None,
    sample_weight: Any = None,
    n_threads: int | None = None,
) -> float:
    """The area below the ROC curve up to a false positive rate.

    pAUC = integral of TPR over FPR from 0 to max_fpr, the curve interpolated linearly at max_fpr. Standardised, it is
    (1 + (pAUC - max_fpr^2 / 2) / (max_fpr - max_fpr^2 / 2)) / 2: one half for a random ranking, 1 for a perfect one
    (McClish, Medical Decision Making 9, 1989), which is what `roc_auc_score(max_fpr=...)` returns.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1; any two kinds with `pos_label`.
    y_score : array-like of shape (n,)
        Scores, higher for more likely positive.
    max_fpr : float in (0, 1]
        Where the area ends.
    standardize : bool
        McClish's standardisation.
    pos_label : int, float, bool or str, optional
        The label of the positive class.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        In [0, max_fpr], or with `standardize` in [0, 1]; NaN with an UndefinedMetricWarning when only one class is
        present.

    Raises
    ------
    ValueError
        NaN scores, wrong labels, lengths that differ, no rows, bad weights; the row is named. A max_fpr outside (0, 1].

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.partial_auc_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], max_fpr=0.5)
    0.25
    """
    return partial_of(order_rows(y_true, y_score, pos_label, sample_weight, n_threads), max_fpr, standardize)


def partial_of(rows: OrderedRows, max_fpr: float, standardize: bool) -> float:
    """What `partial_auc_score` returns."""
    check_max_fpr(max_fpr)
    inputs.check_flag(standardize, "standardize")
    result = partial_area(rows, float(max_fpr), standardize)
    return warn_undefined("partial_auc_score", result.reason, 4) if result.reason else result.value


@metric(
    "auc",
    exchange="score",
    statistics=lambda: (PairsWon(),),
    function=roc_auc_score,
    undefined="one class only",
    interval=IntervalSpec("delong", lambda: (Placements(),), find_interval, compare_areas),
)
def finalise_auc(parameters: dict[str, Any], state: PairCounts | WeightedPairs) -> Value:
    """Area under the ROC curve: the share of positive-negative pairs in the right order, ties one half."""
    return finalise_pairs(state)
