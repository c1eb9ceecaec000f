"""compare_runs: values, tests and intervals of paired queries, missing queries, and errors."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

import fastmetrics as fm
from support.cases import assert_raises, each_case

stats = pytest.importorskip("scipy.stats")

METRICS = ["ndcg@5", "map", "p@3"]


def make_case(seed=0, n_queries=30, skill=(0.2, 0.6, 0.2)):
    """Judgments, and one run for every skill (the weight of the true grade in its scores)."""
    chance = random.Random(seed)
    qrels = {f"q{n}": {f"d{k}": chance.choice((0, 0, 0, 1, 2)) for k in range(12)} for n in range(n_queries)}
    runs = {
        name: {
            query: {item: grade * own + chance.random() for item, grade in items.items()}
            for query, items in qrels.items()
        }
        for name, own in zip("abc", skill, strict=True)
    }
    return qrels, runs


def per_query(qrels, run, metric, **options):
    return fm.evaluate_ranking(qrels, run, metric, **options).per_query[metric]


def test_values_and_differences_are_those_of_evaluate_ranking():
    qrels, runs = make_case()
    comparison = fm.compare_runs(qrels, runs, METRICS)
    assert [(one.metric, one.other) for one in comparison] == [(m, o) for m in METRICS for o in "bc"]
    for one in comparison:
        values = {name: fm.evaluate_ranking(qrels, runs[name], one.metric)[one.metric] for name in (one.other, "a")}
        assert (one.baseline, one.baseline_value, one.other_value) == ("a", values["a"], values[one.other])
        assert one.difference == one.other_value - one.baseline_value
        differences = per_query(qrels, runs[one.other], one.metric) - per_query(qrels, runs["a"], one.metric)
        assert (one.won, one.lost, one.tied) == (
            (differences > 0).sum(),
            (differences < 0).sum(),
            (differences == 0).sum(),
        )
        assert one.n_units == 30
        interval = stats.ttest_1samp(differences, 0).confidence_interval(0.95)
        np.testing.assert_allclose(one.interval, (interval.low, interval.high), rtol=1e-9, atol=1e-15)
        assert math.isclose(one.standard_error, stats.sem(differences), rel_tol=1e-12)
    assert comparison.unit == "query"
    assert comparison.difference("map", other="b").pvalue < 0.01 < comparison.difference("map", other="c").pvalue


@each_case("test", ["sign-flip", "t", fm.wilcoxon])
def test_intervals_say_what_the_verdicts_say(test):
    """In tables as in fields. Student's intervals are of the t-test; another test may say something else."""
    seen = set()
    for seed in range(12):
        qrels, runs = make_case(seed, n_queries=(6, 12, 30)[seed % 3], skill=(0.2, 0.3, 0.45))
        for correction in ("holm", "none", "benjamini-hochberg"):
            comparison = fm.compare_runs(qrels, runs, METRICS, test=test, correction=correction, ci=0.9)
            lines = [line for line in str(comparison).splitlines() if line.startswith(tuple(METRICS))]
            for one, line in zip(comparison.differences, lines, strict=True):
                is_decided = one.verdict in ("better", "worse")
                if one.verdict_interval is None:
                    shown = f"interval and test disagree at {100 * one.verdict_level:.4g}%: the test decides"
                    assert one.reason == shown
                    assert shown in line
                    assert "[" not in line
                else:
                    low, high = one.verdict_interval
                    assert (low > 0 or high < 0) == is_decided
                    assert one.reason is None
                    assert f"{100 * one.verdict_level:.4g}%" in line
                    if correction == "none":
                        assert one.verdict_interval == one.interval
                seen.add((one.verdict_interval is None, is_decided))
    assert seen >= {(False, True), (False, False)}
    assert test != "t" or not {(True, True), (True, False)} & seen


def test_without_a_level_there_are_no_intervals():
    for one in fm.compare_runs(*make_case(), METRICS, ci=None):
        assert (one.interval, one.verdict_interval, one.reason) == (None, None, "the test has no intervals")


