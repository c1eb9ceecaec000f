"""Ground truth and detections by group: those of one category in one image meet nowhere else.

A group's detections stand by falling score, equal scores in the order given, its objects in the order given. Groups are
sorted by category, then by image, so that a category's groups are neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._kernels import boxgroups as kernel
from fastmetrics.metrics.detection.annotations import Dataset

UNIT_ROWS = 1 << 15  # below about so many rows a thread more costs more than it does


class Groups(NamedTuple):
    """The groups that have ground truth or detections.

    The IoU of group g's d-th detection with its t-th object is overlaps[overlap_starts[g] + d * n_truth + t].
    """

    categories: np.ndarray  # int64[g]: place in Dataset.category_ids; 0 where categories are not told apart
    images: np.ndarray  # int64[g]: place in Dataset.image_ids
    truth_starts: np.ndarray  # int64[g + 1]
    truth_rows: np.ndarray  # int64: rows of GroundTruth
    found_starts: np.ndarray  # int64[g + 1]
    found_rows: np.ndarray  # int64: rows of Detections, at most `most_detections` of a group
    overlap_starts: np.ndarray  # int64[g + 1]


def make_groups(
    dataset: Dataset, most_detections: int, use_categories: bool = True, n_threads: int | None = None
) -> Groups:
    """Sort the rows into groups. Without categories an image is one group, its rows by category, then as given."""
    truth, found = dataset.truth, dataset.found
    n_images, n_categories = max(1, len(dataset.image_ids)), max(1, len(dataset.category_ids))
    if use_categories:
        truth_rows, found_rows = (
            place(each.categories, n_categories, place(each.images, n_images)) for each in (truth, found)
        )
        truth_keys = (truth.categories * n_images + truth.images)[truth_rows]
        found_keys = (found.categories * n_images + found.images)[found_rows]
    else:
        truth_rows, found_rows = (
            place(each.images, n_images, place(each.categories, n_categories)) for each in (truth, found)
        )
        truth_keys, found_keys = truth.images[truth_rows], found.images[found_rows]
    room = len(truth_keys) + len(found_keys) + 1
    keys, truth_starts, found_starts = (np.empty(room, np.int64) for _ in range(3))
    n = kernel.list_groups(truth_keys, found_keys, keys, truth_starts, found_starts)
    keys, truth_starts, found_starts = keys[:n], truth_starts[: n + 1], found_starts[: n + 1]
    sort_groups(found_starts, found.scores, found_rows, n_threads)
    found_starts, found_rows = cut(found_starts, found_rows, most_detections)
    overlap_starts = np.zeros(n + 1, np.int64)
    np.cumsum(np.diff(truth_starts) * np.diff(found_starts), out=overlap_starts[1:])
    categories, images = np.divmod(keys, n_images)
    return Groups(categories, images, truth_starts, truth_rows, found_starts, found_rows, overlap_starts)


def place(keys: np.ndarray, n_keys: int, rows: np.ndarray | None = None) -> np.ndarray:
    """Rows in stable order of their keys, which are less than n_keys."""
    out = np.empty(len(keys), np.int64)
    kernel.place_rows(keys, np.empty(0, np.int64) if rows is None else rows, np.empty(n_keys + 1, np.int64), out)
    return out


def sort_groups(starts: np.ndarray, scores: np.ndarray, rows: np.ndarray, n_threads: int | None) -> None:
    """Bring each group's rows into the order of their falling scores."""
    longest = int(np.diff(starts).max(initial=0))

    def make_worker() -> Callable[[int, int], None]:
        scratch = np.empty(4 * longest, np.uint64)
        return lambda first, last: kernel.sort_groups(first, last, starts, scores, rows, scratch)

    over_ranges(starts, make_worker, n_threads)


def cut(starts: np.ndarray, rows: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """The first `most` rows of each group."""
    lengths = np.diff(starts)
    if lengths.max(initial=0) <= most:
        return starts, rows
    kept = ranks(starts) < most
    ends = np.zeros(len(starts), np.int64)
    np.cumsum(np.minimum(lengths, most), out=ends[1:])
    return ends, rows[kept]


def ranks(starts: np.ndarray) -> np.ndarray:
    """The place of each row in its group."""
    places = np.arange(starts[-1], dtype=np.int64)
    places -= np.repeat(starts[:-1], np.diff(starts))
    return places


def over_ranges(
    starts: np.ndarray, make_worker: Callable[[], Callable[[int, int], None]], n_threads: int | None
) -> None:
    """Call a worker for ranges of groups that have about equally many rows, each group in one range."""
    threads = count_threads(n_threads)
    bounds = list(range_bounds(starts, threads))

    def make_range_worker() -> Callable[[int], None]:
        worker = make_worker()
        return lambda unit: worker(*bounds[unit])

    for_each(len(bounds), make_range_worker, threads)


def range_bounds(starts: np.ndarray, n_threads: int) -> Iterator[tuple[int, int]]:
    n_groups, rows = len(starts) - 1, int(starts[-1])
    units = 1 if n_threads == 1 else max(1, min(8 * n_threads, rows // UNIT_ROWS, n_groups))
    ends = np.searchsorted(starts, np.arange(1, units + 1) * (rows / units), side="left")
    ends[-1] = n_groups
    first = 0
    for end in ends.tolist():
        if end > first:
            yield first, end
            first = end
