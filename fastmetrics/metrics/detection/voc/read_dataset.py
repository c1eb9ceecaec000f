"""Ground truth and detections of any source -> the data that Pascal VOC's rule evaluates."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.metrics.detection.box_iou import as_boxes, as_flags, corner_columns, pixel_border
from fastmetrics.metrics.detection.coco.json_files import JsonRecords
from fastmetrics.metrics.detection.coco.read_dataset import is_coco, load_input, read_dataset
from fastmetrics.metrics.detection.coco.tables import InputTable, as_box_matrix, open_table
from fastmetrics.metrics.detection.dataset import Dataset
from fastmetrics.metrics.detection.voc import devkit_files

# The first of these keys or columns that is present marks difficult objects.
DIFFICULT_KEYS = ("difficult", "ignore", "iscrowd")
DIFFICULT_COLUMNS = ("difficult", "ignore", "crowd", "iscrowd")
MAX_CLASSES_IN_ERROR = 20


class VocData(NamedTuple):
    """Objects and detections, with boxes in the layout of the VOC kernels."""

    dataset: Dataset
    difficult: np.ndarray  # uint8: flags of the objects
    truth_boxes: np.ndarray  # float64[5, n]: two corners and the area
    detection_boxes: np.ndarray  # float64[5, m]
    evaluated_images: np.ndarray | None  # bool: flags of the images; None if all are evaluated
    n_images: int


def read_voc_data(
    truth: Any, detections: Any, box: str | None, pixel_boxes: bool | None, images: Any
) -> tuple[VocData, float]:
    """Return the data, and the number that is added to differences of corners."""
    from_devkit, annotated_images = False, None
    if devkit_files.is_devkit_path(truth):
        from_devkit = True
        truth, annotated_images = devkit_files.read_annotations(truth)
    else:
        truth = load_input(truth, "ground_truth")
    if devkit_files.is_devkit_path(detections):
        from_devkit = True
        if is_coco(truth):
            raise ValueError("detections are VOC's files, ground_truth is COCO's JSON: their class names differ")
        detections = devkit_files.read_results(detections, list_class_names(truth))
    form = box or ("xywh" if is_coco(truth) else "xyxy")
    if from_devkit and form != "xyxy":
        raise validation.OptionError('box must be "xyxy" for the files of VOC: they have corners')
    border = pixel_border(form, from_devkit if pixel_boxes is None else pixel_boxes)
    dataset = read_dataset(truth, detections, box=form, with_areas=False)
    if annotated_images is None and is_coco(truth):
        annotated_images = dataset.image_ids.tolist()
    evaluated_images, n_images = select_images(dataset, images, annotated_images)
    data = VocData(
        dataset,
        read_difficult(truth, len(dataset.ground_truth.images)),
        read_corners(truth, "ground_truth", dataset.ground_truth.boxes, form, border),
        read_corners(detections, "detections", dataset.detections.boxes, form, border),
        evaluated_images,
        n_images,
    )
    return data, border


def read_corners(data: Any, name: str, boxes: np.ndarray, form: str, border: float) -> np.ndarray:
    """Return boxes in the layout of the kernels.

    Corners of columns are read again: corners computed from a corner and a size would be rounded.
    """
    if form == "xywh" or isinstance(data, (list, tuple, JsonRecords)) or is_coco(data):
        return corner_columns(boxes, name, "xywh", border)
    values, column = InputTable.open(data, name).required("box")
    return corner_columns(as_boxes(as_box_matrix(values, column), column), column, form, border)


def list_class_names(truth: Any) -> list[str]:
    """Return the class names of ground truth in columns."""
    columns = open_table(truth, "ground_truth")
    if "category" not in columns:
        raise ValueError(validation.missing_column_text("category", "ground_truth", list(columns)))
    return sorted({str(name) for name in validation.as_array(columns["category"], "ground_truth['category']").tolist()})


def read_difficult(truth: Any, n_objects: int) -> np.ndarray:
    """Return the flags of difficult objects."""
    if is_coco(truth):
        rows, flags = truth.get("annotations", []), np.zeros(n_objects, np.int64)
        if isinstance(rows, JsonRecords):
            for key in reversed(DIFFICULT_KEYS):
                flags = np.where(rows.has(key), rows.column(key), flags)
        else:
            flags = np.array([next((row[key] for key in DIFFICULT_KEYS if key in row), 0) for row in rows])
        return as_flags(flags, n_objects, "annotations", "ground_truth annotations' mark of difficult objects")
    columns = open_table(truth, "ground_truth")
    name = next((name for name in DIFFICULT_COLUMNS if name in columns), None)
    if name is None:
        return np.zeros(n_objects, np.uint8)
    return as_flags(columns[name], n_objects, "ground_truth['image']", f"ground_truth[{name!r}]")


def select_images(
    dataset: Dataset, images: Any, annotated_images: list[Any] | None
) -> tuple[np.ndarray | None, int]:
    """Return flags of the images to evaluate (None: all), and their number.

    `annotated_images` are the ids of the images with annotations, None if the source does not list them.
    """
    ids = dataset.image_ids.tolist()
    if images is None:
        if annotated_images is not None:
            check_annotated(ids, annotated_images)
        return None, len(ids) if annotated_images is None else len(annotated_images)
    listed = devkit_files.read_image_set(images) if devkit_files.is_path(images) else as_id_list(images, "images")
    evaluated = set(listed)
    unknown = evaluated.difference(evaluated if annotated_images is None else annotated_images)
    if unknown:
        raise ValueError(f"images has {min(unknown, key=listed.index)!r}, which ground_truth does not have")
    return np.array([each in evaluated for each in ids], bool), len(evaluated)


def as_id_list(values: Any, name: str) -> list[Any]:
    """Return the ids that the caller lists."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise validation.OptionError(f"{name} must be a list; found {values!r}")
    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if not listed:
        raise ValueError(f"{name} is empty: at least one is needed")
    for each in listed:
        if not isinstance(each, (int, str, np.integer)):
            raise validation.OptionError(f"{name} has {each!r}: ids are integers or text")
    return listed


def check_annotated(ids: list[Any], annotated_images: list[Any]) -> None:
    """Raise an error if detections have images that the ground truth does not list."""
    unknown = set(ids).difference(annotated_images)
    if unknown:
        raise ValueError(
            f"detections have {len(unknown):,} image{'s' * (len(unknown) > 1)} without annotations, the first is "
            f"{min(unknown)!r}; pass images= to evaluate fewer"
        )


def class_labels(dataset: Dataset) -> list[Any]:
    """Return the labels of the classes: their names if these are all different, else their ids."""
    names = dataset.category_names
    return names if names and len(set(names)) == len(names) else dataset.category_ids.tolist()


def select_classes(labels: list[Any], dataset: Dataset, categories: Any) -> list[int]:
    """Return the indices of the classes to evaluate. The caller may list names or ids."""
    if categories is None:
        return list(range(len(labels)))
    indices = {each: index for index, each in enumerate(dataset.category_ids.tolist())}
    indices |= {each: index for index, each in enumerate(labels)}
    listed = as_id_list(categories, "categories")
    for each in listed:
        if each not in indices:
            known = ", ".join(map(repr, labels[:MAX_CLASSES_IN_ERROR]))
            raise ValueError(f"categories has {each!r}, which is no class of the data: {known}")
    return list(dict.fromkeys(indices[each] for each in listed))
