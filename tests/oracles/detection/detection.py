"""The definition of COCO's evaluation of detections, in plain Python.

T.-Y. Lin et al., Microsoft COCO: common objects in context, ECCV 2014, arXiv:1405.0312, and the page "Detection
evaluation" of cocodataset.org. Annotations and detections are dicts as in COCO's files: `image_id`, `category_id`,
`bbox` (x, y, width, height), `area`, `iscrowd`, `score`.

The text leaves two choices open. They are made as in the reference implementation: detections with equal scores keep
their input order, and a detection with the same IoU with two objects matches the later one.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

Annotation = dict[str, Any]

THRESHOLDS = [0.5 + (0.95 - 0.5) / 9 * step for step in range(9)] + [0.95]
RECALLS = [step * 0.01 for step in range(100)] + [1.0]
AREAS = {"all": (0, 1e10), "small": (0, 32**2), "medium": (32**2, 96**2), "large": (96**2, 1e10)}
MAX_DETECTIONS = (1, 10, 100)
SMALLEST = 2.0**-52  # avoids 0 / 0: precision before the first detection that counts


class Matched(NamedTuple):
    """A detection after matching: its score, the annotation it matches or None, and whether it is ignored."""

    score: float
    truth: Annotation | None
    ignored: bool


def box_iou(found: Annotation, truth: Annotation) -> float:
    """Intersection over union. For a crowd region the divisor is the area of the detection."""
    x, y, width, height = found["bbox"]
    left, top, truth_width, truth_height = truth["bbox"]
    shared_width = min(width + x, truth_width + left) - max(x, left)
    shared_height = min(height + y, truth_height + top) - max(y, top)
    if shared_width <= 0 or shared_height <= 0:
        return 0.0
    intersection = shared_width * shared_height
    area = width * height
    union: float = area if truth.get("iscrowd") else area + truth_width * truth_height - intersection
    return float(intersection / union)


def is_outside(area: float, bounds: tuple[float, float]) -> bool:
    return area < bounds[0] or area > bounds[1]


def by_descending_score(found: Sequence[Annotation]) -> list[Annotation]:
    """Detections by descending score; equal scores keep their input order."""
    return sorted(found, key=lambda detection: -detection["score"])


def match(
    found: Sequence[Annotation],
    truth: Sequence[Annotation],
    threshold: float,
    bounds: tuple[float, float],
    iou: Callable[[Annotation, Annotation], float] = box_iou,
) -> list[Matched]:
    """Match detections of one image and class, in descending order of scores, with the annotation of the highest IoU.

    An annotation is matched once, a crowd region any number of times. An ignored annotation (a crowd, or one outside
    the area range) is matched only if no other one reaches the threshold. The detection is then ignored too.
    """
    ignored = {id(region): bool(region.get("iscrowd")) or is_outside(region["area"], bounds) for region in truth}
    matched_ids: set[int] = set()
    matched = []
    for detection in found:
        best = None
        for wanted in (False, True):
            reached = min(threshold, 1 - 1e-10)
            for region in truth:
                if ignored[id(region)] != wanted or (id(region) in matched_ids and not region.get("iscrowd")):
                    continue
                if iou(detection, region) >= reached:
                    reached = iou(detection, region)
                    best = region
            if best is not None:
                break
        if best is None:
            matched.append(Matched(detection["score"], None, is_outside(detection["area"], bounds)))
        else:
            matched_ids.add(id(best))
            matched.append(Matched(detection["score"], best, ignored[id(best)]))
    return matched


class Curve(NamedTuple):
    """The curve of one threshold, class, area range and maximum number of detections. Undefined if no object counts."""

    recall: float
    precision: list[float]  # at each recall level, the best precision at that recall or beyond
    scores: list[float]  # the score at which that recall is reached


UNDEFINED = Curve(-1.0, [], [])


def curve(matched: Sequence[Matched], n_truth: int, recalls: Sequence[float]) -> Curve:
    """The precision-recall curve of one class. Its detections of all images are in the order of images."""
    if n_truth == 0:
        return UNDEFINED
    true_positives = false_positives = 0
    reached = []
    precisions = []
    ordered = sorted(matched, key=lambda row: -row.score)
    for row in ordered:
        true_positives += row.truth is not None and not row.ignored
        false_positives += row.truth is None and not row.ignored
        reached.append(true_positives / n_truth)
        precisions.append(true_positives / (false_positives + true_positives + SMALLEST))
    for i in range(len(precisions) - 1, 0, -1):
        precisions[i - 1] = max(precisions[i - 1], precisions[i])
    at = [next((i for i, recall in enumerate(reached) if recall >= wanted), None) for wanted in recalls]
    return Curve(
        reached[-1] if reached else 0.0,
        [0.0 if i is None else precisions[i] for i in at],
        [0.0 if i is None else ordered[i].score for i in at],
    )


class Settings(NamedTuple):
    """The parameters of an evaluation; the constants of this module are COCO's defaults."""

    images: Sequence[Any]
    categories: Sequence[Any]
    thresholds: Sequence[float] = THRESHOLDS
    recalls: Sequence[float] = RECALLS
    areas: Sequence[tuple[float, float]] = tuple(AREAS.values())
    max_detections: Sequence[int] = MAX_DETECTIONS
    use_categories: bool = True


