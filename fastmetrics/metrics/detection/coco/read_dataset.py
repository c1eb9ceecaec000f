"""Ground truth and detections of any accepted kind, read into a checked Dataset.

COCO's JSON form, a document of images, annotations and categories, is read here. The document comes from json.load,
from a COCO object or from json_files.py. Columns are read in read_columns.py.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.metrics.detection.coco.coco_index import COCO
from fastmetrics.metrics.detection.coco.dict_records import (
    ANY,
    BOX,
    ID,
    INTEGER,
    NUMBER,
    Records,
    as_records,
    read_sizes,
)
from fastmetrics.metrics.detection.coco.json_files import read_json
from fastmetrics.metrics.detection.coco.read_columns import (
    Regions,
    box_regions,
    mask_regions,
    read_columns,
    read_detection_columns,
)
from fastmetrics.metrics.detection.dataset import Dataset, Detections, GroundTruth
from fastmetrics.metrics.detection.ids import (
    SelectedRows,
    check_boxes,
    check_finite,
    check_id_list,
    check_unique,
    find_indices,
    sorted_ids,
)

DOCUMENT_KEYS = ("images", "annotations", "categories")
ANNOTATION_FIELDS = {"id": ID, "image_id": ID, "category_id": ID, "iscrowd": INTEGER}
RESULT_FIELDS = {"image_id": ID, "category_id": ID, "score": NUMBER}
ANNOTATIONS_NAME = "ground_truth['annotations']"
MAX_LISTED = 10  # categories in an error


class EvaluatedIds(NamedTuple):
    """The ids that are evaluated. Rows of other ids are dropped if the caller listed the ids, else they are errors."""

    images: np.ndarray
    categories: np.ndarray
    images_listed: bool
    categories_listed: bool

def read_dataset(
    ground_truth: Any,
    detections: Any,
    *,
    iou_type: str = "bbox",
    categories: Any = None,
    images: Any = None,
    box: str = "xywh",
    with_areas: bool = True,
    n_threads: int | None = None,
) -> Dataset:
    """Read and check ground truth and detections.

    Without `with_areas` the areas of COCO's annotations are not read, so they may be absent: areas are those of boxes.
    """
    truth, detected = load_input(ground_truth, "ground_truth"), load_input(detections, "detections")
    if not is_coco(truth):
        return read_columns(truth, detected, iou_type, categories, images, box, n_threads)
    return read_annotations(truth, detected, iou_type, categories, images, box, with_areas, n_threads)


def load_input(data: Any, name: str) -> Any:
    """Replace a path by the content of its file and a COCO object by its data set; return other input unchanged."""
    if isinstance(data, COCO):
        return data.document()
    if isinstance(data, (str, os.PathLike)):
        return read_json(data, name)
    return data.dataset if hasattr(data, "dataset") else data


def read_annotations(
    truth: Any, detections: Any, iou_type: str, categories: Any, images: Any, box: str, with_areas: bool,
    n_threads: int | None,
) -> Dataset:  # fmt: skip
    """Read ground truth in COCO's form, and detections as a list of results, such a document, or columns."""
    if box != "xywh":
        raise validation.OptionError(f'box must be "xywh" where ground_truth is COCO\'s; found {box!r}')
    for key in DOCUMENT_KEYS:
        if key not in truth:
            raise ValueError(f"ground_truth has no {key!r}: a COCO data set is a dict of {', '.join(DOCUMENT_KEYS)}")
    with_masks = iou_type == "segm"
    image_fields = {"id": ID, "height": INTEGER, "width": INTEGER} if with_masks else {"id": ID}
    image_records = as_records(truth["images"], image_fields, "ground_truth['images']")
    all_images = read_unique_ids(image_records, "ground_truth['images']")
    category_records = as_records(truth["categories"], {"id": ID, "name": ANY}, "ground_truth['categories']")
    all_categories = read_unique_ids(category_records, "ground_truth['categories']")
    names = dict(zip(all_categories.tolist(), category_records.values("name"), strict=True))
    ids = EvaluatedIds(
        sorted_ids(all_images) if images is None else check_id_list(images, "images"),
        sorted_ids(all_categories) if categories is None else listed_categories(categories, names),
        images is not None,
        categories is not None,
    )
    sizes = read_sizes(image_records, find_indices(all_images, ids.images), len(ids.images)) if with_masks else None
    ground_truth = read_ground_truth(truth["annotations"], ids, sizes, with_areas, n_threads)
    return Dataset(
        ids.images,
        ids.categories,
        [str(each if names.get(each) is None else names[each]) for each in ids.categories.tolist()],
        sizes,
        ground_truth,
        (
            read_results(detections, ids, sizes, n_threads)
            if isinstance(detections, (list, tuple)) or hasattr(detections, "has") or is_coco(detections)
            else read_detection_columns(
                detections, ids.images, ids.categories, (ids.images_listed, ids.categories_listed), with_masks, box,
                n_threads,
            )
        ),
    )  # fmt: skip


