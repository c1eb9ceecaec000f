"""Pages of reports: their content, hostile data, rules of accessibility."""

import math
import re

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics.engine.results.result import Result
from fastmetrics.reporting.html_tables import align_decimals, common_decimals
from fastmetrics.reporting.metric_facts import best_positions
from fastmetrics.reporting.number_formats import format_value
from fastmetrics.reporting.page_style import DARK, LIGHT, SCRIPT, script_hash
from fastmetrics.reporting.report_notes import names_in_plots, resampling_text
from support import html_pages
from support.cases import assert_raises, each_case
from support.html_pages import Page, complaints, contrast, full_report, report, result

NAN = float("nan")


@pytest.fixture(scope="module")
def html():
    return full_report().to_html()


@pytest.fixture(scope="module")
def page(html):
    return Page(html)


def texts(page, tag, kind=None):
    return [own.text() for own in page.all(tag) if kind is None or kind in (own["class"] or "").split()]


class TestContent:
    def test_sections_in_order(self, page):
        assert texts(page, "h2") == ["Summary", "Curves", "Slices", "Coverage", "Signatures"]
        assert texts(page, "h1") == ["a, b against y"]

    def test_title_argument(self):
        page = Page(full_report().to_html(title="Week 12 <draft>"))
        assert texts(page, "h1") == ["Week 12 <draft>"]
        assert page.all("title")[0].text() == "Week 12 <draft>"

    def test_facts(self, page):
        assert dict(zip(texts(page, "dt"), texts(page, "dd"), strict=True)) == {
            "rows read": "10",
            "dropped": "3 (null in a: 3)",
            "label": "y",
            "score": "a, b",
            "intervals": "95%, bootstrap of 1,000 replicates over user, seed 0",
            "version": fm.__version__,
            "time": "0.25 s",
        }

    def test_only_intervals_over_rows_depend_on_the_order(self, html):
        sentence = "The numbers do not depend on the order of the rows."
        assert sentence in html
        by_row = result(interval=(0.7, 0.8)).signature.replace("|unit:user", "|unit:row")
        of = Result("auc", "a", {}, 0.75, by_row, {"rows": 10}, label="y", interval=(0.7, 0.8))
        assert sentence not in report([of]).to_html()

    def test_values_with_intervals(self, page):
        rows = [[cell.text() for cell in row.all("th", "td")] for row in page.identified("summary").all("tr")]
        assert rows[0] == ["model", "value", "interval", ""]
        assert rows[1][0].startswith("auc Area under the ROC curve")
        assert rows[1][0].endswith("Higher is better.")
        assert rows[2][:3] == ["a", "0.70000", "0.69000 to 0.72000"]
        assert rows[3][:3] == ["b best", "0.80300", "0.79300 to 0.82300"]
        assert rows[5][:2] == ["a best", "0.3000\u2007"]

    def test_intervals_of_one_model_are_marked_in_percent(self):
        of = [result("auc", value=0.5, interval=(0.4, 0.55)), result("logloss", value=2.0, interval=(1.9, 2.1))]
        page = Page(report(of).to_html())
        assert [own.text() for own in page.all("span") if own["class"] == "ends"] == ["−20%+20%"] * 2
        spans = [(own["x1"], own["x2"]) for own in page.all("line") if own["class"] == "span"][::3]
        assert spans == [("2.5%", "73.75%"), ("38.12%", "61.88%")]

    def test_intervals_around_zero_have_scales_of_their_own(self):
        page = Page(report([result("bias", value=0.0, interval=(-1.0, 1.0))]).to_html())
        assert [own.text() for own in page.all("span") if own["class"] == "ends"] == ["−1.0000+1.0000".replace("+", "")]

    def test_all_digits_are_there(self, page):
        values = {float(own["value"]) for own in page.identified("summary").all("data")}
        assert values == {own.value for own in full_report() if not own.slice}

    def test_undefined_has_its_reason(self):
        page = Page(report([result(value=NAN, reason="only one class is present")]).to_html())
        assert texts(page, "td", "undefined") == ["undefined"]
        assert "only one class is present" in texts(page, "td", "why")

    def test_no_interval_has_its_reason(self):
        of = result(coverage={"rows": 10, "interval": "fewer than two units"})
        html = report([of, result("ap", interval=(0.7, 0.8))]).to_html()
        assert "fewer than two units" in texts(Page(html), "td", "why")
        assert "no interval, fewer than two units" in html

    def test_slices_with_reasons_below(self, page):
        slices = page.identified("slices")
        rows = [[cell.text() for cell in row.all("th", "td")] for row in slices.all("tr")]
        assert rows[0] == ["day", "model", "rows", "auc", "logloss", "ne"]
        assert [row[0] for row in rows[1:]] == ["all rows", "all rows", "1", "1", "2", "2", "10", "10"]
        assert rows[5][5] == "undefined1"
        assert [own.text() for own in slices.all("li")] == ["only one class is present"]

    def test_bars_show_the_difference_from_all_rows(self):
        results = [result(value=0.5), *(result(value=v, slice={"d": i}) for i, v in enumerate((0.6, 0.5, 0.3)))]
        slices = Page(report(results).to_html()).identified("slices")
        bars = [own["style"] for own in slices.all("i") if own.parent["class"] == "bar both"]
        assert bars == ["left:50%;width:25%", "left:50%;width:0%", "left:0%;width:50%"]

    def test_plots_and_missing_plots(self, page):
        curves = page.identified("curves")
        assert [own.text() for own in curves.all("h3")] == ["ROC curve", "DET", "Calibration", "AUC inside groups"]
        assert len([own for own in curves.all("svg") if own["role"] == "img"]) == 4
        assert [own.text() for own in curves.all("li")] == ["lift: scores are no probabilities"]

    def test_coverage(self):
        coverage = {
            "rows": 90, "groups": 10, "groups_used": 7, "groups_left_out": {"one class: no positive": 3},
            "rows_left_out": {"one class: no positive": 10}, "undefined_replicates": 2, "rows_per_group": 12.857142,
        }  # fmt: skip
        results = [result(metric, coverage=coverage) for metric in ("gauc", "gauc(weight=pairs)")]
        part = Page(report(results).to_html()).identified("coverage")
        assert [own.text() for own in part.all("th")][2:] == ["gauc, gauc(weight=pairs)"]
        assert [own.text() for own in part.all("li")] == [
            "90 rows",
            "7 of 10 groups used",
            "3 groups (10 rows) left out, one class: no positive",
            "2 replicates undefined, left out of the interval",
            "rows per group 12.86",
        ]

    def test_signatures(self, page):
        found = [own.text() for own in page.identified("signatures").all("code")]
        assert found == list(dict.fromkeys(own.signature for own in full_report() if not own.slice))

    def test_a_report_of_evaluate(self):
        generator = np.random.default_rng(0)
        log = {"y": generator.integers(0, 2, 500), "p": generator.random(500), "user": generator.integers(0, 20, 500)}
        made = fm.evaluate(log, ["auc", "gauc", "logloss"], label="y", score="p", group="user", curves=True)
        html = made.to_html()
        assert complaints(html) == []
        assert f"{made['auc']:.5f}" in html
        assert html.count('role="img"') == len(made.pictures)

    def test_colors_of_plots_are_those_of_the_summary(self):
        generator = np.random.default_rng(0)
        log = {name: generator.integers(0, 2, 200) for name in "yz"} | {name: generator.random(200) for name in "ab"}
        for labels in ("y", ["y", "z"]):
            made = fm.evaluate(log, ["auc", "logloss"], label=labels, score=["a", "b"], curves=True)
            models = names_in_plots(made.results)
            assert [own.name for own in made.pictures["roc"].lines] == models
            page = Page(made.to_html())
            keys = [own["class"].split()[1] for own in page.all("span") if (own["class"] or "").startswith("key")]
            svg = page.identified("plot-0")
            lines = [own["class"].split()[1] for own in svg.all("path") if (own["class"] or "").startswith("line")]
            assert keys[: len(models)] == lines[: len(models)] == [f"s{place + 1}" for place in range(len(models))]

    def test_equal_reports_are_equal_pages(self, html):
        assert full_report().to_html() == html


