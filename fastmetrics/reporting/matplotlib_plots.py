"""Plots on matplotlib's axes. Text and background follow the user's style; the colors of models are ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from fastmetrics._core.optional_imports import import_extra
from fastmetrics._core.plot import Bars, Line, Plot
from fastmetrics._core.results.class_matrix import ClassMatrix
from fastmetrics.reporting import matrix_plots
from fastmetrics.reporting.plot_layout import PlotLayout, lay_out
from fastmetrics.reporting.report_notes import names_in_plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fastmetrics.engine.results.report import Report

# The colors of Okabe and Ito (2008) that are visible on white and on black, ordered so that neighbors differ most.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
STYLES = ("-", "--", "-.", ":")
GRAY = "#808080"
MARGIN = 0.02  # of an axis, around its range
HEADROOM = 1.2
MAX_ENTRIES_INSIDE = 6  # of a legend
LEGEND_WIDTH = 3.2  # inches, beside the axes
COLUMNS = 3
WIDTH, HEIGHT = 5.2, 4.4  # inches, of one plot


def plot_report(
    report: Report,
    name: str | None,
    ax: Axes | None,
    normalize: str | None = None,
    prediction: str | None = None,
    label: str | None = None,
) -> Any:
    """Draw a plot of the report on `ax` or in a new figure; without a name all plots, in a new figure."""
    plots = report.pictures
    if name is None and ax is not None:
        raise ValueError("ax= is for one plot: name it, plot(name, ax=...)")
    if name in (None, matrix_plots.NAME):
        matrix_plots.check_normalize(normalize)
        matrices = matrix_plots.select_matrices(report.confusion_matrices, prediction, label)
    elif (normalize, prediction, label) != (None, None, None):
        raise ValueError(f"normalize=, prediction= and label= are for {matrix_plots.NAME!r}; found plot {name!r}")
    if name == matrix_plots.NAME:
        return plot_matrices(matrices, ax, normalize)
    if name not in plots and (name is not None or not (plots or matrices)):
        raise_missing_plot(name, plots, report)
    models = names_in_plots(report.results)
    if name is None:
        return draw_on_grid(list(plots.values()), models, matrices, normalize)
    return draw_on_axes(plots[name], ax, models)


def plot_matrices(matrices: Sequence[ClassMatrix], ax: Axes | None, normalize: str | None) -> Any:
    """Draw one confusion matrix on `ax` or in a new figure, or several in a new figure."""
    if not matrices:
        raise ValueError(
            f"this report has no {matrix_plots.NAME!r}: it is made for metrics of a column of predicted classes, "
            "prediction=..., if there are at most 256 classes"
        )
    if len(matrices) > 1 and ax is not None:
        columns = ", ".join(f"label={matrix.label!r}, prediction={matrix.prediction!r}" for matrix in matrices)
        raise ValueError(f"ax= is for one confusion matrix, and there are {len(matrices)}: choose one of {columns}")
    if len(matrices) > 1:
        return draw_on_grid((), (), matrices, normalize)
    if ax is None:
        side = matrix_plots.figure_side(matrices[0])
        ax = load_pyplot().subplots(figsize=(1.15 * side, side), layout="constrained")[1]
    return matrix_plots.draw_matrix(matrices[0], ax, normalize)


def raise_missing_plot(name: Any, plots: Mapping[str, Plot], report: Report) -> NoReturn:
    """Raise the error for a plot that the report does not have. It tells what to type instead."""
    missing = report.missing_pictures
    own = [*plots, matrix_plots.NAME] if report.confusion_matrices else list(plots)
    if not own and not missing:
        raise ValueError(
            "this report has no plots: request them with evaluate(..., curves=True); reports of accumulators and of "
            "Spark have none"
        )
    present = ", ".join(map(repr, own)) or "none"
    if name in missing:
        raise ValueError(f"no plot {name!r}: {missing[name]}; this report has {present}")
    known = ", ".join(map(repr, [*own, *missing]))
    raise ValueError(f"no plot is called {name!r}; known plots are {known}, and this report has {present}")


def draw_on_axes(plot: Plot, ax: Axes | None = None, models: Sequence[str] = ()) -> Axes:
    """The plot on `ax`, or in a new figure. The position of a model in `models` gives its color."""
    if ax is None:
        size = WIDTH + 1 + LEGEND_WIDTH * has_legend_beside(plot), HEIGHT + 0.6
        ax = load_pyplot().subplots(figsize=size, layout="constrained")[1]
    layout = lay_out(plot, models)
    for position, line in layout.lines:
        draw_line(ax, line, model_style(position))
    for number, (position, bars) in enumerate(layout.bars, 1):
        draw_bars(ax, bars, number / (len(plot.bars) + 1), model_style(position))
    if layout.plot.reference is not None:
        line = layout.plot.reference
        ax.plot(line.x, line.y, color=GRAY, linewidth=1, linestyle=(0, (4, 3)), label=line.name, zorder=1)
    ax.set_title(plot.title)
    ax.set_xlabel(plot.x_label)
    ax.set_ylabel(plot.y_label)
    ax.grid(True, color=GRAY, alpha=0.25, linewidth=0.6)
    ax.set_axisbelow(True)
    set_limits(ax, layout)
    set_legend(ax, plot)
    return ax


def count_entries(plot: Plot) -> int:
    return len(plot.lines) + len(plot.bars) + (plot.reference is not None)


def has_legend_beside(plot: Plot) -> bool:
    return count_entries(plot) > MAX_ENTRIES_INSIDE


def set_legend(ax: Axes, plot: Plot) -> None:
    """Add the legend, beside the axes if it would hide too much of them."""
    if has_legend_beside(plot):
        ax.legend(fontsize="small", loc="upper left", bbox_to_anchor=(1.01, 1), borderaxespad=0)
    elif count_entries(plot):
        # The line of a useful model is below the diagonal of a DET plot.
        location: Any = "upper right" if plot.scale == "normal" else "best"
        ax.legend(fontsize="small", framealpha=0.75, loc=location)


def draw_on_grid(
    plots: Sequence[Plot],
    models: Sequence[str] = (),
    matrices: Sequence[ClassMatrix] = (),
    normalize: str | None = None,
) -> np.ndarray:
    """All plots and confusion matrices in a new figure; returns the array of their axes."""
    beside = any(map(has_legend_beside, plots))
    n_plots = len(plots) + len(matrices)
    columns = min(COLUMNS - beside, n_plots)
    rows = -(-n_plots // columns)
    sides = [matrix_plots.figure_side(matrix) for matrix in matrices]
    width, height = max([WIDTH + LEGEND_WIDTH * beside, *(1.15 * side for side in sides)]), max([HEIGHT, *sides])
    figure = load_pyplot().figure(figsize=(width * columns, height * rows), layout="constrained")
    axes: np.ndarray = np.empty(n_plots, object)
    axes[:] = [figure.add_subplot(rows, columns, number + 1) for number in range(n_plots)]
    for plot, ax in zip(plots, axes, strict=False):
        draw_on_axes(plot, ax, models)
    for matrix, ax in zip(matrices, axes[len(plots) :], strict=True):
        matrix_plots.draw_matrix(matrix, ax, normalize)
    return axes


def load_pyplot() -> Any:
    return import_extra("matplotlib.pyplot", "a plot")


def model_style(position: int) -> dict[str, Any]:
    """Color and line style of a model: models that share a color differ in their line style."""
    return {"color": COLORS[position % len(COLORS)], "linestyle": STYLES[position // len(COLORS) % len(STYLES)]}


def legend_name(series: Line | Bars) -> str:
    # matplotlib leaves names that begin with an underscore out of legends.
    name = f"\u200b{series.name}" if series.name.startswith("_") else series.name
    return (f"{name} ({series.note})" if series.note else name).replace("$", r"\$")


def draw_line(ax: Axes, line: Line, style: dict[str, Any]) -> None:
    marker: dict[str, Any] = {"marker": "o", "markersize": 4} if line.markers else {}
    if line.low is not None and line.high is not None:
        if line.markers:
            ax.vlines(line.x, line.low, line.high, color=style["color"], linewidth=1.2, alpha=0.7)
        else:
            ax.fill_between(line.x, line.low, line.high, color=style["color"], alpha=0.2, linewidth=0)
    ax.plot(line.x, line.y, linewidth=1.6, label=legend_name(line), zorder=3, **marker, **style)


def draw_bars(ax: Axes, bars: Bars, offset: float, style: dict[str, Any]) -> None:
    ax.stairs(bars.heights, bars.edges, fill=True, color=style["color"], alpha=0.18, zorder=2)
    ax.stairs(bars.heights, bars.edges, linewidth=1.5, label=legend_name(bars), zorder=3, **style)
    if bars.low is not None and bars.high is not None:
        # The whiskers of several models stand side by side; otherwise they would hide each other.
        x = bars.edges[:-1] + np.diff(bars.edges) * offset
        ax.vlines(x, bars.low, bars.high, color=style["color"], linewidth=1.2, zorder=4)


def set_limits(ax: Axes, layout: PlotLayout) -> None:
    """The ranges of the axes with a margin; on a scale that is not linear also the ticks."""
    plot = layout.plot
    for axis, set_span in ((layout.x, ax.set_xlim), (layout.y, ax.set_ylim)):
        margin = MARGIN * (axis.high - axis.low)
        set_span(axis.low - margin, axis.high + margin)
    if plot.bars:
        # Leave space for the legend above the bars.
        tops = [(bars.heights if bars.high is None else bars.high).max() for bars in plot.bars]
        ax.set_ylim(0, HEADROOM * max(tops))
    if plot.scale != "linear":
        for axis, set_ticks in ((layout.x, ax.set_xticks), (layout.y, ax.set_yticks)):
            set_ticks([place for place, _ in axis.ticks], [text for _, text in axis.ticks])
    elif plot.x_range == plot.y_range is not None:
        ax.set_aspect("equal", adjustable="box")
