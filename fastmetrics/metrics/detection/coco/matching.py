"""Detections matched with objects by group, then precision and recall by score: the source of all COCO numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.detection import matching as kernel
from fastmetrics.metrics.detection.dataset import Dataset
from fastmetrics.metrics.detection.image_category_groups import (
    ImageCategoryGroups,
    for_group_ranges,
    ranks_in_groups,
)

# Higher thresholds are lowered to this value, as in pycocotools: an IoU of 1 may be rounded down.
HIGHEST_THRESHOLD = 1 - 1e-10


class CriteriaMatches(NamedTuple):
    """The matches under at most 64 criteria, one bit for each. A criterion is an IoU threshold in an area range.

    The bit is (area - areas.start) * n_thresholds + (threshold - thresholds.start).
    """

    thresholds: slice  # of the IoU thresholds
    areas: slice  # of the area ranges
    n_thresholds: int
    matched: np.ndarray  # uint64[n_detections]
    ignored: np.ndarray  # uint64[n_detections]


class Matches(NamedTuple):
    """The matches under all criteria: T IoU thresholds in A area ranges, of K categories.

    Detections are in the order of groups.detection_rows, objects in that of groups.truth_rows.
    """

    criteria: list[CriteriaMatches]
    n_truth: np.ndarray  # int64[K, A]: number of objects that count
    # The matched row as an index in the group, or -1. Both have no rows unless they are requested.
    truth_of_detection: np.ndarray  # int32[n_detections, A, T]
    detection_of_truth: np.ndarray  # int32[n_truth, A, T]


class Accumulated(NamedTuple):
    """pycocotools' arrays; `undefined` if a category has no object that counts."""

    precision: np.ndarray  # float64[T, R, K, A, M]
    recall: np.ndarray  # float64[T, K, A, M]
    scores: np.ndarray  # float64[T, R, K, A, M]


def match(
    dataset: Dataset,
    groups: ImageCategoryGroups,
    ious: np.ndarray,
    iou_thresholds: np.ndarray,
    area_ranges: np.ndarray,
    *,
    n_categories: int,
    with_rows: bool = False,
    n_threads: int | None = None,
) -> Matches:
    """Match the detections of every group at every IoU threshold (T) in every area range (float64[A, 2])."""
    truth = dataset.ground_truth
    n_detections, n_thresholds, n_areas = len(groups.detection_rows), len(iou_thresholds), len(area_ranges)
    lowered = np.minimum(iou_thresholds, HIGHEST_THRESHOLD)
    shape = (n_areas, n_thresholds)
    truth_of_detection = np.full((n_detections if with_rows else 0, *shape), -1, np.int32)
    detection_of_truth = np.full((len(groups.truth_rows) if with_rows else 0, *shape), -1, np.int32)
    most_truth = int(np.diff(groups.truth_starts).max(initial=0))
    all_criteria = []
    for some, areas in split_criteria(n_thresholds, n_areas):
        thresholds, ranges = lowered[some], np.ascontiguousarray(area_ranges[areas])
        criteria = CriteriaMatches(
            some, areas, len(thresholds), np.empty(n_detections, np.uint64), np.empty(n_detections, np.uint64)
        )
        all_criteria.append(criteria)
        match_criteria(
            dataset, groups, ious, thresholds, ranges, criteria, most_truth,
            truth_of_detection[:, areas, some], detection_of_truth[:, areas, some], n_threads,
        )  # fmt: skip
    n_truth = np.zeros((n_categories, n_areas), np.int64)
    categories = np.repeat(groups.categories, np.diff(groups.truth_starts))
    rows = groups.truth_rows
    regular = ~(truth.ignore[rows] | truth.crowd[rows]).astype(bool)
    for area, (lowest, highest) in enumerate(area_ranges.tolist()):
        counted = regular & (truth.areas[rows] >= lowest) & (truth.areas[rows] <= highest)
        n_truth[:, area] = np.bincount(categories[counted], minlength=n_categories)
    return Matches(all_criteria, n_truth, truth_of_detection, detection_of_truth)


