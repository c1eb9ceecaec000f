"""What the rule of Pascal VOC is asked about, from any source: objects, difficult ones, detections, as columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import inputs
from fastmetrics.metrics.detection import voc_files
from fastmetrics.metrics.detection.annotations import Dataset, is_coco, load, open_coco
from fastmetrics.metrics.detection.box_pairs import as_boxes, as_flags, lay_out, pixel_border
from fastmetrics.metrics.detection.coco_columns import Table
from fastmetrics.metrics.detection.coco_files import Records
from fastmetrics.metrics.detection.tables import box_numbers, open_table

# Which key of an annotation in COCO's form says that an object is difficult: the first that is there.
FLAGS = ("difficult", "ignore", "iscrowd")
COLUMNS = ("difficult", "ignore", "crowd", "iscrowd")
LISTED = 20  # classes that an error names


class Boxes(NamedTuple):
    """Objects and detections, classes and images as places in lists."""

    dataset: Dataset
    difficult: np.ndarray  # uint8, of objects
    truth_boxes: np.ndarray  # float64[5, n]: corners and areas
    found_boxes: np.ndarray
    wanted: np.ndarray | None  # bool, of images
    n_images: int


def read_boxes(truth: Any, found: Any, box: str | None, pixel_boxes: bool | None, images: Any) -> tuple[Boxes, float]:
    """Everything as columns, and what is added to differences of corners."""
    of_files, known = False, None
    if voc_files.is_voc(truth):
        of_files = True
        truth, known = voc_files.read_annotations(truth)
    else:
        truth = load(truth, "ground_truth")
    if voc_files.is_voc(found):
        of_files = True
        if is_coco(truth):
            raise ValueError("detections are VOC's files, ground_truth is COCO's JSON, with other names of classes")
        found = voc_files.read_results(found, class_names(truth))
    form = box or ("xywh" if is_coco(truth) else "xyxy")
    if of_files and form != "xyxy":
        raise inputs.OptionError('box must be "xyxy" for the files of VOC: they have corners')
    border = pixel_border(form, of_files if pixel_boxes is None else pixel_boxes)
    dataset = open_coco(truth, found, box=form, with_areas=False)
    if known is None and is_coco(truth):
        known = dataset.image_ids.tolist()
    wanted, n_images = wanted_images(dataset, images, known)
    boxes = Boxes(
        dataset,
        difficult_objects(truth, len(dataset.truth.images)),
        laid_out(truth, "ground_truth", dataset.truth.boxes, form, border),
        laid_out(found, "detections", dataset.found.boxes, form, border),
        wanted,
        n_images,
    )
    return boxes, border


def laid_out(data: Any, name: str, boxes: np.ndarray, form: str, border: float) -> np.ndarray:
    """Boxes as kernels read them: corners of columns as they came, for a size made of them would be rounded."""
    if form == "xywh" or isinstance(data, (list, tuple, Records)) or is_coco(data):
        return lay_out(boxes, name, "xywh", border)
    values, column = Table(open_table(data, name), name).take("box")
    return lay_out(as_boxes(box_numbers(values, column), column), column, form, border)


def class_names(truth: Any) -> list[str]:
    """The classes of annotations in columns."""
    columns = open_table(truth, "ground_truth")
    if "category" not in columns:
        raise ValueError(inputs.no_column("category", "ground_truth", list(columns)))
    return sorted({str(name) for name in inputs.as_array(columns["category"], "ground_truth['category']").tolist()})


def difficult_objects(truth: Any, n_objects: int) -> np.ndarray:
    """Which objects are marked as difficult."""
    if is_coco(truth):
        rows, flags = truth.get("annotations", []), np.zeros(n_objects, np.int64)
        if isinstance(rows, Records):
            for key in reversed(FLAGS):
                flags = np.where(rows.has(key), rows.column(key), flags)
        else:
            flags = np.array([next((row[key] for key in FLAGS if key in row), 0) for row in rows])
        return as_flags(flags, n_objects, "annotations", "ground_truth annotations' mark of difficult objects")
    columns = open_table(truth, "ground_truth")
    name = next((name for name in COLUMNS if name in columns), None)
    if name is None:
        return np.zeros(n_objects, np.uint8)
    return as_flags(columns[name], n_objects, "ground_truth['image']", f"ground_truth[{name!r}]")


def wanted_images(dataset: Dataset, images: Any, known: list[Any] | None) -> tuple[np.ndarray | None, int]:
    """Which images of the data set are evaluated (None: all), and how many there are. known: those with annotations."""
    ids = dataset.image_ids.tolist()
    if images is None:
        if known is not None:
            check_known(ids, known)
        return None, len(ids) if known is None else len(known)
    wanted = voc_files.read_image_set(images) if voc_files.is_path(images) else as_list(images, "images")
    chosen = set(wanted)
    lacking = chosen.difference(chosen if known is None else known)
    if lacking:
        raise ValueError(f"images has {min(lacking, key=wanted.index)!r}, of which ground_truth knows nothing")
    return np.array([own in chosen for own in ids], bool), len(chosen)


def as_list(values: Any, name: str) -> list[Any]:
    """Ids that the caller lists."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise inputs.OptionError(f"{name} must be a list; found {values!r}")
    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if not listed:
        raise ValueError(f"{name} is empty: at least one is needed")
    for own in listed:
        if not isinstance(own, (int, str, np.integer)):
            raise inputs.OptionError(f"{name} has {own!r}: ids are integers or text")
    return listed


def check_known(ids: list[Any], known: list[Any]) -> None:
    strangers = set(ids).difference(known)
    if strangers:
        raise ValueError(
            f"detections have {len(strangers):,} image{'s' * (len(strangers) > 1)} without annotations, the first is "
            f"{min(strangers)!r}; say images= if fewer are to be evaluated"
        )


def names_of(dataset: Dataset) -> list[Any]:
    """Classes by name where names tell them apart, else by id."""
    names = dataset.category_names
    return names if names and len(set(names)) == len(names) else dataset.category_ids.tolist()


def wanted_places(names: list[Any], dataset: Dataset, categories: Any) -> list[int]:
    """The places of the classes to evaluate, which may be given by name or id."""
    if categories is None:
        return list(range(len(names)))
    places = {own: place for place, own in enumerate(dataset.category_ids.tolist())}
    places |= {own: place for place, own in enumerate(names)}
    wanted = as_list(categories, "categories")
    for own in wanted:
        if own not in places:
            known = ", ".join(map(repr, names[:LISTED]))
            raise ValueError(f"categories has {own!r}, which is no class of the data: {known}")
    return list(dict.fromkeys(places[own] for own in wanted))
