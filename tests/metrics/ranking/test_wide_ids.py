"""Queries, items and groups that integers of 64 bits do not hold: compared by value, and shown as what was given."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import fastmetrics as fm
from support.cases import each_case

WIDE = 10**21 + 1
IDS = {
    "int64 and uint64": (2**63 + 1, 2**63 + 2, -1),
    "uint64": (2**63 + 1, 2**63 + 2, 5),
    "22 digits": (WIDE, WIDE + 1, 5),
    "negative": (-(2**63) - 1, -(2**63) - 2, 5),
}
LABELS, SCORES = [1, 0, 1, 0, 1, 0], [0.4, 0.3, 0.2, 0.1, 0.9, 0.8]


@each_case("ids", IDS.values(), ids=IDS.keys())
def test_groups_are_shown_as_given(ids):
    first, second, _ = ids
    users = [first] * 3 + [second] * 3
    expected = sorted((first, second))
    tables = (
        fm.auc_by_group(LABELS, SCORES, users).group,
        fm.errors_by_group(LABELS, SCORES, users).group,
        fm.ranking_by_group(LABELS, SCORES, users, "ndcg@2", items=list(ids) * 2)["group"],
        fm.auc_by_group(LABELS, SCORES, {"user": users, "day": [1] * 6}).group["user"],
    )
    for groups in tables:
        assert groups.tolist() == expected
    arrow = fm.auc_by_group(LABELS, SCORES, users).to_arrow()
    assert list(map(int, arrow["group"].to_pylist())) == expected


@each_case(
    "keys, expected",
    [
        ([Decimal("1.50"), Decimal("2.00")], [Decimal("1.5"), 2]),
        (pa.array([Decimal("1.50"), Decimal("2.00")]), [Decimal("1.5"), 2]),
        ([2**53 + 1, 0.1], [0.1, 2**53 + 1]),
        (["7", "x"], ["7", "x"]),
    ],
)
def test_keys_of_tables_are_values(keys, expected):
    groups = [*keys, *keys] if isinstance(keys, list) else pa.concat_arrays([keys, keys])
    found = fm.auc_by_group([1, 0, 0, 1], [0.1, 0.2, 0.3, 0.4], groups).group.tolist()
    assert found == expected
    assert list(map(type, found)) == list(map(type, expected))


@each_case("ids", IDS.values(), ids=IDS.keys())
def test_runs_and_judgments_are_joined_by_value(ids):
    codes = [0, 1, 2, 0, 1, 2]
    queries = [0, 0, 0, 1, 1, 1]
    run = {"query": queries, "item": codes, "score": SCORES}
    qrels = {"query": queries, "item": codes, "relevance": LABELS}
    expected = fm.evaluate_ranking(qrels, run, "mrr")["mrr"]
    items, users = [ids[code] for code in codes], [ids[code] for code in queries]
    run, qrels = {"query": users, "item": items, "score": SCORES}, {"query": users, "item": items, "relevance": LABELS}
    assert fm.evaluate_ranking(qrels, run, "mrr")["mrr"] == expected


@each_case("ids", IDS.values(), ids=IDS.keys())
def test_one_side_alone_has_wide_ids(ids):
    run = {"query": [1, 1, 1], "item": [7, 8, ids[0]], "score": [0.3, 0.2, 0.1]}
    qrels = {"query": [1], "item": [8], "relevance": [1]}
    assert fm.evaluate_ranking(qrels, run, "mrr")["mrr"] == 0.5
    run = {"query": [1], "item": [8], "score": [0.3]}
    qrels = {"query": [1, 1], "item": [8, ids[2]], "relevance": [1, 1]}
    assert fm.evaluate_ranking(qrels, run, "recall@3")["recall@3"] == 0.5


@each_case("ids", IDS.values(), ids=IDS.keys())
def test_one_side_alone_has_wide_queries(ids):
    small = {"query": [3, 4, 3], "item": [1, 1, 2], "score": [0.3, 0.2, 0.1], "relevance": [1, 1, 0]}
    wide = {name: values + values[:1] for name, values in small.items()}
    wide["query"] = [*small["query"], ids[0]]
    assert fm.evaluate_ranking(wide, small, "mrr")["mrr"] == pytest.approx(2 / 3)
    assert fm.evaluate_ranking(small, wide, "mrr")["mrr"] == 1.0


@each_case("ids", IDS.values(), ids=IDS.keys())
def test_recommendations_have_wide_ids(ids):
    first, second, third = ids
    recommended, relevant = [[first, third], [second, third]], [[second, third], [second]]
    assert fm.evaluate_recommendations(relevant, recommended, "recall@2")["recall@2"] == 0.75


@each_case("ids", IDS.values(), ids=IDS.keys())
def test_ties_are_broken_by_the_greater_number(ids):
    for item in ids:
        labels = [int(own == item) for own in ids]
        table = fm.ranking_by_group(labels, [0.5] * 3, [1] * 3, "mrr", items=list(ids), ties="docid")
        assert table["mrr"].tolist() == [1 / (1 + sorted(ids, reverse=True).index(item))]


def test_numbers_are_no_strings():
    run, qrels = {"query": [1], "item": [WIDE], "score": [0.5]}, {"query": [1], "item": [str(WIDE)], "relevance": [1]}
    with pytest.raises(TypeError, match="numbers and strings: cast one of them"):
        fm.evaluate_ranking(qrels, run, "mrr")
    assert np.isnan(fm.auc_by_group([1], [0.5], [WIDE]).auc[0])
