"""Corrections of the p-values of a comparison for the number of its differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastmetrics._core.columns import validation
from fastmetrics._core.comparison import multiple_testing
from fastmetrics._core.comparison.comparison import Difference

CORRECTIONS = ("holm", "benjamini-hochberg", "none")


def read_correction(correction: Any) -> str:
    """The checked name of a correction; None means "none"."""
    if correction is None:
        return "none"
    validation.check_option(correction, "correction", CORRECTIONS)
    return str(correction)


def adjust_pvalues(differences: Sequence[Difference], correction: str) -> list[Difference]:
    """The differences with p-values adjusted over all of them. A NaN stays NaN."""
    pvalues = [difference.pvalue for difference in differences]
    if correction != "none":
        function = multiple_testing.holm if correction == "holm" else multiple_testing.benjamini_hochberg
        pvalues = function(pvalues).tolist()
    return [difference.replace(adjusted_pvalue=p) for difference, p in zip(differences, pvalues, strict=True)]
