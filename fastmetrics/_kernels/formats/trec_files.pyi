# Written by tools/generate.py from trec_files.pyx.

import numpy as np
from numpy.typing import NDArray

PADDING: int
TOO_FEW_FIELDS: int
TOO_MANY_FIELDS: int
NOT_A_NUMBER: int
IS_NAN: int
NOT_AN_INTEGER: int
ROWS: int
SEGMENTS: int
UNFINISHED: int
ERROR: int
BAD_LINE: int
TAG_START: int
TAG_STOP: int
N_STATE: int

def count_newlines(data: NDArray[np.uint8], start: int, stop: int) -> int: ...
def line_start(data: NDArray[np.uint8], position: int, stop: int) -> int: ...
def parse_lines(
    data: NDArray[np.uint8],
    start: int,
    stop: int,
    first_row: int,
    item_starts: NDArray[np.int64],
    item_stops: NDArray[np.int64],
    values: NDArray[np.float64] | NDArray[np.int64],
    query_starts: NDArray[np.int64],
    query_stops: NDArray[np.int64],
    segments: NDArray[np.int64],
    state: NDArray[np.int64],
) -> None: ...
def finish_scores(data: NDArray[np.uint8], item_stops: NDArray[np.int64], scores: NDArray[np.float64]) -> None: ...
