"""A small run with its qrels, metrics of it, and equality of results of `evaluate_ranking`."""

import numpy as np

RUN = {"q1": {"d1": 0.9, "d2": 0.8, "d3": 0.7}, "q2": {"d1": 0.5, "d4": 0.4}}
QRELS = {"q1": {"d1": 1, "d3": 2, "d9": 1}, "q2": {"d4": 1}}
METRICS = ["ndcg@10", "ndcg(gain=exp2)@3", "map", "map@3", "mrr", "p@2", "recall@3", "hr@1", "rprec", "bpref", "f1@2"]


def same(first, second):
    """Assert equal values (all bits), equal tables and equal coverage."""
    assert dict(first) == dict(second)
    tables = first.per_query, second.per_query
    for name in dict(tables[0]):
        np.testing.assert_array_equal(tables[0][name], tables[1][name])
    assert first.coverage == second.coverage
