"""COCO's mean average precision of detections."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.undefined import warn_undefined
from fastmetrics.metrics.detection.annotations import IOU_TYPES, Dataset, open_coco
from fastmetrics.metrics.detection.box_pairs import FORMS
from fastmetrics.metrics.detection.coco_result import CocoOptions, CocoResult
from fastmetrics.metrics.detection.groups import make_groups
from fastmetrics.metrics.detection.matching import accumulate, match
from fastmetrics.metrics.detection.overlaps import find_overlaps

__all__ = ["coco_map"]

AREA_RANGES = {
    "all": (0.0, 1e5**2),
    "small": (0.0, 32.0**2),
    "medium": (32.0**2, 96.0**2),
    "large": (96.0**2, 1e5**2),
}
# The very floats of pycocotools: a step of 0.05 is not one.
IOU_THRESHOLDS = np.linspace(0.5, 0.95, 10)
RECALL_THRESHOLDS = np.linspace(0.0, 1.0, 101)


def coco_map(
    ground_truth: Any,
    detections: Any,
    *,
    iou_type: str = "bbox",
    iou_thresholds: Any = None,
    recall_thresholds: Any = None,
    max_detections: Any = (1, 10, 100),
    area_ranges: Mapping[str, tuple[float, float]] | None = None,
    categories: Any = None,
    images: Any = None,
    class_agnostic: bool = False,
    box: str = "xywh",
    n_threads: int | None = None,
) -> CocoResult:
    """COCO's mean average precision of detections, and the numbers reported with it.

    Detections take objects of their category in their image greedily by falling score; with an IoU of at least t they
    are hits. AP(t) = (1/R) sum_r max over recall' >= r of precision(recall'), over R levels of recall; map is the mean
    over IoU thresholds t and categories with ground truth. T.-Y. Lin et al., "Microsoft COCO: common objects in
    context", ECCV 2014, arXiv:1405.0312, and cocodataset.org/#detection-eval. Values are pycocotools', to the last bit.

    Parameters
    ----------
    ground_truth : path, dict, object with .dataset, or columns
        The path of a COCO JSON file, what json.load gives of it (a dict of ``images``, ``categories`` and
        ``annotations``), or a COCO object of pycocotools. Or columns: a dict of arrays, an Arrow table, a data frame of
        pandas or polars with ``image``, ``category`` (integers or text) and ``box`` (n x 4, or lists), optionally
        ``crowd``, ``ignore``, ``area``, ``id``; COCO's names ``image_id category_id bbox iscrowd`` will do as well.
    detections : path, list, dict, object with .dataset, or columns
        The path of COCO results, a list of dicts (``image_id``, ``category_id``, ``bbox`` or ``segmentation``,
        ``score``), a dict with them as ``annotations``, a COCO object. Or columns as above with ``score``. It may be
        empty. Where boxes are compared, results that are masks alone have the boxes of these.
    iou_type : {"bbox", "segm"}
        Are boxes compared, or masks (polygons and run-length encodings)?
    iou_thresholds : array-like, optional
        By default 0.50, 0.55, ..., 0.95.
    recall_thresholds : array-like, optional
        Levels of recall, not falling; by default 0, 0.01, ..., 1.
    max_detections : int or list of int
        The highest scores of an image and category that count. Precisions are those with the most of them.
    area_ranges : dict of str to (float, float), optional
        Names and bounds (both included) of the areas of objects; the first is what `map` is of. By default ``all``,
        ``small`` (up to 32^2), ``medium`` (32^2 to 96^2) and ``large``.
    categories, images : array-like, optional
        The ids that are evaluated; by default all of the file, or, of columns, all that occur.
    class_agnostic : bool
        Take all categories for one: pycocotools' useCats = 0.
    box : {"xywh", "xyxy"}
        What the boxes of columns are: a corner and the size, or two corners. Dicts and files have "xywh".
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    CocoResult
        ``stats``, ``map``, ``map_50``, ..., ``per_class``, ``precision``, ``recall``, ``scores``, ``coverage``,
        ``undefined``.

    Raises
    ------
    ValueError
        A file that is no JSON, keys or columns that are missing; boxes with a negative width or height, NaN or infinity
        in boxes or scores; ids that occur twice; images or categories that the ground truth does not know; masks that
        are none, or not of their image's size.

    Notes
    -----
    A category without ground truth is in no mean: its values are NaN, its name in ``coverage``. Where it has ground
    truth but no detections they are 0. Numbers that nothing is left for (no small objects, say) are NaN and named in
    ``undefined``; if `map` itself is, there is a warning.

    Objects marked as crowds, or by a column ``ignore``, are neither found nor missed, and detections that match them do
    not count; several may match a crowd. As in pycocotools, ``ignore`` in COCO's dicts is not looked at. The area of a
    detection is that of its box (a list of results), or given.

    Masks (``iou_type="segm"``) are polygons, run-length encodings (also uncompressed ones in results) or, in columns,
    arrays of pixels; see `encode_masks` and, for what is no mask, docs/definitions.md. Polygons need the images'
    heights and widths, so columns have none. The area of a result is that of its mask if the first result has no
    ``bbox``; else, as in pycocotools, all areas are those of boxes, and a result without a mask is its box.

    Equal scores are the one thing that depends on the order of rows: inside an image and category they stay in the
    order given, and between images they go by the image's id. The order of images, or of rows with different scores,
    does not matter.

    Two things differ from pycocotools: an annotation with the id 0 can be found (there it counts as missed), and with
    other `max_detections` than 1, 10, 100 the first of `stats` is taken with the most detections (there it is -1
    unless 100 is among them).

    Examples
    --------
    >>> import fastmetrics as fm
    >>> truth = {"image": [1, 1, 2], "category": ["cat", "dog", "cat"],
    ...          "box": [[0, 0, 40, 40], [50, 50, 20, 20], [10, 10, 50, 60]]}
    >>> found = {"image": [1, 1, 2], "category": ["cat", "dog", "cat"], "score": [0.9, 0.8, 0.6],
    ...          "box": [[0, 0, 40, 38], [50, 52, 20, 20], [30, 30, 50, 60]]}
    >>> result = fm.coco_map(truth, found)
    >>> round(result.map, 4), round(result.map_50, 4), round(result.mar_100, 4)
    (0.6025, 0.7525, 0.6)
    >>> result.per_class["ap"].round(4).tolist()
    [0.505, 0.7]
    """
    inputs.check_flag(class_agnostic, "class_agnostic")
    options = CocoOptions(
        iou_type,
        as_thresholds(iou_thresholds, "iou_thresholds", IOU_THRESHOLDS),
        as_recalls(recall_thresholds),
        as_counts(max_detections),
        as_ranges(area_ranges),
        bool(class_agnostic),
    )
    count_threads(n_threads)
    inputs.check_option(iou_type, "iou_type", IOU_TYPES)
    inputs.check_option(box, "box", FORMS)
    dataset = open_coco(
        ground_truth, detections, iou_type=iou_type, categories=categories, images=images, box=box, n_threads=n_threads
    )
    result = evaluate_dataset(dataset, options, n_threads)
    if "map" in result.undefined:
        warn_undefined("coco_map", result.undefined["map"])
    return result


def evaluate_dataset(dataset: Dataset, options: CocoOptions, n_threads: int | None) -> CocoResult:
    """Group, compare, match, accumulate."""
    groups = make_groups(dataset, options.max_detections[-1], not options.class_agnostic, n_threads)
    n_categories = 1 if options.class_agnostic else len(dataset.category_ids)
    matches = match(
        dataset, groups, find_overlaps(dataset, groups, options.iou_type, n_threads), options.iou_thresholds,
        np.array(list(options.area_ranges.values())), n_categories=n_categories, n_threads=n_threads,
    )  # fmt: skip
    arrays = accumulate(
        dataset, groups, matches, len(options.iou_thresholds), options.recall_thresholds,
        np.array(options.max_detections), undefined=float("nan"), n_threads=n_threads,
    )  # fmt: skip
    return CocoResult(dataset, options, arrays, matches.n_truth, len(groups.found_rows))


def as_thresholds(values: Any, name: str, default: np.ndarray) -> np.ndarray:
    """Numbers from 0 to 1, at least one; a single number is a list of one."""
    if values is None:
        return default
    array = inputs.as_numbers(np.atleast_1d(inputs.as_array(values, name)), name).astype(np.float64)
    bad = np.flatnonzero((array < 0) | (array > 1))
    if len(bad):
        raise ValueError(f"{name} has {array[bad[0]]} at row {bad[0]}: thresholds lie between 0 and 1")
    return array


def as_recalls(values: Any) -> np.ndarray:
    array = as_thresholds(values, "recall_thresholds", RECALL_THRESHOLDS)
    falls = np.flatnonzero(np.diff(array) < 0)
    if len(falls):
        row = int(falls[0]) + 1
        raise ValueError(f"recall_thresholds must not fall; found {array[row]} at row {row} after {array[row - 1]}")
    return array


def as_counts(values: Any) -> tuple[int, ...]:
    """Different positive integers, smallest first."""
    name = "max_detections"
    try:
        array = [values] if isinstance(values, (int, np.integer)) else list(values)
        counts = [0 if isinstance(each, bool) else operator.index(each) for each in array]
    except TypeError:
        raise inputs.OptionError(f"{name} must be positive integers; found {values!r}") from None
    if not counts or min(counts) < 1 or len(set(counts)) < len(counts):
        raise ValueError(f"{name} must be different positive integers, at least one; found {values!r}")
    return tuple(sorted(min(count, 2**31 - 1) for count in counts))


def as_ranges(values: Mapping[str, tuple[float, float]] | None) -> dict[str, tuple[float, float]]:
    """Names of ranges of areas, and the least and greatest area of each."""
    if values is None:
        return dict(AREA_RANGES)
    if not isinstance(values, Mapping) or not values:
        raise inputs.OptionError(f"area_ranges must be a dict of names to (least, greatest); found {values!r}")
    ranges = {}
    for name, bounds in values.items():
        try:
            least, greatest = map(float, bounds)
        except (TypeError, ValueError):
            raise inputs.OptionError(f"area_ranges[{name!r}] must be (least, greatest); found {bounds!r}") from None
        if not least <= greatest:
            raise ValueError(f"area_ranges[{name!r}] must not fall; found {bounds!r}")
        if not isinstance(name, str) or name.isdigit() or name in ("50", "75"):
            raise ValueError(f"area_ranges has the name {name!r}: names are text, and no numbers")
        ranges[name] = (least, greatest)
    return ranges
