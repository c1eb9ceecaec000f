# Written by tools/generate.py from poisson_weights.pyx.

import numpy as np
from numpy.typing import NDArray

MAX_WEIGHT: int

def draw_poisson_weights(
    keys: NDArray[np.uint64],
    seed: int,
    first: int,
    stop: int,
    out: NDArray[np.uint8],
) -> None: ...
def add_weighted_states(
    weights: NDArray[np.uint8],
    unit_buckets: NDArray[np.int32],
    values: NDArray[np.int64],
    columns: NDArray[np.int64],
    out: NDArray[np.int64],
) -> None: ...
def record_units(
    hashes: NDArray[np.uint64],
    prefixes: NDArray[np.uint8],
    table: NDArray[np.uint64],
    counts: NDArray[np.int64],
    limit: int,
) -> None: ...
def number_equal_rows(
    hashes: NDArray[np.uint64],
    first: int,
    table: NDArray[np.uint64],
    used: NDArray[np.int64],
) -> int: ...
def copy_counts(table: NDArray[np.uint64], larger: NDArray[np.uint64]) -> None: ...
def find_unit_buckets(
    keys: NDArray[np.uint64],
    first_of_prefix: NDArray[np.int32],
    hashes: NDArray[np.uint64],
    bits: int,
    out: NDArray[np.int32],
) -> None: ...
def order_by_unit_bucket(
    unit_buckets: NDArray[np.int32],
    starts: NDArray[np.int64],
    order: NDArray[np.uint32],
) -> None: ...
def to_sign_magnitude(states: NDArray[np.int64], n_limbs: int) -> None: ...
