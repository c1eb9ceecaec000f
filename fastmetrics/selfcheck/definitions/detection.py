# Written by tools/generate.py from tests/oracles/detection/detection.py.
"""The definition of COCO's evaluation of detections, in plain Python.

T.-Y. Lin et al., Microsoft COCO: common objects in context, ECCV 2014, arXiv:1405.0312, and the page "Detection
evaluation" of cocodataset.org. Annotations and detections are dicts as in COCO's files: `image_id`, `category_id`,
`bbox` (x, y, width, height), `area`, `iscrowd`, `score`.

The text leaves two choices open. They are made as in the reference implementation: detections with equal scores keep
their input order, and a detection with the same IoU with two objects matches the later one.
"""

from typing import Any

Annotation = dict[str, Any]


def box_iou(found: Annotation, truth: Annotation) -> float:
    """Intersection over union. For a crowd region the divisor is the area of the detection."""
    x, y, width, height = found["bbox"]
    left, top, truth_width, truth_height = truth["bbox"]
    shared_width = min(width + x, truth_width + left) - max(x, left)
    shared_height = min(height + y, truth_height + top) - max(y, top)
    if shared_width <= 0 or shared_height <= 0:
        return 0.0
    intersection = shared_width * shared_height
    area = width * height
    union: float = area if truth.get("iscrowd") else area + truth_width * truth_height - intersection
    return float(intersection / union)
