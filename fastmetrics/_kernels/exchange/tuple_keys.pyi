# Written by tools/generate.py from tuple_keys.pyx.

from typing import Any

import numpy as np
from numpy.typing import NDArray

INT32: int
INT64: int
UINT64: int
TEXT32: int
TEXT64: int
NUMBER_BYTES: int
PADDING_BYTES: int

def hash_second_keys(
    keys: NDArray[np.int32] | NDArray[np.int64] | NDArray[np.uint64],
    hashes: NDArray[np.uint64],
    heads: NDArray[np.uint64],
) -> None: ...
def encode_tuples(
    kinds: NDArray[np.uint8],
    values: list[Any],
    texts: list[Any],
    offsets: NDArray[np.int64],
    out: NDArray[np.uint8],
) -> bool: ...
def decode_tuples(encoded: list[Any], kinds: NDArray[np.uint8], numbers: NDArray[np.uint64]) -> list[list[bytes]]: ...
