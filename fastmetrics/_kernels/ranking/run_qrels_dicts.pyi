# Written by tools/generate.py from run_qrels_dicts.pyx.

from typing import Any

import numpy as np
from numpy.typing import NDArray

def join_dicts(
    run: list[Any],
    qrels: list[Any],
    offsets: NDArray[np.int64],
    check_number_type: Any,
    scores: NDArray[np.float64],
    grades: NDArray[np.float64],
    unretrieved: NDArray[np.float64],
    unretrieved_offsets: NDArray[np.int64],
) -> tuple[int, int, Any, Any, Exception] | None: ...
def text_bytes(texts: list[Any], starts: NDArray[np.int64], stops: NDArray[np.int64]) -> int: ...
def copy_texts(texts: list[Any], data: NDArray[np.uint8]) -> None: ...
