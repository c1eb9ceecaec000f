"""Reports: look-up, text, HTML, JSON and tables; immutable, equal if content is equal, readable without pyarrow."""

import copy
import datetime
import json
import math
import pickle
import subprocess
import sys

import numpy as np
import pytest

from fastmetrics.engine.results.result import Result
from support.cases import assert_raises, each_case
from support.results.reports import GROUPED, LEFT_OUT, report, results, sliced

# -------------------------------------------------------------------------------------------------------- lookup


def test_values_by_name():
    assert report()["auc"] == 0.9600813796015879
    assert report()["gauc(weight=pairs)"] == 0.25
    assert math.isnan(report()["ks"])
    assert report().value("logloss") == 12.5
    assert report().result("ks").reason == "no positive label"


@pytest.mark.parametrize("spelling", ["gauc( weight = 'pairs' )", 'gauc(weight="pairs")', "gauc(weight=pairs)"])
def test_any_spelling_of_the_same_metric(spelling):
    assert report()[spelling] == 0.25
    assert spelling in report()


def test_contains():
    assert "auc" in report()
    assert repr(report().result("auc")).startswith("Result(metric='auc', score='pctr', slice={}, value=0.96008137")
    for absent in ("gauc", "ece", "no such metric", 5, None):
        assert absent not in report()


def test_sequence():
    assert len(report()) == 4
    assert [result.metric for result in report()] == ["auc", "gauc(weight=pairs)", "logloss", "ks"]
    assert report().results == tuple(results())


def test_unknown_name_names_the_near_ones():
    with pytest.raises(KeyError, match=r"no 'loglos' in this report; did you mean 'logloss'\? It holds: auc, gauc\("):
        report()["loglos"]
    with pytest.raises(KeyError, match=r"no 'gauc' in this report; did you mean 'gauc\(weight=pairs\)'"):
        report()["gauc"]
    with pytest.raises(KeyError, match="It holds: nothing"):
        report([])["auc"]


def test_several_results_of_one_metric_have_to_be_chosen():
    with pytest.raises(
        KeyError, match=r"2 results for 'auc': choose with report\.value\('auc', score=\.\.\., slice="
    ) as e:
        sliced()["auc"]
    assert "score='a', slice={}; score='b', slice={}" in str(e.value)
    assert sliced().value("auc", score="a") == sliced().value("auc", score="a", slice={}) == 0.5
    assert_raises(
        KeyError, r"2 results .*score='a', slice=\{\}; score='b', slice=\{\}", sliced().value, "auc", slice={}
    )
    assert_raises(KeyError, "no result for 'auc'", sliced().value, "auc", score="c")
    assert sliced().value("auc", score="b", slice={}) == 0.5
    assert sliced().value("auc", score="a", slice={"day": 2, "channel": "web"}) == 0.75


def test_slices_are_listed_in_order_and_can_be_passed_to_value():
    assert sliced().slices() == [{}, {"channel": "ads", "day": 1}, {"channel": "web", "day": 2}]
    assert [sliced().value("auc", score="a", slice=part) for part in sliced().slices()] == [0.5, 0.625, 0.75]
    sliced().slices()[1]["day"] = 5
    assert report().slices() == [{}]
    assert report([]).slices() == []


def test_several_labels_have_to_be_chosen():
    made = [Result("auc", "s", {}, value, "x", {}, label=label) for label, value in (("click", 0.5), ("buy", 0.75))]
    assert report(made).value("auc", label="buy") == 0.75
    with pytest.raises(KeyError) as error:
        report(made)["auc"]
    assert error.value.args == (
        "2 results for 'auc': choose with report.value('auc', label=...): label='click'; label='buy'",
    )
    with pytest.raises(
        KeyError, match=r"no result for 'auc' with .*: choose .*\('auc', label=\.\.\.\): label='click'; label='buy'"
    ):
        report(made).value("auc", label="clik")
    assert_raises(
        KeyError, r"no result .*\('auc', slice=\.\.\.\): slice=\{\}", report().value, "auc", slice={"day": 1}
    )
    assert_raises(KeyError, "label='click', score='s'; label='buy', score='s'", report(made).value, "auc", score="t")


def test_the_nearest_choices_are_named_first():
    made = [
        Result("auc", score, {"c": i} if i else {}, 0.5, "s", {}, label=label)
        for i in range(64)
        for label in ("x", "y")
        for score in ("a", "b")
    ]
    with pytest.raises(KeyError) as error:
        report(made).value("auc", score="b", label="y", slice={"c": "7"})
    near = "with slice={'c': '7'} (did you mean slice={'c': 7}?)"
    found = f"no result for 'auc' {near}: choose with report.value('auc', label=..., score=..., slice=...): "
    assert error.value.args[0].startswith(
        found + "label='y', score='b', slice={}; label='y', score='b', slice={'c': 1}; "
    )
    assert error.value.args[0].endswith("; and 246 more")


# ---------------------------------------------------------------------------------------------------------- JSON


def strict(text):
    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("indent", [None, 2])
def test_json(indent):
    document = strict(report().to_json(indent=indent))
    assert document == report().to_dict()
    assert {key: value for key, value in document.items() if key != "results"} == {
        "schema": 1,
        "version": "0.1.0",
        "rows": 980_070,
        "dropped": {"null or NaN score": 3, "null label": 0},
        "columns": {"label": "click", "score": "pctr", "group": "user_id"},
    }
    assert document["results"][0] == {
        "metric": "auc",
        "score": "pctr",
        "slice": {},
        "value": 0.9600813796015879,
        "signature": "auc|v:0.1.0",
        "coverage": {"rows": 980_067},
    }
    assert document["results"][1]["coverage"] == GROUPED
    assert document["results"][3]["value"] is None
    assert document["results"][3]["reason"] == "no positive label"
    assert [("reason" in result) for result in document["results"]] == [False, False, False, True]


