"""How far a group's detections and objects overlap, for every group: a provider for each kind of region."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fastmetrics._kernels import boxes as kernel
from fastmetrics.metrics.detection.annotations import Dataset
from fastmetrics.metrics.detection.groups import Groups, over_ranges
from fastmetrics.metrics.detection.masks import mask_overlaps


def find_overlaps(dataset: Dataset, groups: Groups, iou_type: str, n_threads: int | None = None) -> np.ndarray:
    """IoU of all detections with the objects of their group."""
    overlaps = np.empty(int(groups.overlap_starts[-1]))
    compare = mask_overlaps if iou_type == "segm" else box_overlaps
    compare(dataset, groups, overlaps, n_threads)
    return overlaps


def box_overlaps(dataset: Dataset, groups: Groups, out: np.ndarray, n_threads: int | None) -> None:
    """IoU of boxes: out[overlap_starts[g] + d * n_truth + t]. With a crowd it is the share of the detection inside."""
    truth, found = dataset.truth, dataset.found

    def make_worker() -> Callable[[int, int], None]:
        return lambda first, last: kernel.box_overlaps(
            first, last, truth.boxes, truth.crowd, found.boxes, groups.truth_starts, groups.truth_rows,
            groups.found_starts, groups.found_rows, groups.overlap_starts, out
        )  # fmt: skip

    over_ranges(groups.overlap_starts, make_worker, n_threads)
