"""COCO's evaluation of detections, as it is defined, in plain Python.

T.-Y. Lin et al., Microsoft COCO: common objects in context, ECCV 2014, arXiv:1405.0312, and the page "Detection
evaluation" of cocodataset.org. Annotations and detections are dicts as in COCO's files: `image_id`, `category_id`,
`bbox` (x, y, width, height), `area`, `iscrowd`, `score`.

Of two choices that the text leaves open the reference implementation's are taken: detections with equal scores stay in
the order given, and a detection that two regions overlap equally goes to the later one.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

Annotation = dict[str, Any]

THRESHOLDS = [0.5 + (0.95 - 0.5) / 9 * step for step in range(9)] + [0.95]
RECALLS = [step * 0.01 for step in range(100)] + [1.0]
AREAS = {"all": (0, 1e10), "small": (0, 32**2), "medium": (32**2, 96**2), "large": (96**2, 1e10)}
MOST = (1, 10, 100)
SMALLEST = 2.0**-52  # keeps 0 / 0 away: precision before the first detection that counts


class Matched(NamedTuple):
    """A detection after matching: its score, the annotation it found (None: none), whether it counts at all."""

    score: float
    truth: Annotation | None
    ignored: bool


def box_overlap(found: Annotation, truth: Annotation) -> float:
    """Intersection over union. Of a crowd region any part may be found, so its union is the detection."""
    x, y, width, height = found["bbox"]
    left, top, truth_width, truth_height = truth["bbox"]
    shared_width = min(width + x, truth_width + left) - max(x, left)
    shared_height = min(height + y, truth_height + top) - max(y, top)
    if shared_width <= 0 or shared_height <= 0:
        return 0.0
    shared = shared_width * shared_height
    own = width * height
    union = own if truth.get("iscrowd") else own + truth_width * truth_height - shared
    return shared / union


def out_of(area: float, bounds: tuple[float, float]) -> bool:
    return area < bounds[0] or area > bounds[1]


def falling(found: Sequence[Annotation]) -> list[Annotation]:
    """By falling score, equal ones in the order given."""
    return sorted(found, key=lambda detection: -detection["score"])


def match(
    found: Sequence[Annotation],
    truth: Sequence[Annotation],
    threshold: float,
    bounds: tuple[float, float],
    overlap: Callable[[Annotation, Annotation], float] = box_overlap,
) -> list[Matched]:
    """Detections of one image and class, best first, each given the annotation it overlaps most.

    An annotation is taken once, a crowd region any number of times. One that is ignored (crowd, or out of the area
    range) is taken only where no other would do, and takes the detection out of the count.
    """
    ignored = {id(region): bool(region.get("iscrowd")) or out_of(region["area"], bounds) for region in truth}
    taken: set[int] = set()
    matched = []
    for detection in found:
        best = None
        for wanted in (False, True):
            reached = min(threshold, 1 - 1e-10)
            for region in truth:
                if ignored[id(region)] != wanted or (id(region) in taken and not region.get("iscrowd")):
                    continue
                if overlap(detection, region) >= reached:
                    reached = overlap(detection, region)
                    best = region
            if best is not None:
                break
        if best is None:
            matched.append(Matched(detection["score"], None, out_of(detection["area"], bounds)))
        else:
            taken.add(id(best))
            matched.append(Matched(detection["score"], best, ignored[id(best)]))
    return matched


class Curve(NamedTuple):
    """Of one threshold, class, area range and number of detections. Undefined without annotations that count."""

    recall: float
    precision: list[float]  # at each recall asked for, the best precision at that recall or beyond
    scores: list[float]  # the score where that recall is reached


UNDEFINED = Curve(-1.0, [], [])


def curve(matched: Sequence[Matched], n_truth: int, recalls: Sequence[float]) -> Curve:
    """Precision over recall of one class, its detections of all images in image order."""
    if n_truth == 0:
        return UNDEFINED
    right = wrong = 0
    reached = []
    precisions = []
    ordered = sorted(matched, key=lambda row: -row.score)
    for row in ordered:
        right += row.truth is not None and not row.ignored
        wrong += row.truth is None and not row.ignored
        reached.append(right / n_truth)
        precisions.append(right / (wrong + right + SMALLEST))
    for i in range(len(precisions) - 1, 0, -1):
        precisions[i - 1] = max(precisions[i - 1], precisions[i])
    at = [next((i for i, recall in enumerate(reached) if recall >= wanted), None) for wanted in recalls]
    return Curve(
        reached[-1] if reached else 0.0,
        [0.0 if i is None else precisions[i] for i in at],
        [0.0 if i is None else ordered[i].score for i in at],
    )


class Settings(NamedTuple):
    """What is evaluated: see the module's constants for COCO's own."""

    images: Sequence[Any]
    categories: Sequence[Any]
    thresholds: Sequence[float] = THRESHOLDS
    recalls: Sequence[float] = RECALLS
    areas: Sequence[tuple[float, float]] = tuple(AREAS.values())
    most: Sequence[int] = MOST
    use_categories: bool = True


def of_image(rows: Sequence[Annotation], image: Any, category: Any, settings: Settings) -> list[Annotation]:
    """Of one image, one class; or of all classes, one class after the other."""
    categories = [category] if settings.use_categories else settings.categories
    return [
        row for wanted in categories for row in rows if row["image_id"] == image and row["category_id"] == wanted
    ]


def curves(
    truth: Sequence[Annotation],
    found: Sequence[Annotation],
    settings: Settings,
    overlap: Callable[[Annotation, Annotation], float] = box_overlap,
) -> Iterator[tuple[tuple[int, int, int, int], Curve]]:
    """Every curve with its place: threshold, class, area range, number of detections."""
    for k, category in enumerate(settings.categories if settings.use_categories else [None]):
        regions = [of_image(truth, image, category, settings) for image in settings.images]
        detections = [falling(of_image(found, image, category, settings)) for image in settings.images]
        for a, bounds in enumerate(settings.areas):
            counted = sum(not (r.get("iscrowd") or out_of(r["area"], bounds)) for rows in regions for r in rows)
            for m, most in enumerate(settings.most):
                for t, threshold in enumerate(settings.thresholds):
                    matched = [
                        row
                        for here, there in zip(detections, regions, strict=True)
                        for row in match(here[:most], there, threshold, bounds, overlap)
                    ]
                    yield (t, k, a, m), curve(matched, counted, settings.recalls)


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def twelve_numbers(
    truth: Sequence[Annotation],
    found: Sequence[Annotation],
    settings: Settings,
    overlap: Callable[[Annotation, Annotation], float] = box_overlap,
) -> list[float]:
    """AP, AP50, AP75, of small, medium, large; AR of 1, 10, 100 detections, of small, medium, large. NaN: undefined."""
    found_curves = dict(curves(truth, found, settings, overlap))

    def average_precision(a: int, threshold: float | None = None) -> float:
        wanted = {t for t, value in enumerate(settings.thresholds) if threshold in (None, value)}
        return mean(
            [
                value
                for place, c in found_curves.items()
                if place[0] in wanted and place[2:] == (a, 2) and c is not UNDEFINED
                for value in c.precision
            ]
        )

    def average_recall(a: int, m: int) -> float:
        return mean([c.recall for place, c in found_curves.items() if place[2:] == (a, m) and c is not UNDEFINED])

    return [
        average_precision(0),
        average_precision(0, settings.thresholds[0]),
        average_precision(0, settings.thresholds[5]),
        *(average_precision(a) for a in (1, 2, 3)),
        *(average_recall(0, m) for m in (0, 1, 2)),
        *(average_recall(a, 2) for a in (1, 2, 3)),
    ]
