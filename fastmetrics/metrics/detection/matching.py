"""Detections matched with objects by group, then precision and recall by score: what all COCO numbers are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from fastmetrics._kernels import detections as kernel
from fastmetrics.metrics.detection.annotations import Dataset
from fastmetrics.metrics.detection.groups import Groups, over_ranges, ranks

HIGHEST_THRESHOLD = 1 - 1e-10  # a threshold above it is lowered to it, as pycocotools does: an IoU of 1 may be rounded


class Lanes(NamedTuple):
    """Some thresholds in some area ranges, at most 64 together: a bit each of `matched` and `ignored`."""

    thresholds: slice  # of the thresholds
    areas: slice  # of the area ranges
    n_thresholds: int
    matched: np.ndarray  # uint64[n_found]: bit (area - areas.start) * n_thresholds + (threshold - thresholds.start)
    ignored: np.ndarray  # uint64[n_found]


class Matches(NamedTuple):
    """What is matched: detections in the order of Groups.found_rows, objects in that of Groups.truth_rows."""

    lanes: list[Lanes]
    n_truth: np.ndarray  # int64[K, A]: objects that count
    truth_of: np.ndarray  # int32[n_found, A, T]: the object's place in the group, or -1; no rows if not asked for
    found_of: np.ndarray  # int32[n_truth, A, T]: the detection's place in the group, or -1; no rows if not asked for


class Accumulated(NamedTuple):
    """pycocotools' arrays; where a category has no object that counts, `undefined`."""

    precision: np.ndarray  # float64[T, R, K, A, M]
    recall: np.ndarray  # float64[T, K, A, M]
    scores: np.ndarray  # float64[T, R, K, A, M]


def match(
    dataset: Dataset,
    groups: Groups,
    overlaps: np.ndarray,
    iou_thresholds: np.ndarray,
    area_ranges: np.ndarray,
    *,
    n_categories: int,
    with_rows: bool = False,
    n_threads: int | None = None,
) -> Matches:
    """Match the detections of every group, at every threshold (T) in every area range (float64[A, 2])."""
    truth = dataset.truth
    n_found, n_thresholds, n_areas = len(groups.found_rows), len(iou_thresholds), len(area_ranges)
    wanted = np.minimum(iou_thresholds, HIGHEST_THRESHOLD)
    shape = (n_areas, n_thresholds)
    truth_of = np.full((n_found if with_rows else 0, *shape), -1, np.int32)
    found_of = np.full((len(groups.truth_rows) if with_rows else 0, *shape), -1, np.int32)
    most_truth = int(np.diff(groups.truth_starts).max(initial=0))
    all_lanes = []
    for some, areas in lane_slices(n_thresholds, n_areas):
        thresholds, ranges = wanted[some], np.ascontiguousarray(area_ranges[areas])
        lanes = Lanes(some, areas, len(thresholds), np.empty(n_found, np.uint64), np.empty(n_found, np.uint64))
        all_lanes.append(lanes)
        match_lanes(
            dataset, groups, overlaps, thresholds, ranges, lanes, most_truth,
            truth_of[:, areas, some], found_of[:, areas, some], n_threads,
        )  # fmt: skip
    n_truth = np.zeros((n_categories, n_areas), np.int64)
    group_of = np.repeat(groups.categories, np.diff(groups.truth_starts))
    rows = groups.truth_rows
    regular = ~(truth.ignore[rows] | truth.crowd[rows]).astype(bool)
    for place, (least, most) in enumerate(area_ranges.tolist()):
        counts = regular & (truth.areas[rows] >= least) & (truth.areas[rows] <= most)
        n_truth[:, place] = np.bincount(group_of[counts], minlength=n_categories)
    return Matches(all_lanes, n_truth, truth_of, found_of)


def lane_slices(n_thresholds: int, n_areas: int) -> Iterator[tuple[slice, slice]]:
    """Thresholds and area ranges, cut so that no part has more than a word's bits."""
    most = kernel.MOST_LANES
    for start in range(0, n_thresholds, most):
        stop = min(start + most, n_thresholds)
        step = max(1, most // (stop - start))
        for area in range(0, n_areas, step):
            yield slice(start, stop), slice(area, min(area + step, n_areas))


def match_lanes(
    dataset: Dataset, groups: Groups, overlaps: np.ndarray, thresholds: np.ndarray, ranges: np.ndarray, lanes: Lanes,
    most_truth: int, truth_of: np.ndarray, found_of: np.ndarray, n_threads: int | None,
) -> None:  # fmt: skip
    truth, found = dataset.truth, dataset.found

    def make_worker() -> Callable[[int, int], None]:
        scratch = np.empty(5 * most_truth + 1, np.uint64)
        return lambda first, last: kernel.match_groups(
            first, last, groups.truth_starts, groups.truth_rows, groups.found_starts, groups.found_rows,
            groups.overlap_starts, overlaps, truth.areas, truth.crowd, truth.ignore, found.areas, thresholds, ranges,
            lanes.matched, lanes.ignored, scratch, truth_of, found_of
        )  # fmt: skip

    over_ranges(groups.found_starts, make_worker, n_threads)


def accumulate(
    dataset: Dataset,
    groups: Groups,
    matches: Matches,
    n_thresholds: int,
    recall_thresholds: np.ndarray,
    max_detections: np.ndarray,
    *,
    undefined: float = -1.0,
    n_threads: int | None = None,
) -> Accumulated:
    """Precision, recall and score by category, area range and most detections (int64) of an image."""
    n_categories, n_areas = matches.n_truth.shape
    n_recalls, n_most = len(recall_thresholds), len(max_detections)
    shape = (n_categories, n_areas, n_most, n_thresholds)
    precision, scores = (np.empty((*shape, n_recalls)) for _ in range(2))
    recall = np.empty(shape)
    starts = groups.found_starts[np.searchsorted(groups.categories, np.arange(n_categories + 1))]
    longest = int(np.diff(starts).max(initial=0))
    score_of, rank_of = dataset.found.scores[groups.found_rows], ranks(groups.found_starts).astype(np.int32)
    for lanes in matches.lanes:
        some, areas = lanes.thresholds, lanes.areas
        n_truth = np.ascontiguousarray(matches.n_truth[:, areas])

        def make_worker(
            lanes: Lanes = lanes, n_truth: np.ndarray = n_truth, some: slice = some, areas: slice = areas
        ) -> Callable[[int, int], None]:
            scratch = np.empty((9 + n_truth.shape[1]) * longest + n_recalls + 2 * kernel.MOST_LANES + 2, np.uint64)
            return lambda first, last: kernel.accumulate(
                first, last, starts, score_of, rank_of, lanes.matched, lanes.ignored, n_truth, recall_thresholds,
                max_detections, lanes.n_thresholds, undefined, precision[:, areas, :, some], recall[:, areas, :, some],
                scores[:, areas, :, some], scratch,
            )  # fmt: skip

        over_ranges(starts, make_worker, n_threads)
    return Accumulated(
        precision.transpose(3, 4, 0, 1, 2), recall.transpose(3, 0, 1, 2), scores.transpose(3, 4, 0, 1, 2)
    )
