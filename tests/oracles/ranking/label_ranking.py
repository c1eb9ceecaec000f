"""Slow definitions of label ranking measures, in fractions.

G. Tsoumakas, I. Katakis, I. Vlahavas (2010), Mining multi-label data, in: Data Mining and Knowledge Discovery Handbook,
2nd edition, Springer (coverage, ranking loss, average precision); R. E. Schapire, Y. Singer (2000), BoosTexter: a
boosting-based system for text categorization, Machine Learning 39. If scores tie, the rank of a label is the worst of
the tie, and a pair is in the wrong order. The papers do not define rows without a relevant label or without another
label. They are as in scikit-learn: precision 1, loss 0, coverage the number of relevant labels.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction

Row = tuple[Sequence[int], Sequence[float]]  # labels (0: not relevant) and scores


def rank(scores: Sequence[float], label: int) -> int:
    """The number of labels that score at least as high as this one, itself included."""
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
    relevant_scores = [scores[label] for label in relevant]
    shares = [Fraction(rank(relevant_scores, index), rank(scores, label)) for index, label in enumerate(relevant)]
    return sum(shares, Fraction(0)) / len(relevant)


def ranking_loss(labels: Sequence[int], scores: Sequence[float]) -> Fraction:
    """The share of pairs (relevant, other) in which the other label scores at least as high."""
    relevant, others = sides(labels)
    if not relevant or not others:
        return Fraction(0)
    lost = sum(scores[one] <= scores[other] for one in relevant for other in others)
    return Fraction(lost, len(relevant) * len(others))


def coverage(labels: Sequence[int], scores: Sequence[float]) -> Fraction:
    """The rank of the last relevant label; 0 without a relevant label. The definition of the paper is one less."""
    relevant, _ = sides(labels)
    return Fraction(max((rank(scores, label) for label in relevant), default=0))


def mean(
    measure: Callable[[Sequence[int], Sequence[float]], Fraction],
    rows: Sequence[Row],
    weights: Sequence[float] | None = None,
) -> Fraction | None:
    """The weighted mean over rows; None if all weights are 0."""
    row_weights = [Fraction(1)] * len(rows) if weights is None else [Fraction(weight) for weight in weights]
    total = sum(row_weights, Fraction(0))
    if not total:
        return None
    return sum((weight * measure(*row) for weight, row in zip(row_weights, rows, strict=True)), Fraction(0)) / total
