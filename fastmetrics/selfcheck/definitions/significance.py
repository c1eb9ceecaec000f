"""Tests of significance, by listing all outcomes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product


def sign_flips(differences: Sequence[int]) -> Fraction:
    """The share of sign changes whose sum is at least as far from zero as the observed one."""
    observed = abs(sum(differences))
    sums = [abs(sum(sign * own for sign, own in zip(signs, differences, strict=True)))
            for signs in product((1, -1), repeat=len(differences))]  # fmt: skip
    return Fraction(sum(own >= observed for own in sums), len(sums))


def mcnemar_exact(only_one: int, only_other: int) -> Fraction:
    """Two-sided binomial probability of the smaller count."""
    total = only_one + only_other
    tail = sum(math.comb(total, number) for number in range(min(only_one, only_other) + 1))
    return min(Fraction(1), Fraction(2 * tail, 2**total))
