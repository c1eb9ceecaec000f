"""Negative log-likelihood and perplexity of sequences of tokens, by their definitions.

F. Jelinek, R. L. Mercer, L. R. Bahl, J. K. Baker (1977), Perplexity - a measure of the difficulty of speech recognition
tasks. Sums are fractions, rounded once. Sequences are lists of the log-probabilities of tokens that count.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

Sequences = Sequence[Sequence[float]]


def mean(values: Sequence[float]) -> float | None:
    """Return the mean; None if there are no values, infinite if one is."""
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
    """Return the perplexity; None if there is no token or, by sequence, if a sequence has none."""
    if level == "token":
        mean_nll = mean(tokens_of(sequences))
        return None if mean_nll is None else power(base, mean_nll)
    means = sequence_means(sequences)
    return None if None in means else mean([power(base, mean_nll) for mean_nll in means])
