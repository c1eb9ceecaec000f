"""What is certain of AUC, KS, AP and EER when only bins of scores are known: every order inside the bins is tried.

Bins are those of `approximate=True`: scores as integers in their order, cut after as many bits as keep the number of
distinct ones within the capacity. Rows of one bin may have any order and any ties; rows of different bins have the
order of their bins.
"""

import itertools
import struct
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

Tie = tuple[int, int]  # negatives and positives of one score


def ordered_integer(score: float, dtype: str) -> int:
    """The bits of an IEEE number as an integer in the order of the numbers; -0.0 is 0.0."""
    layout, width = {"float32": (">f", 32), "float64": (">d", 64)}[dtype]
    bits = int.from_bytes(struct.pack(layout, float(score) + 0.0), "big")
    sign = 1 << (width - 1)
    return bits ^ ((1 << width) - 1) if bits & sign else bits | sign


def bins(
    labels: Sequence[int], scores: Sequence[float], dtype: str, capacity: int
) -> tuple[int, list[tuple[int, int, int]]]:
    """Bits left out, and (prefix, negatives, positives) of every bin, in ascending order."""
    keys = [ordered_integer(score, dtype) for score in scores]
    shift = 0
    while len({key >> shift for key in keys}) > capacity:
        shift += 1
    counts: dict[int, list[int]] = {}
    for key, label in zip(keys, labels, strict=True):
        counts.setdefault(key >> shift, [0, 0])[int(label)] += 1
    return shift, [(prefix, *counts[prefix]) for prefix in sorted(counts)]


def orders(negatives: int, positives: int) -> Iterator[tuple[Tie, ...]]:
    """Every order of the rows of one bin, as its ties in ascending order."""
    if negatives == positives == 0:
        yield ()
    for first in itertools.product(range(negatives + 1), range(positives + 1)):
        if first != (0, 0):
            for rest in orders(negatives - first[0], positives - first[1]):
                yield (first, *rest)


def auc(ties: Sequence[Tie]) -> Fraction:
    """The share of (negative, positive) pairs in the right order; ties are half right."""
    won = Fraction(0)
    for place, (_, positives) in enumerate(ties):
        won += positives * sum(negatives for negatives, _ in ties[:place])
        won += Fraction(positives * ties[place][0], 2)
    return won / (sum(own[0] for own in ties) * sum(own[1] for own in ties))


def ks(ties: Sequence[Tie]) -> Fraction:
    """The greatest distance of the two distributions, over the ends of ties."""
    all_negatives, all_positives = (sum(own[index] for own in ties) for index in (0, 1))
    greatest = Fraction(0)
    negatives = positives = 0
    for own_negatives, own_positives in ties:
        negatives += own_negatives
        positives += own_positives
        greatest = max(greatest, abs(Fraction(negatives, all_negatives) - Fraction(positives, all_positives)))
    return greatest


def ap(ties: Sequence[Tie]) -> Fraction:
    """The mean, over positives, of the precision at their score."""
    total = Fraction(0)
    negatives = positives = 0
    for own_negatives, own_positives in reversed(ties):
        negatives += own_negatives
        positives += own_positives
        total += Fraction(own_positives * positives, negatives + positives)
    return total / positives


def eer(ties: Sequence[Tie]) -> Fraction:
    """Where the ROC curve, its points joined by straight lines, meets FPR = FNR."""
    all_negatives, all_positives = (sum(own[index] for own in ties) for index in (0, 1))
    before = (Fraction(0), Fraction(1))
    fps = tps = 0
    for own_negatives, own_positives in reversed(ties):
        fps += own_negatives
        tps += own_positives
        after = (Fraction(fps, all_negatives), 1 - Fraction(tps, all_positives))
        if after[0] >= after[1]:
            share = (before[1] - before[0]) / ((before[1] - before[0]) + (after[0] - after[1]))
            return before[0] + share * (after[0] - before[0])
        before = after
    raise ValueError("both classes are needed")


def bounds(
    counts: Sequence[Tie], exact: bool, value: Callable[[Sequence[Tie]], Fraction]
) -> tuple[Fraction, Fraction] | None:
    """The least and greatest value of all orders; with `exact`, a bin is one score. None where a class is missing."""
    if not all(sum(own[index] for own in counts) for index in (0, 1)):
        return None
    choices = [[(own,)] if exact else list(orders(*own)) for own in counts]
    values = [value([tie for part in chosen for tie in part]) for chosen in itertools.product(*choices)]
    return min(values), max(values)


def n_orders(counts: Sequence[Tie]) -> int:
    """How many orders `bounds` would try."""
    product = 1
    for own in counts:
        product *= sum(1 for _ in orders(*own))
    return product
