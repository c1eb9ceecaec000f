"""Record batches to blocks of checked rows: nulls, NaN, labels, weights, keys, and the policy for invalid rows.

Everything is judged batch by batch, but named by the row's place in the whole log.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import inputs, keys
from fastmetrics._core.rows import Columns, View
from fastmetrics._kernels import columns as kernels
from fastmetrics.engine.alone import Alone
from fastmetrics.engine.plan import Targets, first_of
from fastmetrics.engine.slices import SliceNumbers

POLICIES = ("raise", "drop")
ZERO_WEIGHT = "zero weight"
NO_TEXT = "no reference"
ROW_UNITS = "row"  # what is resampled where no column says it


class ColumnNames(NamedTuple):
    """Which columns of the log play which part."""

    labels: tuple[str, ...]
    scores: tuple[str, ...]
    group: str | None = None
    weight: str | None = None
    by: tuple[str, ...] = ()
    unit: str | None = None

    def parts(self) -> list[tuple[str, str]]:
        """(role, column) of every part; a column may play several."""
        parts = [("label", name) for name in self.labels] + [("score", name) for name in self.scores]
        parts += [(role, name) for role, name in (("group", self.group), ("weight", self.weight)) if name is not None]
        if self.unit not in (None, ROW_UNITS, self.group):
            parts.append(("unit", self.unit))
        return parts + [("by", name) for name in self.by]

    def wanted(self) -> list[str]:
        """The columns to read, each once."""
        return list(dict.fromkeys(name for _, name in self.parts()))

    def roles(self) -> dict[str, str | tuple[str, ...]]:
        """Role -> column, or columns where there are several."""
        several = {"label": self.labels, "score": self.scores, "by": self.by}
        named: dict[str, str | tuple[str, ...]] = {
            role: names[0] if len(names) == 1 else names for role, names in several.items() if names
        }
        single = (("group", self.group), ("weight", self.weight), ("unit", self.unit))
        named |= {role: name for role, name in single if name is not None}
        order = ("label", "score", "group", "weight", "by", "unit")
        return {role: named[role] for role in order if role in named}

    def views(self) -> list[View]:
        """Every score against every label."""
        return [View(label, score) for label in range(len(self.labels)) for score in range(len(self.scores))]


class Block(NamedTuple):
    """A batch, checked and without its invalid rows (None: nothing is left)."""

    columns: Columns | None
    keys: keys.Keys | None
    read: int
    dropped: dict[str, int]
    seen: tuple[int, ...] = ()
    minus_one_rows: tuple[int | None, ...] = ()
    unit_keys: keys.Keys | None = None  # of what is resampled


class Reader:
    """Turns batches into blocks. Batches may be read in any order, by any thread; only slices are numbered as met."""

    def __init__(self, names: ColumnNames, on_invalid: str, targets: Targets) -> None:
        inputs.check_option(on_invalid, "on_invalid", POLICIES)
        self.names = names
        self.targets = targets
        self.alone = targets.alone
        self.greatest_grade = targets.greatest_grade
        self.drop = on_invalid == "drop"
        self.slices = SliceNumbers(names.by)

    def read(self, batch: Any, first_row: int) -> Block:
        """The rows of a pyarrow RecordBatch that begins at `first_row` of the log."""
        coded = ("by",) if self.alone is None else ("by", "label", "score")
        parts = {
            (role, name): plain(batch.column(batch.schema.get_field_index(name)), keep_dictionary=role in coded)
            for role, name in self.names.parts()
        }
        rows = batch.num_rows
        valid, dropped = self.find_valid(parts, rows, first_row)
        if valid is not None:
            # Arrow arrays of all columns lose the same rows; what is left has no nulls.
            import pyarrow

            mask = pyarrow.array(valid)
            parts = {part: column.filter(mask) for part, column in parts.items()}
        kept = int(rows - sum(dropped.values()))
        if kept == 0:
            return Block(None, None, rows, dropped)
        columns = Columns(
            (),
            (),
            first_row=first_row,
            names=tuple(title("score", name) for name in self.names.scores),
            places=None if valid is None else np.flatnonzero(valid),
            label_names=tuple(title("label", name) for name in self.names.labels),
        )
        if self.alone is not None:
            columns, seen, minus_one_rows = self.read_pairs(self.alone, parts, columns, first_row, valid)
        else:
            columns, seen, minus_one_rows = self.read_numbers(parts, columns, first_row, valid)
        if self.names.by:
            by = [parts["by", name] for name in self.names.by]
            columns = columns._replace(slices=self.slices.number(by, lambda row: place(row, first_row, valid)))
        group = self.names.group
        key_column = keys.as_keys(parts["group", group], title("group", group)) if group is not None else None
        unit_keys = self.unit_keys(parts, key_column, first_row, kept if valid is None else valid)
        if self.names.weight is not None:
            weights = self.weights(parts["weight", self.names.weight], first_row, valid)
            present = weights > 0
            columns = columns._replace(weights=weights)
            if not present.all():
                dropped[ZERO_WEIGHT] = int(kept - np.count_nonzero(present))
                columns = select_rows(columns, present)
                is_group = unit_keys is key_column
                key_column = None if key_column is None else keys.select(key_column, present)
                unit_keys = None if unit_keys is None else keys.select(unit_keys, present)
                unit_keys = key_column if is_group else unit_keys
        if columns.rows == 0:
            return Block(None, None, rows, dropped, seen, minus_one_rows)
        return Block(columns, key_column, rows, dropped, seen, minus_one_rows, unit_keys)

    def unit_keys(
        self, parts: dict[tuple[str, str], Any], group_keys: keys.Keys | None, first_row: int, kept: int | np.ndarray
    ) -> keys.Keys | None:
        """The keys of what is resampled; of rows, their places in the log."""
        unit = self.names.unit
        if unit is None or unit == self.names.group:
            return group_keys if unit is not None else None
        if unit != ROW_UNITS:
            return keys.as_keys(as_integers(parts["unit", unit]), title("unit", unit))
        places = np.arange(kept, dtype=np.int64) if isinstance(kept, int) else np.flatnonzero(kept).astype(np.int64)
        return keys.IntegerKeys(places + first_row)

    def read_pairs(
        self,
        alone: Alone,
        parts: dict[tuple[str, str], Any],
        columns: Columns,
        first_row: int,
        valid: np.ndarray | None,
    ) -> tuple[Columns, tuple[int, ...], tuple[int | None, ...]]:
        """Labels and scores that are no numbers; of such labels there is nothing to note."""
        names = self.names

        def locate(row: int) -> int:
            return place(row, first_row, valid)

        columns = columns._replace(
            label_columns=tuple(
                alone.open_label(parts["label", name], title("label", name), locate) for name in names.labels
            ),
            score_columns=tuple(
                alone.open_score(parts["score", name], title("score", name), locate) for name in names.scores
            ),
        )
        return columns, (0,) * len(names.labels), (None,) * len(names.labels)

    def read_numbers(
        self, parts: dict[tuple[str, str], Any], columns: Columns, first_row: int, valid: np.ndarray | None
    ) -> tuple[Columns, tuple[int, ...], tuple[int | None, ...]]:
        """Labels and scores; which kinds of labels were seen, and the first row with -1."""
        names = self.names
        decoded = [self.labels(name, parts["label", name], first_row, valid) for name in names.labels]
        labels, seen, minus_one_rows = (tuple(own) for own in zip(*decoded, strict=True))
        scores = tuple(
            inputs.as_scores(parts["score", name], title("score", name), lambda row: place(row, first_row, valid))
            for name in names.scores
        )
        eps = tuple(type_eps(parts["score", name]) for name in names.scores)
        return columns._replace(labels=labels, scores=scores, eps=eps), seen, minus_one_rows

    def find_valid(
        self, parts: dict[tuple[str, str], Any], rows: int, first_row: int
    ) -> tuple[np.ndarray | None, dict[str, int]]:
        """Which rows have neither null nor NaN (None: all), and how many go for which reason (the first applies)."""
        valid: np.ndarray | None = None
        dropped: dict[str, int] = {}
        for role, name, reason, missing in self.missing_parts(parts):
            if not self.drop:
                row = int(np.flatnonzero(missing)[0])
                what = "no text" if reason == NO_TEXT else "NaN" if parts[role, name][row].is_valid else "a null"
                raise ValueError(
                    f"{title(role, name)} has {what} at row {first_row + row}; on_invalid='drop' leaves such rows out"
                )
            valid = np.ones(rows, bool) if valid is None else valid
            dropped[reason] = dropped.get(reason, 0) + int(np.count_nonzero(missing & valid))
            valid &= ~missing
        return valid, {reason: count for reason, count in dropped.items() if count}

    def missing_parts(self, parts: dict[tuple[str, str], Any]) -> Iterator[tuple[str, str, str, np.ndarray]]:
        """Role, column, reason and rows of what is missing."""
        for (role, name), column in parts.items():
            missing = find_missing(column)
            if missing is not None:
                yield role, name, f"null or NaN {role}", missing
            lacking = self.alone.find_lacking(column) if self.alone is not None and role == "label" else None
            if lacking is not None:
                yield role, name, NO_TEXT, lacking

    def labels(
        self, name: str, column: Any, first_row: int, valid: np.ndarray | None
    ) -> tuple[np.ndarray, int, int | None]:
        """Labels as uint8, which kinds were seen, and the first row with -1; numbers where no metric needs classes.

        Grades are float64 whatever they came as: blocks of them meet, from any batch, file and state.
        """
        own = title("label", name)
        if not self.targets.binary:
            numbers = inputs.as_numbers(column, own, lambda row: place(row, first_row, valid))
            if self.targets.graded:
                self.check_grades(numbers, own, first_row, valid)
            return numbers.astype(np.float64, copy=False) if self.targets.graded else numbers, 0, None
        array = inputs.as_labels(column, own, lambda row: place(row, first_row, valid))
        out = np.empty(array.shape[0], np.uint8)
        seen = np.zeros(2, np.int64)
        kernels.decode_labels(array, 0, array.shape[0], out, seen)

        def find(what: str) -> tuple[int, Any]:
            row, value = inputs.find_label(array, what)
            return place(row, first_row, valid), value

        if self.targets.shared:
            inputs.check_common_labels(int(seen[0]), find, own, self.targets.why_common())
        inputs.check_seen_labels(int(seen[0]), find, own)
        if self.targets.graded:
            self.check_grades(out, own, first_row, valid)
        minus_one_row = find("minus one")[0] if seen[0] & kernels.SAW_MINUS_ONE else None
        return out, int(seen[0]), minus_one_row

    def check_grades(self, grades: np.ndarray, name: str, first_row: int, valid: np.ndarray | None) -> None:
        """Labels that are grades: what the metrics of the plan can take."""
        refusing = first_of(self.targets.refusing_negative)
        inputs.check_grades(grades, name, lambda row: place(row, first_row, valid), refusing, *self.greatest_grade)

    def weights(self, column: Any, first_row: int, valid: np.ndarray | None) -> np.ndarray:
        name = title("weight", self.names.weight or "")
        array = inputs.as_floats(column, name, lambda row: place(row, first_row, valid))
        array = array.astype(np.float64, copy=False)
        found = np.zeros(2, np.int64)
        kernels.check_weights(array, 0, array.shape[0], found)
        if found[0]:
            row = inputs.find_bad_weight(array)
            where = place(row, first_row, valid)
            raise ValueError(f"{name} has {array[row]} at row {where}: {inputs.WEIGHTS_WANTED}")
        return array


def title(role: str, name: str) -> str:
    return f"{role} column {name!r}"


def select_rows(columns: Columns, present: np.ndarray) -> Columns:
    """Some rows only; the places of those that remain are remembered."""
    places = np.arange(present.shape[0]) if columns.places is None else columns.places
    return columns._replace(
        labels=tuple(own[present] for own in columns.labels),
        scores=tuple(own[present] for own in columns.scores),
        label_columns=tuple(own[present] for own in columns.label_columns),
        score_columns=tuple(own[present] for own in columns.score_columns),
        weights=None if columns.weights is None else columns.weights[present],
        slices=None if columns.slices is None else columns.slices[present],
        places=places[present],
    )


def plain(column: Any, keep_dictionary: bool = False) -> Any:
    """A column that can be filtered: dictionaries as values (only they tell all nulls), views of text as text."""
    import pyarrow

    if pyarrow.types.is_dictionary(column.type):
        may_miss = column.dictionary.null_count or pyarrow.types.is_floating(column.type.value_type)
        if keep_dictionary and not may_miss:
            return column
        return keys.decode_dictionary(column)
    return column.cast(pyarrow.large_string()) if pyarrow.types.is_string_view(column.type) else column


def as_integers(column: Any) -> Any:
    """Dates and times as the integers that they are; all else as it is."""
    import pyarrow

    kind = column.type
    if not pyarrow.types.is_temporal(kind) or pyarrow.types.is_interval(kind):
        return column
    return column.view(pyarrow.int32() if kind.bit_width == 32 else pyarrow.int64())


def type_eps(column: Any) -> float | None:
    """The machine epsilon of a type that is widened when it is read."""
    return float(np.finfo(np.float16).eps) if str(column.type) == "halffloat" else None


def find_missing(column: Any) -> np.ndarray | None:
    """Where a column is null or NaN; None when it is nowhere."""
    import pyarrow

    if pyarrow.types.is_floating(column.type):
        if not column.null_count:
            values = column.to_numpy(zero_copy_only=False)
            if values.dtype == np.float16:
                values = values.astype(np.float32)
            found = np.zeros(1, np.int64)
            kernels.any_nan(values, 0, values.shape[0], found)
            return np.isnan(values) if found[0] else None
        return np.asarray(column.is_null(nan_is_null=True))
    return np.asarray(column.is_null()) if column.null_count else None


def place(row: int, first_row: int, valid: np.ndarray | None) -> int:
    """The row of the log that is row `row` of what is left of its batch."""
    return first_row + (row if valid is None else int(np.flatnonzero(valid)[row]))
