"""Flat names of numbers: what MLflow accepts, different for different numbers, the same for the same number."""

import datetime
import math
import posixpath
import re

from fastmetrics._core.comparison.comparison import Comparison
from fastmetrics._core.comparison.difference import Difference
from fastmetrics._core.results.flat_names import MAX_LENGTH, metric_name
from fastmetrics.engine.results.report import Report
from fastmetrics.engine.results.result import Result
from support.cases import each_case

# MLflow's rule for names of metrics: these signs, at most 250 of them, and a path that is its own normal form.
ALLOWED = re.compile(r"[A-Za-z0-9_\-. /:]+")


def assert_accepted(name: str) -> None:
    assert ALLOWED.fullmatch(name), name
    assert len(name) <= MAX_LENGTH == 250
    assert posixpath.normpath(name) == name
    assert not name.startswith(("/", ".."))


def report(*results: Result) -> Report:
    return Report(results, rows=9, version="0")


def test_names_of_a_report():
    made = report(
        Result("auc", "p", {}, 0.75, "s", {}, interval=(0.5, 1.0)),
        Result("ndcg(gain=exp2)@10", "p", {}, 0.5, "s", {}),
        Result("logloss", "p", {}, math.inf, "s", {}),
        Result("auc", "p", {"channel": "feed"}, 0.25, "s", {}),
        Result("auc", "p", {"channel": "ads"}, math.nan, "s", {}, "one class"),
        Result("auc", "p", {"channel": None, "day": datetime.date(2026, 5, 1), "new": True}, 0.125, "s", {}),
    )
    assert made.to_metrics() == {
        "auc": 0.75,
        "auc.ci_low": 0.5,
        "auc.ci_high": 1.0,
        "ndcg.gain_exp2_at_10": 0.5,
        "logloss": math.inf,
        "channel.feed/auc": 0.25,
        "channel.null/day.2026-05-01/new.true/auc": 0.125,
    }
    assert all(type(number) is float for number in made.to_metrics().values())


def test_several_models_are_named():
    pairs = [("y", "a"), ("y", "b"), ("z", "a")]
    made = report(*(Result("auc", score, {}, 0.5, "s", {}, label=label) for label, score in pairs))
    assert list(made.to_metrics()) == ["label.y/score.a/auc", "label.y/score.b/auc", "label.z/score.a/auc"]


@each_case("metric", [
    ("auc", "auc"), ("ndcg@10", "ndcg_at_10"), ("gauc(weight=pairs)", "gauc.weight_pairs"),
    ("ece(n_bins=3, norm=max)", "ece.n_bins_3.norm_max"), ("brier(sampling_rate=0.1)", "brier.sampling_rate_0.1"),
    ("meteor(modules=('exact', 'stem'))", "meteor.modules.exact.stem"),
    ("logloss(labels=[ant, bee])", "logloss.labels_ant.bee"), ("rmse(label=a/b, score=é)", "rmse.label_a_b.score__"),
])  # fmt: skip
def test_names_of_metrics(metric):
    text, name = metric
    assert metric_name(text) == name
    assert_accepted(name)


HOSTILE = [
    "", " ", "  a ", "a/b", "a_b", "../..", "..", "/", "//", "köln", "koln", "日本", "中国", "x" * 400, "x" * 401, "\n",
    "\t", "a\x00b", "null", None, "a.low", "a", "%", "12:30", "New York", b"\xff", True, 1.5, -7,
]  # fmt: skip


def test_hostile_values_have_different_names_that_are_accepted():
    made = [Result("auc", "p", {"c": value}, 0.5, "s", {}, interval=(0.25, 0.75)) for value in HOSTILE]
    names = list(report(*made).to_metrics())
    assert len(set(names)) == len(names) == 3 * len(HOSTILE)
    for name in names:
        assert_accepted(name)
    assert {"c.New York/auc", "c.12:30/auc", "c.a_b/auc"} <= set(names)


def test_no_name_is_the_folder_of_another():
    """MLflow stores a metric as a file of that path."""
    slices = [{}, {"channel": "feed"}, {"channel": "feed", "day": 1}, {"day": 1}, {"c": "x" * 300}]
    made = [Result(metric, "p", own, 0.5, "s", {}) for metric in ("auc", "ndcg@10") for own in slices]
    names = set(report(*made).to_metrics())
    assert len(names) == 10
    assert not {parent for name in names for parent in folders(name)} & names


def folders(name: str) -> list[str]:
    parts = name.split("/")
    return ["/".join(parts[:length]) for length in range(1, len(parts))]


def test_long_metrics_are_shortened():
    long = "logloss(labels=[" + ", ".join(f"class{number}" for number in range(60)) + "])"
    (plain, sliced) = report(
        Result(long, "p", {}, 0.5, "s", {}), Result(long, "p", {"c": "x" * 300}, 0.5, "s", {})
    ).to_metrics()
    assert_accepted(plain)
    assert_accepted(sliced)
    assert sliced.endswith(f"/{plain}")


def test_a_name_does_not_depend_on_the_other_results():
    values = [value for value in HOSTILE if value not in (None, "null", "a", "a.low")]  # those have equal plain names
    made = [Result("auc", "p", {"c": value}, 0.5, "s", {}) for value in values]
    together = list(report(*made).to_metrics())
    assert together == [name for own in made for name in report(own).to_metrics()]
    assert list(report(*made[::-1]).to_metrics()) == together[::-1]


def test_equal_plain_names_are_told_apart_in_any_order():
    made = [Result("auc", "p", {"c": value}, number, "s", {}) for value, number in (("null", 0.25), (None, 0.5))]
    found = report(*made).to_metrics()
    assert found == report(*made[::-1]).to_metrics()
    assert sorted(found.values()) == [0.25, 0.5]


def test_names_of_a_comparison():
    first = Difference("auc", "a", "b", 0.5, 0.75, pvalue=0.01, adjusted_pvalue=0.02, interval=(0.125, 0.375))
    assert Comparison([first]).to_metrics() == {
        "auc.baseline_value": 0.5, "auc.other_value": 0.75, "auc.difference": 0.25, "auc.ci_low": 0.125,
        "auc.ci_high": 0.375,
        "auc.pvalue": 0.01, "auc.adjusted_pvalue": 0.02,
    }  # fmt: skip
    names = list(Comparison([first.replace(other=other, slice={"c": "x" * 300}) for other in "bc"]).to_metrics())
    assert len(names) == len(set(names)) == 14
    for name in names:
        assert_accepted(name)
