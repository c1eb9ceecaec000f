"""DeLong's interval of an AUC and test of two correlated ones, for rows or for clusters of rows."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import coding, inputs
from fastmetrics._core import labels as labelled
from fastmetrics._core.exact import divide, divide_root
from fastmetrics._core.keys import IntegerKeys, as_keys
from fastmetrics._core.normal import deviations
from fastmetrics._core.ordered_rows import OrderedRows, as_column, check_positive
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.placements import Placements, Variance, estimate_area, placement_variance
from fastmetrics._core.row_placements import ModelSums, clustered_variance, place_models, sum_groups, sum_models
from fastmetrics._core.significance import (
    Estimate,
    SignificanceResult,
    check_alternative,
    check_level,
    normal_pvalue,
)
from fastmetrics._core.undefined import warn_undefined

__all__ = ["AucInterval", "delong_test", "roc_auc_interval"]

METHODS = ("delong", "logit")


class AucInterval(NamedTuple):
    """An AUC and its interval.

    Attributes
    ----------
    auc : float
        The area under the ROC curve.
    low, high : float
        The ends of the interval.
    standard_error : float
        The square root of DeLong's variance.
    level : float
        The level of the interval.
    n_positives, n_negatives : int
        Rows of each class.
    n_groups : int or None
        Clusters of rows, where they were given.
    method : str
        How the interval was made.
    ci : tuple of float
        The interval, (low, high), under the name that it has in results of tests.
    n : int
        Rows.
    """

    auc: float
    low: float
    high: float
    standard_error: float
    level: float
    n_positives: int
    n_negatives: int
    n_groups: int | None
    method: str

    @property
    def ci(self) -> tuple[float, float]:
        return self.low, self.high

    @property
    def n(self) -> int:
        return self.n_positives + self.n_negatives


def roc_auc_interval(
    y_true: Any,
    y_score: Any,
    *,
    groups: Any = None,
    ci: float = 0.95,
    method: str = "delong",
    pos_label: Any = None,
    n_threads: int | None = None,
) -> AucInterval:
    """The area under the ROC curve with its interval after DeLong, without resampling.

    The variance of an AUC is that of the placements of its rows: for a positive, the share of negatives below it, for a
    negative, the share of positives above it, ties one half. It is their variance over the m positives by m, plus that
    over the n negatives by n (DeLong, DeLong and Clarke-Pearson, Biometrics 44, 1988). Placements come from counts in
    the order of the scores, in O(n log n) (Sun and Xu, IEEE Signal Processing Letters 21, 2014). They and their squares
    are added as integers, so the standard error is rounded once, for any order of the rows.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1; any two kinds with `pos_label`.
    y_score : array-like of shape (n,)
        Scores, higher for more likely positive.
    groups : array-like of shape (n,), optional
        The cluster (user, patient) of every row, integers or strings: clusters are independent, rows in one need not be
        (Obuchowski, Biometrics 53, 1997). With a cluster for every row it is the same as without.
    ci : float
        The level of the interval, between 0 and 1.
    method : {"delong", "logit"}
        "delong": the area and as many standard errors as the normal distribution says to either side, held to [0, 1].
        "logit": the same for log(auc / (1 - auc)), taken back; it never leaves (0, 1) and suits areas near 1.
    pos_label : int, float, bool or str, optional
        The label of the positive class.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    AucInterval
        auc, low, high, standard_error, level, n_positives, n_negatives, n_groups, method; also ci, (low, high), and n.

    Raises
    ------
    ValueError
        NaN scores, wrong labels, lengths that differ, no rows; the row is named. A ci outside (0, 1).

    Notes
    -----
    NaN with an UndefinedMetricWarning: all of it with one class only; standard error and interval with one row (or one
    cluster) of a class; the interval of "logit" where the classes are perfectly separated. There DeLong's standard
    error is 0: its interval is a point, which says little where rows are few.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> found = fm.roc_auc_interval([0, 0, 0, 1, 1, 1], [0.1, 0.4, 0.35, 0.8, 0.3, 0.9])
    >>> round(found.auc, 4), round(found.standard_error, 4), round(found.low, 4), found.high
    (0.7778, 0.2485, 0.2908, 1.0)
    """
    check_level(ci, required=True)
    level = float(ci)
    inputs.check_option(method, "method", METHODS)
    threads = count_threads(n_threads)
    labels = read_labels(y_true, pos_label)
    scores = read_scores(y_score, "y_score", labels)
    n_groups = None
    if groups is None:
        (sums,) = OrderedRows(labels, scores, None, n_threads).sweep(Placements())
        variance = placement_variance(sums)
    else:
        codes, n_groups = number_groups(groups, labels)
        models = place_models(labels, {"y_score": scores}, threads)
        sums = sum_models(labels, models, threads).differences
        variance = clustered_variance(sums, sum_groups(labels, models, codes, n_groups))
    found = estimate_area(sums, variance, level, method)
    if found.reason:
        warn_undefined("roc_auc_interval", found.reason)
    return AucInterval(
        found.area, found.low, found.high, found.root, level, sums.positives, sums.negatives, n_groups,
        describe("DeLong's interval" + (" of the logit" if method == "logit" else ""), n_groups),
    )  # fmt: skip


def delong_test(
    y_true: Any,
    score_a: Any,
    score_b: Any,
    *,
    groups: Any = None,
    ci: float | None = 0.95,
    alternative: str = "two-sided",
    pos_label: Any = None,
    n_threads: int | None = None,
) -> SignificanceResult:
    """Are the areas under the ROC curves of two models different, on the same rows?

    z = (AUC of a - AUC of b) / standard error, compared with the normal distribution. The variance of the difference is
    that of the differences of placements, which are paired row by row, so it knows the covariance of the two areas
    (DeLong, DeLong and Clarke-Pearson, Biometrics 44, 1988). Placements come from counts in the order of the scores
    (Sun and Xu, IEEE Signal Processing Letters 21, 2014) and are added as integers: statistic and standard error are
    rounded once, for any order of the rows.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1; any two kinds with `pos_label`.
    score_a, score_b : array-like of shape (n,)
        Scores of either model, higher for more likely positive; only their order counts, so scales may differ.
    groups : array-like of shape (n,), optional
        The cluster (user, patient) of every row, integers or strings: clusters are independent, rows in one need not be
        (Obuchowski, Biometrics 53, 1997). With a cluster for every row it is the same as without.
    ci : float or None
        The level of the interval of the difference, between 0 and 1; None for no interval.
    alternative : {"two-sided", "less", "greater"}
        What stands against equal areas: any difference, a smaller area of `score_a`, or a greater one.
    pos_label : int, float, bool or str, optional
        The label of the positive class.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    SignificanceResult
        statistic (z), pvalue, effect_size (the difference of the areas), ci (of the difference, two-sided), n (rows, or
        clusters), method; estimates "AUC of score_a" and "AUC of score_b"; df is None.

    Raises
    ------
    ValueError
        NaN scores, wrong labels, lengths that differ, no rows; the row is named. A ci outside (0, 1).

    Notes
    -----
    Models that rank all pairs alike differ nowhere: z is 0 and p is 1, and `method` says so. NaN with an
    UndefinedMetricWarning: one class only, one row (or one cluster) of a class, areas that differ by the same at every
    row (one model perfect, the other perfectly wrong), so that the variance is 0.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> labels = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> found = fm.delong_test(labels, [1, 2, 3, 6, 4, 5, 7, 8], [1, 4, 5, 6, 2, 3, 7, 8])
    >>> found.effect_size, round(found.statistic, 4), round(found.pvalue, 4)
    (0.25, 1.2247, 0.2207)
    """
    check_level(ci)
    check_alternative(alternative)
    threads = count_threads(n_threads)
    labels = read_labels(y_true, pos_label)
    scores = {
        name: read_scores(own, name, labels) for name, own in (("score_a", score_a), ("score_b", score_b))
    }
    codes, n_groups = (None, None) if groups is None else number_groups(groups, labels)
    models = place_models(labels, scores, threads)
    sums = sum_models(labels, models, threads)
    if codes is None or n_groups is None:
        variance = placement_variance(sums.differences)
    else:
        variance = clustered_variance(sums.differences, sum_groups(labels, models, codes, n_groups))
    return judge(sums, variance, ci, alternative, n_groups)


def judge(
    sums: ModelSums, variance: Variance, level: float | None, alternative: str, n_groups: int | None
) -> SignificanceResult:
    """The result of a test, of exact sums."""
    own = sums.differences
    pairs = 2 * own.negatives * own.positives
    areas = [divide(wins, pairs) if pairs else math.nan for wins in (*sums.wins, own.wins)]
    difference = areas[2]
    result = SignificanceResult(
        statistic=math.nan,
        pvalue=math.nan,
        df=None,
        effect_size=difference,
        ci=None,
        n=own.negatives + own.positives if n_groups is None else n_groups,
        method=describe("DeLong's test", n_groups),
        effect="difference of AUC",
        estimates=(Estimate("AUC of score_a", areas[0]), Estimate("AUC of score_b", areas[1])),
    )
    reason = variance.reason
    if reason is None and variance.numerator == 0 and own.wins:
        reason = "the models differ by the same at every row, so the variance is 0"
    if reason:
        warn_undefined("delong_test", reason, 4)
        return result
    reach = deviations(float(level)) * variance.root if level is not None else math.nan
    ci = None if level is None else (max(-1.0, difference - reach), min(1.0, difference + reach))
    if variance.numerator == 0:
        return result._replace(statistic=0.0, pvalue=1.0, ci=ci, method=f"{result.method}: no row differs, so p is 1")
    size = divide_root(own.wins**2 * variance.denominator, pairs**2 * variance.numerator)
    z = size if own.wins >= 0 else -size
    return result._replace(statistic=z, pvalue=normal_pvalue(z, alternative), ci=ci)


def describe(what: str, n_groups: int | None) -> str:
    """The method in words."""
    return what if n_groups is None else f"{what}, clustered after Obuchowski"


def read_labels(y_true: Any, pos_label: Any) -> np.ndarray:
    """Labels as uint8, 0 and 1."""
    truth = as_column(inputs.as_array(y_true, "y_true"))
    if pos_label is not None:
        check_positive(truth, pos_label)
    elif truth.dtype.char in inputs.LABEL_TYPES:
        return inputs.decode_labels(inputs.as_labels(truth))
    return labelled.positive_mask(truth, pos_label)


def read_scores(values: Any, name: str, labels: np.ndarray) -> np.ndarray:
    """A column of scores, one for every label; NaN is found where they are sorted."""
    scores = inputs.as_scores(as_column(inputs.as_array(values, name)), name)
    inputs.check_lengths(labels.shape[0], scores.shape[0], "y_true", name)
    return scores


def number_groups(groups: Any, labels: np.ndarray) -> tuple[np.ndarray, int]:
    """Groups numbered from 0 (int64), and how many there are."""
    keys = as_keys(groups, "groups")
    inputs.check_lengths(labels.shape[0], keys.rows, "y_true", "groups")
    if isinstance(keys, IntegerKeys):
        coded = coding.code_numbers(keys.values)
    else:
        coded = labelled.code_target(labelled.open_column(groups, "groups"), "groups")
    return coded.codes.astype(np.int64, copy=False), len(coded.classes)
