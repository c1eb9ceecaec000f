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
from fastmetrics.metrics.detection.box_pairs import FORMS
from fastmetrics.metrics.detection.voc_input import Boxes, names_of, read_boxes, wanted_places
from fastmetrics.metrics.detection.voc_result import VocClass, VocResult

__all__ = ["VocResult", "voc_map"]

INTERPOLATIONS = ("area", "voc11")
DIFFICULT = ("ignore", "count")


class Rule(NamedTuple):
    """How a curve is made and summed up."""

    interpolation: str
    iou_threshold: float
    difficult: str
    border: float  # added to differences of corners


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
    boxes, border = read_boxes(ground_truth, detections, box, pixel_boxes, images)
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
