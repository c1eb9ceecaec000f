"""Reports and comparisons that are read from their JSON equal those that were written."""

import datetime
import decimal
import json
import math

import numpy as np
import pyarrow as pa
import pytest

import fastmetrics as fm
from fastmetrics._core.results.json_results import as_json_value, json_types, restored

NAN, INFINITY = math.nan, math.inf
ROWS = 48
LOG = {
    "click": [0, 1, 0, 1, 1, 0, 1, 0] * 6,
    "score": [0.1, 0.8, 0.4, 0.35, 0.9, 0.2, 0.7, 0.6] * 6,
    "other": [0.2, 0.7, 0.4, 0.45, 0.6, 0.1, 0.8, 0.3] * 6,
    "user": [1, 2, 3, 4] * 12,
    "kind": ["a", "b", "c"] * 16,
    "guess": ["a", "c", "c"] * 16,
}
BINARY = {"label": "click", "score": "score"}
INSTANT = datetime.datetime(2024, 1, 2, 3, 4, 5, 678901)
# Slices of every type of values.
SLICES = {
    "text": pa.array(["feed", 'a,"b"', None] * 16),
    "integer": pa.array([1, 2**53 + 1, None] * 16),
    "boolean": pa.array([True, False] * 24),
    "date": pa.array([datetime.date(2024, 1, 1), None] * 24),
    "datetime": pa.array([INSTANT, None] * 24),
    "zone": pa.array([INSTANT] * ROWS, pa.timestamp("us", "Europe/Paris")),
    "nanoseconds": pa.array(np.full(ROWS, "2024-01-02T03:04:05.123456789", "datetime64[ns]")),
    "time": pa.array([datetime.time(1, 2, 3)] * ROWS),
    "duration": pa.array([datetime.timedelta(-1, 2, 3)] * ROWS),
    "decimal": pa.array([decimal.Decimal("1.50"), None] * 24),
    "bytes": pa.array([b"a\xff", None] * 24),
    "float": pa.array([0.1, -INFINITY, 1.0] * 16),
}
COMPARED = {"label": "click", "score": ["score", "other"]}
REPORTS = {
    "values": lambda: fm.evaluate(LOG, "auc,logloss,ctr", **BINARY),
    "intervals": lambda: fm.evaluate(LOG, "auc,gauc,ks", **BINARY, group="user", by="kind", ci=0.9, replicates=20),
    "linearized intervals": lambda: fm.evaluate(LOG, "auc,gauc,copc", **BINARY, group="user", ci=0.95),
    "undefined": lambda: fm.evaluate({**LOG, "click": [1] * ROWS}, "auc,ctr,ks", **BINARY, by="kind"),
    "infinite": lambda: fm.evaluate({"y": [1.0, 0.0], "s": [0.0, 0.0]}, ["logloss", "copc"], label="y", score="s"),
    "predictions": lambda: fm.evaluate(LOG, ["f1(average=macro)", "accuracy"], label="kind", prediction="guess"),
    "sets": lambda: fm.evaluate(
        {"tags": [["n", "s"], [], ["s"]], "guess": [["s"], ["n"], ["s"]]}, "hamming", label="tags", prediction="guess"
    ),
    "bins": lambda: fm.evaluate(LOG, "ctr", label="click", score="score", by="qcut(score, 3)"),
    "small slices": lambda: fm.evaluate(LOG, "auc", **BINARY, by="user", min_rows=100),
    "filters": lambda: fm.evaluate(LOG, "auc", **BINARY, where="score > 0.3"),
    "dropped rows": lambda: fm.evaluate({**LOG, "score": [NAN, *LOG["score"][1:]]}, "auc", **BINARY, on_invalid="drop"),
}
COMPARISONS = {
    "differences": lambda: fm.compare(LOG, "auc,logloss", **COMPARED, group="user", by="kind"),
    "undefined": lambda: fm.compare({**LOG, "click": [1] * ROWS}, "auc,logloss", **COMPARED, group="user"),
    "equal": lambda: fm.compare({**LOG, "other": LOG["score"]}, "auc", **COMPARED, group="user", margin={"auc": 0.1}),
    "rows": lambda: fm.compare(LOG, "auc", **COMPARED, unit="row"),
    "texts": lambda: fm.compare_texts({"a": ["x y", "z"] * 9, "b": ["x", "z w"] * 9}, ["x y", "w"] * 9, replicates=20),
    "reports": lambda: fm.compare_reports(REPORTS["linearized intervals"](), REPORTS["linearized intervals"]()),
}


