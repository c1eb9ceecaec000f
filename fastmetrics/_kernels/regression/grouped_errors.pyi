# Written by tools/generate.py from grouped_errors.pyx.

import numpy as np
from numpy.typing import NDArray

def group_errors(
    value_blocks: NDArray[np.uint64],
    double_values: NDArray[np.uint8],
    weight_blocks: NDArray[np.uint64],
    offsets: NDArray[np.int32],
    partition: int,
    group_of_row: NDArray[np.uint32],
    class_rows: NDArray[np.int64],
    n_groups: int,
    cursors: NDArray[np.int64],
    scratch: NDArray[np.float64],
    means: NDArray[np.float64],
    uncertain: NDArray[np.int64],
) -> int: ...