def of_image(rows: Sequence[Annotation], image: Any, category: Any, settings: Settings) -> list[Annotation]:
    """The rows of one image and class, or of all classes, one class after the other."""
    categories = [category] if settings.use_categories else settings.categories
    return [
        row for wanted in categories for row in rows if row["image_id"] == image and row["category_id"] == wanted
    ]


def curves(
    truth: Sequence[Annotation],
    found: Sequence[Annotation],
    settings: Settings,
    iou: Callable[[Annotation, Annotation], float] = box_iou,
) -> Iterator[tuple[tuple[int, int, int, int], Curve]]:
    """Every curve with its indices: threshold, class, area range, maximum number of detections."""
    for k, category in enumerate(settings.categories if settings.use_categories else [None]):
        regions = [of_image(truth, image, category, settings) for image in settings.images]
        detections = [by_descending_score(of_image(found, image, category, settings)) for image in settings.images]
        for a, bounds in enumerate(settings.areas):
            counted = sum(not (r.get("iscrowd") or is_outside(r["area"], bounds)) for rows in regions for r in rows)
            for m, max_detections in enumerate(settings.max_detections):
                for t, threshold in enumerate(settings.thresholds):
                    matched = [
                        row
                        for here, there in zip(detections, regions, strict=True)
                        for row in match(here[:max_detections], there, threshold, bounds, iou)
                    ]
                    yield (t, k, a, m), curve(matched, counted, settings.recalls)


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def twelve_numbers(
    truth: Sequence[Annotation],
    found: Sequence[Annotation],
    settings: Settings,
    iou: Callable[[Annotation, Annotation], float] = box_iou,
) -> list[float]:
    """AP, AP50, AP75, of small, medium, large; AR of 1, 10, 100 detections, of small, medium, large. NaN: undefined."""
    curve_of = dict(curves(truth, found, settings, iou))

    def average_precision(a: int, threshold: float | None = None) -> float:
        wanted = {t for t, value in enumerate(settings.thresholds) if threshold in (None, value)}
        return mean(
            [
                value
                for indices, c in curve_of.items()
                if indices[0] in wanted and indices[2:] == (a, 2) and c is not UNDEFINED
                for value in c.precision
            ]
        )

    def average_recall(a: int, m: int) -> float:
        return mean([c.recall for indices, c in curve_of.items() if indices[2:] == (a, m) and c is not UNDEFINED])

    return [
        average_precision(0),
        average_precision(0, settings.thresholds[0]),
        average_precision(0, settings.thresholds[5]),
        *(average_precision(a) for a in (1, 2, 3)),
        *(average_recall(0, m) for m in (0, 1, 2)),
        *(average_recall(a, 2) for a in (1, 2, 3)),
    ]