def classes_report():
    log = {"y": ["<a>", "b&c"], "p": ["<a>", "<a>"]}
    return fm.evaluate(log, "accuracy", label="y", prediction="p")


class TestClasses:
    def test_names_are_escaped_once(self):
        html = classes_report().to_html()
        assert complaints(html) == []
        cells = [own.text() for own in Page(html).identified("classes").all("th", "td")]
        assert cells[:9] == ["y", "<a>", "b&c", "<a>", "1", "0", "b&c", "1", "0"]

    def test_notebooks_have_the_tables_too(self):
        html = classes_report()._repr_html_()
        assert ">confusion matrix: rows are labels (y), columns are predictions (p)</p>" in html
        assert html.count("<table") == 3


class TestBest:
    @pytest.mark.parametrize(
        ("metric", "values", "best"),
        [
            ("auc", [0.7, 0.8, 0.8], {1, 2}),
            ("logloss", [0.7, 0.8, NAN], {0}),
            ("copc", [0.7, 1.2, 1.25], {1}),
            ("bias", [0.1, -0.05], {1}),
            ("ctr", [0.1, 0.2], set()),
            ("auc", [0.7, 0.7], set()),
            ("auc", [0.7, NAN], set()),
            ("ndcg@10", [0.1, 0.2], {1}),
            ("no metric of ours", [0.1, 0.2], set()),
        ],
    )
    def test_positions(self, metric, values, best):
        assert best_positions(metric, values) == best


