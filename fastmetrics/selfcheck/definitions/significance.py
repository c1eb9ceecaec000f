# Written by tools/generate.py from tests/oracles/significance/significance.py.
"""Significance tests by definition: slow and exact, with citations."""

from fractions import Fraction
from math import comb


def mcnemar(b: int, c: int) -> tuple[Fraction, Fraction]:
    """(exact p, mid-p) of b and c discordant pairs: all counts at least as far from n / 2, under Binomial(n, 1/2).

    M. Fagerland, S. Lydersen, P. Laake, "The McNemar test for binary matched-pairs data", BMC Medical Research
    Methodology 13:91, 2013: mid-p is the exact p minus the probability of the observed counts.
    """
    n, least = b + c, min(b, c)
    ways = [Fraction(comb(n, k), 2**n) for k in range(n + 1)]
    tail = sum(ways[: least + 1], Fraction(0))
    return min(2 * tail, Fraction(1)), (2 * tail - ways[least]) if b != c else Fraction(1)
