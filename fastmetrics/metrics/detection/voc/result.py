"""What an evaluation by Pascal VOC's rule answers: the mean, every class with its curve, coverage, a signature."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core.text_table import aligned

LISTED_CLASSES = 25
COUNTS = {"images": "images", "ground_truths": "objects", "detections": "detections"}


class VocClass(NamedTuple):
    """One class: its average precision, and the curve after each detection that counts, by falling score."""

    ap: float
    precision: np.ndarray
    recall: np.ndarray
    scores: np.ndarray
    ground_truths: int
    difficult: int
    detections: int
    ignored: int
    true_positives: int


class VocResult:
    """Mean average precision by Pascal VOC's rule; ``float(result)`` is the mean.

    Attributes
    ----------
    map : float
        The mean of the average precisions of all classes that have ground truth; NaN if none has.
    per_class : dict
        For every class a named tuple: ``ap`` (NaN without ground truth), ``precision``, ``recall`` and ``scores`` after
        each detection that counts, by falling score (recall is NaN without ground truth), ``ground_truths`` (objects to
        be found), ``difficult`` (objects that are not), ``detections``, ``ignored`` (of these, what went to a difficult
        object) and ``true_positives``.
    undefined : dict
        The classes without AP, which are left out of the mean, and why.
    coverage : dict
        ``images``, ``categories``, ``categories_with_ground_truth``, ``without_ground_truth`` (names), and over all
        classes ``ground_truths``, ``difficult``, ``detections``, ``ignored``, ``true_positives``.
    signature : str
        All that is needed to compute the value again.
    """

    __slots__ = ("coverage", "map", "per_class", "signature", "undefined")

    def __init__(self, per_class: Mapping[Any, VocClass], n_images: int, signature: str) -> None:
        self.per_class: dict[Any, VocClass] = dict(per_class)
        self.undefined: dict[Any, str] = {
            name: "all of its objects are difficult" if own.difficult else "no ground truth"
            for name, own in self.per_class.items()
            if not own.ground_truths
        }
        values = [own.ap for own in self.per_class.values() if own.ground_truths]
        self.map: float = math.fsum(values) / len(values) if values else math.nan
        totals = {
            name: sum(getattr(own, name) for own in self.per_class.values())
            for name in ("ground_truths", "difficult", "detections", "ignored", "true_positives")
        }
        self.coverage: dict[str, Any] = {
            "images": n_images,
            "categories": len(self.per_class),
            "categories_with_ground_truth": len(values),
            "without_ground_truth": list(self.undefined),
            **totals,
        }
        self.signature = signature

    def __float__(self) -> float:
        return self.map

    def __repr__(self) -> str:
        covered = self.coverage
        counts = [f"{covered[name]:,} {what}" for name, what in COUNTS.items()]
        classes = f"{covered['categories_with_ground_truth']} of {covered['categories']} classes"
        head = f"mAP = {self.map:.4f} ({', '.join([classes, *counts])})"
        rows = [["class", "AP", "objects", "detections", "found"]]
        for name, own in list(self.per_class.items())[:LISTED_CLASSES]:
            numbers = (own.ground_truths, own.detections, own.true_positives)
            rows.append([str(name), f"{own.ap:.4f}", *(f"{number:,}" for number in numbers)])
        lines = [head, *aligned(rows)]
        if len(self.per_class) > LISTED_CLASSES:
            lines.append(f"... {len(self.per_class):,} classes in all")
        if self.undefined:
            reasons = [f"{name} ({reason})" for name, reason in list(self.undefined.items())[:LISTED_CLASSES]]
            reasons += ["…"] * (len(self.undefined) > LISTED_CLASSES)
            lines.append(f"not in the mean: {', '.join(reasons)}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The mean, AP and counts of classes, coverage, what is undefined and the signature; plain types.

        Returns
        -------
        dict
        """
        counts = ("ap", "ground_truths", "difficult", "detections", "ignored", "true_positives")
        return {
            "map": self.map,
            "per_class": {name: {each: getattr(own, each) for each in counts} for name, own in self.per_class.items()},
            "coverage": self.coverage,
            "undefined": self.undefined,
            "signature": self.signature,
        }
