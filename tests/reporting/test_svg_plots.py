"""Plots as SVG: positions of points, ticks, legends, the same text for the same plot."""

import math
import re
from statistics import NormalDist
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmetrics._core.plot import Bars, Line, Plot
from fastmetrics.reporting import svg_plots
from fastmetrics.reporting.axis_ticks import linear_axis, normal_axis
from fastmetrics.reporting.interval_marks import bar_html, scale_range, whisker_svg
from fastmetrics.reporting.page_style import LIGHT
from fastmetrics.reporting.plot_layout import series_positions
from support import html_pages
from support.cases import each_case

LEFT, RIGHT = svg_plots.LEFT, svg_plots.WIDTH - svg_plots.RIGHT
TOP, FOOT = svg_plots.TOP, svg_plots.PLOT_HEIGHT - svg_plots.BOTTOM


def plot(*lines, **options):
    return Plot("p", "Title", "across", "up", tuple(lines), **options)


def line(x, y, name="a", **options):
    return Line(name, np.asarray(x, float), np.asarray(y, float), **options)


def svg_page(of):
    return html_pages.Page(svg_plots.plot_svg(of, "x"))


def paths(of, kind):
    return [own["d"] for own in svg_page(of).all("path") if (own["class"] or "").split()[:1] == [kind]]


def points(path):
    return [tuple(map(float, pair.split())) for pair in re.split("[MLZ]", path) if pair]


class TestLines:
    def test_corners(self):
        (own,) = paths(plot(line([0, 0.5, 1], [0, 1, 0.5])), "line")
        assert points(own) == [(LEFT, FOOT), ((LEFT + RIGHT) / 2, TOP), (RIGHT, (TOP + FOOT) / 2)]

    def test_nan_makes_a_gap(self):
        (own,) = paths(plot(line([0, 1, 2, 3, 4], [0, 1, np.nan, 1, 0])), "line")
        assert [len(points(part)) for part in own.split("M")[1:]] == [2, 2]

    def test_a_single_point_has_a_marker(self):
        assert len(paths(plot(line([0, 1, 2, 3], [0.5, np.nan, 0.1, 0.2])), "marker")) == 1

    def test_empty_plots(self):
        assert "NaN" not in svg_plots.plot_svg(plot(line([], [])), "x")
        assert "nan" not in svg_plots.plot_svg(plot(line([np.nan], [np.inf])), "x").lower().replace("nance", "")
        svg_plots.plot_svg(plot(), "x")

    def test_band_is_a_closed_path(self):
        of = plot(line([0, 1], [0.5, 0.5], low=np.array([0.0, 0.2]), high=np.array([1.0, 0.8])))
        first, second = points(paths(of, "band")[0])[:2]
        assert first == (LEFT, TOP)
        assert second == (RIGHT, pytest.approx(TOP + 0.2 * (FOOT - TOP), abs=0.01))

    def test_markers_have_whiskers(self):
        ends = {"low": np.array([0.0, np.nan]), "high": np.array([1.0, 0.8])}
        of = plot(line([0, 1], [0.5, 0.6], markers=True, **ends))
        assert points(paths(of, "error")[0]) == [(LEFT, FOOT), (LEFT, TOP)]
        assert paths(of, "band") == []

    def test_ranges_are_kept(self):
        of = plot(line([0, 0.5], [0, 0.5]), x_range=(0, 1), y_range=(0, 2))
        assert points(paths(of, "line")[0])[1] == ((LEFT + RIGHT) / 2, FOOT - 0.25 * (FOOT - TOP))


