"""Corrections of p-values for the number of tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core.columns import validation

NONE = "none"


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
    name = NONE if correction is None else correction
    validation.check_option(name, "correction", ("holm", "benjamini-hochberg", NONE))
    return str(name)
