"""Iceberg tables written by pyiceberg, with a catalog in SQLite: snapshots, schema changes, deletes, scans."""

import os
import sys
from datetime import UTC, date, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fastmetrics as fm
from fastmetrics.engine.input.lake.iceberg_table import IcebergScanSource
from fastmetrics.engine.input.lake.snapshot_source import SnapshotSource
from fastmetrics.engine.input.sources import open_source
from support.cases import assert_raises
from support.files.iceberg_deletes import delete_equal_rows, delete_positions
from support.files.log_files import log, read

pytest.importorskip("pyiceberg")
OPTIONS = {"metrics": "auc,logloss", "label": "click", "score": "score"}
# pyiceberg's own calls of pyparsing and of other libraries warn.
pytestmark = pytest.mark.filterwarnings("ignore")


def evaluated(data, **options):
    return fm.evaluate(data, **OPTIONS, **options).to_dict()["results"]


@pytest.fixture
def catalog(tmp_path):
    from pyiceberg.catalog.sql import SqlCatalog

    catalog = SqlCatalog("own", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=(tmp_path / "warehouse").as_uri())
    catalog.create_namespace("db")
    yield catalog
    catalog.close()


def rows(n_rows, seed=0):
    table = log(n_rows, seed).set_column(2, "click", log(n_rows, seed)["click"].cast(pa.int32()))
    return table.append_column("day", pa.array([date(2026, 11, 1 + i % 3) for i in range(n_rows)]))


def folder_of(table):
    return table.location().removeprefix("file://")


def test_snapshots_by_folder_metadata_table_and_scan(catalog):
    table = catalog.create_table("db.clicks", rows(5).schema)
    table.append(rows(300))
    table.overwrite(rows(200, seed=1))
    table.append(rows(100, seed=2))
    folder = folder_of(table)
    expected = evaluated(table.scan().to_arrow())
    path = table.metadata_location.removeprefix("file://")
    for data in (folder, [folder], table.location(), path, table.metadata_location, table, table.scan()):
        assert evaluated(data) == expected
        assert isinstance(open_source(data), SnapshotSource)
    assert open_source(folder).rows == 300
    assert evaluated(folder, by="day", n_threads=2) == evaluated(table.scan().to_arrow(), by="day")
    for snapshot in table.metadata.snapshots:
        old = table.scan(snapshot_id=snapshot.snapshot_id).to_arrow()
        if old.num_rows:
            for data in (folder, table):
                assert evaluated(data, version=snapshot.snapshot_id) == evaluated(old)
                moment = datetime.fromtimestamp(snapshot.timestamp_ms / 1000, UTC)
                assert evaluated(data, timestamp=moment) == evaluated(old)
    accumulator = fm.Accumulator(**OPTIONS)
    accumulator.update(folder)
    assert accumulator.result().to_dict()["results"] == expected
    models = {"metrics": "auc", "label": "click", "score": ["score", "user"], "replicates": 5, "unit": "user"}
    found = fm.compare(folder, **models).to_dict()["differences"]
    assert found == fm.compare(table.scan().to_arrow(), **models).to_dict()["differences"]


def test_columns_are_found_by_their_numbers(catalog):
    """A column keeps its number when its name changes, and a new column of an old name has another number."""
    from pyiceberg.types import DoubleType, LongType, StringType

    table = catalog.create_table("db.changed", rows(5).schema)
    table.append(rows(50))
    with table.update_schema() as update:
        update.update_column("click", LongType())
        update.rename_column("score", "old_score")
        update.add_column("note", StringType())
    with table.update_schema() as update:
        update.add_column("score", DoubleType())
    table.append(table.scan().to_arrow().set_column(5, "note", pa.array(["x"] * 50, pa.large_string())))
    with table.update_schema() as update:
        update.delete_column("score")
        update.rename_column("old_score", "score")
    found = read(folder_of(table), ["click", "score", "note"])
    expected = table.scan().to_arrow()
    assert found.schema.field("click").type == pa.int64()
    order = [("note", "ascending"), ("score", "ascending")]
    assert found.sort_by(order).to_pydict() == expected.select(found.column_names).sort_by(order).to_pydict()
    assert evaluated(folder_of(table)) == evaluated(expected)
    for where in ("score > 0.5", "note = 'x' and click >= 0"):
        assert evaluated(folder_of(table), where=where) == evaluated(expected, where=where)


def test_partitions(catalog):
    from pyiceberg.transforms import IdentityTransform

    table = catalog.create_table("db.parts", rows(5).schema)
    with table.update_spec() as update:
        update.add_field("city", IdentityTransform())
        update.add_field("day", IdentityTransform())
    table.append(rows(100))
    folder = folder_of(table)
    assert evaluated(folder, by=["city", "day"]) == evaluated(table.scan().to_arrow(), by=["city", "day"])
    part = next(os.path.join(place, names[0]) for place, _, names in os.walk(folder) if names and "city" in place)
    for data in (part, f"{folder}/data", f"{folder}/data/**", f"{folder}/*", [part], f"{folder}/metadata/*.avro"):
        assert_raises(ValueError, "(inside|holds) the Iceberg table .* Name the table itself", evaluated, data)
    assert_raises(ValueError, "holds the Iceberg table", evaluated, os.path.dirname(folder))


