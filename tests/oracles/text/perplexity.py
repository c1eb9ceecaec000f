"""Negative log-likelihood and perplexity of sequences of tokens, by their definitions.

F. Jelinek, R. L. Mercer, L. R. Bahl, J. K. Baker (1977), Perplexity - a measure of the difficulty of speech recognition
tasks. Sums are fractions, rounded once; sequences are lists of the log-probabilities that count.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

Sequences = Sequence[Sequence[float]]


def mean(values: Sequence[float]) -> float | None:
    """None of nothing, infinite where a value is."""
    if not values:
        return None
    if any(math.isinf(value) for value in values):
        return math.inf
    return float(sum(map(Fraction, values), Fraction(0)) / len(values))


def tokens_of(sequences: Sequences) -> list[float]:
    return [0.0 - value for sequence in sequences for value in sequence]


def sequence_means(sequences: Sequences) -> list[float | None]:
    return [mean([-value for value in sequence]) for sequence in sequences]


def power(base: float | str, x: float) -> float:
    try:
        return math.exp(x) if base == "e" else float(base) ** x
    except OverflowError:
        return math.inf


def perplexity(sequences: Sequences, level: str = "token", base: float | str = "e") -> float | None:
    """None where it is undefined: without a token, or where a sequence has none."""
    if level == "token":
        of_all = mean(tokens_of(sequences))
        return None if of_all is None else power(base, of_all)
    means = sequence_means(sequences)
    return None if None in means else mean([power(base, own) for own in means])
