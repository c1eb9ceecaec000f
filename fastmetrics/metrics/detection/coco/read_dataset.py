"""Ground truth and detections of any accepted kind, read into a checked Dataset."""

from __future__ import annotations

import os
from typing import Any

from fastmetrics.metrics.detection.coco import json_files
from fastmetrics.metrics.detection.coco.coco_index import COCO
from fastmetrics.metrics.detection.coco.read_annotations import is_coco, read_annotations
from fastmetrics.metrics.detection.coco.read_columns import read_columns
from fastmetrics.metrics.detection.dataset import Dataset


def read_dataset(
    ground_truth: Any,
    detections: Any,
    *,
    iou_type: str = "bbox",
    categories: Any = None,
    images: Any = None,
    box: str = "xywh",
    with_areas: bool = True,
    n_threads: int | None = None,
) -> Dataset:
    """Read and check ground truth and detections.

    Without `with_areas` the areas of COCO's annotations are not read, so they may be absent: areas are those of boxes.
    """
    truth, detected = load_input(ground_truth, "ground_truth"), load_input(detections, "detections")
    if not is_coco(truth):
        return read_columns(truth, detected, iou_type, categories, images, box, n_threads)
    return read_annotations(truth, detected, iou_type, categories, images, box, with_areas, n_threads)


def load_input(data: Any, name: str) -> Any:
    """Replace a path by the content of its file and a COCO object by its data set; return other input unchanged."""
    if isinstance(data, COCO):
        return data.document()
    if isinstance(data, (str, os.PathLike)):
        return json_files.read_json(data, name)
    return data.dataset if hasattr(data, "dataset") else data
