"""Slow definitions of further measures of trec_eval, each for one topic: rank by rank, as their descriptions say.

`ranked` holds the grades of the retrieved items in their order: NOT_IN_POOL without a judgment, UNJUDGED with a
negative one. `unretrieved` holds the grades of the other judged items. `level` is the least grade of a relevant item.
`gains` replaces the gain of some grades; that of any other grade is the grade, and that of a negative one is 0.

E. Yilmaz and J. A. Aslam (2006), Estimating average precision with incomplete and imperfect judgments, CIKM: infAP,
with trec_eval's smoothing by 0.00001. K. Järvelin and J. Kekäläinen (2002), Cumulated gain-based evaluation of IR
techniques, ACM TOIS 20(4): DCG; ndcg_rel and Rndcg are means of its normalized form, described in trec_eval (C.
Buckley, 2008), as are G, binG, Rprec_mult, relstring and utility. S. Robertson (2012), On smoothing average precision,
ECIR: yaap. A. Moffat and J. Zobel (2008), Rank-biased precision for measurement of retrieval effectiveness, ACM TOIS
27(1): rbp and its residual. trec_eval 10 (I. Soboroff, 2016 and 2023): gains of rbp lie between 0 and 1, and unj.
"""

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction

NOT_IN_POOL, UNJUDGED = -1, -2
EPSILON = 0.00001
MULTIPLES = tuple(fifth / 5 for fifth in range(1, 11))

Grades = Sequence[float]
Gains = Mapping[int, float]


def n_relevant(ranked: Grades, unretrieved: Grades, level: int) -> int:
    return sum(1 for grade in [*ranked, *unretrieved] if grade >= level)


def gain_of(grade: float, gains: Gains) -> float:
    return 0.0 if grade < 0 else float(gains.get(int(grade), grade))


def ideal_gains(ranked: Grades, unretrieved: Grades, gains: Gains) -> list[float]:
    """The positive gains of all judged items, the greatest first."""
    judged = [gain_of(grade, gains) for grade in [*ranked, *unretrieved]]
    return sorted((gain for gain in judged if gain > 0), reverse=True)


