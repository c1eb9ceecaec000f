"""COCO objects -> the Dataset that `COCOeval` evaluates, by pycocotools' rules.

The parameters list ids of images and categories. Rows of other ids are dropped, and listed ids may have no rows. The
rows of an object are dicts, or the columns of a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from fastmetrics.metrics.detection.coco.dict_records import BOX, ID, INTEGER, NUMBER, as_records, read_sizes
from fastmetrics.metrics.detection.dataset import Dataset, Detections, GroundTruth
from fastmetrics.metrics.detection.ids import find_indices
from fastmetrics.metrics.detection.masks.segmentations import read_masks
from fastmetrics.metrics.detection.run_length_masks import Masks

ANNOTATION_FIELDS = {
    "image_id": ID, "category_id": ID, "id": INTEGER, "iscrowd": INTEGER, "area": NUMBER, "score": NUMBER
}  # fmt: skip
RESULT_FIELDS = {"image_id": ID, "category_id": ID, "score": NUMBER}


class EvaluatedAnnotations:
    """The annotations (or results) of one COCO object that are evaluated."""

    def __init__(
        self, document: Any, name: str, images: Sequence[Any], categories: Sequence[Any], with_boxes: bool
    ) -> None:
        self.are_results = not isinstance(document, dict)
        data = (document if self.are_results else document.get("annotations")) or []
        self.name = name
        fields = RESULT_FIELDS if self.are_results else ANNOTATION_FIELDS
        self.records = as_records(data, fields | ({"bbox": BOX} if with_boxes or self.are_results else {}), name)
        indices = []
        for field, ids in (("image_id", images), ("category_id", categories)):
            self.check_present(self.records.has(field), field)
            indices.append(find_indices_in_order(self.records.column(field), ids))
        self.rows = np.flatnonzero((indices[0] >= 0) & (indices[1] >= 0))
        self.images, self.categories = indices[0][self.rows], indices[1][self.rows]

    def check_present(self, present: np.ndarray, field: str, rows: np.ndarray | None = None) -> None:
        """Raise an error if one of these rows does not have the field."""
        if not present.all():
            first = int(np.argmin(present))
            self.raise_problem(first if rows is None else int(rows[first]), f"no {field}")

    def raise_problem(self, row: int, problem: str) -> NoReturn:
        raise ValueError(f"{self.name} has {problem} at annotation {row}")

    def column(self, field: str, dtype: Any, default: float | None = None) -> np.ndarray:
        """Return a field of the evaluated rows; without a default, each row must have it."""
        present = self.records.has(field)[self.rows]
        if default is None:
            self.check_present(present, field, self.rows)
        elif not present.any():
            return np.full(len(self.rows), default, dtype)
        values: np.ndarray = self.records.column(field)
        if len(self.rows) < len(values):
            values = values[self.rows]
        values = values.astype(dtype, copy=default is not None)
        if default is not None:
            values[~present] = default
        return values

    def boxes(self) -> np.ndarray:
        boxes = self.column("bbox", np.float64)
        self.check_nan(boxes, "bbox")
        return boxes

    def check_nan(self, values: np.ndarray, field: str) -> None:
        bad = np.isnan(values)
        bad = bad if bad.ndim == 1 else bad.any(axis=1)
        if bad.any():
            self.raise_problem(int(self.rows[np.argmax(bad)]), f"NaN in {field}")

    def masks(self, sizes: np.ndarray) -> Masks:
        """Return the masks of the evaluated rows; a result without segmentation has the mask of its box."""
        values = self.records.values("segmentation")
        segmentations = [values[row] for row in self.rows.tolist()]
        present = self.records.has("segmentation")[self.rows]
        if not self.are_results:
            self.check_present(present, "segmentation", self.rows)
        elif not present.all():
            boxes = self.boxes()
            for index in np.flatnonzero(~present).tolist():
                x, y, width, height = boxes[index].tolist()
                segmentations[index] = [[x, y, x, y + height, x + width, y + height, x + width, y]]
        return read_masks(segmentations, sizes[self.images], lambda row: f"{self.name}, annotation {self.rows[row]}")


def find_indices_in_order(values: np.ndarray, ids: Sequence[Any]) -> np.ndarray:
    """Return the index of each value in `ids`, -1 for other values. `ids` are in the user's order, not sorted."""
    known = np.asarray(ids)
    if not len(known):
        return np.full(len(values), -1, np.int64)
    if values.dtype.kind not in "iu" or known.dtype.kind not in "iu":
        by_id = {each: index for index, each in enumerate(known.tolist())}
        return np.array([by_id.get(each, -1) for each in values.tolist()], np.int64)
    order = np.argsort(known, kind="stable")
    indices = find_indices(values, known[order].astype(np.int64, copy=False))
    return np.where(indices < 0, -1, order[indices])


def read_coco_objects(
    truth: Any, detections: Any, iou_type: str, images: Sequence[Any], categories: Sequence[Any]
) -> Dataset:
    """Read the objects and detections of these images and categories, whose order the indices follow."""
    with_boxes = iou_type == "bbox"
    objects = EvaluatedAnnotations(truth, "cocoGt", images, categories, with_boxes)
    detected = EvaluatedAnnotations(detections, "cocoDt", images, categories, with_boxes)
    crowd = (objects.column("iscrowd", np.int64, 0) != 0).astype(np.uint8)
    scores = detected.column("score", np.float64)
    detected.check_nan(scores, "score")
    truth_masks = detection_masks = None
    truth_boxes, detection_boxes = np.zeros((len(objects.rows), 4)), np.zeros((len(detected.rows), 4))
    if iou_type == "segm":
        fields = {"id": ID, "height": INTEGER, "width": INTEGER}
        records = as_records(truth.get("images") or [], fields, "cocoGt's images")
        sizes = read_sizes(records, find_indices_in_order(records.column("id"), images), len(images))
        truth_masks, detection_masks = objects.masks(sizes), detected.masks(sizes)
    else:
        truth_boxes, detection_boxes = objects.boxes(), detected.boxes()
    if not isinstance(detections, dict):
        boxes = detected.column("bbox", np.float64)
        areas, ids = boxes[:, 2] * boxes[:, 3], detected.rows + 1
    else:
        areas, ids = detected.column("area", np.float64), detected.column("id", np.int64)
    return Dataset(
        np.asarray(images), np.asarray(categories), None, None,
        GroundTruth(
            objects.images, objects.categories, truth_boxes, objects.column("area", np.float64), crowd, crowd,
            objects.column("id", np.int64), truth_masks,
        ),
        Detections(detected.images, detected.categories, detection_boxes, scores, areas, ids, detection_masks),
    )  # fmt: skip
