"""`evaluate`, `compare`, `Accumulator` and their results, on logs of a few rows."""

import json
from math import erfc, isnan, sqrt
from statistics import NormalDist

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fastmetrics as fm

from .cases import Case, near, of_type, plain

pytestmark = pytest.mark.smoke

# The old score has 3 of 4 pairs in order: that of day 1, and not that of day 2. The new one has all.
LOG = {"click": [0, 0, 1, 1], "old": [0.1, 0.4, 0.35, 0.8], "new": [0.1, 0.2, 0.3, 0.9], "day": [1, 2, 2, 1]}
COLUMNS = {"label": "click", "score": "old"}
MODELS = {"label": "click", "score": ["old", "new"], "ci_method": "delong"}

# The standard error of an AUC of 3/4 from two positives and two negatives: variances of 1/8 for each.
ERROR = sqrt(1 / 8 / 2 + 1 / 8 / 2)
LOW = 3 / 4 - NormalDist().inv_cdf(0.975) * ERROR

# In the order of the old score ann's click stands last of three, bob's first; the new one has both first.
USERS = {
    "click": [0, 0, 1, 0, 1],
    "old": [0.9, 0.8, 0.7, 0.1, 0.2],
    "new": [0.7, 0.8, 0.9, 0.1, 0.2],
    "user": ["ann", "ann", "ann", "bob", "bob"],
}

# Twelve users with the same four rows: in one channel the errors are 0 and 1, in the other 0 and 2.
ALIKE = {
    "watched": [1.0, 3.0, 4.0, 8.0] * 12,
    "expected": [1.0, 2.0, 4.0, 6.0] * 12,
    "channel": ["app", "app", "web", "web"] * 12,
    "user": [number // 4 for number in range(48)],
}


def evaluated():
    return fm.evaluate(LOG, "auc", **COLUMNS)


def compared(**options):
    """The AUC of two models on the same rows, with DeLong's test."""
    return fm.compare(LOG, "auc", **MODELS, **options)


# Of 20 days the errors of the new model are greater by 1 or less by 1 in turn.
DAYS = {"y": [0.0] * 20, "old": [2.0] * 20, "new": [3.0, 1.0] * 10, "day": list(range(20))}
QUANTILES = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)
NEEDED = QUANTILES**2 * (20 / 19) / 0.01**2


def days_compared():
    return fm.compare(DAYS, "mae", label="y", score=["old", "new"], unit="day")


def two_logs_compared(function):
    """Two units in each log, with equal variances: Welch's degrees of freedom are 1 + 1."""
    log = {"y": [0.0, 0.0], "p": [1.0, 3.0], "day": [1, 2]}
    reports = [fm.evaluate(log | {"p": p}, "mae", label="y", score="p", unit="day", ci=0.95) for p in ([1, 3], [2, 4])]
    return function(*reports)["mae"]


def accumulated(kind):
    accumulator = kind("auc", **COLUMNS)
    accumulator.update(LOG)
    return accumulator


def of_batches(kind):
    metrics = kind("auc")
    metrics.update(label=LOG[COLUMNS["label"]], score=LOG[COLUMNS["score"]])
    return metrics.result()


def warned(category):
    with pytest.warns(category, match="no negative row"):
        return isnan(fm.roc_auc_score([1, 1], [0.2, 0.9]))


CASES: list[Case] = [
    ("evaluate", lambda function: function(LOG, "auc", **COLUMNS)["auc"], 3 / 4),
    ("compare", lambda function: function(LOG, "auc", **MODELS).difference("auc").difference, 1 / 4),
    ("Accumulator", lambda kind: accumulated(kind).result()["auc"], 3 / 4),
    ("TrainingMetrics", lambda kind: dict(of_batches(kind)), {"auc": 3 / 4}),
    ("Task", lambda kind: fm.evaluate(LOG, "auc", tasks={"ctr": kind(**COLUMNS)}).value("auc", task="ctr"), 3 / 4),
    ("Evaluation", lambda kind: kind("auc", **COLUMNS).run(LOG)["auc"], 3 / 4),
    ("Report", lambda kind: of_type(kind, evaluated()).rows, 4),
    ("Result", lambda kind: of_type(kind, evaluated().results[0]).value, 3 / 4),
    ("Comparison", lambda kind: len(of_type(kind, compared()).differences), 1),
    ("Difference", lambda kind: of_type(kind, compared().differences[0]).other_value, 1),
    ("sample_size", lambda function: function(days_compared(), "mae", 0.01), pytest.approx(NEEDED, rel=1e-4)),
    ("compare_reports", lambda function: two_logs_compared(function).df, near(2.0)),
    ("Metric", lambda kind: fm.evaluate(LOG, kind.auc(), **COLUMNS)[kind.auc()], 3 / 4),
    ("MetricTable", lambda kind: "p@10" in list(of_type(kind, fm.list_metrics())), True),
    ("MetricSpec", lambda kind: of_type(kind, fm.list_metrics()["gauc"]).exchange, "hash"),
    ("list_metrics", lambda function: {"auc", "gauc", "ndcg", "bleu", "ari"} <= set(function()), True),
    ("UndefinedMetricWarning", warned, True),
    ("__version__", lambda version: version == json.loads(evaluated().to_json())["version"], True),
]


