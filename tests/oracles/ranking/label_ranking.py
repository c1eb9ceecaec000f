"""Rows that rank their labels: the definitions, in fractions.

G. Tsoumakas, I. Katakis, I. Vlahavas (2010), Mining multi-label data, in: Data Mining and Knowledge Discovery Handbook,
2nd edition, Springer (coverage, ranking loss, average precision); R. E. Schapire, Y. Singer (2000), BoosTexter: a
boosting-based system for text categorization, Machine Learning 39. Where scores tie, a label's rank is the worst of the
tie, and a pair is not in order. Rows of which the papers say nothing (no relevant
label, or no other) are as scikit-learn has them: precision 1, loss 0, coverage the number of relevant labels.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

Row = tuple[Sequence[int], Sequence[float]]  # labels, of which 0 is not relevant, and scores


def rank(scores: Sequence[float], label: int) -> int:
    """How many labels score at least as high as this one, itself included."""
    return sum(score >= scores[label] for score in scores)


def sides(labels: Sequence[int]) -> tuple[list[int], list[int]]:
    """The relevant labels and the others, by number."""
    relevant = [label for label, value in enumerate(labels) if value]
    return relevant, [label for label, value in enumerate(labels) if not value]


def average_precision(labels: Sequence[int], scores: Sequence[float]) -> Fraction:
    """The mean, over relevant labels, of the share of relevant ones among those that rank at least as high."""
    relevant, others = sides(labels)
    if not relevant or not others:
        return Fraction(1)
    own = [scores[label] for label in relevant]
    shares = [Fraction(rank(own, place), rank(scores, label)) for place, label in enumerate(relevant)]
    return sum(shares, Fraction(0)) / len(relevant)


def ranking_loss(labels: Sequence[int], scores: Sequence[float]) -> Fraction:
    """The share of pairs (relevant, other) of which the other scores at least as high."""
    relevant, others = sides(labels)
    if not relevant or not others:
        return Fraction(0)
    lost = sum(scores[one] <= scores[other] for one in relevant for other in others)
    return Fraction(lost, len(relevant) * len(others))


def coverage(labels: Sequence[int], scores: Sequence[float]) -> Fraction:
    """The rank of the relevant label that ranks last; 0 without one. The paper's is one less."""
    relevant, _ = sides(labels)
    return Fraction(max((rank(scores, label) for label in relevant), default=0))


def mean(
    measure: Callable[[Sequence[int], Sequence[float]], Fraction],
    rows: Sequence[Row],
    weights: Sequence[float] | None = None,
) -> Fraction | None:
    """The mean over rows, weighted; None where no row weighs anything."""
    own = [Fraction(1)] * len(rows) if weights is None else [Fraction(weight) for weight in weights]
    total = sum(own, Fraction(0))
    if not total:
        return None
    return sum((weight * measure(*row) for weight, row in zip(own, rows, strict=True)), Fraction(0)) / total
