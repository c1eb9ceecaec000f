# Written by tools/generate.py from slice_pairs.pyx.

import numpy as np
from numpy.typing import NDArray

NEGATIVES: int
POSITIVES: int
BELOW: int
RUN: int
WINS: int
HIGH_WINS: int
N_FIELDS: int
KEYED_ROW_WORDS: int

def order_bucket(
    blocks: NDArray[np.uint64],
    code_blocks: NDArray[np.uint64],
    offsets: NDArray[np.int32],
    bucket: int,
    are_short: bool,
    rows: NDArray[np.uint64],
    unordered: NDArray[np.uint16],
    codes: NDArray[np.uint16],
    ordered: NDArray[np.uint32],
) -> int: ...
def add_ordered(
    ordered: NDArray[np.uint32],
    numbers: NDArray[np.uint16],
    run: int,
    pairs: NDArray[np.int64],
) -> int: ...
