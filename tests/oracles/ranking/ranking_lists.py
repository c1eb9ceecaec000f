"""Slow definitions of the measures of one ranked list, and of means over lists.

A list is the grades of its rows from the top to the bottom (`tied_orders` orders rows of equal score), and the grades
of the items that were judged but not retrieved. A negative grade means "not judged": gain 0, not relevant, and left out
by bpref. A row is relevant if its grade is at least `level`. Judged items that were not retrieved count in R, the
number of relevant items, and in the ideal list, and nowhere else.

Every measure takes (ranked, unretrieved, **options). It returns None if the list has no relevant item, no judged gain
above zero (NDCG), or no pair of a relevant and another row (AUC). Sums of gains (CG, DCG, ideal DCG) are defined for
every list.

K. Järvelin and J. Kekäläinen (2002), Cumulated gain-based evaluation of IR techniques, ACM TOIS 20(4): CG, DCG, NDCG,
with the discount 1/log2(rank+1) from the first rank on of C. Burges et al. (2005), Learning to rank using gradient
descent, ICML, whose gain is 2^grade - 1.
C. Buckley and E. M. Voorhees (2005), Retrieval system evaluation, in TREC: Experiment and evaluation in information
retrieval, MIT Press, chapter 3: P, recall, R-precision, AP, reciprocal rank. The same (2004), Retrieval evaluation with
incomplete information, SIGIR: bpref.
O. Chapelle, D. Metzler, Y. Zhang, P. Grinspan (2009), Expected reciprocal rank for graded relevance, CIKM: ERR.
A. Moffat and J. Zobel (2008), Rank-biased precision for measurement of retrieval effectiveness, ACM TOIS 27(1): RBP.
F. Wu et al. (2020), MIND: a large-scale dataset for news recommendation, ACL: the "MRR" of its evaluation.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from oracles import curves
from oracles.ranking import tied_orders

Grades = Sequence[float]
Value = Fraction | float | None


class EmptyListError(Exception):
    """Raised by the policy empty="raise"."""


def gain_of(grade: float, gain: str = "linear", level: float = 1) -> Fraction:
    """The gain of a row: its grade, 2^grade - 1, or 1 if it is relevant; 0 if it is not judged."""
    if grade < 0:
        return Fraction(0)
    if gain == "exp2":
        return (Fraction(2) ** int(grade) if grade == int(grade) else Fraction(2.0**grade)) - 1
    return {"linear": Fraction(grade), "binary": Fraction(int(grade >= level))}[gain]


def hits_in(ranked: Grades, level: float = 1) -> int:
    return sum(1 for grade in ranked if grade >= level and grade >= 0)


def n_relevant(ranked: Grades, unretrieved: Grades, level: float = 1) -> int:
    """R: relevant items, retrieved or not."""
    return hits_in(ranked, level) + hits_in(unretrieved, level)


def nothing_to_gain(ranked: Grades, unretrieved: Grades, gain: str, level: float) -> bool:
    return not any(gain_of(grade, gain, level) > 0 for grade in [*ranked, *unretrieved])


def top(ranked: Grades, k: int | None) -> Grades:
    return ranked if k is None else ranked[:k]


def discount(rank: int, log_base: float = 2) -> float:
    return 1.0 / (math.log2(rank + 1) if log_base == 2 else math.log(rank + 1) / math.log(log_base))


def discounted(gains: Sequence[Fraction], log_base: float = 2) -> float:
    return math.fsum(float(gain) * discount(rank, log_base) for rank, gain in enumerate(gains, start=1))


def cumulative_gain(
    ranked: Grades, unretrieved: Grades = (), *, k: int | None = None, gain: str = "linear", level: float = 1
) -> Fraction:
    """CG@k: the sum of gains of the first k rows."""
    return sum((gain_of(grade, gain, level) for grade in top(ranked, k)), Fraction(0))


def dcg(
    ranked: Grades, unretrieved: Grades = (), *, k: int | None = None, gain: str = "linear", level: float = 1,
    log_base: float = 2,
) -> float:  # fmt: skip
    """DCG@k: gains divided by log2(rank + 1)."""
    return discounted([gain_of(grade, gain, level) for grade in top(ranked, k)], log_base)


def ideal_dcg(
    ranked: Grades, unretrieved: Grades = (), *, k: int | None = None, gain: str = "linear", level: float = 1,
    ideal: str = "judged", log_base: float = 2,
) -> float:  # fmt: skip
    """The greatest DCG@k of all judged items, of the retrieved items only, or of k items of gain 1 (RecTools)."""
    if ideal == "k" and k is not None:
        return discounted([Fraction(1)] * k, log_base)
    pool = [*ranked, *unretrieved] if ideal == "judged" else ranked
    best = sorted((gain_of(grade, gain, level) for grade in pool), reverse=True)
    return discounted(best if k is None else best[:k], log_base)


def ndcg(
    ranked: Grades, unretrieved: Grades = (), *, k: int | None = None, gain: str = "linear", level: float = 1,
    ideal: str = "judged", log_base: float = 2,
) -> Value:  # fmt: skip
    """NDCG@k = DCG@k / ideal DCG@k."""
    if nothing_to_gain(ranked, unretrieved, gain, level):
        return None
    best = ideal_dcg(ranked, unretrieved, k=k, gain=gain, level=level, ideal=ideal, log_base=log_base)
    return dcg(ranked, unretrieved, k=k, gain=gain, level=level, log_base=log_base) / best if best else 0.0


def average_precision(
    ranked: Grades, unretrieved: Grades = (), *, k: int | None = None, normalize: str = "min", level: float = 1
) -> Value:
    """AP@k: the sum of the precisions at hits among the first k, divided by min(k, R), R, k, or the number of hits.

    Without k, "min" and "relevant" divide by R, and "k" by the number of rows. No hit: 0.
    """
    relevant = n_relevant(ranked, unretrieved, level)
    if not relevant:
        return None
    hits, found = 0, Fraction(0)
    for rank, grade in enumerate(top(ranked, k), start=1):
        if hits_in([grade], level):
            hits += 1
            found += Fraction(hits, rank)
    denominator = {
        "min": relevant if k is None else min(k, relevant),
        "relevant": relevant,
        "k": len(ranked) if k is None else k,
        "hits": hits,
    }[normalize]
    return found / denominator if hits else Fraction(0)


def reciprocal_rank(ranked: Grades, unretrieved: Grades = (), *, k: int | None = None, level: float = 1) -> Value:
    """RR@k: 1 / rank of the first relevant row, or 0 if none is among the first k."""
    if not n_relevant(ranked, unretrieved, level):
        return None
    for rank, grade in enumerate(top(ranked, k), start=1):
        if hits_in([grade], level):
            return Fraction(1, rank)
    return Fraction(0)


def mind_reciprocal_rank(ranked: Grades, unretrieved: Grades = (), *, k: int | None = None, level: float = 1) -> Value:
    """MIND's MRR: the mean of 1 / rank over all relevant items; those not among the first k give 0."""
    relevant = n_relevant(ranked, unretrieved, level)
    if not relevant:
        return None
    found = [Fraction(hits_in([grade], level), rank) for rank, grade in enumerate(top(ranked, k), start=1)]
    return sum(found, Fraction(0)) / relevant


