"""Columns of boxes (dicts of arrays, Arrow tables, data frames) -> the checked columns that are matched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import coding, inputs
from fastmetrics._core.coding import Coded
from fastmetrics._kernels.boxes import find_bad_box
from fastmetrics.metrics.detection.annotations import Dataset, Detections, GroundTruth
from fastmetrics.metrics.detection.box_pairs import as_boxes, as_flags, refuse_box
from fastmetrics.metrics.detection.coco_regions import Regions, of_boxes, of_masks
from fastmetrics.metrics.detection.ids import Places, as_wanted_ids, check_finite, check_unique, places_of, sorted_ids
from fastmetrics.metrics.detection.tables import box_numbers, open_table

# A column's names: ours, and that of COCO's files.
NAMES = {
    "image": ("image", "image_id"),
    "category": ("category", "category_id"),
    "box": ("box", "bbox"),
    "crowd": ("crowd", "iscrowd"),
    "mask": ("mask", "segmentation"),
}


class Table(NamedTuple):
    """Columns of a table by name, and what they are called in errors."""

    columns: Mapping[str, Any]
    name: str

    def find(self, wanted: str) -> str | None:
        """The name under which a column stands."""
        names = [name for name in NAMES.get(wanted, (wanted,)) if name in self.columns]
        if len(names) > 1:
            raise ValueError(f"{self.name} has columns {names[0]!r} and {names[1]!r}: one of them is needed")
        return names[0] if names else None

    def take(self, wanted: str) -> tuple[Any, str]:
        """A column that has to be there, and what it is called."""
        name = self.find(wanted)
        if name is None:
            raise ValueError(inputs.no_column(wanted, self.name, list(self.columns)))
        return self.columns[name], f"{self.name}[{name!r}]"

    def take_any(self, wanted: str) -> tuple[Any, str] | None:
        return None if self.find(wanted) is None else self.take(wanted)


class Ids(NamedTuple):
    """Images and categories of the rows."""

    images: Coded
    categories: Coded


def read_dataset(
    truth: Any, found: Any, iou_type: str, categories: Any, images: Any, box: str, n_threads: int | None
) -> Dataset:
    """Ground truth and detections as columns: image, category, box, score; crowd, area, id, ignore if there are any."""
    objects = Table(open_table(truth, "ground_truth"), "ground_truth")
    detected = Table(open_table(found, "detections"), "detections")
    object_ids, found_ids = read_ids(objects), read_ids(detected)
    image_ids = known_ids(object_ids.images, found_ids.images, images, "images", "image")
    category_ids = known_ids(object_ids.categories, found_ids.categories, categories, "categories", "category")
    places = [
        Places.of(codes_in(each.images, image_ids), codes_in(each.categories, category_ids))
        for each in (object_ids, found_ids)
    ]
    masked = iou_type == "segm"
    return Dataset(
        image_ids,
        category_ids,
        None,
        None,
        read_truth(objects, len(object_ids.images.codes), places[0], box, masked, n_threads),
        read_found(detected, len(found_ids.images.codes), places[1], box, masked, n_threads),
    )


def read_known_found(
    data: Any, image_ids: np.ndarray, category_ids: np.ndarray, only_some: tuple[bool, bool], masked: bool, box: str,
    n_threads: int | None,
) -> Detections:  # fmt: skip
    """Detections as columns beside ground truth that says which images and categories there are."""
    table = Table(open_table(data, "detections"), "detections")
    ids = read_ids(table)
    both = []
    known_both = image_ids, category_ids
    for wanted, column, known, some in zip(("image", "category"), ids, known_both, only_some, strict=True):
        places = codes_in(column, known)
        if not some and len(places) and places.min() < 0:
            row = int(np.argmin(places))
            value = column.classes.tolist()[column.codes[row]]
            raise ValueError(
                f"{table.take(wanted)[1]} has {value!r} at row {row}: the ground truth has no such {wanted}"
            )
        both.append(places)
    return read_found(table, len(both[0]), Places.of(*both), box, masked, n_threads)


def read_ids(table: Table) -> Ids:
    images, categories = (code_ids(*table.take(wanted)) for wanted in ("image", "category"))
    check_rows(table, len(images.codes), "category", len(categories.codes))
    return Ids(images, categories)


def check_rows(table: Table, rows: int, wanted: str, n: int) -> None:
    inputs.check_lengths(rows, n, table.take("image")[1], table.take(wanted)[1])


def code_ids(values: Any, name: str) -> Coded:
    """A column of integers or of text, numbered; classes are int64, or objects of text."""
    if hasattr(values, "__len__") and not len(values) and not isinstance(values, str):
        return Coded(np.empty(0, np.int64), np.empty(0, np.int64))
    coded = coding.text_column(values, name)
    if coded is None:
        array = inputs.as_array(values, name)
        if array.ndim != 1:
            raise ValueError(f"{name} must have one dimension; found {array.ndim} (shape {array.shape})")
        coded = code_array(array, name)
    if coded.classes.dtype == np.int64:
        return coded
    classes = np.empty(len(coded.classes), object)
    classes[:] = coded.classes.tolist()
    return Coded(coded.codes, classes)


def code_array(array: np.ndarray, name: str) -> Coded:
    if array.dtype.kind == "T":
        array = array.astype(object)
    if array.dtype.kind == "O":
        if isinstance(array[0], str):
            return coding.code_objects(array, name)
        array = inputs.object_numbers(array, name)
    if array.dtype.kind == "U":
        return coding.code_text(np.ascontiguousarray(array))
    if array.dtype.kind not in "iu":
        raise inputs.InputError(f"{name} has dtype {array.dtype}: ids are integers or text")
    if array.dtype == np.uint64 and int(array.max()) >= 1 << 63:
        raise ValueError(f"{name} has {array.max()} at row {int(np.argmax(array))}: ids must be less than 2**63")
    return coding.code_numbers(np.ascontiguousarray(array, np.int64))


def known_ids(truth: Coded, found: Coded, wanted: Any, option: str, column: str) -> np.ndarray:
    """The ids that are evaluated, sorted: those that are wanted, or all that occur."""
    kinds = {each.classes.dtype for each in (truth, found) if len(each.classes)}
    if len(kinds) > 1:
        raise inputs.InputError(
            f"ground_truth and detections must have ids of one kind in their {column} columns; found integers and text"
        )
    if wanted is not None:
        return as_wanted_ids(wanted, option)
    classes = [each.classes for each in (truth, found) if len(each.classes)]
    return sorted_ids(np.concatenate(classes)) if classes else np.empty(0, np.int64)


def codes_in(column: Coded, known: np.ndarray) -> np.ndarray:
    """The place of each row's id among the known ones, or -1."""
    places = places_of(column.classes, known)
    return places[column.codes] if len(places) else np.empty(0, np.int64)


