"""IoU of every detection with every object of its group, of boxes or of masks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fastmetrics._kernels.detection import group_iou as kernel
from fastmetrics.metrics.detection.dataset import Dataset
from fastmetrics.metrics.detection.image_category_groups import ImageCategoryGroups, for_group_ranges
from fastmetrics.metrics.detection.masks.group_mask_iou import compute_mask_ious


def compute_ious(
    dataset: Dataset, groups: ImageCategoryGroups, iou_type: str, n_threads: int | None = None
) -> np.ndarray:
    """Return the IoU matrices of all groups in one array; see ImageCategoryGroups."""
    ious = np.empty(int(groups.iou_starts[-1]))
    compute = compute_mask_ious if iou_type == "segm" else compute_box_ious
    compute(dataset, groups, ious, n_threads)
    return ious


def compute_box_ious(dataset: Dataset, groups: ImageCategoryGroups, out: np.ndarray, n_threads: int | None) -> None:
    """Fill the IoU of boxes; for a crowd, the share of the detection that lies in it."""
    truth, detections = dataset.ground_truth, dataset.detections

    def make_worker() -> Callable[[int, int], None]:
        return lambda first, last: kernel.box_iou_by_group(
            first, last, truth.boxes, truth.crowd, detections.boxes, groups.truth_starts, groups.truth_rows,
            groups.detection_starts, groups.detection_rows, groups.iou_starts, out
        )  # fmt: skip

    for_group_ranges(groups.iou_starts, make_worker, n_threads)
