"""`COCOeval` with pycocotools' interface: code written for it runs after its import is changed."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.metrics.detection.coco.coco_index import COCO
from fastmetrics.metrics.detection.coco.coco_map import (
    AREA_RANGES,
    IOU_THRESHOLDS,
    MAX_DETECTIONS,
    RECALL_THRESHOLDS,
)
from fastmetrics.metrics.detection.coco.eval_imgs import (
    EvaluatedAxes,
    ImageResult,
    accumulate_images,
    list_images,
    list_ious,
)
from fastmetrics.metrics.detection.coco.matching import Accumulated, Matches, accumulate, match
from fastmetrics.metrics.detection.coco.read_coco_objects import read_coco_objects
from fastmetrics.metrics.detection.dataset import Dataset
from fastmetrics.metrics.detection.group_ious import compute_ious
from fastmetrics.metrics.detection.image_category_groups import ImageCategoryGroups, make_groups

if TYPE_CHECKING:
    from fastmetrics._core.types.options import IouType

__all__ = ["COCOeval"]

LINE = " {:<18} {} @[ IoU={:<9} | area={:>6s} | maxDets={:>3d} ] = {:0.3f}"
# The lines of summarize(): precision or recall, IoU threshold (None: all), area range, index in maxDets (None: 100).
SUMMARY = (
    ("precision", None, "all", None),
    ("precision", 0.5, "all", 2),
    ("precision", 0.75, "all", 2),
    ("precision", None, "small", 2),
    ("precision", None, "medium", 2),
    ("precision", None, "large", 2),
    ("recall", None, "all", 0),
    ("recall", None, "all", 1),
    ("recall", None, "all", 2),
    ("recall", None, "small", 2),
    ("recall", None, "medium", 2),
    ("recall", None, "large", 2),
)
TITLES = {"precision": ("Average Precision", "(AP)"), "recall": ("Average Recall", "(AR)")}


class Params:
    """The parameters of an evaluation, with pycocotools' names and defaults. Set them before calling `evaluate`."""

    def __init__(self, iouType: str = "segm") -> None:
        check_iou_type(iouType)
        self.setDetParams()
        self.iouType = iouType
        self.useSegm: int | None = None

    def setDetParams(self) -> None:
        self.imgIds: list[Any] = []
        self.catIds: list[Any] = []
        self.iouThrs = IOU_THRESHOLDS.copy()
        self.recThrs = RECALL_THRESHOLDS.copy()
        self.maxDets = list(MAX_DETECTIONS)
        self.areaRng = [list(bounds) for bounds in AREA_RANGES.values()]
        self.areaRngLbl = list(AREA_RANGES)
        self.useCats = 1


class EvaluationState(NamedTuple):
    """The result of `evaluate`: `accumulate`, `evalImgs` and `ious` are computed from it."""

    axes: EvaluatedAxes
    dataset: Dataset
    groups: ImageCategoryGroups
    ious: np.ndarray
    thresholds: np.ndarray
    area_ranges: np.ndarray
    matches: Matches

    def list_images(self) -> list[ImageResult | None]:
        """Match again, with the matched rows, and return the dicts of all images."""
        matches = match(
            self.dataset, self.groups, self.ious, self.thresholds, self.area_ranges,
            n_categories=len(self.axes.categories), with_rows=True,
        )  # fmt: skip
        return list_images(self.axes, self.dataset, self.groups, matches, self.area_ranges)


