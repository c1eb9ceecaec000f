"""Targets whose columns are not numeric: texts, and labels of any type.

Their metrics cannot share a plan with metrics of other targets. The engine, the command line and Spark read here all
that they need to know about such a target.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core.columns import label_columns, text_columns
from fastmetrics._core.columns.row_blocks import NonNumericColumn

# From a row of the column to the row of the log, for messages.
Locate = Callable[[int], int]


class NonNumericTarget(NamedTuple):
    """How the columns of a target are called and read.

    Attributes
    ----------
    noun : str
        The columns' content in messages: "metrics of text".
    default_label, default_score : str
        Columns that are read if the caller names none.
    has_long_values : bool
        Values are long texts or lists of texts: batches have fewer rows. Columns of short values may come as
        dictionaries instead.
    read_label, read_score : callable
        From a pyarrow array without nulls to a column.
    find_empty_labels : callable
        Rows whose label is not null but holds nothing, as a mask; None if there can be none.
    """

    noun: str
    default_label: str
    default_score: str
    has_long_values: bool
    read_label: Callable[[Any, str, Locate], NonNumericColumn]
    read_score: Callable[[Any, str, Locate], NonNumericColumn]
    find_empty_labels: Callable[[Any], np.ndarray | None]


NON_NUMERIC_TARGETS = {
    "text": NonNumericTarget(
        "text",
        "reference",
        "hypothesis",
        has_long_values=True,
        # One text per row, or a list of texts.
        read_label=lambda column, name, locate: text_columns.as_texts(column, name, lists=True),
        read_score=lambda column, name, locate: text_columns.as_texts(column, name, lists=False),
        find_empty_labels=text_columns.rows_without_text,
    ),
    "partition": NonNumericTarget(
        "partitions",
        "label",
        "cluster",
        has_long_values=False,
        read_label=label_columns.as_label_column,
        read_score=label_columns.as_label_column,
        find_empty_labels=lambda column: None,
    ),
}
