"""Columns (dicts of arrays, Arrow tables, data frames) -> Dataset."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from fastmetrics._core.columns import categorical, validation
from fastmetrics._core.columns.categorical import CategoricalColumn
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.detection.group_iou import find_bad_box
from fastmetrics.metrics.detection.box_iou import as_boxes, as_flags, raise_bad_box
from fastmetrics.metrics.detection.coco.tables import InputTable, as_box_matrix
from fastmetrics.metrics.detection.dataset import Dataset, Detections, GroundTruth
from fastmetrics.metrics.detection.ids import (
    SelectedRows,
    check_finite,
    check_id_list,
    check_unique,
    find_indices,
    sorted_ids,
)
from fastmetrics.metrics.detection.masks.segmentations import read_masks
from fastmetrics.metrics.detection.run_length_masks import Masks


class Regions(NamedTuple):
    """Boxes and areas, and masks if masks are compared."""

    boxes: np.ndarray  # float64[n, 4]
    areas: np.ndarray  # float64[n]
    masks: Masks | None


def box_regions(boxes: np.ndarray) -> Regions:
    """Return boxes with their areas."""
    return Regions(boxes, boxes[:, 2] * boxes[:, 3], None)


def mask_regions(
    values: Sequence[Any],
    rows: np.ndarray | None,
    sizes: np.ndarray | None,
    name_of_row: Callable[[int], str],
    n_threads: int | None,
) -> Regions:
    """Read some rows of a column of segmentations (None: all rows), with their bounding boxes and areas.

    `sizes` are those of the images of these rows. `name_of_row` names a row of the column in errors.
    """
    if rows is None:
        masks = read_masks(values, sizes, name_of_row, n_threads)
    else:
        listed = rows.tolist()
        masks = read_masks([values[row] for row in listed], sizes, lambda row: name_of_row(listed[row]), n_threads)
    areas, boxes = masks.measure(n_threads)
    return Regions(boxes, areas.astype(np.float64), masks)


def read_columns(
    truth: Any, detections: Any, iou_type: str, categories: Any, images: Any, box: str, n_threads: int | None
) -> Dataset:
    """Read ground truth and detections as columns.

    The columns are image, category, box (mask) and score, optionally crowd, area, id and ignore.
    """
    truth_table = InputTable.open(truth, "ground_truth")
    detection_table = InputTable.open(detections, "detections")
    truth_ids, detection_ids = read_id_columns(truth_table), read_id_columns(detection_table)
    image_ids = evaluated_ids(truth_ids[0], detection_ids[0], images, "images", "image")
    category_ids = evaluated_ids(truth_ids[1], detection_ids[1], categories, "categories", "category")
    truth_rows, detection_rows = (
        SelectedRows.with_known_ids(indices_in(own_images, image_ids), indices_in(own_categories, category_ids))
        for own_images, own_categories in (truth_ids, detection_ids)
    )
    with_masks = iou_type == "segm"
    return Dataset(
        image_ids,
        category_ids,
        None,
        None,
        read_ground_truth(truth_table, len(truth_ids[0].codes), truth_rows, box, with_masks, n_threads),
        read_detections(detection_table, len(detection_ids[0].codes), detection_rows, box, with_masks, n_threads),
    )


def read_detection_columns(
    data: Any, image_ids: np.ndarray, category_ids: np.ndarray, ids_listed: tuple[bool, bool], with_masks: bool,
    box: str, n_threads: int | None,
) -> Detections:  # fmt: skip
    """Read detections as columns for ground truth that has the lists of images and categories.

    Rows of other images (categories) are dropped if the caller listed the ids, else they are errors.
    """
    table = InputTable.open(data, "detections")
    columns = read_id_columns(table)
    indices_of_column = []
    all_ids = image_ids, category_ids
    for wanted, column, ids, is_listed in zip(("image", "category"), columns, all_ids, ids_listed, strict=True):
        indices = indices_in(column, ids)
        if not is_listed and len(indices) and indices.min() < 0:
            row = int(np.argmin(indices))
            value = column.classes.tolist()[column.codes[row]]
            raise ValueError(
                f"{table.required(wanted)[1]} has {value!r} at row {row}: the ground truth has no such {wanted}"
            )
        indices_of_column.append(indices)
    selected = SelectedRows.with_known_ids(*indices_of_column)
    return read_detections(table, len(indices_of_column[0]), selected, box, with_masks, n_threads)


def read_id_columns(table: InputTable) -> tuple[CategoricalColumn, CategoricalColumn]:
    """Return the image and category ids of all rows, encoded."""
    images, categories = (encode_ids(*table.required(wanted)) for wanted in ("image", "category"))
    check_length(table, len(images.codes), "category", len(categories.codes))
    return images, categories


def check_length(table: InputTable, n_rows: int, wanted: str, length: int) -> None:
    """Check that a column has as many rows as the column of images."""
    validation.check_lengths(n_rows, length, table.required("image")[1], table.required(wanted)[1])


def encode_ids(values: Any, name: str) -> CategoricalColumn:
    """Encode a column of integers or of text; classes are int64, or objects of text."""
    if hasattr(values, "__len__") and not len(values) and not isinstance(values, str):
        return CategoricalColumn(np.empty(0, np.int64), np.empty(0, np.int64))
    encoded = categorical.encode_text_column(values, name)
    if encoded is None:
        array = validation.as_array(values, name)
        validation.check_one_dimension(array, name)
        encoded = encode_array(array, name)
    if encoded.classes.dtype == np.int64:
        return encoded
    return CategoricalColumn(encoded.codes, encoded.classes.astype(object))


def encode_array(array: np.ndarray, name: str) -> CategoricalColumn:
    if array.dtype.kind == "T":
        array = array.astype(object)
    if array.dtype.kind == "O":
        if isinstance(array[0], str):
            return categorical.encode_objects(array, name)
        array = validation.numbers_of_objects(array, name)
    if array.dtype.kind == "U":
        return categorical.encode_text(np.ascontiguousarray(array))
    if array.dtype.kind not in "iu":
        raise validation.InputError(f"{name} has dtype {array.dtype}: ids are integers or text")
    if array.dtype == np.uint64 and int(array.max()) >= 1 << 63:
        raise ValueError(f"{name} has {array.max()} at row {int(np.argmax(array))}: ids must be less than 2**63")
    return categorical.encode_numbers(np.ascontiguousarray(array, np.int64))


def evaluated_ids(
    truth: CategoricalColumn, detections: CategoricalColumn, listed: Any, option: str, column: str
) -> np.ndarray:
    """Return the evaluated ids, sorted: those that the caller listed, or all that occur."""
    kinds = {each.classes.dtype for each in (truth, detections) if len(each.classes)}
    if len(kinds) > 1:
        raise validation.InputError(
            f"ground_truth and detections must have ids of one kind in their {column} columns; found integers and text"
        )
    if listed is not None:
        return check_id_list(listed, option)
    classes = [each.classes for each in (truth, detections) if len(each.classes)]
    return sorted_ids(np.concatenate(classes)) if classes else np.empty(0, np.int64)


def indices_in(column: CategoricalColumn, ids: np.ndarray) -> np.ndarray:
    """Return the index of each row's id in `ids`, or -1."""
    indices = find_indices(column.classes, ids)
    return indices[column.codes] if len(indices) else np.empty(0, np.int64)


