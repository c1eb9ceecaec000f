"""Columns that some files of a log lack: an error that names the first such file, or null in all of them."""

from __future__ import annotations

from collections.abc import Sequence

from fastmetrics._core.columns.arrow_columns import plain_type
from fastmetrics._core.columns.validation import missing_column_text
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.input.batches import split_path
from fastmetrics.engine.input.files.formats import SourceFile

MOST_NAMED_FILES = 10


class ColumnPlaces:
    """Which files have a column, found once: there may be thousands of files.

    Attributes
    ----------
    files : sequence of SourceFile
    missing_columns : str
        "raise" or "null".
    """

    def __init__(self, files: Sequence[SourceFile], missing_columns: str) -> None:
        self.files = files
        self.missing_columns = missing_columns
        self._files_with: dict[str, list[SourceFile]] = {}
        # Files of JSON lines in which a key stands behind the first block.
        self._found_later: set[tuple[str, str]] = set()

    def files_with(self, column: str) -> list[SourceFile]:
        """The files that have a column."""
        if column not in self._files_with:
            found = [file for file in self.files if has_column(file, column)]
            if not found or (self.missing_columns == "raise" and len(found) < len(self.files)):
                raise ValueError(self._explain_missing(column))
            self._files_with[column] = found
        return self._files_with[column]

    def require_typed_columns(self) -> None:
        """Raise ValueError if files lack a column whose type was given."""
        for column in dict.fromkeys(name for file in self.files for name in file.format.column_types):
            try:
                self.files_with(column)
            except ValueError as error:
                raise ValueError(f"format_options: column_types: {error}") from None

    def _explain_missing(self, column: str) -> str:
        lacking = next(file for file in self.files if not has_column(file, column))
        text = missing_column_text(column, str(lacking.data_file), [*lacking.schema.names, *lacking.hive_values])
        if not any(has_column(file, column) for file in self.files):
            return text
        return (
            f"{text}. Other files that were given have it: missing_columns='null', or --missing-columns null, reads it "
            "as null in files that lack it"
        )

    def look_for(self, file: SourceFile, batch: pa.RecordBatch) -> None:
        """Remember a file that has values of a column although its beginning has none."""
        if file.format.finds_any_key and self.missing_columns == "null":
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                if column.null_count < len(column) and not has_column(file, name):
                    self._found_later.add((str(file.data_file), name))

    def notes(self) -> list[str]:
        """A sentence for every column that was asked for and that files lack."""
        notes = []
        for column, having in self._files_with.items():
            own = {id(file.data_file) for file in having}
            names = [str(file.data_file) for file in self.files if id(file.data_file) not in own]
            names = [name for name in names if (name, column) not in self._found_later]
            if names:
                more = f" and {len(names) - MOST_NAMED_FILES:,} more" if len(names) > MOST_NAMED_FILES else ""
                listed = ", ".join(names[:MOST_NAMED_FILES])
                files = "1 file that lacks" if len(names) == 1 else f"{len(names):,} files that lack"
                notes.append(f"column {column!r} is null in {files} it: {listed}{more}")
        return notes


def has_column(file: SourceFile, column: str) -> bool:
    """Has a file a column, or a field of a struct, of this name, by itself or by its folder?"""
    if column in file.hive_values or column in file.own_names:
        return True
    root, fields = split_path(column, file.own_names)
    if root not in file.own_names:
        return False
    data_type = plain_type(file.schema.field(root).type)
    for name in fields:
        if not pa.types.is_struct(data_type):
            return True  # to read a field of it is an error that says so
        known = [field.name for field in data_type]
        if name not in known:
            return False
        data_type = data_type.field(known.index(name)).type
    return True


def is_read_from(file: SourceFile, column: str) -> bool:
    """Is a column read from the content of a file? Keys of JSON lines are looked for in every line."""
    return column not in file.hive_values and (file.format.finds_any_key or has_column(file, column))
