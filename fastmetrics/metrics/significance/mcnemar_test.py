"""McNemar's test: two models on the same rows, where they disagree."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core.normal import deviations
from fastmetrics._core.significance import (
    SignificanceResult,
    as_count,
    check_level,
    chi_square_pvalue,
    special_functions,
)

__all__ = ["mcnemar_test"]

METHODS = ("exact", "mid-p", "chi2")
NAMES = {
    "exact": "McNemar's test, exact binomial",
    "mid-p": "McNemar's test, mid-p",
    "chi2": "McNemar's test, chi-square",
}
HALVINGS = 80
WANTED = "1 where the model is right, 0 where not"


def mcnemar_test(
    first: Any, second: Any = None, *, method: str = "exact", correction: bool = True, ci: float | None = 0.95
) -> SignificanceResult:
    """Are two models right equally often on the same rows?

    Only rows on which they disagree tell: b where the first alone is right, c where the second alone is. If neither is
    better, b is Binomial(b + c, 1/2). Q. McNemar, "Note on the sampling error of the difference between correlated
    proportions or percentages", Psychometrika 12, 1947.

    Parameters
    ----------
    first, second : two arrays of shape (n,), or two counts, or one table of shape (2, 2)
        For each row whether the first and the second model were right (bool, or 0 and 1). Or the counts b and c. Or
        `first` alone, the table [[both right, b], [c, both wrong]], as statsmodels takes it.
    method : {"exact", "mid-p", "chi2"}
        "exact": p is twice the smaller tail of the binomial distribution, at most 1. "mid-p": that less the
        probability of the counts found, nearer to the level and recommended by M. Fagerland et al., BMC Medical
        Research Methodology 13:91, 2013. "chi2": (b - c)^2 / (b + c) against chi-square with one degree of freedom.
    correction : bool
        Of "chi2" only: (max(|b - c| - 1, 0))^2 / (b + c), A. Edwards, 1948.
    ci : float or None
        Level of the interval of the odds ratio; None for no interval.

    Returns
    -------
    SignificanceResult
        The statistic is min(b, c), or chi-square. `effect_size` is the odds ratio b / c, with the interval that goes
        with the method: from that of b / (b + c) by Clopper and Pearson, with mid-p tails, or by Wilson. `n` is b + c.

    Raises
    ------
    ValueError
        A table that is not 2 x 2, counts that are negative or no whole numbers, arrays with anything but 0 and 1, or
        of two lengths, or with fewer than two rows.

    Notes
    -----
    Models that never disagree (b = c = 0): p = 1, and `method` says so; the odds ratio is NaN, without an interval.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> result = fm.mcnemar_test([[59, 6], [16, 80]])
    >>> result.statistic, round(result.pvalue, 5), result.effect_size
    (6.0, 0.05248, 0.375)
    >>> round(fm.mcnemar_test([[59, 6], [16, 80]], method="mid-p").pvalue, 5)
    0.03469
    >>> fm.mcnemar_test([True, True, False, True], [True, False, False, False]).pvalue
    0.5
    """
    inputs.check_option(method, "method", METHODS)
    inputs.check_flag(correction, "correction")
    check_level(ci)
    b, c = discordant(first, second)
    n, least, name = b + c, float(min(b, c)), NAMES[method]
    df = 1 if method == "chi2" else None
    if method == "chi2" and correction:
        name += " with continuity correction"
    if n == 0:
        return SignificanceResult(0.0, 1.0, df, math.nan, None, 0, f"{name}; never apart: p = 1", "odds ratio")
    if method == "chi2":
        apart = max(abs(b - c) - 1, 0) if correction else abs(b - c)
        statistic = apart * apart / n
        pvalue = chi_square_pvalue(statistic, 1)
    elif method == "exact":
        statistic, pvalue = least, min(2 * below(min(b, c), n, 0.5), 1.0)
    else:
        statistic, pvalue = least, 1.0 if b == c else below(min(b, c), n, 0.5) + below(min(b, c) - 1, n, 0.5)
    interval = None if ci is None else odds_interval(b, n, method, ci)
    return SignificanceResult(statistic, pvalue, df, b / c if c else math.inf, interval, n, name, "odds ratio")


def discordant(first: Any, second: Any) -> tuple[int, int]:
    """How often the first alone is right, and how often the second alone."""
    if second is None:
        table = inputs.as_array(first, "first")
        if table.shape != (2, 2):
            raise ValueError(f"first must be a table of shape (2, 2) where second is not given; found {table.shape}")
        cells = [
            [as_count(table[row, column].item(), f"first[{row}, {column}]") for column in (0, 1)] for row in (0, 1)
        ]
        return cells[0][1], cells[1][0]
    if all(isinstance(one, Real) or getattr(one, "shape", None) == () for one in (first, second)):
        return as_count(first, "first"), as_count(second, "second")
    one, other = (as_right(values, name) for values, name in ((first, "first"), (second, "second")))
    inputs.check_lengths(one.shape[0], other.shape[0], "first", "second")
    if one.shape[0] < 2:
        raise ValueError("first has one row: at least two are needed")
    return int(np.count_nonzero(one & ~other)), int(np.count_nonzero(other & ~one))


def as_right(values: Any, name: str) -> np.ndarray:
    """A column of bools, or of 0 and 1."""
    array = inputs.as_array(values, name)
    inputs.check_column(array, name)
    if array.dtype.kind not in "biuf":
        for row, value in enumerate(array.tolist()):
            if not inputs.is_number(value):
                raise inputs.InputError(f"{name} has {value!r} at row {row}: {WANTED}")
        array = inputs.as_floats(array, name)
    right = array == 1
    wrong = ~right & (array != 0)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        found = "NaN" if array[row] != array[row] else array[row]
        raise ValueError(f"{name} has {found} at row {row}: {WANTED}")
    return np.asarray(right)


def below(k: int, n: int, p: float) -> float:
    """P(X <= k) of X ~ Binomial(n, p), by the incomplete beta function: tails keep their digits."""
    if k < 0:
        return 0.0
    return 1.0 if k >= n else float(special_functions().betainc(n - k, k + 1, 1 - p))


def odds_interval(b: int, n: int, method: str, ci: float) -> tuple[float, float]:
    """The interval of p / (1 - p) of a share p = b / n, with the tails of the method."""
    special = special_functions()
    tail = (1 - ci) / 2
    if method == "chi2":
        z = deviations(ci)
        middle, half = b + z * z / 2, z * math.sqrt(b * (n - b) / n + z * z / 4)
        ends = max(middle - half, 0.0) / (n + z * z), (middle + half) / (n + z * z)
        ends = ends[0] if b else 0.0, ends[1] if b < n else 1.0
    elif method == "exact":
        ends = (
            float(special.betaincinv(b, n - b + 1, tail)) if b else 0.0,
            float(special.betaincinv(b + 1, n - b, 1 - tail)) if b < n else 1.0,
        )
    else:
        # Both tails rise or fall with p, so halving finds where they are as large as they may be.
        low = bisect(lambda p: 1 - (below(b, n, p) + below(b - 1, n, p)) / 2 < tail) if b else 0.0
        high = bisect(lambda p: (below(b, n, p) + below(b - 1, n, p)) / 2 > tail) if b < n else 1.0
        ends = low, high
    return odds(ends[0]), odds(ends[1])


def odds(p: float) -> float:
    return p / (1 - p) if p < 1 else math.inf


def bisect(is_below: Callable[[float], bool]) -> float:
    """Where a condition that holds for small p stops to hold."""
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return (low + high) / 2
