"""p-values of a comparison's differences, corrected for their number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastmetrics._core import corrections, inputs
from fastmetrics._core.comparison import Difference

CORRECTIONS = ("holm", "benjamini-hochberg", "none")


def read_correction(correction: Any) -> str:
    """One of the corrections; None is none."""
    if correction is None:
        return "none"
    inputs.check_option(correction, "correction", CORRECTIONS)
    return str(correction)


def adjusted(differences: Sequence[Difference], correction: str) -> list[Difference]:
    """The differences with p-values adjusted over all of them; those without a p-value stay without."""
    pvalues = [one.pvalue for one in differences]
    if correction != "none":
        function = corrections.holm if correction == "holm" else corrections.benjamini_hochberg
        pvalues = function(pvalues).tolist()
    return [one.replace(adjusted_pvalue=p) for one, p in zip(differences, pvalues, strict=True)]
