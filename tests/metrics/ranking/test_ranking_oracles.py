"""The oracles of ranking metrics against trec_eval, scikit-learn, ranx, and numbers of the literature."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles.ranking import ranking_lists, tied_orders, trec
from support.peers import pytrec_eval, ranx, scikit_learn

MEASURES = trec.OFFICIAL + trec.MORE
NAMES = trec.names(MEASURES)

# Two of them are equal as 32-bit floats.
SCORES = [0.0, -0.0, 1.0, 1.0 + 1e-12, 0.1, -2.5, 3.0]
ITEMS = [f"{letter}{number}" for letter in ("", "B", "b", "é", "日") for number in (1, 2, 9, 10)]


@st.composite
def topics(draw, judgments=(-2, -1, 0, 0, 1, 1, 2, 4)):
    """(run, qrels) of two topics. Every topic has a judgment of zero, which ndcg_cut of trec_eval needs."""
    run, qrels = {}, {}
    for name in ("t1", "t2"):
        judged = draw(st.lists(st.sampled_from(ITEMS), max_size=14, unique=True))
        retrieved = draw(st.lists(st.sampled_from(ITEMS), min_size=1, max_size=14, unique=True))
        qrels[name] = {"never": 0} | {item: draw(st.sampled_from(judgments)) for item in judged}
        run[name] = {item: draw(st.sampled_from(SCORES)) for item in retrieved}
    return run, qrels


def close(value, expected):
    return math.isclose(float(value), float(expected), rel_tol=1e-12, abs_tol=1e-15)


@given(topics(), st.sampled_from([1, 1, 2, 3]), st.booleans())
def test_trec_is_pytrec_eval_topic_by_topic(case, level, judged_only):
    run, qrels = case
    evaluator = pytrec_eval().RelevanceEvaluator(
        qrels, set(MEASURES), relevance_level=level, judged_docs_only_flag=judged_only
    )
    expected = evaluator.evaluate(run)
    found = trec.by_topic(run, qrels, MEASURES, trec.VERSION_9._replace(level=level, judged_only=judged_only))
    assert set(found) == set(expected)
    for topic, values in expected.items():
        assert set(values) == set(NAMES)
        nothing_left = values["num_ret"] == 0
        for name in NAMES:
            if nothing_left and math.isnan(values[name]):
                # 0 / 0: precision at recall 0 of a list without rows. The mean over topics would be NaN, too.
                assert name.startswith("iprec_at_recall")
                assert found[topic][name] == 0
            else:
                assert close(found[topic][name], values[name]), (topic, name)


@given(topics())
def test_trec_means_are_pytrec_eval_s(case):
    run, qrels = case
    peer = pytrec_eval()
    by_topic = peer.RelevanceEvaluator(qrels, set(MEASURES)).evaluate(run)
    summary = trec.summary(run, qrels, MEASURES, trec.VERSION_9)
    for name in NAMES:
        expected = peer.compute_aggregated_measure(name, [values[name] for values in by_topic.values()])
        assert close(summary[name], expected), name


def test_pytrec_eval_compares_scores_as_32_bit_floats():
    run, qrels = {"t": {"a": 1.0 + 1e-12, "b": 1.0}}, {"t": {"a": 1}}
    assert pytrec_eval().RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)["t"]["recip_rank"] == 0.5
    assert trec.by_topic(run, qrels, ["recip_rank"], trec.VERSION_9)["t"]["recip_rank"] == Fraction(1, 2)
    assert trec.by_topic(run, qrels, ["recip_rank"])["t"]["recip_rank"] == 1


def test_interpolated_precision_rounds_in_two_ways():
    run = {"t": {"a": 3.0, "b": 2.0, "c": 1.0}}
    qrels = {"t": {"a": 1, "c": 1, "d": 1, "e": 1}}
    name = "iprec_at_recall_0.30"
    # 0.3 of 4 relevant items is 1.2: the second one (version 9: 1.2 + 0.9, cut), or the first one (version 10).
    assert trec.by_topic(run, qrels, ["iprec_at_recall"], trec.VERSION_9)["t"][name] == Fraction(2, 3)
    assert trec.by_topic(run, qrels, ["iprec_at_recall"])["t"][name] == 1
    peer = pytrec_eval().RelevanceEvaluator(qrels, {"iprec_at_recall"}).evaluate(run)
    assert close(peer["t"][name], Fraction(2, 3))


def test_missing_topics_count_where_asked_for():
    run, qrels = {"1": {"a": 1.0}, "3": {"a": 1.0}}, {"1": {"a": 1, "b": 1}, "2": {"a": 1}}
    names = ["num_q", "num_ret", "num_rel", "map", "gm_map", "iprec_at_recall"]
    summary = trec.summary(run, qrels, names)
    assert [summary[name] for name in ("num_q", "num_ret", "num_rel", "map")] == [1, 1, 2, Fraction(1, 2)]
    summary = trec.summary(run, qrels, names, complete=True)
    assert [summary[name] for name in ("num_q", "num_ret", "num_rel", "map")] == [2, 1, 3, Fraction(1, 4)]
    assert close(summary["gm_map"], math.sqrt(0.5 * 1e-5))
    assert summary["iprec_at_recall_0.00"] == Fraction(1, 2)


def test_rows_beyond_the_maximum_are_not_retrieved():
    run, qrels = {"1": {"a": 3.0, "b": 2.0, "c": 1.0}}, {"1": {"a": 0, "b": 1, "c": 1}}
    summary = trec.summary(run, qrels, ["num_ret", "num_rel", "num_rel_ret", "map"], trec.Options(max_retrieved=2))
    assert list(summary.values()) == [2, 2, 1, Fraction(1, 4)]


@st.composite
def graded(draw, min_size=1, max_size=7, pool=(0.0, 0.0, 1.0, 1.0, 2.0, 3.0), levels=(1, 2, 3, 9)):
    """(scores, grades) with ties."""
    size = draw(st.integers(min_size, max_size))
    scores = draw(st.lists(st.integers(1, draw(st.sampled_from(levels))), min_size=size, max_size=size))
    grades = draw(st.lists(st.sampled_from(pool), min_size=size, max_size=size))
    return [float(score) for score in scores], grades


PARTS = (0.0, 0.0, 0.25, 1.0, 2.0, 3.0)


@given(graded(min_size=2, pool=PARTS), st.sampled_from([None, 1, 2, 3, 5, 10]), st.sampled_from([2, 10, 1.5]))
def test_gains_with_ties_are_scikit_learn(case, k, log_base):
    scores, grades = case
    value = ranking_lists.measure("dcg", scores, grades, k=k, log_base=log_base)
    assert close(value, scikit_learn().dcg_score([grades], [scores], k=k, log_base=log_base))
    value = ranking_lists.measure("ndcg", scores, grades, k=k)
    assert close(value or 0.0, scikit_learn().ndcg_score([grades], [scores], k=k))


@given(st.lists(st.tuples(graded(), st.sampled_from([0.0, 0.5, 1.0, 3.0])), min_size=1, max_size=5))
def test_weighted_means_are_scikit_learn(lists):
    n = max(len(scores) for (scores, _), _ in lists) + 1
    weights = [weight for _, weight in lists]
    if not any(weights):
        weights[0] = 1.0
    # All lists are padded to one length: rows of gain 0 below all others do not change a sum of gains.
    padded = [([*s, *[-1.0] * (n - len(s))], [*g, *[0.0] * (n - len(g))]) for (s, g), _ in lists]
    values = [ranking_lists.measure("ndcg", s, g) for s, g in padded]
    expected = scikit_learn().ndcg_score([g for _, g in padded], [s for s, _ in padded], sample_weight=weights)
    assert close(ranking_lists.mean(values, weights), expected)


@given(graded())
def test_auc_of_a_whole_list_is_scikit_learn(case):
    scores, grades = case
    labels = [int(grade >= 1) for grade in grades]
    value = ranking_lists.measure("auc", scores, grades)
    if len(set(labels)) < 2:
        assert value is None
    else:
        assert close(value, scikit_learn().roc_auc_score(labels, scores))


@given(graded(levels=(9,)))
def test_average_precision_without_ties_is_scikit_learn(case):
    """scikit-learn treats tied rows as one threshold, so its value is not a mean over orders."""
    scores, grades = case
    scores = [score + row / 100 for row, score in enumerate(scores)]
    value = ranking_lists.measure("map", scores, grades)
    if value is not None:
        labels = [int(grade >= 1) for grade in grades]
        assert close(value, scikit_learn().average_precision_score(labels, scores))


# The measures of ranx that have our definition if scores do not tie, no judgment is negative, an item is relevant (else
# ranx has 0, our default) and all gains count (level 1). Its RBP has graded gains; its documentation says binary.
RANX = {
    "ndcg@3": ("ndcg", {"k": 3}),
    "ndcg": ("ndcg", {}),
    "ndcg_burges@3": ("ndcg", {"k": 3, "gain": "exp2"}),
    "dcg@3": ("dcg", {"k": 3}),
    "map@3": ("map", {"k": 3, "normalize": "relevant"}),
    "map": ("map", {}),
    "mrr@3": ("mrr", {"k": 3}),
    "hit_rate@3": ("hr", {"k": 3}),
    "precision@3": ("p", {"k": 3}),
    "recall@3": ("recall", {"k": 3}),
    "f1@3": ("f1", {"k": 3}),
    "r-precision": ("rprec", {}),
    "rbp.80": ("rbp", {"p": 0.8, "gain": "linear"}),
}


def ranx_values(qrels, run, names):
    module = ranx()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return module.evaluate(qrels, run, names, return_mean=False)


def test_ranx_without_ties():
    generator = np.random.default_rng(5)
    run, qrels = {}, {}
    for topic in range(40):
        items = [f"d{item}" for item in generator.permutation(12)]
        qrels[str(topic)] = {item: int(generator.choice([0, 1, 2, 3])) for item in items[: generator.integers(1, 9)]}
        run[str(topic)] = {item: float(rank) for rank, item in enumerate(items[generator.integers(0, 6) :])}
    found = ranx_values(qrels, run, list(RANX))
    for name, (measure, options) in RANX.items():
        for value, topic in zip(found[name], qrels, strict=True):
            ranked, unretrieved = trec.topic_of(run[topic], qrels[topic])
            expected = ranking_lists.MEASURES[measure](ranked, unretrieved, **options)
            assert close(expected or 0, value), (name, topic)


def test_where_ranx_differs():
    judged, retrieved = {"a": 1, "b": -1, "c": 2}, {"b": 3.0, "a": 2.0, "c": 1.0}
    found = ranx_values({"t": judged, "u": {"a": 1}}, {"t": retrieved, "u": retrieved}, ["bpref", "ndcg-l2"])
    topic = trec.topic_of(retrieved, judged)
    # A negative judgment is a non-relevant item in ranx; in trec_eval it is unjudged.
    assert ranking_lists.bpref(*topic) == 1
    assert close(found["bpref"][0], 0.0)
    # Without a judged non-relevant item bpref divides by zero.
    assert math.isnan(found["bpref"][1])
    # In ranx the level removes gains; NDCG of trec_eval ignores it.
    assert close(found["ndcg-l2"][0], 1 / math.log2(4))
    assert close(ranking_lists.ndcg(*topic), (1 / math.log2(3) + 1) / (2 + 1 / math.log2(3)))


OPTIONS = {"p": {"k": 2}, "recall": {"k": 2}, "f1": {"k": 2}, "hr": {"k": 2}, "err": {"max_grade": 3}}
JUDGED = (-1.0, 0.0, 0.0, 1.0, 1.0, 3.0)


@given(graded(pool=JUDGED), st.sampled_from(list(ranking_lists.MEASURES)), st.lists(st.sampled_from([0.0, 1.0, 2.0])))
def test_optimistic_ties_have_the_greatest_value_and_pessimistic_ties_the_least(case, name, unretrieved):
    scores, grades = case
    measure = ranking_lists.MEASURES[name]
    values = [measure(order, unretrieved, **OPTIONS.get(name, {})) for order in tied_orders.orders(scores, grades)]
    best, worst, mean = (
        ranking_lists.measure(name, scores, grades, unretrieved, ties=ties, **OPTIONS.get(name, {}))
        for ties in ("optimistic", "pessimistic", "average")
    )
    if values[0] is None:
        assert (best, worst, mean) == (None, None, None)
    else:
        # Sums of floats in another order differ in the last bit.
        assert close(best, max(values))
        assert close(worst, min(values))
        assert worst <= mean * (1 + 1e-15)
        assert mean <= best * (1 + 1e-15)


def test_average_precision_by_hits_may_be_greater_with_pessimistic_ties():
    # One hit at rank 1 has a greater value than the same hit and another one at rank 3.
    scores, grades = [3.0, 2.0, 1.0, 1.0], [1.0, 0.0, 1.0, 0.0]
    by_rule = {
        ties: ranking_lists.measure("map", scores, grades, k=3, normalize="hits", ties=ties)
        for ties in ("optimistic", "pessimistic")
    }
    assert by_rule == {"optimistic": Fraction(5, 6), "pessimistic": 1}


@given(graded(), st.sampled_from([None, 1, 2, 4]))
def test_expected_value_is_the_mean_over_all_orders(case, k):
    scores, grades = case
    relevant = [grade >= 1 for grade in grades]
    n_relevant, n = sum(relevant), len(grades)
    grades = [float(each) for each in relevant]
    if not n_relevant:
        return

    def expected(gain, final=lambda hits, total: total):
        return tied_orders.expected_value(scores, relevant, k, gain, final)

    def measure(name, **options):
        return ranking_lists.measure(name, scores, grades, k=k, **options)

    assert close(expected(lambda above, rank: (above + 1) / rank / n_relevant), measure("map", normalize="relevant"))
    by_hits = expected(lambda above, rank: (above + 1) / rank, lambda hits, total: total / hits if hits else 0.0)
    assert close(by_hits, measure("map", normalize="hits"))
    assert close(expected(lambda above, rank: 0.0 if above else 1 / rank), measure("mrr"))
    assert close(expected(lambda above, rank: 0.5 * 0.5**above / rank), measure("err", max_grade=1))
    if k is None:
        worst = min(n_relevant, n - n_relevant)
        bpref = expected(lambda above, rank: 1 - (min(rank - 1 - above, n_relevant) / worst if worst else 0))
        assert close(bpref / n_relevant, ranking_lists.measure("bpref", scores, grades))


def test_numbers_of_the_literature():
    five = [5.0, 4.0, 3.0, 2.0, 1.0]
    grades = [3.0, 1.0, 2.0, 3.0, 2.0]
    assert ranking_lists.measure("cg", five, grades) == 11
    assert round(ranking_lists.measure("dcg", five, grades), 2) == 6.70  # cut, not rounded: 6.69
    assert round(ranking_lists.measure("ndcg", five, grades), 2) == 0.94
    one_hit_of_five = {
        normalize: ranking_lists.average_precision([1, 0, 0], [1, 1, 1, 1], k=3, normalize=normalize)
        for normalize in ("min", "relevant", "k", "hits")
    }
    assert list(one_hit_of_five.values()) == [Fraction(1, 3), Fraction(1, 5), Fraction(1, 3), 1]
    # C. D. Manning, P. Raghavan, H. Schütze (2008), Introduction to information retrieval: 1/3 (1 + 2/3 + 3/5) ...
    assert ranking_lists.average_precision([1, 0, 1, 0, 1]) == Fraction(1, 3) * (1 + Fraction(2, 3) + Fraction(3, 5))
    # Chapelle et al. (2009), section 4: a perfect grade stops 15 of 16 users.
    assert ranking_lists.expected_reciprocal_rank([4]) == Fraction(15, 16)
    assert ranking_lists.expected_reciprocal_rank([0, 4]) == Fraction(15, 32)
    # Moffat and Zobel (2008): with p = 1/2 the first row is worth half, the next a quarter.
    assert ranking_lists.rank_biased_precision([1, 0, 1], p=0.5) == Fraction(5, 8)
    # A user with two clicks at ranks 1 and 4: (1 + 1/4) / 2.
    assert ranking_lists.mind_reciprocal_rank([1, 0, 0, 1]) == Fraction(5, 8)
    # K relevant items out of K is what an ideal list of ones holds: a single hit on top cannot reach 1.
    assert close(ranking_lists.ndcg([1, 0, 0], k=2, ideal="k"), 1 / (1 + 1 / math.log2(3)))
    assert ranking_lists.auc_at_k([1, 0, 1, 0], k=2) == Fraction(2 + Fraction(1, 2), 4)


def test_means_of_lists_without_a_value():
    values = [Fraction(1, 2), None, Fraction(1, 4)]
    assert ranking_lists.mean(values) == Fraction(1, 4)
    assert ranking_lists.mean(values, empty="one") == Fraction(7, 12)
    assert ranking_lists.mean(values, empty="skip") == Fraction(3, 8)
    assert ranking_lists.mean(values, empty="nan") is None
    assert ranking_lists.mean(values, [1, 0, 3], empty="nan") == Fraction(5, 16)
    assert ranking_lists.mean([None], empty="skip") is None
    with pytest.raises(ranking_lists.EmptyListError):
        ranking_lists.mean(values, empty="raise")
    assert ranking_lists.micro_hit_rate([([1.0, 1.0, 0.0], [1.0]), ([0.0, 1.0], [])], k=1) == Fraction(1, 4)
