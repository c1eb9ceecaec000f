import numpy as np
from numpy.typing import NDArray

TILE: int
TABLES: int

def add_flipped(
    values: NDArray[np.int64],
    seed: int,
    first_tile: int,
    stop_tile: int,
    first: int,
    tables: NDArray[np.int64],
    out: NDArray[np.int64],
) -> None: ...
def add_every(
    values: NDArray[np.int64], first: int, tables: NDArray[np.int64], out: NDArray[np.int64]
) -> None: ...