def test_p_values_are_those_of_the_tests():
    qrels, runs = make_case(1)
    differences = per_query(qrels, runs["b"], "map") - per_query(qrels, runs["a"], "map")
    found = fm.compare_runs(qrels, runs, "map", replicates=5000, seed=3).difference("map", other="b")
    assert found.pvalue == fm.sign_flip_test(differences, replicates=5000, seed=3).pvalue
    assert found.method == "sign-flip test (5,000 random assignments of signs)"
    found = fm.compare_runs(qrels, runs, "map", test="t").difference("map", other="b")
    assert math.isclose(found.pvalue, stats.ttest_1samp(differences, 0).pvalue, rel_tol=1e-9)
    found = fm.compare_runs(qrels, runs, "map", test=stats.wilcoxon).difference("map", other="b")
    assert (found.pvalue, found.method) == (stats.wilcoxon(differences).pvalue, "wilcoxon")
    assert "test:wilcoxon" in found.signature


@pytest.mark.parametrize("correction", ["holm", "benjamini-hochberg", "none"])
def test_p_values_are_adjusted_over_metrics_and_runs(correction):
    qrels, runs = make_case(2)
    comparison = fm.compare_runs(qrels, runs, METRICS, correction=correction, baseline="b")
    pvalues = [one.pvalue for one in comparison]
    function = {"holm": fm.holm, "benjamini-hochberg": fm.benjamini_hochberg, "none": np.array}[correction]
    assert [one.adjusted_pvalue for one in comparison] == function(pvalues).tolist()
    assert {one.other for one in comparison} == {"a", "c"}


def test_order_of_rows_and_threads_do_not_matter():
    qrels, runs = make_case(3)
    expected = fm.compare_runs(qrels, runs, METRICS)
    shuffled = {}
    for name, run in runs.items():
        rows = [(query, item, score) for query, items in run.items() for item, score in items.items()]
        random.Random(7).shuffle(rows)
        columns = zip(*rows, strict=True)
        shuffled[name] = dict(zip(("query", "item", "score"), map(list, columns), strict=True))
    for n_threads in (1, 3):
        assert fm.compare_runs(qrels, shuffled, METRICS, n_threads=n_threads) == expected


def test_runs_from_files_are_named_by_their_files(tmp_path):
    qrels, runs = make_case(4)
    truth = tmp_path / "qrels"
    truth.write_text("".join(f"{q} 0 {d} {grade}\n" for q, items in qrels.items() for d, grade in items.items()))
    paths = []
    for name, run in runs.items():
        (tmp_path / name).mkdir()
        paths.append(tmp_path / name / f"{name}.run")
        lines = (f"{q} Q0 {d} 1 {score!r} tag\n" for q, items in run.items() for d, score in items.items())
        paths[-1].write_text("".join(lines))
    expected = [one.pvalue for one in fm.compare_runs(qrels, runs, METRICS)]
    found = fm.compare_runs(truth, paths, METRICS)
    assert [one.pvalue for one in found] == expected
    assert {(one.baseline, one.other) for one in found} == {("a.run", "b.run"), ("a.run", "c.run")}
    assert fm.compare_runs(fm.read_qrels(truth), [fm.read_run(path) for path in paths], METRICS) == found
    # Two files of the same name in two folders are named by their paths.
    same = tmp_path / "b" / "a.run"
    same.write_bytes(paths[1].read_bytes())
    found = fm.compare_runs(truth, [paths[0], same], "map")
    assert found["map"].other == str(same)
    assert_raises(ValueError, "twice, at places 0 and 1", fm.compare_runs, truth, [same, same], "map")


def test_missing_queries_are_counted_or_left_out_of_all():
    qrels, runs = make_case(5)
    runs = {"a": runs["a"], "b": {**runs["b"], "other": {"d1": 1.0}}}
    del runs["b"]["q3"]
    runs["a"] = {query: items for query, items in runs["a"].items() if query != "q7"}
    zero = fm.compare_runs(qrels, runs, "map")
    assert zero["map"].n_units == 30
    assert zero["map"].other_value == fm.evaluate_ranking(qrels, runs["b"], "map")["map"]
    assert zero.notes == (
        "a: 1 queries judged but not in the run (count as 0): q7",
        "b: 1 queries judged but not in the run (count as 0): q3",
        "b: 1 queries of the run not judged (left out): other",
    )
    dropped = fm.compare_runs(qrels, runs, "map", missing="drop")
    kept = {query: items for query, items in qrels.items() if query not in ("q3", "q7")}
    assert dropped["map"].n_units == 28
    assert dropped["map"].other_value == fm.evaluate_ranking(kept, runs["b"], "map")["map"]
    assert "missing:drop" in dropped["map"].signature
    assert "left out of all runs" in dropped.notes[0]
    assert_raises(ValueError, "q7", fm.compare_runs, qrels, runs, "map", missing="raise")
    differences = {"a": {"q1": {"d1": 1.0}}, "b": {"q2": {"d1": 1.0}}}
    assert_raises(ValueError, "no query is in every run", fm.compare_runs, qrels, differences, "map", missing="drop")


