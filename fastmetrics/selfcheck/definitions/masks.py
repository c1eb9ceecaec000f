# Written by tools/generate.py from tests/oracles/detection/masks.py.
"""The definitions of masks: sets of pixels, and polygons drawn point by point.

Polygons follow `rleFrPoly` of maskApi.c in the COCO API (P. Dollar and T.-Y. Lin, 2014-2015), whose runs are the
reference. Coordinates are multiplied by five, one half is added, and the result is rounded towards zero. Each edge has
one point for each step along its longer side. If two neighboring points are on two sides of the middle of a column of
pixels, the upper one is a boundary. Pixels after an odd number of boundaries are inside, counted through the whole
image in column order.
"""

from collections.abc import Set
from typing import Any


def iou(found: Set[Any], truth: Set[Any], crowd: bool = False) -> float:
    intersection = len(found & truth)
    return intersection / len(found if crowd else found | truth) if intersection else 0.0
