# Written by tools/generate.py from label_encoding.pyx.

from typing import Any

import numpy as np
from numpy.typing import NDArray

def mark_positive(values: Any, out: NDArray[np.uint8]) -> int: ...
def mark_labels(values: Any, start: int, stop: int, low: int, present: NDArray[np.uint8]) -> int: ...
def look_up_codes(
    values: Any,
    start: int,
    stop: int,
    low: int,
    numbers: NDArray[np.int64],
    out: NDArray[np.int64],
) -> None: ...
def encode_integers(
    values: Any,
    start: int,
    stop: int,
    slots: NDArray[np.int32],
    classes: NDArray[np.int64],
    n_classes: int,
    codes: NDArray[np.int32],
) -> tuple[int, int]: ...
def encode_byte_rows(
    rows: NDArray[np.uint8],
    start: int,
    stop: int,
    slots: NDArray[np.int32],
    first_rows: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    n_classes: int,
    codes: NDArray[np.int32],
) -> tuple[int, int]: ...
def hash_integers(labels: NDArray[np.int64], hashes: NDArray[np.uint64]) -> None: ...
def rehash(hashes: NDArray[np.uint64], slots: NDArray[np.int32]) -> None: ...
def mark_top_k(
    scores: Any,
    n_columns: int,
    codes: NDArray[np.int64],
    k: int,
    start: int,
    stop: int,
    hits: Any,
) -> int: ...
