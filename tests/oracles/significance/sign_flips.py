"""Fisher's randomization test by definition, and random signs by the definition of their generator."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

WORD = (1 << 64) - 1


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


def mixed(word):
    """The output function of SplitMix64 (S. Vigna; G. Steele, D. Lea, C. Flood, OOPSLA 2014)."""
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & WORD
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & WORD
    return word ^ (word >> 31)


def sign(position, seed, replicate):
    """+1 or -1 for the difference at a position: bit position % 64 of word `replicate` of sequence position // 64."""
    step = 0x9E3779B97F4A7C15
    start = mixed((mixed(position // 64) + mixed((seed + step) & WORD)) & WORD)
    return 1 if mixed((start + (replicate + 1) * step) & WORD) >> (position % 64) & 1 else -1


def random_pvalue(differences, replicates, seed, alternative):
    """(c + 1) / (R + 1), with signs drawn by position in descending order of magnitude."""
    values = sorted((abs(Fraction(one)) for one in differences if one), reverse=True)
    observed = sum(Fraction(one) for one in differences)
    if alternative == "less":
        observed = -observed
    count = 0
    for r in range(replicates):
        total = sum(sign(position, seed, r) * value for position, value in enumerate(values))
        count += abs(total) >= abs(observed) if alternative == "two-sided" else total >= observed
    return (count + 1) / (replicates + 1)