def read_truth(
    table: Table, rows: int, places: Places, box: str, masked: bool, n_threads: int | None
) -> GroundTruth:
    taken = places.taken
    boxes, areas, masks = read_regions(table, rows, places, box, masked, n_threads)
    crowd, ignore = (
        taken(np.zeros(rows, np.uint8) if column is None else as_flags(column[0], rows, table.name, column[1]))
        for column in (table.take_any("crowd"), table.take_any("ignore"))
    )
    ids = read_numbers(table, rows)
    return GroundTruth(places.images, places.categories, boxes, areas, crowd, crowd | ignore, taken(ids), masks)


def read_found(table: Table, rows: int, places: Places, box: str, masked: bool, n_threads: int | None) -> Detections:
    scores, name = table.take("score")
    scores = read_column(scores, name)
    check_rows(table, rows, "score", len(scores))
    boxes, areas, masks = read_regions(table, rows, places, box, masked, n_threads)
    taken = places.taken
    return Detections(
        places.images, places.categories, boxes, taken(scores), areas, taken(read_numbers(table, rows)), masks
    )


def read_column(values: Any, name: str) -> np.ndarray:
    """Finite numbers as float64, of which there may be none."""
    array = inputs.as_floats(values, name).astype(np.float64, copy=False)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension; found {array.ndim} (shape {array.shape})")
    check_finite(array, name + " has {value} at row {row}: finite numbers are needed")
    return array


def read_numbers(table: Table, rows: int) -> np.ndarray:
    """The column of ids, all different; 1, 2, 3, ... where there is none."""
    column = table.take_any("id")
    if column is None:
        return np.arange(1, rows + 1)
    ids = code_ids(*column)
    check_rows(table, rows, "id", len(ids.codes))
    if len(ids.classes) < rows:
        check_unique(ids.classes[ids.codes], column[1] + " has {value!r} at row {row} and before it: ids must differ")
    return ids.classes[ids.codes] if ids.classes.dtype == np.int64 else np.arange(1, rows + 1)


def read_regions(
    table: Table, rows: int, places: Places, box: str, masked: bool, n_threads: int | None
) -> Regions:
    """Boxes and areas of the rows that are evaluated, and masks where these are compared."""
    values, name = table.take("mask" if masked else "box")
    if masked:
        check_rows(table, rows, "mask", len(values))
        listed = values.to_pylist() if hasattr(values, "to_pylist") else list(values)
        regions = of_masks(listed, places.rows, None, (name + ", row {}").format, n_threads)
    else:
        boxes = read_boxes(values, name, box)
        check_rows(table, rows, "box", len(boxes))
        regions = of_boxes(places.taken(boxes))
    column = table.take_any("area")
    if column is None:
        return regions
    areas = read_column(*column)
    check_rows(table, rows, "area", len(areas))
    return regions._replace(areas=places.taken(areas))


def read_boxes(values: Any, name: str, box: str) -> np.ndarray:
    """Boxes as x, y, width, height."""
    boxes = as_boxes(box_numbers(values, name), name)
    sized = boxes
    if box == "xyxy":
        sized = boxes.copy()
        with np.errstate(invalid="ignore"):
            sized[:, 2:] -= boxes[:, :2]
    row = find_bad_box(sized)
    if row >= 0:
        refuse_box(boxes[row], name, row, box)
    return sized
