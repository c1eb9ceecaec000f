"""The rows of a truth table, in the form of those of the log: labels and items by group, and no scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fastmetrics._core.columns.key_columns import NumberKeys
from fastmetrics._core.columns.key_types import TEXT, parts_of
from fastmetrics._core.columns.row_blocks import RowBlock
from fastmetrics._core.kinds import ITEM_ROLE
from fastmetrics._core.tables.key_texts import TEXTS, KeyTexts
from fastmetrics.engine.input.batch_validation import ColumnReader, ValidatedBatch
from fastmetrics.engine.input.row_selection import RowSelector
from fastmetrics.engine.plan.column_names import ColumnNames, key_columns
from fastmetrics.engine.plan.plan_parts import PlanPart
from fastmetrics.engine.plan.tasks import PlannedTask

RELEVANT = 1.0  # the grade of an item if the table has none


def part_of_truth(part: PlanPart) -> PlanPart | None:
    """What a part of a plan reads of the truth table; None if it reads nothing."""
    truth = part.names.truth
    if truth is None:
        return None
    labels = () if truth.label is None else (truth.label,)
    return PlanPart(part.plan, ColumnNames(labels, (), truth.group, others=((ITEM_ROLE, truth.item),)))


def truth_tasks(tasks: Sequence[PlannedTask], truth: Any) -> list[PlannedTask]:
    """What tasks read of the truth table, which is given if and only if there are such tasks."""
    parts = [[own for own in map(part_of_truth, task.parts) if own is not None] for task in tasks]
    found = [task._replace(parts=tuple(own), where=None) for task, own in zip(tasks, parts, strict=True) if own]
    if found and truth is None:
        raise ValueError("truth is missing: the question has truth_columns, and its labels are in that table")
    if truth is not None and not found:
        raise ValueError('truth is given, and no metric reads it: name its columns, truth_columns={"label": ...}')
    return found


class TruthReader:
    """Reads the rows of a truth table for a part of a plan, in any order and by any thread.

    The numbers of texts are those of the items of the log: `key_texts`.
    """

    def __init__(self, part: PlanPart, of_truth: PlanPart, on_invalid: str, key_texts: KeyTexts) -> None:
        self.names, self.part = part.names, of_truth
        self.selector = RowSelector([of_truth], on_invalid)
        self.reader = ColumnReader(part.plan, of_truth.names)
        self.reader.key_texts = key_texts

    @classmethod
    def of_part(cls, part: PlanPart, on_invalid: str, key_texts: KeyTexts) -> TruthReader | None:
        """The reader for a part; None if it reads nothing of the table."""
        of_truth = part_of_truth(part)
        return None if of_truth is None else cls(part, of_truth, on_invalid, key_texts)

    def text_keys(self, group_type: np.dtype | None) -> list[str]:
        """The columns of keys that are texts in the log, where the keys of groups are of a type, if that is known."""
        names = self.part.names
        of_groups = [] if group_type is None else parts_of(group_type)
        groups = [name for name, kind in zip(key_columns(names.group), of_groups, strict=False) if kind == TEXT]
        items = [own for _, own in names.others] if self.reader.key_texts.kind == TEXTS else []
        return groups + items

    def read(self, batch: Any, first_row: int) -> ValidatedBatch:
        """The rows of a batch, with the columns that the exchange by group stores of those of the log."""
        found = self.reader.read(self.selector.select(batch, first_row))
        if found.columns is None:
            return found
        unit_keys = found.keys
        if self.names.unit not in (None, self.names.group):
            unit_keys = NumberKeys(np.zeros(found.columns.rows, np.uint64))  # the unit is that of the log's rows
        return found._replace(columns=self.complete(found.columns), unit_keys=unit_keys)

    def complete(self, columns: RowBlock) -> RowBlock:
        """The columns, with NaN in place of the scores of every model."""
        n = columns.rows
        return columns._replace(
            labels=columns.labels or (np.full(n, RELEVANT),),
            scores=(np.full(n, np.nan),) * len(self.names.scores),
            weights=None if self.names.weight is None else np.ones(n),
            slice_codes=(np.zeros(n, np.uint16),) * len(self.names.slice_columns),
        )
