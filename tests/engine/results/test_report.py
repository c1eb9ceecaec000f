"""Reports: look-up, text, HTML, JSON and tables; immutable, equal if content is equal, readable without pyarrow."""

import copy
import datetime
import json
import math
import pickle
import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

from fastmetrics.engine.results.report import Report
from fastmetrics.engine.results.result import Result
from fastmetrics.reporting.report_text import report_table
from support.cases import assert_raises, each_case

LEFT_OUT = {"one class: no positive": 700, "one class: no negative": 12}
GROUPED = {
    "rows": 950_000,
    "groups": 3453,
    "groups_used": 2741,
    "groups_left_out": LEFT_OUT,
    "rows_left_out": {"one class: no positive": 30_000, "one class: no negative": 67},
}


def results():
    return [
        Result("auc", "pctr", {}, 0.9600813796015879, "auc|v:0.1.0", {"rows": 980_067}),
        Result("gauc(weight=pairs)", "pctr", {}, 0.25, "gauc|weight:pairs|groups:3453|v:0.1.0", GROUPED),
        Result("logloss", "pctr", {}, 12.5, "logloss|v:0.1.0", {"rows": 980_067, "rows_clipped": 1234}),
        Result("ks", "pctr", {}, math.nan, "ks|v:0.1.0", {"rows": 980_067}, "no positive label"),
    ]


def report(some=None, **changes):
    options = {
        "rows": 980_070,
        "dropped": {"null or NaN score": 3, "null label": 0},
        "columns": {"label": "click", "score": "pctr", "group": "user_id", "weight": None},
        "version": "0.1.0",
        "seconds": 0.5,
    }
    return Report(results() if some is None else some, **(options | changes))


def sliced(metric="auc"):
    slices = [{}, {"channel": "ads", "day": 1}, {"channel": "web", "day": 2}]
    scores = ["a", "b"]
    return report(
        [
            Result(metric, score, part, 0.5 + i / 8, "s", {"rows": 10})
            for i, part in enumerate(slices)
            for score in scores
        ],
        rows=30,
        dropped={},
    )


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
        KeyError, match=r"no result for 'auc': choose .*\('auc', label=\.\.\.\): label='click'; label='buy'"
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
    found = "no result for 'auc': choose with report.value('auc', label=..., score=..., slice=...): "
    assert error.value.args[0].startswith(
        found + "label='y', score='b', slice={}; label='y', score='b', slice={'c': 1}; "
    )
    assert error.value.args[0].endswith("; and 246 more")


# ---------------------------------------------------------------------------------------------------------- text


def test_text():
    assert str(report()).splitlines() == [
        "fastmetrics 0.1.0: 980,070 rows read, 3 dropped (null or NaN score: 3), 0.50 s",
        "label click, score pctr, group user_id",
        "",
        "metric              value                 notes",
        "auc                   0.9600813796015879",
        "gauc(weight=pairs)    0.25                rows 950,000 used; groups 2,741 of 3,453 used; 700 groups "
        "(30,000 rows) left out, one class: no positive; 12 groups (67 rows) left out, one class: no negative",
        "logloss              12.5                 rows clipped 1,234",
        "ks                  nan                   no positive label",
    ]
    assert repr(report()) == str(report())


def test_slices_and_scores_are_rows_and_metrics_columns():
    assert str(sliced()).splitlines()[3:] == [
        "score  channel  day    rows  auc",
        "a      (all)    (all)  10    0.5",
        "b      (all)    (all)  10    0.5",
        "a      ads      1      10    0.625",
        "b      ads      1      10    0.625",
        "a      web      2      10    0.75",
        "b      web      2      10    0.75",
    ]
    assert report_table(sliced()).sections == (2, 4)


