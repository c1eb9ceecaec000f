"""`COCOeval` as pycocotools has it, over the kernels: code written for it runs after its import is changed."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fastmetrics.metrics.detection.annotations import Dataset
from fastmetrics.metrics.detection.coco_images import Axes, ImageResult, list_images, list_overlaps, of_images
from fastmetrics.metrics.detection.coco_index import COCO
from fastmetrics.metrics.detection.coco_sources import read_objects
from fastmetrics.metrics.detection.groups import Groups, make_groups
from fastmetrics.metrics.detection.matching import Accumulated, Matches, accumulate, match
from fastmetrics.metrics.detection.overlaps import find_overlaps

__all__ = ["COCOeval"]

LARGEST_AREA = 1e5**2
LINE = " {:<18} {} @[ IoU={:<9} | area={:>6s} | maxDets={:>3d} ] = {:0.3f}"
# What summarize() shows: precision or recall, the threshold, the area range, which of maxDets (None: 100).
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
    """What is evaluated, with pycocotools' names and defaults; attributes may be set until `evaluate` is called."""

    def __init__(self, iouType: str = "segm") -> None:
        check_iou_type(iouType)
        self.setDetParams()
        self.iouType = iouType
        self.useSegm: int | None = None

    def setDetParams(self) -> None:
        self.imgIds: list[Any] = []
        self.catIds: list[Any] = []
        self.iouThrs = np.linspace(0.5, 0.95, 10)
        self.recThrs = np.linspace(0.0, 1.0, 101)
        self.maxDets = [1, 10, 100]
        self.areaRng = [[0, LARGEST_AREA], [0, 32**2], [32**2, 96**2], [96**2, LARGEST_AREA]]
        self.areaRngLbl = ["all", "small", "medium", "large"]
        self.useCats = 1


class Evaluated(NamedTuple):
    """What `evaluate` leaves for `accumulate`, and for the lists that are made when somebody asks for them."""

    axes: Axes
    dataset: Dataset
    groups: Groups
    overlaps: np.ndarray
    thresholds: np.ndarray
    area_ranges: np.ndarray
    matches: Matches

    def list_images(self) -> list[ImageResult | None]:
        matches = match(
            self.dataset, self.groups, self.overlaps, self.thresholds, self.area_ranges,
            n_categories=len(self.axes.categories), with_rows=True,
        )  # fmt: skip
        return list_images(self.axes, self.dataset, self.groups, matches, self.area_ranges)


