# Written by tools/generate.py from sums.pyx.

import numpy as np
from numpy.typing import NDArray

STATE_SIZE: int
N_LIMBS: int
BASE_EXPONENT: int
LIMBS_OF_WINDOW: int

def sum_values(
    values: NDArray[np.float32] | NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    state: NDArray[np.int64],
) -> None: ...
def sum_positive_weights(
    labels: NDArray[np.uint8],
    weights: NDArray[np.float64],
    state: NDArray[np.int64],
) -> None: ...
def sum_selected(values: NDArray[np.float64], selected: NDArray[np.uint8], state: NDArray[np.int64]) -> None: ...
def sum_segments(values: NDArray[np.float64], bounds: NDArray[np.int64], states: NDArray[np.int64]) -> None: ...
def place_of_window(values: NDArray[np.float64]) -> int: ...
def add_to_windows(
    values: NDArray[np.float64],
    numbers: NDArray[np.int32],
    cells: NDArray[np.uint8] | None,
    column: int,
    place: int,
    windows: NDArray[np.uint64],
    others: NDArray[np.int32],
) -> int: ...
def add_by_number(values: NDArray[np.float64], places: NDArray[np.int32], states: NDArray[np.int64]) -> None: ...
def empty_windows(windows: NDArray[np.uint64], place: int, states: NDArray[np.int64]) -> None: ...
def add_windows(windows: NDArray[np.uint64], other: NDArray[np.uint64]) -> None: ...
def limbs_of_windows(windows: NDArray[np.uint64], place: int, limbs: NDArray[np.int64]) -> int: ...
def count_by_number(
    numbers: NDArray[np.int32],
    cells: NDArray[np.uint8] | None,
    counts: NDArray[np.int64],
) -> None: ...
def count_labels_by_number(
    numbers: NDArray[np.int32],
    labels: NDArray[np.uint8],
    counts: NDArray[np.int64],
) -> None: ...
def normalise_state(state: NDArray[np.int64]) -> None: ...
def normalise_states(states: NDArray[np.int64]) -> None: ...
def divide_states(
    states: NDArray[np.int64],
    high: float,
    low: float,
    error: float,
    out: NDArray[np.float64],
) -> None: ...
def divide_by_states(
    numerators: NDArray[np.int64],
    denominators: NDArray[np.int64],
    out: NDArray[np.float64],
) -> None: ...
def merge_double_doubles(totals: NDArray[np.float64], other: NDArray[np.float64]) -> None: ...
def total_of_double_doubles(totals: NDArray[np.float64], total: NDArray[np.float64]) -> None: ...
def divide_totals(
    totals: NDArray[np.float64],
    bound: float,
    high: float,
    low: float,
    error: float,
    out: NDArray[np.float64],
) -> None: ...
def one_minus_quotients(
    parts: NDArray[np.float64],
    wholes: NDArray[np.float64],
    bound: float,
    out: NDArray[np.float64],
) -> None: ...
def any_below(states: NDArray[np.int64], limbs: int) -> bool: ...
