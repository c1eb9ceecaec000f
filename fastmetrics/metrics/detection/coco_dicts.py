"""COCO's JSON, as json.load gives it, as a COCO object holds it or as our own reader does -> checked columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import inputs
from fastmetrics.metrics.detection.annotations import Dataset, Detections, GroundTruth, is_coco
from fastmetrics.metrics.detection.coco_columns import read_known_found
from fastmetrics.metrics.detection.coco_regions import Regions, of_boxes, of_masks
from fastmetrics.metrics.detection.dict_rows import ANY, BOX, ID, INTEGER, NUMBER, Rows, open_rows
from fastmetrics.metrics.detection.ids import (
    Places,
    as_wanted_ids,
    check_boxes,
    check_finite,
    check_unique,
    places_of,
    sorted_ids,
)

DATASET = ("images", "annotations", "categories")
OBJECT = {"id": ID, "image_id": ID, "category_id": ID, "iscrowd": INTEGER}
FOUND = {"image_id": ID, "category_id": ID, "score": NUMBER}
TRUTH_NAME = "ground_truth['annotations']"


class Known(NamedTuple):
    """The ids of a file: what is evaluated, and whether rows of other ids are left out or errors."""

    images: np.ndarray
    categories: np.ndarray
    only_some_images: bool
    only_some_categories: bool


def read_dataset(
    truth: Any, found: Any, iou_type: str, categories: Any, images: Any, box: str, with_areas: bool,
    n_threads: int | None,
) -> Dataset:  # fmt: skip
    """Ground truth as a dict of images, annotations and categories; detections as a list, such a dict, or columns."""
    if box != "xywh":
        raise inputs.OptionError(f'box must be "xywh" where ground_truth is COCO\'s; found {box!r}')
    for key in DATASET:
        if key not in truth:
            raise ValueError(f"ground_truth has no {key!r}: a COCO data set is a dict of {', '.join(DATASET)}")
    masked = iou_type == "segm"
    image_fields = {"id": ID, "height": INTEGER, "width": INTEGER} if masked else {"id": ID}
    image_rows = open_rows(truth["images"], image_fields, "ground_truth['images']")
    file_images = unique_ids(image_rows, "ground_truth['images']")
    category_rows = open_rows(truth["categories"], {"id": ID, "name": ANY}, "ground_truth['categories']")
    file_categories = unique_ids(category_rows, "ground_truth['categories']")
    known = Known(
        sorted_ids(file_images) if images is None else as_wanted_ids(images, "images"),
        sorted_ids(file_categories) if categories is None else as_wanted_ids(categories, "categories"),
        images is not None,
        categories is not None,
    )
    sizes = sizes_of(image_rows, file_images, known.images) if masked else None
    names = dict(zip(file_categories.tolist(), category_rows.values("name"), strict=True))
    objects = read_truth(truth["annotations"], known, sizes, with_areas, n_threads)
    return Dataset(
        known.images,
        known.categories,
        [str(each if names.get(each) is None else names[each]) for each in known.categories.tolist()],
        sizes,
        objects,
        (
            read_found(found, known, sizes, n_threads)
            if is_listed(found)
            else columns_found(found, known, masked, box, n_threads)
        ),
    )


def is_listed(found: Any) -> bool:
    """Are they a list of results, or a dict with one? Else they should be columns."""
    return isinstance(found, (list, tuple)) or hasattr(found, "has") or is_coco(found)


def columns_found(found: Any, known: Known, masked: bool, box: str, n_threads: int | None) -> Detections:
    only_some = known.only_some_images, known.only_some_categories
    return read_known_found(found, known.images, known.categories, only_some, masked, box, n_threads)


def unique_ids(rows: Rows, name: str) -> np.ndarray:
    require(rows, ["id"], name)
    ids = rows.column("id")
    check_unique(ids, f"{name}[{{row}}] has the id {{value!r}} of an earlier one: ids must differ")
    return ids


def require(rows: Rows, fields: list[str], name: str) -> None:
    """All rows have these fields."""
    for field in fields:
        has = rows.has(field)
        if not has.all():
            raise ValueError(f"{name}[{int(np.argmin(has))}] has no {field!r}")


def sizes_of(rows: Rows, ids: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Height and width of each image, -1 where the file does not say."""
    sizes = np.full((len(wanted), 2), -1, np.int64)
    places = places_of(ids, wanted)
    inside = places >= 0
    for column, field in enumerate(("height", "width")):
        has = rows.has(field)
        if has.any():
            sizes[places[inside], column] = np.where(has, rows.column(field), -1)[inside]
    return sizes