def discounted(gains: Sequence[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def relstring(ranked: Grades, length: int = 10) -> str:
    """One character for each of the first items."""
    shown = {NOT_IN_POOL: "-", UNJUDGED: "."} | {digit: str(digit) for digit in range(10)}
    return "".join(shown.get(int(grade), ">") for grade in ranked[:length])


def precision_at_multiple(ranked: Grades, unretrieved: Grades, level: int, multiple: float) -> Fraction:
    """Rprec_mult: precision at floor(multiple R + 0.9) items."""
    cut = math.floor(multiple * n_relevant(ranked, unretrieved, level) + 0.9)
    return Fraction(sum(1 for grade in ranked[:cut] if grade >= level), cut) if cut else Fraction(0)


def inferred_average_precision(ranked: Grades, unretrieved: Grades, level: int) -> float:
    """infAP: at a relevant item, the expected precision of the items above, of which only some were judged."""
    total = 0.0
    for rank, grade in enumerate(ranked, start=1):
        if grade >= level:
            above = ranked[: rank - 1]
            pooled = sum(1 for other in above if other != NOT_IN_POOL)
            relevant = sum(1 for other in above if other >= level)
            judged = sum(1 for other in above if other >= 0)
            expected = (relevant + EPSILON) / (judged + 2 * EPSILON)
            total += 1 / rank + (rank - 1) / rank * (pooled / (rank - 1) if above else 0) * expected
    return total / n_relevant(ranked, unretrieved, level) if total else 0.0


def binary_g(ranked: Grades, unretrieved: Grades, level: int) -> float:
    """binG: the mean over relevant items of 1 / log2(2 + other items above)."""
    others, total = 0, 0.0
    for grade in ranked:
        if grade >= level:
            total += 1 / math.log2(2 + others)
        else:
            others += 1
    return total / n_relevant(ranked, unretrieved, level) if total else 0.0


def normalized_g(ranked: Grades, unretrieved: Grades, gains: Gains) -> float:
    """G: gains, divided by log2(2 + ideal gain so far - gain so far), over the sum of ideal gains.

    The ideal gain of a rank is at least 1 in the logarithm.
    """
    ideal = ideal_gains(ranked, unretrieved, gains)
    own, cost, total = 0.0, 0.0, 0.0
    for place, grade in enumerate(ranked):
        own += gain_of(grade, gains)
        cost += max(ideal[place] if place < len(ideal) else 0.0, 1.0)
        if gain_of(grade, gains):
            total += gain_of(grade, gains) / math.log2(2 + cost - own)
    return total / sum(ideal) if ideal else 0.0


def dcg(ranked: Grades, gains: Gains) -> float:
    return discounted([gain_of(grade, gains) for grade in ranked])


def ideal_dcg(ranked: Grades, unretrieved: Grades, gains: Gains) -> float:
    return discounted(ideal_gains(ranked, unretrieved, gains))


def ndcg(ranked: Grades, unretrieved: Grades, gains: Gains) -> float:
    best = ideal_dcg(ranked, unretrieved, gains)
    return dcg(ranked, gains) / best if best else 0.0


def ndcg_at_relevant(ranked: Grades, unretrieved: Grades, gains: Gains) -> float:
    """ndcg_rel: NDCG at the rank of each item with a gain, averaged over all of them; not retrieved: at the end."""
    ideal = ideal_gains(ranked, unretrieved, gains)
    at_end = ndcg(ranked, unretrieved, gains)
    ranks = [rank for rank, grade in enumerate(ranked, start=1) if gain_of(grade, gains) > 0]
    values = [dcg(ranked[:rank], gains) / discounted(ideal[:rank]) for rank in ranks]
    values += [at_end] * (len(ideal) - len(ranks))
    return max(sum(values) / len(ideal), 0.0) if ideal else 0.0


def ndcg_at_levels(ranked: Grades, unretrieved: Grades, level: int, gains: Gains) -> float:
    """Rndcg: NDCG at the ranks where the ideal gain falls, and at the end if more than one row lies beyond the last."""
    ideal = ideal_gains(ranked, unretrieved, gains)
    if not ideal or not n_relevant(ranked, unretrieved, level):
        return 0.0
    ranks = [rank for rank in range(1, len(ideal)) if ideal[rank] != ideal[rank - 1]] + [len(ideal)]
    if len(ranked) > len(ideal) + 1:
        ranks.append(len(ranked))
    values = [dcg(ranked[:rank], gains) / discounted(ideal[:rank]) for rank in ranks]
    return sum(values) / len(values)


def smoothed_average_precision(ranked: Grades, unretrieved: Grades, level: int) -> float:
    """yaap: log((1 + s) / (1 + R - s)) of the sum s of precisions at relevant items."""
    hits, total = 0, 0.0
    for rank, grade in enumerate(ranked, start=1):
        if grade >= level:
            hits += 1
            total += hits / rank
    return math.log((1 + total) / (1 + n_relevant(ranked, unretrieved, level) - total))


def rank_biased_precision(ranked: Grades, unretrieved: Grades, p: float = 0.9) -> float:
    """rbp: (1 - p) times the sum of gain p^(rank - 1). If the greatest grade is above 1, gains are divided by it."""
    greatest = max([1.0, *ranked, *unretrieved])
    return (1 - p) * sum(max(grade, 0.0) / greatest * p ** (rank - 1) for rank, grade in enumerate(ranked, start=1))


def rank_biased_residual(ranked: Grades, p: float = 0.9) -> float:
    """rbp_resid: how much rbp can grow if items without a judgment, and those not retrieved, have gain 1."""
    unjudged = [rank for rank, grade in enumerate(ranked, start=1) if grade < 0]
    return p ** len(ranked) + (1 - p) * sum(p ** (rank - 1) for rank in unjudged) if unjudged else 0.0


def unjudged_share(ranked: Grades, k: int) -> Fraction:
    """unj: items without a judgment among the first k, divided by k."""
    return Fraction(sum(1 for grade in ranked[:k] if grade < 0), k)


def utility(
    ranked: Grades, unretrieved: Grades, level: int, parameters: Sequence[float] = (1, -1, 0, 0), collection: int = 0
) -> float:
    """a hits + b other retrieved items + c relevant items not retrieved + d all other items of the collection."""
    hits, relevant = n_relevant(ranked, [], level), n_relevant(ranked, unretrieved, level)
    sizes = hits, len(ranked) - hits, relevant - hits, collection + hits - len(ranked) - relevant
    return sum(parameter * size for parameter, size in zip(parameters, sizes, strict=True))
