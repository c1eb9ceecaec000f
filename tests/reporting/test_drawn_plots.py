"""Plots of logs drawn by matplotlib: axes, lines, bands, colors and legends."""

import subprocess
import sys

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics._core.distributions.normal import normal_quantile
from fastmetrics._core.plot import Bars, Line, Plot
from support.cases import assert_raises
from support.results.plotted_logs import NAMES, make_log, report_of


@pytest.fixture
def pyplot():
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


@pytest.fixture(scope="module")
def drawable():
    return report_of(make_log(2000, 12), "auc,ap,gauc", ["a", "b"], group="user")


@pytest.mark.parametrize("name", NAMES)
def test_axes_have_labels_and_a_line_for_every_model(name, drawable, pyplot):
    ax = drawable.plot(name)
    plot = drawable.pictures[name]
    assert ax.get_xlabel() == plot.x_label
    assert ax.get_ylabel() == plot.y_label
    assert ax.get_title() == plot.title
    shown = [text.get_text() for text in ax.get_legend().get_texts()]
    expected = [part.name + (f" ({part.note})" if part.note else "") for part in plot.lines + plot.bars]
    assert shown[:2] == expected
    assert shown[2:] == ([] if plot.reference is None else [plot.reference.name])
    ax.figure.canvas.draw()


def test_det_is_drawn_on_normal_deviates(drawable, pyplot):
    ax = drawable.plot("det")
    line = drawable.pictures["det"].lines[0]
    x, y = ax.get_lines()[0].get_data()
    assert x.tolist() == [normal_quantile(rate) for rate in line.x.tolist()]
    assert y[0] == normal_quantile(line.y[0])
    ticks = [tick.get_text() for tick in ax.get_xticklabels()]
    assert "50%" in ticks
    assert ax.get_xticks()[ticks.index("50%")] == 0


def test_plots_are_drawn_on_the_given_axes(drawable, pyplot):
    figure, (left, right) = pyplot.subplots(1, 2)
    assert drawable.plot("roc", ax=right) is right
    assert not left.get_lines()
    assert len(right.get_lines()) == 3
    assert pyplot.get_fignums() == [figure.number]
    assert [ax.get_title() for ax in drawable.plot()] == [own.title for own in drawable.pictures.values()]


def test_bands_bars_and_odd_names_are_drawn(pyplot):
    from fastmetrics.reporting.matplotlib_plots import draw_on_axes

    x = np.array([0.0, 0.5, 1.0])
    lines = (Line("_hidden $x", x, x, x - 0.1, x + 0.1), Line("b", x, x, x - 0.1, x + 0.1, markers=True))
    bars = Bars("c", x, np.array([0.5, 0.5]), np.array([0.25, 0.5]), np.array([0.75, 0.5]))
    ax = draw_on_axes(Plot("p", "t", "x", "y", lines, (bars,)))
    assert len(ax.collections) == 3
    assert len(ax.get_legend().get_texts()) == 3
    ax.figure.canvas.draw()


def test_a_model_has_one_color_in_all_plots(pyplot):
    log = make_log(300, 18)
    log["a"] = 5 * log["a"]  # no probabilities, so calibration is of b alone
    report = report_of(log, "auc", ["a", "b"])
    assert [line.name for line in report.pictures["calibration"].lines] == ["b"]
    colors = [ax.get_lines()[number].get_color() for ax, number in ((report.plot("roc"), 1), (report.plot()[4], 0))]
    assert colors[0] == colors[1] == report.plot("calibration").get_lines()[0].get_color()


def test_the_legend_of_many_models_hides_none_of_them(pyplot):
    log = make_log(300, 18)
    names = [f"model {number}" for number in range(7)]
    log |= {name: log["a"] ** (1 + number) for number, name in enumerate(names)}
    ax = report_of(log, "auc", names).plot("roc")
    ax.figure.canvas.draw()
    legend, inside = ax.get_legend().get_window_extent(), ax.get_window_extent()
    assert legend.x0 >= inside.x1
    assert legend.x1 <= ax.figure.bbox.x1
    assert inside.width > 200
    assert len({(line.get_color(), line.get_linestyle()) for line in ax.get_lines()[:7]}) == 7


def test_errors_of_missing_plots_tell_what_to_type(drawable):
    assert_raises(
        ValueError, "request them with evaluate", fm.evaluate(make_log(20), "auc", label="y", score="a").plot, "roc"
    )
    assert_raises(
        ValueError, "request them with evaluate", fm.evaluate(make_log(20), "auc", label="y", score="a").plot
    )
    assert_raises(
        ValueError, r"no plot is called 'rok'; known plots are 'roc', .*and this report has", drawable.plot, "rok"
    )
    assert_raises(ValueError, "name it", drawable.plot, ax=object())
    assert_raises(
        ValueError, "curves must be True or False; found 'yes'",
        fm.evaluate, make_log(20), "auc", label="y", score="a", curves="yes",
    )


def test_without_matplotlib_the_error_has_the_command_to_type():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import fastmetrics as fm\n"
        "log = {'y': [0, 1, 1, 0], 'a': [0.1, 0.9, 0.3, 0.4]}\n"
        "report = fm.evaluate(log, 'auc', label='y', score='a', curves=True)\n"
        "for arguments in [('roc',), ()]:\n"
        "    try: report.plot(*arguments)\n"
        "    except ImportError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == 2 * "a plot needs matplotlib: pip install 'fastmetrics-engine[plot]'\n"
