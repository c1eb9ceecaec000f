# Written by tools/generate.py from tests/oracles/significance/sign_flips.py.
"""Fisher's randomization test by definition, and random signs by the definition of their generator."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product


def share_of_assignments(differences: Sequence[float], alternative: str) -> Fraction:
    """The share of all assignments of signs whose sum is at least as extreme; R. A. Fisher, 1935."""
    values = [Fraction(one) for one in differences]
    observed = sum(values)
    sums = [sum(s * v for s, v in zip(signs, values, strict=True)) for signs in product((-1, 1), repeat=len(values))]
    extreme = {
        "two-sided": lambda one: abs(one) >= abs(observed),
        "greater": lambda one: one >= observed,
        "less": lambda one: one <= observed,
    }[alternative]
    return Fraction(sum(map(extreme, sums)), len(sums))
