"""Regions that are compared: boxes, or masks, of the rows that are evaluated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from fastmetrics.metrics.detection.masks import Masks
from fastmetrics.metrics.detection.segmentations import read_masks


class Regions(NamedTuple):
    """Boxes, areas, and masks where these are compared."""

    boxes: np.ndarray  # float64[n, 4]
    areas: np.ndarray  # float64[n]
    masks: Masks | None


def of_boxes(boxes: np.ndarray) -> Regions:
    return Regions(boxes, boxes[:, 2] * boxes[:, 3], None)


def of_masks(
    values: Sequence[Any],
    rows: np.ndarray | None,
    sizes: np.ndarray | None,
    name: Callable[[int], str],
    n_threads: int | None,
) -> Regions:
    """Some rows of a column of segmentations (all: None); sizes are those of the rows' images, `name` is of a row."""
    if rows is None:
        masks = read_masks(values, sizes, name, n_threads)
    else:
        some = rows.tolist()
        masks = read_masks([values[row] for row in some], sizes, lambda row: name(some[row]), n_threads)
    areas, boxes = masks.measure(n_threads)
    return Regions(boxes, areas.astype(np.float64), masks)