def check_round_trip(result):
    text = result.to_json()
    again = type(result).from_json(text)
    assert again == result
    assert type(again) is type(result)
    assert again.to_json() == text
    assert again.evaluation == result.evaluation
    assert list(again) == list(result)
    assert again.to_csv() == result.to_csv()
    json.loads(text, parse_constant=pytest.fail)  # strict JSON


@pytest.mark.parametrize("name", REPORTS)
def test_reports(name, tmp_path):
    report = REPORTS[name]()
    check_round_trip(report)
    path = tmp_path / "report.json"
    path.write_text(report.to_json(indent=2), encoding="utf-8")
    assert fm.Report.from_json(path) == report
    assert fm.Report.from_json(path.read_bytes()) == report


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons(name):
    check_round_trip(COMPARISONS[name]())


@pytest.mark.parametrize("name", SLICES)
def test_slices_of_every_type(name):
    report = fm.evaluate(pa.table({**LOG, "by": SLICES[name]}), "auc,ctr", **BINARY, by="by")
    check_round_trip(report)
    again = fm.Report.from_json(report.to_json())
    assert [type(row.slice.get("by")) for row in again] == [type(row.slice.get("by")) for row in report]


@pytest.mark.parametrize("value", [NAN, INFINITY, -INFINITY, 0.1, -0.0])
def test_numbers_that_json_lacks(value):
    one = fm.Result("m", "s", {"x": value}, value, "m|v:1", {"t": {"u": value}, "n": (1, value)}, standard_error=value,
                    interval=(value, INFINITY))  # fmt: skip
    report = fm.Report([one], rows=1, version="1", bins={"x": (-INFINITY, value)})
    check_round_trip(report)
    assert repr(fm.Report.from_json(report.to_json()).results[0]) == repr(one)
    other = fm.Difference("m", "a", "b", value, 1.0, interval=(value, 2.0), margin=value, df=value, reason="r")
    comparison = fm.Comparison([other], level=0.9, version="1")
    check_round_trip(comparison)
    assert repr(fm.Comparison.from_json(comparison.to_json()).differences[0]) == repr(other)


def test_values_without_loss():
    value = {"a": (1, None, "x", True, NAN), "b": {"c": b"\x00", "d": [datetime.date(2024, 1, 1)]}}
    again = restored(json.loads(json.dumps(as_json_value(value))), json_types(value))
    assert repr(again) == repr({**value, "b": {**value["b"], "d": (datetime.date(2024, 1, 1),)}})
    assert json_types({"a": [1, 2.0, "x", None, False]}) is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schema": 7}, "this report has schema 7, written by version .*; fastmetrics .* reads schema 1"),
        ({"schema": None}, "has schema None"),
        ({"results": None}, "damaged"),
        ({"results": [{}]}, "damaged: KeyError 'value'"),
        ({"rows": ...}, "damaged: KeyError 'rows'"),
        ({"results": ...}, "it has no 'results'"),
        ({"schema": ...}, "it has no schema"),
        ({"results": ..., "differences": []}, "it is of a comparison: Comparison.from_json reads it"),
    ],
)
def test_unknown_versions_and_other_documents_are_refused(change, words):
    document = json.loads(REPORTS["values"]().to_json()) | change
    document = {name: value for name, value in document.items() if value is not ...}
    with pytest.raises(ValueError, match=words):
        fm.Report.from_json(json.dumps(document))


def test_text_that_is_no_json():
    with pytest.raises(ValueError, match="this is no JSON of a comparison, which to_json writes: Expecting value"):
        fm.Comparison.from_json("report.json")
    with pytest.raises(ValueError, match="this is no JSON of a report, which to_json writes: it has no schema"):
        fm.Report.from_json("[]")
    with pytest.raises(ValueError, match=r"it is of a report: Report.from_json reads it"):
        fm.Comparison.from_json(REPORTS["values"]().to_json())