class TestBars:
    def test_heights_and_sides(self):
        of = plot(bars=(Bars("a", np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0])),))
        first, second = re.findall(r"M([\d.]+) ([\d.]+)V([\d.]+)h([\d.]+)V([\d.]+)Z", paths(of, "bar")[0])
        assert float(first[2]) == (TOP + FOOT) / 2
        assert float(second[2]) == TOP
        assert float(first[0]) + float(first[3]) <= float(second[0])

    def test_two_series_are_side_by_side(self):
        edges, heights = np.array([0.0, 1.0]), np.array([1.0])
        one, other = paths(plot(bars=(Bars("a", edges, heights), Bars("b", edges, heights))), "bar")[:2]
        start, width = (float(re.search(pattern, one)[1]) for pattern in (r"M([\d.]+)", r"h([\d.]+)"))
        assert start + width <= float(re.search(r"M([\d.]+)", other)[1])

    def test_whiskers(self):
        of = plot(bars=(Bars("a", np.array([0.0, 1.0]), np.array([0.5]), np.array([0.0]), np.array([1.0])),))
        assert paths(of, "whisker") == [f"M{(LEFT + RIGHT) / 2:g} {FOOT}V{TOP}"]

    def test_an_undefined_bar_is_left_out(self):
        of = plot(bars=(Bars("a", np.array([0.0, 1.0, 2.0]), np.array([np.nan, 1.0])),))
        assert paths(of, "bar")[0].count("M") == 1


class TestNormalScale:
    def test_rates_are_at_their_deviates(self):
        wide = (0.01, 0.99)
        of = plot(line([0.05, 0.5, 0.95], [0.5, 0.5, 0.5]), scale="normal", x_range=wide, y_range=wide)
        deviate = NormalDist().inv_cdf
        share = (deviate(0.05) - deviate(0.01)) / (deviate(0.99) - deviate(0.01))
        found = points(paths(of, "line")[0])
        assert found[0][0] == pytest.approx(LEFT + share * (RIGHT - LEFT), abs=0.01)
        assert found[1] == (pytest.approx((LEFT + RIGHT) / 2), pytest.approx((TOP + FOOT) / 2))

    def test_ticks_are_percents(self):
        deviate = NormalDist().inv_cdf
        axis = normal_axis(np.array([deviate(0.02), deviate(0.6)]))
        assert [text for _, text in axis.ticks] == ["1%", "5%", "20%", "50%", "80%"]

    def test_rates_of_0_and_1_are_not_drawn(self):
        assert len(points(paths(plot(line([0, 0.1, 0.2, 1], [1, 0.5, 0.4, 0]), scale="normal"), "line")[0])) == 2


class TestAxes:
    @each_case(
        ("low", "high", "texts"),
        [
            (0, 1, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
            (0, 0.1, ["0.00", "0.02", "0.04", "0.06", "0.08", "0.10"]),
            (-3, 3, ["−4", "−2", "0", "2", "4"]),
            (0, 12000, ["0", "2,500", "5,000", "7,500", "10,000", "12,500"]),
            (0, 1.25, ["0.00", "0.25", "0.50", "0.75", "1.00", "1.25"]),
            (5, 5, ["4.4", "4.6", "4.8", "5.0", "5.2", "5.4", "5.6"]),
        ],
    )
    def test_ticks(self, low, high, texts):
        assert [text for _, text in linear_axis(np.array([low, high], float)).ticks] == texts

    @given(st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=5))
    def test_axis_includes_the_data_and_has_few_ticks(self, values):
        axis = linear_axis(np.array(values))
        span = axis.high - axis.low
        assert axis.low - span * 1e-6 <= min(values)
        assert max(values) <= axis.high + span * 1e-6
        assert 2 <= len(axis.ticks) <= 12
        places = [axis.fraction(tick) for tick, _ in axis.ticks]
        assert all(-1e-6 <= place <= 1 + 1e-6 for place in places)
        assert places == sorted(places)


