"""What pycocotools keeps of every image: the dicts of `evalImgs` and the overlaps, made of matches, and back.

Arrays of all images are made at once, and a dict's are views of them. Callers merge such lists of several processes, so
`of_images` accumulates whatever list it is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._kernels.detections import MOST_LANES
from fastmetrics.metrics.detection.annotations import Dataset, Detections, GroundTruth
from fastmetrics.metrics.detection.groups import Groups
from fastmetrics.metrics.detection.matching import Accumulated, Lanes, Matches, accumulate

ImageResult = dict[str, Any]


class Axes(NamedTuple):
    """What was evaluated, as the parameters have it: elements go into the dicts as they are."""

    images: Sequence[Any]
    categories: Sequence[Any]  # [-1] where categories are not told apart
    areas: Sequence[Any]
    most: int


def list_overlaps(axes: Axes, groups: Groups, overlaps: np.ndarray) -> dict[tuple[Any, Any], Any]:
    """The overlaps by image and category, detections by falling score x objects; an empty list where there are none."""
    found: dict[tuple[Any, Any], Any] = {(image, category): [] for image in axes.images for category in axes.categories}
    n_truth, n_found = np.diff(groups.truth_starts), np.diff(groups.found_starts)
    some = np.flatnonzero(n_truth * n_found)
    for group, rows, columns in zip(some.tolist(), n_found[some].tolist(), n_truth[some].tolist(), strict=True):
        start = int(groups.overlap_starts[group])
        key = axes.images[groups.images[group]], axes.categories[groups.categories[group]]
        found[key] = overlaps[start : start + rows * columns].reshape(rows, columns)
    return found


def list_images(
    axes: Axes, dataset: Dataset, groups: Groups, matches: Matches, area_ranges: np.ndarray
) -> list[ImageResult | None]:
    """A dict for each category, area range and image, in this order; None where an image has nothing of it."""
    n_images, n_areas = len(axes.images), len(axes.areas)
    listed: list[ImageResult | None] = [None] * (len(axes.categories) * n_areas * n_images)
    found_ids = dataset.found.ids[groups.found_rows]
    shown_ids, shown_scores = found_ids.tolist(), dataset.found.scores[groups.found_rows].tolist()
    bounds = [starts.tolist() for starts in (groups.truth_starts, groups.found_starts)]
    images, categories = groups.images.tolist(), groups.categories.tolist()
    for place, area in enumerate(axes.areas):
        part = Part(dataset, groups, matches, place, area_ranges[place], found_ids)
        truth_ids = part.truth_ids.tolist()
        for group, (image, category) in enumerate(zip(images, categories, strict=True)):
            truth = slice(bounds[0][group], bounds[0][group + 1])
            found = slice(bounds[1][group], bounds[1][group + 1])
            listed[(category * n_areas + place) * n_images + image] = {
                "image_id": axes.images[image],
                "category_id": axes.categories[category],
                "aRng": area,
                "maxDet": axes.most,
                "dtIds": shown_ids[found],
                "gtIds": truth_ids[truth],
                "dtMatches": part.matched_truth[:, found],
                "gtMatches": part.matched_found[:, truth],
                "dtScores": shown_scores[found],
                "gtIgnore": part.truth_ignored[truth],
                "dtIgnore": part.found_ignored[:, found],
            }
    return listed


class Part:
    """The columns of one area range, group after group; objects that are ignored come last in their group."""

    def __init__(
        self, dataset: Dataset, groups: Groups, matches: Matches, place: int, area_range: np.ndarray,
        found_ids: np.ndarray,
    ) -> None:  # fmt: skip
        truth, rows = dataset.truth, groups.truth_rows
        least, most = area_range.tolist()
        ignored = (truth.ignore[rows] | truth.crowd[rows]).astype(bool)
        ignored |= (truth.areas[rows] < least) | (truth.areas[rows] > most)
        group_of = np.repeat(np.arange(len(groups.images)), np.diff(groups.truth_starts))
        order = np.lexsort((ignored, group_of))
        ids = truth.ids[rows]
        truth_of, found_of = matches.truth_of[:, place].T, matches.found_of[:, place].T
        self.truth_ids = ids[order]
        self.truth_ignored = ignored[order].astype(np.int64)
        self.matched_truth = matched_ids(truth_of, ids, starts_of(groups.found_starts, groups.truth_starts))
        of_found = matched_ids(found_of, found_ids, starts_of(groups.truth_starts, groups.found_starts))
        self.matched_found = of_found[:, order]
        areas = dataset.found.areas[groups.found_rows]
        outside = (areas < least) | (areas > most)
        taken = np.zeros(truth_of.shape, bool)
        if len(ids):
            places = starts_of(groups.found_starts, groups.truth_starts) + truth_of
            taken = ignored[np.where(truth_of < 0, 0, places)]
        self.found_ignored = np.where(truth_of < 0, outside, taken)


def starts_of(own: np.ndarray, other: np.ndarray) -> np.ndarray:
    """For each row where the other side of its group starts."""
    return np.repeat(other[:-1], np.diff(own))


def matched_ids(places: np.ndarray, ids: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """The ids of matched rows as floats, and 0 for none."""
    if not len(ids):
        return np.zeros(places.shape)
    return np.where(places < 0, 0.0, ids.astype(np.float64)[np.where(places < 0, 0, starts + places)])


def of_images(
    listed: Sequence[Sequence[Sequence[ImageResult | None]]],
    recalls: np.ndarray,
    most_detections: np.ndarray,
    n_thresholds: int,
) -> Accumulated:
    """Accumulate dicts of images: listed[category][area] are those of the images, in their order."""
    n_categories, n_areas = len(listed), len(listed[0]) if len(listed) else 0
    n_recalls, n_most = len(recalls), len(most_detections)
    result = Accumulated(
        np.full((n_thresholds, n_recalls, n_categories, n_areas, n_most), -1.0),
        np.full((n_thresholds, n_categories, n_areas, n_most), -1.0),
        np.full((n_thresholds, n_recalls, n_categories, n_areas, n_most), -1.0),
    )
    for place in range(n_areas):
        rows = [[each for each in of_category[place] if each is not None] for of_category in listed]
        part = accumulate_rows(rows, recalls, most_detections, n_thresholds)
        for out, values in zip(result, part, strict=True):
            out[..., place, :] = values[..., 0, :]
    return result


def accumulate_rows(
    rows: Sequence[Sequence[ImageResult]], recalls: np.ndarray, most_detections: np.ndarray, n_thresholds: int
) -> Accumulated:
    """Precision and recall of the images of each category, as of one area range."""
    flat = [each for of_category in rows for each in of_category]
    lengths = np.array([len(each["dtScores"]) for each in flat], np.int64)
    starts = np.zeros(len(flat) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    scores = np.array([score for each in flat for score in each["dtScores"]], np.float64)
    matched = joined([each["dtMatches"] for each in flat], n_thresholds, "dtMatches") != 0
    ignored = joined([each["dtIgnore"] for each in flat], n_thresholds, "dtIgnore").astype(bool)
    categories = np.repeat(np.arange(len(rows)), [len(of_category) for of_category in rows])
    counted = [np.count_nonzero(np.asarray(each["gtIgnore"]) == 0) for each in flat]
    n_truth = np.bincount(categories, counted, minlength=len(rows)).astype(np.int64)[:, None]
    nothing, none = np.empty(0), np.empty(0, np.int64)
    boxes, flags = np.empty((0, 4)), np.empty(0, np.uint8)
    dataset = Dataset(
        none, none, None, None, GroundTruth(none, none, boxes, nothing, flags, flags, none, None),
        Detections(none, none, boxes, scores, nothing, none, None),
    )  # fmt: skip
    groups = Groups(categories, none, np.zeros_like(starts), none, starts, np.arange(len(scores)), none)
    # A detection that is matched at no threshold has to be ignored at all or at none where they share a lane's word.
    unmatched = ignored[:, ~matched.any(axis=0)]
    step = MOST_LANES if (unmatched == unmatched[:1]).all() else 1
    no_rows = np.empty((0, 1, n_thresholds), np.int32)
    lanes = [
        Lanes(
            slice(start, min(start + step, n_thresholds)), slice(0, 1), min(step, n_thresholds - start),
            as_bits(matched[start : start + step]), as_bits(ignored[start : start + step]),
        )
        for start in range(0, n_thresholds, step)
    ]  # fmt: skip
    return accumulate(
        dataset, groups, Matches(lanes, n_truth, no_rows, no_rows), n_thresholds, recalls, most_detections
    )


def joined(pieces: list[Any], n_thresholds: int, name: str) -> np.ndarray:
    """One table of all images, a row for each threshold."""
    if not pieces:
        return np.zeros((n_thresholds, 0))
    table = np.concatenate(pieces, axis=1)
    if len(table) != n_thresholds:
        raise ValueError(
            f"{name} in evalImgs has {len(table)} thresholds, but iouThrs has {n_thresholds}: call evaluate() again "
            "after iouThrs has changed"
        )
    return table


def as_bits(table: np.ndarray) -> np.ndarray:
    """Row i of at most 64 as bit i of a word for each column."""
    words = np.zeros(table.shape[1], np.uint64)
    for place, row in enumerate(table):
        words |= row.astype(np.uint64) << np.uint64(place)
    return words
