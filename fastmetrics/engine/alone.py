"""Targets whose metrics go without others, for their columns hold no numbers: texts, labels of any type.

Everything that the engine, the command line and Spark have to know of such a target stands here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import label_columns, texts
from fastmetrics._core.rows import RowColumn
from fastmetrics.engine.batches import Source

Locate = Callable[[int], int]


class Alone(NamedTuple):
    """A target: what its columns are called where none are named, and how they are read.

    `open_label` and `open_score` make a column of a pyarrow array without nulls. `find_lacking` tells rows whose label
    is no null but nothing all the same. Of `long` columns, and of those that may hold lists, batches are shorter;
    others may come as dictionaries.
    """

    word: str
    label: str
    score: str
    is_long: bool
    open_label: Callable[[Any, str, Locate], RowColumn]
    open_score: Callable[[Any, str, Locate], RowColumn]
    find_lacking: Callable[[Any], np.ndarray | None]

    def prepare(self, source: Source, columns: tuple[str, ...], by: tuple[str, ...]) -> None:
        """Tell a source what its columns are."""
        source.expect_texts(columns if self.is_long else ())
        source.keep_dictionaries(by if self.is_long else by + columns)


def open_references(column: Any, name: str, locate: Locate) -> RowColumn:
    """One text a row, or several."""
    return texts.as_texts(column, name, lists=True)


def open_hypotheses(column: Any, name: str, locate: Locate) -> RowColumn:
    return texts.as_texts(column, name, lists=False)


def find_no_reference(column: Any) -> np.ndarray | None:
    """Rows whose list of references has none."""
    return texts.without_text(column) if texts.is_text_list(column.type) else None


def find_nothing(column: Any) -> np.ndarray | None:
    return None


ALONE = {
    "text": Alone("text", "reference", "hypothesis", True, open_references, open_hypotheses, find_no_reference),
    "partition": Alone(
        "partitions", "label", "cluster", False, label_columns.as_label_column, label_columns.as_label_column,
        find_nothing,
    ),
}  # fmt: skip
