"""Confusion matrices and tables by class, as plain text; `html_classes` has them as HTML."""

from __future__ import annotations

import math

from fastmetrics._core.results.class_matrix import ClassMatrix, ClassRow, LabelTable
from fastmetrics.engine.results.report import Report
from fastmetrics.reporting.number_formats import UNDEFINED
from fastmetrics.reporting.text_table import aligned_lines

MAX_MATRIX_CLASSES = 20  # of a matrix that is shown
MAX_SHOWN_CLASSES = 20  # of a table by class: those with the lowest F1


def class_tables(report: Report) -> list[tuple[str, list[str], list[list[str]]]]:
    """The title, the header and the rows of each table: confusion matrices, and those by class or by label."""
    tables = []
    matrices: list[ClassMatrix | LabelTable] = [*report.confusion_matrices, *report.label_tables]
    for matrix in matrices:
        if isinstance(matrix, ClassMatrix) and len(matrix.classes) <= MAX_MATRIX_CLASSES:
            tables.append((matrix_title(matrix), *matrix_cells(matrix)))
        rows = matrix.by_class()
        noun = "class" if isinstance(matrix, ClassMatrix) else "label"
        cells = [class_cells(row) for row in worst_classes(rows)]
        tables.append((class_title(matrix, len(rows), noun), [noun, *ClassRow._fields[1:]], cells))
    return tables


def class_lines(report: Report) -> list[str]:
    """The tables of a report as lines of text."""
    lines: list[str] = []
    for title, header, rows in class_tables(report):
        lines += ["", title, *aligned_lines([header, *rows], range(len(header)))]
    return lines


def matrix_title(matrix: ClassMatrix) -> str:
    return f"confusion matrix: rows are labels ({matrix.label}), columns are predictions ({matrix.prediction})"


def class_title(matrix: ClassMatrix | LabelTable, n: int, noun: str) -> str:
    plural = "classes" if noun == "class" else "labels"
    which = f"{MAX_SHOWN_CLASSES} of {n} {plural} with the lowest f1" if n > MAX_SHOWN_CLASSES else f"by {noun}"
    return f"{matrix.prediction}, {which}"


def matrix_cells(matrix: ClassMatrix) -> tuple[list[str], list[list[str]]]:
    """The header and the rows of a matrix."""
    classes = [label_text(label) for label in matrix.classes]
    rows = [[name, *map(amount_text, counts)] for name, counts in zip(classes, matrix.counts, strict=True)]
    return [matrix.label, *classes], rows


def worst_classes(rows: list[ClassRow]) -> list[ClassRow]:
    """All classes; of many classes those with the lowest F1."""
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
