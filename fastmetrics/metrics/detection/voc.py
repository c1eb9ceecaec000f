"""Mean average precision by Pascal VOC's rule.

What must meet are the detections and objects of one class in one image, and then the detections of a class in the order
of their scores. So a class is a unit: its detections are sorted, each looks for the objects of its image among those of
the class (sorted by image), and the curve follows. Classes go to threads.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._core.rows import SERIAL_ROWS
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels import boxpairs as kernel
from fastmetrics._version import __version__
from fastmetrics.metrics.detection import voc_files
from fastmetrics.metrics.detection.annotations import Dataset, is_coco, load, open_coco
from fastmetrics.metrics.detection.box_overlaps import FORMS, as_boxes, as_flags, lay_out, pixel_border
from fastmetrics.metrics.detection.coco_columns import Table
from fastmetrics.metrics.detection.coco_files import Records
from fastmetrics.metrics.detection.tables import box_numbers, open_table
from fastmetrics.metrics.detection.voc_result import VocClass, VocResult

__all__ = ["VocResult", "voc_map"]

INTERPOLATIONS = ("area", "voc11")
DIFFICULT = ("ignore", "count")
# Which key of an annotation in COCO's form says that an object is difficult: the first that is there.
FLAGS = ("difficult", "ignore", "iscrowd")
COLUMNS = ("difficult", "ignore", "crowd", "iscrowd")
LISTED = 20  # classes that an error names


class Rule(NamedTuple):
    """How a curve is made and summed up."""

    interpolation: str
    iou_threshold: float
    difficult: str
    border: float  # added to differences of corners


class Boxes(NamedTuple):
    """Objects and detections, classes and images as places in lists."""

    dataset: Dataset
    difficult: np.ndarray  # uint8, of objects
    truth_boxes: np.ndarray  # float64[5, n]: corners and areas
    found_boxes: np.ndarray
    wanted: np.ndarray | None  # bool, of images
    n_images: int


def voc_map(
    ground_truth: Any,
    detections: Any,
    *,
    interpolation: str = "area",
    iou_threshold: float = 0.5,
    difficult: str = "ignore",
    box: str | None = None,
    pixel_boxes: bool | None = None,
    categories: Any = None,
    images: Any = None,
    n_threads: int | None = None,
) -> VocResult:
    """Mean average precision of detections, by the rule of the Pascal VOC challenge.

    The detections of a class go, by falling score, each to the object of its image and class that it overlaps most (of
    equal ones the first). If the overlap (intersection over union) is at least `iou_threshold` and no detection before
    went there, it is a true positive, else a false one; what goes to a difficult object is neither. AP sums up
    precision over recall, the mean is over classes. M. Everingham et al., "The Pascal visual object classes (VOC)
    challenge", IJCV 2010; the rule is that of the devkit.

    Parameters
    ----------
    ground_truth : path, dict or columns
        A folder of VOC annotations (``Annotations/*.xml``, or the folder above); COCO's JSON, as a path or as json.load
        gives it; or columns ``image``, ``category``, ``box`` and, if wanted, ``difficult``: a dict of arrays, an Arrow
        table, a data frame. What is difficult COCO's form says by the key ``difficult``, else ``ignore``, else
        ``iscrowd``, and columns by these names.
    detections : path, list, dict or columns
        A folder of VOC results (``comp4_det_test_car.txt``: lines of image, score, x1, y1, x2, y2), or their path with
        {} for the class; COCO's results; or columns ``image``, ``category``, ``box``, ``score``.
    interpolation : {"area", "voc11"}
        The area below the envelope of the curve (VOC2010 and later), or the mean of the best precisions from recalls
        of 0, 0.1 ... 1 on (VOC2007).
    iou_threshold : float
        The least overlap of a true positive, above 0 and at most 1.
    difficult : {"ignore", "count"}
        Objects marked as difficult need not be found, or are objects like the others.
    box : {"xyxy", "xywh"}, optional
        How the boxes of columns are meant: two corners (the default), or a corner and the size, which COCO's form has
        and columns beside it.
    pixel_boxes : bool, optional
        Corners are pixels that belong to the box, as in the devkit: its width is x2 - x1 + 1. By default so in VOC's
        files only. The overlaps of small boxes differ much.
    categories : list, optional
        The classes to evaluate; by default all.
    images : list or path, optional
        The images to evaluate, or the path of an image set (``ImageSets/Main/test.txt``); by default all.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    VocResult
        ``.map`` (also ``float(result)``), ``.per_class``, ``.undefined``, ``.coverage``, ``.signature``.

    Raises
    ------
    ValueError
        Boxes of negative size, scores that are NaN, images or classes that the ground truth does not know, broken
        files.

    Warns
    -----
    UndefinedMetricWarning
        No class has ground truth: the mean is NaN.

    Notes
    -----
    A class without ground truth (difficult objects aside) has no AP: NaN, not in the mean, named in ``.undefined``. A
    class without detections has 0. Detections of a class with equal scores stand in the order given, and the value may
    depend on it; on no other order.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> truth = {"image": [1, 1, 2], "category": ["car", "car", "dog"],
    ...          "box": [[0, 0, 10, 10], [20, 0, 30, 10], [5, 5, 9, 9]]}
    >>> found = {"image": [1, 1, 2, 2], "category": ["car", "car", "car", "dog"], "score": [0.9, 0.8, 0.7, 0.6],
    ...          "box": [[0, 0, 10, 9], [0, 1, 10, 10], [5, 5, 9, 9], [5, 5, 9, 8]]}
    >>> result = fm.voc_map(truth, found)
    >>> result.map
    0.75
    >>> result.per_class["car"].precision.round(3)
    array([1.   , 0.5  , 0.333])
    """
    inputs.check_option(interpolation, "interpolation", INTERPOLATIONS)
    inputs.check_option(difficult, "difficult", DIFFICULT)
    if box is not None:
        inputs.check_option(box, "box", FORMS)
    if pixel_boxes is not None:
        inputs.check_flag(pixel_boxes, "pixel_boxes")
    check_threshold(iou_threshold)
    threads = count_threads(n_threads)
    boxes, border = read(ground_truth, detections, box, pixel_boxes, images)
    rule = Rule(interpolation, float(iou_threshold), difficult, border)
    names = names_of(boxes.dataset)
    places = wanted_places(names, boxes.dataset, categories)
    classes = evaluate(boxes, rule, places, threads)
    result = VocResult(
        {names[place]: own for place, own in zip(places, classes, strict=True)}, boxes.n_images, signature(rule)
    )
    if math.isnan(result.map):
        warn_undefined("voc_map", "no class has ground truth")
    return result


def check_threshold(value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) <= 1:
        raise inputs.OptionError(f"iou_threshold must be above 0 and at most 1; found {value!r}")


def signature(rule: Rule) -> str:
    parts = [
        f"voc_map(interpolation={rule.interpolation}, iou_threshold={rule.iou_threshold:g})",
        f"difficult:{rule.difficult}",
        f"pixel_boxes:{'yes' if rule.border else 'no'}",
        "ties:given_order",
        f"v{__version__}",
    ]
    return "|".join(parts)


# ------------------------------------------------------------------------------------------------------------- reading


def read(truth: Any, found: Any, box: str | None, pixel_boxes: bool | None, images: Any) -> tuple[Boxes, float]:
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


# ---------------------------------------------------------------------------------------------------------- evaluating


def evaluate(boxes: Boxes, rule: Rule, places: list[int], n_threads: int) -> list[VocClass]:
    """The classes at the places, each on its own."""
    truth, found = boxes.dataset.truth, boxes.dataset.found
    truth_rows = kept_rows(truth.images, boxes.wanted)
    truth_rows = truth_rows[np.lexsort((truth.images[truth_rows], truth.categories[truth_rows]))]
    found_rows = kept_rows(found.images, boxes.wanted)
    found_rows = found_rows[stable_order(found.categories[found_rows])]
    classes = np.arange(len(boxes.dataset.category_ids) + 1)
    truth_starts = np.searchsorted(truth.categories[truth_rows], classes).tolist()
    found_starts = np.searchsorted(found.categories[found_rows], classes).tolist()
    objects = np.ascontiguousarray(boxes.truth_boxes[:, truth_rows])
    detections = np.ascontiguousarray(boxes.found_boxes.T)
    images = truth.images[truth_rows]
    difficult = boxes.difficult[truth_rows]
    ignored = difficult if rule.difficult == "ignore" else np.zeros_like(difficult)
    taken = np.zeros(len(truth_rows), np.uint8)
    results: list[Any] = [None] * len(places)

    def work(unit: int) -> None:
        first, last = truth_starts[places[unit]], truth_starts[places[unit] + 1]
        rows = found_rows[found_starts[places[unit]] : found_starts[places[unit] + 1]]
        scores = found.scores[rows]
        order = np.argsort(-scores, kind="stable")
        verdicts = np.empty(len(rows), np.int8)
        kernel.match(
            objects, images, ignored, first, last, detections, found.images, rows[order], 0, len(rows),
            rule.iou_threshold, rule.border, taken, verdicts,
        )  # fmt: skip
        n_difficult = int(np.count_nonzero(ignored[first:last]))
        results[unit] = of_class(verdicts, scores[order], last - first - n_difficult, n_difficult, rule)

    for_each(len(places), lambda: work, n_threads if len(found_rows) > SERIAL_ROWS else 1)
    return results


def kept_rows(images: np.ndarray, wanted: np.ndarray | None) -> np.ndarray:
    return np.arange(len(images)) if wanted is None else np.flatnonzero(wanted[images])


def stable_order(classes: np.ndarray) -> np.ndarray:
    """The order of places, equal ones as given; NumPy counts numbers of 16 bits instead of comparing them."""
    small = classes.astype(np.uint16) if len(classes) and classes.max() < 1 << 16 else classes
    return np.argsort(small, kind="stable")


def of_class(verdicts: np.ndarray, scores: np.ndarray, n_truth: int, n_difficult: int, rule: Rule) -> VocClass:
    """The curve of a class from what became of its detections."""
    rows = len(verdicts)
    precision, recall, places = np.empty(rows), np.empty(rows), np.empty(rows, np.int64)
    averages = np.full(2, math.nan)
    n = kernel.curve(verdicts, 0, rows, n_truth, precision, recall, places, averages)
    hits = int(np.count_nonzero(verdicts == kernel.TRUE_POSITIVE))
    return VocClass(
        float(averages[INTERPOLATIONS.index(rule.interpolation)]),
        precision[:n],
        recall[:n],
        scores[places[:n]],
        n_truth,
        n_difficult,
        rows,
        rows - n,
        hits,
    )
