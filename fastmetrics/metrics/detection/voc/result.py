"""The result of `voc_map`: the mean, each class with its curve, coverage and the signature."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core.rendering import render

MAX_LISTED_CLASSES = 25
COUNTS = {"images": "images", "ground_truths": "objects", "detections": "detections"}


class VocClass(NamedTuple):
    """One class: its average precision, and the curve after each counted detection, by descending score."""

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
        A named tuple for each class: ``ap`` (NaN without ground truth), ``precision``, ``recall`` and ``scores`` after
        each counted detection, by descending score (recall is NaN without ground truth), ``ground_truths`` (number of
        objects to be found), ``difficult`` (number of objects that need not be found), ``detections``, ``ignored``
        (number of detections that match a difficult object) and ``true_positives``.
    undefined : dict
        The classes without AP, which are excluded from the mean, each with the reason.
    coverage : dict
        ``images``, ``categories``, ``categories_with_ground_truth``, ``without_ground_truth`` (names), and the sums of
        ``ground_truths``, ``difficult``, ``detections``, ``ignored``, ``true_positives`` over all classes.
    signature : str
        All options that are needed to compute the value again.
    """

    __slots__ = ("coverage", "map", "per_class", "signature", "undefined")

    def __init__(self, per_class: Mapping[Any, VocClass], n_images: int, signature: str) -> None:
        self.per_class: dict[Any, VocClass] = dict(per_class)
        self.undefined: dict[Any, str] = {
            name: "all of its objects are difficult" if row.difficult else "no ground truth"
            for name, row in self.per_class.items()
            if not row.ground_truths
        }
        values = [row.ap for row in self.per_class.values() if row.ground_truths]
        self.map: float = math.fsum(values) / len(values) if values else math.nan
        totals = {
            name: sum(getattr(row, name) for row in self.per_class.values())
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
        for name, row in list(self.per_class.items())[:MAX_LISTED_CLASSES]:
            numbers = (row.ground_truths, row.detections, row.true_positives)
            rows.append([str(name), f"{row.ap:.4f}", *(f"{number:,}" for number in numbers)])
        lines = [head, *render("aligned lines", rows)]
        if len(self.per_class) > MAX_LISTED_CLASSES:
            lines.append(f"... {len(self.per_class):,} classes in all")
        if self.undefined:
            reasons = [f"{name} ({reason})" for name, reason in list(self.undefined.items())[:MAX_LISTED_CLASSES]]
            reasons += ["…"] * (len(self.undefined) > MAX_LISTED_CLASSES)
            lines.append(f"not in the mean: {', '.join(reasons)}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The mean, AP and counts of classes, coverage, undefined classes and the signature, in plain types.

        Returns
        -------
        dict
        """
        counts = ("ap", "ground_truths", "difficult", "detections", "ignored", "true_positives")
        return {
            "map": self.map,
            "per_class": {name: {each: getattr(row, each) for each in counts} for name, row in self.per_class.items()},
            "coverage": self.coverage,
            "undefined": self.undefined,
            "signature": self.signature,
        }
