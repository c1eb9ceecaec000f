"""Exact sums in Python's hands: states of the superaccumulator as integers, ratios and floats.

A state (int64[SIZE]) is a fixed-point number; as a Python integer it is the sum times 2**EXPONENT. Quotients of such
integers are rounded once, by Python's own correctly rounded division.
"""

from __future__ import annotations

import math

import numpy as np

from fastmetrics._kernels import sums

SIZE: int = sums.SIZE
LIMBS: int = sums.LIMBS
EXPONENT: int = sums.EXPONENT


def new_states(*shape: int) -> np.ndarray:
    """States of zero, one for every index of `shape`."""
    return np.zeros((*shape, SIZE), np.int64)


def merge_states(into: np.ndarray, other: np.ndarray) -> None:
    """Add `other` to `into`, state by state; both stay normalised."""
    into += other
    for state in into.reshape(-1, SIZE):
        sums.carry(state)


def is_finite(state: np.ndarray) -> bool:
    """Were all values added finite?"""
    return not state[LIMBS:].any()


def to_integer(state: np.ndarray) -> int:
    """The sum times 2**EXPONENT. The state is finite and normalised."""
    low = int.from_bytes(state[: LIMBS - 1].astype("<u4").tobytes(), "little")
    return low + (int(state[LIMBS - 1]) << (32 * (LIMBS - 1)))


def to_float(state: np.ndarray) -> float:
    """The sum, rounded once. Infinities and NaN behave as in addition."""
    if not is_finite(state):
        plus, minus, nans = (int(count) for count in state[LIMBS:])
        if nans or (plus and minus):
            return float("nan")
        return float("inf") if plus else float("-inf")
    return divide(to_integer(state), 1 << EXPONENT)


def divide(numerator: int, denominator: int) -> float:
    """numerator / denominator rounded once; beyond the largest float, infinity."""
    try:
        return numerator / denominator
    except OverflowError:
        return float("inf") if (numerator > 0) == (denominator > 0) else float("-inf")


def divide_root(numerator: int, denominator: int) -> float:
    """sqrt(numerator / denominator) rounded once; neither is negative, the denominator is not 0."""
    if not numerator:
        return 0.0
    # A root of at least 64 bits, and one more that tells whether anything was cut off: enough to round it as a double.
    shift = max(0, 130 - numerator.bit_length() + denominator.bit_length())
    shift += shift % 2
    quotient, rest = divmod(numerator << shift, denominator)
    root = math.isqrt(quotient)
    is_cut = bool(rest) or root * root != quotient
    return divide(2 * root + is_cut, 1 << (shift // 2 + 1))


def exact_sum(values: np.ndarray) -> float:
    """The correctly rounded sum of a contiguous float32 or float64 array, whatever its order."""
    state = new_states()
    sums.sum_values(values, None, state)
    return to_float(state)