class TestNumbers:
    @each_case(
        ("value", "text"),
        [
            (0.9600813796, "0.96008"),
            (0.0062781, "0.0062781"),
            (27.123456, "27.123"),
            (-0.05, "−0.050000"),
            (0.0, "0.0000"),
            (123456.0, "123,456"),
            (1e9, "1e+09"),
            (2.5e-7, "2.5e−07"),
            (math.inf, "+∞"),
            (-math.inf, "−∞"),
            (NAN, "undefined"),
        ],
    )
    def test_format_of_values(self, value, text):
        assert format_value(value, common_decimals([value])) == text

    def test_decimal_points_are_aligned(self):
        assert align_decimals(["0.96008", "1.1502", "undefined"]) == ["0.96008", "1.1502\u2007", "undefined"]

    @pytest.mark.parametrize(
        ("signature", "text"),
        [
            ("auc|v:1", ""),
            ("auc|v:1|ci:0.9|method:delong|unit:row", "90% intervals, delong over rows"),
            (
                "auc|ci:0.999|method:bootstrap|replicates:2000|seed:7|unit:a:b",
                "99.9% intervals, bootstrap of 2,000 replicates over a:b, seed 7",
            ),
        ],
    )
    def test_resampling_is_read_from_signatures(self, signature, text):
        assert resampling_text(signature) == text


class TestAccessibility:
    def test_no_rule_is_broken(self, html):
        assert complaints(html) == []

    @each_case(
        ("old", "new", "complaint"),
        [
            ('lang="en"', "", "no lang"),
            ("width=device-width", "width=500", "no viewport"),
            ("<h3>", "<h4>", "left out"),
            ('id="slices"', 'id="summary"', "an id twice"),
            (' scope="col"', "", "th without scope"),
            (' aria-sort="none"', "", "without aria-sort"),
            ('tabindex="0"', 'tabindex="1"', "positive tabindex"),
            ('role="img"', "", "a plot without words"),
            ('aria-labelledby="plot-0-title', 'aria-labelledby="nothing', "leads nowhere"),
            ('href="#slices"', 'href="#nowhere"', "leads nowhere"),
            ("<button ", '<button onclick="f()" ', "a script in an attribute"),
        ],
    )
    def test_a_broken_rule_is_found(self, html, old, new, complaint):
        assert old in html
        broken = html.replace(old, new)
        if "h4" in new:
            broken = re.sub(r"</h3>", "</h4>", broken)
        assert any(complaint in found for found in complaints(broken))

    @pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
    def test_contrasts(self, palette):
        for color in [palette.ink, palette.muted, palette.link, palette.good, palette.warn, *palette.series]:
            for ground in (palette.paper, palette.panel):
                assert contrast(color, ground) >= 4.5, (color, ground)
        assert contrast(palette.ink, palette.paper) >= 12

    def test_contrast_is_that_of_the_standard(self):
        assert contrast("#000000", "#ffffff") == pytest.approx(21)
        assert contrast("#777777", "#ffffff") == pytest.approx(4.478, abs=1e-3)

    def test_series_differ_in_more_than_color(self, page):
        dashes = [own["stroke-dasharray"] for own in page.all("path") if (own["class"] or "").startswith("line")]
        assert {None, "7 3"} == set(dashes)


class TestNoNetwork:
    def test_nothing_is_loaded(self, html):
        assert not re.search(r"https?:|//[a-z]|@import|url\((?!#)|<link|<iframe|<object|\bsrc=", html)

    def test_the_policy_lets_one_script_run(self, page):
        (policy,) = (own["content"] for own in page.all("meta") if own["http-equiv"] == "Content-Security-Policy")
        assert "default-src 'none'" in policy
        assert f"script-src '{script_hash()}'" in policy
        assert page.one("script").text() == SCRIPT


