"""Snapshots of Iceberg tables with files of deletes, as engines that merge on read write them."""

import time

import pyarrow as pa
import pyarrow.parquet as pq


def delete_equal_rows(table, keys):
    """Commit a snapshot that deletes the rows whose values are those of a row of `keys`, a table of Arrow."""
    from pyiceberg.manifest import DataFileContent

    numbers = {field.name: field.field_id for field in table.schema().fields}
    fields = [
        field.with_metadata({b"PARQUET:field_id": str(numbers[field.name]).encode()}) for field in keys.schema
    ]
    stored = keys.cast(pa.schema(fields))
    ids = [numbers[name] for name in keys.column_names]
    commit_deletes(table, stored, DataFileContent.EQUALITY_DELETES, equality_ids=ids)


def delete_positions(table, data_path, positions):
    """Commit a snapshot that deletes the rows of a data file at some positions."""
    from pyiceberg.manifest import DataFileContent

    fields = [
        pa.field("file_path", pa.string(), metadata={b"PARQUET:field_id": b"2147483546"}),
        pa.field("pos", pa.int64(), metadata={b"PARQUET:field_id": b"2147483545"}),
    ]
    stored = pa.table([[data_path] * len(positions), positions], schema=pa.schema(fields))
    commit_deletes(table, stored, DataFileContent.POSITION_DELETES)


def commit_deletes(table, stored, content, equality_ids=None):
    """Write a file of deletes, its manifest and a list of manifests, and commit them as the current snapshot."""
    from pyiceberg.manifest import (
        DataFile,
        FileFormat,
        ManifestContent,
        ManifestEntry,
        ManifestEntryStatus,
        ManifestWriterV2,
        write_manifest_list,
    )
    from pyiceberg.table.snapshots import Operation, Snapshot, Summary
    from pyiceberg.table.update import AddSnapshotUpdate, SetSnapshotRefUpdate
    from pyiceberg.typedef import Record

    class DeleteManifestWriter(ManifestWriterV2):
        def content(self):
            return ManifestContent.DELETES

        @property
        def _meta(self):
            return {**super()._meta, "content": "deletes"}

    metadata = table.metadata
    number = metadata.new_snapshot_id()
    sequence_number = metadata.last_sequence_number + 1
    folder = f"{table.location()}/metadata"
    path = f"{table.location()}/data/deletes-{number}.parquet"
    with table.io.new_output(path).create() as opened:
        pq.write_table(stored, opened)
    deletes = DataFile.from_args(
        content=content, file_path=path, file_format=FileFormat.PARQUET, partition=Record(),
        record_count=stored.num_rows, file_size_in_bytes=len(table.io.new_input(path)), equality_ids=equality_ids,
    )  # fmt: skip
    deletes.spec_id = metadata.default_spec_id
    manifest = table.io.new_output(f"{folder}/deletes-{number}.avro")
    with DeleteManifestWriter(metadata.spec(), table.schema(), manifest, number, "null") as writer:
        writer.add(
            ManifestEntry.from_args(status=ManifestEntryStatus.ADDED, snapshot_id=number, data_file=deletes)
        )
    parent = table.current_snapshot()
    list_path = f"{folder}/snap-{number}.avro"
    with write_manifest_list(
        2, table.io.new_output(list_path), number, parent.snapshot_id, sequence_number, "null"
    ) as manifests:
        manifests.add_manifests([writer.to_manifest_file(), *parent.manifests(table.io)])
    snapshot = Snapshot(
        snapshot_id=number, parent_snapshot_id=parent.snapshot_id, sequence_number=sequence_number,
        timestamp_ms=max(int(time.time() * 1000), parent.timestamp_ms + 1), manifest_list=list_path,
        summary=Summary(Operation.DELETE), schema_id=metadata.current_schema_id,
    )  # fmt: skip
    main = SetSnapshotRefUpdate(ref_name="main", type="branch", snapshot_id=number)
    table._do_commit((AddSnapshotUpdate(snapshot=snapshot), main), ())
