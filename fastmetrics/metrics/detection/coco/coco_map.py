"""COCO's mean average precision of detections."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.undefined import warn_undefined
from fastmetrics.metrics.detection.box_iou import BOX_FORMS
from fastmetrics.metrics.detection.coco.matching import accumulate, match
from fastmetrics.metrics.detection.coco.read_dataset import read_dataset
from fastmetrics.metrics.detection.coco.result import CocoOptions, CocoResult
from fastmetrics.metrics.detection.dataset import IOU_TYPES, Dataset
from fastmetrics.metrics.detection.group_ious import compute_ious
from fastmetrics.metrics.detection.image_category_groups import make_groups

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastmetrics._core.types.arrays import ArrayLike, FoundBoxes, NumericArrayLike
    from fastmetrics._core.types.options import Box, IouType

__all__ = ["coco_map"]

# pycocotools' default parameters, which COCOeval has, too.
LARGEST_AREA = 1e5**2
# The first range is the one that all objects belong to. The numbers keep pycocotools' types: users see them in Params.
AREA_RANGES = {
    "all": (0, LARGEST_AREA),
    "small": (0, 32**2),
    "medium": (32**2, 96**2),
    "large": (96**2, LARGEST_AREA),
}
# linspace gives the same floats as pycocotools; adding up 0.05 would not.
IOU_THRESHOLDS = np.linspace(0.5, 0.95, 10)
RECALL_THRESHOLDS = np.linspace(0.0, 1.0, 101)
MAX_DETECTIONS = (1, 10, 100)


@answers_unknown
def coco_map(
    ground_truth: FoundBoxes,
    detections: FoundBoxes,
    *,
    iou_type: IouType = "bbox",
    iou_thresholds: NumericArrayLike | None = None,
    recall_thresholds: NumericArrayLike | None = None,
    max_detections: int | Sequence[int] = MAX_DETECTIONS,
    area_ranges: Mapping[str, tuple[float, float]] | None = None,
    categories: ArrayLike | None = None,
    images: ArrayLike | None = None,
    class_agnostic: bool = False,
    box: Box = "xywh",
    n_threads: int | None = None,
) -> CocoResult:
    """COCO's mean average precision of detections, and the numbers reported with it.

    Detections are matched with the objects of their image and category greedily, by descending score. A detection is a
    true positive if it matches with an IoU of at least t. AP(t) = (1/R) sum_r max over recall' >= r of
    precision(recall'), over R levels of recall. `map` is the mean over IoU thresholds t and categories with ground
    truth. T.-Y. Lin et al., "Microsoft COCO: common objects in context", ECCV 2014, arXiv:1405.0312, and
    cocodataset.org/#detection-eval. Values equal those of pycocotools bit for bit.

    Parameters
    ----------
    ground_truth : path, dict, object with .dataset, or columns
        The path of a COCO JSON file, the result of json.load for it (a dict of ``images``, ``categories`` and
        ``annotations``), or a COCO object of pycocotools. Or columns: a dict of arrays, an Arrow table, a data frame of
        pandas or polars with ``image``, ``category`` (integers or text) and ``box`` (n x 4, or lists), optionally
        ``crowd``, ``ignore``, ``area``, ``id``. COCO's names ``image_id category_id bbox iscrowd`` are also accepted.
    detections : path, list, dict, object with .dataset, or columns
        The path of COCO results, a list of dicts (``image_id``, ``category_id``, ``bbox`` or ``segmentation``,
        ``score``), a dict with them as ``annotations``, a COCO object. Or columns as above with ``score``. It may be
        empty. If boxes are compared, results that have only masks get the bounding boxes of the masks.
    iou_type : {"bbox", "segm"}
        "bbox": compare boxes. "segm": compare masks (polygons and run-length encodings).
    iou_thresholds : array-like, optional
        By default 0.50, 0.55, ..., 0.95.
    recall_thresholds : array-like, optional
        Levels of recall in ascending order; by default 0, 0.01, ..., 1.
    max_detections : int or list of int
        How many detections of an image and category are used, those with the highest scores. Precision uses the largest
        number.
    area_ranges : dict of str to (float, float), optional
        Names and bounds (both included) of the areas of objects; `map` uses the first range. By default ``all``,
        ``small`` (up to 32^2), ``medium`` (32^2 to 96^2) and ``large``.
    categories, images : array-like, optional
        The ids to evaluate; by default all ids of the file or, for columns, all ids that occur. Categories of a file
        may be listed by their names.
    class_agnostic : bool
        Treat all categories as one: pycocotools' useCats = 0.
    box : {"xywh", "xyxy"}
        The form of boxes in columns. "xywh": a corner and the size. "xyxy": two corners. Dicts and files have "xywh".
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    CocoResult
        ``stats``, ``map``, ``map_50``, ..., ``per_class``, ``precision``, ``recall``, ``scores``, ``coverage``,
        ``undefined``.

    Raises
    ------
    ValueError
        A file is not JSON; keys or columns are missing; a box has a negative width or height; boxes or scores are NaN
        or infinite; an id is repeated; the ground truth does not have an image or category of a detection; a mask is
        invalid, or does not have the size of its image.

    Notes
    -----
    A detection is matched to the free object with the greatest IoU, if it is at least the threshold (among equal ones,
    the last object). Only if no such object is left, it is matched to an ignored object (a crowd, or an object outside
    the area range), and is ignored too. So is an unmatched detection outside the area range. By default, AP is the mean
    over 101 levels of recall, `map` the mean over thresholds 0.50, 0.55, ..., 0.95, and AR the mean of the greatest
    recalls.

    A category without ground truth is excluded from all means: its values are NaN, and ``coverage`` names it. The
    values of a category with ground truth but without detections are 0. A number for which no object counts (no small
    objects, for instance) is NaN, and ``undefined`` gives the reason. If `map` itself is undefined, there is a warning.

    Objects marked as crowds, or by a column ``ignore``, count neither as found nor as missed, and detections that match
    them are not counted. Several detections may match a crowd. As in pycocotools, the key ``ignore`` of COCO's dicts is
    not used. The area of a detection is that of its box (in a list of results), or the given one. An annotation without
    ``area`` has that of its box, or of its mask where masks are compared (pycocotools needs the key); one without
    ``iscrowd`` is no crowd.

    Masks (``iou_type="segm"``) are polygons, run-length encodings (also uncompressed ones in results) or, in columns,
    arrays of pixels; see `encode_masks`, and docs/definitions.md for invalid masks. Polygons need the height and width
    of their image, so columns cannot have them. The area of a result is that of its mask if the first result has no
    ``bbox``. Otherwise, as in pycocotools, all areas are those of boxes, and a result without a mask has the mask of
    its box.

    Only for equal scores does the order of rows matter: within an image and category they keep their input order, and
    between images they are ordered by image id. The order of images, or of rows with different scores, does not matter.

    There are two differences from pycocotools. An annotation with the id 0 can be found (in pycocotools it counts as
    missed). If `max_detections` is not 1, 10, 100, the first of `stats` uses the largest number (in pycocotools it is
    -1 unless 100 is among them).

    Examples
    --------
    >>> import fastmetrics as fm
    >>> truth = {"image": [1, 1, 2], "category": ["cat", "dog", "cat"],
    ...          "box": [[0, 0, 40, 40], [50, 50, 20, 20], [10, 10, 50, 60]]}
    >>> detections = {"image": [1, 1, 2], "category": ["cat", "dog", "cat"], "score": [0.9, 0.8, 0.6],
    ...               "box": [[0, 0, 40, 38], [50, 52, 20, 20], [30, 30, 50, 60]]}
    >>> result = fm.coco_map(truth, detections)
    >>> round(result.map, 4), round(result.map_50, 4), round(result.mar_100, 4)
    (0.6025, 0.7525, 0.6)
    >>> result.per_class["ap"].round(4).tolist()
    [0.505, 0.7]
    """
    validation.check_flag(class_agnostic, "class_agnostic")
    options = CocoOptions(
        iou_type,
        as_thresholds(iou_thresholds, "iou_thresholds", IOU_THRESHOLDS),
        as_recalls(recall_thresholds),
        as_counts(max_detections),
        as_ranges(area_ranges),
        bool(class_agnostic),
    )
    count_threads(n_threads)
    validation.check_option(iou_type, "iou_type", IOU_TYPES)
    validation.check_option(box, "box", BOX_FORMS)
    dataset = read_dataset(
        ground_truth, detections, iou_type=iou_type, categories=categories, images=images, box=box, n_threads=n_threads
    )
    result = evaluate_dataset(dataset, options, n_threads)
    if "map" in result.undefined:
        warn_undefined("coco_map", result.undefined["map"])
    return result


def evaluate_dataset(dataset: Dataset, options: CocoOptions, n_threads: int | None) -> CocoResult:
    """Group the rows, compute IoU, match and accumulate."""
    groups = make_groups(dataset, options.max_detections[-1], not options.class_agnostic, n_threads)
    n_categories = 1 if options.class_agnostic else len(dataset.category_ids)
    matches = match(
        dataset, groups, compute_ious(dataset, groups, options.iou_type, n_threads), options.iou_thresholds,
        np.array(list(options.area_ranges.values())), n_categories=n_categories, n_threads=n_threads,
    )  # fmt: skip
    arrays = accumulate(
        dataset.detections.scores, groups, matches, len(options.iou_thresholds), options.recall_thresholds,
        np.array(options.max_detections), undefined=float("nan"), n_threads=n_threads,
    )  # fmt: skip
    return CocoResult(dataset, options, arrays, matches.n_truth, len(groups.detection_rows))


def as_thresholds(values: Any, name: str, default: np.ndarray) -> np.ndarray:
    """Return thresholds from 0 to 1, at least one; a single number is a list of one."""
    if values is None:
        return default.copy()  # results hold it, and users may change it
    array = validation.as_numbers(np.atleast_1d(validation.as_array(values, name)), name).astype(np.float64)
    bad = np.flatnonzero((array < 0) | (array > 1))
    if len(bad):
        raise ValueError(f"{name} has {array[bad[0]]} at row {bad[0]}: thresholds lie between 0 and 1")
    return array


def as_recalls(values: Any) -> np.ndarray:
    """Return levels of recall in ascending order."""
    array = as_thresholds(values, "recall_thresholds", RECALL_THRESHOLDS)
    descents = np.flatnonzero(np.diff(array) < 0)
    if len(descents):
        row = int(descents[0]) + 1
        raise ValueError(f"recall_thresholds must not decrease; found {array[row]} at row {row} after {array[row - 1]}")
    return array


def as_counts(values: Any) -> tuple[int, ...]:
    """Return different positive integers in ascending order."""
    try:
        array = [values] if isinstance(values, (int, np.integer)) else list(values)
        counts = [0 if isinstance(each, bool) else operator.index(each) for each in array]
    except TypeError:
        raise validation.OptionError(f"max_detections must be positive integers; found {values!r}") from None
    if not counts or min(counts) < 1 or len(set(counts)) < len(counts):
        raise ValueError(f"max_detections must be different positive integers, at least one; found {values!r}")
    return tuple(sorted(min(count, 2**31 - 1) for count in counts))


def as_ranges(values: Mapping[str, tuple[float, float]] | None) -> dict[str, tuple[float, float]]:
    """Return the names of area ranges with the least and greatest area of each."""
    if values is None:
        return {name: (float(least), float(greatest)) for name, (least, greatest) in AREA_RANGES.items()}
    if not isinstance(values, Mapping) or not values:
        raise validation.OptionError(f"area_ranges must be a dict of names to (least, greatest); found {values!r}")
    ranges = {}
    for name, bounds in values.items():
        try:
            least, greatest = map(float, bounds)
        except (TypeError, ValueError):
            raise validation.OptionError(f"area_ranges[{name!r}] must be (least, greatest); found {bounds!r}") from None
        if not least <= greatest:
            raise ValueError(f"area_ranges[{name!r}] must have least <= greatest; found {bounds!r}")
        if not isinstance(name, str) or name.isdigit() or name in ("50", "75"):
            raise ValueError(f"area_ranges has the name {name!r}: names are text, not numbers")
        ranges[name] = (least, greatest)
    return ranges
