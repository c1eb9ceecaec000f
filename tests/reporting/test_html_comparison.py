"""Pages of comparisons: differences around zero, verdicts, hostile names."""

import math

import pytest

from fastmetrics._core.comparison.comparison import Comparison, Difference
from support import html_pages
from support.html_pages import Page, complaints

NAN = float("nan")


def difference(metric="auc", a=0.7, b=0.75, baseline="old", other="new", **fields):
    interval = (b - a - 0.01, b - a + 0.01)
    defaults = {"pvalue": 0.001, "adjusted_pvalue": 0.004, "interval": interval, "method": "bootstrap"}
    return Difference(metric, baseline, other, a, b, signature=f"{metric}|v:1", **defaults | fields)


def comparison(differences, **options):
    defaults = {"level": 0.95, "correction": "holm", "unit": "user_id", "version": "1.2.3", "rows": 10, "seconds": 0.5}
    return Comparison(differences, **defaults | options)


def rows_of(html, ident="differences"):
    return [[cell.text() for cell in row.all("th", "td")] for row in Page(html).identified(ident).all("tr")]


def test_a_difference_and_its_verdict():
    html = comparison([difference(won=30, tied=10, lost=60)]).to_html()
    header, over, row = rows_of(html)
    assert header == ["verdict", "old", "new", "difference, 95% interval", "", "p, adjusted", "won · tied · lost"]
    assert over[0].endswith("Higher is better.")
    assert row == [
        "better", "0.70000", "0.75000", "+0.05000+0.04000 to +0.06000", "−0.06000+0.06000", "0.0010.004", "30 · 10 · 60"
    ]  # fmt: skip
    assert [own["style"] for own in Page(html).all("i")] == ["width:30%", "width:10%", "width:60%"]


@pytest.mark.parametrize(
    ("metric", "a", "b", "adjusted", "verdict"),
    [
        ("auc", 0.7, 0.6, 0.01, "worse"),
        ("logloss", 0.7, 0.6, 0.01, "better"),
        ("logloss", 0.7, 0.6, 0.05, "not clear"),
        ("copc", 0.7, 0.8, 0.01, "better"),
        ("copc", 1.1, 1.2, 0.01, "worse"),
        ("ctr", 0.7, 0.6, 0.01, "differs"),
        ("auc", 0.7, NAN, NAN, "–"),
    ],
)
def test_verdicts(metric, a, b, adjusted, verdict):
    html = comparison([difference(metric, a, b, adjusted_pvalue=adjusted, interval=None)]).to_html()
    assert rows_of(html)[2][0] == verdict
    assert complaints(html) == []


def test_zero_is_in_the_middle():
    html = comparison([difference()]).to_html()
    (zero,) = (own for own in Page(html).all("line") if own["class"] == "zero")
    assert zero["x1"] == "50%"


def test_several_models_have_their_names():
    html = comparison([difference(), difference(other="third", pvalue=NAN, adjusted_pvalue=NAN)]).to_html()
    rows = rows_of(html)
    assert rows[0][:3] == ["models", "baseline", "other"]
    assert [row[0] for row in rows[2:]] == ["new − old better", "third − old "]


def test_slices_sort():
    of = [difference(slice={"day": day}, won=1, lost=2, tied=3) for day in (1, 2)]
    html = comparison([difference(), *of]).to_html()
    assert complaints(html) == []
    rows = rows_of(html, "slices")
    assert rows[0] == [
        "day", "metric", "old", "new", "difference, 95% interval", "p", "adjusted p", "verdict"
    ]  # fmt: skip
    assert [row[0] for row in rows[1:]] == ["1", "2"]


def test_lead_and_facts():
    page = Page(comparison([difference(), difference("ap", adjusted_pvalue=0.5)], dropped={"null": 2}).to_html())
    assert [own.text() for own in page.all("p") if own["class"] == "lead"] == [
        "1 of 2 differences is more than chance would explain: p below 0.05, corrected for 2 comparisons."
    ]  # fmt: skip
    facts = dict(zip(*([own.text() for own in page.all(tag)] for tag in ("dt", "dd")), strict=True))
    assert (facts["dropped"], facts["paired by"]) == ("2 (null: 2)", "user_id")


def test_too_few_replicates_have_a_warning():
    few = {"signature": "auc|ci:0.95|method:bootstrap|replicates:99|seed:0|unit:user", "adjusted_pvalue": 0.12}
    warning = "1 other has the least p that 99 replicates can give: ask for more replicates."
    one = Difference("auc", "a", "b", 0.5, 0.6, pvalue=0.01, **few)
    assert warning in comparison([one]).to_html()
    assert warning not in comparison([one.replace(pvalue=0.02)]).to_html()
    assert warning not in comparison([one.replace(adjusted_pvalue=0.01)]).to_html()


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
