"""Ground truth and detections by group: those of one category in one image meet nowhere else.

A group's detections stand by falling score, equal scores in the order given, its objects in the order given. Groups are
sorted by category, then by image, so that a category's groups are neighbours.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fastmetrics.metrics.detection.annotations import Dataset


class Groups(NamedTuple):
    """The groups that have ground truth or detections.

    The IoU of group g's d-th detection with its t-th object is overlaps[overlap_starts[g] + d * n_truth + t].
    """

    categories: np.ndarray  # int64[g]: place in Dataset.category_ids; 0 where categories are not told apart
    images: np.ndarray  # int64[g]: place in Dataset.image_ids
    truth_starts: np.ndarray  # int64[g + 1]
    truth_rows: np.ndarray  # int64: rows of GroundTruth
    found_starts: np.ndarray  # int64[g + 1]
    found_rows: np.ndarray  # int64: rows of Detections, at most `most_detections` of a group
    overlap_starts: np.ndarray  # int64[g + 1]


def make_groups(dataset: Dataset, most_detections: int, use_categories: bool = True) -> Groups:
    """Sort the rows into groups. Without categories an image is one group, its rows by category, then as given."""
    truth, found = dataset.truth, dataset.found
    n_images = len(dataset.image_ids)
    if use_categories:
        truth_keys = truth.categories * n_images + truth.images
        found_keys = found.categories * n_images + found.images
    else:
        truth_keys, found_keys = truth.images, found.images
    truth_rows = np.lexsort((truth.categories, truth_keys))
    found_rows = np.lexsort((found.categories, -found.scores, found_keys))
    truth_keys, found_keys = truth_keys[truth_rows], found_keys[found_rows]
    rank = np.arange(len(found_keys)) - np.searchsorted(found_keys, found_keys)
    kept = rank < most_detections
    found_rows, found_keys = found_rows[kept], found_keys[kept]
    keys = np.union1d(truth_keys, found_keys)
    ends = np.append(keys, np.iinfo(np.int64).max)
    truth_starts = np.searchsorted(truth_keys, ends).astype(np.int64)
    found_starts = np.searchsorted(found_keys, ends).astype(np.int64)
    overlap_starts = np.zeros(len(ends), np.int64)
    np.cumsum(np.diff(truth_starts) * np.diff(found_starts), out=overlap_starts[1:])
    return Groups(
        keys // max(n_images, 1) if use_categories else np.zeros_like(keys),
        keys % max(n_images, 1),
        truth_starts, truth_rows, found_starts, found_rows, overlap_starts,
    )  # fmt: skip