def read_ground_truth(
    table: InputTable, n_rows: int, rows: SelectedRows, box: str, with_masks: bool, n_threads: int | None
) -> GroundTruth:
    select = rows.select
    boxes, areas, masks = read_regions(table, n_rows, rows, box, with_masks, n_threads)
    crowd, ignore = (
        select(np.zeros(n_rows, np.uint8) if column is None else as_flags(column[0], n_rows, table.name, column[1]))
        for column in (table.optional("crowd"), table.optional("ignore"))
    )
    ids = read_row_ids(table, n_rows)
    return GroundTruth(rows.images, rows.categories, boxes, areas, crowd, crowd | ignore, select(ids), masks)


def read_detections(
    table: InputTable, n_rows: int, rows: SelectedRows, box: str, with_masks: bool, n_threads: int | None
) -> Detections:
    scores, name = table.required("score")
    scores = read_finite_column(scores, name)
    check_length(table, n_rows, "score", len(scores))
    boxes, areas, masks = read_regions(table, n_rows, rows, box, with_masks, n_threads)
    select = rows.select
    return Detections(
        rows.images, rows.categories, boxes, select(scores), areas, select(read_row_ids(table, n_rows)), masks
    )


def read_finite_column(values: Any, name: str) -> np.ndarray:
    """Return a column of finite numbers as float64; it may be empty."""
    array = validation.as_floats(values, name).astype(np.float64, copy=False)
    validation.check_one_dimension(array, name)
    check_finite(array, name + " has {value} at row {row}: finite numbers are needed")
    return array


def read_row_ids(table: InputTable, n_rows: int) -> np.ndarray:
    """Return the column of ids, all different; 1, 2, 3, ... if there is none or if ids are text."""
    column = table.optional("id")
    if column is None:
        return np.arange(1, n_rows + 1)
    ids = encode_ids(*column)
    check_length(table, n_rows, "id", len(ids.codes))
    if len(ids.classes) < n_rows:
        check_unique(ids.classes[ids.codes], column[1] + " has {value!r} at row {row} and before it: ids must differ")
    return ids.classes[ids.codes] if ids.classes.dtype == np.int64 else np.arange(1, n_rows + 1)


def read_regions(
    table: InputTable, n_rows: int, rows: SelectedRows, box: str, with_masks: bool, n_threads: int | None
) -> Regions:
    """Read the boxes and areas of the evaluated rows, or their masks."""
    values, name = table.required("mask" if with_masks else "box")
    if with_masks:
        check_length(table, n_rows, "mask", len(values))
        listed = values.to_pylist() if hasattr(values, "to_pylist") else list(values)
        regions = mask_regions(listed, rows.rows, None, (name + ", row {}").format, n_threads)
    else:
        boxes = read_boxes(values, name, box)
        check_length(table, n_rows, "box", len(boxes))
        regions = box_regions(rows.select(boxes))
    column = table.optional("area")
    if column is None:
        return regions
    areas = read_finite_column(*column)
    check_length(table, n_rows, "area", len(areas))
    return regions._replace(areas=rows.select(areas))


def read_boxes(values: Any, name: str, box: str) -> np.ndarray:
    """Return boxes as x, y, width, height."""
    boxes = as_boxes(as_box_matrix(values, name), name)
    with_sizes = boxes
    if box == "xyxy":
        with_sizes = boxes.copy()
        with np.errstate(invalid="ignore"):
            with_sizes[:, 2:] -= boxes[:, :2]
    row = find_bad_box(with_sizes)
    if row >= 0:
        raise_bad_box(boxes[row], name, row, box)
    return with_sizes