@pytest.mark.parametrize(("name", "call", "expected"), CASES, ids=[name for name, *_ in CASES])
def test_value(name, call, expected):
    assert plain(call(getattr(fm, name))) == expected


def test_evaluate_by_slice():
    report = fm.evaluate(LOG, "auc,ctr", **COLUMNS, by="day")
    slices = [{}, {"day": 1}, {"day": 2}]
    assert [report.value("auc", slice=one) for one in slices] == [3 / 4, 1, 0]
    assert [report.value("ctr", slice=one) for one in slices] == [1 / 2, 1 / 2, 1 / 2]


def write_parquet(path):
    pq.write_table(pa.table(ALIKE), path / "log.parquet", row_group_size=10)
    return path / "log.parquet"


SOURCES = {"arrays": lambda folder: ALIKE, "table": lambda folder: pa.table(ALIKE), "parquet": write_parquet}


@pytest.mark.parametrize("source", SOURCES)
def test_evaluate_by_slice_with_intervals(source, tmp_path):
    """Users are alike: each replicate is the value itself, and an interval would have no width."""
    report = fm.evaluate(
        SOURCES[source](tmp_path), "mae", label="watched", score="expected", by="channel", ci=0.95, unit="user",
        replicates=20,
    )  # fmt: skip
    expected = {"all": 3 / 4, "app": 1 / 2, "web": 1}
    assert {result.slice.get("channel", "all"): result.value for result in report.results} == expected
    for result in report.results:
        assert result.interval is None
        assert result.coverage["interval"].startswith("the replicates do not differ")
    assert {result.standard_error for result in report.results} == {0}


def test_interval_of_leaving_units_out():
    log = {"y": [0.0, 0.0, 0.0], "p": [1.0, 2.0, 6.0], "user": [1, 2, 3]}
    found = fm.evaluate(log, "mae", label="y", score="p", unit="user", ci=0.95).result("mae")
    changes = 3 - np.array([4.0, 3.5, 1.5])
    error = np.sqrt(2 / 3 * (changes**2).sum())
    assert (found.value, found.standard_error) == (3.0, near(error))
    assert found.interval[0] * found.interval[1] == near(9.0)  # symmetric on the scale of logarithms


def test_interval_by_formula():
    (found,) = fm.evaluate(LOG, "auc", **COLUMNS, ci=0.95, ci_method="delong").results
    assert (found.interval, found.standard_error) == ((near(LOW), 1), near(ERROR))


def test_compare_by_formula():
    found = compared(correction=None).difference("auc")
    assert (found.baseline_value, found.other_value, found.difference) == (3 / 4, 1, 1 / 4)
    assert found.pvalue == near(erfc(1 / 4 / ERROR / sqrt(2)))


def test_compare_by_user():
    comparison = fm.compare(USERS, "mrr", label="click", score=["old", "new"], group="user", replicates=50)
    found = comparison.difference("mrr")
    assert (found.baseline_value, found.other_value) == (near((1 / 3 + 1) / 2), 1)
    assert (found.won, found.lost, found.tied, found.n_units) == (1, 0, 1, 2)
    assert json.loads(comparison.to_json())["differences"][0]["difference"] == near(1 / 3)
    assert "mrr" in comparison.to_html()


@pytest.mark.parametrize("metric", ["auc", "accuracy", "mrr"])
def test_accumulator_merged_from_bytes(metric):
    """Two batches, each in an accumulator of its own that comes back from bytes."""
    columns = {"label": "click", "score": "old", "group": "user"}
    parts = []
    for rows in (slice(0, 3), slice(3, None)):
        part = fm.Accumulator(metric, **columns)
        part.update({name: values[rows] for name, values in USERS.items()})
        parts.append(fm.Accumulator.from_bytes(part.to_bytes()))
    merged = parts[0].merge(parts[1])
    # Of six pairs the two of bob's click with ann's other rows and the two of ann's click are lost.
    assert merged.result()[metric] == {"auc": 2 / 6, "accuracy": 2 / 5, "mrr": near((1 / 3 + 1) / 2)}[metric]
    assert merged.rows == 5


def test_report_as_json():
    document = json.loads(evaluated().to_json())
    assert [(result["metric"], result["value"]) for result in document["results"]] == [("auc", 3 / 4)]


def test_report_as_page(tmp_path):
    page = fm.evaluate(LOG, "auc", **COLUMNS, curves=True).to_html(tmp_path / "report.html")
    assert "0.75" in page
    assert "<svg" in page
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page


def test_report_as_plot():
    axes = pytest.importorskip("matplotlib.figure").Figure().subplots()
    fm.evaluate(LOG, "auc", **COLUMNS, curves=True).plot("roc", ax=axes)
    corners = [point for line in axes.get_lines() for point in line.get_xydata().tolist()]
    assert [0.5, 0.5] in corners
    assert [0.5, 1.0] in corners