def hit(ranked: Grades, unretrieved: Grades = (), *, k: int, level: float = 1) -> Value:
    """HR@k: 1 if one of the first k rows is relevant, else 0."""
    if not n_relevant(ranked, unretrieved, level):
        return None
    return Fraction(int(hits_in(ranked[:k], level) > 0))


def precision(ranked: Grades, unretrieved: Grades = (), *, k: int, short_list: str = "k", level: float = 1) -> Value:
    """P@k = hits / k, or hits / rows for a shorter list if short_list is "n"; 0 for a list without rows."""
    if not n_relevant(ranked, unretrieved, level):
        return None
    rows = k if short_list == "k" else min(k, len(ranked))
    return Fraction(hits_in(ranked[:k], level), rows) if rows else Fraction(0)


def recall(ranked: Grades, unretrieved: Grades = (), *, k: int, level: float = 1) -> Value:
    """R@k = hits / R."""
    relevant = n_relevant(ranked, unretrieved, level)
    return Fraction(hits_in(ranked[:k], level), relevant) if relevant else None


def f1(ranked: Grades, unretrieved: Grades = (), *, k: int, short_list: str = "k", level: float = 1) -> Value:
    """F1@k: the harmonic mean of P@k and R@k; 0 without a hit."""
    p = precision(ranked, unretrieved, k=k, short_list=short_list, level=level)
    r = recall(ranked, unretrieved, k=k, level=level)
    if p is None or r is None:
        return None
    return 2 * p * r / (p + r) if p + r else Fraction(0)


def r_precision(ranked: Grades, unretrieved: Grades = (), *, level: float = 1) -> Value:
    """P@R."""
    relevant = n_relevant(ranked, unretrieved, level)
    return Fraction(hits_in(ranked[:relevant], level), relevant) if relevant else None


def expected_reciprocal_rank(
    ranked: Grades, unretrieved: Grades = (), *, k: int | None = None, max_grade: int = 4, level: float = 1
) -> Value:
    """ERR@k: a user reads down and stops at row r with probability R_r = (2^grade - 1) / 2^max_grade; E[1 / r].

    The level only decides which lists have no relevant row.
    """
    if not n_relevant(ranked, unretrieved, level):
        return None
    found, reading = Fraction(0), Fraction(1)
    for rank, grade in enumerate(top(ranked, k), start=1):
        stops = gain_of(grade, "exp2") / 2**max_grade
        assert stops < 1, "a grade above max_grade"
        found += reading * stops / rank
        reading *= 1 - stops
    return found


