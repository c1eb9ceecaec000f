"""Detections matched with objects by group, then precision and recall by score: the source of all COCO numbers."""

from __future__ import annotations

from collections.abc import Iterator

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
    objects = kernel.ObjectColumns(truth.areas, truth.crowd, truth.ignore)
    grouped = groups.grouped_rows()
    all_criteria = []
    for some, areas in split_criteria(n_thresholds, n_areas):
        thresholds, ranges = lowered[some], np.ascontiguousarray(area_ranges[areas])
        criteria = CriteriaMatches(
            some, areas, len(thresholds), np.empty(n_detections, np.uint64), np.empty(n_detections, np.uint64)
        )
        all_criteria.append(criteria)
        columns = (
            grouped, ious, objects, dataset.detections.areas, kernel.Criteria(thresholds, ranges), criteria.matched,
            criteria.ignored, truth_of_detection[:, areas, some], detection_of_truth[:, areas, some],
        )  # fmt: skip
        for_group_ranges(
            groups.detection_starts, lambda *bounds, columns=columns: kernel.match_groups(*bounds, *columns), n_threads
        )
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
    detections = kernel.RankedDetections(
        starts, scores_of_rows[groups.detection_rows], ranks_in_groups(groups.detection_starts).astype(np.int32)
    )
    for criteria in matches.criteria:
        some, areas = criteria.thresholds, criteria.areas
        tables = kernel.RecallTables(
            precision[:, areas, :, some], recall[:, areas, :, some], scores[:, areas, :, some], undefined
        )
        columns = (
            detections, criteria.matched, criteria.ignored, np.ascontiguousarray(matches.n_truth[:, areas]),
            recall_thresholds, max_detections, criteria.n_thresholds, tables,
        )  # fmt: skip
        for_group_ranges(starts, lambda *bounds, columns=columns: kernel.accumulate(*bounds, *columns), n_threads)
    return Accumulated(
        precision.transpose(3, 4, 0, 1, 2), recall.transpose(3, 0, 1, 2), scores.transpose(3, 4, 0, 1, 2)
    )