def split_criteria(n_thresholds: int, n_areas: int) -> Iterator[tuple[slice, slice]]:
    """Yield slices of IoU thresholds and of area ranges with at most 64 criteria together."""
    for start in range(0, n_thresholds, kernel.MAX_CRITERIA):
        stop = min(start + kernel.MAX_CRITERIA, n_thresholds)
        step = max(1, kernel.MAX_CRITERIA // (stop - start))
        for area in range(0, n_areas, step):
            yield slice(start, stop), slice(area, min(area + step, n_areas))


def match_criteria(
    dataset: Dataset, groups: ImageCategoryGroups, ious: np.ndarray, thresholds: np.ndarray, ranges: np.ndarray,
    criteria: CriteriaMatches, most_truth: int, truth_of_detection: np.ndarray, detection_of_truth: np.ndarray,
    n_threads: int | None,
) -> None:  # fmt: skip
    """Fill the bits of `criteria` and the two arrays of matches, if they have rows."""
    truth, detections = dataset.ground_truth, dataset.detections

    def make_worker() -> Callable[[int, int], None]:
        scratch = np.empty(5 * most_truth + 1, np.uint64)
        return lambda first, last: kernel.match_groups(
            first, last, groups.truth_starts, groups.truth_rows, groups.detection_starts, groups.detection_rows,
            groups.iou_starts, ious, truth.areas, truth.crowd, truth.ignore, detections.areas, thresholds, ranges,
            criteria.matched, criteria.ignored, scratch, truth_of_detection, detection_of_truth
        )  # fmt: skip

    for_group_ranges(groups.detection_starts, make_worker, n_threads)


def accumulate(
    scores_of_rows: np.ndarray,
    groups: ImageCategoryGroups,
    matches: Matches,
    n_thresholds: int,
    recall_thresholds: np.ndarray,
    max_detections: np.ndarray,
    *,
    undefined: float = -1.0,
    n_threads: int | None = None,
) -> Accumulated:
    """Compute precision, recall and scores by category, area range and largest number of detections (int64).

    `scores_of_rows` are the scores of all detections.
    """
    n_categories, n_areas = matches.n_truth.shape
    n_recalls = len(recall_thresholds)
    shape = (n_categories, n_areas, len(max_detections), n_thresholds)
    precision, scores = (np.empty((*shape, n_recalls)) for _ in range(2))
    recall = np.empty(shape)
    starts = groups.detection_starts[np.searchsorted(groups.categories, np.arange(n_categories + 1))]
    longest = int(np.diff(starts).max(initial=0))
    detection_scores = scores_of_rows[groups.detection_rows]
    detection_ranks = ranks_in_groups(groups.detection_starts).astype(np.int32)
    for criteria in matches.criteria:
        some, areas = criteria.thresholds, criteria.areas
        n_truth = np.ascontiguousarray(matches.n_truth[:, areas])

        def make_worker(
            criteria: CriteriaMatches = criteria, n_truth: np.ndarray = n_truth, some: slice = some,
            areas: slice = areas,
        ) -> Callable[[int, int], None]:  # fmt: skip
            scratch = np.empty((9 + n_truth.shape[1]) * longest + n_recalls + 2 * kernel.MAX_CRITERIA + 2, np.uint64)
            return lambda first, last: kernel.accumulate(
                first, last, starts, detection_scores, detection_ranks, criteria.matched, criteria.ignored, n_truth,
                recall_thresholds, max_detections, criteria.n_thresholds, undefined, precision[:, areas, :, some],
                recall[:, areas, :, some], scores[:, areas, :, some], scratch,
            )  # fmt: skip

        for_group_ranges(starts, make_worker, n_threads)
    return Accumulated(
        precision.transpose(3, 4, 0, 1, 2), recall.transpose(3, 0, 1, 2), scores.transpose(3, 4, 0, 1, 2)
    )
