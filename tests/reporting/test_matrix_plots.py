"""Heat maps of confusion matrices: every number stands in its own cell, labels down and predictions across."""

import numpy as np
import pytest

import fastmetrics as fm
from support.cases import assert_raises, each_case

LABELS = ["bee", "bee", "bee", "cat", "cat", "dog", "dog", "dog", "dog"]
GUESSES = ["bee", "cat", "cat", "cat", "dog", "bee", "bee", "bee", "dog"]
CLASSES = ["bee", "cat", "dog"]
LOG = {"y": LABELS, "p": GUESSES, "q": LABELS}


@pytest.fixture
def pyplot():
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def report_of(log=LOG, prediction="p", **options):
    return fm.evaluate(log, "accuracy", label="y", prediction=prediction, **options)


def written_cells(ax):
    """The text at each position: (row, column) from the upper left corner."""
    return {(text.get_position()[1], text.get_position()[0]): text.get_text() for text in ax.texts}


def tick_names(axis):
    return [tick.get_text() for tick in axis.get_ticklabels()]


@each_case(("normalize", "write"), [(None, "{:.0f}"), ("true", "{:.2f}"), ("pred", "{:.2f}"), ("all", "{:.2f}")])
def test_cells_are_those_of_the_function(normalize, write, pyplot):
    ax = report_of().plot("confusion-matrix", normalize=normalize)
    expected = fm.confusion_matrix(LABELS, GUESSES, normalize=normalize)
    assert (expected != expected.T).any()
    np.testing.assert_allclose(ax.get_images()[0].get_array(), expected, rtol=1e-15)
    assert written_cells(ax) == {where: write.format(value) for where, value in np.ndenumerate(expected)}
    assert tick_names(ax.xaxis) == tick_names(ax.yaxis) == CLASSES
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("prediction (p)", "label (y)")
    low, high = sorted(ax.get_ylim())
    assert ax.get_ylim() == (high, low)  # the first class stands at the top


def test_each_prediction_has_its_own_axes(pyplot):
    report = report_of(prediction=["p", "q"])
    axes = report.plot("confusion-matrix")
    assert [ax.get_xlabel() for ax in axes] == ["prediction (p)", "prediction (q)"]
    assert written_cells(axes[1])[2, 2] == "4"
    (own,) = pyplot.subplots(1, 1, squeeze=False)[1][0]
    assert report.plot("confusion-matrix", own, prediction="q") is own
    assert written_cells(own) == written_cells(axes[1])
    assert_raises(ValueError, "there are 2: choose one of label='y', prediction='p'", report.plot, "confusion-matrix",
                  ax=own)  # fmt: skip
    assert_raises(ValueError, "there are label 'y' with prediction 'p', label", report.plot, "confusion-matrix",
                  prediction="r")  # fmt: skip


def test_all_plots_stand_in_one_figure(pyplot):
    log = LOG | {"s": np.arange(9) / 9, "click": np.arange(9) % 2}
    names = ["auc(label=click)", "accuracy(prediction=p)"]
    report = fm.evaluate(log, names, label="y", score="s", curves=True)
    axes = report.plot()
    assert len(axes) == len(report.pictures) + 1 > 1
    assert axes[-1].get_title() == "Confusion matrix"
    assert_raises(ValueError, "normalize=, prediction= and label= are for 'confusion-matrix'", report.plot, "roc",
                  normalize="true")  # fmt: skip
    assert_raises(ValueError, "known plots are 'roc', .*'confusion-matrix'", report.plot, "rok")


def test_many_classes_stay_readable(pyplot):
    """Numbers fit their cells; names that are too long lose their middle; empty cells stay empty."""
    classes = np.array([f"the rather long name of class {number}" for number in range(30)])
    label = np.repeat(classes, 40)
    guess = np.where(np.arange(1200) % 40 == 39, classes[0], label)
    ax = report_of({"y": np.repeat(label, 300), "p": np.repeat(guess, 300)}).plot("confusion-matrix")
    names = tick_names(ax.xaxis)
    assert len(set(names)) == 30
    assert max(map(len, names)) <= 20
    cells = written_cells(ax)
    assert sorted(set(cells.values())) == ["", "12k", "300"]
    ax.figure.draw_without_rendering()
    spacing = ax.transData.transform([(1, 0)])[0, 0] - ax.transData.transform([(0, 0)])[0, 0]
    assert max(text.get_window_extent().width for text in ax.texts) < spacing
    box = ax.get_tightbbox()
    assert box.x0 >= 0
    assert box.y0 >= 0
    wide = np.arange(100)
    ax = report_of({"y": wide, "p": wide}).plot("confusion-matrix")
    assert not ax.texts
    assert tick_names(ax.xaxis)[:2] == ["0", "2"]


def test_counts_are_short():
    from fastmetrics.reporting.matrix_plots import count_text

    shown = [count_text(count, 30) for count in (0, 7, 0.25, 987, 999.7, 1000, 9949, 9951, 12_345, 999_600, 1.2e6)]
    assert shown == ["", "7", "0.2", "987", "1.0k", "1.0k", "9.9k", "10k", "12k", "1.0M", "1.2M"]
    assert count_text(12_345, 3) == "12,345"


def test_a_report_without_a_matrix_says_so(pyplot):
    report = fm.evaluate({"y": [0, 1], "s": [0.1, 0.2]}, "auc", label="y", score="s")
    assert_raises(ValueError, "no 'confusion-matrix': it is made for metrics of a column of", report.plot,
                  "confusion-matrix")  # fmt: skip
    assert_raises(ValueError, "normalize must be one of None, 'true', 'pred', 'all'; found 'rows'", report_of().plot,
                  "confusion-matrix", normalize="rows")  # fmt: skip