class TestLooks:
    def test_a_model_has_one_color_in_all_plots(self):
        of = plot(line([0, 1], [0, 1], "b"), line([0, 1], [1, 1], "c"), line([0, 1], [1, 0], "a"))
        page = html_pages.Page(svg_plots.plot_svg(of, "x", ["a", "b"]))
        kinds = [own["class"] for own in page.all("path") if (own["class"] or "").startswith("line")]
        assert kinds[:3] == kinds[3:] == ["line s2", "line s3", "line s1"]

    def test_bars_of_only_the_second_model_have_full_width(self):
        of = plot(bars=(Bars("b", np.array([0.0, 1.0]), np.array([1.0])),))
        alone, second = (svg_plots.plot_svg(of, "x", models) for models in ([], ["a", "b"]))
        assert alone.replace("s1", "s2") == second

    def test_two_series_of_one_name_look_alike(self):
        edges, heights = np.array([0.0, 1.0]), np.array([1.0])
        assert series_positions(plot(line([0], [0], "a"), bars=(Bars("a", edges, heights),)), []) == [0, 0]


class TestText:
    def test_the_same_plot_is_the_same_text(self):
        one, other = (svg_plots.plot_svg(own["roc"], "x") for own in (html_pages.plots(), html_pages.plots()))
        assert one == other

    def test_coordinates_are_short(self):
        assert not re.search(r"\d\.\d{3}", svg_plots.plot_svg(html_pages.plots()["det"], "x"))

    def test_title_and_description_for_screen_readers(self):
        page = svg_page(html_pages.plots()["calibration"])
        assert page.identified("x-title").text() == "Calibration"
        assert page.identified("x-desc").text() == "Wide."

    def test_legend_names_the_models(self):
        page = svg_page(plot(line([0, 1], [0, 1], note="AUC 0.9"), line([0, 1], [1, 0], "b" * 200)))
        legends = [own for own in page.all("text") if own["class"] == "legend"]
        assert legends[0].text() == "aAUC 0.9"
        assert legends[1].text().endswith("…")
        assert next(legends[1].all("title")).text() == "b" * 200

    def test_one_series_without_a_note_needs_no_legend(self):
        assert "legend" not in svg_plots.plot_svg(plot(line([0, 1], [0, 1])), "x")


class TestMarks:
    def test_scale(self):
        assert scale_range([0.2, math.nan, 0.4]) == (0.2, 0.4)
        assert scale_range([-0.1, 0.3], around_zero=True) == (-0.3, 0.3)
        assert scale_range([0.0], around_zero=True) == (-1.0, 1.0)
        assert scale_range([math.nan]) is None
        low, high = scale_range([2.0])
        assert low < 2 < high

    def test_whiskers_on_the_scale(self):
        text = whisker_svg(0.5, (0.25, 0.75), (0.0, 1.0), "s1", mark_zero=True)
        assert 'cx="50%"' in text
        assert 'x1="26.25%" x2="73.75%"' in text
        assert text.count("<line") == 5
        assert "circle" not in whisker_svg(math.nan, None, (0.0, 1.0), "s1")

    @pytest.mark.parametrize(
        ("value", "center", "style"),
        [(0.5, None, "left:0;width:50%"), (0.75, 0.5, "left:50%;width:12.5%"), (-0.5, 0.5, "left:0%;width:50%")],
    )
    def test_bars(self, value, center, style):
        assert f'"{style}"' in bar_html(value, center, 1.0)

    def test_nothing_to_draw(self):
        assert bar_html(math.nan, 0.5, 1.0) == bar_html(0.5, None, 0.0) == ""


def test_picture_is_a_document_of_its_own():
    """Notebooks show it, with its title and its colors for light and dark screens."""
    curve = Plot("roc", "ROC < curve", "x", "y", (Line("a", np.array([0.0, 1.0]), np.array([0.0, 1.0])),))
    text = curve._repr_svg_()
    root = ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    texts = root.iter("{http://www.w3.org/2000/svg}text")
    assert [element.text for element in texts if element.get("class") == "title"] == ["ROC < curve"]
    assert LIGHT.series[0] in text
    assert "prefers-color-scheme:dark" in text
    used, defined = set(re.findall(r"var\((--\w+)\)", text)), set(re.findall(r"(--\w+):#", text))
    assert used <= defined
    assert repr(curve) == "Plot('roc', 'y' over 'x', of a)"
