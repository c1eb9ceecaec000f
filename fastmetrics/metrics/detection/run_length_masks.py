"""Masks in COCO's run-length encoding: the data type, areas and bounding boxes.

The pixels of a mask are in column order, columns from the left, each from the top. The counts of a mask are the lengths
of its runs of pixels outside, inside, outside, and so on. `masks/segmentations.py` reads masks.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._kernels.detection import masks as kernel

RANGES_PER_THREAD = 8
MIN_MASKS_PER_THREAD = 64


class Masks(NamedTuple):
    """Many masks in three arrays: the counts of mask m are counts[starts[m]:starts[m + 1]]; their sum is its size."""

    counts: np.ndarray  # uint32
    starts: np.ndarray  # int64[n + 1]
    sizes: np.ndarray  # int64[n, 2]: height, width

    def measure(self, n_threads: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the areas in pixels (int64[n]) and the bounding boxes (float64[n, 4]: x, y, width, height)."""
        n = len(self.sizes)
        areas, boxes = np.empty(n, np.int64), np.empty((n, 4))
        counts = addressable(self.counts)
        for_mask_ranges(
            n, n_threads, lambda start, stop: kernel.measure(counts, self.starts, self.sizes, areas, boxes, start, stop)
        )
        return areas, boxes


def addressable(counts: np.ndarray) -> np.ndarray:
    """Return the counts; if there are none, an array of one element, because kernels take the address of the first."""
    return counts if len(counts) else np.zeros(1, np.uint32)


def for_mask_ranges(n: int, n_threads: int | None, work: Callable[[int, int], None]) -> None:
    """Call work(start, stop) for ranges of n masks, in several threads if there are many masks."""
    threads = min(count_threads(n_threads), max(1, n // MIN_MASKS_PER_THREAD))
    n_ranges = threads * RANGES_PER_THREAD if threads > 1 else 1
    bounds = np.linspace(0, n, n_ranges + 1).astype(np.int64).tolist()
    for_each(n_ranges, lambda: lambda number: work(bounds[number], bounds[number + 1]), threads)
