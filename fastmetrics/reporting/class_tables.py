"""Confusion matrices and tables by class or by label."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fastmetrics._core.results.class_matrix import ClassMatrix, ClassRow, LabelTable
from fastmetrics.reporting.number_formats import UNDEFINED
from fastmetrics.reporting.tables import Table, name_and_number_columns

if TYPE_CHECKING:
    from fastmetrics.engine.results.report import Report

MAX_MATRIX_CLASSES = 20  # of a matrix that is shown
MAX_SHOWN_CLASSES = 20  # of a table by class: those with the lowest F1


def class_tables(report: Report) -> list[Table]:
    """The confusion matrices of a report, and its tables by class and by label."""
    tables: list[Table] = []
    for matrix in report.confusion_matrices:
        tables += [matrix_table(matrix)] if len(matrix.classes) <= MAX_MATRIX_CLASSES else []
        tables.append(table_by_class(matrix, "class", "classes"))
    return tables + [table_by_class(table, "label", "labels") for table in report.label_tables]


def matrix_table(matrix: ClassMatrix) -> Table:
    classes = list(map(label_text, matrix.classes))
    rows = [[name, *map(amount_text, counts)] for name, counts in zip(classes, matrix.counts, strict=True)]
    title = f"confusion matrix: rows are labels ({matrix.label}), columns are predictions ({matrix.prediction})"
    return Table(name_and_number_columns([matrix.label], classes), rows, title)


def table_by_class(matrix: ClassMatrix | LabelTable, noun: str, plural: str) -> Table:
    """A row for every class; of many classes only those with the lowest F1."""
    rows = matrix.by_class()
    which = f"by {noun}"
    if len(rows) > MAX_SHOWN_CLASSES:
        which = f"{MAX_SHOWN_CLASSES} of {len(rows)} {plural} with the lowest f1"
        rows = sorted(rows, key=lambda row: (math.isnan(row.f1), row.f1))[:MAX_SHOWN_CLASSES]
    columns = name_and_number_columns([noun], ClassRow._fields[1:])
    return Table(columns, list(map(class_cells, rows)), f"{matrix.prediction}, {which}")


def class_cells(row: ClassRow) -> list[str]:
    ratios = (UNDEFINED if math.isnan(ratio) else f"{ratio:.4f}" for ratio in (row.precision, row.recall, row.f1))
    return [label_text(row.label), amount_text(row.rows), amount_text(row.predicted), *ratios]


def amount_text(amount: float) -> str:
    return f"{int(amount):,}" if amount == int(amount) else f"{amount:,.4g}"


def label_text(label: object) -> str:
    text = str(label)
    return text if text and text.isprintable() else repr(text)
