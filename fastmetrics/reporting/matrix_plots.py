"""Confusion matrices as heat maps on matplotlib's axes: labels from top to bottom, predictions from left to right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.results.class_matrix import ClassMatrix
from fastmetrics.reporting.class_tables import amount_text, label_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME = "confusion-matrix"
NORMALIZE = (None, "true", "pred", "all")
UNITS = {"true": ": shares of labels", "pred": ": shares of predictions", "all": ": shares of all rows"}
MAX_WRITTEN_CLASSES = 32  # cells of more classes have a color and no number
MAX_NAMED_CLASSES = 64  # of more classes, some names are left out
MAX_EXACT_CLASSES = 10  # of more classes, counts are rounded
MAX_NAME = 20  # characters of a class on an axis
MAX_SIDE = 13.0  # inches
CELL_SIDE = 0.42
DARK = 0.55  # from this position on the color scale on, numbers are white
COUNT_SCALE = 0.5  # colors of counts follow their square root: rare classes stay visible
MAX_LETTERS = 48  # of all names below the axis, side by side
ONE_DIGIT = 9.95  # smaller numbers have one digit before the point
THOUSAND = 1000


def select_matrices(
    matrices: Sequence[ClassMatrix], prediction: str | None, label: str | None
) -> list[ClassMatrix]:
    """The matrices of a column of predictions and of a label column."""
    found = [
        matrix
        for matrix in matrices
        if prediction in (None, matrix.prediction) and label in (None, matrix.label)
    ]
    if matrices and not found:
        known = ", ".join(f"label {matrix.label!r} with prediction {matrix.prediction!r}" for matrix in matrices)
        raise ValueError(f"no confusion matrix is of label={label!r} and prediction={prediction!r}; there are {known}")
    return found


def check_normalize(normalize: Any) -> None:
    if normalize not in NORMALIZE:
        raise ValueError(f"normalize must be one of {', '.join(map(repr, NORMALIZE))}; found {normalize!r}")


def figure_side(matrix: ClassMatrix) -> float:
    """The width and height in inches at which the cells are readable."""
    return min(MAX_SIDE, max(4.4, 1.6 + CELL_SIDE * len(matrix.classes)))


def draw_matrix(matrix: ClassMatrix, ax: Axes, normalize: str | None) -> Axes:
    """Draw a confusion matrix; cells show rows (or weights), or shares."""
    from matplotlib.colors import Normalize, PowerNorm

    values = shown_values(matrix, normalize)
    n = len(matrix.classes)
    scale = Normalize(0, 1) if normalize else PowerNorm(COUNT_SCALE, 0, values.max() or 1)
    image = ax.imshow(values, cmap="Blues", norm=scale, interpolation="nearest")
    if n <= MAX_WRITTEN_CLASSES:
        write_numbers(ax, values, normalize, scale)
    step = -(-n // MAX_NAMED_CLASSES)
    names = [axis_name(label) for label in matrix.classes[::step]]
    size = min(10.0, max(7.0, 260 / n))
    is_wide = max(map(len, names)) * len(names) > MAX_LETTERS
    ax.set_xticks(range(0, n, step), names, fontsize=size, rotation=90 if is_wide else 0)
    ax.set_yticks(range(0, n, step), names, fontsize=size)
    ax.set_xlabel(f"prediction ({matrix.prediction})")
    ax.set_ylabel(f"label ({matrix.label})")
    ax.set_title(f"Confusion matrix{UNITS.get(normalize or '', '')}")
    ax.grid(False)
    ax.figure.colorbar(image, ax=ax, shrink=0.9, aspect=30, pad=0.03)
    return ax


def shown_values(matrix: ClassMatrix, normalize: str | None) -> np.ndarray:
    """The numbers of the cells. Shares of a class without rows are 0, as in `confusion_matrix`."""
    counts = np.array(matrix.counts, np.float64)
    if normalize is None:
        return counts
    totals = {"true": counts.sum(axis=1, keepdims=True), "pred": counts.sum(axis=0, keepdims=True)}
    total = totals.get(normalize, counts.sum())
    return np.asarray(np.divide(counts, total, out=np.zeros_like(counts), where=total != 0))


def write_numbers(ax: Axes, values: np.ndarray, normalize: str | None, scale: Any) -> None:
    n = values.shape[0]
    size = min(11.0, 240 / n)
    write = share_text if normalize else count_text
    for row, column in np.ndindex(values.shape):
        value = float(values[row, column])
        color = "white" if scale(value) > DARK else "black"
        ax.text(column, row, write(value, n), ha="center", va="center", fontsize=size, color=color)


def share_text(share: float, n: int) -> str:
    """A share with two digits; in narrow cells without the zero before the point, and nothing for no rows."""
    if n <= MAX_EXACT_CLASSES:
        return f"{share:.2f}"
    return "" if share == 0 else f"{share:.2f}".removeprefix("0")


def count_text(count: float, n: int) -> str:
    """A count; in narrow cells of at most four characters (987, 9.9k, 12k, 1.2M), and nothing for no rows."""
    if n <= MAX_EXACT_CLASSES:
        return amount_text(count)
    if count == 0:
        return ""
    for unit in ("", "k", "M", "G", "T"):
        is_short = count < ONE_DIGIT and (unit != "" or count != int(count))
        text = f"{count:.1f}" if is_short else f"{count:.0f}"
        if float(text) < THOUSAND:
            return text + unit
        count /= THOUSAND
    return f"{count:.0e}"


def axis_name(label: object) -> str:
    """The name of a class. Of a long name the middle is left out, as names often differ at an end."""
    text = label_text(label)
    if len(text) > MAX_NAME:
        text = f"{text[: MAX_NAME // 2 - 1]}…{text[-MAX_NAME // 2 :]}"
    return text.replace("$", r"\$")
