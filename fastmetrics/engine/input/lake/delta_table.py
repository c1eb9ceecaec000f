"""Delta tables: the files of a snapshot, by the log that deltalake reads.

The log of a table in a store is copied into a temporary folder, so that the store is opened in one way for all files
and credentials are found in one place. Nothing of the data is copied.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import unquote

import numpy as np

from fastmetrics._core.optional_imports import fs, import_extra
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics._core.parallel import submit
from fastmetrics.engine.input.batches import Source, first_line
from fastmetrics.engine.input.files.file_systems import SCHEME, Location, known_options, locate_paths
from fastmetrics.engine.input.files.store_paths import name_path_in_errors
from fastmetrics.engine.input.files.table_markers import DELTA_LOG
from fastmetrics.engine.input.input_options import InputOptions
from fastmetrics.engine.input.lake.snapshot_source import NameInFile, Snapshot, SnapshotFile, SnapshotSource
from fastmetrics.engine.input.lake.time_travel import pick_time, read_timestamp, read_version
from fastmetrics.engine.input.temporary_copy import TemporaryCopy

# Features of readers that are understood here, or that change nothing of how data files are read.
READER_FEATURES = frozenset(
    ("columnMapping", "deletionVectors", "timestampNtz", "typeWidening", "v2Checkpoint", "vacuumProtocolCheck")
)
GREATEST_READER_VERSION = 3
COMMIT = re.compile(r"(\d{20})\.json")
CHECKPOINT = re.compile(r"(\d{20})\.checkpoint(?:\.(\d{10})\.(\d{10})|\.[0-9a-f-]+)?\.(?:parquet|json)")
COMPACTED = re.compile(r"\d{20}\.(\d{20})\.compacted\.json")
LOG_REMEDY = "set TMPDIR to a folder with more space"
COPIES_AT_ONCE = 16
COPY_BYTES = 1 << 20


def open_delta_folder(folder: Location, options: InputOptions) -> Source:
    """The snapshot of a Delta table that is named by its folder."""
    deltalake = import_extra("deltalake", f"reading the Delta table {folder}")
    version = read_version(options)
    log = list_log(folder)
    if options.timestamp is not None:
        version = version_at(folder, log, read_timestamp(options))
    label = f"the Delta table {folder}"
    with local_log(folder, log, version) as path, name_table_in_errors(label, log, version):
        table = deltalake.DeltaTable(path, version=version)
        return SnapshotSource(read_snapshot(table, label, folder, options))


def open_delta_object(table: Any, options: InputOptions) -> Source:
    """The snapshot that a DeltaTable has loaded."""
    uri = table.table_uri
    label = f"the DeltaTable {re.sub(r'//[^/]*@', '//', uri)}"
    for name in ("version", "timestamp"):
        if getattr(options, name) is not None:
            raise ValueError(f"{name}: {label} has a version already; table.load_as_version(...) loads another")
    # deltalake's own file system holds Python's lock while it waits for the network.
    given = known_options(uri, getattr(table, "_storage_options", None) or {})
    (folder,) = locate_paths([uri], storage_options=given or None)
    with name_table_in_errors(label, [], None):
        return SnapshotSource(read_snapshot(table, label, folder, options))


@contextmanager
def name_table_in_errors(label: str, log: list[Any], version: int | None) -> Iterator[None]:
    """Raise the errors of deltalake as a ValueError that names the table."""
    from deltalake.exceptions import DeltaError

    try:
        yield
    except (DeltaError, OverflowError) as error:
        commits = [int(match[1]) for info in log if (match := COMMIT.fullmatch(info.base_name))]
        if version is not None and commits and not min(commits) <= version <= max(commits):
            found = f"versions {min(commits)} to {max(commits)}"
            raise ValueError(f"version: {label} has no version {version}; its log has {found}") from error
        raise ValueError(f"{label} cannot be read: {first_line(error)}") from error


# ------------------------------------------------------------------------------------------------------------- the log


def list_log(folder: Location) -> list[Any]:
    """The files of the log, as pyarrow's FileInfo."""
    filesystem = fs.LocalFileSystem() if folder.filesystem is None else folder.filesystem
    with name_path_in_errors(folder):
        address = f"{folder.address.rstrip('/')}/{DELTA_LOG}"
        return [info for info in filesystem.get_file_info(fs.FileSelector(address, recursive=True)) if info.is_file]


