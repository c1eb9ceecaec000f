import numpy as np
from numpy.typing import NDArray

GREATEST_WEIGHT: int

def poisson_weights(
    keys: NDArray[np.uint64], seed: int, first: int, stop: int, out: NDArray[np.uint8]
) -> None: ...
def add_weighted(
    weights: NDArray[np.uint8],
    numbers: NDArray[np.int32],
    values: NDArray[np.int64],
    places: NDArray[np.int64],
    out: NDArray[np.int64],
) -> None: ...
def weigh(
    keys: NDArray[np.uint64], seed: int, first: int, stop: int, values: NDArray[np.int64], out: NDArray[np.int64]
) -> None: ...
def note_units(
    hashes: NDArray[np.uint64],
    prefixes: NDArray[np.uint8],
    table: NDArray[np.uint64],
    found: NDArray[np.int64],
    most: int,
) -> None: ...
def lot_numbers(
    keys: NDArray[np.uint64], firsts: NDArray[np.int32], hashes: NDArray[np.uint64], bits: int, out: NDArray[np.int32]
) -> None: ...
def order_by_lot(
    numbers: NDArray[np.int32], starts: NDArray[np.int64], order: NDArray[np.uint32]
) -> None: ...
def fold_signs(states: NDArray[np.int64], limbs: int) -> None: ...
