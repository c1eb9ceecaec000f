"""Mean average precision by Pascal VOC's rule.

Each class is evaluated on its own, and classes are distributed to threads. The detections of a class are sorted by
score. Each is compared with the objects of the class in its image (the objects are sorted by image). The outcomes give
the precision-recall curve.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.columns.row_blocks import SERIAL_ROWS
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.option_numbers import number_value
from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._core.results.json_results import as_json_value
from fastmetrics._core.results.table_columns import TableColumn
from fastmetrics._core.results.table_rows import NamedValues
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._core.upper_layers import render
from fastmetrics._kernels.detection import voc_matching as kernel
from fastmetrics._version import __version__
from fastmetrics.metrics.detection.box_iou import BOX_FORMS
from fastmetrics.metrics.detection.voc.read_dataset import VocData, class_labels, read_voc_data, select_classes

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, FoundBoxes, Path
    from fastmetrics._core.types.options import Box, Difficult, Interpolation

__all__ = ["VocResult", "voc_map"]

INTERPOLATIONS = ("area", "voc11")
DIFFICULT = ("ignore", "count")
MAX_LISTED_CLASSES = 25
ROW_COUNTS = ("ground_truths", "difficult", "detections", "ignored", "true_positives")
COUNTS = {"images": "images", "ground_truths": "objects", "detections": "detections"}


class VocClass(NamedTuple):
    """One class: its average precision, and the curve after each counted detection, by descending score."""

    ap: float
    precision: np.ndarray
    recall: np.ndarray
    scores: np.ndarray
    ground_truths: int
    difficult: int
    detections: int
    ignored: int
    true_positives: int


class VocResult(NamedValues[VocClass]):
    """Mean average precision by Pascal VOC's rule; ``float(result)`` is the mean.

    ``result["dog"]`` is the entry of a class in `per_class`; rows are the classes with AP and counts.

    Attributes
    ----------
    map : float
        The mean of the average precisions of all classes that have ground truth; NaN if none has.
    per_class : dict
        A named tuple for each class: ``ap`` (NaN without ground truth), ``precision``, ``recall`` and ``scores`` after
        each counted detection, by descending score (recall is NaN without ground truth), ``ground_truths`` (number of
        objects to be found), ``difficult`` (number of objects that need not be found), ``detections``, ``ignored``
        (number of detections that match a difficult object) and ``true_positives``.
    undefined : dict
        The classes without AP, which are excluded from the mean, each with the reason.
    coverage : dict
        ``images``, ``categories``, ``categories_with_ground_truth``, ``without_ground_truth`` (names), and the sums of
        ``ground_truths``, ``difficult``, ``detections``, ``ignored``, ``true_positives`` over all classes.
    signature : str
        All options that are needed to compute the value again.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> truth = {"image": [1, 1], "category": ["cat", "dog"], "box": [[0, 0, 40, 40], [50, 50, 70, 70]]}
    >>> found = {"image": [1, 1], "category": ["cat", "dog"], "score": [0.9, 0.8],
    ...          "box": [[0, 0, 40, 38], [5, 5, 20, 20]]}
    >>> result = fm.voc_map(truth, found)
    >>> result.map, result.per_class["dog"].ap
    (0.5, 0.0)
    """

    __slots__ = ("coverage", "map", "per_class", "signature", "undefined")

    def __init__(self, per_class: Mapping[Any, VocClass], n_images: int, signature: str) -> None:
        self.per_class: dict[Any, VocClass] = dict(per_class)
        self.undefined: dict[Any, str] = {
            name: "all of its objects are difficult" if row.difficult else "no ground truth"
            for name, row in self.per_class.items()
            if not row.ground_truths
        }
        values = [row.ap for row in self.per_class.values() if row.ground_truths]
        self.map: float = math.fsum(values) / len(values) if values else math.nan
        totals = {
            name: sum(getattr(row, name) for row in self.per_class.values())
            for name in ROW_COUNTS
        }
        self.coverage: dict[str, Any] = {
            "images": n_images,
            "categories": len(self.per_class),
            "categories_with_ground_truth": len(values),
            "without_ground_truth": list(self.undefined),
            **totals,
        }
        self.signature = signature

    def __float__(self) -> float:
        return self.map

    def _named(self) -> dict[Any, VocClass]:
        return self.per_class

    def _table_columns(self) -> list[TableColumn]:
        rows = list(self.per_class.values())
        return [
            TableColumn("category", "slice", list(self.per_class)),
            TableColumn("ap", "number", [row.ap for row in rows]),
            *(TableColumn(name, "count", [getattr(row, name) for row in rows]) for name in ROW_COUNTS),
        ]

    def _content(self) -> tuple[Any, ...]:
        return self.per_class, self.coverage, self.undefined, self.signature

    def __repr__(self) -> str:
        covered = self.coverage
        counts = [f"{covered[name]:,} {what}" for name, what in COUNTS.items()]
        classes = f"{covered['categories_with_ground_truth']} of {covered['categories']} classes"
        head = f"mAP = {self.map:.4f} ({', '.join([classes, *counts])})"
        rows = [["class", "AP", "objects", "detections", "found"]]
        for name, row in list(self.per_class.items())[:MAX_LISTED_CLASSES]:
            numbers = (row.ground_truths, row.detections, row.true_positives)
            rows.append([str(name), f"{row.ap:.4f}", *(f"{number:,}" for number in numbers)])
        lines = [head, *render("aligned lines", rows)]
        if len(self.per_class) > MAX_LISTED_CLASSES:
            lines.append(f"... {len(self.per_class):,} classes in all")
        if self.undefined:
            reasons = [f"{name} ({reason})" for name, reason in list(self.undefined.items())[:MAX_LISTED_CLASSES]]
            reasons += ["…"] * (len(self.undefined) > MAX_LISTED_CLASSES)
            lines.append(f"not in the mean: {', '.join(reasons)}")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The mean, AP and counts of classes, coverage, undefined classes and the signature, as plain Python for JSON.

        NaN becomes None.

        Returns
        -------
        dict
        """
        counts = ("ap", *ROW_COUNTS)
        plain: dict[str, Any] = as_json_value({
            "map": self.map,
            "per_class": {name: {each: getattr(row, each) for each in counts} for name, row in self.per_class.items()},
            "coverage": self.coverage,
            "undefined": self.undefined,
            "signature": self.signature,
        })  # fmt: skip
        return plain