def version_at(folder: Location, log: list[Any], moment: datetime) -> int:
    """The last version that was committed at a time, or before it.

    A commit has the time that stands in it, if the table keeps times there, and otherwise that of its file. Times of
    files that do not rise are raised, as Delta Lake defines it.
    """
    commits: list[tuple[int, int]] = []
    for info in sorted(log, key=lambda info: info.base_name):
        if (match := COMMIT.fullmatch(info.base_name)) is not None:
            data_file = folder.child(info.path).data_file()
            with data_file.open_file() as opened:
                time = time_in_commit(opened.read(1 << 16)) or info.mtime_ns // 1_000_000
            commits.append((int(match[1]), max(time, commits[-1][1] + 1) if commits else time))
    return pick_time(f"the Delta table {folder}", commits, moment)


def time_in_commit(content: bytes) -> int | None:
    """The time in the first line of a commit, in milliseconds."""
    try:
        found = json.loads(content.splitlines()[0])["commitInfo"]["inCommitTimestamp"]
    except (ValueError, LookupError, TypeError):
        return None
    return int(found)


@contextmanager
def local_log(folder: Location, log: list[Any], version: int | None) -> Iterator[str]:
    """A folder of the local disk that has the log: that of the table, or a copy of what the version needs."""
    if folder.filesystem is None:
        yield folder.address
        return
    from concurrent.futures import ThreadPoolExecutor

    with TemporaryDirectory(prefix="fastmetrics-delta-") as copy:
        start = len(folder.address.rstrip("/")) + 1
        with name_path_in_errors(folder):
            needed = [*files_of_version(log, version), *find_deletion_vectors(folder)]
        space = TemporaryCopy(f"copying the log of the Delta table {folder} to", None, LOG_REMEDY)
        space.check_space(sum(info.size or 0 for info in needed))
        with ThreadPoolExecutor(COPIES_AT_ONCE) as threads, name_path_in_errors(folder):
            copies = [
                submit(threads, copy_file, folder.filesystem, info.path, Path(copy, info.path[start:]))
                for info in needed
            ]
            for copied in copies:
                copied.result()
        yield copy


def files_of_version(log: list[Any], version: int | None) -> list[Any]:
    """The last checkpoint of a version, the commits since, and the files that a checkpoint refers to."""
    parts: dict[int, list[tuple[int, Any]]] = {}
    for info in log:
        match = CHECKPOINT.fullmatch(info.base_name)
        if match is not None and (version is None or int(match[1]) <= version):
            parts.setdefault(int(match[1]), []).append((int(match[3] or 1), info))
    complete = [number for number, found in parts.items() if len(found) >= min(count for count, _ in found)]
    start = max(complete, default=0)
    chosen = [info for _, info in parts.get(start, [])]
    for info in log:
        if (match := COMMIT.fullmatch(info.base_name)) is not None:
            if start <= int(match[1]) and (version is None or int(match[1]) <= version):
                chosen.append(info)
        elif "/_sidecars/" in info.path:
            chosen.append(info)
    return chosen


def find_deletion_vectors(folder: Location) -> list[Any]:
    """The files of deleted rows, which stand beside the data."""
    listed = folder.filesystem.get_file_info(fs.FileSelector(folder.address))
    return [info for info in listed if info.base_name.startswith("deletion_vector_") and info.is_file]


