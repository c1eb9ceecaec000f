"""Groups of ground truth and detections: the rows of one category in one image are one group.

Only rows of the same group are compared. A group's detections are sorted by descending score, with equal scores in
input order. Its objects are in input order. Groups are sorted by category and then by image, so the groups of a
category are contiguous.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._kernels.detection import image_category_groups as kernel
from fastmetrics.metrics.detection.dataset import Dataset

MIN_ROWS_PER_RANGE = 1 << 15  # for fewer rows, another thread costs more time than it saves


class ImageCategoryGroups(NamedTuple):
    """The groups that have ground truth or detections.

    The IoU of detection d and object t of group g is ious[iou_starts[g] + d * n_truth + t].
    """

    categories: np.ndarray  # int64[g]: index in Dataset.category_ids; 0 if categories are not used
    images: np.ndarray  # int64[g]: index in Dataset.image_ids
    truth_starts: np.ndarray  # int64[g + 1]
    truth_rows: np.ndarray  # int64: rows of GroundTruth
    detection_starts: np.ndarray  # int64[g + 1]
    detection_rows: np.ndarray  # int64: rows of Detections, at most `max_detections` of a group
    iou_starts: np.ndarray  # int64[g + 1]

    def grouped_rows(self) -> kernel.GroupedRows:
        """The rows of groups as kernels read them."""
        return kernel.GroupedRows(
            self.truth_starts, self.truth_rows, self.detection_starts, self.detection_rows, self.iou_starts
        )


def make_groups(
    dataset: Dataset, max_detections: int, use_categories: bool = True, n_threads: int | None = None
) -> ImageCategoryGroups:
    """Sort the rows into groups.

    Without categories each image is one group, whose rows are sorted by category and then in input order.
    """
    truth, detections = dataset.ground_truth, dataset.detections
    n_images, n_categories = max(1, len(dataset.image_ids)), max(1, len(dataset.category_ids))
    if use_categories:
        truth_rows, detection_rows = (
            sort_by_key(each.categories, n_categories, sort_by_key(each.images, n_images))
            for each in (truth, detections)
        )
        truth_keys = (truth.categories * n_images + truth.images)[truth_rows]
        detection_keys = (detections.categories * n_images + detections.images)[detection_rows]
    else:
        truth_rows, detection_rows = (
            sort_by_key(each.images, n_images, sort_by_key(each.categories, n_categories))
            for each in (truth, detections)
        )
        truth_keys, detection_keys = truth.images[truth_rows], detections.images[detection_rows]
    max_groups = len(truth_keys) + len(detection_keys) + 1
    keys, truth_starts, detection_starts = (np.empty(max_groups, np.int64) for _ in range(3))
    n = kernel.list_groups(truth_keys, detection_keys, keys, truth_starts, detection_starts)
    keys, truth_starts, detection_starts = keys[:n], truth_starts[: n + 1], detection_starts[: n + 1]
    sort_by_score(detection_starts, detections.scores, detection_rows, n_threads)
    detection_starts, detection_rows = keep_first_rows(detection_starts, detection_rows, max_detections)
    iou_starts = np.append(0, np.cumsum(np.diff(truth_starts) * np.diff(detection_starts)))
    categories, images = np.divmod(keys, n_images)
    return ImageCategoryGroups(
        categories, images, truth_starts, truth_rows, detection_starts, detection_rows, iou_starts
    )


def sort_by_key(keys: np.ndarray, n_keys: int, rows: np.ndarray | None = None) -> np.ndarray:
    """Return rows in stable order of their keys, which are below n_keys."""
    out = np.empty(len(keys), np.int64)
    kernel.counting_sort(keys, np.empty(0, np.int64) if rows is None else rows, np.empty(n_keys + 1, np.int64), out)
    return out


def sort_by_score(starts: np.ndarray, scores: np.ndarray, rows: np.ndarray, n_threads: int | None) -> None:
    """Sort the rows of each group by descending score, in place."""
    for_group_ranges(starts, lambda first, last: kernel.sort_groups(first, last, starts, scores, rows), n_threads)


def keep_first_rows(starts: np.ndarray, rows: np.ndarray, max_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the starts and rows of groups cut to their first `max_rows` rows."""
    lengths = np.diff(starts)
    if lengths.max(initial=0) <= max_rows:
        return starts, rows
    kept = ranks_in_groups(starts) < max_rows
    return np.append(0, np.cumsum(np.minimum(lengths, max_rows))), rows[kept]


def ranks_in_groups(starts: np.ndarray) -> np.ndarray:
    """Return the rank of each row in its group, from 0."""
    ranks = np.arange(starts[-1], dtype=np.int64)
    ranks -= np.repeat(starts[:-1], np.diff(starts))
    return ranks


def for_group_ranges(
    starts: np.ndarray, work: Callable[[int, int], None], n_threads: int | None, min_rows: int | None = None
) -> None:
    """Do work(first, last) for ranges of groups with about equally many rows; each group is in one range."""
    threads = count_threads(n_threads)
    bounds = list(group_ranges(starts, threads, min_rows or MIN_ROWS_PER_RANGE))
    for_each(len(bounds), lambda: lambda number: work(*bounds[number]), threads)


def group_ranges(starts: np.ndarray, n_threads: int, min_rows: int) -> Iterator[tuple[int, int]]:
    """Yield the first group and the end of each range. Several ranges have at least `min_rows` rows on average."""
    n_groups, rows = len(starts) - 1, int(starts[-1])
    n_ranges = 1 if n_threads == 1 else max(1, min(8 * n_threads, rows // min_rows, n_groups))
    ends = np.searchsorted(starts, np.arange(1, n_ranges + 1) * (rows / n_ranges), side="left")
    ends[-1] = n_groups
    first = 0
    for end in ends.tolist():
        if end > first:
            yield first, end
            first = end
