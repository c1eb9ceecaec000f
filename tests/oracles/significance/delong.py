"""Intervals and tests of AUCs by definition: all pairs of rows, in exact fractions.

E. R. DeLong, D. M. DeLong, D. L. Clarke-Pearson (1988), Comparing the areas under two or more correlated receiver
operating characteristic curves: a nonparametric approach, Biometrics 44; N. A. Obuchowski (1997), Nonparametric
analysis of clustered ROC curve data, Biometrics 53.
"""

from collections.abc import Hashable, Sequence
from fractions import Fraction

Scores = Sequence[float]


def beats(x: float, y: float) -> Fraction:
    """DeLong's psi: 1 if the score of the positive is greater, one half if both tie."""
    return Fraction(1) if x > y else Fraction(1, 2) if x == y else Fraction(0)


def structural_components(labels: Sequence[int], scores: Scores) -> dict[int, Fraction]:
    """V10 of every positive and V01 of every negative, by row: the mean of psi over the other class."""
    components = {}
    for row, (label, score) in enumerate(zip(labels, scores, strict=True)):
        others = [own for other, own in zip(labels, scores, strict=True) if other != label]
        won = [beats(score, own) if label else beats(own, score) for own in others]
        components[row] = sum(won, Fraction(0)) / len(won)
    return components


def area(labels: Sequence[int], scores: Scores) -> Fraction:
    components = structural_components(labels, scores)
    own = [components[row] for row, label in enumerate(labels) if label]
    return sum(own, Fraction(0)) / len(own)


def covariance(labels: Sequence[int], one: Scores, two: Scores) -> Fraction:
    """S10 / m + S01 / n of DeLong's equations for two curves. For one curve twice, it is the variance."""
    total = Fraction(0)
    first, second = structural_components(labels, one), structural_components(labels, two)
    areas = area(labels, one), area(labels, two)
    for label in (0, 1):
        rows = [row for row, own in enumerate(labels) if own == label]
        products = [(first[row] - areas[0]) * (second[row] - areas[1]) for row in rows]
        total += sum(products, Fraction(0)) / (len(rows) - 1) / len(rows)
    return total


def clustered_covariance(labels: Sequence[int], one: Scores, two: Scores, groups: Sequence[Hashable]) -> Fraction:
    """S10 / m + S01 / n + (S11 of one and two + S11 of two and one) / (m n), of Obuchowski's sums over clusters."""
    m, n = sum(labels), len(labels) - sum(labels)
    clusters = sorted(set(groups), key=repr)
    rows = list(zip(groups, labels, strict=True))
    sums = []
    for scores in (one, two):
        components, theta = structural_components(labels, scores), area(labels, scores)
        sums.append(
            {
                (cluster, label): sum(
                    (components[row] - theta for row, own in enumerate(rows) if own == (cluster, label)), Fraction(0)
                )
                for cluster in clusters
                for label in (0, 1)
            }
        )

    def product(label: int, other: int, among: int) -> Fraction:
        total = sum((sums[0][own, label] * sums[1][own, other] for own in clusters), Fraction(0))
        return total * Fraction(among, among - 1)

    n_with = [len({group for group, own in rows if own == label}) for label in (0, 1)]
    return (
        product(1, 1, n_with[1]) / m**2
        + product(0, 0, n_with[0]) / n**2
        + (product(1, 0, len(clusters)) + product(0, 1, len(clusters))) / (m * n)
    )


def variance_of_difference(
    labels: Sequence[int], one: Scores, two: Scores, groups: Sequence[Hashable] | None = None
) -> Fraction:
    def pair_covariance(first: Scores, second: Scores) -> Fraction:
        if groups is None:
            return covariance(labels, first, second)
        return clustered_covariance(labels, first, second, groups)

    return pair_covariance(one, one) + pair_covariance(two, two) - pair_covariance(one, two) - pair_covariance(two, one)