def copy_file(filesystem: Any, address: str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with filesystem.open_input_stream(address) as source, target.open("wb") as copy:
        while block := source.read(COPY_BYTES):
            copy.write(block)


# -------------------------------------------------------------------------------------------------------- the snapshot


def read_snapshot(table: Any, label: str, folder: Location, options: InputOptions) -> Snapshot:
    """The files, partition values and columns of a loaded DeltaTable."""
    check_protocol(table, label)
    label = f"{label}, version {table.version()}"
    schema = pa.schema(table.schema().to_arrow())
    actions = pa.table(table.get_add_actions(flatten=True))
    partitions = {
        name: actions[f"partition.{name}"].cast(schema.field(name).type)
        for name in table.metadata().partition_columns
        if f"partition.{name}" in actions.column_names
    }
    kept = rows_kept(table, label)
    paths = [unquote(path) for path in actions["path"].to_pylist()]
    if kept and len(set(map(os.path.basename, paths))) < len(paths):
        raise ValueError(f"{label} has deleted rows in files of equal names, which are not told apart here")
    files = []
    for number, path in enumerate(paths):
        location = locate_file(path, folder, options)
        constants = {name: values[number] for name, values in partitions.items()}
        files.append(SnapshotFile(location.data_file(), constants, kept.pop(os.path.basename(path), None)))
    if kept:
        raise ValueError(f"{label} has deleted rows in files that are not found: {', '.join(sorted(kept))}")
    files.sort(key=lambda file: file.data_file.parts)
    return Snapshot(label, schema, files, names_in_files(table))


def check_protocol(table: Any, label: str) -> None:
    """Raise ValueError for a table that needs what is not read here."""
    protocol = table.protocol()
    unknown = sorted(set(protocol.reader_features or ()) - READER_FEATURES)
    if unknown or protocol.min_reader_version > GREATEST_READER_VERSION:
        needed = ", ".join(unknown) or f"reader version {protocol.min_reader_version}"
        raise ValueError(f"{label} needs {needed}, which is not read here; its rows would be wrong without it")


def locate_file(path: str, folder: Location, options: InputOptions) -> Location:
    """Where a file is: below the table's folder, or elsewhere, as files of a cloned table are."""
    if SCHEME.match(path):
        return locate_paths([path], options.filesystem, options.storage_options)[0]
    if folder.filesystem is None:
        return folder.child(os.path.join(folder.address, path))
    return folder.child(f"{folder.address.rstrip('/')}/{path}" if folder.address else path)


def rows_kept(table: Any, label: str) -> dict[str, np.ndarray]:
    """The flags of the rows that are not deleted, by the name of the file, for files with deleted rows."""
    if "deletionVectors" not in (table.protocol().reader_features or ()):
        return {}
    try:
        vectors = pa.table(table.deletion_vectors())
    except Exception as error:
        raise ValueError(f"{label} has deleted rows that cannot be read: {first_line(error)}") from error
    names = [os.path.basename(unquote(path)) for path in vectors["filepath"].to_pylist()]
    return {
        name: np.asarray(flags.values.to_numpy(zero_copy_only=False), bool)
        for name, flags in zip(names, vectors["selection_vector"], strict=True)
    }


def names_in_files(table: Any) -> NameInFile:
    """How a column is found: by its name, or where names are mapped by the name or the number that it has in files.

    Columns by which the table is partitioned are read from the log, also if files have them.
    """
    metadata = table.metadata()
    partitions = frozenset(metadata.partition_columns)
    mode = metadata.configuration.get("delta.columnMapping.mode", "none")
    mapped = {field.name: field.metadata for field in table.schema().fields}
    if mode == "id":
        numbers = {name: int(entry["delta.columnMapping.id"]) for name, entry in mapped.items()}
        return lambda name, schema: None if name in partitions else name_of_number(numbers[name], schema)
    names = {name: name for name in mapped}
    if mode != "none":
        names = {name: str(entry["delta.columnMapping.physicalName"]) for name, entry in mapped.items()}
    return lambda name, schema: names[name] if names[name] in schema.names and name not in partitions else None


def name_of_number(number: int, schema: pa.Schema) -> str | None:
    """The column of a file that has a field id; an error if the file has no ids."""
    ids = {}
    for field in schema:
        text = (field.metadata or {}).get(b"PARQUET:field_id")
        if text is None:
            raise ValueError("a file of the table has no field ids, by which its columns are found")
        ids[int(text)] = field.name
    return ids.get(number)