def compared():
    """Two labels, two scores and a slice; a metric of groups, an undefined one, and one that only some rows have."""
    made = []
    for part in ({}, {"channel": "ads"}):
        for label in ("click", "buy"):
            for score in ("a", "b"):
                where = {"label": label}
                rows, groups = (10 if part else 1234567), dict(GROUPED, groups=len(label))
                clipped = {"rows": rows, "rows_clipped": 5 if score == "b" else 0}
                made.append(Result("auc", score, part, 0.5 if part else 12.25, "s", {"rows": rows}, **where))
                made.append(Result("gauc", score, part, 0.25, "s", groups | {"rows": rows // 2}, **where))
                made.append(Result("ne", score, part, math.nan, "s", clipped, f"{rows} of one kind", **where))
                if score == "a":
                    made.append(Result("ks", score, part, math.nan if part else 0.5, "s", {}, "no positive", **where))
    columns = {"label": ("click", "buy"), "score": ("a", "b"), "weight": None, "by": "channel"}
    return report(made, rows=1234567, dropped={}, columns=columns)


def test_notes_of_many_rows_are_below_the_table():
    assert str(compared()).splitlines()[1:] == [
        "label click, buy; score a, b; by channel",
        "",
        "label  score  channel  rows       auc    gauc  ne         ks",
        "click  a      (all)    1,234,567  12.25  0.25  undefined  0.5",
        "click  b      (all)    1,234,567  12.25  0.25  undefined",
        "buy    a      (all)    1,234,567  12.25  0.25  undefined  0.5",
        "buy    b      (all)    1,234,567  12.25  0.25  undefined",
        "click  a      ads             10   0.5   0.25  undefined  undefined",
        "click  b      ads             10   0.5   0.25  undefined",
        "buy    a      ads             10   0.5   0.25  undefined  undefined",
        "buy    b      ads             10   0.5   0.25  undefined",
        "",
        "ne: undefined in 8 of 8 rows of the table, N of one kind",
        "ks: undefined in 2 of 8 rows of the table, no positive",
        "gauc (all rows): 700 groups (30,000 rows) left out, one class: no positive",
        "gauc (all rows): 12 groups (67 rows) left out, one class: no negative",
        "ne (score b, all rows): 5 rows clipped",
    ]


def noted(*concerned):
    """The notes of a report in which these (label, score) clipped rows, of two labels and two scores."""
    return report_table(report(
        [
            Result("ne", score, {}, 0.5, "s", {"rows_clipped": 3 * ((label, score) in concerned)}, label=label)
            for label, score in [(label, score) for label in ("x", "y") for score in ("a", "b")]
        ]
    )).notes  # fmt: skip


@each_case(
    ("concerned", "subject"),
    [
        ([("x", "a"), ("x", "b"), ("y", "a"), ("y", "b")], "ne"),
        ([("x", "a"), ("x", "b")], "ne (label x)"),
        ([("x", "b"), ("y", "b")], "ne (score b)"),
        ([("y", "a")], "ne (label y, score a)"),
        ([("x", "a"), ("y", "b")], "ne (label x, score a; label y, score b)"),
    ],
)
def test_a_note_names_the_rows_it_is_about(concerned, subject):
    assert noted(*concerned) == [(subject, "3 rows clipped")]


def test_notes_of_many_slices_are_few():
    reasons = ["no positive", "no negative", *(f"reason {'abcdefghijklmnop'[i]}" for i in range(16))]
    made = [
        Result("gauc", "s", {"c": i} if i else {}, math.nan, "s", GROUPED, reasons[i % len(reasons)])
        for i in range(1000)
    ]
    notes = report_table(report(made)).notes
    assert len(notes) == 8 + 1 + 2
    assert notes[0] == ("gauc", "undefined in 56 of 1,000 rows of the table, no positive")
    assert notes[8] == ("and", "10 more notes of this kind, see to_dict()")
    few = [("no positive", i % 2) for i in range(500)]
    made = [
        Result("gauc", "s", {"c": i}, math.nan, "s", {}, f"{reason} in {i} groups") for i, (reason, _) in enumerate(few)
    ]
    assert report_table(report(made)).notes == [
        ("gauc", "undefined in 500 of 500 rows of the table, no positive in N groups")
    ]


def test_rows_are_not_shown_if_no_result_has_them():
    made = [Result("auc", score, {}, 0.5, "s", {"groups": 3}) for score in ("a", "b")]
    assert report_table(report(made)).header == ["score", "auc"]


def test_intervals_are_shown():
    made = [Result("auc", "s", {}, 0.76315, "s", {"rows": 980_067}, interval=(0.7631000000000001, 0.7632))]
    assert str(report(made)).endswith("0.76315  between 0.7631000000000001 and 0.7632")
    made.append(Result("auc", "s", {"c": 1}, 0.5, "s", {}, interval=(0.49, 0.51)))
    assert report_table(report(made)).notes == [("auc", "approximate, the widest interval is between 0.49 and 0.51")]


def test_intervals_of_slices_stand_beside_their_values():
    level = "s|ci:0.9|method:bootstrap"
    made = [
        Result("auc", "s", {}, 0.75, level, {}, interval=(0.7, 0.8)),
        Result("ks", "s", {}, 0.25, "s", {}),
        Result("auc", "s", {"c": 1}, 0.5, level, {}, interval=(0.4, 0.5001)),
        Result("ks", "s", {"c": 1}, 0.125, "s", {}),
        Result("auc", "s", {"c": 2}, math.nan, level, {}, "one class"),
    ]
    table = report_table(report(made))
    assert table.header == ["c", "auc", "90 % interval", "ks"]
    assert [row[2] for row in table.rows] == ["0.700 to 0.800", "0.400 to 0.500", ""]
    assert (table.n_fixed, table.intervals) == (1, (2,))
    lines = str(report(made)).splitlines()[3:7]
    assert lines[1].split() == ["(all)", "0.75", "0.700", "to", "0.800", "0.25"]


@each_case(("value", "shown"), [("a\nb", "'a\\nb'"), ("", "''"), ("\x1b[31m", "'\\x1b[31m'"), ("ü", "ü")])
def test_a_slice_stays_in_its_cell(value, shown):
    made = [Result("auc", "s", part, 0.5, "s", {}) for part in ({}, {"c": value})]
    assert str(report(made)).splitlines()[-1].split("  ")[0] == shown


def test_html_of_many_rows_is_shortened_with_a_note():
    made = [Result("auc", "s", {"c": i} if i else {}, 0.5, "s", {}) for i in range(1500)]
    assert len(Cells(report(made)._repr_html_()).rows) == 1 + 1000
    assert "500 more rows: print(report), report.to_pandas()" in report(made)._repr_html_()
    assert len(str(report(made)).splitlines()) == 3 + 1 + 1500


def test_html_has_the_notes():
    html = compared()._repr_html_()
    assert "<br>".join(f"{subject}: {text}" for subject, text in report_table(compared()).notes) in html
    assert "label click, buy; score a, b; by channel" in html


@each_case("value", [0.1 + 0.2, 1e-7, -12345.678, 1e22, math.inf, 5e-324])
def test_text_has_every_digit(value):
    assert float(str(report([Result("auc", "s", {}, value, "s", {})])).splitlines()[-1].split()[1]) == value


def test_text_of_nothing():
    empty = Report([], rows=0, version="0.1.0")
    assert str(empty).splitlines() == ["fastmetrics 0.1.0: 0 rows read", "", "metric  value  notes"]
    assert empty.to_dict()["results"] == []
    assert empty.to_arrow().num_rows == 0
    assert "</table>" in empty._repr_html_()


def test_unknown_coverage_is_shown_too():
    coverage = {"rows": 980_067, "bins_empty": 2, "zero_weight": 0, "rows_left_out": {"zero weight": 5}, "by": {"x": 1}}
    line = str(report([Result("ece", "s", {}, 0.5, "s", coverage)])).splitlines()[-1]
    assert line == "ece     0.5    5 rows left out, zero weight; bins empty 2; by (x: 1)"


def test_means_and_shares_of_coverage_are_rounded_in_text_only():
    coverage = {"rows": 980_067, "groups": 3453, "groups_used": 3453, "rows_per_group": 283.83057}
    found = report([Result("ndcg@10", "s", {}, 0.5, "s", {**coverage, "tied_pairs": 1 / 3, "other": 123_456.789})])
    line = str(found).splitlines()[-1]
    noted = "groups 3,453 of 3,453 used; rows per group 283.8; tied pairs 0.3333; other 123,456.8"
    assert line == f"ndcg@10  0.5    {noted}"
    assert found.to_dict()["results"][0]["coverage"]["tied_pairs"] == 1 / 3


def test_groups_without_a_relevant_row_are_noted():
    coverage = {"rows": 10, "groups": 5, "groups_used": 5, "groups_without_relevant": 2, "groups_left_out": {}}
    skipped = coverage | {"groups_used": 3, "groups_left_out": {"no relevant row": 2}}
    made = [Result("mrr", score, {}, 0.5, "s", coverage) for score in "ab"]
    made += [Result("mrr(empty=skip)", score, {}, 0.5, "s", skipped) for score in "ab"]
    assert report_table(report(made)).notes == [
        ("mrr", "2 groups without a relevant row"), ("mrr(empty=skip)", "2 groups left out, no relevant row"),
    ]  # fmt: skip


class Cells(HTMLParser):
    """The text of every cell, and the tags that are open at the end."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.open, self.tags = [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        if tag != "br":
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        assert {name for name, _ in attributes} <= {"style"}

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


@pytest.mark.parametrize("make", [report, sliced, compared])
def test_html_has_the_same_table(make):
    table = report_table(make())
    found = Cells(make()._repr_html_())
    assert (found.rows, found.open) == ([table.header, *table.texts()], [])


def test_html_is_escaped_and_leaves_colors_to_the_page():
    nasty = "<script>alert('&')</script>"
    text = report(
        [Result("auc", nasty, {nasty: nasty}, 0.5, "s", {nasty: 1}, nasty), *results()],
        columns={"label": nasty},
        dropped={nasty: 1},
    )._repr_html_()
    assert "<script" not in text
    assert Cells(text).tags == {"div", "p", "br", "table", "thead", "tbody", "tr", "th", "td"}
    assert "color:inherit" in text
    assert not [word for word in ("color:#", "black", "white;", "http") if word in text]


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
