"""Corrections of p-values for the number of tests, also of the p-values of a comparison for its differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.comparison.comparison import Difference


def as_pvalues(pvalues: Any) -> np.ndarray:
    """A column of p-values as float64: each in [0, 1], or NaN if a test is undefined."""
    array = validation.as_floats(pvalues, "pvalues")
    if array.ndim != 1:
        raise ValueError(f"pvalues must have one dimension; found {array.ndim} (shape {array.shape})")
    wrong = (array < 0) | (array > 1)
    if wrong.any():
        row = validation.first_bad_row(wrong)
        raise ValueError(f"pvalues has {array[row]} at row {row}: p-values must lie between 0 and 1")
    return array.astype(np.float64)


def holm(pvalues: Any) -> np.ndarray:
    """Adjusted p-values of Holm's step-down procedure. NaN stays NaN and does not count as a test."""
    adjusted = as_pvalues(pvalues)
    tests = np.flatnonzero(adjusted == adjusted)
    order = tests[np.argsort(adjusted[tests], kind="stable")]
    factors = np.arange(order.shape[0], 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(adjusted[order] * factors), 1.0)
    return adjusted


def benjamini_hochberg(pvalues: Any) -> np.ndarray:
    """Adjusted p-values of Benjamini and Hochberg's step-up procedure. NaN stays NaN and does not count as a test."""
    adjusted = as_pvalues(pvalues)
    tests = np.flatnonzero(adjusted == adjusted)
    order = tests[np.argsort(adjusted[tests], kind="stable")]
    count = order.shape[0]
    scaled = adjusted[order] * count / np.arange(1, count + 1)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return adjusted


def read_correction(correction: Any) -> str:
    """The checked name of a correction; None means "none"."""
    name = "none" if correction is None else correction
    validation.check_option(name, "correction", ("holm", "benjamini-hochberg", "none"))
    return str(name)


def adjust_pvalues(differences: Sequence[Difference], correction: str) -> list[Difference]:
    """The differences with p-values adjusted over all of them. A NaN stays NaN."""
    pvalues = [difference.pvalue for difference in differences]
    if correction != "none":
        function = holm if correction == "holm" else benjamini_hochberg
        pvalues = function(pvalues).tolist()
    return [difference.replace(adjusted_pvalue=p) for difference, p in zip(differences, pvalues, strict=True)]
