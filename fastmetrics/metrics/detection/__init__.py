"""Boxes and masks against boxes and masks: COCO and VOC mean average precision."""

from fastmetrics.metrics.detection.box_pairs import box_iou
from fastmetrics.metrics.detection.coco import coco_map
from fastmetrics.metrics.detection.coco_eval import COCOeval
from fastmetrics.metrics.detection.coco_index import COCO
from fastmetrics.metrics.detection.coco_result import CategoryTable, CocoResult
from fastmetrics.metrics.detection.run_lengths import decode_masks, encode_masks, mask_areas, mask_iou
from fastmetrics.metrics.detection.voc import VocResult, voc_map

__all__ = [
    "COCO",
    "COCOeval",
    "CategoryTable",
    "CocoResult",
    "VocResult",
    "box_iou",
    "coco_map",
    "decode_masks",
    "encode_masks",
    "mask_areas",
    "mask_iou",
    "voc_map",
]
