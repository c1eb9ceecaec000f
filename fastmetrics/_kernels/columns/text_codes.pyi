import numpy as np
from numpy.typing import NDArray

class TextNumbers:
    size: int
    @property
    def n_bytes(self) -> int: ...
    def number(
        self,
        data: NDArray[np.uint8],
        starts: NDArray[np.int64],
        stops: NDArray[np.int64],
        numbers: NDArray[np.int64],
    ) -> None: ...
    def texts(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]: ...
