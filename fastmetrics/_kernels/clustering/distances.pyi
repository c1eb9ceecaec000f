# Written by tools/generate.py from distances.pyx.

from typing import Any

import numpy as np
from numpy.typing import NDArray

ROWS: int
PANEL_F32: int
PANEL_F64: int
PLAIN: int
ROOT: int
ABSOLUTE: int

def widest_registers() -> int: ...
def sort_rows(
    codes: NDArray[np.int64],
    sizes: NDArray[np.int64],
    ends: NDArray[np.int64],
    order: NDArray[np.int64],
) -> None: ...
def pair_sums(
    distances: PointDistances,
    strip: PointStrip,
    sums: NDArray[np.float64],
    other: PointStrip,
    other_sums: NDArray[np.float64],
    memory: TileMemory,
) -> None: ...
def strip_means(
    distances: PointDistances,
    rows: NDArray[np.int64],
    ends: NDArray[np.int64],
    own_rows: NDArray[np.int64],
    clusters: NDArray[np.int64],
    sums: NDArray[np.float64],
    own_sums: NDArray[np.float64],
    nearest_means: NDArray[np.float64],
    memory: TileMemory,
) -> None: ...
def close_clusters(
    sums: NDArray[np.float64],
    sizes: NDArray[np.int64],
    clusters: NDArray[np.int64],
    start: int,
    stop: int,
    own_sums: NDArray[np.float64],
    nearest_means: NDArray[np.float64],
) -> None: ...
def exact_means(
    distances: PointDistances,
    rows: NDArray[np.int64],
    ends: NDArray[np.int64],
    own_rows: NDArray[np.int64],
    clusters: NDArray[np.int64],
    own_sums: NDArray[np.float64],
    nearest_means: NDArray[np.float64],
    memory: TileMemory,
    between: NDArray[np.float64],
) -> None: ...
def row_means(
    block: NDArray[np.float32] | NDArray[np.float64],
    columns: NDArray[np.int64],
    ends: NDArray[np.int64],
    max_size: int,
    clusters: NDArray[np.int64],
    own_sums: NDArray[np.float64],
    nearest_means: NDArray[np.float64],
    copy: NDArray[np.float64],
    small: float,
) -> int: ...
def sparse_distances(
    values: NDArray[np.float64],
    columns: NDArray[np.int64],
    row_starts: NDArray[np.int64],
    values_by_column: NDArray[np.float64],
    rows: NDArray[np.int64],
    column_starts: NDArray[np.int64],
    sizes: NDArray[np.float64],
    kind: int,
    first_row: int,
    out: NDArray[np.float64],
) -> None: ...
def lengths(x: NDArray[np.float32] | NDArray[np.float64], out: NDArray[np.float64]) -> None: ...

class PointDistances:
    n_points: int
    dims: int
    are_double: bool
    def __init__(self, points: Any, kind: int, max_distance: float, max_size: int, width: int) -> None: ...

class TileMemory:
    length: int
    def __init__(self, distances: PointDistances, length: int) -> None: ...

class PointStrip:
    def __init__(
        self,
        rows: NDArray[np.int64],
        run_starts: NDArray[np.int64],
        run_lengths: NDArray[np.int64],
    ) -> None: ...
