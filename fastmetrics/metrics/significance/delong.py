"""DeLong's confidence interval of an AUC and test of two correlated AUCs, for rows or for clusters of rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import categorical, validation
from fastmetrics._core.columns import class_labels as labeled
from fastmetrics._core.columns.group_keys import as_keys
from fastmetrics._core.columns.key_columns import NumberKeys, TupleKeys
from fastmetrics._core.columns.row_blocks import block_bounds
from fastmetrics._core.comparison.test_results import Estimate, SignificanceResult, check_alternative, check_level
from fastmetrics._core.distributions.normal import normal_pvalue, two_sided_quantile
from fastmetrics._core.exact import divide, divide_root
from fastmetrics._core.exchange.sorted_rows import OrderedRows, as_column, check_positive
from fastmetrics._core.immutable import equal_contents
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.score_statistics.delong_placements import (
    Placements,
    PlacementSums,
    Variance,
    estimate_area,
    placement_variance,
    two_word_integer,
    variance_reason,
)
from fastmetrics._core.score_statistics.row_placements import (
    ModelPlacements,
    ModelSums,
    PlacementTable,
    make_reader,
    place_models,
    sum_models,
)
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels.significance import delong_placements as kernels

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, KeysLike, Label, NumericArrayLike
    from fastmetrics._core.types.options import Alternative, AucIntervalMethod

__all__ = ["AucInterval", "delong_test", "roc_auc_interval"]


class AucInterval(NamedTuple):
    """An AUC and its interval.

    Attributes
    ----------
    auc : float
        The area under the ROC curve.
    ci_low, ci_high : float
        The ends of the interval.
    standard_error : float
        The square root of DeLong's variance.
    level : float
        The level of the interval.
    n_positives, n_negatives : int
        Rows of each class.
    n_groups : int or None
        The number of clusters; None without `groups`.
    method : str
        How the interval was computed.
    interval : tuple of float
        Its ends as a pair, as in other results.
    n : int
        The number of rows.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> interval = fm.roc_auc_interval([0, 0, 1, 1, 1], [0.1, 0.4, 0.35, 0.8, 0.9])
    >>> round(interval.auc, 4), round(interval.ci_low, 4), interval.ci_high
    (0.8333, 0.3714, 1.0)
    """

    auc: float
    ci_low: float
    ci_high: float
    standard_error: float
    level: float
    n_positives: int
    n_negatives: int
    n_groups: int | None
    method: str

    @property
    def interval(self) -> tuple[float, float]:
        return self.ci_low, self.ci_high

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AucInterval) and equal_contents(tuple(self), tuple(other))

    def __hash__(self) -> int:
        return hash((self.n_positives, self.n_negatives, self.method))

    @property
    def n(self) -> int:
        return self.n_positives + self.n_negatives


@answers_unknown
def roc_auc_interval(
    y_true: ArrayLike,
    y_score: NumericArrayLike,
    *,
    groups: KeysLike | None = None,
    ci: float = 0.95,
    method: AucIntervalMethod = "delong",
    pos_label: Label | None = None,
    n_threads: int | None = None,
) -> AucInterval:
    """The area under the ROC curve with DeLong's confidence interval, without resampling.

    The placement of a positive is the share of negatives below it. The placement of a negative is the share of
    positives above it. Ties count one half. The variance of the AUC is the variance of the placements of the m
    positives divided by m, plus that of the n negatives divided by n (DeLong, DeLong and Clarke-Pearson, Biometrics 44,
    1988). Placements are counted in the order of the scores, in O(n log n) (Sun and Xu, IEEE Signal Processing Letters
    21, 2014). They and their squares are added as integers, so the standard error is rounded once, for any order of the
    rows.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1; any kind with `pos_label`.
    y_score : array-like of shape (n,)
        Scores, higher for more likely positive. float32 and float64 are read without conversion; integers and float16
        are widened. Infinities are ordered, -0.0 ties with 0.0, and scores tie only if they are exactly equal.
    groups : array-like of shape (n,), optional
        The cluster (user, patient) of every row: integers, strings, booleans, dates, times or floats, or a table with
        several such columns. Clusters are independent; rows of one cluster need not be (Obuchowski, Biometrics 53,
        1997). One cluster per row gives the same result as no clusters.
    ci : float
        The level of the interval, between 0 and 1.
    method : {"delong", "logit"}
        "delong": the area plus and minus z standard errors, with z from the normal distribution, clipped to [0, 1].
        "logit": the same for log(auc / (1 - auc)), transformed back. It stays inside (0, 1) and suits areas near 1.
    pos_label : int, float, bool or str, optional
        The label of the positive class; all other labels are negative. Required if labels are not 0 and 1, or -1 and
        +1.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    AucInterval
        auc, ci_low, ci_high, standard_error, level, n_positives, n_negatives, n_groups and method; also `interval`,
        (ci_low, ci_high), and n.

    Raises
    ------
    ValueError
        NaN scores, invalid labels, different lengths or no rows; the message names the row. A ci outside (0, 1).

    Notes
    -----
    Undefined values are NaN, with an UndefinedMetricWarning. With one class only, all values are undefined. With one
    row (or one cluster) of a class, the standard error and the interval are. If the classes are perfectly separated,
    the interval of "logit" is undefined; DeLong's standard error is 0 and its interval is a point, which means little
    if there are few rows.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> result = fm.roc_auc_interval([0, 0, 0, 1, 1, 1], [0.1, 0.4, 0.35, 0.8, 0.3, 0.9])
    >>> round(result.auc, 4), round(result.standard_error, 4), round(result.ci_low, 4), result.ci_high
    (0.7778, 0.2485, 0.2908, 1.0)
    """
    check_level(ci, required=True)
    level = float(ci)
    validation.check_option(method, "method", ("delong", "logit"))
    threads = count_threads(n_threads)
    labels = read_labels(y_true, pos_label)
    scores = read_scores(y_score, "y_score", labels)
    n_groups = None
    if groups is None:
        (sums,) = OrderedRows(labels, scores, None, n_threads).sweep(Placements())
        variance = placement_variance(sums)
    else:
        codes, n_groups = encode_groups(groups, labels)
        models = place_models(labels, {"y_score": scores}, threads)
        sums = sum_models(labels, models, threads).differences
        variance = clustered_variance(sums, sum_groups(labels, models, codes, n_groups))
    interval = estimate_area(sums, variance, level, method)
    if interval.reason:
        warn_undefined("roc_auc_interval", interval.reason)
    return AucInterval(
        interval.area, interval.low, interval.high, interval.standard_error, level, sums.positives, sums.negatives,
        n_groups,
        format_method("DeLong's interval" + (" of the logit" if method == "logit" else ""), n_groups),
    )  # fmt: skip


@answers_unknown
def delong_test(
    y_true: ArrayLike,
    score_a: NumericArrayLike,
    score_b: NumericArrayLike,
    *,
    groups: KeysLike | None = None,
    ci: float | None = 0.95,
    alternative: Alternative = "two-sided",
    pos_label: Label | None = None,
    n_threads: int | None = None,
) -> SignificanceResult:
    """Test whether two models have different areas under the ROC curve, on the same rows.

    z = (AUC of a - AUC of b) / standard error, compared with the normal distribution. The variance of the difference is
    computed from differences of placements, which are paired row by row. So it includes the covariance of the two areas
    (DeLong, DeLong and Clarke-Pearson, Biometrics 44, 1988). Placements are counted in the order of the scores (Sun and
    Xu, IEEE Signal Processing Letters 21, 2014) and added as integers. The statistic and the standard error are rounded
    once, for any order of the rows.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1; any kind with `pos_label`.
    score_a, score_b : array-like of shape (n,)
        Scores of both models, higher for more likely positive. Only their order matters, so their scales may differ.
    groups : array-like of shape (n,), optional
        The cluster (user, patient) of every row: integers, strings, booleans, dates, times or floats, or a table with
        several such columns. Clusters are independent; rows of one cluster need not be (Obuchowski, Biometrics 53,
        1997). One cluster per row gives the same result as no clusters.
    ci : float or None
        The level of the interval of the difference, between 0 and 1; None for no interval.
    alternative : {"two-sided", "less", "greater"}
        The alternative to equal areas: any difference, a smaller area of `score_a`, or a greater one.
    pos_label : int, float, bool or str, optional
        The label of the positive class; all other labels are negative. Required if labels are not 0 and 1, or -1 and
        +1.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    SignificanceResult
        statistic (z), pvalue, effect_size (the difference of the areas), ci (of the difference, two-sided), n (rows or
        clusters), method, and the estimates "AUC of score_a" and "AUC of score_b". df is None.

    Raises
    ------
    ValueError
        NaN scores, invalid labels, different lengths or no rows; the message names the row. A ci outside (0, 1).

    Notes
    -----
    If both models rank all pairs alike, z is 0, p is 1, and `method` notes it. The result is NaN with an
    UndefinedMetricWarning in three cases: one class only; one row (or one cluster) of a class; the same difference at
    every row (one model perfect, the other perfectly wrong), so that the variance is 0.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> labels = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> result = fm.delong_test(labels, [1, 2, 3, 6, 4, 5, 7, 8], [1, 4, 5, 6, 2, 3, 7, 8])
    >>> result.effect_size, round(result.statistic, 4), round(result.pvalue, 4)
    (0.25, 1.2247, 0.2207)
    """
    check_level(ci)
    check_alternative(alternative)
    threads = count_threads(n_threads)
    labels = read_labels(y_true, pos_label)
    scores = {name: read_scores(values, name, labels) for name, values in (("score_a", score_a), ("score_b", score_b))}
    codes, n_groups = (None, None) if groups is None else encode_groups(groups, labels)
    models = place_models(labels, scores, threads)
    sums = sum_models(labels, models, threads)
    if codes is None or n_groups is None:
        variance = placement_variance(sums.differences)
    else:
        variance = clustered_variance(sums.differences, sum_groups(labels, models, codes, n_groups))
    return make_test_result(sums, variance, ci, alternative, n_groups)


def make_test_result(
    sums: ModelSums, variance: Variance, level: float | None, alternative: str, n_groups: int | None
) -> SignificanceResult:
    """The result of the test, from exact sums."""
    differences = sums.differences
    pairs = 2 * differences.negatives * differences.positives
    areas = [divide(wins, pairs) if pairs else math.nan for wins in (*sums.wins, differences.wins)]
    difference = areas[2]
    result = SignificanceResult(
        statistic=math.nan,
        pvalue=math.nan,
        df=None,
        effect_size=difference,
        interval=None,
        n=differences.negatives + differences.positives if n_groups is None else n_groups,
        method=format_method("DeLong's test", n_groups),
        effect="difference of AUC",
        estimates=(Estimate("AUC of score_a", areas[0]), Estimate("AUC of score_b", areas[1])),
    )
    reason = variance.reason
    if reason is None and variance.numerator == 0 and differences.wins:
        reason = "the models differ by the same at every row, so the variance is 0"
    if reason:
        warn_undefined("delong_test", reason)
        return result
    margin = two_sided_quantile(float(level)) * variance.square_root if level is not None else math.nan
    ends = None if level is None else (max(-1.0, difference - margin), min(1.0, difference + margin))
    if variance.numerator == 0:
        method = f"{result.method}: no row differs, so p is 1"
        return result._replace(statistic=0.0, pvalue=1.0, interval=ends, method=method)
    size = divide_root(differences.wins**2 * variance.denominator, pairs**2 * variance.numerator)
    z = size if differences.wins >= 0 else -size
    return result._replace(statistic=z, pvalue=normal_pvalue(z, alternative), interval=ends)


def format_method(name: str, n_groups: int | None) -> str:
    """The name of the method, for results."""
    return name if n_groups is None else f"{name}, clustered after Obuchowski"


def read_labels(y_true: Any, pos_label: Any) -> np.ndarray:
    """Labels as uint8, 0 and 1."""
    truth = as_column(validation.as_array(y_true, "y_true"))
    if pos_label is not None:
        check_positive(truth, pos_label)
    elif truth.dtype.char in validation.LABEL_TYPES:
        return validation.decode_labels(validation.as_labels(truth))
    return labeled.positive_mask(truth, pos_label)


def read_scores(values: Any, name: str, labels: np.ndarray) -> np.ndarray:
    """A column of scores, one for every label. The sort checks for NaN later."""
    scores = validation.as_scores(as_column(validation.as_array(values, name)), name)
    validation.check_lengths(labels.shape[0], scores.shape[0], "y_true", name)
    return scores


def encode_groups(groups: Any, labels: np.ndarray) -> tuple[np.ndarray, int]:
    """Codes of the groups from 0 (int64), and the number of groups."""
    keys = as_keys(groups, "groups")
    validation.check_lengths(labels.shape[0], keys.rows, "y_true", "groups")
    if isinstance(keys, TupleKeys):
        _, codes = np.unique(keys.to_numpy(), return_inverse=True)
        return codes, int(codes.max()) + 1
    if isinstance(keys, NumberKeys):
        coded = categorical.encode_numbers(keys.values)
    else:
        coded = labeled.encode_target(labeled.read_label_column(groups, "groups"), "groups")
    return coded.codes.astype(np.int64, copy=False), len(coded.classes)


def sum_groups(
    labels: np.ndarray, models: list[ModelPlacements | PlacementTable], codes: np.ndarray, n_groups: int
) -> np.ndarray:
    """A row for every group: negatives, positives, and the sums of placements of its negatives and of its positives.

    With two models, the differences of the placements are summed.
    """
    table = np.zeros((n_groups, 4), np.int64)
    read = make_reader(labels.shape[0], models)
    for start, stop in block_bounds(labels.shape[0]):
        kernels.sum_placements_by_group(labels[start:stop], codes[start:stop], *read(start, stop), table)
    return table


def clustered_variance(sums: PlacementSums, table: np.ndarray) -> Variance:
    """The variance after N. Obuchowski, Biometrics 53, 1997, from the table of `sum_groups`.

    Groups are independent, rows of one group need not be. Let d_k = (placements of a group's positives - its positives
    * AUC) / m, and e_k the same for negatives, divided by n. Let I1, I0 and I be the numbers of groups with positives,
    with negatives, and in all. The variance is the sum of I1 / (I1 - 1) d_k^2, I0 / (I0 - 1) e_k^2 and
    2 I / (I - 1) d_k e_k. Here d_k is an integer divided by 2 m^2 n, and e_k is an integer divided by 2 m n^2.
    """
    n, m, total = sums.negatives, sums.positives, sums.wins
    reason = variance_reason(n, m)
    with_negatives, with_positives = (table[:, :2] > 0).sum(0).tolist()
    groups = table.shape[0]
    if reason is None and min(with_negatives, with_positives) < 2:
        rare_class = "positive" if with_positives < 2 else "negative"
        reason = f"only one group has {rare_class} rows, so the variance is unknown"
    if reason:
        return Variance(0, 1, reason)
    words = np.zeros((10, 4), np.uint64)
    kernels.sum_products(table, words)
    n_n, n_m, n_e, n_d, m_m, m_e, m_d, e_e, e_d, d_d = (
        two_word_integer(product[:2]) - two_word_integer(product[2:]) for product in words.tolist()
    )
    positive_term = m * m * d_d - 2 * m * total * m_d + total * total * m_m
    negative_term = n * n * e_e - 2 * n * total * n_e + total * total * n_n
    cross_term = m * n * e_d - m * total * n_d - n * total * m_e + total * total * n_m
    positive_df, negative_df, group_df = with_positives - 1, with_negatives - 1, groups - 1
    numerator = (
        with_positives * positive_term * n * n * negative_df * group_df
        + with_negatives * negative_term * m * m * positive_df * group_df
        + 2 * groups * cross_term * m * n * positive_df * negative_df
    )
    if numerator < 0:
        return Variance(0, 1, "the groups are too few: their estimate of the variance is negative")
    return Variance(numerator, 4 * m**4 * n**4 * positive_df * negative_df * group_df)
