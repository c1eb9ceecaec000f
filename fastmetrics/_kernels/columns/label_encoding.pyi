from typing import Any

import numpy as np
from numpy.typing import NDArray

def mark_positive(values: NDArray[Any], out: NDArray[np.uint8]) -> int: ...
def mark_labels(values: NDArray[Any], start: int, stop: int, low: int, present: NDArray[np.uint8]) -> int: ...
def look_up(
    values: NDArray[Any], start: int, stop: int, low: int, numbers: NDArray[np.int64], out: NDArray[np.int64]
) -> None: ...
def number_integers(
    values: NDArray[Any],
    start: int,
    stop: int,
    slots: NDArray[np.int32],
    found: NDArray[np.int64],
    n_found: int,
    codes: NDArray[np.int32],
) -> tuple[int, int]: ...
def number_rows(
    rows: NDArray[np.uint8],
    start: int,
    stop: int,
    slots: NDArray[np.int32],
    found: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    n_found: int,
    codes: NDArray[np.int32],
) -> tuple[int, int]: ...
def hash_integers(labels: NDArray[np.int64], hashes: NDArray[np.uint64]) -> None: ...
def place_again(hashes: NDArray[np.uint64], slots: NDArray[np.int32]) -> None: ...
def mark_top(
    scores: NDArray[np.float32] | NDArray[np.float64],
    n_columns: int,
    codes: NDArray[np.int64],
    k: int,
    start: int,
    stop: int,
    hits: NDArray[np.uint8] | None,
) -> int: ...
