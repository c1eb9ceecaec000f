"""Bounds of AUC, KS, AP and EER from bins of scores: every order of the rows inside the bins is tried.

The bins are those of `approximate=True`. Scores become integers of the same order. Low bits are dropped until the
number of distinct integers is within the capacity. Rows of one bin may have any order and any ties; rows of different
bins have the order of their bins.
"""

import itertools
import struct
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

Tie = tuple[int, int]  # negatives and positives of one score


def ordered_integer(score: float, dtype: str) -> int:
    """The bits of an IEEE number as an integer with the same order; -0.0 counts as 0.0."""
    layout, width = {"float32": (">f", 32), "float64": (">d", 64)}[dtype]
    bits = int.from_bytes(struct.pack(layout, float(score) + 0.0), "big")
    sign = 1 << (width - 1)
    return bits ^ ((1 << width) - 1) if bits & sign else bits | sign


def bins(
    labels: Sequence[int], scores: Sequence[float], dtype: str, capacity: int
) -> tuple[int, list[tuple[int, int, int]]]:
    """The number of dropped bits, and (prefix, negatives, positives) of every bin in ascending order."""
    keys = [ordered_integer(score, dtype) for score in scores]
    shift = 0
    while len({key >> shift for key in keys}) > capacity:
        shift += 1
    counts: dict[int, list[int]] = {}
    for key, label in zip(keys, labels, strict=True):
        counts.setdefault(key >> shift, [0, 0])[int(label)] += 1
    return shift, [(prefix, *counts[prefix]) for prefix in sorted(counts)]


def orders(negatives: int, positives: int) -> Iterator[tuple[Tie, ...]]:
    """Every order of the rows of one bin, as ties in ascending order."""
    if negatives == positives == 0:
        yield ()
    for first in itertools.product(range(negatives + 1), range(positives + 1)):
        if first != (0, 0):
            for rest in orders(negatives - first[0], positives - first[1]):
                yield (first, *rest)


def auc(ties: Sequence[Tie]) -> Fraction:
    """The share of (negative, positive) pairs in the right order; ties are half right."""
    won = Fraction(0)
    for index, (_, positives) in enumerate(ties):
        won += positives * sum(negatives for negatives, _ in ties[:index])
        won += Fraction(positives * ties[index][0], 2)
    return won / (sum(tie[0] for tie in ties) * sum(tie[1] for tie in ties))


def ks(ties: Sequence[Tie]) -> Fraction:
    """The greatest distance of the two distributions, over the ends of ties."""
    all_negatives, all_positives = (sum(tie[index] for tie in ties) for index in (0, 1))
    greatest = Fraction(0)
    negatives = positives = 0
    for tied_negatives, tied_positives in ties:
        negatives += tied_negatives
        positives += tied_positives
        greatest = max(greatest, abs(Fraction(negatives, all_negatives) - Fraction(positives, all_positives)))
    return greatest


def ap(ties: Sequence[Tie]) -> Fraction:
    """The mean, over positives, of the precision at their score."""
    total = Fraction(0)
    negatives = positives = 0
    for tied_negatives, tied_positives in reversed(ties):
        negatives += tied_negatives
        positives += tied_positives
        total += Fraction(tied_positives * positives, negatives + positives)
    return total / positives


def eer(ties: Sequence[Tie]) -> Fraction:
    """The rate at which the ROC curve, with straight lines between its points, meets FPR = FNR."""
    all_negatives, all_positives = (sum(tie[index] for tie in ties) for index in (0, 1))
    before = (Fraction(0), Fraction(1))
    fps = tps = 0
    for tied_negatives, tied_positives in reversed(ties):
        fps += tied_negatives
        tps += tied_positives
        after = (Fraction(fps, all_negatives), 1 - Fraction(tps, all_positives))
        if after[0] >= after[1]:
            share = (before[1] - before[0]) / ((before[1] - before[0]) + (after[0] - after[1]))
            return before[0] + share * (after[0] - before[0])
        before = after
    raise ValueError("both classes are needed")


def bounds(
    counts: Sequence[Tie], exact: bool, value: Callable[[Sequence[Tie]], Fraction]
) -> tuple[Fraction, Fraction] | None:
    """The lowest and highest value over all orders. With `exact`, a bin is one score. None if a class is missing."""
    if not all(sum(count[index] for count in counts) for index in (0, 1)):
        return None
    choices = [[(count,)] if exact else list(orders(*count)) for count in counts]
    values = [value([tie for ties in chosen for tie in ties]) for chosen in itertools.product(*choices)]
    return min(values), max(values)


def n_orders(counts: Sequence[Tie]) -> int:
    """The number of orders that `bounds` tries."""
    product = 1
    for count in counts:
        product *= sum(1 for _ in orders(*count))
    return product
