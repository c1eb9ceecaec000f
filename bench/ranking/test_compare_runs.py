"""compare_runs beside pytrec_eval and scipy: two runs evaluated, with a paired t-test of every measure."""

import numpy as np
import pytest

import fastmetrics as fm
from bench.timing import format_count

QUERIES_OF_ROWS = 1000  # 10M rows of the other benches are 10k queries
ITEMS = 100
METRICS = {"map": "map", "ndcg@10": "ndcg_cut_10", "p@10": "P_10", "mrr": "recip_rank"}


@pytest.fixture(scope="module")
def runs(rows):
    """Judgments of a fifth of the items, and two runs, as dicts for the peer."""
    generator = np.random.default_rng(8)
    queries = [f"q{number}" for number in range(max(50, rows // QUERIES_OF_ROWS))]
    items = [f"d{number}" for number in range(ITEMS)]
    qrels, first, second = {}, {}, {}
    for query in queries:
        grades = generator.integers(0, 2, ITEMS // 5)
        scores = generator.random((2, ITEMS))
        scores[:, : ITEMS // 5] += grades * [[0.3], [0.32]]
        qrels[query] = dict(zip(items, grades.tolist(), strict=False))
        first[query] = dict(zip(items, scores[0].tolist(), strict=True))
        second[query] = dict(zip(items, scores[1].tolist(), strict=True))
    return qrels, first, second


def with_pytrec_eval(runs):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    stats = pytest.importorskip("scipy.stats")
    qrels, *both = runs

    def work():
        evaluator = pytrec_eval.RelevanceEvaluator(qrels, set(METRICS.values()))
        results = [evaluator.evaluate(run) for run in both]
        values = []
        for measure in METRICS.values():
            one, other = ([result[query][measure] for query in qrels] for result in results)
            values += [np.mean(other) - np.mean(one), stats.ttest_rel(other, one).pvalue]
        return values

    return work


@pytest.mark.parametrize("test", ["t", "sign-flip"])
def test_two_runs(timing, runs, test):
    qrels, first, second = runs

    def compared(test):
        return fm.compare_runs(qrels, {"first": first, "second": second}, list(METRICS), test=test)

    def our_values():
        return [value for one in compared("t") for value in (one.difference, one.pvalue)]

    theirs = with_pytrec_eval(runs)
    np.testing.assert_allclose(our_values(), theirs(), rtol=1e-6, atol=1e-12)
    work = f"`compare_runs` of two runs, {format_count(len(qrels))} queries of {ITEMS} items, {test} test"
    timing.compare(
        work, lambda: compared(test), "pytrec_eval and scipy (t test)", theirs, within=None, rounds=2,
    )  # fmt: skip
