# Written by tools/generate.py from run_qrels_join.pyx.

from typing import Any

import numpy as np
from numpy.typing import NDArray

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
def sort_by_query(
    segment_starts: NDArray[np.int64],
    n_rows: int,
    numbers: NDArray[np.int64],
    offsets: NDArray[np.int64],
    order: NDArray[np.int64],
) -> None: ...
def join(
    run: ItemColumn,
    judged: ItemColumn,
    relevance: NDArray[np.float64],
    spans: NDArray[np.int64],
    unretrieved_starts: NDArray[np.int64],
    start: int,
    stop: int,
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
def join_truth(
    groups: Any,
    lists: Any,
    items: NDArray[np.int64],
    is_truth: Any,
    grades: NDArray[np.float64],
    n_groups: int,
    n_lists: int,
    unjudged: float,
) -> tuple[int, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]: ...

class NumberedTexts:
    numbers: Any
    firsts: Any
    table: Any
    def __init__(self, data: NDArray[np.uint8], starts: NDArray[np.int64], stops: NDArray[np.int64]) -> None: ...
    def look_up(
        self,
        data: NDArray[np.uint8],
        starts: NDArray[np.int64],
        stops: NDArray[np.int64],
    ) -> NDArray[np.int64]: ...

class ItemColumn:
    n_rows: int
    def __init__(self, values: Any, starts: Any | None = None, stops: Any | None = None) -> None: ...