class TestHostileNames:
    @pytest.mark.parametrize("name", html_pages.HOSTILE)
    def test_hostile_columns_values_reasons_and_plots(self, name):
        drawn = html_pages.plots((name, "b"))
        drawn["odd"] = drawn["roc"]._replace(title=name, summary=name, x_label=name, y_label=name)
        results = [
            result(name or "auc", name, 0.5, label=name, interval=(0.4, 0.6)),
            result("auc", "b", NAN, label=name, reason=name),
            *(result("auc", score, 0.5, label=name, slice={name: name, "n": 3}) for score in (name, "b")),
            result("auc", name, NAN, label=name, slice={name: None}, reason=name),
        ]
        html = report(results, drawn, {name: name}, columns={"label": name, "score": (name, "b")}).to_html(title=name)
        assert complaints(html) == []
        page = Page(html)
        assert len(page.all("script")) == 1
        assert page.one("script").text() == SCRIPT
        assert not page.all("img", "b")
        assert "\x00" not in html

    def test_a_name_is_escaped_once(self):
        assert texts(Page(report([result(score="<b>&amp;")]).to_html()), "h1") == ["<b>&amp; against y"]


class TestOddReports:
    def test_empty(self):
        html = report([]).to_html()
        assert complaints(html) == []
        assert "No metric was computed." in html

    def test_all_undefined(self):
        results = [result(m, s, NAN, reason="no rows") for m in ("auc", "gauc") for s in "ab"]
        html = report([*results, result(value=NAN, slice={"d": 1}, reason="no rows")], rows=0).to_html()
        assert complaints(html) == []
        assert "nan" not in re.sub(r"<(style|script)>.*?</\1>", "", html, flags=re.DOTALL)

    def test_slices_without_all_rows(self):
        html = report([result(slice={"d": day}, value=day / 7) for day in range(5)]).to_html()
        assert complaints(html) == []
        assert "all rows of the same model" not in html

    def test_infinite_values_are_sorted_as_undefined_ones(self):
        html = report([result(value=0.5), result(value=math.inf, slice={"d": 1.0})]).to_html()
        cells = Page(html).identified("slices").all("td")
        assert [own["data-key"] for own in cells if own.text() == "+∞"] == [""]

    def test_infinite_values(self):
        html = report([result(value=math.inf), result("ap", interval=(-math.inf, math.inf))]).to_html()
        assert complaints(html) == []
        assert "+∞" in html

    def test_a_value_of_another_release(self):
        assert complaints(report([result("thing_of_tomorrow", value=1.0)]).to_html()) == []

    def test_many_slices(self):
        results = [result(value=0.5), *(result(value=i / 1200, slice={"d": i}) for i in range(1200))]
        html = report(results).to_html()
        assert complaints(html) == []
        assert "200 more rows are in report.to_json()" in html
        assert 'class="box tall"' in html
        assert len(html) < 700_000

    def test_several_labels(self):
        page = Page(report([result(label=label, score=s) for label in "yz" for s in "ab"]).to_html())
        assert texts(page, "th", "model") == ["a against y", "b against y", "a against z", "b against z"]


class TestFile:
    def test_file_has_the_returned_text(self, tmp_path, html):
        path = tmp_path / "report.html"
        assert full_report().to_html(path) == html
        assert path.read_text(encoding="utf-8") == html
        full_report().to_html(str(path))
        assert [own.name for own in tmp_path.iterdir()] == ["report.html"]

    def test_a_failed_write_leaves_the_old_file(self, tmp_path, monkeypatch):
        path = tmp_path / "report.html"
        path.write_text("before", encoding="utf-8")
        made = full_report()
        monkeypatch.setattr("pathlib.Path.replace", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
        assert_raises(OSError, "disk full", made.to_html, path)
        assert path.read_text(encoding="utf-8") == "before"
        assert [own.name for own in tmp_path.iterdir()] == ["report.html"]


def test_a_file_in_a_missing_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere; create it first"):
        full_report().to_html(tmp_path / "nowhere" / "page.html")
    (tmp_path / "a file").touch()
    with pytest.raises(NotADirectoryError, match="there is no folder"):
        full_report().to_html(tmp_path / "a file" / "page.html")
