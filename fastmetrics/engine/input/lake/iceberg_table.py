"""Iceberg tables: the files of a snapshot, by the metadata that pyiceberg reads.

Files without deleted rows are read as other Parquet files are. Where rows are deleted, or a filter is left, pyiceberg
itself reads the scan.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from fastmetrics._core.optional_imports import fs, import_extra
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.input.arrow_sources import select_columns
from fastmetrics.engine.input.batches import Source, first_line
from fastmetrics.engine.input.files.data_file import DataFile
from fastmetrics.engine.input.files.file_systems import Location, in_file_system, locate_paths
from fastmetrics.engine.input.files.store_paths import name_path_in_errors
from fastmetrics.engine.input.files.table_markers import ICEBERG_FOLDER, is_metadata
from fastmetrics.engine.input.input_options import InputOptions
from fastmetrics.engine.input.lake.snapshot_source import NameInFile, Snapshot, SnapshotFile, SnapshotSource
from fastmetrics.engine.input.lake.time_travel import pick_time, read_timestamp, read_version

METADATA_NUMBER = re.compile(r"v?(\d+)[-.]")
NAME_MAPPING = "schema.name-mapping.default"


class IcebergScanSource(Source):
    """A scan that pyiceberg reads: some of its rows are deleted, or filtered."""

    def __init__(self, scan: Any, label: str) -> None:
        self._scan = scan
        self.label = label
        self.column_names = [field.name for field in scan.projection().fields]

    def _read(self, columns: list[str], use_threads: bool) -> Iterator[pa.RecordBatch]:
        with name_table_in_errors(self.label):
            for batch in self._scan.select(*columns).to_arrow_batch_reader():
                yield select_columns(batch, columns)


@contextmanager
def name_table_in_errors(label: str) -> Iterator[None]:
    """Raise the errors of pyiceberg as a ValueError that names the table."""
    try:
        yield
    except (OSError, MemoryError, ImportError):
        raise
    except Exception as error:
        if label in str(error):
            raise
        if "equality delete" in str(error):  # its only mark: pyiceberg has no type of error for it
            raise ValueError(
                f"{label} has equality deletes, which pyiceberg cannot apply: let an engine that can rewrite its "
                "files, on Spark CALL catalog.system.rewrite_data_files(table => 'db.name', options => "
                "map('delete-file-threshold', '1')), or evaluate it there with fastmetrics.spark.evaluate"
            ) from error
        raise ValueError(f"{label} cannot be read: {first_line(error)}") from error


def open_iceberg_folder(location: Location, options: InputOptions) -> Source:
    """The snapshot of an Iceberg table that is named by its folder, or by a file of its metadata."""
    import_extra("pyiceberg", f"reading the Iceberg table {location}")
    from pyiceberg.catalog.noop import NoopCatalog
    from pyiceberg.serializers import Compressor, FromByteStream
    from pyiceberg.table import StaticTable

    metadata_file = location.data_file() if is_metadata(location.address) else newest_metadata(location)
    label = f"the Iceberg table {location}"
    with name_path_in_errors(metadata_file), metadata_file.open_file() as opened:
        content = io.BytesIO(opened.read())
    with name_table_in_errors(label):
        metadata = FromByteStream.table_metadata(
            content, compression=Compressor.get_compressor(location=metadata_file.name)
        )
        table = StaticTable(
            identifier=("fastmetrics", metadata_file.path),
            metadata=metadata,
            metadata_location=metadata_file.path,
            io=own_file_io(options),
            catalog=NoopCatalog("fastmetrics"),
        )
    return open_iceberg_table(table, options, label)


def newest_metadata(folder: Location) -> DataFile:
    """The file of metadata with the greatest number."""
    filesystem = fs.LocalFileSystem() if folder.filesystem is None else folder.filesystem
    with name_path_in_errors(folder):
        listed = filesystem.get_file_info(fs.FileSelector(f"{folder.address.rstrip('/')}/{ICEBERG_FOLDER}"))
    numbered: dict[int, list[Any]] = {}
    for info in listed:
        if is_metadata(info.base_name) and (match := METADATA_NUMBER.match(info.base_name)) is not None:
            numbered.setdefault(int(match[1]), []).append(info)
    if not numbered:
        raise ValueError(f"the Iceberg table {folder} has no file of metadata with a number; name the file itself")
    newest = numbered[max(numbered)]
    if len(newest) > 1:
        names = " and ".join(sorted(info.base_name for info in newest))
        raise ValueError(
            f"the Iceberg table {folder} has {names}, and only its catalog knows which of them counts; pass the "
            "catalog's table, catalog.load_table(...), or name the file"
        )
    return folder.child(newest[0].path).data_file()


def own_file_io(options: InputOptions) -> Any:
    """pyiceberg's access to files by the file systems that all paths have here."""
    from pyiceberg.io.pyarrow import PyArrowFileIO

    def by_scheme(scheme: str, netloc: str | None = None) -> Any:
        path = f"{scheme}://{netloc or ''}/any"
        location = locate_paths([path], options.filesystem, None if scheme == "file" else options.storage_options)[0]
        return fs.LocalFileSystem() if location.filesystem is None else location.filesystem

    opened: dict[tuple[str, str | None], Any] = {}

    def by_scheme_once(scheme: str, netloc: str | None = None) -> Any:
        if (scheme, netloc) not in opened:
            opened[scheme, netloc] = by_scheme(scheme, netloc)
        return opened[scheme, netloc]

    own = PyArrowFileIO()
    own.fs_by_scheme = by_scheme_once
    return own


