"""Pearson's chi-squared test: goodness of fit of counts, and independence in a contingency table."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.comparison.test_results import (
    MAX_COUNT,
    SignificanceResult,
    check_level,
)
from fastmetrics._core.distributions.chi_square import chi_square_pvalue, solve_noncentrality

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import NumericArrayLike

__all__ = ["chi2_test"]

SUM_TOLERANCE = 1e-8
LEAST_EXPECTED = 1e-100  # below, squares and products would underflow: they are computed with fractions


@answers_unknown
def chi2_test(
    observed: NumericArrayLike,
    expected: NumericArrayLike | None = None,
    *,
    correction: bool = True,
    ddof: int = 0,
    ci: float | None = 0.95,
) -> SignificanceResult:
    """Test whether counts fit expected counts, or whether the rows and columns of a table are independent.

    X^2 = sum (observed - expected)^2 / expected, compared with the chi-square distribution. K. Pearson, "On the
    criterion that a given system of deviations...", Philosophical Magazine 50, 1900. In one dimension, df = k - 1 -
    ddof, and the effect size is Cohen's w = sqrt(X^2 / n). For a table, the expected counts are row total x column
    total / n, df = (r - 1)(c - 1), and the effect size is Cramer's V = sqrt(X^2 / (n (min(r, c) - 1))).

    Parameters
    ----------
    observed : array-like of shape (k,) or (r, c)
        Counts, not negative: one for each category, or a contingency table.
    expected : array-like of shape (k,), optional
        Expected counts, all above 0. Their sum must equal that of `observed` (to 8 digits): they are never scaled. By
        default all categories are equally likely. Not for tables, whose expected counts are those of independence.
    correction : bool
        Yates' correction for continuity: each count moves by up to 0.5 towards the expected count. It applies only to
        tables with one degree of freedom (2 x 2). On by default as in scipy.stats.chi2_contingency. Without it, a 2 x 2
        table gives the p-value of `two_proportion_test`. The effect size is never corrected.
    ddof : int
        The number of parameters of `expected` that were estimated from `observed`. It reduces the degrees of freedom.
        One dimension only.
    ci : float or None
        Level of the interval of the effect size; None for no interval.

    Returns
    -------
    SignificanceResult
        `n` is the sum of the counts. The ends of the interval are the noncentralities for which the uncorrected X^2 is
        at either tail of the distribution.

    Raises
    ------
    ValueError
        Counts that are negative, NaN or infinite; an expected count of 0; different sums; fewer than two categories,
        rows or columns; only zeros; no degree of freedom left.

    Notes
    -----
    The chi-square distribution is an approximation. By the usual rule, every expected count should be at least 5.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> result = fm.chi2_test([3, 7], [5, 5])
    >>> result.statistic, result.df, round(result.pvalue, 4)
    (1.6, 1, 0.2059)
    >>> result.effect, result.effect_size
    ("Cohen's w", 0.4)
    >>> print(fm.chi2_test([[10, 20], [30, 25]], correction=False))
    Pearson's chi-squared test of independence: statistic 3.50589, df 1, p 0.06115;
    Cramer's V 0.2031, interval (0, 0.4157); n 85
    """
    validation.check_flag(correction, "correction")
    check_level(ci)
    ddof = validation.check_integer(ddof, "ddof", "a nonnegative integer", 0)
    counts = as_counts(observed, "observed")
    if counts.ndim == 2:
        if expected is not None or ddof:
            raise ValueError(
                "expected and ddof are for one row of counts: a table has the expected counts of independence"
            )
        return independence_test(counts.tolist(), correction, ci)
    return goodness_of_fit_test(counts.tolist(), expected, int(ddof), ci)


def as_counts(values: Any, name: str) -> np.ndarray:
    """Check counts of one or two dimensions; integers stay integers."""
    array = validation.as_array(values, name)
    if array.dtype.kind not in "iuf":
        columns = array.shape[1] if array.ndim == 2 and array.shape[1] else 1
        array = validation.as_floats(array, name, lambda cell: cell // columns)
    if array.ndim not in (1, 2):
        raise ValueError(f"{name} must have one or two dimensions; found {array.ndim} (shape {array.shape})")
    if array.size == 0:
        raise ValueError(f"{name} is empty: at least two counts are needed")
    # One comparison finds NaN, infinities and negative counts.
    if not (array.min() >= 0 and array.max() < math.inf):
        cell = np.argwhere(~((array >= 0) & (array < math.inf)))[0]
        value = array[tuple(cell)]
        found = "NaN" if value != value else value
        raise ValueError(f"{name} has {found} at {format_cell(*cell.tolist())}: counts must be finite and not negative")
    if float(array.max()) > MAX_COUNT:
        cell = np.argwhere(array.astype(np.float64) > MAX_COUNT)[0]
        raise ValueError(
            f"{name} has {array[tuple(cell)]} at {format_cell(*cell.tolist())}: counts may be at most {MAX_COUNT:g}"
        )
    return array


def format_cell(*cell: int) -> str:
    """The position of a count, for error messages."""
    return f"cell {cell[0] if len(cell) == 1 else cell}"


def goodness_of_fit_test(observed: list[float], expected: Any, ddof: int, ci: float | None) -> SignificanceResult:
    """The goodness-of-fit test of one row of counts."""
    k = len(observed)
    total = math.fsum(observed)
    if k < 2:
        raise ValueError("observed has one count: at least two are needed")
    if total == 0:
        raise ValueError("observed has nothing but zeros: nothing was counted")
    if expected is None:
        expected_counts = [total / k] * k
    else:
        array = as_counts(expected, "expected")
        if array.shape != (k,):
            raise ValueError(f"observed has {k} counts but expected has shape {array.shape}")
        expected_counts = array.tolist()
        if 0 in expected_counts:
            raise ValueError(
                f"expected has 0 at {format_cell(expected_counts.index(0))}: expected counts must be above 0"
            )
        if not math.isclose(total, math.fsum(expected_counts), rel_tol=SUM_TOLERANCE):
            raise ValueError(
                f"observed and expected must have the same sum; found {total:g} and {math.fsum(expected_counts):g}: "
                "scale expected first"
            )
    df = k - 1 - ddof
    if df < 1:
        raise ValueError(f"{k} counts and ddof={ddof} leave no degree of freedom")
    counts: Any = observed
    means: Any = expected_counts
    if min(means) < LEAST_EXPECTED:
        counts = [*map(Fraction, observed)]
        means = [sum(counts) / k] * k if expected is None else [*map(Fraction, expected_counts)]
    statistic = sum_of_squares([count - mean for count, mean in zip(counts, means, strict=True)], means)
    return SignificanceResult(
        statistic,
        chi_square_pvalue(statistic, df),
        df,
        math.sqrt(statistic / total),
        effect_interval(statistic, df, total, math.inf, ci),
        round(total),
        "Pearson's chi-squared goodness of fit",
        "Cohen's w",
    )


def sum_of_squares(deviations: list[Any], means: list[Any]) -> float:
    """The sum of d^2 / mean, rounded once if the numbers are fractions; infinity beyond the greatest double."""
    terms = [d * d / mean for d, mean in zip(deviations, means, strict=True)]
    if not isinstance(terms[0], Fraction):
        return math.fsum(terms)
    total = sum(terms)
    return math.inf if total > sys.float_info.max else float(total)


def independence_test(table: list[list[float]], correction: bool, ci: float | None) -> SignificanceResult:
    """The test of independence of a contingency table."""
    rows, columns = [math.fsum(row) for row in table], [math.fsum(column) for column in zip(*table, strict=True)]
    total = math.fsum(rows)
    if len(rows) < 2 or len(columns) < 2:
        raise ValueError(f"observed must have at least two rows and two columns; found {len(rows)} and {len(columns)}")
    if total == 0:
        raise ValueError("observed has nothing but zeros: nothing was counted")
    for margin, axis in ((rows, "row"), (columns, "column")):
        if 0 in margin:
            empty = margin.index(0)
            cell = (empty, 0) if axis == "row" else (0, empty)
            raise ValueError(
                f"observed has only zeros in {axis} {empty}: the expected count of {format_cell(*cell)} is 0"
            )
    observed: Any = [*chain.from_iterable(table)]
    means: Any = [row * column / total for row in rows for column in columns]
    if min(means) < LEAST_EXPECTED:
        observed = [*map(Fraction, observed)]
        means = [Fraction(row) * Fraction(column) / Fraction(total) for row in rows for column in columns]
    deviations = [abs(count - mean) for count, mean in zip(observed, means, strict=True)]
    uncorrected = sum_of_squares(deviations, means)
    df = (len(rows) - 1) * (len(columns) - 1)
    statistic, method = uncorrected, "Pearson's chi-squared test of independence"
    if correction and df == 1:
        half = Fraction(1, 2) if isinstance(means[0], Fraction) else 0.5
        statistic = sum_of_squares([max(d - half, 0 * half) for d in deviations], means)
        method += " with Yates' continuity correction"
    most = total * (min(len(rows), len(columns)) - 1)
    return SignificanceResult(
        statistic,
        chi_square_pvalue(statistic, df),
        df,
        min(math.sqrt(uncorrected / most), 1.0),
        effect_interval(uncorrected, df, most, 1.0, ci),
        round(total),
        method,
        "Cramer's V",
    )


def effect_interval(
    statistic: float, df: int, scale: float, greatest: float, ci: float | None
) -> tuple[float, float] | None:
    """The interval of sqrt(noncentrality / scale)."""
    if ci is None:
        return None
    tail = (1 - ci) / 2
    low, high = (solve_noncentrality(statistic, df, p) for p in (1 - tail, tail))
    return min(math.sqrt(low / scale), greatest), min(math.sqrt(high / scale), greatest)
