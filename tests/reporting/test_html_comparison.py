"""Pages of comparisons: differences around zero, verdicts, hostile names."""

import math

import pytest

from fastmetrics._core.comparison.comparison import Comparison
from fastmetrics._core.comparison.difference import Difference
from support import html_pages
from support.cases import each_case
from support.html_pages import Page, complaints

NAN = float("nan")


def difference(metric="auc", a=0.7, b=0.75, baseline="old", other="new", **fields):
    interval = (b - a - 0.01, b - a + 0.01)
    defaults = {"pvalue": 0.001, "adjusted_pvalue": 0.004, "interval": interval}
    defaults |= {"verdict_interval": interval, "verdict_level": 0.95}
    defaults |= {"method": "bootstrap", "verdict": "better"}
    return Difference(metric, baseline, other, a, b, signature=f"{metric}|v:1", **defaults | fields)


def comparison(differences, **options):
    defaults = {"level": 0.95, "correction": "holm", "unit": "user_id", "version": "1.2.3", "rows": 10, "seconds": 0.5}
    return Comparison(differences, **defaults | options)


def rows_of(html, ident="differences"):
    return [[cell.text() for cell in row.all("th", "td")] for row in Page(html).identified(ident).all("tr")]


def test_a_difference_and_its_verdict():
    html = comparison([difference(won=30, tied=10, lost=60)]).to_html()
    header, over, row = rows_of(html)
    assert header == ["verdict", "old", "new", "difference, interval", "", "p, adjusted", "won · tied · lost"]
    assert over[0].endswith("Higher is better.")
    assert row == [
        "better", "0.70000", "0.75000", "+0.05000+0.04000 to +0.06000, 95%", "−0.06000+0.06000", "0.0010.004",
        "30 · 10 · 60",
    ]  # fmt: skip
    assert [own["style"] for own in Page(html).all("i")] == ["width:30%", "width:10%", "width:60%"]


@pytest.mark.parametrize("verdict", ["better", "worse", "different", "cannot tell", "not worse than the margin"])
def test_verdicts(verdict):
    one = difference(verdict=verdict, verdict_interval=(0.03, 0.07), verdict_level=0.99, margin=0.02)
    html = comparison([one]).to_html()
    row = rows_of(html)[2]
    assert row[0] == verdict
    assert row[3] == "+0.05000+0.03000 to +0.07000, 99%"
    assert complaints(html) == []


def test_distances_have_their_change():
    one = difference("copc", 0.9, 1.05, change=-0.05, verdict_interval=(-0.08, -0.02), verdict_level=0.95)
    html = comparison([one]).to_html()
    assert rows_of(html)[2][3] == "−0.05000−0.08000 to −0.02000, 95%"
    assert "copc, distance from 1, −0.050 (−0.080 to −0.020)" in Page(html).all("header")[0].text()


def test_zero_is_in_the_middle():
    html = comparison([difference()]).to_html()
    (zero,) = (own for own in Page(html).all("line") if own["class"] == "zero")
    assert zero["x1"] == "50%"


def test_several_models_have_their_names():
    third = difference(other="third", verdict="cannot tell", pvalue=NAN, adjusted_pvalue=NAN)
    html = comparison([difference(), third]).to_html()
    rows = rows_of(html)
    assert rows[0][:3] == ["models", "baseline", "other"]
    assert [row[0] for row in rows[2:]] == ["new − old better", "third − old cannot tell"]


def test_slices_sort():
    of = [difference(slice={"day": day}, won=1, lost=2, tied=3) for day in (1, 2)]
    html = comparison([difference(), *of]).to_html()
    assert complaints(html) == []
    rows = rows_of(html, "slices")
    assert rows[0] == [
        "day", "verdict", "old", "new", "difference, interval", "interval", "p, adjusted", "detectable"
    ]  # fmt: skip
    assert rows[1][0].startswith("auc Area under the ROC curve")
    assert [row[0] for row in rows[2:]] == ["1", "2"]


def test_slices_stand_below_their_metrics():
    of = [difference(name, slice={"day": day}) for day in (1, 2) for name in ("auc", "ne")]
    html = comparison(of).to_html()
    assert complaints(html) == []
    bodies = Page(html).identified("slices").all("tbody")
    assert [(own["data-metric"], len(list(own.all("tr")))) for own in bodies] == [("auc", 3), ("ne", 3)]


