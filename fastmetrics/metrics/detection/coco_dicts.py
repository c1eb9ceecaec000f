"""COCO's JSON as json.load gives it -> columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics.metrics.detection.annotations import Dataset, Detections, GroundTruth


def read_dataset(truth: Any, found: Any, iou_type: str, categories: Any, images: Any) -> Dataset:
    """Ground truth as a dict of images, annotations and categories; detections as a list, or as such a dict."""
    image_ids = np.unique([each["id"] for each in truth["images"]])
    category_ids = np.unique([each["id"] for each in truth["categories"]])
    names = {each["id"]: str(each.get("name", each["id"])) for each in truth["categories"]}
    sizes = {each["id"]: (each.get("height", -1), each.get("width", -1)) for each in truth["images"]}
    if images is not None:
        image_ids = np.unique(images)
    if categories is not None:
        category_ids = np.unique(categories)
    annotations = truth["annotations"]
    results = found["annotations"] if isinstance(found, dict) else found
    rows = [row for row in annotations if is_wanted(row, image_ids, category_ids)]
    crowd = np.array([bool(row.get("iscrowd", 0)) for row in rows], np.uint8)
    objects = GroundTruth(
        np.searchsorted(image_ids, [row["image_id"] for row in rows]).astype(np.int64),
        np.searchsorted(category_ids, [row["category_id"] for row in rows]).astype(np.int64),
        np.array([row["bbox"] for row in rows], np.float64).reshape(-1, 4),
        np.array([row["area"] for row in rows], np.float64),
        crowd,
        crowd,
        np.array([row["id"] for row in rows], np.int64),
        None,
    )
    kept = [place for place, row in enumerate(results) if is_wanted(row, image_ids, category_ids)]
    rows = [results[place] for place in kept]
    boxes = np.array([row["bbox"] for row in rows], np.float64).reshape(-1, 4)
    if isinstance(found, dict):
        areas = np.array([row["area"] for row in rows], np.float64)
        ids = np.array([row["id"] for row in rows], np.int64)
    else:
        areas = boxes[:, 2] * boxes[:, 3]
        ids = np.array(kept, np.int64) + 1
    return Dataset(
        image_ids,
        category_ids,
        [names[each] for each in category_ids.tolist()],
        np.array([sizes[each] for each in image_ids.tolist()], np.int64).reshape(-1, 2),
        objects,
        Detections(
            np.searchsorted(image_ids, [row["image_id"] for row in rows]).astype(np.int64),
            np.searchsorted(category_ids, [row["category_id"] for row in rows]).astype(np.int64),
            boxes,
            np.array([row["score"] for row in rows], np.float64),
            areas,
            ids,
            None,
        ),
    )


def is_wanted(row: Any, image_ids: np.ndarray, category_ids: np.ndarray) -> bool:
    return row["image_id"] in image_ids and row["category_id"] in category_ids