@pytest.mark.parametrize(
    ("value", "reason", "expected"),
    [(math.nan, None, "undefined"), (math.inf, None, "the value is inf"), (-math.inf, None, "the value is -inf")],
)
def test_json_has_a_reason_for_every_null(value, reason, expected):
    found = strict(report([Result("auc", "s", {}, value, "s", {}, reason)]).to_json())["results"][0]
    assert found["value"] is None
    assert found["reason"] == expected


def test_json_of_values_of_other_types():
    part = {
        "day": datetime.date(2024, 5, 1),
        "n": np.int64(3),
        "ratio": np.float32(0.5),
        "nan": math.nan,
        "bytes": b"ab\xff",
        "none": None,
        "flag": np.True_,
        "list": (1, "a"),
        "é": "ü",
    }
    counted = report([Result("auc", "s", part, np.float64(0.5), "s", {"rows": np.int64(7)})], rows=7, dropped={})
    found = strict(counted.to_json())["results"][0]
    assert found["slice"] == {
        "day": "2024-05-01",
        "n": 3,
        "ratio": 0.5,
        "nan": None,
        "bytes": "ab\\xff",
        "none": None,
        "flag": True,
        "list": [1, "a"],
        "é": "ü",
    }
    assert found["coverage"] == {"rows": 7}
    assert "ü" in counted.to_json()


def test_reports_need_neither_pyarrow_nor_pandas():
    code = (
        "import sys; sys.modules.update(pyarrow=None, pandas=None)\n"
        "from fastmetrics.engine.results.report import Report\n"
        "from fastmetrics.engine.results.result import Result\n"
        "report = Report([Result('auc', 's', {}, 0.5, 'x', {})], rows=1, version='0')\n"
        "assert report['auc'] == 0.5 and str(report) and report.to_json() and report._repr_html_()\n"
        "assert report.to_csv() and report.to_markdown() and report.to_metrics() == {'auc': 0.5}"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


# ----------------------------------------------------------------------------------------- immutable, equal, pickled


def test_equal_by_content():
    assert report() == report()
    assert report() == report(seconds=99.0)
    assert hash(report()) == hash(report(seconds=99.0))
    assert report([Result("auc", "s", {}, float("nan"), "s", {})]) == report(
        [Result("auc", "s", {}, -math.nan, "s", {})]
    )
    different = [
        report(rows=1),
        report(dropped={}),
        report(columns={}),
        report(version="0.2.0"),
        report(results()[:3]),
        report(results()[::-1]),
        report([*results()[:3], Result("ks", "pctr", {}, math.nan, "ks|v:0.1.0", {"rows": 980_067}, "another")]),
        report([*results()[:3], Result("ks", "pctr", {}, 0.5, "ks|v:0.1.0", {"rows": 980_067}, "no positive label")]),
        report([*results()[:3], Result("ks", "pctr", {"a": 1}, math.nan, "ks|v:0.1.0", {"rows": 980_067})]),
        "report",
        None,
    ]
    for other in different:
        assert report() != other


@each_case("duplicate", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
@each_case("make", [report, sliced])
def test_copies_and_pickles(duplicate, make):
    found = duplicate(make())
    assert found == make()
    assert hash(found) == hash(make())
    assert str(found) == str(make())
    assert found.seconds == 0.5
    with pytest.raises(TypeError, match="a result cannot be changed"):
        found.results[0].coverage["rows"] = 0


def test_nothing_can_be_changed():
    found = report()
    for name in ("results", "rows", "dropped", "columns", "seconds", "other"):
        with pytest.raises((AttributeError, TypeError)):
            setattr(found, name, None)
    with pytest.raises((AttributeError, TypeError)):
        found.results[0].value = 1.0
    for target in (found.dropped, found.columns, found.results[1].coverage["groups_left_out"], found.results[0].slice):
        for change in (
            lambda content: content.update(a=1),
            lambda content: content.setdefault("a", 1),
            lambda content: content.__setitem__("a", 1),
            lambda content: content.__delitem__("a"),
            lambda content: content.pop("a", None),
            lambda content: content.popitem(),
            lambda content: content.clear(),
            lambda content: content.__ior__({"a": 1}),
        ):
            assert_raises(TypeError, "a result cannot be changed", change, target)
    assert found == report()


def test_arguments_may_change_afterwards():
    made_of, left_out = results(), dict(LEFT_OUT)
    found = report(made_of)
    made_of.clear()
    coverage = {"groups_left_out": left_out}
    result = Result("auc", "s", {}, 0.5, "s", coverage)
    left_out.clear()
    coverage.clear()
    assert len(found) == 4
    assert result.coverage == {"groups_left_out": LEFT_OUT}


@pytest.mark.parametrize(
    ("options", "near"),
    [
        ({"score": "pct"}, "with score='pct' (did you mean score='pctr'?)"),
        ({"score": "pctr", "slice": {"channel": "fed"}}, "(did you mean slice={'channel': 'feed'}?)"),
        ({"score": "pctr", "slice": {"chanel": "feed"}}, "(did you mean slice={'channel': 'feed'}?)"),
    ],
)
def test_a_value_that_no_result_has_is_named_with_the_one_like_it(options, near):
    slices = ({}, {"channel": "feed"}, {"channel": "web"})
    made = [Result("auc", score, slice_, 0.5, "s", {}) for slice_ in slices for score in ("pctr", "other")]
    with pytest.raises(KeyError) as caught:
        report(made).value("auc", **options)
    assert near in caught.value.args[0]
