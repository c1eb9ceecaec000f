# Written by tools/generate.py from run_qrels_join.pyx.

import numpy as np
from numpy.typing import NDArray

KEYS_OF_LARGE_TABLES: int

def text_segments(
    data: NDArray[np.uint8],
    starts: NDArray[np.int32] | NDArray[np.int64],
    stops: NDArray[np.int32] | NDArray[np.int64],
    start: int,
    stop: int,
    segment_starts: NDArray[np.int64],
) -> int: ...
def integer_segments(
    values: NDArray[np.int32] | NDArray[np.int64],
    start: int,
    stop: int,
    segment_starts: NDArray[np.int64],
) -> int: ...
def number_texts(
    data: NDArray[np.uint8],
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    table: NDArray[np.uint64],
    numbers: NDArray[np.int64],
    firsts: NDArray[np.int64],
) -> int: ...
def look_up_texts(
    data: NDArray[np.uint8],
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    table: NDArray[np.uint64],
    firsts: NDArray[np.int64],
    other_data: NDArray[np.uint8],
    other_starts: NDArray[np.int64],
    other_stops: NDArray[np.int64],
    numbers: NDArray[np.int64],
) -> None: ...
def sort_by_query(
    segment_starts: NDArray[np.int64],
    n_rows: int,
    numbers: NDArray[np.int64],
    offsets: NDArray[np.int64],
    order: NDArray[np.int64],
) -> None: ...
def join_texts(
    data: NDArray[np.uint8],
    starts: NDArray[np.int32] | NDArray[np.int64],
    stops: NDArray[np.int32] | NDArray[np.int64],
    other_data: NDArray[np.uint8],
    other_starts: NDArray[np.int32] | NDArray[np.int64],
    other_stops: NDArray[np.int32] | NDArray[np.int64],
    relevance: NDArray[np.float64],
    spans: NDArray[np.int64],
    unretrieved_starts: NDArray[np.int64],
    start: int,
    stop: int,
    table: NDArray[np.uint64],
    grades: NDArray[np.float32] | NDArray[np.float64],
    unretrieved: NDArray[np.float64],
    n_unretrieved: NDArray[np.int64],
    repeated: NDArray[np.int64],
) -> bool: ...
def join_integers(
    items: NDArray[np.int64],
    other_items: NDArray[np.int64],
    relevance: NDArray[np.float64],
    spans: NDArray[np.int64],
    unretrieved_starts: NDArray[np.int64],
    start: int,
    stop: int,
    table: NDArray[np.uint64],
    grades: NDArray[np.float32] | NDArray[np.float64],
    unretrieved: NDArray[np.float64],
    n_unretrieved: NDArray[np.int64],
    repeated: NDArray[np.int64],
) -> bool: ...
def close_gaps(
    values: NDArray[np.float64],
    starts: NDArray[np.int64],
    offsets: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None: ...