def open_iceberg_table(table: Any, options: InputOptions, label: str | None = None) -> Source:
    """The snapshot of a table of pyiceberg, by default the current one."""
    label = f"the Iceberg table {'.'.join(table.name())}" if label is None else label
    number = read_version(options)
    snapshots = table.metadata.snapshots
    if options.timestamp is not None:
        times = [(entry.snapshot_id, entry.timestamp_ms) for entry in table.metadata.snapshot_log]
        number = pick_time(label, times, read_timestamp(options))
    if number is not None and number not in {snapshot.snapshot_id for snapshot in snapshots}:
        known = ", ".join(str(snapshot.snapshot_id) for snapshot in snapshots[-5:]) or "none"
        raise ValueError(f"version: {label} has no snapshot {number}; the last are {known}")
    return open_iceberg_scan(table.scan(snapshot_id=number), table.io, label)


def open_iceberg_scan(scan: Any, file_io: Any, label: str = "the Iceberg scan") -> Source:
    """The rows of a scan: by its files if nothing of them is deleted or filtered, else by pyiceberg."""
    from pyiceberg.expressions import AlwaysTrue

    with name_table_in_errors(label):
        tasks = list(scan.plan_files())
        schema = scan.projection()
        is_plain = scan.limit is None and all(
            not task.delete_files and task.residual == AlwaysTrue() and task.file.file_format.name == "PARQUET"
            for task in tasks
        )
        opener = find_opener(file_io) if is_plain else None
        if opener is None:
            return IcebergScanSource(scan, label)
        from pyiceberg.io.pyarrow import schema_to_pyarrow

        declared = schema_to_pyarrow(schema, include_field_ids=False)
        files = [
            SnapshotFile(opener(task.file.file_path), constants_of(task.file, scan.table_metadata, schema, declared))
            for task in sorted(tasks, key=lambda task: task.file.file_path)
        ]
    return SnapshotSource(Snapshot(label, declared, files, names_in_files(schema, scan.table_metadata.properties)))


def find_opener(file_io: Any) -> Any:
    """The function that makes a file of a path as pyiceberg would open it; None for an unknown kind of access."""
    from pyiceberg.io.pyarrow import PyArrowFileIO

    if isinstance(file_io, PyArrowFileIO):

        def by_pyarrow(path: str) -> DataFile:
            scheme, netloc, address = file_io.parse_location(path, file_io.properties)
            filesystem = file_io.fs_by_scheme(scheme, netloc)
            is_local = isinstance(filesystem, fs.LocalFileSystem)
            return DataFile.local(address) if is_local else DataFile(path, filesystem, address)

        return by_pyarrow
    if hasattr(file_io, "get_fs"):  # of fsspec
        return lambda path: in_file_system(path, file_io.get_fs(path.partition("://")[0])).data_file()
    return None


def constants_of(file: Any, metadata: Any, schema: Any, declared: pa.Schema) -> dict[str, pa.Scalar]:
    """The values of columns that a file may lack: defaults, and values by which the table is partitioned."""
    from pyiceberg.transforms import IdentityTransform

    constants = {}
    for field in schema.fields:
        if getattr(field, "initial_default", None) is not None:
            constants[field.name] = scalar_of(field.initial_default, declared.field(field.name).type)
    spec = metadata.specs()[file.spec_id]
    names = {field.field_id: field.name for field in schema.fields}
    for number, field in enumerate(spec.fields):
        if isinstance(field.transform, IdentityTransform) and field.source_id in names:
            name = names[field.source_id]
            constants[name] = scalar_of(file.partition[number], declared.field(name).type)
    return constants


def scalar_of(value: Any, data_type: pa.DataType) -> pa.Scalar:
    """A value as Iceberg keeps it, where days and times are integers, as a scalar of Arrow."""
    if isinstance(value, int) and pa.types.is_temporal(data_type):
        return pa.scalar(value, pa.int32() if data_type.bit_width == 32 else pa.int64()).cast(data_type)
    return pa.scalar(value, data_type)


def names_in_files(schema: Any, properties: Mapping[str, str]) -> NameInFile:
    """How a column is found in a file: by its number, or by a name where the file has no numbers."""
    numbers = {field.name: field.field_id for field in schema.fields}
    mapped: dict[int, list[str]] = {}
    for entry in json.loads(properties.get(NAME_MAPPING, "[]")):
        if "field-id" in entry:
            mapped[int(entry["field-id"])] = list(entry["names"])

    def name_in_file(name: str, in_file: pa.Schema) -> str | None:
        ids = {}
        for field in in_file:
            if (text := (field.metadata or {}).get(b"PARQUET:field_id")) is not None:
                ids[int(text)] = field.name
        if ids:
            return ids.get(numbers[name])
        if not mapped:
            raise ValueError("a file of the table has no field ids, and the table no mapping of names")
        return next((known for known in mapped.get(numbers[name], []) if known in in_file.names), None)

    return name_in_file
