"""Confusion matrices and tables by class, as plain text; `html_classes` has them as HTML."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fastmetrics._core.class_matrix import ClassMatrix, ClassRow
from fastmetrics.reporting.number_formats import UNDEFINED
from fastmetrics.reporting.text_table import aligned_lines

MAX_MATRIX_CLASSES = 20  # of a matrix that is shown
MAX_SHOWN_CLASSES = 20  # of a table by class: those with the lowest F1
HEADER = ["class", *ClassRow._fields[1:]]


def matrix_lines(matrices: Sequence[ClassMatrix]) -> list[str]:
    """All matrices as lines of text, each with its table by class."""
    lines: list[str] = []
    for matrix in matrices:
        if len(matrix.classes) <= MAX_MATRIX_CLASSES:
            header, rows = matrix_cells(matrix)
            lines += ["", matrix_title(matrix), *aligned_lines([header, *rows], range(len(header)))]
        rows = [class_cells(row) for row in shown_classes(matrix)]
        lines += ["", class_title(matrix), *aligned_lines([HEADER, *rows], range(len(HEADER)))]
    return lines


def matrix_title(matrix: ClassMatrix) -> str:
    return f"confusion matrix: rows are labels ({matrix.label}), columns are predictions ({matrix.prediction})"


def class_title(matrix: ClassMatrix) -> str:
    n = len(matrix.classes)
    which = f"{MAX_SHOWN_CLASSES} of {n} classes with the lowest f1" if n > MAX_SHOWN_CLASSES else "by class"
    return f"{matrix.prediction}, {which}"


def matrix_cells(matrix: ClassMatrix) -> tuple[list[str], list[list[str]]]:
    """The header and the rows of a matrix."""
    classes = [label_text(label) for label in matrix.classes]
    rows = [[name, *map(amount_text, counts)] for name, counts in zip(classes, matrix.counts, strict=True)]
    return [matrix.label, *classes], rows


def shown_classes(matrix: ClassMatrix) -> list[ClassRow]:
    """All classes; of many classes those with the lowest F1."""
    rows = matrix.by_class()
    if len(rows) <= MAX_SHOWN_CLASSES:
        return rows
    return sorted(rows, key=lambda row: (math.isnan(row.f1), row.f1))[:MAX_SHOWN_CLASSES]


def class_cells(row: ClassRow) -> list[str]:
    ratios = (UNDEFINED if math.isnan(ratio) else f"{ratio:.4f}" for ratio in (row.precision, row.recall, row.f1))
    return [label_text(row.label), amount_text(row.rows), amount_text(row.predicted), *ratios]


def amount_text(amount: float) -> str:
    return f"{int(amount):,}" if amount == int(amount) else f"{amount:,.4g}"


def label_text(label: object) -> str:
    text = str(label)
    return text if text and text.isprintable() else repr(text)