def test_queries_without_a_relevant_item():
    qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 0}, "q3": {"d1": 0, "d2": 1}}
    runs = {"a": {q: {"d1": 2.0, "d2": 1.0} for q in qrels}, "b": {q: {"d1": 1.0, "d2": 2.0} for q in qrels}}
    assert fm.compare_runs(qrels, runs, "map")["map"].n_units == 3
    assert fm.compare_runs(qrels, runs, "map", empty="skip")["map"].n_units == 2
    undefined = fm.compare_runs(qrels, runs, "map", empty="nan")["map"]
    assert math.isnan(undefined.baseline_value)
    assert math.isnan(undefined.pvalue)
    assert undefined.reason == "a query has no relevant item"
    nothing = fm.compare_runs({"q2": {"d1": 0}}, runs, "map", empty="skip")["map"]
    assert nothing.reason == "no query has a relevant item"
    assert_raises(ValueError, "q2", fm.compare_runs, qrels, runs, "map", empty="raise")


def test_runs_that_do_not_differ():
    qrels, runs = make_case(6)
    same = fm.compare_runs(qrels, {"a": runs["a"], "b": runs["a"]}, "map")["map"]
    assert (same.difference, same.pvalue, same.interval) == (0.0, 1.0, (0.0, 0.0))
    assert (same.won, same.lost, same.tied, same.reason) == (0, 0, 30, "no query differs")


@pytest.mark.parametrize("test", ["sign-flip", "t"])
def test_one_query(test):
    qrels, one = {"q": {"d1": 1, "d2": 0}}, {"d1": 1.0, "d2": 2.0}
    runs = {"a": {"q": one}, "b": {"q": {"d1": 3.0, "d2": 2.0}}}
    found = fm.compare_runs(qrels, runs, "mrr", test=test)["mrr"]
    assert (found.interval, found.standard_error) == (None, None)
    assert found.pvalue == 1.0 if test == "sign-flip" else math.isnan(found.pvalue)
    assert found.reason.startswith("one query")


def test_the_same_difference_everywhere_is_no_t_test():
    qrels = {f"q{n}": {"d1": 1, "d2": 0} for n in range(4)}
    runs = {name: {q: {"d1": own, "d2": 2.0} for q in qrels} for name, own in (("a", 1.0), ("b", 3.0))}
    assert fm.compare_runs(qrels, runs, "mrr")["mrr"].pvalue == 0.125
    found = fm.compare_runs(qrels, runs, "mrr", test="t")["mrr"]
    assert (found.pvalue, found.reason) == (1.0, "all differences are the same: no variance, so p is 1")


@each_case(
    ("change", "error", "message"),
    [
        ({"runs": {"a": {"q": {"d": 1.0}}}}, ValueError, "runs must hold at least two to compare; found 1"),
        ({"runs": [{"q": {"d": 1.0}}, {"q": {"d": 1.0}}]}, TypeError, "runs has dict at place 0"),
        ({"runs": "a.run"}, TypeError, "runs must map names to runs, or list TREC files; found str"),
        ({"baseline": "z"}, ValueError, "baseline must be one of .*; found 'z'"),
        ({"metrics": "hr(average=micro)@3"}, ValueError, "is no mean over queries"),
        ({"metrics": "auc"}, ValueError, "is not one of ranked lists"),
        ({"test": "z"}, ValueError, "test must be one of 'sign-flip', 't'"),
        ({"correction": "z"}, ValueError, "correction must be one of 'holm'"),
        ({"missing": "z"}, ValueError, "missing must be one of"),
        ({"ci": 95}, ValueError, "ci must be a number between 0 and 1"),
        ({"replicates": 0}, ValueError, "replicates must be"),
        ({"seed": 0.5}, TypeError, "seed must be"),
    ],
)
def test_errors(change, error, message):
    qrels, runs = make_case(0, 3)
    arguments = {"qrels": qrels, "runs": runs, "metrics": "map"} | change
    assert_raises(error, message, fm.compare_runs, **arguments)
