# Written by tools/generate.py from distances.pyx.

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
    x: NDArray[np.float32] | NDArray[np.float64],
    kind: int,
    max_distance: float,
    max_size: int,
    rows: NDArray[np.int64],
    run_starts: NDArray[np.int64],
    run_lengths: NDArray[np.int64],
    sums: NDArray[np.float64],
    other_rows: NDArray[np.int64],
    other_run_starts: NDArray[np.int64],
    other_run_lengths: NDArray[np.int64],
    other_sums: NDArray[np.float64],
    same: bool,
    panels: NDArray[np.float32] | NDArray[np.float64],
    pack: NDArray[np.float32] | NDArray[np.float64],
    width: int,
) -> None: ...
def strip_means(
    x: NDArray[np.float32] | NDArray[np.float64],
    kind: int,
    max_distance: float,
    max_size: int,
    rows: NDArray[np.int64],
    ends: NDArray[np.int64],
    own_rows: NDArray[np.int64],
    clusters: NDArray[np.int64],
    sums: NDArray[np.float64],
    own_sums: NDArray[np.float64],
    nearest_means: NDArray[np.float64],
    panels: NDArray[np.float32] | NDArray[np.float64],
    pack: NDArray[np.float32] | NDArray[np.float64],
    width: int,
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
    x: NDArray[np.float64],
    kind: int,
    rows: NDArray[np.int64],
    ends: NDArray[np.int64],
    own_rows: NDArray[np.int64],
    clusters: NDArray[np.int64],
    own_sums: NDArray[np.float64],
    nearest_means: NDArray[np.float64],
    panels: NDArray[np.float64],
    pack: NDArray[np.float64],
    distances: NDArray[np.float64],
    width: int,
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
