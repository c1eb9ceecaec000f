"""What dispersions.pyx offers."""

from numpy import float32, float64, int64
from numpy.typing import NDArray

Reals = NDArray[float32] | NDArray[float64]

def centres(
    x: Reals,
    order: NDArray[int64],
    ends: NDArray[int64],
    out: NDArray[float64],
    middle: NDArray[float64],
    totals: NDArray[int64],
) -> None: ...
def box(x: Reals, low: Reals, high: Reals) -> None: ...
def spreads(
    x: Reals, codes: NDArray[int64], centre: NDArray[float64], root: bool, out: NDArray[float64]
) -> None: ...
def worst_ratios(centre: NDArray[float64], spread: NDArray[float64], out: NDArray[float64]) -> float: ...
