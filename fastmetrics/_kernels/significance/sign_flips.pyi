# Written by tools/generate.py from sign_flips.pyx.

import numpy as np
from numpy.typing import NDArray

TILE_SIZE: int
TABLE_SIZE: int
HAS_WIDE_REGISTERS: bool

def add_sign_flips(
    values: NDArray[np.int64],
    seed: int,
    first_tile: int,
    stop_tile: int,
    first: int,
    tables: NDArray[np.int64],
    out: NDArray[np.int64],
    wide: bool = True,
) -> None: ...
def add_all_sign_flips(
    values: NDArray[np.int64],
    first: int,
    tables: NDArray[np.int64],
    out: NDArray[np.int64],
) -> None: ...
