"""Corrections for multiple tests: Holm and Benjamini-Hochberg. The arithmetic is in `_core.comparison`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.comparison import multiple_testing

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import Floats, NumericArrayLike

__all__ = ["benjamini_hochberg", "holm"]


@answers_unknown
def holm(pvalues: NumericArrayLike) -> Floats:
    """Adjust the p-values of several tests by Holm's method, which controls the family-wise error rate.

    Sorted ascending, the i-th of m becomes max over j <= i of (m - j + 1) p_j, at most 1. S. Holm, "A simple
    sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979. The tests
    may depend on each other in any way.

    Parameters
    ----------
    pvalues : array-like of shape (m,)
        p-values in [0, 1], in any order. NaN stays NaN and does not count as a test.

    Returns
    -------
    numpy.ndarray of shape (m,)
        Adjusted p-values (float64), in the order of `pvalues`.

    Raises
    ------
    ValueError
        A value outside [0, 1], or more than one dimension.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.holm([0.01, 0.04, 0.03, 0.005]).tolist()
    [0.03, 0.06, 0.06, 0.02]
    """
    return multiple_testing.holm(pvalues)


@answers_unknown
def benjamini_hochberg(pvalues: NumericArrayLike) -> Floats:
    """Adjust the p-values of several tests by Benjamini and Hochberg, which controls the false discovery rate.

    Sorted ascending, the i-th of m becomes min over j >= i of p_j m / j, at most 1. Y. Benjamini, Y. Hochberg,
    "Controlling the false discovery rate", Journal of the Royal Statistical Society B 57, 1995. The tests must be
    independent or positively dependent, as metrics of one model are.

    Parameters
    ----------
    pvalues : array-like of shape (m,)
        p-values in [0, 1], in any order. NaN stays NaN and does not count as a test.

    Returns
    -------
    numpy.ndarray of shape (m,)
        Adjusted p-values (float64), in the order of `pvalues`.

    Raises
    ------
    ValueError
        A value outside [0, 1], or more than one dimension.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.benjamini_hochberg([0.01, 0.04, 0.03, 0.005]).tolist()
    [0.02, 0.04, 0.04, 0.02]
    """
    return multiple_testing.benjamini_hochberg(pvalues)
