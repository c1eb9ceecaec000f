"""Annotated objects and detections as columns, whatever they come as: COCO's JSON, dicts, pycocotools' objects, tables.

Ids of images and categories become places in sorted lists of ids, so that nothing below looks at an id again. Rows keep
the order they were given in: it decides between equal scores.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from fastmetrics.metrics.detection.masks import Masks

IOU_TYPES = ("bbox", "segm")


class GroundTruth(NamedTuple):
    """Annotated objects, in the order given."""

    images: np.ndarray  # int64[n]: place in Dataset.image_ids
    categories: np.ndarray  # int64[n]: place in Dataset.category_ids
    boxes: np.ndarray  # float64[n, 4]: x, y, width, height
    areas: np.ndarray  # float64[n]
    crowd: np.ndarray  # uint8[n]: a region of many objects, which several detections may lie in
    ignore: np.ndarray  # uint8[n]: neither found nor missed; crowds are among them
    ids: np.ndarray  # int64[n]
    masks: Masks | None


class Detections(NamedTuple):
    """What was detected, in the order given."""

    images: np.ndarray  # int64[m]
    categories: np.ndarray  # int64[m]
    boxes: np.ndarray  # float64[m, 4]
    scores: np.ndarray  # float64[m]
    areas: np.ndarray  # float64[m]
    ids: np.ndarray  # int64[m]
    masks: Masks | None


class Dataset(NamedTuple):
    """Ground truth and detections of the same images and categories."""

    image_ids: np.ndarray  # sorted, all different: int64 or text
    category_ids: np.ndarray  # sorted, all different: int64 or text
    category_names: list[str] | None
    image_sizes: np.ndarray | None  # int64[n_images, 2]: height, width
    truth: GroundTruth
    found: Detections


def open_coco(
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
    """Read ground truth and detections of any accepted kind and check them.

    Without areas those of COCO's annotations are not looked at, nor needed: they are what the boxes have.
    """
    from fastmetrics.metrics.detection import coco_columns, coco_dicts

    truth, found = load(ground_truth, "ground_truth"), load(detections, "detections")
    if not is_coco(truth):
        return coco_columns.read_dataset(truth, found, iou_type, categories, images, box, n_threads)
    return coco_dicts.read_dataset(truth, found, iou_type, categories, images, box, with_areas, n_threads)


def load(data: Any, name: str) -> Any:
    """What a path names, or a COCO object holds; anything else as it is."""
    from fastmetrics.metrics.detection.coco_index import COCO

    if isinstance(data, COCO):
        return data.document()
    if isinstance(data, (str, os.PathLike)):
        from fastmetrics.metrics.detection.coco_files import read_json

        return read_json(data, name)
    return data.dataset if hasattr(data, "dataset") else data


def is_coco(data: Any) -> bool:
    """Is it a dict as COCO's JSON files have it? Else it should be columns."""
    return isinstance(data, Mapping) and ("annotations" in data or "images" in data)
