"""The hinge loss by definition, in fractions.

K. Crammer, Y. Singer (2001), On the algorithmic implementation of multiclass kernel-based vector machines, JMLR 2: the
margin is the decision value of the row's class minus the greatest of the others. Of two classes, one decision value
stands for the greater label, and its negative for the other.
"""

from collections.abc import Hashable, Sequence
from fractions import Fraction

from oracles.curves import Number
from oracles.probability import unit_weights, weighted_mean


def margin(label: Hashable, decision: Number | Sequence[Number], classes: Sequence[Hashable]) -> Fraction:
    if not isinstance(decision, Sequence):
        return Fraction(decision) if label == classes[1] else -Fraction(decision)
    by_class = dict(zip(classes, map(Fraction, decision), strict=True))
    return by_class.pop(label) - max(by_class.values())


def hinge_loss(
    labels: Sequence[Hashable],
    decisions: Sequence[Number] | Sequence[Sequence[Number]],
    classes: Sequence[Hashable],
    weights: Sequence[Number] | None = None,
) -> Fraction | None:
    losses = [max(Fraction(0), 1 - margin(*row, classes)) for row in zip(labels, decisions, strict=True)]
    return weighted_mean(losses, unit_weights(weights, len(losses)))
