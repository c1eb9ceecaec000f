"""IoU of masks: every detection with every object of its group."""

from __future__ import annotations

import numpy as np

from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._kernels.detection import masks as kernel
from fastmetrics.metrics.detection.dataset import Dataset
from fastmetrics.metrics.detection.image_category_groups import ImageCategoryGroups
from fastmetrics.metrics.detection.run_length_masks import RANGES_PER_THREAD, Masks, addressable

PAIRS_PER_THREAD = 256


def compute_mask_ious(dataset: Dataset, groups: ImageCategoryGroups, out: np.ndarray, n_threads: int | None) -> None:
    """Fill the IoU of masks; for a crowd, the share of the detection that lies in it."""
    truth, detections = dataset.ground_truth, dataset.detections
    if truth.masks is None or detections.masks is None:
        raise RuntimeError("the data set was read without masks")
    different = fill_mask_ious(detections.masks, truth.masks, truth.crowd, groups, out, n_threads)
    if different is not None:
        detection_row, truth_row = different
        raise ValueError(
            f"detections has a mask of size {detections.masks.sizes[detection_row].tolist()} at row {detection_row}, "
            f"but ground_truth one of size {truth.masks.sizes[truth_row].tolist()} at row {truth_row} of the same image"
        )


def fill_mask_ious(
    detections: Masks, truth: Masks, crowd: np.ndarray, groups: ImageCategoryGroups, out: np.ndarray,
    n_threads: int | None,
) -> tuple[int, int] | None:  # fmt: skip
    """Fill the IoU of each group. Return the rows of the first two masks of different sizes, or None."""
    different: list[tuple[int, int]] = []
    if len(out) == 0:
        return None

    def work(start: int, stop: int) -> None:
        group, pair = kernel.mask_iou_by_group(
            addressable(detections.counts), detections.starts, detections.sizes,
            addressable(truth.counts), truth.starts, truth.sizes,
            crowd, groups.detection_starts, groups.detection_rows, groups.truth_starts, groups.truth_rows,
            groups.iou_starts, out, start, stop,
        )  # fmt: skip
        if group >= 0:
            different.append((group, pair))

    threads = min(count_threads(n_threads), 1 + len(out) // PAIRS_PER_THREAD)
    n_ranges = threads * RANGES_PER_THREAD if threads > 1 else 1
    n_groups = len(groups.iou_starts) - 1
    inner = np.searchsorted(groups.iou_starts, np.arange(1, n_ranges) * (len(out) / n_ranges)).tolist()
    bounds = [0, *inner, n_groups]
    for_each(n_ranges, lambda: lambda number: work(bounds[number], bounds[number + 1]), threads)
    if not different:
        return None
    group, pair = min(different)
    detection, target = divmod(pair, int(groups.truth_starts[group + 1] - groups.truth_starts[group]))
    return (
        int(groups.detection_rows[groups.detection_starts[group] + detection]),
        int(groups.truth_rows[groups.truth_starts[group] + target]),
    )
