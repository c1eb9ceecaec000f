"""Rows of COCO objects -> the columns that are matched, taken as pycocotools takes them.

What is evaluated is said by ids of images and categories: rows of others are left out, and ids may be there that no row
has. Rows are dicts, or the columns of a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from fastmetrics.metrics.detection.annotations import Dataset, Detections, GroundTruth
from fastmetrics.metrics.detection.dict_rows import BOX, ID, INTEGER, NUMBER, open_rows

if TYPE_CHECKING:
    from fastmetrics.metrics.detection.masks import Masks

FIELDS = {"image_id": ID, "category_id": ID, "id": INTEGER, "iscrowd": INTEGER, "area": NUMBER, "score": NUMBER}
RESULT = {"image_id": ID, "category_id": ID, "score": NUMBER}


class Source:
    """The rows of one object, and which of them are evaluated."""

    def __init__(
        self, document: Any, name: str, images: Sequence[Any], categories: Sequence[Any], with_boxes: bool
    ) -> None:
        self.listed = not isinstance(document, dict)
        data = (document if self.listed else document.get("annotations")) or []
        self.name = name
        fields = RESULT if self.listed else FIELDS
        self.rows = open_rows(data, fields | ({"bbox": BOX} if with_boxes or self.listed else {}), name)
        places = []
        for field, wanted in (("image_id", images), ("category_id", categories)):
            self.check(self.rows.has(field), field)
            places.append(places_of(self.rows.column(field), wanted))
        self.kept = np.flatnonzero((places[0] >= 0) & (places[1] >= 0))
        self.images, self.categories = places[0][self.kept], places[1][self.kept]

    def check(self, here: np.ndarray, field: str, rows: np.ndarray | None = None) -> None:
        """All of these rows have the field."""
        if not here.all():
            self.refuse(int(np.argmin(here)) if rows is None else int(rows[np.argmin(here)]), f"no {field}")

    def refuse(self, place: int, problem: str) -> NoReturn:
        raise ValueError(f"{self.name} has {problem} at annotation {place}")

    def column(self, field: str, dtype: Any, default: float | None = None) -> np.ndarray:
        """A field of the rows kept; each must have it, unless there is a default."""
        here = self.rows.has(field)[self.kept]
        if default is None:
            self.check(here, field, self.kept)
        elif not here.any():
            return np.full(len(self.kept), default, dtype)
        values: np.ndarray = self.rows.column(field)
        if len(self.kept) < len(values):
            values = values[self.kept]
        values = values.astype(dtype, copy=default is not None)
        if default is not None:
            values[~here] = default
        return values

    def boxes(self) -> np.ndarray:
        boxes = self.column("bbox", np.float64)
        self.check_nan(boxes, "bbox")
        return boxes

    def check_nan(self, values: np.ndarray, field: str) -> None:
        bad = np.isnan(values)
        bad = bad if bad.ndim == 1 else bad.any(axis=1)
        if bad.any():
            self.refuse(int(self.kept[np.argmax(bad)]), f"NaN in {field}")

    def masks(self, sizes: np.ndarray) -> Masks:
        """The masks of the rows kept; of a result without segmentation that of its box."""
        from fastmetrics.metrics.detection.segmentations import read_masks

        every = self.rows.values("segmentation")
        segmentations = [every[place] for place in self.kept.tolist()]
        here = self.rows.has("segmentation")[self.kept]
        if not self.listed:
            self.check(here, "segmentation", self.kept)
        elif not here.all():
            boxes = self.boxes()
            for place in np.flatnonzero(~here).tolist():
                x, y, width, height = boxes[place].tolist()
                segmentations[place] = [[x, y, x, y + height, x + width, y + height, x + width, y]]
        return read_masks(segmentations, sizes[self.images], lambda row: f"{self.name}, annotation {self.kept[row]}")


def places_of(ids: np.ndarray, wanted: Sequence[Any]) -> np.ndarray:
    """The place of each id among those wanted, -1 where it is not."""
    known = np.asarray(wanted)
    if not len(known) or not len(ids):
        return np.full(len(ids), -1, np.int64)
    if ids.dtype.kind not in "iu" or known.dtype.kind not in "iu":
        by_id = {each: place for place, each in enumerate(known.tolist())}
        return np.array([by_id.get(each, -1) for each in ids.tolist()], np.int64)
    order = np.argsort(known, kind="stable")
    ordered = known[order]
    found = np.minimum(np.searchsorted(ordered, ids), len(ordered) - 1)
    places: np.ndarray = np.where(ordered[found] == ids, order[found], -1)
    return places


def read_objects(truth: Any, found: Any, iou_type: str, images: Sequence[Any], categories: Sequence[Any]) -> Dataset:
    """Objects and detections of these images and categories; rows have places in the orders given."""
    with_boxes = iou_type == "bbox"
    objects = Source(truth, "cocoGt", images, categories, with_boxes)
    detections = Source(found, "cocoDt", images, categories, with_boxes)
    crowd = (objects.column("iscrowd", np.int64, 0) != 0).astype(np.uint8)
    scores = detections.column("score", np.float64)
    detections.check_nan(scores, "score")
    truth_masks = found_masks = None
    truth_boxes, found_boxes = np.zeros((len(objects.kept), 4)), np.zeros((len(detections.kept), 4))
    if iou_type == "segm":
        sizes = image_sizes(truth, images)
        truth_masks, found_masks = objects.masks(sizes), detections.masks(sizes)
    else:
        truth_boxes, found_boxes = objects.boxes(), detections.boxes()
    if not isinstance(found, dict):
        found_areas, found_ids = areas_of_results(detections), detections.kept + 1
    else:
        found_areas, found_ids = detections.column("area", np.float64), detections.column("id", np.int64)
    return Dataset(
        np.asarray(images), np.asarray(categories), None, None,
        GroundTruth(
            objects.images, objects.categories, truth_boxes, objects.column("area", np.float64), crowd, crowd,
            objects.column("id", np.int64), truth_masks,
        ),
        Detections(
            detections.images, detections.categories, found_boxes, scores, found_areas, found_ids, found_masks
        ),
    )  # fmt: skip


def areas_of_results(detections: Source) -> np.ndarray:
    boxes = detections.column("bbox", np.float64)
    areas: np.ndarray = boxes[:, 2] * boxes[:, 3]
    return areas


def image_sizes(truth: Any, images: Sequence[Any]) -> np.ndarray:
    """Height and width of the images; -1 where they are not known."""
    rows = open_rows(truth.get("images") or [], {"id": ID, "height": INTEGER, "width": INTEGER}, "cocoGt's images")
    sizes = np.full((len(images), 2), -1, np.int64)
    places = places_of(rows.column("id"), images)
    known = (places >= 0) & rows.has("height") & rows.has("width")
    for axis, field in enumerate(("height", "width")):
        sizes[places[known], axis] = rows.column(field)[known]
    return sizes
