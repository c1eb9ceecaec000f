# Written by tools/generate.py from masks.pyx.

from typing import Any

import numpy as np
from numpy.typing import NDArray
from fastmetrics._kernels.detection.image_category_groups import GroupedRows

MOST_PIXELS: int
UNKNOWN: int
COMPRESSED: int
UNCOMPRESSED: int
POLYGONS: int
NOT_AN_INTEGER: int
NO_POLYGON: int
NOT_A_LIST: int
TOO_SHORT: int
ODD_LENGTH: int
NOT_A_NUMBER: int
BAD_COORDINATE: int

def find_kinds(rows: list[Any], kinds: NDArray[np.uint8], sizes: NDArray[np.int64]) -> MaskTexts: ...
def count_numbers(
    kinds: NDArray[np.uint8],
    texts: MaskTexts,
    out: NDArray[np.int64],
    start: int,
    stop: int,
) -> None: ...
def read_compressed(
    kinds: NDArray[np.uint8],
    texts: MaskTexts,
    sizes: NDArray[np.int64],
    starts: NDArray[np.int64],
    counts: NDArray[np.uint32],
    start: int,
    stop: int,
) -> tuple[int, int, int]: ...
def read_uncompressed(
    rows: list[Any],
    kinds: NDArray[np.uint8],
    sizes: NDArray[np.int64],
    starts: NDArray[np.int64],
    counts: NDArray[np.uint32],
) -> tuple[int, int, Any]: ...
def count_polygons(
    rows: list[Any],
    kinds: NDArray[np.uint8],
    starts: NDArray[np.int64],
) -> tuple[int, int, Any, int]: ...
def read_polygons(
    rows: list[Any],
    kinds: NDArray[np.uint8],
    starts: NDArray[np.int64],
    point_starts: NDArray[np.int64],
    points: NDArray[np.float64],
) -> tuple[int, int, Any]: ...
def count_boundaries(
    points: NDArray[np.float64],
    point_starts: NDArray[np.int64],
    starts: NDArray[np.int64],
    sizes: NDArray[np.int64],
    out: NDArray[np.int64],
    start: int,
    stop: int,
) -> None: ...
def draw(
    points: NDArray[np.float64],
    point_starts: NDArray[np.int64],
    polygon_starts: NDArray[np.int64],
    sizes: NDArray[np.int64],
    starts: NDArray[np.int64],
    counts: NDArray[np.uint32],
    lengths: NDArray[np.int64],
    start: int,
    stop: int,
) -> None: ...
def close_gaps(counts: NDArray[np.uint32], starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> None: ...
def count_runs(pixels: NDArray[np.uint8]) -> int: ...
def runs_of_pixels(pixels: NDArray[np.uint8], out: NDArray[np.uint32]) -> None: ...
def fill_pixels(
    counts: NDArray[np.uint32],
    starts: NDArray[np.int64],
    n_pixels: int,
    out: NDArray[np.uint8],
    start: int,
    stop: int,
) -> None: ...
def text_lengths(
    counts: NDArray[np.uint32],
    starts: NDArray[np.int64],
    out: NDArray[np.int64],
    start: int,
    stop: int,
) -> None: ...
def write_texts(
    counts: NDArray[np.uint32],
    starts: NDArray[np.int64],
    text_starts: NDArray[np.int64],
    out: NDArray[np.uint8],
    start: int,
    stop: int,
) -> None: ...
def measure(
    counts: NDArray[np.uint32],
    starts: NDArray[np.int64],
    sizes: NDArray[np.int64],
    areas: NDArray[np.int64],
    boxes: NDArray[np.float64],
    start: int,
    stop: int,
) -> None: ...
def mask_iou_by_group(
    detection_masks: MaskColumns,
    truth_masks: MaskColumns,
    crowd: NDArray[np.uint8],
    groups: GroupedRows,
    out: NDArray[np.float64],
    start: int,
    stop: int,
) -> tuple[int, int]: ...

class MaskTexts:
    rows: int
    def __init__(self, rows: int) -> None: ...

class MaskColumns:
    n_masks: int
    def __init__(self, counts: NDArray[np.uint32], starts: NDArray[np.int64], sizes: NDArray[np.int64]) -> None: ...
