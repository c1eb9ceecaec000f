import numpy as np
from numpy.typing import NDArray

def room_for(text_tokens: NDArray[np.int64]) -> int: ...
def count_edits(
    ids: NDArray[np.int64],
    text_tokens: NDArray[np.int64],
    segments: NDArray[np.int64],
    room: NDArray[np.int32],
    out: NDArray[np.int64],
) -> None: ...
