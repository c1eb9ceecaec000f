"""Tables of lakes among folders: Delta Lake, Iceberg and Hudi, each known by a folder of its own.

The files of a table are not the table: some of them may be removed, and rows of others deleted. So files and folders
inside a table are never read by themselves.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import PurePosixPath

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.optional_imports import fs
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.input.files.file_systems import Location

DELTA, ICEBERG, HUDI = "Delta Lake", "Iceberg", "Hudi"
DELTA_LOG, HUDI_FOLDER, ICEBERG_FOLDER = "_delta_log", ".hoodie", "metadata"
METADATA_SUFFIXES = (".metadata.json", ".metadata.json.gz", ".gz.metadata.json")


class LakeTable(NamedTuple):
    """A folder that is a table of a lake."""

    kind: str
    location: Location


class TableFinder:
    """Finds the table that a folder is, or is in. Every path is looked up once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], LakeTable | None] = {}
        self._kinds: dict[tuple[str, str], str | None] = {}

    def kind_of(self, location: Location) -> str | None:
        """Whether a path of a store is a "folder", a "file" or neither."""
        key = (location.prefix, location.address)
        if key not in self._kinds:
            kind = location.filesystem.get_file_info(location.address).type
            self._kinds[key] = {fs.FileType.Directory: "folder", fs.FileType.File: "file"}.get(kind)
        return self._kinds[key]

    def table_at(self, folder: Location) -> LakeTable | None:
        """The table that a folder is; None if it is none."""
        key = (folder.prefix, folder.address)
        if key not in self._known:
            look_up = _local_kind if folder.filesystem is None else _stored_kind
            kind = look_up(folder)
            self._known[key] = None if kind is None else LakeTable(kind, folder)
        return self._known[key]

    def table_above(self, location: Location) -> LakeTable | None:
        """The nearest table that has a file or a folder in it."""
        if location.filesystem is None:
            paths = dict.fromkeys((os.path.abspath(location.address), os.path.realpath(location.address)))
            folders = [location.child(str(parent)) for path in paths for parent in _parents(path)]
        else:
            parents = PurePosixPath(location.address).parents
            folders = [location.child(str(parent)) for parent in parents if str(parent) not in (".", "/")]
        for folder in folders:
            try:
                table = self.table_at(folder)
            except OSError:
                return None  # who may read a folder need not be allowed to see the folders above it
            if table is not None:
                return table
        return None

    def refuse_parts(self, location: Location) -> None:
        """Raise ValueError if a file or a folder is a part of a table."""
        if (table := self.table_above(location)) is not None:
            raise ValueError(
                f"{location} is inside the {table.kind} table {table.location}: files of a table may hold rows that "
                f"are removed from it. Name the table itself: {table.location}"
            )


def raise_table_below(folder: str, kind: str, table: str) -> None:
    raise ValueError(
        f"{folder} holds the {kind} table {table}, whose files may hold rows that are removed from it. "
        f"Name the table itself: {table}"
    )


def kind_of_folder(names: Iterable[str]) -> str | None:
    """The kind of a table, by the names of its folders; Iceberg's has to be looked into."""
    names = set(names)
    if DELTA_LOG in names:
        return DELTA
    if HUDI_FOLDER in names:
        return HUDI
    return ICEBERG if ICEBERG_FOLDER in names else None


def is_metadata(name: str) -> bool:
    """Whether a file's name is that of Iceberg's metadata."""
    return name.endswith(METADATA_SUFFIXES)


def local_folder_kind(folder: str, subfolders: Iterable[str]) -> str | None:
    """The kind of the table that a folder of the local disk is."""
    kind = kind_of_folder(subfolders)
    if kind is not ICEBERG:
        return kind
    return ICEBERG if any(map(is_metadata, os.listdir(os.path.join(folder, ICEBERG_FOLDER)))) else None


def _parents(path: str) -> Iterable[str]:
    while (parent := os.path.dirname(path)) != path:
        yield parent
        path = parent


def _local_kind(folder: Location) -> str | None:
    markers = (DELTA_LOG, HUDI_FOLDER, ICEBERG_FOLDER)
    return local_folder_kind(
        folder.address, [name for name in markers if os.path.isdir(os.path.join(folder.address, name))]
    )


def _stored_kind(folder: Location) -> str | None:
    markers = (DELTA_LOG, HUDI_FOLDER, ICEBERG_FOLDER)
    address = folder.address.rstrip("/")
    infos = folder.filesystem.get_file_info([f"{address}/{name}" for name in markers])
    found = [name for name, info in zip(markers, infos, strict=True) if info.type == fs.FileType.Directory]
    kind = kind_of_folder(found)
    if kind is not ICEBERG:
        return kind
    try:
        listed = folder.filesystem.get_file_info(fs.FileSelector(f"{address}/{ICEBERG_FOLDER}"))
    except (OSError, pa.ArrowException):
        return None
    return ICEBERG if any(is_metadata(info.base_name) for info in listed) else None