def listed_categories(listed: Any, names: Mapping[Any, Any]) -> np.ndarray:
    """The ids of the categories that the caller lists, by id or by name."""
    ids = {name: each for each, name in names.items() if isinstance(name, str)}
    found = []
    for each in check_id_list(listed, "categories").tolist():
        if each not in names and each not in ids:
            known = ", ".join(f"{own!r} ({name})" for own, name in list(names.items())[:MAX_LISTED])
            raise ValueError(f"categories has {each!r}, which is no category of ground_truth; it has {known}")
        found.append(each if each in names else ids[each])
    return check_id_list(found, "categories")


def is_coco(data: Any) -> bool:
    """Return whether data is a dict in the form of COCO's JSON files. Other input should be columns."""
    return isinstance(data, Mapping) and ("annotations" in data or "images" in data)


def read_unique_ids(records: Records, name: str) -> np.ndarray:
    check_fields(records, ["id"], name)
    ids = records.column("id")
    check_unique(ids, f"{name}[{{row}}] has the id {{value!r}} of an earlier one: ids must differ")
    return ids


def check_fields(records: Records, fields: list[str], name: str) -> None:
    """Raise an error for the first row without one of the fields."""
    for field in fields:
        has = records.has(field)
        if not has.all():
            raise ValueError(f"{name}[{int(np.argmin(has))}] has no {field!r}")


def read_ground_truth(
    data: Any, ids: EvaluatedIds, sizes: np.ndarray | None, with_areas: bool, n_threads: int | None
) -> GroundTruth:
    """Read annotations, with masks if `sizes` of images are given, else with boxes.

    An annotation without an area has that of its mask, or of its box where boxes are read.
    """
    area = {"area": NUMBER} if with_areas else {}
    region = {"bbox": BOX} if sizes is None else {"segmentation": ANY}
    records = as_records(data, ANNOTATION_FIELDS | area | region, ANNOTATIONS_NAME)
    check_fields(records, ["id", "image_id", "category_id", *region], ANNOTATIONS_NAME)
    annotation_ids = records.column("id")
    check_unique(annotation_ids, ANNOTATIONS_NAME + "[{row}] has the id {value!r} of an earlier one: ids must differ")
    rows = select_rows(records, ids, ANNOTATIONS_NAME)
    crowd = (records.column("iscrowd") != 0).astype(np.uint8)
    boxes, areas, masks = read_regions(records, rows, sizes, ANNOTATIONS_NAME, n_threads)
    select = rows.select
    if with_areas:
        given, is_given = records.column("area"), records.has("area")
        check_finite(
            np.where(is_given, given, 0.0), ANNOTATIONS_NAME + "[{row}]['area'] is {value}: finite numbers are needed"
        )
        areas = np.where(select(is_given), select(given), areas)
    return GroundTruth(
        rows.images, rows.categories, boxes, areas, select(crowd), select(crowd), select(as_numbers(annotation_ids)),
        masks,
    )  # fmt: skip


