"""The closed forms of ties in docs/definitions.md, against the mean over all orders of the tied rows."""

import itertools
import math
from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.ranking import ranking_lists, tied_orders


def split(grades, blocks, k):
    """(b, h, m, r, t, grades) of every tie from the top, with the names of docs/definitions.md."""
    above = hits = 0
    for length in blocks:
        tie = grades[above : above + length]
        relevant = sum(grade >= 1 for grade in tie)
        yield above, hits, length, relevant, min(max(k - above, 0), length), tie
        above, hits = above + length, hits + relevant


def linear(ties, weight_of_rank):
    """Sum over ties of the mean grade times the weights of the ranks up to the cutoff."""
    return sum(Fraction(sum(tie), m) * sum(weight_of_rank(b + 1 + j) for j in range(t)) for b, _, m, _, t, tie in ties)


def cumulative_gain(ties, k, n_relevant):
    return linear(ties, lambda rank: 1)


def mind(ties, k, n_relevant):
    binary = [(*rest, [min(grade, 1) for grade in tie]) for *rest, tie in ties]
    return linear(binary, lambda rank: Fraction(1, rank)) / n_relevant


def precision(ties, k, n_relevant):
    return sum(Fraction(r * t, m) for _, _, m, r, t, _ in ties) / k


def hit_rate(ties, k, n_relevant):
    for _, _, m, r, t, _ in ties:
        if r:
            return 1 - Fraction(comb(m - r, t), comb(m, t))
    return Fraction(0)


def reciprocal_rank(ties, k, n_relevant):
    for b, _, m, r, t, _ in ties:
        if r:
            return sum((Fraction(comb(m - j, r - 1), comb(m, r) * (b + j)) for j in range(1, t + 1)), Fraction(0))
    return Fraction(0)


def precision_sum(b, h, m, r, places):
    """Expected sum of the precisions at hits within the first `places` ranks of a tie."""
    inside = Fraction(r - 1, m - 1) if m > 1 else 0
    return sum(Fraction(r, m) * (h + 1 + (j - 1) * inside) / (b + j) for j in range(1, places + 1))


def average_precision(ties, k, n_relevant):
    return sum((precision_sum(b, h, m, r, t) for b, h, m, r, t, _ in ties), Fraction(0)) / min(k, n_relevant)


def average_precision_of_hits(ties, k, n_relevant):
    """If k cuts a tie, condition on its number of hits above k: its first t ranks are then a tie themselves."""
    total, uncut = Fraction(0), Fraction(0)
    for b, h, m, r, t, _ in ties:
        if 0 < t < m:
            for x in range(max(0, t - (m - r)), min(r, t) + 1):
                chance = Fraction(comb(r, x) * comb(m - r, t - x), comb(m, t))
                if h + x:
                    total += chance * (uncut + precision_sum(b, h, t, x, t)) / (h + x)
            return total
        if t == 0:
            break
        uncut += precision_sum(b, h, m, r, m)
        last = h + r
    return uncut / last if last else Fraction(0)


def symmetric_sums(values):
    """e_0, e_1, ...: the sums of the products of j of the values."""
    return [sum(math.prod(chosen) for chosen in itertools.combinations(values, j)) for j in range(len(values) + 1)]


def expected_reciprocal_rank(ties, k, n_relevant):
    total, reading = Fraction(0), Fraction(1)
    for b, _, m, _, t, tie in ties:
        going_on = [1 - Fraction(2**grade - 1, 16) for grade in tie]
        e = symmetric_sums(going_on)
        for j in range(1, t + 1):
            total += reading * (Fraction(e[j - 1]) / comb(m, j - 1) - Fraction(e[j]) / comb(m, j)) / (b + j)
        reading *= math.prod(going_on)
    return total


def bpref(ties, k, n_relevant):
    n_others = sum(m - r for _, _, m, r, _, _ in ties)
    total = Fraction(0)
    for b, h, m, r, _, _ in ties:
        above = b - h
        terms = []
        for x in range(m - r + 1):
            worse = above + x
            terms.append(1 - Fraction(min(worse, n_relevant), min(n_others, n_relevant)) if worse else Fraction(1))
        total += r * sum(terms) / len(terms)
    return total / n_relevant


def auc_at_k(ties, k, n_relevant):
    won = Fraction(0)
    for one, (*_, m, r, t, _) in enumerate(ties):
        for other, (*_, n, relevant, _, _) in enumerate(ties):
            pairs = r * (n - relevant)  # a relevant row of the one, another row of the other
            if one == other:
                won += pairs * Fraction(1, 2)
            elif one < other:
                won += pairs * (Fraction(1, 2) + Fraction(t, 2 * m))
            else:
                won += pairs * (Fraction(1, 2) - Fraction(ties[other][4], 2 * n))
    return won / (n_relevant * sum(m - r for _, _, m, r, _, _ in ties))


FORMS = {
    "cg": (cumulative_gain, {}),
    "mind_mrr": (mind, {}),
    "p": (precision, {}),
    "hr": (hit_rate, {}),
    "mrr": (reciprocal_rank, {}),
    "map": (average_precision, {"normalize": "min"}),
    "map of hits": (average_precision_of_hits, {"normalize": "hits"}),
    "err": (expected_reciprocal_rank, {"max_grade": 4}),
    "bpref": (bpref, {}),
    "auc": (auc_at_k, {}),
}


@pytest.mark.parametrize("name", FORMS)
@given(blocks=st.lists(st.integers(1, 4), min_size=1, max_size=3), k=st.integers(1, 8), data=st.data())
def test_the_mean_over_all_orders(name, blocks, k, data):
    grades = data.draw(st.lists(st.integers(0, 3), min_size=sum(blocks), max_size=sum(blocks)))
    n_relevant = sum(grade >= 1 for grade in grades)
    if n_relevant in (0, len(grades)):
        grades[0], grades[-1:] = 1, [0] if len(grades) > 1 else [1]
        n_relevant = sum(grade >= 1 for grade in grades)
    if name == "auc" and n_relevant == len(grades):
        return
    scores = [-number for number, length in enumerate(blocks) for _ in range(length)]
    form, options = FORMS[name]
    cutoff = {} if name == "bpref" else {"k": k}
    measure = ranking_lists.MEASURES[name.split()[0]]
    expected = tied_orders.value(lambda order: measure(order, (), **cutoff, **options), scores, grades)
    assert form(list(split(grades, blocks, k)), k, n_relevant) == expected
