"""Boxes and masks against boxes and masks: COCO and VOC mean average precision."""

from fastmetrics.metrics.detection.box_overlaps import box_iou

__all__ = [
    "box_iou",
]