def test_files_that_were_added_have_names_alone(catalog, tmp_path):
    from pyiceberg.transforms import IdentityTransform

    table = catalog.create_table("db.added", rows(5).schema)
    with table.update_spec() as update:
        update.add_field("city", IdentityTransform())
    one = rows(700).filter(pa.compute.equal(rows(700)["city"], "city 3"))
    pq.write_table(one, tmp_path / "added.parquet")
    table.add_files([(tmp_path / "added.parquet").as_uri()])
    with table.update_schema() as update:
        update.rename_column("score", "prob")
    options = {"metrics": "auc", "label": "click", "score": "prob"}
    assert fm.evaluate(folder_of(table), **options) == fm.evaluate(one.rename_columns(
        ["user", "prob", "click", "city", "day"]), **options)  # fmt: skip


def test_filters_are_those_of_the_scan(catalog):
    table = catalog.create_table("db.filtered", rows(5).schema)
    table.append(rows(300))
    scan = table.scan(row_filter="score > 0.5", selected_fields=("click", "score"))
    assert isinstance(open_source(scan), IcebergScanSource)
    assert evaluated(scan) == evaluated(scan.to_arrow())
    assert open_source(scan).column_names == ["score", "click"]
    assert open_source(table.scan(limit=10)).column_names == rows(1).column_names
    assert sum(batch.num_rows for batch in open_source(table.scan(limit=10)).batches(["click"])) == 10
    assert_raises(ValueError, "version: the scan has a snapshot", evaluated, scan, version=1)


def test_deleted_rows_are_left_out(catalog):
    """A file of deleted positions, as engines that merge on read write it."""
    table = catalog.create_table("db.deleted", rows(5).schema)
    table.append(rows(100))
    before = table.current_snapshot().snapshot_id
    (task,) = table.scan().plan_files()
    delete_positions(table, task.file.file_path, [0, 5, 99])
    left = rows(100).take([row for row in range(100) if row not in (0, 5, 99)])
    for data in (table.scan(), table, folder_of(table)):
        assert isinstance(open_source(data), IcebergScanSource)
        assert evaluated(data, by="day") == evaluated(left, by="day")
    assert evaluated(table, version=before) == evaluated(rows(100))


def test_equality_deletes_are_refused(catalog):
    """Rows that equal those of a file are deleted. Reading them as present would be wrong without a word."""
    table = catalog.create_table("db.equal", rows(5).schema)
    table.append(rows(100))
    before = table.current_snapshot().snapshot_id
    delete_equal_rows(table, rows(100).select(["user"]).slice(0, 2))
    table.append(rows(50, seed=1))
    message = r"^the Iceberg (table|scan).* has equality deletes, which pyiceberg cannot apply: .*rewrite_data_files"
    named = table.scan(selected_fields=("click", "score"))
    scans = [table.scan(), table.scan(row_filter="score > 0.5"), table.scan(limit=3), named]
    for data in (table, folder_of(table), table.location(), *scans):
        assert_raises(ValueError, message, evaluated, data)
    assert_raises(ValueError, message, evaluated, table, where="score > 0.5")
    assert_raises(ValueError, message, fm.Accumulator(**OPTIONS).update, folder_of(table))
    assert evaluated(folder_of(table), version=before) == evaluated(rows(100))


def test_tables_in_stores(store, tmp_path):
    from pyiceberg.catalog.sql import SqlCatalog

    bucket = store.bucket("iceberg")
    catalog = SqlCatalog(
        "own", uri=f"sqlite:///{tmp_path}/catalog.db", warehouse=f"{bucket}/warehouse",
        **{"s3.endpoint": store.address, "s3.region": "us-east-1"},
    )  # fmt: skip
    catalog.create_namespace("db")
    table = catalog.create_table("db.clicks", rows(5).schema)
    table.append(rows(300))
    table.overwrite(rows(200, seed=1))
    expected = evaluated(rows(200, seed=1))
    for data in (table.location(), table.metadata_location, table):
        assert evaluated(data) == expected
    assert evaluated(table.location().removeprefix("s3://"), filesystem=store.filesystem) == expected
    assert_raises(ValueError, "inside the Iceberg table", evaluated, f"{table.location()}/data")
    catalog.close()


def test_what_is_wrong_is_named(catalog, monkeypatch):
    table = catalog.create_table("db.wrong", rows(5).schema)
    table.append(rows(10))
    folder = folder_of(table)
    message = r"version: the Iceberg table .* has no snapshot 7; the last are \d+"
    assert_raises(ValueError, message, evaluated, folder, version=7)
    assert_raises(ValueError, "has snapshots since 20.* none at 2000", evaluated, folder, timestamp="2000-01-01")
    newest = os.path.basename(table.metadata_location)
    twin = os.path.join(folder, "metadata", newest[:6] + "twin.metadata.json")
    with open(os.path.join(folder, "metadata", newest)) as original, open(twin, "w") as copy:
        copy.write(original.read())
    assert_raises(ValueError, "only its catalog knows which of them counts", evaluated, folder)
    with open(twin, "w") as damaged:
        damaged.write("{")
    assert_raises(ValueError, "the Iceberg table .* cannot be read", evaluated, twin)
    monkeypatch.setitem(sys.modules, "pyiceberg", None)
    message = r"reading the Iceberg table .* needs pyiceberg: pip install 'fastmetrics-engine\[lake\]'"
    assert_raises(ImportError, message, evaluated, folder)
