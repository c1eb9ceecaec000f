"""Record batches to blocks of checked rows: nulls, NaN, labels, weights, keys, and the policy for invalid rows.

Everything is judged batch by batch, but named by the row's place in the whole log.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import inputs, keys
from fastmetrics._core.rows import Rows
from fastmetrics._kernels import columns as kernels

POLICIES = ("raise", "drop")
ZERO_WEIGHT = "zero weight"


class ColumnNames(NamedTuple):
    """Which column of the log plays which part."""

    label: str
    score: str
    group: str | None
    weight: str | None

    def wanted(self) -> list[str]:
        """The columns to read, each once."""
        return list(dict.fromkeys(name for name in self if name is not None))

    def roles(self) -> dict[str, str]:
        return {role: name for role, name in self._asdict().items() if name is not None}


class Block(NamedTuple):
    """A batch, checked and without its invalid rows (None: nothing is left)."""

    rows: Rows | None
    keys: keys.Keys | None
    read: int
    dropped: dict[str, int]
    seen: int = 0
    minus_one_row: int | None = None


class Reader:
    """Turns batches into blocks. Holds no state: batches may be read in any order, by any thread."""

    def __init__(self, names: ColumnNames, on_invalid: str) -> None:
        inputs.check_option(on_invalid, "on_invalid", POLICIES)
        self.names = names
        self.drop = on_invalid == "drop"

    def read(self, batch: Any, first_row: int) -> Block:
        """The rows of a pyarrow RecordBatch that begins at `first_row` of the log."""
        parts = {
            role: plain(batch.column(batch.schema.get_field_index(name))) for role, name in self.names.roles().items()
        }
        rows = batch.num_rows
        valid, dropped = self.find_valid(parts, rows, first_row)
        if valid is not None:
            # Arrow arrays of all columns lose the same rows; what is left has no nulls.
            import pyarrow

            mask = pyarrow.array(valid)
            parts = {role: column.filter(mask) for role, column in parts.items()}
        kept = int(rows - sum(dropped.values()))
        if kept == 0:
            return Block(None, None, rows, dropped)
        labels, seen, minus_one_row = self.labels(parts["label"], first_row, valid)
        scores = inputs.as_scores(parts["score"], self.title("score"), lambda row: place(row, first_row, valid))
        key_column = keys.as_keys(parts["group"], self.title("group")) if "group" in parts else None
        weights = None
        places = None if valid is None else np.flatnonzero(valid)
        if "weight" in parts:
            weights = self.weights(parts["weight"], first_row, valid)
            present = weights > 0
            if not present.all():
                dropped[ZERO_WEIGHT] = int(kept - np.count_nonzero(present))
                labels, scores, weights = labels[present], scores[present], weights[present]
                key_column = None if key_column is None else keys.select(key_column, present)
                places = (np.arange(rows) if places is None else places)[present]
        if labels.shape[0] == 0:
            return Block(None, None, rows, dropped, seen, minus_one_row)
        block = Rows(labels, scores, weights, first_row, self.title("score"), places, type_eps(parts["score"]))
        return Block(block, key_column, rows, dropped, seen, minus_one_row)

    def title(self, role: str) -> str:
        return f"{role} column {getattr(self.names, role)!r}"

    def find_valid(self, parts: dict[str, Any], rows: int, first_row: int) -> tuple[np.ndarray | None, dict[str, int]]:
        """Which rows have neither null nor NaN (None: all), and how many go for which reason (the first applies)."""
        valid: np.ndarray | None = None
        dropped: dict[str, int] = {}
        for role, column in parts.items():
            missing = find_missing(column)
            if missing is None:
                continue
            if not self.drop:
                row = int(np.flatnonzero(missing)[0])
                what = "NaN" if column[row].is_valid else "a null"
                raise ValueError(
                    f"{self.title(role)} has {what} at row {first_row + row}; on_invalid='drop' leaves such rows out"
                )
            valid = np.ones(rows, bool) if valid is None else valid
            dropped[f"null or NaN {role}"] = int(np.count_nonzero(missing & valid))
            valid &= ~missing
        return valid, {reason: count for reason, count in dropped.items() if count}

    def labels(self, column: Any, first_row: int, valid: np.ndarray | None) -> tuple[np.ndarray, int, int | None]:
        """Labels as uint8, which kinds were seen, and the first row with -1."""
        array = inputs.as_labels(column, self.title("label"), lambda row: place(row, first_row, valid))
        out = np.empty(array.shape[0], np.uint8)
        seen = np.zeros(2, np.int64)
        kernels.decode_labels(array, 0, array.shape[0], out, seen)

        def find(what: str) -> tuple[int, Any]:
            row, value = inputs.find_label(array, what)
            return place(row, first_row, valid), value

        inputs.check_seen_labels(int(seen[0]), find, self.title("label"))
        minus_one_row = find("minus one")[0] if seen[0] & kernels.SAW_MINUS_ONE else None
        return out, int(seen[0]), minus_one_row

    def weights(self, column: Any, first_row: int, valid: np.ndarray | None) -> np.ndarray:
        array = inputs.as_floats(column, self.title("weight"), lambda row: place(row, first_row, valid))
        array = array.astype(np.float64, copy=False)
        found = np.zeros(2, np.int64)
        kernels.check_weights(array, 0, array.shape[0], found)
        if found[0]:
            row = inputs.find_bad_weight(array)
            where = place(row, first_row, valid)
            raise ValueError(f"{self.title('weight')} has {array[row]} at row {where}: {inputs.WEIGHTS_WANTED}")
        return array


def plain(column: Any) -> Any:
    """A column that can be filtered: dictionaries as values (only they tell all nulls), views of text as text."""
    import pyarrow

    if pyarrow.types.is_dictionary(column.type):
        return keys.decode_dictionary(column)
    return column.cast(pyarrow.large_string()) if pyarrow.types.is_string_view(column.type) else column


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
