"""How many rows a state has, how many were left out and why, and what kinds of labels they have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastmetrics._core.columns.validation import LabelError, check_label_kinds
from fastmetrics._core.kinds import LABEL_ROLE, Binary
from fastmetrics.engine.input.batch_validation import ValidatedBatch, mixes_zero_and_minus_one
from fastmetrics.engine.plan.column_names import ColumnNames, describe_column, format_key
from fastmetrics.engine.plan.metric_plan import Plan

MAX_ROWS = (1 << 63) - 1  # counts are integers of 64 bits
MIXED_LABELS = "labels must be 0 and 1, or -1 and +1, not a mix"


class RowCounts:
    """The counts of rows of a part of a plan, and the kinds of their labels.

    Attributes
    ----------
    rows, rows_kept, filtered, dropped : int, int, int and dict
        Rows read; rows that are evaluated; rows that the filter left out; dropped rows by reason.
    class_columns : list of (role, column)
        The label columns, and other columns of two classes.
    label_kinds_seen, minus_one_rows : list
        For every one of these, SAW_ bits and the first row with label -1.
    n_classes : int or None
        How many probabilities every row has, if metrics read probabilities of classes and a row was read.
    sum_distances, differing : tuple of float, and tuple of bool
        Those of `ValidatedBatch`.
    truth_rows, truth_dropped : int and int
        Rows of the truth table that were kept, and dropped.
    truth_types : dict
        The Arrow types of its keys of groups, by the columns of the log; empty before the first row.
    """

    def __init__(self, plan: Plan, names: ColumnNames) -> None:
        self.names = names
        self.rows = 0
        self.rows_kept = 0
        self.filtered = 0
        self.dropped: dict[str, int] = {}
        self.class_columns = class_columns(plan, names)
        self.label_kinds_seen = [0] * len(self.class_columns)
        self.minus_one_rows: list[int | None] = [None] * len(self.class_columns)
        self.n_classes: int | None = None
        self.sum_distances: tuple[float, ...] = ()
        self.differing: tuple[bool, ...] = ()
        self.truth_rows = 0
        self.truth_dropped = 0
        self.truth_types: dict[str, str] = {}

    @property
    def rows_stored(self) -> int:
        """The rows that the exchange by group stores: those of the truth table are among them."""
        return self.rows_kept + self.truth_rows

    def copy(self) -> RowCounts:
        """Counts that change apart from these."""
        new = object.__new__(RowCounts)
        new.__dict__.update(self.__dict__)
        new.dropped = dict(self.dropped)
        new.label_kinds_seen, new.minus_one_rows = list(self.label_kinds_seen), list(self.minus_one_rows)
        return new

    def record(self, batch: ValidatedBatch) -> None:
        """Add the counts of a batch. Only one thread may call this."""
        self.record_classes(batch.n_classes)
        if found := batch.sum_distances:  # the greatest distance of every model
            self.sum_distances = tuple(map(max, self.sum_distances or found, found))
        if found := batch.differing:
            self.differing = tuple(map(max, self.differing or found, found))
        self.rows += batch.rows_read
        self.filtered += batch.filtered
        self.rows_kept += batch.rows_read - batch.filtered - sum(batch.dropped.values())
        for reason, count in batch.dropped.items():
            self.dropped[reason] = self.dropped.get(reason, 0) + count
        for number, (seen, row) in enumerate(zip(batch.label_kinds_seen, batch.minus_one_rows, strict=True)):
            self.label_kinds_seen[number] |= seen
            if row is not None:
                earlier = self.minus_one_rows[number]
                self.minus_one_rows[number] = row if earlier is None else min(row, earlier)

    def record_classes(self, n_classes: int | None) -> None:
        """Check that all rows have equally many probabilities."""
        if n_classes is None:
            return
        if self.n_classes not in (None, n_classes):
            title = describe_column(self.names.model_role, self.names.scores[0])
            raise ValueError(
                f"{title} has rows of {self.n_classes} entries and rows of {n_classes} entries: every row has one for "
                "each class"
            )
        self.n_classes = n_classes

    def record_truth(self, batch: ValidatedBatch) -> None:
        """Add the counts of a batch of the truth table. Only one thread may call this."""
        dropped = sum(batch.dropped.values())
        self.truth_rows += batch.rows_read - dropped
        self.truth_dropped += dropped

    def truth_left_out(self, used: int) -> dict[str, int]:
        """The rows of truth that are in no list, for the coverage: dropped ones, and those of groups without rows."""
        found = {"truth_rows_dropped": self.truth_dropped, "truth_rows_left_out": self.truth_rows - used}
        return {name: rows for name, rows in found.items() if rows}

    def record_filtered(self, rows: int) -> None:
        """Count rows that a filter left out before they were read."""
        self.rows += rows
        self.filtered += rows

    def merge(self, other: RowCounts) -> None:
        """Add other counts."""
        self.record(ValidatedBatch(
            None, None, other.rows, dict(other.dropped), tuple(other.label_kinds_seen), tuple(other.minus_one_rows),
            n_classes=other.n_classes, filtered=other.filtered, sum_distances=other.sum_distances,
            differing=other.differing,
        ))  # fmt: skip
        self.truth_rows += other.truth_rows
        self.truth_dropped += other.truth_dropped
        self.truth_types = self.truth_types or other.truth_types

    def noted_sums(self) -> dict[str, float]:
        """The distances that are noted, by the names of models."""
        return {format_key(name): own for name, own in zip(self.names.scores, self.sum_distances, strict=False) if own}

    def is_equal(self, model: int) -> bool:
        """Does a model have the same values as the first one in all rows?"""
        return bool(self.differing) and not self.differing[model]

    def check_labels(self) -> None:
        """Check, after all rows, that labels are 0 and 1, or -1 and +1, but not a mix."""
        for (role, name), seen, row in zip(
            self.class_columns, self.label_kinds_seen, self.minus_one_rows, strict=True
        ):
            check_label_kinds(seen, locate_minus_one(row or 0), describe_column(role, name))

    def check_batch(self, batch: ValidatedBatch, where_earlier: str) -> None:
        """Check that the labels of a batch are no mix with those of the rows that were counted before."""
        for number, (seen, earlier) in enumerate(zip(batch.label_kinds_seen, self.label_kinds_seen, strict=False)):
            if mixes_zero_and_minus_one(seen) or not mixes_zero_and_minus_one(seen | earlier):
                continue
            role, name = self.class_columns[number]
            title, row = describe_column(role, name), batch.minus_one_rows[number]
            if row is not None:
                raise LabelError(f"{title} has -1 at row {row} and 0 {where_earlier}: {MIXED_LABELS}")
            zero = find_first_zero(batch, number, role)
            where = "" if zero is None else f" at row {zero}"
            raise ValueError(f"{title} has 0{where} and -1 {where_earlier}: {MIXED_LABELS}")

    def check_mergeable(self, other: RowCounts) -> None:
        """The kinds of labels, and the numbers of classes and of rows, have to fit each other."""
        check_row_count(self.rows + other.rows)
        if len({self.n_classes, other.n_classes} - {None}) > 1:
            raise ValueError(
                f"states of different numbers of classes do not merge: {self.n_classes} here, {other.n_classes} there"
            )
        kinds = zip(self.class_columns, self.label_kinds_seen, other.label_kinds_seen, strict=True)
        for (role, name), here, there in kinds:
            if mixes_zero_and_minus_one(here | there):
                raise ValueError(
                    f"{describe_column(role, name)} has -1 in one of the states and 0 in the other: {MIXED_LABELS}"
                )


def check_row_count(rows: int) -> None:
    if rows > MAX_ROWS:
        raise OverflowError(f"{rows:,} rows are more than a state counts: at most {MAX_ROWS:,}")


def class_columns(plan: Plan, names: ColumnNames) -> list[tuple[str, str]]:
    """Role and name of the label columns, and of other columns of two classes."""
    others = [(role, name) for role, name in names.others if isinstance(plan.kinds.get(role), Binary)]
    return [*((LABEL_ROLE, name) for name in names.labels), *others]


def locate_minus_one(row: int) -> Callable[[str], tuple[int, Any]]:
    """For check_label_kinds, which asks where a label is: the first -1 is at `row`."""
    return lambda what: (row, -1)


def find_first_zero(batch: ValidatedBatch, number: int, role: str) -> int | None:
    """The first row with 0 in a column of two classes of a batch without -1; None if the row was left out later."""
    columns = batch.columns
    if columns is None:
        return None
    classes = columns.labels[number] if role == LABEL_ROLE else columns.others[role]
    if classes.all():
        return None
    row = int(classes.argmin())
    return columns.first_row + (row if columns.row_numbers is None else int(columns.row_numbers[row]))
