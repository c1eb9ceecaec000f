"""Exact sums in Python: states of the superaccumulator as integers, ratios and floats.

A state (int64[SIZE]) is a fixed-point number. As a Python integer it is the sum times 2**EXPONENT. The quotient of two
such integers is rounded once, by Python's correctly rounded division.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from fastmetrics._kernels.numeric import sums

SIZE: int = sums.STATE_SIZE
LIMBS: int = sums.N_LIMBS
EXPONENT: int = sums.BASE_EXPONENT
LIMB_TYPE = np.dtype("<u4")
LIMB_BITS = 32
LIMB_MASK = (1 << LIMB_BITS) - 1
TINY_TOTAL = 1 << (EXPONENT - 500)  # 2**-500 as a state's integer
TINY_TOTAL_SHIFT = 512
LEAST_EXPONENT = -800  # of limbs that become doubles: parts of smaller ones may be below the normal numbers
MAX_UNNORMALIZED = 1 << 30  # values that may be added to a state before its limbs have to be normalized


def new_states(*shape: int) -> np.ndarray:
    """An array of states, all zero."""
    return np.zeros((*shape, SIZE), np.int64)


def merge_states(into: np.ndarray, other: np.ndarray) -> None:
    """Add `other` to `into`, state by state; both stay normalized."""
    into += other
    sums.normalize_states(into.reshape(-1, 1, SIZE))


def normalize(state: np.ndarray) -> None:
    """Bring the limb-wise sum of up to 2**30 normalized states back to the canonical form."""
    sums.normalize_state(state)


def normalize_states(states: np.ndarray) -> None:
    """The same for states[i, k] of any i and k."""
    sums.normalize_states(states)


def is_finite(state: np.ndarray) -> bool:
    """Were all added values finite?"""
    return not any(state[LIMBS:].tolist())  # three numbers: NumPy would take longer


def to_integer(state: np.ndarray) -> int:
    """The sum times 2**EXPONENT. The state is finite and normalized."""
    low = int.from_bytes(state[: LIMBS - 1].astype(LIMB_TYPE).tobytes(), "little")
    return low + (int(state[LIMBS - 1]) << (32 * (LIMBS - 1)))


def to_integers(states: np.ndarray) -> list[int]:
    """The sums of many states (state, limb) as `to_integer` gives them; faster if all use the same few limbs."""
    if (states[:, LIMBS - 1] != 0).any():  # the highest limb is that of negative sums
        return [to_integer(state) for state in states]
    used = np.flatnonzero(states[:, : LIMBS - 1].any(axis=0))
    if not used.shape[0]:
        return [0] * states.shape[0]
    first, stop = int(used[0]), int(used[-1]) + 1
    width, shift = LIMB_TYPE.itemsize * (stop - first), 32 * first
    data = states[:, first:stop].astype(LIMB_TYPE).tobytes()
    return [int.from_bytes(data[start : start + width], "little") << shift for start in range(0, len(data), width)]


def join_limbs(limbs: np.ndarray, shift: int) -> list[int]:
    """The integers whose limbs of 32 bits are in rows, the lowest first, times 2**shift. A limb may be any int64."""
    return [sum(limb << LIMB_BITS * i for i, limb in enumerate(own)) << shift for own in limbs.tolist()]


def to_float(state: np.ndarray) -> float:
    """The sum, rounded once. Infinities and NaN behave as in floating-point addition."""
    if not is_finite(state):
        plus, minus, nans = (int(count) for count in state[LIMBS:])
        if nans or (plus and minus):
            return float("nan")
        return float("inf") if plus else float("-inf")
    return divide(to_integer(state), 1 << EXPONENT)


def to_fixed(value: float) -> int:
    """A finite float times 2**EXPONENT."""
    numerator, denominator = value.as_integer_ratio()
    return (numerator << EXPONENT) // denominator


def tiny_total_shift(total: int) -> int:
    """By which power of two weights are multiplied before they meet other numbers; 0 unless their total is tiny.

    Products with tiny weights lose digits. All states of the same rows follow from the same total, and so has a
    quotient that is made from them.
    """
    return TINY_TOTAL_SHIFT if 0 < total < TINY_TOTAL else 0


def divide(numerator: int, denominator: int) -> float:
    """numerator / denominator, rounded once; infinity beyond the largest float."""
    try:
        return numerator / denominator
    except OverflowError:
        return float("inf") if (numerator > 0) == (denominator > 0) else float("-inf")


def divide_states(states: np.ndarray, denominator: int) -> np.ndarray:
    """Every finite state's sum divided by denominator / 2**EXPONENT, rounded once."""
    quotients = np.full(states.shape[0], np.nan)
    high, low, error = double_double(denominator)
    if 1e-100 < high < 1e100:
        sums.divide_states(states, high, low, error, quotients)
    for number in np.flatnonzero(np.isnan(quotients)).tolist():
        quotients[number] = divide(to_integer(states[number]), denominator)
    return quotients


def double_double(total: int) -> tuple[float, float, float]:
    """Two doubles whose sum is total / 2**EXPONENT, and a bound of what they lack; for totals within the doubles."""
    high = divide(total, 1 << EXPONENT)
    if math.isinf(high):
        return high, 0.0, 0.0
    rest = total - to_fixed(high)
    low = divide(rest, 1 << EXPONENT)
    return high, low, 0.0 if to_fixed(low) == rest else math.ulp(low)


