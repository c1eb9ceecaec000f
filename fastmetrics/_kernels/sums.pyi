import numpy as np
from numpy.typing import NDArray

SIZE: int
LIMBS: int
EXPONENT: int

def sum_values(
    values: NDArray[np.float32] | NDArray[np.float64], weights: NDArray[np.float64] | None, state: NDArray[np.int64]
) -> None: ...
def sum_where(labels: NDArray[np.uint8], weights: NDArray[np.float64], state: NDArray[np.int64]) -> None: ...
def carry(state: NDArray[np.int64]) -> None: ...
