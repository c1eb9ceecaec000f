import numpy as np
from numpy.typing import NDArray

TILE: int
TABLES: int
HAS_WIDE: bool

def add_flipped(
    values: NDArray[np.int64],
    seed: int,
    first_tile: int,
    stop_tile: int,
    first: int,
    tables: NDArray[np.int64],
    out: NDArray[np.int64],
    wide: bool = True,
) -> None: ...
def add_every(
    values: NDArray[np.int64], first: int, tables: NDArray[np.int64], out: NDArray[np.int64]
) -> None: ...