def read_truth(
    data: Any, known: Known, sizes: np.ndarray | None, with_areas: bool, n_threads: int | None
) -> GroundTruth:
    area = {"area": NUMBER} if with_areas else {}
    region = {"bbox": BOX} if sizes is None else {"segmentation": ANY}
    rows = open_rows(data, OBJECT | area | region, TRUTH_NAME)
    require(rows, ["id", "image_id", "category_id", *area, *region], TRUTH_NAME)
    ids = rows.column("id")
    check_unique(ids, TRUTH_NAME + "[{row}] has the id {value!r} of an earlier one: ids must differ")
    places = find_places(rows, known, TRUTH_NAME)
    crowd = (rows.column("iscrowd") != 0).astype(np.uint8)
    boxes, areas, masks = regions(rows, places, sizes, TRUTH_NAME, n_threads)
    taken = places.taken
    if with_areas:
        areas = rows.column("area")
        check_finite(areas, TRUTH_NAME + "[{row}]['area'] is {value}: finite numbers are needed")
        areas = taken(areas)
    return GroundTruth(
        places.images, places.categories, boxes, areas, taken(crowd), taken(crowd), taken(numbers_of(ids)), masks
    )


def read_found(data: Any, known: Known, sizes: np.ndarray | None, n_threads: int | None) -> Detections:
    """Results, whose areas are those of their boxes (of their masks where they have none); or a data set with areas."""
    name, listed = "detections", True
    if isinstance(data, Mapping):
        if "annotations" not in data:
            raise ValueError("detections has no 'annotations': a list of results, or a dict with such a list is needed")
        name, listed, data = "detections['annotations']", False, data["annotations"]
    fields = FOUND if listed else FOUND | {"area": NUMBER, "id": ID}
    rows = open_rows(data, fields | {"bbox": BOX}, name)
    # As pycocotools has it: where the first result has a box, areas are those of boxes though masks are compared, and
    # a result without a mask is its box.
    boxed = len(rows) == 0 or bool(rows.has("bbox")[0]) or not (sizes is not None or rows.has("segmentation")[0])
    require(rows, ["image_id", "category_id", "score", "bbox" if boxed else "segmentation"], name)
    places = find_places(rows, known, name)
    scores = rows.column("score")
    check_finite(scores, name + "[{row}]['score'] is {value}: finite numbers are needed")
    if boxed:
        boxes, areas, masks = box_regions(rows, places, name)
        if sizes is not None:
            masks = regions(rows, places, sizes, name, n_threads).masks
    else:
        # Results of masks alone have the boxes and areas of these, also where boxes are compared.
        unsized = np.full((len(known.images), 2), -1, np.int64)
        boxes, areas, masks = regions(rows, places, unsized if sizes is None else sizes, name, n_threads)
    taken = places.taken
    ids = np.arange(1, len(rows) + 1)
    if not listed:
        if len(rows) and rows.has("id").all():
            ids = numbers_of(rows.column("id"))
            check_unique(ids, name + "[{row}] has the id {value!r} of an earlier one: ids must differ")
        if rows.has("area").all():
            check_finite(rows.column("area"), name + "[{row}]['area'] is {value}: finite numbers are needed")
            areas = taken(rows.column("area"))
    return Detections(places.images, places.categories, boxes, taken(scores), areas, taken(ids), masks)


def regions(rows: Rows, places: Places, sizes: np.ndarray | None, name: str, n_threads: int | None) -> Regions:
    """The boxes of the rows that are evaluated; their masks where there are sizes of images."""
    if sizes is None:
        return box_regions(rows, places, name)
    own_name = (name + "[{}]['segmentation']").format
    return of_masks(segmentations(rows), places.rows, sizes[places.images], own_name, n_threads)


def segmentations(rows: Rows) -> list[Any]:
    """Those of all rows; of a row without one the rectangle of its box."""
    has = rows.has("segmentation")
    if has.all():
        return rows.values("segmentation")
    values = rows.values("segmentation") if has.any() else [None] * len(rows)
    boxes = rows.column("bbox")
    for row in np.flatnonzero(~has).tolist():
        x, y, width, height = boxes[row].tolist()
        values[row] = [[x, y, x, y + height, x + width, y + height, x + width, y]]
    return values


def box_regions(rows: Rows, places: Places, name: str) -> Regions:
    boxes = rows.column("bbox")
    check_boxes(boxes, name + "[{row}]['bbox']")
    return of_boxes(places.taken(boxes))


def numbers_of(ids: np.ndarray) -> np.ndarray:
    """Ids as int64; of ids that are text, their places from 1 on."""
    return ids if ids.dtype == np.int64 else np.arange(1, len(ids) + 1)


def find_places(rows: Rows, known: Known, name: str) -> Places:
    """The places of each row's image and category. Rows of others are left out, or refused if all ids are wanted."""
    found = []
    for field, ids, only_some in (
        ("image_id", known.images, known.only_some_images),
        ("category_id", known.categories, known.only_some_categories),
    ):
        values = rows.column(field)
        places = places_of(values, ids)
        if not only_some and len(places) and places.min() < 0:
            row = int(np.argmin(places))
            what = "image" if field == "image_id" else "category"
            value = values[row : row + 1].tolist()[0]
            raise ValueError(f"{name}[{row}]['{field}'] is {value!r}: the ground truth has no such {what}")
        found.append(places)
    return Places.of(*found)
