"""How a log is read, beside its name: the file system, the snapshot of a table, and the format of files."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.suggestions import suggest


class InputOptions(NamedTuple):
    """The options of `open_source`, as the entry points take them. None: as the source itself says.

    Attributes
    ----------
    filesystem : pyarrow.fs.FileSystem or fsspec file system or None
        Where paths are looked up.
    storage_options : mapping of str and str or None
        Options of the file system that a URI names, such as credentials and end points.
    version : int or str or None
        The version of a table of a lake, or its snapshot.
    timestamp : str or datetime or None
        The time whose snapshot of a table is read.
    format : str or None
        The format of files, if their suffix does not say it.
    format_options : mapping or None
        Options of the format, such as the delimiter of CSV.
    missing_columns : {"raise", "null"}
        A column that some files lack is an error, or null in them.
    time_zone : str or None
        The zone in which expressions count days and hours. None: that of a column.
    """

    filesystem: Any = None
    storage_options: Mapping[str, str] | None = None
    version: int | str | None = None
    timestamp: str | datetime | None = None
    format: str | None = None
    format_options: Mapping[str, Any] | None = None
    missing_columns: str = "raise"
    time_zone: str | None = None

    def notes(self) -> list[str]:
        """What a reader of the result should know: the options of files that change values."""
        given = self.format_options or {}
        return [f"files are read with {name}={given[name]!r}" for name in CHANGE_VALUES if name in given]

    def of_truth(self) -> InputOptions:
        """Those of the truth table of a log: how files are found, not which format they have."""
        return InputOptions(self.filesystem, self.storage_options, time_zone=self.time_zone)

    @classmethod
    def of_call(cls, arguments: Mapping[str, Any], time_zone: str | None) -> InputOptions:
        """Those among the arguments of an entry point; the time zone is that of its question."""
        given = {name: arguments[name] for name in cls._fields if name in arguments}
        return cls(**given | {"time_zone": time_zone})

    @classmethod
    def of_keywords(cls, given: Mapping[str, Any], time_zone: str | None) -> InputOptions:
        """Those that are given by keyword; another keyword is an error. The time zone is that of the question."""
        known = [name for name in cls._fields if name != "time_zone"]
        for name in given:
            if name not in known:
                raise TypeError(f"there is no option of reading {name!r}; {suggest(name, known)}")
        return cls(**given, time_zone=time_zone)


CHANGE_VALUES = ("column_types", "null_values", "decimal_point")  # options of formats
NO_INPUT_OPTIONS = InputOptions()
OF_MISSING_COLUMNS = ("raise", "null")


def check_time_zone(name: object) -> None:
    """Raise ValueError for a time zone that is not known."""
    if name is None:
        return
    from fastmetrics.engine.expressions.time_zones import explain_zone  # imported with expressions only

    if (wrong := explain_zone(name)) is not None:
        raise ValueError(f"time_zone: {wrong}")


def check_missing_columns(options: InputOptions) -> None:
    """Raise ValueError for another value of `missing_columns` than "raise" and "null"."""
    if options.missing_columns not in OF_MISSING_COLUMNS:
        raise ValueError(f"missing_columns must be 'raise' or 'null'; found {options.missing_columns!r}")
