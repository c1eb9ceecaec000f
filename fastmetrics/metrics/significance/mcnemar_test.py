"""McNemar's test: two classifiers on the same rows."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.comparison.test_results import (
    SignificanceResult,
    as_count,
    check_level,
)
from fastmetrics._core.distributions.binomial import binomial_cdf, share_limits
from fastmetrics._core.distributions.chi_square import chi_square_pvalue
from fastmetrics._core.distributions.normal import two_sided_quantile

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import NumericArrayLike
    from fastmetrics._core.types.options import McNemarMethod

__all__ = ["mcnemar_test"]

METHOD_NAMES = {
    "exact": "McNemar's test, exact binomial",
    "mid-p": "McNemar's test, mid-p",
    "chi2": "McNemar's test, chi-square",
}
ALLOWED_VALUES = "1 where the model is right, 0 where not"


@answers_unknown
def mcnemar_test(
    first: NumericArrayLike | int,
    second: NumericArrayLike | int | None = None,
    *,
    method: McNemarMethod = "exact",
    correction: bool = True,
    ci: float | None = 0.95,
) -> SignificanceResult:
    """Test whether two models are right equally often on the same rows.

    Only the rows on which they disagree matter: b rows where only the first is right, and c rows where only the second
    is. If neither model is better, b is Binomial(b + c, 1/2). Q. McNemar, "Note on the sampling error of the difference
    between correlated proportions or percentages", Psychometrika 12, 1947.

    Parameters
    ----------
    first, second : two arrays of shape (n,), or two counts, or one table of shape (2, 2)
        For each row, whether the first and the second model were right (bool, or 0 and 1). Or the counts b and c. Or
        only `first`: the table [[both right, b], [c, both wrong]], as in statsmodels.
    method : {"exact", "mid-p", "chi2"}
        "exact": p is twice the smaller tail of the binomial distribution, at most 1. "mid-p": the exact p
        minus the probability of the observed counts. Its error rate is closer to the level; recommended by M. Fagerland
        et al., BMC Medical Research Methodology 13:91, 2013. "chi2": (b - c)^2 / (b + c), compared with chi-square with
        one degree of freedom.
    correction : bool
        For "chi2" only: (max(|b - c| - 1, 0))^2 / (b + c), A. Edwards, 1948.
    ci : float or None
        Level of the interval of the odds ratio; None for no interval.

    Returns
    -------
    SignificanceResult
        The statistic is min(b, c), or chi-square. `effect_size` is the odds ratio b / c. Its interval is transformed
        from an interval of b / (b + c), which depends on the method: Clopper-Pearson ("exact"), with mid-p tails
        ("mid-p"), or Wilson ("chi2"). `n` is b + c.

    Raises
    ------
    ValueError
        A table that is not 2 x 2; counts that are negative or not integers; arrays with values other than 0 and 1, of
        different lengths, or with fewer than two rows.

    Notes
    -----
    If the models never disagree (b = c = 0), p is 1 and `method` notes it. The odds ratio is NaN, without an interval.

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
    validation.check_option(method, "method", tuple(METHOD_NAMES))
    validation.check_flag(correction, "correction")
    check_level(ci)
    b, c = count_discordant(first, second)
    n, least, name = b + c, float(min(b, c)), METHOD_NAMES[method]
    df = 1 if method == "chi2" else None
    if method == "chi2" and correction:
        name += " with continuity correction"
    if n == 0:
        return SignificanceResult(0.0, 1.0, df, math.nan, None, 0, f"{name}; never apart: p = 1", "odds ratio")
    if method == "chi2":
        difference = max(abs(b - c) - 1, 0) if correction else abs(b - c)
        statistic = difference * difference / n
        pvalue = chi_square_pvalue(statistic, 1)
    elif method == "exact":
        statistic, pvalue = least, min(2 * binomial_cdf(min(b, c), n, 0.5), 1.0)
    else:
        statistic, pvalue = (
            least,
            1.0 if b == c else binomial_cdf(min(b, c), n, 0.5) + binomial_cdf(min(b, c) - 1, n, 0.5),
        )
    interval = None if ci is None else odds_ratio_interval(b, n, method, ci)
    return SignificanceResult(statistic, pvalue, df, b / c if c else math.inf, interval, n, name, "odds ratio")


def count_discordant(first: Any, second: Any) -> tuple[int, int]:
    """The number of rows where only the first is right, and where only the second is."""
    if second is None:
        table = validation.as_array(first, "first")
        if table.shape != (2, 2):
            raise ValueError(f"first must be a table of shape (2, 2) where second is not given; found {table.shape}")
        # `tolist` gives Python numbers, also of an array of objects.
        cells = [
            [as_count(cell, f"first[{row}, {column}]") for column, cell in enumerate(own)]
            for row, own in enumerate(table.tolist())
        ]
        return cells[0][1], cells[1][0]
    if all(isinstance(one, Real) or getattr(one, "shape", None) == () for one in (first, second)):
        return as_count(first, "first"), as_count(second, "second")
    first_right, second_right = (
        read_correctness(values, name) for values, name in ((first, "first"), (second, "second"))
    )
    validation.check_lengths(first_right.shape[0], second_right.shape[0], "first", "second")
    if first_right.shape[0] < 2:
        raise ValueError("first has one row: at least two are needed")
    return int(np.count_nonzero(first_right & ~second_right)), int(np.count_nonzero(second_right & ~first_right))


def read_correctness(values: Any, name: str) -> np.ndarray:
    """Check a column of bool, or of 0 and 1; return it as bool."""
    array = validation.as_array(values, name)
    validation.check_column(array, name)
    if array.dtype.kind not in "biuf":
        for row, value in enumerate(array.tolist()):
            if not validation.is_number(value):
                raise validation.InputError(f"{name} has {value!r} at row {row}: {ALLOWED_VALUES}")
        array = validation.as_floats(array, name)
    right = array == 1
    wrong = ~right & (array != 0)
    if wrong.any():
        row = validation.first_bad_row(wrong)
        found = "NaN" if array[row] != array[row] else array[row]
        raise ValueError(f"{name} has {found} at row {row}: {ALLOWED_VALUES}")
    return np.asarray(right)


def odds_ratio_interval(b: int, n: int, method: str, ci: float) -> tuple[float, float]:
    """The interval of p / (1 - p) for a share p = b / n, by the tails of the method."""
    tail = (1 - ci) / 2
    if method == "chi2":
        z = two_sided_quantile(ci)
        middle, half = b + z * z / 2, z * math.sqrt(b * (n - b) / n + z * z / 4)
        ends = max(middle - half, 0.0) / (n + z * z), (middle + half) / (n + z * z)
        ends = ends[0] if b else 0.0, ends[1] if b < n else 1.0
    else:
        ends = share_limits(b, n, tail, mid=method == "mid-p")
    return probability_to_odds(ends[0]), probability_to_odds(ends[1])


def probability_to_odds(p: float) -> float:
    return p / (1 - p) if p < 1 else math.inf
