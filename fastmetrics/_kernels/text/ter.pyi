# Written by tools/generate.py from ter.pyx.

import numpy as np
from numpy.typing import NDArray

def scratch_size(text_tokens: NDArray[np.int64]) -> int: ...
def count_edits(
    ids: NDArray[np.int64],
    text_tokens: NDArray[np.int64],
    segments: NDArray[np.int64],
    scratch: NDArray[np.int32],
    out: NDArray[np.int64],
) -> None: ...
