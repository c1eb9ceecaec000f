"""Counts against expected counts, and tables of counts against independence."""

from __future__ import annotations

import math
from itertools import chain
from typing import Any

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core.significance import (
    MOST_COUNTED,
    SignificanceResult,
    check_level,
    chi_square_pvalue,
    special_functions,
)

__all__ = ["chi2_test"]

SAME_SUM = 1e-8
# From here on the noncentral distribution is that of a normal one squared, to more digits than an interval has.
MOST_NONCENTRAL = 1e6


def chi2_test(
    observed: Any, expected: Any = None, *, correction: bool = True, ddof: int = 0, ci: float | None = 0.95
) -> SignificanceResult:
    """Are counts as expected, or, of a table of counts, are its rows and columns independent?

    X^2 = sum (observed - expected)^2 / expected, against the chi-square distribution. K. Pearson, "On the criterion
    that a given system of deviations...", Philosophical Magazine 50, 1900. In one dimension df = k - 1 - ddof; the
    effect size is Cohen's w = sqrt(X^2 / n). Of a table, expected counts are row total x column total / n, df =
    (r - 1)(c - 1), and the effect size is Cramer's V = sqrt(X^2 / (n (min(r, c) - 1))).

    Parameters
    ----------
    observed : array-like of shape (k,) or (r, c)
        Counts, none negative: one for each category, or a contingency table.
    expected : array-like of shape (k,), optional
        Expected counts, all above 0. Their sum must be that of `observed` (to 8 digits): they are never scaled. By
        default all categories are expected equally often. A table's are those of independence.
    correction : bool
        Yates' correction for continuity, which brings each count up to 0.5 nearer to the expected one. Of tables with
        one degree of freedom (2 x 2) only. On by default as in scipy.stats.chi2_contingency; without it a 2 x 2 table
        gives the p-value of `two_proportion_test`. The effect size never is corrected.
    ddof : int
        How many parameters of `expected` were estimated from `observed`: degrees of freedom less. Of one dimension
        only.
    ci : float or None
        Level of the interval of the effect size; None for no interval.

    Returns
    -------
    SignificanceResult
        `n` is the sum of the counts. The interval is that of the noncentrality whose distribution has X^2 (not
        corrected) at its ends.

    Raises
    ------
    ValueError
        Counts that are negative, NaN or infinite, an expected count of 0, sums that differ, fewer than two categories,
        rows or columns, nothing counted, no degree of freedom left.

    Notes
    -----
    The distribution is an approximation, which the usual rule trusts where every expected count is at least 5.

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
    inputs.check_flag(correction, "correction")
    check_level(ci)
    if isinstance(ddof, bool) or not isinstance(ddof, (int, np.integer)) or ddof < 0:
        raise inputs.OptionError(f"ddof must be a whole number, not negative; found {ddof!r}")
    counts = as_counts(observed, "observed")
    if counts.ndim == 2:
        if expected is not None or ddof:
            raise ValueError("expected and ddof are of one row of counts: those of a table are of independence")
        return of_table(counts.tolist(), correction, ci)
    return of_categories(counts.tolist(), expected, int(ddof), ci)


def as_counts(values: Any, name: str) -> np.ndarray:
    """Counts of one or two dimensions, checked: integers stay integers."""
    array = inputs.as_array(values, name)
    if array.dtype.kind not in "iuf":
        columns = array.shape[1] if array.ndim == 2 and array.shape[1] else 1
        array = inputs.as_floats(array, name, lambda cell: cell // columns)
    if array.ndim not in (1, 2):
        raise ValueError(f"{name} must have one or two dimensions; found {array.ndim} (shape {array.shape})")
    if array.size == 0:
        raise ValueError(f"{name} is empty: at least two counts are needed")
    # One comparison for NaN, infinities and what is negative.
    if not (array.min() >= 0 and array.max() < math.inf):
        cell = np.argwhere(~((array >= 0) & (array < math.inf)))[0]
        value = array[tuple(cell)]
        found = "NaN" if value != value else value
        raise ValueError(f"{name} has {found} at {place(*cell.tolist())}: counts must be finite and not negative")
    if float(array.max()) > MOST_COUNTED:
        cell = np.argwhere(array.astype(np.float64) > MOST_COUNTED)[0]
        raise ValueError(
            f"{name} has {array[tuple(cell)]} at {place(*cell.tolist())}: counts may be at most {MOST_COUNTED:g}"
        )
    return array


def place(*cell: int) -> str:
    """Where a count stands, as errors say it."""
    return f"cell {cell[0] if len(cell) == 1 else cell}"


def of_categories(observed: list[float], expected: Any, ddof: int, ci: float | None) -> SignificanceResult:
    """The test of one row of counts."""
    k = len(observed)
    total = math.fsum(observed)
    if k < 2:
        raise ValueError("observed has one count: at least two are needed")
    if total == 0:
        raise ValueError("observed has nothing but zeros: nothing was counted")
    if expected is None:
        wanted = [total / k] * k
    else:
        array = as_counts(expected, "expected")
        if array.shape != (k,):
            raise ValueError(f"observed has {k} counts but expected has shape {array.shape}")
        wanted = array.tolist()
        if 0 in wanted:
            raise ValueError(f"expected has 0 at {place(wanted.index(0))}: expected counts must be above 0")
        if not math.isclose(total, math.fsum(wanted), rel_tol=SAME_SUM):
            raise ValueError(
                f"observed and expected must have the same sum; found {total:g} and {math.fsum(wanted):g}: scale "
                "expected first"
            )
    df = k - 1 - ddof
    if df < 1:
        raise ValueError(f"{k} counts and ddof={ddof} leave no degree of freedom")
    statistic = math.fsum((have - want) ** 2 / want for have, want in zip(observed, wanted, strict=True))
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


def of_table(table: list[list[float]], correction: bool, ci: float | None) -> SignificanceResult:
    """The test of a contingency table."""
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
            raise ValueError(f"observed has only zeros in {axis} {empty}: the expected count of {place(*cell)} is 0")
    wanted = [row * column / total for row in rows for column in columns]
    apart = [abs(have - want) for have, want in zip(chain.from_iterable(table), wanted, strict=True)]
    plain = math.fsum(one * one / want for one, want in zip(apart, wanted, strict=True))
    df = (len(rows) - 1) * (len(columns) - 1)
    statistic, method = plain, "Pearson's chi-squared test of independence"
    if correction and df == 1:
        less = [max(one - 0.5, 0.0) for one in apart]
        statistic = math.fsum(one * one / want for one, want in zip(less, wanted, strict=True))
        method += " with Yates' continuity correction"
    most = total * (min(len(rows), len(columns)) - 1)
    return SignificanceResult(
        statistic,
        chi_square_pvalue(statistic, df),
        df,
        min(math.sqrt(plain / most), 1.0),
        effect_interval(plain, df, most, 1.0, ci),
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
    low, high = (noncentrality(statistic, df, p) for p in (1 - tail, tail))
    return min(math.sqrt(low / scale), greatest), min(math.sqrt(high / scale), greatest)


def noncentrality(statistic: float, df: int, p: float) -> float:
    """The noncentrality for which a chi-square variable is below the statistic with probability p, or 0."""
    special = special_functions()
    if special.chdtr(df, statistic) <= p:
        return 0.0
    if statistic <= MOST_NONCENTRAL * df:
        found = float(special.chndtrinc(statistic, df, p))
        if found == found:
            return found
    root = math.sqrt(statistic) - float(special.ndtri(p))
    return max(root * root - (df - 1), 0.0)