class COCOeval:
    """COCO's evaluation of detections, with the interface of pycocotools.

    Precision at 101 levels of recall for each of ten IoU thresholds, all categories, four area ranges and three maximum
    numbers of detections in an image (T.-Y. Lin et al., "Microsoft COCO: common objects in context", ECCV 2014;
    cocodataset.org, "Detection evaluation"). Code written for ``pycocotools.cocoeval.COCOeval`` runs unchanged: set
    ``params``, then call ``evaluate``, ``accumulate`` and ``summarize``. Arrays and numbers are equal.
    :func:`coco_map` does the same in one call, with NaN instead of -1.

    Parameters
    ----------
    cocoGt : COCO
        Annotated objects, a COCO object of this package or of pycocotools.
    cocoDt : COCO
        Detections, the result of ``cocoGt.loadRes``. It may be set later, and again for every batch.
    iouType : {"segm", "bbox"}
        "segm": compare masks. "bbox": compare boxes.

    Attributes
    ----------
    params : Params
        ``imgIds catIds iouThrs recThrs maxDets areaRng areaRngLbl useCats iouType``.
    evalImgs : list of dict
        By category, area range and image: the ids, scores and matches of an image; None if it has no object and no
        detection of the category. Computed at its first use. ``accumulate`` reads a list that is assigned here.
    ious : dict
        By (image, category): the IoU matrix, detections by descending score x objects.
    eval : dict
        After ``accumulate``: ``precision[T, R, K, A, M]``, ``recall[T, K, A, M]``, ``scores[T, R, K, A, M]``, -1 if a
        category has no object; ``params counts date``.
    stats : numpy.ndarray
        After ``summarize``: the twelve numbers; -1 if undefined.

    Raises
    ------
    NotImplementedError
        iouType is "keypoints".

    Notes
    -----
    Differences from pycocotools: Only ``summarize`` prints. The annotations are not changed: they get no ``ignore`` and
    ``_ignore``, and masks keep their form. ``accumulate`` with other images, categories or area ranges than were
    evaluated finds them by value; pycocotools takes the first ones instead. A detection that matches an object with the
    id 0 counts as matched, unless ``evalImgs`` is set: there 0 means no match.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> coco = fm.COCO()
    >>> coco.dataset = {
    ...     "images": [{"id": 1, "height": 100, "width": 100}],
    ...     "categories": [{"id": 7, "name": "cat"}],
    ...     "annotations": [
    ...         {"id": 1, "image_id": 1, "category_id": 7, "bbox": [10, 10, 40, 40], "area": 1600, "iscrowd": 0}
    ...     ],
    ... }
    >>> coco.createIndex()
    >>> results = coco.loadRes([{"image_id": 1, "category_id": 7, "bbox": [10, 10, 40, 36], "score": 0.9}])
    >>> evaluation = fm.COCOeval(coco, results, "bbox")
    >>> evaluation.params.maxDets = [1, 10, 100]
    >>> evaluation.evaluate()
    >>> evaluation.accumulate()
    >>> evaluation.summarize()  # doctest: +ELLIPSIS
     Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.900
    ...
    >>> evaluation.stats[:2].round(3)
    array([0.9, 1. ])
    """

    @answers_unknown
    def __init__(self, cocoGt: Any = None, cocoDt: Any = None, iouType: IouType = "segm") -> None:
        self.cocoGt = cocoGt
        self.cocoDt = cocoDt
        self.params = Params(iouType=iouType)
        self.eval: dict[str, Any] = {}
        self.stats: Any = []
        self._paramsEval: Any = {}
        self._clear()
        if cocoGt is not None:
            self.params.imgIds = sorted(cocoGt.getImgIds())
            self.params.catIds = sorted(cocoGt.getCatIds())

    def _clear(self) -> None:
        self._evaluated: EvaluationState | None = None
        for name in ("evalImgs", "ious", "_gts", "_dts"):
            self.__dict__.pop(name, None)
        self._images_by_setting: dict[Any, dict[Any, ImageResult]] = {}

    def evaluate(self) -> None:
        """Match the detections of every image by ``params``, whose ids and maxDets are sorted."""
        parameters = self.params
        if parameters.useSegm is not None:
            parameters.iouType = "segm" if parameters.useSegm == 1 else "bbox"
        check_iou_type(parameters.iouType)
        parameters.imgIds = list(np.unique(parameters.imgIds))
        if parameters.useCats:
            parameters.catIds = list(np.unique(parameters.catIds))
        parameters.maxDets = sorted(parameters.maxDets)
        self._prepare()
        self._evaluated = self._run(parameters.areaRng, parameters.maxDets[-1])
        self._paramsEval = copy.deepcopy(parameters)

    def _prepare(self) -> None:
        """Discard earlier results, which may be of other images or detections."""
        self._clear()
        self.eval = {}

    def _run(self, areas: Sequence[Any], max_detections: int) -> EvaluationState:
        """Match all images in these area ranges, with at most so many detections of an image."""
        parameters = self.params
        dataset = read_coco_objects(
            document_of(self.cocoGt, "cocoGt"), document_of(self.cocoDt, "cocoDt"), parameters.iouType,
            parameters.imgIds, parameters.catIds,
        )  # fmt: skip
        groups = make_groups(dataset, max_detections, bool(parameters.useCats))
        ious = compute_ious(dataset, groups, parameters.iouType)
        categories = parameters.catIds if parameters.useCats else [-1]
        axes = EvaluatedAxes(parameters.imgIds, categories, areas, max_detections)
        thresholds = np.asarray(parameters.iouThrs, np.float64)
        ranges = np.array([[float(least), float(greatest)] for least, greatest in areas]).reshape(-1, 2)
        matches = match(dataset, groups, ious, thresholds, ranges, n_categories=len(axes.categories))
        return EvaluationState(axes, dataset, groups, ious, thresholds, ranges, matches)

    @cached_property
    def evalImgs(self) -> Any:
        return [] if self._evaluated is None else self._evaluated.list_images()

    @cached_property
    def ious(self) -> Any:
        state = self._evaluated
        return {} if state is None else list_ious(state.axes, state.groups, state.ious)

    @answers_unknown
    def computeIoU(self, imgId: Any, catId: Any) -> Any:
        """Return the IoU matrix of an image and category, as in ``ious``."""
        self._evaluate_once()
        return self.ious[imgId, catId]

    @answers_unknown
    def evaluateImg(self, imgId: Any, catId: Any, aRng: Any, maxDet: int) -> ImageResult | None:
        """Return the matches of one image and category, as in ``evalImgs``; None if the image has no rows of it."""
        key = (float(aRng[0]), float(aRng[1]), maxDet)
        if key not in self._images_by_setting:
            images = self._run([aRng], maxDet).list_images()
            self._images_by_setting[key] = {
                (each["image_id"], each["category_id"]): each for each in images if each is not None
            }
        return self._images_by_setting[key].get((imgId, catId))

    def _evaluate_once(self) -> EvaluationState:
        """Evaluate if `evaluate` was not called: some callers call ``_prepare`` and then evaluate image by image."""
        if self._evaluated is None:
            self._clear()
            self._evaluated = self._run(self.params.areaRng, sorted(self.params.maxDets)[-1])
        return self._evaluated

    @cached_property
    def _gts(self) -> Any:
        return self._annotations_by_image(self.cocoGt)

    @cached_property
    def _dts(self) -> Any:
        return self._annotations_by_image(self.cocoDt)

    def _annotations_by_image(self, source: Any) -> Any:
        """Return the evaluated objects or detections by image and category; objects have the key ``ignore``."""
        images, categories = set(self.params.imgIds), set(self.params.catIds)
        rows = defaultdict(list)
        for row in source.dataset.get("annotations", []):
            image, category = row["image_id"], row["category_id"]
            if image in images and (category in categories or not self.params.useCats):
                copied = dict(row)
                if source is self.cocoGt:
                    copied["ignore"] = row.get("iscrowd", 0)
                if self.params.iouType == "segm":
                    copied["segmentation"] = source.annToRLE(row)
                rows[image, category].append(copied)
        return rows

    @answers_unknown
    def accumulate(self, p: Params | None = None) -> None:
        """Compute precision, recall and scores of all images and store them in ``eval``; ``p`` replaces ``params``."""
        if not self.__dict__.get("evalImgs") and self._evaluated is None:
            raise RuntimeError("Please run evaluate() first")
        parameters = self.params if p is None else p
        parameters.catIds = parameters.catIds if parameters.useCats == 1 else [-1]
        result = self._accumulate(parameters)
        self.eval = {
            "params": parameters,
            "counts": list(result.precision.shape),
            "date": datetime.now().strftime("%Y-%m-%d %H:%M:%S"),
            "precision": result.precision,
            "recall": result.recall,
            "scores": result.scores,
        }

    def _accumulate(self, p: Params) -> Accumulated:
        evaluated = self._paramsEval
        categories = evaluated.catIds if evaluated.useCats else [-1]
        recalls = np.asarray(p.recThrs, np.float64)
        thresholds = np.asarray(p.iouThrs, np.float64)
        # Maximum numbers of detections that were not evaluated stay at -1.
        known = [index for index, number in enumerate(p.maxDets) if number in set(evaluated.maxDets)]
        max_detections = np.array([p.maxDets[index] for index in known], np.int64)
        # The dicts, if they were made or assigned, may have been changed.
        state = None if "evalImgs" in self.__dict__ else self._evaluated
        if (
            state is not None
            and np.array_equal(thresholds, state.thresholds)
            and same_items(p.catIds, categories)
            and same_items(p.imgIds, evaluated.imgIds)
            and bounds_of(p.areaRng) == bounds_of(evaluated.areaRng)
        ):
            computed = accumulate(
                state.dataset.detections.scores, state.groups, state.matches, len(thresholds), recalls, max_detections
            )
        else:
            computed = accumulate_images(self._select_images(p, categories), recalls, max_detections, len(thresholds))
        if len(known) == len(p.maxDets):
            return Accumulated(*map(np.ascontiguousarray, computed))
        shape = len(thresholds), len(recalls), len(p.catIds), len(p.areaRng), len(p.maxDets)
        result = Accumulated(np.full(shape, -1.0), np.full((shape[0], *shape[2:]), -1.0), np.full(shape, -1.0))
        for out, values in zip(result, computed, strict=True):
            out[..., known] = values
        return result

    def _select_images(self, p: Params, categories: Sequence[Any]) -> list[list[list[ImageResult | None]]]:
        """Return the dicts of the categories, area ranges and images of ``p``, found by their values."""
        evaluated = self._paramsEval
        listed = self.evalImgs
        n_images, n_areas = len(evaluated.imgIds), len(evaluated.areaRng)
        if len(listed) != len(categories) * n_areas * n_images:
            raise ValueError(
                f"evalImgs has {len(listed)} elements, but {len(categories)} categories x {n_areas} area ranges x "
                f"{n_images} images were evaluated"
            )
        image_indices = {image: index for index, image in enumerate(evaluated.imgIds)}
        images = [image_indices[image] for image in p.imgIds if image in image_indices]
        keys = product(categories, bounds_of(evaluated.areaRng))
        starts = {key: number * n_images for number, key in enumerate(keys)}
        return [
            [
                [listed[starts[category, area] + index] for index in images] if (category, area) in starts else []
                for area in bounds_of(p.areaRng)
            ]
            for category in p.catIds
        ]

    def summarize(self) -> None:
        """Print the twelve numbers and store them in ``stats``."""
        if not self.eval:
            raise RuntimeError("Please run accumulate() first")
        p = self.params
        stats = np.zeros(len(SUMMARY))
        for line, (what, threshold, area, maximum) in enumerate(SUMMARY):
            n_detections = 100 if maximum is None else p.maxDets[maximum]
            stats[line] = self._mean(what, threshold, area, n_detections)
            thresholds = f"{p.iouThrs[0]:0.2f}:{p.iouThrs[-1]:0.2f}" if threshold is None else f"{threshold:0.2f}"
            print(LINE.format(*TITLES[what], thresholds, area, n_detections, stats[line]))
        self.stats = stats

    def _mean(self, what: str, threshold: float | None, area: str, n_detections: int) -> float:
        """Return the mean of all defined values, or -1."""
        p = self.params
        values = self.eval[what]
        if threshold is not None:
            values = values[np.asarray(p.iouThrs) == threshold]
        areas = [index for index, label in enumerate(p.areaRngLbl) if label == area]
        numbers = [index for index, number in enumerate(p.maxDets) if number == n_detections]
        values = values[..., areas, numbers]
        values = values[values > -1]
        return float(np.mean(values)) if len(values) else -1.0


def check_iou_type(iou_type: str) -> None:
    if iou_type == "keypoints":
        raise NotImplementedError('iouType "keypoints" is not supported: masks ("segm") and boxes ("bbox") are')
    if iou_type not in ("segm", "bbox"):
        raise ValueError(f"iouType not supported: {iou_type!r}; 'segm' or 'bbox' is needed")


def document_of(coco: Any, name: str) -> Any:
    """Return the data of a COCO object: columns until the caller uses its dicts."""
    if coco is None:
        raise ValueError(f"{name} is None: COCOeval needs objects and detections before evaluate()")
    return coco.document() if isinstance(coco, COCO) else coco.dataset


def bounds_of(areas: Any) -> list[tuple[float, ...]]:
    return [tuple(area) for area in areas]


def same_items(one: Any, other: Any) -> bool:
    return list(one) == list(other)
