# Written by tools/generate.py from coco_json.pyx.

import numpy as np
from numpy.typing import NDArray

PADDING: int
MOST_FIELDS: int
INTEGER: int
NUMBER: int
BOX: int
SPAN: int
CELLS: tuple[int, ...]
POSITION: int
ROWS: int
HARD: int
WIDE: int
FINISHED: int
N_STATE: int

def skip_space(data: NDArray[np.uint8], position: int) -> int: ...
def skip_value(data: NDArray[np.uint8], position: int, state: NDArray[np.int64]) -> int: ...
def read_rows(
    data: NDArray[np.uint8],
    position: int,
    names: NDArray[np.uint8],
    name_stops: NDArray[np.int64],
    kinds: NDArray[np.int64],
    cells: NDArray[np.int64],
    seen: NDArray[np.uint64],
    hard: NDArray[np.int64],
    state: NDArray[np.int64],
) -> None: ...
