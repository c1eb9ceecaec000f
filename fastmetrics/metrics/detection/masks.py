"""Masks as runs of pixels: measured, and compared in groups of a category in an image.

A mask's counts go down the columns of its pixels, from the left one: so many outside, then inside, outside, and so on,
as in COCO's run-length encoding. What masks are read from is in segmentations.py.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._kernels import masks as kernel

if TYPE_CHECKING:
    from fastmetrics.metrics.detection.annotations import Dataset
    from fastmetrics.metrics.detection.groups import Groups

PARTS_OF_THREAD = 8
ROWS_OF_PART = 64
PAIRS_OF_PART = 256


class Masks(NamedTuple):
    """Masks one behind the other; mask m's counts stand from starts[m] to starts[m + 1] and add up to its pixels."""

    counts: np.ndarray  # uint32
    starts: np.ndarray  # int64[n + 1]
    sizes: np.ndarray  # int64[n, 2]: height, width

    def measure(self, n_threads: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Pixels inside each mask (int64[n]) and the boxes around them (float64[n, 4]: x, y, width, height)."""
        n = len(self.sizes)
        areas, boxes = np.empty(n, np.int64), np.empty((n, 4))
        counts = room(self.counts)
        in_parts(
            n, n_threads, lambda start, stop: kernel.measure(counts, self.starts, self.sizes, areas, boxes, start, stop)
        )
        return areas, boxes


def room(counts: np.ndarray) -> np.ndarray:
    """The counts, or where there are none, an array that has an address."""
    return counts if len(counts) else np.zeros(1, np.uint32)


def in_parts(n: int, n_threads: int | None, work: Callable[[int, int], None]) -> None:
    """Call work(start, stop) for parts of n rows, in several threads if there are many rows."""
    threads = min(count_threads(n_threads), max(1, n // ROWS_OF_PART))
    parts = threads * PARTS_OF_THREAD if threads > 1 else 1
    bounds = np.linspace(0, n, parts + 1).astype(np.int64).tolist()
    for_each(parts, lambda: lambda part: work(bounds[part], bounds[part + 1]), threads)


def mask_overlaps(dataset: Dataset, groups: Groups, out: np.ndarray, n_threads: int | None) -> None:
    """IoU of each detection's mask with each object's of its group; with a crowd, the share of the detection in it."""
    truth, found = dataset.truth, dataset.found
    if truth.masks is None or found.masks is None:
        raise RuntimeError("a data set that was read without masks")
    different = compare_masks(found.masks, truth.masks, truth.crowd, groups, out, n_threads)
    if different is not None:
        found_row, truth_row = different
        raise ValueError(
            f"detections has a mask of size {found.masks.sizes[found_row].tolist()} at row {found_row}, but "
            f"ground_truth one of size {truth.masks.sizes[truth_row].tolist()} in the same image, at row {truth_row}"
        )


def compare_masks(
    found: Masks, truth: Masks, crowd: np.ndarray, groups: Groups, out: np.ndarray, n_threads: int | None
) -> tuple[int, int] | None:
    """Overlaps into out; the rows of the first two that differ in size and should not, or None."""
    different: list[tuple[int, int]] = []
    if len(out) == 0:
        return None

    def work(start: int, stop: int) -> None:
        group, pair = kernel.overlaps(
            room(found.counts), found.starts, found.sizes, room(truth.counts), truth.starts, truth.sizes,
            crowd, groups.found_starts, groups.found_rows, groups.truth_starts, groups.truth_rows,
            groups.overlap_starts, out, start, stop,
        )  # fmt: skip
        if group >= 0:
            different.append((group, pair))

    threads = min(count_threads(n_threads), 1 + len(out) // PAIRS_OF_PART)
    parts = threads * PARTS_OF_THREAD if threads > 1 else 1
    n_groups = len(groups.overlap_starts) - 1
    inner = np.searchsorted(groups.overlap_starts, np.arange(1, parts) * (len(out) / parts)).tolist()
    bounds = [0, *inner, n_groups]
    for_each(parts, lambda: lambda part: work(bounds[part], bounds[part + 1]), threads)
    if not different:
        return None
    group, pair = min(different)
    place, other = divmod(pair, int(groups.truth_starts[group + 1] - groups.truth_starts[group]))
    return (
        int(groups.found_rows[groups.found_starts[group] + place]),
        int(groups.truth_rows[groups.truth_starts[group] + other]),
    )
