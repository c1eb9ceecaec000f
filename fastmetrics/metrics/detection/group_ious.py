"""IoU of every detection with every object of its group, of boxes or of masks."""

from __future__ import annotations

import numpy as np

from fastmetrics._kernels.detection import group_iou, masks
from fastmetrics.metrics.detection.dataset import Dataset
from fastmetrics.metrics.detection.image_category_groups import ImageCategoryGroups, for_group_ranges
from fastmetrics.metrics.detection.run_length_masks import Masks

MIN_MASK_PAIRS_PER_RANGE = 256  # for fewer pairs, another thread costs more time than it saves


def compute_ious(
    dataset: Dataset, groups: ImageCategoryGroups, iou_type: str, n_threads: int | None = None
) -> np.ndarray:
    """Return the IoU matrices of all groups in one array; see ImageCategoryGroups.

    For a crowd, the IoU is the share of the detection that lies in it.
    """
    ious = np.empty(int(groups.iou_starts[-1]))
    truth, detections = dataset.ground_truth, dataset.detections
    if iou_type == "bbox":
        rows = groups.grouped_rows()
        for_group_ranges(
            groups.iou_starts,
            lambda first, last: group_iou.box_iou_by_group(
                first, last, truth.boxes, truth.crowd, detections.boxes, rows, ious
            ),
            n_threads,
        )
        return ious
    if truth.masks is None or detections.masks is None:
        raise RuntimeError("the data set was read without masks")
    different = fill_mask_ious(detections.masks, truth.masks, truth.crowd, groups, ious, n_threads)
    if different is not None:
        detection_row, truth_row = different
        raise ValueError(
            f"detections has a mask of size {detections.masks.sizes[detection_row].tolist()} at row {detection_row}, "
            f"but ground_truth one of size {truth.masks.sizes[truth_row].tolist()} at row {truth_row} of the same image"
        )
    return ious


def fill_mask_ious(
    detections: Masks, truth: Masks, crowd: np.ndarray, groups: ImageCategoryGroups, out: np.ndarray,
    n_threads: int | None,
) -> tuple[int, int] | None:  # fmt: skip
    """Fill the IoU of each group. Return the rows of the first two masks of different sizes, or None."""
    different: list[tuple[int, int]] = []
    if len(out) == 0:
        return None

    rows = groups.grouped_rows()
    own, others = (masks.MaskColumns(each.counts, each.starts, each.sizes) for each in (detections, truth))

    def work(start: int, stop: int) -> None:
        group, pair = masks.mask_iou_by_group(own, others, crowd, rows, out, start, stop)
        if group >= 0:
            different.append((group, pair))

    for_group_ranges(groups.iou_starts, work, n_threads, MIN_MASK_PAIRS_PER_RANGE)
    if not different:
        return None
    group, pair = min(different)
    detection, target = divmod(pair, int(groups.truth_starts[group + 1] - groups.truth_starts[group]))
    return (
        int(groups.detection_rows[groups.detection_starts[group] + detection]),
        int(groups.truth_rows[groups.truth_starts[group] + target]),
    )
