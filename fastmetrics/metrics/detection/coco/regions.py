"""Boxes, areas and masks of the rows that are evaluated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from fastmetrics.metrics.detection.masks.segmentations import read_masks
from fastmetrics.metrics.detection.run_length_masks import Masks


class Regions(NamedTuple):
    """Boxes and areas, and masks if masks are compared."""

    boxes: np.ndarray  # float64[n, 4]
    areas: np.ndarray  # float64[n]
    masks: Masks | None


def box_regions(boxes: np.ndarray) -> Regions:
    """Return boxes with their areas."""
    return Regions(boxes, boxes[:, 2] * boxes[:, 3], None)


def mask_regions(
    values: Sequence[Any],
    rows: np.ndarray | None,
    sizes: np.ndarray | None,
    name_of_row: Callable[[int], str],
    n_threads: int | None,
) -> Regions:
    """Read some rows of a column of segmentations (None: all rows), with their bounding boxes and areas.

    `sizes` are those of the images of these rows. `name_of_row` names a row of the column in errors.
    """
    if rows is None:
        masks = read_masks(values, sizes, name_of_row, n_threads)
    else:
        listed = rows.tolist()
        masks = read_masks([values[row] for row in listed], sizes, lambda row: name_of_row(listed[row]), n_threads)
    areas, boxes = masks.measure(n_threads)
    return Regions(boxes, areas.astype(np.float64), masks)
