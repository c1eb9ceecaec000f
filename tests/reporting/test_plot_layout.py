"""The layout of plots: both back ends draw the same axes, lines and colors."""

import numpy as np
import pytest

from fastmetrics._core.distributions.normal import normal_quantile
from fastmetrics._core.plot import Bars, Line, Plot
from fastmetrics.reporting.plot_layout import lay_out
from support import html_pages
from support.cases import each_case


def plot(*lines, **options):
    return Plot("p", "Title", "across", "up", tuple(lines), **options)


def line(x, y, name="a", **options):
    return Line(name, np.asarray(x, float), np.asarray(y, float), **options)


def test_series_have_positions_among_the_models():
    edges, heights = np.array([0.0, 1.0]), np.array([1.0])
    laid = lay_out(plot(line([0], [0], "b"), line([0], [0], "c"), bars=(Bars("a", edges, heights),)), ["b"])
    assert [(position, bars.name) for position, bars in laid.bars] == [(1, "a")]
    assert [(position, own.name) for position, own in laid.lines] == [(0, "b"), (2, "c")]


def test_axes_include_lines_bands_and_bars():
    band = {"low": np.array([-1.0, 0.5]), "high": np.array([0.5, 3.0])}
    laid = lay_out(plot(line([0, 2], [0.5, 0.5], **band), bars=(Bars("b", np.array([1.0, 4.0]), np.array([2.0])),)))
    assert (laid.x.low, laid.x.high, laid.y.low, laid.y.high) == (0, 4, -1, 3)
    empty = lay_out(plot(reference=line([2, 3], [4, 5])))
    assert (empty.x.low, empty.x.high, empty.y.low, empty.y.high) == (2, 3, 4, 5)


def test_rates_of_0_and_1_are_not_drawn_but_bands_reach_the_edge():
    ends = {"low": np.array([0.0, 0.2, 0.0]), "high": np.array([0.5, 1.0, 0.9])}
    laid = lay_out(plot(line([0.1, 0.5, 1.0], [0.2, 0.5, 0.4], **ends), scale="normal"))
    ((_, own),) = laid.lines
    assert own.x[:2].tolist() == [normal_quantile(0.1), 0.0]
    assert np.isnan(own.x[2])
    assert own.low[0] < laid.y.low
    assert own.high[1] > laid.y.high
    assert np.isfinite([own.low, own.high]).all()


def test_a_logarithmic_scale_has_powers_of_ten():
    low, high = np.array([1e-4, 0.0, 0.05]), np.array([1e-2, 0.01, 0.2])
    own = line([1e-3, 1e-2, 0.1], [1e-3, 0.0, 0.1], low=low, high=high)
    laid = lay_out(plot(own, scale="log", x_range=(1e-3, 0.1), y_range=(1e-3, 1)))
    ((_, own),) = laid.lines
    assert own.x.tolist() == pytest.approx([-3, -2, -1])
    assert own.y.tolist() == pytest.approx([-3, -3, -1])
    assert own.low.tolist() == pytest.approx([-3, -3, np.log10(0.05)])
    assert [text for _, text in laid.x.ticks] == ["0.001", "0.002", "0.005", "0.01", "0.02", "0.05", "0.1"]
    assert laid.x.ticks[3][0] == -2
    wide = lay_out(plot(line([1e-6, 1], [1e-6, 1]), scale="log", x_range=(1e-6, 1), y_range=(1e-6, 1)))
    assert [text for _, text in wide.x.ticks] == ["1e-06", "1e-05", "0.0001", "0.001", "0.01", "0.1", "1"]


@each_case("name", ["roc", "det", "calibration", "bars"])
def test_matplotlib_has_the_axes_of_the_layout(name):
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    from fastmetrics.reporting.matplotlib_plots import draw_on_axes

    drawn = html_pages.plots()[name]
    laid, ax = lay_out(drawn), draw_on_axes(drawn)
    for axis, (low, high) in ((laid.x, ax.get_xlim()), (laid.y, ax.get_ylim())):
        margin = 0.03 * (axis.high - axis.low)
        if name != "bars" or axis is laid.x:  # above bars is place for the legend
            assert axis.low - margin < low < axis.low
            assert axis.high < high < axis.high + margin
    if name == "det":
        assert [tick.get_text() for tick in ax.get_xticklabels()] == [text for _, text in laid.x.ticks]
    pyplot.close("all")
