# Written by tools/generate.py from text_codes.pyx.

import numpy as np
from numpy.typing import NDArray

class TextCodes:
    size: int
    def __init__(self) -> None: ...
    @property
    def n_bytes(self) -> int: ...
    def encode(
        self,
        data: NDArray[np.uint8],
        starts: NDArray[np.int64],
        stops: NDArray[np.int64],
        codes: NDArray[np.int64],
    ) -> None: ...
    def texts(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]: ...