class COCOeval:
    """COCO's evaluation of detections, with the interface of pycocotools.

    Precision at 101 levels of recall for each of ten IoU thresholds, every class, four area ranges and three numbers
    of detections of an image (T.-Y. Lin et al., "Microsoft COCO: common objects in context", ECCV 2014;
    cocodataset.org, "Detection evaluation"). Code written for ``pycocotools.cocoeval.COCOeval`` runs unchanged: set
    ``params``, then call ``evaluate``, ``accumulate`` and ``summarize``. Arrays and numbers are the same.
    :func:`coco_map` is the same in one call, with NaN instead of -1.

    Parameters
    ----------
    cocoGt : COCO
        Annotated objects: ours or pycocotools'.
    cocoDt : COCO
        Detections, what ``cocoGt.loadRes`` gives; it may be set later, and again for every batch.
    iouType : {"segm", "bbox"}
        What overlaps: masks or boxes.

    Attributes
    ----------
    params : Params
        ``imgIds catIds iouThrs recThrs maxDets areaRng areaRngLbl useCats iouType``.
    evalImgs : list of dict
        By category, area range and image: the ids, scores and matches of an image; None where it has nothing of the
        category. Made when it is first looked at; what is put here is what ``accumulate`` reads.
    ious : dict
        By (image, category): overlaps, detections by falling score x objects.
    eval : dict
        After ``accumulate``: ``precision[T, R, K, A, M]``, ``recall[T, K, A, M]``, ``scores[T, R, K, A, M]``, -1 where
        a category has no object; ``params counts date``.
    stats : numpy.ndarray
        After ``summarize``: the twelve numbers; -1 where undefined.

    Raises
    ------
    NotImplementedError
        iouType is "keypoints".

    Notes
    -----
    What differs from pycocotools. Only ``summarize`` prints. The annotations are not changed, so they get no
    ``ignore`` and ``_ignore``, and masks stay as they were given. ``accumulate`` with other images, categories or
    area ranges than were evaluated finds them by their value; pycocotools takes the first ones instead. A detection
    that is matched with an object whose id is 0 counts as matched, unless ``evalImgs`` is set: there 0 says that there
    is no match.

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
    >>> found = coco.loadRes([{"image_id": 1, "category_id": 7, "bbox": [10, 10, 40, 36], "score": 0.9}])
    >>> evaluation = fm.COCOeval(coco, found, "bbox")
    >>> evaluation.params.maxDets = [1, 10, 100]
    >>> evaluation.evaluate()
    >>> evaluation.accumulate()
    >>> evaluation.summarize()  # doctest: +ELLIPSIS
     Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.900
    ...
    >>> evaluation.stats[:2].round(3)
    array([0.9, 1. ])
    """

    def __init__(self, cocoGt: Any = None, cocoDt: Any = None, iouType: str = "segm") -> None:
        self.cocoGt = cocoGt
        self.cocoDt = cocoDt
        self.params = Params(iouType=iouType)
        self.eval: dict[str, Any] = {}
        self.stats: Any = []
        self._paramsEval: Any = {}
        self._forget()
        if cocoGt is not None:
            self.params.imgIds = sorted(cocoGt.getImgIds())
            self.params.catIds = sorted(cocoGt.getCatIds())

    def _forget(self) -> None:
        self._evaluated: Evaluated | None = None
        self._images: Any = None
        self._overlaps: Any = None
        self._rows: Any = None
        self._single: dict[Any, Any] = {}

    def evaluate(self) -> None:
        """Match the detections of every image, as ``params`` say; sorts their ids and maxDets."""
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
        """Forget what was evaluated before, as of other images or detections."""
        self._forget()
        self.eval = {}

    def _run(self, areas: Sequence[Any], most: int) -> Evaluated:
        """Match everything in these area ranges, with so many detections of an image."""
        parameters = self.params
        dataset = read_objects(
            document_of(self.cocoGt, "cocoGt"), document_of(self.cocoDt, "cocoDt"), parameters.iouType,
            parameters.imgIds, parameters.catIds,
        )  # fmt: skip
        groups = make_groups(dataset, most, bool(parameters.useCats))
        overlaps = find_overlaps(dataset, groups, parameters.iouType)
        axes = Axes(parameters.imgIds, parameters.catIds if parameters.useCats else [-1], areas, most)
        thresholds = np.asarray(parameters.iouThrs, np.float64)
        ranges = np.array([[float(least), float(largest)] for least, largest in areas]).reshape(-1, 2)
        matches = match(dataset, groups, overlaps, thresholds, ranges, n_categories=len(axes.categories))
        return Evaluated(axes, dataset, groups, overlaps, thresholds, ranges, matches)

    @property
    def evalImgs(self) -> Any:
        if self._images is None:
            if self._evaluated is None:
                return []
            self._images = self._evaluated.list_images()
        return self._images

    @evalImgs.setter
    def evalImgs(self, images: Any) -> None:
        self._images = images

    @property
    def ious(self) -> Any:
        if self._overlaps is None:
            if self._evaluated is None:
                return {}
            self._overlaps = list_overlaps(self._evaluated.axes, self._evaluated.groups, self._evaluated.overlaps)
        return self._overlaps

    @ious.setter
    def ious(self, overlaps: Any) -> None:
        self._overlaps = overlaps

    def computeIoU(self, imgId: Any, catId: Any) -> Any:
        """Overlaps of the detections of an image and category with its objects: what ``ious`` has."""
        self._finish()
        return self.ious[imgId, catId]

    def evaluateImg(self, imgId: Any, catId: Any, aRng: Any, maxDet: int) -> ImageResult | None:
        """The matches of one image and category: what ``evalImgs`` has; None where the image has nothing of it."""
        key = (float(aRng[0]), float(aRng[1]), maxDet)
        if key not in self._single:
            listed = self._run([aRng], maxDet).list_images()
            self._single[key] = {(row["image_id"], row["category_id"]): row for row in listed if row is not None}
        found: ImageResult | None = self._single[key].get((imgId, catId))
        return found

    def _finish(self) -> Evaluated:
        """For callers that call ``_prepare`` and look at images one by one."""
        if self._evaluated is None:
            self._evaluated = self._run(self.params.areaRng, sorted(self.params.maxDets)[-1])
        return self._evaluated

    @property
    def _gts(self) -> Any:
        return self._by_image()[0]

    @property
    def _dts(self) -> Any:
        return self._by_image()[1]

    def _by_image(self) -> Any:
        """The annotations that are evaluated, by image and category; objects know whether they are ignored."""
        if self._rows is None:
            images, categories = set(self.params.imgIds), set(self.params.catIds)
            self._rows = []
            for source in (self.cocoGt, self.cocoDt):
                rows = defaultdict(list)
                for row in source.dataset.get("annotations", []):
                    image, category = row["image_id"], row["category_id"]
                    if image in images and (category in categories or not self.params.useCats):
                        own = dict(row)
                        if source is self.cocoGt:
                            own["ignore"] = row.get("iscrowd", 0)
                        if self.params.iouType == "segm":
                            own["segmentation"] = source.annToRLE(row)
                        rows[image, category].append(own)
                self._rows.append(rows)
        return self._rows

    def accumulate(self, p: Params | None = None) -> None:
        """Precision, recall and scores of all images, into ``eval``; as ``p`` says where it is given."""
        if self._images is None and self._evaluated is None:
            raise RuntimeError("Please run evaluate() first")
        parameters = self.params if p is None else p
        parameters.catIds = parameters.catIds if parameters.useCats == 1 else [-1]
        result = self._accumulate(parameters)
        n_thresholds, n_recalls, *others = result.precision.shape
        self.eval = {
            "params": parameters,
            "counts": [n_thresholds, n_recalls, *others],
            "date": now(),
            "precision": result.precision,
            "recall": result.recall,
            "scores": result.scores,
        }

    def _accumulate(self, p: Params) -> Accumulated:
        evaluated = self._paramsEval
        categories = evaluated.catIds if evaluated.useCats else [-1]
        recalls = np.asarray(p.recThrs, np.float64)
        thresholds = np.asarray(p.iouThrs, np.float64)
        # Only what was evaluated with its own number of detections is known; the rest stays at -1.
        known = [place for place, most in enumerate(p.maxDets) if most in set(evaluated.maxDets)]
        most = np.array([p.maxDets[place] for place in known], np.int64)
        done = self._evaluated if self._images is None else None
        if (
            done is not None
            and np.array_equal(thresholds, done.thresholds)
            and same(p.catIds, categories)
            and same(p.imgIds, evaluated.imgIds)
            and bounds_of(p.areaRng) == bounds_of(evaluated.areaRng)
        ):
            found = accumulate(done.dataset, done.groups, done.matches, len(thresholds), recalls, most)
        else:
            found = of_images(self._select(p, categories), recalls, most, len(thresholds))
        if len(known) == len(p.maxDets):
            return Accumulated(*map(np.ascontiguousarray, found))
        shape = len(thresholds), len(recalls), len(p.catIds), len(p.areaRng), len(p.maxDets)
        result = Accumulated(np.full(shape, -1.0), np.full((shape[0], *shape[2:]), -1.0), np.full(shape, -1.0))
        for out, values in zip(result, found, strict=True):
            out[..., known] = values
        return result

    def _select(self, p: Params, categories: Sequence[Any]) -> list[list[list[ImageResult | None]]]:
        """The dicts of the categories, area ranges and images asked for, by their values."""
        evaluated = self._paramsEval
        listed = self.evalImgs
        n_images, n_areas = len(evaluated.imgIds), len(evaluated.areaRng)
        if len(listed) != len(categories) * n_areas * n_images:
            raise ValueError(
                f"evalImgs has {len(listed)} elements, but {len(categories)} categories x {n_areas} area ranges x "
                f"{n_images} images were evaluated"
            )
        category_places = {category: place for place, category in enumerate(categories)}
        area_places = {area: place for place, area in enumerate(bounds_of(evaluated.areaRng))}
        image_places = {image: place for place, image in enumerate(evaluated.imgIds)}
        images = [image_places[image] for image in p.imgIds if image in image_places]
        selected = []
        for category in p.catIds:
            of_category = []
            for area in bounds_of(p.areaRng):
                found: list[ImageResult | None] = []
                if category in category_places and area in area_places:
                    start = (category_places[category] * n_areas + area_places[area]) * n_images
                    found = [listed[start + place] for place in images]
                of_category.append(found)
            selected.append(of_category)
        return selected

    def summarize(self) -> None:
        """Print the twelve numbers, and keep them in ``stats``."""
        if not self.eval:
            raise RuntimeError("Please run accumulate() first")
        p = self.params
        stats = np.zeros(len(SUMMARY))
        for place, (what, threshold, area, most) in enumerate(SUMMARY):
            n_detections = 100 if most is None else p.maxDets[most]
            stats[place] = self._mean(what, threshold, area, n_detections)
            thresholds = f"{p.iouThrs[0]:0.2f}:{p.iouThrs[-1]:0.2f}" if threshold is None else f"{threshold:0.2f}"
            print(LINE.format(*TITLES[what], thresholds, area, n_detections, stats[place]))
        self.stats = stats

    def _mean(self, what: str, threshold: float | None, area: str, n_detections: int) -> float:
        """The mean of what is defined, or -1."""
        p = self.params
        values = self.eval[what]
        if threshold is not None:
            values = values[np.asarray(p.iouThrs) == threshold]
        areas = [place for place, label in enumerate(p.areaRngLbl) if label == area]
        numbers = [place for place, number in enumerate(p.maxDets) if number == n_detections]
        values = values[..., areas, numbers]
        values = values[values > -1]
        return float(np.mean(values)) if len(values) else -1.0


def check_iou_type(iou_type: str) -> None:
    if iou_type == "keypoints":
        raise NotImplementedError('iouType "keypoints" is not supported: masks ("segm") and boxes ("bbox") are')
    if iou_type not in ("segm", "bbox"):
        raise ValueError(f"iouType not supported: {iou_type!r}; 'segm' or 'bbox' is needed")


def document_of(coco: Any, name: str) -> Any:
    """What a COCO object holds: columns as long as nobody has looked at objects."""
    if coco is None:
        raise ValueError(f"{name} is None: COCOeval needs objects and detections before evaluate()")
    return coco.document() if isinstance(coco, COCO) else coco.dataset


def bounds_of(areas: Any) -> list[tuple[float, ...]]:
    return [tuple(area) for area in areas]


def same(one: Any, other: Any) -> bool:
    return list(one) == list(other)


def now() -> str:
    import datetime

    return datetime.datetime.now().strftime("%Y-%m-%d %H:%M:%S")