def divide_root(numerator: int, denominator: int) -> float:
    """sqrt(numerator / denominator), rounded once. Neither is negative, and the denominator is not 0."""
    if not numerator:
        return 0.0
    # The root has at least 64 bits. One more bit records whether anything was cut off: enough to round to a double.
    shift = max(0, 130 - numerator.bit_length() + denominator.bit_length())
    shift += shift % 2
    quotient, remainder = divmod(numerator << shift, denominator)
    root = math.isqrt(quotient)
    is_cut = bool(remainder) or root * root != quotient
    return divide(2 * root + is_cut, 1 << (shift // 2 + 1))


class DoubleDoubles:
    """Numbers of many states side by side, each a sum of two doubles, with a bound of what that lacks.

    A formula of `+ - * abs` and `over` that is written for the integers of one state gives the numbers of many. NaN
    stands for a number that is beyond the range of such sums.

    Attributes
    ----------
    columns : ndarray
        float64[3, n]: high parts, low parts and bounds of the error. n is 1 for a constant.
    """

    __slots__ = ("columns",)
    __array_ufunc__ = None  # NumPy's arrays are not operands

    def __init__(self, columns: np.ndarray) -> None:
        self.columns = columns

    @classmethod
    def of_counts(cls, counts: np.ndarray) -> DoubleDoubles:
        """Counts below 2**62."""
        high = counts.astype(np.float64)
        return cls(np.array([high, counts - high.astype(np.int64), np.zeros(counts.shape[0])]))

    @classmethod
    def of_states(cls, states: np.ndarray, place: int) -> DoubleDoubles:
        """The exact sums states[:, place]."""
        columns = np.empty((3, states.shape[0]))
        sums.load_numbers(np.ascontiguousarray(states), place, columns)
        return cls(columns)

    @classmethod
    def of_limbs(cls, numbers: np.ndarray, limbs: np.ndarray) -> DoubleDoubles:
        """The exact sums with these limbs, int64[sum, limb], which need not be normalized; `numbers` ascend."""
        exponents = LIMB_BITS * numbers - EXPONENT
        if exponents[0] < LEAST_EXPONENT or numbers[-1] >= LIMBS:
            states = new_states(limbs.shape[0], 1)
            states[:, 0, numbers] = limbs
            normalize_states(states)
            return cls.of_states(states, 0)
        columns = np.empty((3, limbs.shape[0]))
        sums.load_limbs(limbs, np.ldexp(1.0, exponents), columns)
        return cls(columns)

    @classmethod
    def of_integer(cls, number: int) -> DoubleDoubles:
        return cls(np.array([double_double(number << EXPONENT)]).T.copy())

    def __add__(self, other: DoubleDoubles | int) -> DoubleDoubles:
        return self._with(sums.add_numbers, other, 1.0)

    def __sub__(self, other: DoubleDoubles | int) -> DoubleDoubles:
        return self._with(sums.add_numbers, other, -1.0)

    def __mul__(self, other: DoubleDoubles | int) -> DoubleDoubles:
        return self._with(sums.multiply_numbers, other)

    __radd__, __rmul__ = __add__, __mul__

    @property
    def high(self) -> np.ndarray:
        """The numbers as doubles, nearly rounded."""
        high: np.ndarray = self.columns[0]
        return high

    @property
    def are_zero(self) -> np.ndarray:
        """Which numbers are certainly 0."""
        zero: np.ndarray = (self.high == 0) & (self.columns[2] == 0)
        return zero

    @property
    def are_negative(self) -> np.ndarray:
        """Which numbers are below 0; not known of numbers that are not certain."""
        return self.high < 0

    def __abs__(self) -> DoubleDoubles:
        high, low, error = self.columns
        sign = np.where(self.are_negative, -1.0, 1.0)
        return DoubleDoubles(np.array([high * sign, low * sign, error]))

    def or_one(self) -> DoubleDoubles:
        """The numbers, with 1 for 0: as denominators where numerators are 0 too."""
        columns = self.columns.copy()
        columns[0, columns[0] == 0] = 1.0
        return DoubleDoubles(columns)

    def over(self, other: DoubleDoubles | int) -> DoubleDoubles:
        """The quotients; NaN where the denominator is not above 0."""
        return self._with(sums.divide_numbers, other)

    def rounded(self) -> np.ndarray:
        """The numbers, rounded once; NaN where that is not certain."""
        out = np.empty(self.columns.shape[1])
        sums.round_numbers(self.columns, out)
        return out

    def _with(self, operation: Callable[..., None], other: DoubleDoubles | int, *options: float) -> DoubleDoubles:
        second = other if isinstance(other, DoubleDoubles) else DoubleDoubles.of_integer(other)
        columns = np.empty((3, max(self.columns.shape[1], second.columns.shape[1])))
        operation(self.columns, second.columns, *options, columns)
        return DoubleDoubles(columns)


def quotients(numerators: DoubleDoubles, denominators: DoubleDoubles) -> np.ndarray:
    """The quotients of many numbers, rounded once; NaN where that is not certain, or a denominator is not above 0."""
    out = np.empty(max(numerators.columns.shape[1], denominators.columns.shape[1]))
    sums.round_quotients(numerators.columns, denominators.columns, out)
    return out


def sum_state(values: np.ndarray, weights: np.ndarray | None) -> np.ndarray:
    """The state of a sum of values, times their weights if there are any."""
    state = new_states()
    sums.sum_values(values, weights, state)
    return state


def exact_sum(values: np.ndarray, weights: np.ndarray | None = None) -> float:
    """The correctly rounded sum of a contiguous float32 or float64 array. It does not depend on the order."""
    return to_float(sum_state(values, weights))


def integer_sum(values: np.ndarray, weights: np.ndarray | None = None) -> int:
    """The sum of finite values times 2**EXPONENT."""
    return to_integer(sum_state(values, weights))
