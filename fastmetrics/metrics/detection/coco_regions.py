"""Regions that are compared: masks of rows that are evaluated, and areas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fastmetrics.metrics.detection import masks as mask_module
from fastmetrics.metrics.detection.masks import Masks


def masks_of(
    values: Sequence[Any], rows: np.ndarray | None, sizes: np.ndarray | None, name: str, n_threads: int | None
) -> Masks:
    """The masks of some rows of a column; sizes are those of the rows' images."""
    from fastmetrics.metrics.detection.segmentations import read_masks

    if rows is None:
        return read_masks(values, sizes, name, n_threads=n_threads)
    some = rows.tolist()
    return read_masks([values[row] for row in some], sizes, name, some.__getitem__, n_threads)


def areas_of(boxes: np.ndarray, masks: Masks | None) -> np.ndarray:
    """Areas of masks, or of boxes where there are none."""
    areas: np.ndarray = boxes[:, 2] * boxes[:, 3] if masks is None else mask_module.mask_areas(masks)
    return areas
