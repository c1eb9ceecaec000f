"""Rows of COCO objects -> the columns that are matched, taken as pycocotools takes them.

What is evaluated is said by ids of images and categories: rows of others are left out, and ids may be there that no row
has. Rows are dicts, or the columns of a file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from fastmetrics.metrics.detection.annotations import Dataset, Detections, GroundTruth
from fastmetrics.metrics.detection.coco_files import Records

if TYPE_CHECKING:
    from fastmetrics.metrics.detection.masks import Masks

Rows = list[dict[str, Any]] | Records


class Source:
    """The rows of one object, and which of them are evaluated."""

    def __init__(self, rows: Rows, name: str, images: Sequence[Any], categories: Sequence[Any]) -> None:
        self.rows = rows
        self.name = name
        image_places = places_of(self.every("image_id"), images)
        category_places = places_of(self.every("category_id"), categories)
        self.kept = np.flatnonzero((image_places >= 0) & (category_places >= 0))
        self.images = image_places[self.kept]
        self.categories = category_places[self.kept]

    def every(self, field: str) -> Any:
        """A field of all rows, which all must have."""
        if isinstance(self.rows, Records):
            if not self.rows.has(field).all():
                self.refuse(int(np.argmin(self.rows.has(field))), f"no {field}")
            return self.rows.column(field)
        try:
            return [row[field] for row in self.rows]
        except KeyError:
            place = next(place for place, row in enumerate(self.rows) if field not in row)
        self.refuse(place, f"no {field}")

    def refuse(self, place: int, problem: str) -> NoReturn:
        raise ValueError(f"{self.name} has {problem} at annotation {place}")

    def has(self, field: str) -> np.ndarray:
        """Which of the rows kept have the field?"""
        if isinstance(self.rows, Records):
            return self.rows.has(field)[self.kept]
        return np.array([field in self.rows[place] for place in self.kept.tolist()], bool)

    def column(self, field: str, dtype: Any, default: Any = None) -> np.ndarray:
        """A field of the rows kept; each must have it, unless there is a default."""
        if isinstance(self.rows, Records) and field in self.rows.fields:
            here = self.has(field)
            values = self.rows.column(field)[self.kept].astype(dtype, copy=False)
            if default is not None and not here.all():
                values[~here] = default
            elif not here.all():
                self.refuse(int(self.kept[np.argmin(here)]), f"no {field}")
            return values
        kept = self.kept.tolist()
        if default is not None:
            values = [self.rows[place].get(field, default) for place in kept]
        else:
            try:
                values = [self.rows[place][field] for place in kept]
            except KeyError:
                place = next(place for place in kept if field not in self.rows[place])
                self.refuse(place, f"no {field}")
        return self.as_array(values, field, dtype)

    def as_array(self, values: list[Any], field: str, dtype: Any) -> np.ndarray:
        try:
            array = np.array(values, dtype)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{self.name}: {field} of an annotation is no number: {error}") from None
        return array

    def boxes(self) -> np.ndarray:
        boxes = self.column("bbox", np.float64).reshape(-1, 4)
        self.check_nan(boxes, "bbox")
        return boxes

    def check_nan(self, values: np.ndarray, field: str) -> None:
        bad = np.isnan(values)
        bad = bad if bad.ndim == 1 else bad.any(axis=1)
        if bad.any():
            self.refuse(int(self.kept[np.argmax(bad)]), f"NaN in {field}")

    def masks(self, sizes: np.ndarray) -> Masks:
        """The masks of the rows kept; of one without segmentation that of its box."""
        from fastmetrics.metrics.detection.segmentations import read_masks

        if isinstance(self.rows, Records):
            every = self.rows.values("segmentation")
            segmentations = [every[place] for place in self.kept.tolist()]
        else:
            segmentations = [self.rows[place].get("segmentation") for place in self.kept.tolist()]
        bare = [place for place, value in enumerate(segmentations) if value is None]
        if bare:
            boxes = self.boxes()
            for place in bare:
                x, y, width, height = boxes[place].tolist()
                segmentations[place] = [[x, y, x, y + height, x + width, y + height, x + width, y]]
        return read_masks(segmentations, sizes[self.images], self.name, lambda row: int(self.kept[row]))


def places_of(ids: Any, wanted: Sequence[Any]) -> np.ndarray:
    """The place of each id among those wanted, -1 where it is not."""
    if not len(wanted) or not len(ids):
        return np.full(len(ids), -1, np.int64)
    column, known = np.asarray(ids), np.asarray(wanted)
    if column.dtype.kind not in "iu" or known.dtype.kind not in "iu":
        places = {each: place for place, each in enumerate(known.tolist())}
        return np.array([places.get(each, -1) for each in (ids if isinstance(ids, list) else column.tolist())], np.int64)
    # The first of equal ids counts: a stable order has it first.
    order = np.argsort(known, kind="stable")
    ordered = known[order]
    found = np.minimum(np.searchsorted(ordered, column), len(ordered) - 1)
    return np.where(ordered[found] == column, order[found], -1)


def read_objects(
    truth: Any, found: Any, iou_type: str, images: Sequence[Any], categories: Sequence[Any]
) -> Dataset:
    """Objects and detections of these images and categories; rows have places in the orders given."""
    objects = Source(rows_of(truth), "cocoGt", images, categories)
    detections = Source(rows_of(found), "cocoDt", images, categories)
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
    if isinstance(found, Records):
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
    return boxes[:, 2] * boxes[:, 3]


def rows_of(document: Any) -> Rows:
    rows = document if isinstance(document, Records) else document.get("annotations")
    return [] if rows is None else rows


def image_sizes(truth: Any, images: Sequence[Any]) -> np.ndarray:
    """Height and width of the images; -1 where they are not known."""
    rows = truth.get("images") or []
    sizes = np.full((len(images), 2), -1, np.int64)
    if isinstance(rows, Records):
        places = places_of(rows.column("id"), images)
        both = np.stack((rows.column("height"), rows.column("width")), axis=1)
        known = (places >= 0) & rows.has("height") & rows.has("width")
        sizes[places[known]] = both[known]
        return sizes
    for place, row in zip(places_of([row["id"] for row in rows], images).tolist(), rows, strict=True):
        if place >= 0 and "height" in row and "width" in row:
            sizes[place] = row["height"], row["width"]
    return sizes
