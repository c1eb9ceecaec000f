"""Columns of boxes (dicts of arrays, Arrow tables, data frames) -> the columns that are matched."""

from __future__ import annotations

from typing import Any

from fastmetrics.metrics.detection.annotations import Dataset


def read_dataset(truth: Any, found: Any, iou_type: str, categories: Any, images: Any, box: str) -> Dataset:
    """Ground truth and detections as columns: image, category, box, score; crowd, area, id, ignore if there are any."""
    raise NotImplementedError
