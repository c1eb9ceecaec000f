"""What distances.pyx offers."""

from numpy import float32, float64, int64
from numpy.typing import NDArray

ROWS: int
PANEL_F32: int
PANEL_F64: int
PLAIN: int
ROOT: int
ABSOLUTE: int

Reals = NDArray[float32] | NDArray[float64]

def widest() -> int: ...
def sort_rows(
    codes: NDArray[int64], sizes: NDArray[int64], ends: NDArray[int64], order: NDArray[int64]
) -> None: ...
def pair_sums(
    x: Reals,
    kind: int,
    greatest: float,
    most: int,
    rows: NDArray[int64],
    bounds: NDArray[int64],
    filled: NDArray[int64],
    sums: NDArray[float64],
    other_rows: NDArray[int64],
    other_bounds: NDArray[int64],
    other_filled: NDArray[int64],
    other_sums: NDArray[float64],
    same: bool,
    panels: Reals,
    pack: Reals,
    width: int,
) -> None: ...
def strip_means(
    x: Reals,
    kind: int,
    greatest: float,
    most: int,
    rows: NDArray[int64],
    ends: NDArray[int64],
    own_rows: NDArray[int64],
    clusters: NDArray[int64],
    sums: NDArray[float64],
    own: NDArray[float64],
    best: NDArray[float64],
    panels: Reals,
    pack: Reals,
    width: int,
) -> None: ...
def close_clusters(
    sums: NDArray[float64],
    sizes: NDArray[int64],
    clusters: NDArray[int64],
    start: int,
    stop: int,
    own: NDArray[float64],
    best: NDArray[float64],
) -> None: ...
def exact_means(
    x: NDArray[float64],
    kind: int,
    rows: NDArray[int64],
    ends: NDArray[int64],
    own_rows: NDArray[int64],
    clusters: NDArray[int64],
    own: NDArray[float64],
    best: NDArray[float64],
    panels: NDArray[float64],
    pack: NDArray[float64],
    distances: NDArray[float64],
    width: int,
) -> None: ...
def row_means(
    block: Reals,
    places: NDArray[int64],
    ends: NDArray[int64],
    most: int,
    clusters: NDArray[int64],
    own: NDArray[float64],
    best: NDArray[float64],
    copy: NDArray[float64],
    small: float,
) -> int: ...
def lengths(x: Reals, out: NDArray[float64]) -> None: ...
