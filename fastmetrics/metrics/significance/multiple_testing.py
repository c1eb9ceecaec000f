"""Corrections for many tests, as public functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core import corrections

__all__ = ["benjamini_hochberg", "holm"]


def holm(pvalues: Any) -> np.ndarray:
    """p-values of several tests, adjusted so that the chance of any false finding stays below the level.

    Sorted ascending, the i-th of m becomes max over j <= i of (m - j + 1) p_j, at most 1. S. Holm, "A simple
    sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979. It asks nothing of how
    the tests depend on each other.

    Parameters
    ----------
    pvalues : array-like of shape (m,)
        p-values in [0, 1], in any order. NaN is no test: it stays NaN and does not count.

    Returns
    -------
    numpy.ndarray of shape (m,)
        Adjusted p-values, in the order given, float64.

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
    return corrections.holm(pvalues)


def benjamini_hochberg(pvalues: Any) -> np.ndarray:
    """p-values of several tests, adjusted so that the expected share of false findings stays below the level.

    Sorted ascending, the i-th of m becomes min over j >= i of p_j m / j, at most 1. Y. Benjamini, Y. Hochberg,
    "Controlling the false discovery rate", Journal of the Royal Statistical Society B 57, 1995. It asks for tests that
    are independent, or depend on each other positively, as metrics of one model do.

    Parameters
    ----------
    pvalues : array-like of shape (m,)
        p-values in [0, 1], in any order. NaN is no test: it stays NaN and does not count.

    Returns
    -------
    numpy.ndarray of shape (m,)
        Adjusted p-values, in the order given, float64.

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
    return corrections.benjamini_hochberg(pvalues)