class VocOptions(NamedTuple):
    """The options of an evaluation."""

    interpolation: str
    iou_threshold: float
    difficult: str
    border: float  # added to differences of corners: 1 for pixel boxes, else 0


@answers_unknown
def voc_map(
    ground_truth: FoundBoxes,
    detections: FoundBoxes,
    *,
    interpolation: Interpolation = "area",
    iou_threshold: float = 0.5,
    difficult: Difficult = "ignore",
    box: Box | None = None,
    pixel_boxes: bool | None = None,
    categories: ArrayLike | None = None,
    images: Path | ArrayLike | None = None,
    n_threads: int | None = None,
) -> VocResult:
    """Mean average precision of detections, by the rule of the Pascal VOC challenge.

    The detections of a class are matched by descending score. Each is compared with the object of its image and class
    that has the highest IoU (intersection over union; the first of equal ones). If the IoU is at least `iou_threshold`
    and no earlier detection matched the object, the detection is a true positive, otherwise a false positive. A
    detection that matches a difficult object is neither. AP is the area under the precision-recall curve, and the mean
    is over classes. M. Everingham et al., "The Pascal visual object classes (VOC) challenge", IJCV 2010; the rule is
    that of the devkit.

    Parameters
    ----------
    ground_truth : path, dict or columns
        A folder of VOC annotations (``Annotations/*.xml``, or its parent folder); COCO's JSON, as a path or as
        json.load returns it; or columns ``image``, ``category``, ``box`` and optionally ``difficult``: a dict of
        arrays, an Arrow table, a data frame. In COCO's form the key ``difficult``, else ``ignore``, else ``iscrowd``
        marks difficult objects; in columns the column of that name.
    detections : path, list, dict or columns
        A folder of VOC results (``comp4_det_test_car.txt``: lines of image, score, x1, y1, x2, y2), or their path with
        {} for the class; COCO's results; or columns ``image``, ``category``, ``box``, ``score``.
    interpolation : {"area", "voc11"}
        "area": the area below the envelope of the curve (VOC2010 and later). "voc11": the mean of the best precisions
        at recalls of at least 0, 0.1 ... 1 (VOC2007).
    iou_threshold : float
        The smallest IoU of a true positive, above 0 and at most 1.
    difficult : {"ignore", "count"}
        Objects that are marked as difficult. "ignore": they are left out. "count": they count like other objects.
    box : {"xyxy", "xywh"}, optional
        The form of boxes in columns. "xyxy": two corners. "xywh": a corner and the size. By default two corners, but
        "xywh" if the ground truth has COCO's form, where it is the only form.
    pixel_boxes : bool, optional
        If True, corners are pixels that belong to the box, as in the devkit: its width is x2 - x1 + 1. By default True
        for VOC's files only. The IoU of small boxes differs much.
    categories : list, optional
        The classes to evaluate; by default all.
    images : list or path, optional
        The images to evaluate, or the path of an image set (``ImageSets/Main/test.txt``); by default all.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    VocResult
        ``.map`` (also ``float(result)``), ``.per_class``, ``.undefined``, ``.coverage``, ``.signature``.

    Raises
    ------
    ValueError
        A box has a negative size, a score is NaN, the ground truth does not have an image or class, or a file is
        invalid.

    Warns
    -----
    UndefinedMetricWarning
        No class has ground truth: the mean is NaN.

    Notes
    -----
    A class without ground truth, apart from difficult objects, has an AP of NaN. It is excluded from the mean and named
    in ``.undefined``. A class without detections has an AP of 0. Detections of a class with equal scores keep their
    input order, and the value may depend on it. It depends on no other order.

    "area" is the sum over true positives of (1 / objects) times the greatest precision at their recall or beyond. For
    "voc11", the recall k / 10 is reached if 10 times the true positives are at least k times the objects.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> truth = {"image": [1, 1, 2], "category": ["car", "car", "dog"],
    ...          "box": [[0, 0, 10, 10], [20, 0, 30, 10], [5, 5, 9, 9]]}
    >>> detections = {"image": [1, 1, 2, 2], "category": ["car", "car", "car", "dog"], "score": [0.9, 0.8, 0.7, 0.6],
    ...               "box": [[0, 0, 10, 9], [0, 1, 10, 10], [5, 5, 9, 9], [5, 5, 9, 8]]}
    >>> result = fm.voc_map(truth, detections)
    >>> result.map
    0.75
    >>> result.per_class["car"].precision.round(3)
    array([1.   , 0.5  , 0.333])
    """
    validation.check_option(interpolation, "interpolation", INTERPOLATIONS)
    validation.check_option(difficult, "difficult", DIFFICULT)
    if box is not None:
        validation.check_option(box, "box", BOX_FORMS)
    if pixel_boxes is not None:
        validation.check_flag(pixel_boxes, "pixel_boxes")
    check_threshold(iou_threshold)
    threads = count_threads(n_threads)
    data, border = read_voc_data(ground_truth, detections, box, pixel_boxes, images)
    options = VocOptions(interpolation, float(iou_threshold), difficult, border)
    labels = class_labels(data.dataset)
    classes = select_classes(labels, data.dataset, categories)
    results = evaluate_classes(data, options, classes, threads)
    per_class = {labels[index]: each for index, each in zip(classes, results, strict=True)}
    result = VocResult(per_class, data.n_images, signature(options))
    if math.isnan(result.map):
        warn_undefined("voc_map", "no class has ground truth")
    return result


