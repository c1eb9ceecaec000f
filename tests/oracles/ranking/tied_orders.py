"""All orders of a list with tied scores, and the expected value of a measure over them.

F. McSherry and M. Najork (2008), Computing information retrieval performance measures efficiently in the presence of
tied scores, ECIR: the value of a list with ties is the mean of the measure over all orders of the tied rows. Here the
orders are enumerated. Rows of the same score and grade are interchangeable, so their orders count once.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

Value = Fraction | float | None


def tied_blocks(scores: Sequence[float], rows: Sequence[int] | None = None) -> list[list[int]]:
    """The rows of every distinct score, highest score first; 0.0 and -0.0 tie, as Python compares."""
    rows_of: dict[float, list[int]] = {}
    for row in range(len(scores)) if rows is None else rows:
        rows_of.setdefault(float(scores[row]), []).append(row)
    return [rows_of[score] for score in sorted(rows_of, reverse=True)]


def arrangements(values: Sequence[float]) -> Iterator[tuple[float, ...]]:
    """Every distinct order of the values once. Each corresponds to the same number of orders of the rows."""
    if not values:
        yield ()
        return
    for first in sorted(set(values), reverse=True):
        rest = list(values)
        rest.remove(first)
        for tail in arrangements(rest):
            yield (first, *tail)


def orders(scores: Sequence[float], grades: Sequence[float]) -> Iterator[list[float]]:
    """The grades from the top of the list to its bottom, for every order of tied rows; all equally likely."""
    blocks = [list(arrangements([grades[row] for row in rows])) for rows in tied_blocks(scores)]
    for choice in itertools.product(*blocks):
        yield [grade for block in choice for grade in block]


def n_orders(scores: Sequence[float], grades: Sequence[float]) -> int:
    """The number of lists that `orders` yields: a product of multinomial coefficients."""
    count = 1
    for rows in tied_blocks(scores):
        count *= math.factorial(len(rows))
        for grade in {grades[row] for row in rows}:
            count //= math.factorial(sum(1 for row in rows if grades[row] == grade))
    return count


def mean_of(values: Sequence[Fraction | float]) -> Fraction | float:
    """The exact mean if all values are fractions, else a float: summed exactly and rounded once."""
    if all(isinstance(value, (int, Fraction)) for value in values):
        return Fraction(sum(values, Fraction(0)), len(values))
    return math.fsum(map(float, values)) / len(values)


def ranked(
    scores: Sequence[float], grades: Sequence[float], ties: str, items: Sequence[str] | Sequence[int] | None = None
) -> list[float]:
    """The grades in the one order that a rule for ties defines.

    "optimistic": the higher grade first among equal scores; "pessimistic": the lower grade first; "stable": the earlier
    row first; "docid": the greater item first, texts by code point and integers as numbers (trec_eval, whose strcmp
    compares bytes: the order of UTF-8 bytes is that of code points).
    """
    found = []
    for rows in tied_blocks(scores):
        if ties == "optimistic":
            rows = sorted(rows, key=lambda row: -grades[row])
        elif ties == "pessimistic":
            rows = sorted(rows, key=lambda row: grades[row])
        elif ties == "docid":
            assert items is not None
            rows = sorted(rows, key=lambda row: items[row], reverse=True)
        elif ties != "stable":
            raise ValueError(ties)
        found += [grades[row] for row in rows]
    return found


def value(
    measure: Callable[[Sequence[float]], Value],
    scores: Sequence[float],
    grades: Sequence[float],
    ties: str = "average",
    items: Sequence[str] | Sequence[int] | None = None,
) -> Value:
    """A measure of a list with ties; None if it is undefined, which does not depend on the order of tied rows."""
    if ties != "average":
        return measure(ranked(scores, grades, ties, items))
    values = [measure(order) for order in orders(scores, grades)]
    if any(each is None for each in values):
        assert all(each is None for each in values), "one order of tied rows is defined and another is not"
        return None
    return mean_of([each for each in values if each is not None])


def expected_value(
    scores: Sequence[float],
    relevant: Sequence[bool],
    k: int | None,
    gain: Callable[[int, int], float],
    final: Callable[[int, float], float] = lambda hits, total: total,
) -> float:
    """The expected value of a measure of hits, for lists with too many orders to enumerate.

    Inside a tie, rows are drawn without replacement: the next one of t - i rows is one of the r - j relevant ones with
    probability (r - j) / (t - i). A hit at a rank (up to k) adds gain(hits above it, rank). At the end the value is
    final(hits, mean of the added gains given so many hits).
    """
    return math.fsum(chance * final(hits, mean) for hits, chance, mean in numbers_of_hits(scores, relevant, k, gain))


def numbers_of_hits(
    scores: Sequence[float], relevant: Sequence[bool], k: int | None, gain: Callable[[int, int], float]
) -> list[tuple[int, float, float]]:
    """Every possible number of hits, its probability, and the mean of the added gains given so many hits.

    For every number of hits the loop stores its probability and the sum of the added gains times probability.
    """
    rank = above = 0
    cutoff = len(scores) if k is None else min(k, len(scores))
    chances, sums = {0: 1.0}, {0: 0.0}
    for rows in tied_blocks(scores):
        r = sum(1 for row in rows if relevant[row])
        for i in range(len(rows)):
            if rank == cutoff:
                break
            rank += 1
            new_chances: dict[int, float] = {}
            new_sums: dict[int, float] = {}
            for hits, chance in chances.items():
                hit = (r - (hits - above)) / (len(rows) - i)
                for now, probability in ((hits + 1, hit), (hits, 1.0 - hit)):
                    if probability > 0:
                        added = gain(hits, rank) * chance if now > hits else 0.0
                        new_chances[now] = new_chances.get(now, 0.0) + probability * chance
                        new_sums[now] = new_sums.get(now, 0.0) + probability * (sums[hits] + added)
            chances, sums = new_chances, new_sums
        above += r
    return [(hits, chance, sums[hits] / chance) for hits, chance in chances.items() if chance > 0]