def rank_biased_precision(
    ranked: Grades, unretrieved: Grades = (), *, k: int | None = None, p: float = 0.8, gain: str = "binary",
    level: float = 1,
) -> Value:  # fmt: skip
    """RBP@k = (1 - p) * sum of gain * p^(rank - 1): a user goes on to the next row with probability p."""
    if not n_relevant(ranked, unretrieved, level):
        return None
    patience = Fraction(p)
    terms = [gain_of(grade, gain, level) * patience**index for index, grade in enumerate(top(ranked, k))]
    return (1 - patience) * sum(terms, Fraction(0))


def bpref(ranked: Grades, unretrieved: Grades = (), *, level: float = 1) -> Value:
    """bpref as trec_eval computes it: mean over relevant items of 1 - min(n, R) / min(N, R).

    n is the number of judged non-relevant rows above a retrieved relevant one (if 0, the term is 1). N is the number
    of judged non-relevant items, retrieved or not. A relevant item that was not retrieved gives 0. Unjudged rows are
    left out.
    """
    relevant = n_relevant(ranked, unretrieved, level)
    if not relevant:
        return None
    others = sum(1 for grade in [*ranked, *unretrieved] if 0 <= grade < level)
    above, found = 0, Fraction(0)
    for grade in ranked:
        if 0 <= grade < level:
            above += 1
        elif grade >= 0:
            found += 1 - Fraction(min(above, relevant), min(others, relevant)) if above else 1
    return found / relevant


def auc_at_k(ranked: Grades, unretrieved: Grades = (), *, k: int | None = None, level: float = 1) -> Value:
    """AUC of the list in which all rows below rank k tie, as in implicit. Unretrieved items do not count."""
    labels = [hits_in([grade], level) for grade in ranked]
    rank_or_tied = [-min(row, len(ranked) if k is None else k) for row in range(len(ranked))]
    return curves.auc(labels, rank_or_tied)


MEASURES: Mapping[str, Callable[..., Value]] = {
    "auc": auc_at_k,
    "bpref": bpref,
    "cg": cumulative_gain,
    "dcg": dcg,
    "err": expected_reciprocal_rank,
    "f1": f1,
    "hr": hit,
    "idcg": ideal_dcg,
    "map": average_precision,
    "mind_mrr": mind_reciprocal_rank,
    "mrr": reciprocal_rank,
    "ndcg": ndcg,
    "p": precision,
    "rbp": rank_biased_precision,
    "recall": recall,
    "rprec": r_precision,
}


def measure(
    name: str,
    scores: Sequence[float],
    grades: Grades,
    unretrieved: Grades = (),
    *,
    ties: str = "average",
    items: Sequence[str] | Sequence[int] | None = None,
    **options: Any,
) -> Value:
    """One measure of one list with scores."""
    function = MEASURES[name]
    return tied_orders.value(lambda order: function(order, unretrieved, **options), scores, grades, ties, items)


def mean(
    values: Sequence[Value], weights: Sequence[float] | None = None, empty: str = "zero"
) -> Fraction | float | None:
    """The weighted mean over lists. `empty` decides about lists without a value: they count as 0 or 1, or are left out,
    or make the mean undefined or an error."""
    total_weight = Fraction(0)
    terms: list[Fraction | float] = []
    for index, value in enumerate(values):
        weight = Fraction(1) if weights is None else Fraction(weights[index])
        if not weight:
            continue
        if value is None:
            if empty == "raise":
                raise EmptyListError(index)
            if empty == "nan":
                return None
            if empty == "skip":
                continue
            value = Fraction({"zero": 0, "one": 1}[empty])
        total_weight += weight
        terms.append(weight * Fraction(value))
    return sum(terms, Fraction(0)) / total_weight if total_weight else None


def micro_hit_rate(lists: Sequence[tuple[Grades, Grades]], k: int, level: float = 1) -> Fraction | None:
    """The micro average of HR@k, for lists in their final order: hits among the first k / relevant items."""
    hits = sum(hits_in(ranked[:k], level) for ranked, _ in lists)
    relevant = sum(n_relevant(ranked, unretrieved, level) for ranked, unretrieved in lists)
    return Fraction(hits, relevant) if relevant else None


def lists_of(groups: Sequence[Any]) -> dict[Any, list[int]]:
    """The rows of every group: groups in sorted order, rows in input order."""
    rows_of: dict[Any, list[int]] = {}
    for row, group in enumerate(groups):
        rows_of.setdefault(group, []).append(row)
    return {group: rows_of[group] for group in sorted(rows_of)}


def measure_groups(
    name: str,
    grades: Grades,
    scores: Sequence[float],
    groups: Sequence[Any],
    *,
    items: Sequence[str] | Sequence[int] | None = None,
    **options: Any,
) -> list[Value]:
    """One measure of every group, groups in sorted order."""
    return [
        measure(
            name,
            [scores[row] for row in rows],
            [grades[row] for row in rows],
            items=None if items is None else [items[row] for row in rows],
            **options,
        )
        for rows in lists_of(groups).values()
    ]