def check_threshold(value: Any) -> None:
    if not 0 < number_value(value) <= 1:
        raise validation.OptionError(f"iou_threshold must be above 0 and at most 1; found {value!r}")


def signature(options: VocOptions) -> str:
    """Return the options and the version as one line."""
    return "|".join(
        [
            f"voc_map(interpolation={options.interpolation}, iou_threshold={options.iou_threshold:g})",
            f"difficult:{options.difficult}",
            f"pixel_boxes:{'yes' if options.border else 'no'}",
            "ties:given_order",
            f"v{__version__}",
        ]
    )


def evaluate_classes(data: VocData, options: VocOptions, classes: list[int], n_threads: int) -> list[VocClass]:
    """Evaluate the classes with these indices."""
    truth, detections = data.dataset.ground_truth, data.dataset.detections
    truth_rows = evaluated_rows(truth.images, data.evaluated_images)
    truth_rows = truth_rows[np.lexsort((truth.images[truth_rows], truth.categories[truth_rows]))]
    detection_rows = evaluated_rows(detections.images, data.evaluated_images)
    detection_rows = detection_rows[stable_order(detections.categories[detection_rows])]
    all_classes = np.arange(len(data.dataset.category_ids) + 1)
    truth_starts = np.searchsorted(truth.categories[truth_rows], all_classes).tolist()
    detection_starts = np.searchsorted(detections.categories[detection_rows], all_classes).tolist()
    truth_boxes = np.ascontiguousarray(data.truth_boxes[:, truth_rows])
    detection_boxes = np.ascontiguousarray(data.detection_boxes.T)
    truth_images = truth.images[truth_rows]
    difficult = data.difficult[truth_rows]
    ignored = difficult if options.difficult == "ignore" else np.zeros_like(difficult)
    matched = np.empty(len(truth_rows), np.uint8)

    def work(number: int) -> VocClass:
        index = classes[number]
        first, last = truth_starts[index], truth_starts[index + 1]
        rows = detection_rows[detection_starts[index] : detection_starts[index + 1]]
        scores = detections.scores[rows]
        order = np.argsort(-scores, kind="stable")
        outcomes = np.empty(len(rows), np.int8)
        kernel.match(
            truth_boxes, truth_images, ignored, first, last, detection_boxes, detections.images, rows[order],
            options.iou_threshold, options.border, matched, outcomes,
        )  # fmt: skip
        n_difficult = int(np.count_nonzero(ignored[first:last]))
        return class_result(outcomes, scores[order], last - first - n_difficult, n_difficult, options)

    return for_each(len(classes), lambda: work, n_threads if len(detection_rows) > SERIAL_ROWS else 1)


