"""Sources of paths: files, or the table of a lake that a path names."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain
from threading import Thread

from fastmetrics.engine.input.batches import Source
from fastmetrics.engine.input.files.file_source import FileSource
from fastmetrics.engine.input.files.file_systems import Location, locate_paths
from fastmetrics.engine.input.files.paths import find_files, refuse_repeated_files
from fastmetrics.engine.input.files.store_paths import name_path_in_errors
from fastmetrics.engine.input.files.table_markers import ICEBERG, LakeTable, TableFinder, is_metadata
from fastmetrics.engine.input.input_options import NO_INPUT_OPTIONS, InputOptions


def open_paths(items: Sequence[str | os.PathLike[str]], options: InputOptions) -> Source:
    """Open paths, globs, folders and URIs as one log; no row is read yet."""
    locations = locate_paths(items, options.filesystem, options.storage_options)
    if all(location.filesystem is None for location in locations):
        return _open_locations(locations, options)
    return _call_in_thread(partial(_open_locations, locations, options))


def _call_in_thread(function: Callable[[], Source]) -> Source:
    """Call a function in another thread: a call that waits for a store could not be interrupted."""
    found: list[Source] = []
    errors: list[BaseException] = []

    def call() -> None:
        try:
            found.append(function())
        except BaseException as error:  # noqa: BLE001 - raised in the calling thread
            errors.append(error)

    thread = Thread(target=call, daemon=True, name="fastmetrics-open")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return found[0]


def _open_locations(locations: list[Location], options: InputOptions) -> Source:
    tables = TableFinder()
    if len(locations) == 1 and (table := find_table(locations[0], tables)) is not None:
        from fastmetrics.engine.input.lake.lake_tables import open_table

        return open_table(table, options)
    refuse_snapshot_options(options, "a path of files, which have no versions")
    found = chain.from_iterable(find_files(location, tables, options.format) for location in locations)
    files = list(found)
    if len(files) > 1:
        refuse_repeated_files(files)
    label = str(locations[0]) if len(locations) == 1 else "the list of files"
    return FileSource(files, label=label, options=options)


def find_table(location: Location, tables: TableFinder) -> LakeTable | None:
    """The table that a path names: its folder, or a file of Iceberg's metadata."""
    if is_metadata(location.address):
        return LakeTable(ICEBERG, location)
    if location.filesystem is None:
        return tables.table_at(location)
    with name_path_in_errors(location):
        return tables.table_at(location) if tables.kind_of(location) == "folder" else None


def refuse_snapshot_options(options: InputOptions, what: str) -> None:
    """Raise ValueError for a version or a time of data that has none."""
    for name in ("version", "timestamp"):
        if getattr(options, name) is not None:
            raise ValueError(f"{name}: it is for tables of Delta Lake and Iceberg, and data is {what}")


def refuse_path_options(options: InputOptions, data: object) -> None:
    """Raise ValueError for options of paths, if data is none."""
    for name in ("filesystem", "storage_options"):
        if getattr(options, name) is not None:
            raise ValueError(f"{name}: it is for paths, and data is of type {type(data).__name__}")


def refuse_format_options(options: InputOptions, data: object) -> None:
    """Raise ValueError for options of files, if data is none."""
    for name in ("format", "format_options", "missing_columns"):
        if getattr(options, name) != getattr(NO_INPUT_OPTIONS, name):
            raise ValueError(f"{name}: it is for files, and data is of type {type(data).__name__}")
