# Written by tools/generate.py from tokenizers.pyx.

import numpy as np
from numpy.typing import NDArray

TOKENIZERS: tuple[str, ...]
UNICODE_VERSION: str
CLASSES: tuple[str, ...]

def split(
    tokenizer: int,
    points: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    token_points: NDArray[np.uint32],
    token_starts: NDArray[np.int64],
    text_tokens: NDArray[np.int64],
) -> None: ...
def classify(points: NDArray[np.uint32], out: NDArray[np.uint8]) -> None: ...