def evaluated_rows(images: np.ndarray, evaluated_images: np.ndarray | None) -> np.ndarray:
    """Return the rows whose image is evaluated."""
    return np.arange(len(images)) if evaluated_images is None else np.flatnonzero(evaluated_images[images])


def stable_order(classes: np.ndarray) -> np.ndarray:
    """Return rows in stable order of their classes. NumPy sorts 16-bit integers by counting, without comparisons."""
    small = classes.astype(np.uint16) if len(classes) and classes.max() < 1 << 16 else classes
    return np.argsort(small, kind="stable")


def class_result(
    outcomes: np.ndarray, scores: np.ndarray, n_truth: int, n_difficult: int, options: VocOptions
) -> VocClass:
    """Return the curve and AP of a class from the outcomes of its detections."""
    n_rows = len(outcomes)
    precision, recall, ranks = np.empty(n_rows), np.empty(n_rows), np.empty(n_rows, np.int64)
    averages = np.full(2, math.nan)
    n = kernel.curve(outcomes, 0, n_rows, n_truth, precision, recall, ranks, averages)
    hits = int(np.count_nonzero(outcomes == kernel.TRUE_POSITIVE))
    return VocClass(
        float(averages[INTERPOLATIONS.index(options.interpolation)]),
        precision[:n],
        recall[:n],
        scores[ranks[:n]],
        n_truth,
        n_difficult,
        n_rows,
        n_rows - n,
        hits,
    )
