"""The data types that every reader makes and every evaluation takes: ground truth and detections as columns.

An image or category is stored as its index in a sorted list of ids, so later steps never compare ids. Rows keep their
input order, because the order decides between equal scores.
"""

from __future__ import annotations

import numpy as np

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.metrics.detection.run_length_masks import Masks

IOU_TYPES = ("bbox", "segm")


class GroundTruth(NamedTuple):
    """Annotated objects, in input order."""

    images: np.ndarray  # int64[n]: index in Dataset.image_ids
    categories: np.ndarray  # int64[n]: index in Dataset.category_ids
    boxes: np.ndarray  # float64[n, 4]: x, y, width, height
    areas: np.ndarray  # float64[n]
    crowd: np.ndarray  # uint8[n]: 1 for a region of many objects; several detections may match it
    ignore: np.ndarray  # uint8[n]: 1 for an object that counts neither as found nor as missed; crowds are included
    ids: np.ndarray  # int64[n]
    masks: Masks | None


class Detections(NamedTuple):
    """Detections, in input order."""

    images: np.ndarray  # int64[m]: index in Dataset.image_ids
    categories: np.ndarray  # int64[m]: index in Dataset.category_ids
    boxes: np.ndarray  # float64[m, 4]: x, y, width, height
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
    ground_truth: GroundTruth
    detections: Detections
