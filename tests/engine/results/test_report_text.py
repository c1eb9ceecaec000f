"""Reports as text and as HTML of notebooks: tables, notes, slices, intervals and digits."""

import math
from html.parser import HTMLParser

import pytest

from fastmetrics.engine.results.report import Report
from fastmetrics.engine.results.result import Result
from fastmetrics.reporting.report_table import report_table
from support.cases import each_case
from support.results.reports import GROUPED, report, results, sliced


def test_text():
    assert str(report()).splitlines() == [
        "fastmetrics 0.1.0: 980,070 rows read, 3 dropped (null or NaN score: 3), 0.50 s",
        "label click, score pctr, group user_id",
        "",
        "metric              value      notes",
        "auc                   0.96008",
        "gauc(weight=pairs)    0.25000  rows 950,000 used; groups 2,741 of 3,453 used; 700 groups "
        "(30,000 rows) left out, one class: no positive; 12 groups (67 rows) left out, one class: no negative",
        "logloss              12.500    1,234 rows clipped",
        "ks                  nan        no positive label",
    ]
    assert repr(report()) == str(report())


def test_slices_and_scores_are_rows_and_metrics_columns():
    assert str(sliced()).splitlines()[3:] == [
        "score  channel  day    rows  auc",
        "a      (all)    (all)  10    0.50000",
        "b      (all)    (all)  10    0.50000",
        "a      ads      1      10    0.62500",
        "b      ads      1      10    0.62500",
        "a      web      2      10    0.75000",
        "b      web      2      10    0.75000",
    ]
    assert report_table(sliced()).sections == {2, 4}


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
        "label  score  channel  rows       auc     gauc     ne         ks",
        "click  a      (all)    1,234,567  12.250  0.25000  undefined  0.50000",
        "click  b      (all)    1,234,567  12.250  0.25000  undefined",
        "buy    a      (all)    1,234,567  12.250  0.25000  undefined  0.50000",
        "buy    b      (all)    1,234,567  12.250  0.25000  undefined",
        "click  a      ads             10   0.500  0.25000  undefined  undefined",
        "click  b      ads             10   0.500  0.25000  undefined",
        "buy    a      ads             10   0.500  0.25000  undefined  undefined",
        "buy    b      ads             10   0.500  0.25000  undefined",
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
    assert [column.kind for column in table.columns] == ["name", "value", "detail", "value"]
    lines = str(report(made)).splitlines()[3:7]
    assert lines[1].split() == ["(all)", "0.75000", "0.700", "to", "0.800", "0.25000"]


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
def test_tables_have_five_digits_and_files_all(value):
    made = report([Result("auc", "s", {}, value, "s", {})])
    assert float(str(made).splitlines()[-1].split()[1].replace(",", "")) == pytest.approx(value, rel=1e-4)
    head, row = (line.split(",") for line in made.to_csv().splitlines())
    assert float(row[head.index("value")]) == value


def test_text_of_nothing():
    empty = Report([], rows=0, version="0.1.0")
    assert str(empty).splitlines() == ["fastmetrics 0.1.0: 0 rows read", "", "metric  value  notes"]
    assert empty.to_dict()["results"] == []
    assert empty.to_arrow().num_rows == 0
    assert "</table>" in empty._repr_html_()


def test_unknown_coverage_is_shown_too():
    coverage = {"rows": 980_067, "bins_empty": 2, "zero_weight": 0, "rows_left_out": {"zero weight": 5}, "by": {"x": 1}}
    line = str(report([Result("ece", "s", {}, 0.5, "s", coverage)])).splitlines()[-1]
    assert line == "ece     0.50000  5 rows left out, zero weight; bins empty 2; by (x: 1)"


def test_means_and_shares_of_coverage_are_rounded_in_text_only():
    coverage = {"rows": 980_067, "groups": 3453, "groups_used": 3453, "rows_per_group": 283.83057}
    found = report([Result("ndcg@10", "s", {}, 0.5, "s", {**coverage, "tied_pairs": 1 / 3, "other": 123_456.789})])
    line = str(found).splitlines()[-1]
    noted = "groups 3,453 of 3,453 used; rows per group 283.8; tied pairs 0.3333; other 123,456.8"
    assert line == f"ndcg@10  0.50000  {noted}"
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
    assert (found.rows, found.open) == ([table.header, *table.text_rows(aligned=True)], [])


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