@each_case(
    ("verdict", "css_class", "shape"),
    [("better", "good", "M0 -5.5"), ("worse", "bad", "M0 5.5"), ("cannot tell", "unclear", None)],
)
def test_verdicts_differ_in_color_and_shape(verdict, css_class, shape):
    page = Page(comparison([difference(slice={"day": 1}, verdict=verdict)]).to_html())
    (mark,) = (own for own in page.all("svg") if "whiskers" in (own["class"] or ""))
    assert mark["class"] == f"whiskers {css_class}"
    paths, circles = [own["d"] for own in mark.all("path")], list(mark.all("circle"))
    assert (len(paths), len(circles)) == ((0, 1) if shape is None else (1, 0))
    assert shape is None or paths[0].startswith(shape)


def test_the_answer_comes_first():
    lines = [
        difference(verdict_interval=(0.03, 0.07), verdict_level=0.99),
        difference("ap", verdict="cannot tell", verdict_interval=(-0.01, 0.11), verdict_level=0.95, detectable=0.08),
        difference("logloss", 0.4, 0.5, verdict="worse", verdict_interval=(0.08, 0.12), verdict_level=0.95),
        *(difference(b=0.6, verdict="worse", slice={"day": day}, pvalue=0.01 / day) for day in range(1, 8)),
        difference(verdict="cannot tell", slice={"day": 8}),
    ]
    page = Page(comparison(lines, dropped={"null": 2}).to_html())
    leads = [own.text() for own in page.all("p") if own["class"] == "lead"]
    assert leads[:3] == [
        "new is better: auc +0.050 (0.030 to 0.070)",
        "new is worse: logloss +0.100 (0.080 to 0.120)",
        "cannot tell new from old: ap +0.05 (−0.01 to 0.11), where 0.08 would have been shown",
    ]
    assert leads[3].startswith("In slices 7 of 8 differences are worse: day=7: auc −0.100 (−0.110 to −0.090); ")
    assert leads[3].endswith("; and 2 more; 1 cannot be told apart")
    facts = dict(zip(*([own.text() for own in page.all(tag)] for tag in ("dt", "dd")), strict=True))
    assert (facts["dropped"], facts["paired by"]) == ("2 (null: 2)", "user_id")


def test_slices_stand_by_evidence():
    of = [difference(slice={"day": day}, pvalue=p) for day, p in ((1, 0.5), (2, 1e-9), (3, NAN), (4, 0.01))]
    assert [row[0] for row in rows_of(comparison(of).to_html(), "slices")[2:]] == ["2", "4", "1", "3"]
    in_order = comparison(of, is_sorted=True).to_html()
    assert [row[0] for row in rows_of(in_order, "slices")[2:]] == ["1", "2", "3", "4"]


def test_reasons_methods_and_notes():
    html = comparison([difference(reason="one unit only")], notes=["three users were left out"]).to_html()
    assert "one unit only" in html
    methods = Page(html).identified("methods").text()
    assert "auc: bootstrap" in methods
    assert "three users were left out" in methods


@pytest.mark.parametrize("name", html_pages.HOSTILE)
def test_hostile_names(name):
    of = [
        difference(baseline=name, other="b", label=name, reason=name or None, method=name),
        difference(name or "auc", baseline=name, other="b", slice={name: name}, label=name),
        difference(baseline=name, other=name + "2", a=NAN, b=math.inf, interval=None),
    ]
    html = comparison(of, unit=name, notes=[name], columns={"score": (name, "b")}).to_html(title=name)
    assert complaints(html) == []
    assert len(Page(html).all("script")) == 1


def test_odd_comparisons():
    for of in ([], [difference(a=NAN, b=NAN, pvalue=NAN, adjusted_pvalue=NAN, interval=None, reason="no rows")]):
        assert complaints(comparison(of, level=None, correction="none", unit="", rows=None).to_html()) == []
    assert "500 more rows" in comparison([difference(slice={"d": i}) for i in range(1500)]).to_html()


def test_file(tmp_path):
    path = tmp_path / "comparison.html"
    assert comparison([difference()]).to_html(path, title="Gate") == path.read_text(encoding="utf-8")