def read_results(data: Any, ids: EvaluatedIds, sizes: np.ndarray | None, n_threads: int | None) -> Detections:
    """Read a list of results, or a document whose annotations may have areas and ids.

    The areas of results are those of their boxes, or of their masks if they have no boxes.
    """
    name, is_list = "detections", True
    if isinstance(data, Mapping):
        if "annotations" not in data:
            raise ValueError("detections has no 'annotations': a list of results, or a dict with such a list is needed")
        name, is_list, data = "detections['annotations']", False, data["annotations"]
    fields = RESULT_FIELDS if is_list else RESULT_FIELDS | {"area": NUMBER, "id": ID}
    records = as_records(data, fields | {"bbox": BOX}, name)
    # As in pycocotools: if the first result has a box, areas are those of boxes even if masks are compared, and a
    # result without a mask has the mask of its box.
    with_boxes = len(records) == 0 or bool(records.has("bbox")[0])
    with_boxes = with_boxes or not (sizes is not None or records.has("segmentation")[0])
    check_fields(records, ["image_id", "category_id", "score", "bbox" if with_boxes else "segmentation"], name)
    rows = select_rows(records, ids, name)
    scores = records.column("score")
    check_finite(scores, name + "[{row}]['score'] is {value}: finite numbers are needed")
    if with_boxes:
        boxes, areas, masks = read_box_regions(records, rows, name)
        if sizes is not None:
            masks = read_regions(records, rows, sizes, name, n_threads).masks
    else:
        # Results with masks alone get boxes and areas from the masks, also if boxes are compared.
        unknown_sizes = np.full((len(ids.images), 2), -1, np.int64)
        boxes, areas, masks = read_regions(records, rows, unknown_sizes if sizes is None else sizes, name, n_threads)
    select = rows.select
    detection_ids = np.arange(1, len(records) + 1)
    if not is_list:
        if len(records) and records.has("id").all():
            detection_ids = as_numbers(records.column("id"))
            check_unique(detection_ids, name + "[{row}] has the id {value!r} of an earlier one: ids must differ")
        if records.has("area").all():
            check_finite(records.column("area"), name + "[{row}]['area'] is {value}: finite numbers are needed")
            areas = select(records.column("area"))
    return Detections(rows.images, rows.categories, boxes, select(scores), areas, select(detection_ids), masks)


def read_regions(
    records: Records, rows: SelectedRows, sizes: np.ndarray | None, name: str, n_threads: int | None
) -> Regions:
    """Read the boxes of the evaluated rows; with `sizes` of images, their masks."""
    if sizes is None:
        return read_box_regions(records, rows, name)
    name_of_row = (name + "[{}]['segmentation']").format
    return mask_regions(list_segmentations(records), rows.rows, sizes[rows.images], name_of_row, n_threads)


def list_segmentations(records: Records) -> list[Any]:
    """Return the segmentations of all rows; the rectangle of the box for a row without one."""
    has = records.has("segmentation")
    if has.all():
        return records.values("segmentation")
    values = records.values("segmentation") if has.any() else [None] * len(records)
    boxes = records.column("bbox")
    for row in np.flatnonzero(~has).tolist():
        x, y, width, height = boxes[row].tolist()
        values[row] = [[x, y, x, y + height, x + width, y + height, x + width, y]]
    return values


def read_box_regions(records: Records, rows: SelectedRows, name: str) -> Regions:
    boxes = records.column("bbox")
    check_boxes(boxes, name + "[{row}]['bbox']")
    return box_regions(rows.select(boxes))


def as_numbers(ids: np.ndarray) -> np.ndarray:
    """Return ids as int64: numbers from 1 on instead of text."""
    return ids if ids.dtype == np.int64 else np.arange(1, len(ids) + 1)


def select_rows(records: Records, ids: EvaluatedIds, name: str) -> SelectedRows:
    """Find the image and category of each row. Drop rows of unlisted ids; raise an error if no ids were listed."""
    indices_of_field = []
    for field, evaluated_ids, is_listed in (
        ("image_id", ids.images, ids.images_listed),
        ("category_id", ids.categories, ids.categories_listed),
    ):
        values = records.column(field)
        indices = find_indices(values, evaluated_ids)
        if not is_listed and len(indices) and indices.min() < 0:
            row = int(np.argmin(indices))
            what = "image" if field == "image_id" else "category"
            value = values[row : row + 1].tolist()[0]
            raise ValueError(f"{name}[{row}]['{field}'] is {value!r}: the ground truth has no such {what}")
        indices_of_field.append(indices)
    return SelectedRows.with_known_ids(*indices_of_field)
