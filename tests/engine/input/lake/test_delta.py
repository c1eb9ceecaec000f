"""Delta tables written by deltalake: snapshots, schema changes, deleted rows, and never the files underneath."""

import json
import os
import shutil
import struct
import sys
from datetime import UTC, date, datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import fs

import fastmetrics as fm
from fastmetrics.engine.input.lake.delta_table import files_of_version
from fastmetrics.engine.input.sources import open_source
from support.cases import assert_raises
from support.files.log_files import log, read

deltalake = pytest.importorskip("deltalake")
OPTIONS = {"metrics": "auc,logloss", "label": "click", "score": "score"}
FIRST_ROWS = 3000


def evaluated(data, **options):
    return fm.evaluate(data, **OPTIONS, **options).to_dict()["results"]


def commit(folder, number=0):
    return folder / "_delta_log" / f"{number:020}.json"


def edit_commit(folder, change, number=0):
    """Change the actions of a commit: `change` gets them as a dict of lists."""
    lines = [json.loads(line) for line in commit(folder, number).read_text().splitlines()]
    found = {}
    for line in lines:
        for kind, action in line.items():
            found.setdefault(kind, []).append(action)
    change(found)
    commit(folder, number).write_text("\n".join(json.dumps(line) for line in lines))


def set_features(folder, *features, version=3):
    def change(actions):
        actions["protocol"][0].update(minReaderVersion=version, minWriterVersion=7 if version == 3 else 5)
        if version == 3:
            actions["protocol"][0].update(readerFeatures=[*features], writerFeatures=[*features])

    edit_commit(folder, change)


@pytest.fixture(scope="module")
def table_folder(tmp_path_factory):
    """Four versions: written, appended, half of it deleted, and overwritten in one partition; files are removed."""
    folder = tmp_path_factory.mktemp("delta") / "clicks"
    table = log(FIRST_ROWS).append_column("day", pa.array([date(2026, 11, 1 + i % 3) for i in range(FIRST_ROWS)]))
    deltalake.write_deltalake(folder, table, partition_by=["day", "city"])
    deltalake.write_deltalake(folder, table.slice(0, 500), mode="append")
    deltalake.DeltaTable(folder).delete("score > 0.5 and day = '2026-11-02'")
    replaced = {"mode": "overwrite", "predicate": "city = 'city 3'"}
    city = table.filter(pa.compute.equal(table["city"], "city 3"))
    deltalake.write_deltalake(folder, city.slice(0, 40), **replaced)
    return folder


@pytest.fixture(scope="module")
def stored(store, tmp_path_factory):
    """A folder and its copy in a store: a table of two versions with few files, for each is several requests."""
    folder = tmp_path_factory.mktemp("stored") / "clicks"
    table = log(700)
    cities = table.filter(pa.compute.is_in(table["city"], pa.array(["city 1", "city 3"])))
    deltalake.write_deltalake(folder, cities, partition_by=["city"])
    deltalake.write_deltalake(folder, cities.slice(0, 80), mode="overwrite")
    return folder, store.upload(folder, f"{store.bucket('delta')}/tables/clicks")


def snapshot(folder, version=None):
    return deltalake.DeltaTable(folder, version=version).to_pyarrow_table()


# ------------------------------------------------------------------------------------------------------- the snapshot


def test_removed_files_are_not_read(tmp_path):
    """The table of the issue: 300 rows are replaced by 300 others, and 600 stand in the files."""
    rng = np.random.default_rng(0)
    clicks = rng.integers(0, 2, 300)
    deltalake.write_deltalake(tmp_path, pa.table({"click": clicks, "score": rng.random(300)}))
    better = pa.table({"click": clicks, "score": 0.5 * rng.random(300) + 0.3 * clicks})
    deltalake.write_deltalake(tmp_path, better, mode="overwrite")
    report = fm.evaluate(tmp_path, **OPTIONS)
    assert report.rows == 300 != pq.ParquetDataset(tmp_path).read().num_rows
    assert report["auc"] == fm.evaluate(better, **OPTIONS)["auc"] > 0.7
    assert evaluated(tmp_path) == evaluated(deltalake.DeltaTable(tmp_path).to_pyarrow_table())


def test_every_version_and_container(table_folder):
    for version in range(4):
        expected = snapshot(table_folder, version)
        for n_threads in (1, 2):
            assert evaluated(table_folder, version=version, n_threads=n_threads) == evaluated(expected)
        assert evaluated(deltalake.DeltaTable(table_folder, version=version)) == evaluated(expected)
        by = {"by": ["day", "city"]}
        assert evaluated(table_folder, version=str(version), **by) == evaluated(expected, **by)
    assert evaluated([str(table_folder)]) == evaluated(f"{table_folder}/") == evaluated(expected)
    assert evaluated(table_folder.as_uri()) == evaluated(expected)
    source = open_source(table_folder)
    assert source.rows == expected.num_rows
    assert source.column_names == expected.column_names
    assert read(table_folder, ["day", "city"]).schema.types[0] == pa.date32()
    reader = deltalake.QueryBuilder().register("t", deltalake.DeltaTable(table_folder)).execute("select * from t")
    assert evaluated(reader) == evaluated(expected)


def test_filters(table_folder, tmp_path):
    expected = snapshot(table_folder)
    for where in (
        "day = '2026-11-02'", "city <> 'city 3' and score > 0.25", "day >= '2026-11-02' and user < 20", "score > 0.999",
        "city is null or day in ('2026-11-01', '2026-11-03')",
    ):  # fmt: skip
        for n_threads in (1, 2):
            found = evaluated(table_folder, where=where, n_threads=n_threads)
            assert found == evaluated(expected, where=where), where
    deltalake.write_deltalake(tmp_path, log(100))
    write_deleted_rows(tmp_path)
    left = log(100).take([row for row in range(100) if row not in DELETED])
    assert evaluated(tmp_path, where="user < 25") == evaluated(left, where="user < 25")
    assert fm.evaluate(tmp_path, **OPTIONS, where="user < 0 or user >= 0").rows == 94


def test_compare_and_accumulators(table_folder):
    models = {"metrics": "auc", "label": "click", "score": ["score", "user"], "replicates": 10, "unit": "user"}
    found = fm.compare(table_folder, version=1, **models)
    expected = fm.compare(snapshot(table_folder, 1), **models)
    assert found.to_dict()["differences"] == expected.to_dict()["differences"]
    accumulator = fm.Accumulator(**OPTIONS)
    accumulator.update(table_folder, version=0)
    assert accumulator.result().to_dict()["results"] == evaluated(snapshot(table_folder, 0))


def test_times(table_folder, tmp_path):
    folder = tmp_path / "table"
    shutil.copytree(table_folder, folder)
    start = datetime(2026, 11, 1, tzinfo=UTC)
    for number in range(4):
        moment = (start + timedelta(days=number)).timestamp()
        os.utime(commit(folder, number), (moment, moment))
    for number in range(4):
        expected = evaluated(snapshot(folder, number))
        for moment in (start + timedelta(days=number), start + timedelta(days=number, hours=23)):
            assert evaluated(folder, timestamp=moment) == expected
            assert evaluated(folder, timestamp=moment.isoformat()) == expected
            assert evaluated(folder, timestamp=moment.replace(tzinfo=None)) == expected
    assert evaluated(folder, timestamp="2026-11-02") == evaluated(snapshot(folder, 1))
    assert evaluated(folder, timestamp="2100-01-01") == evaluated(snapshot(folder))
    message = r"timestamp: the Delta table .* has snapshots since 2026-11-01T00:00:00.000\+00:00, none at 2026-10-31"
    assert_raises(ValueError, message, evaluated, folder, timestamp="2026-10-31")
    os.utime(commit(folder, 2), (0, 0))  # times of files that do not rise are raised
    assert evaluated(folder, timestamp="2026-11-02T12:00:00") == evaluated(snapshot(folder, 2))
    edit_commit(folder, lambda actions: actions["commitInfo"][0].update(inCommitTimestamp=1), 0)
    assert evaluated(folder, timestamp="2000-01-01") == evaluated(snapshot(folder, 0))


def test_a_log_with_checkpoints_whose_first_commits_are_gone(table_folder, tmp_path):
    folder = tmp_path / "table"
    shutil.copytree(table_folder, folder)
    deltalake.DeltaTable(folder, version=2).create_checkpoint()
    expected = evaluated(snapshot(folder))
    for number in (0, 1):
        commit(folder, number).unlink()
    assert evaluated(folder) == expected
    message = "version: the Delta table .* has no version 0; its log has versions 2 to 3"
    assert_raises(ValueError, message, evaluated, folder, version=0)


def test_a_vacuumed_version_says_so(table_folder, tmp_path):
    folder = tmp_path / "table"
    shutil.copytree(table_folder, folder)
    deltalake.DeltaTable(folder).vacuum(0, dry_run=False, enforce_retention_duration=False)
    assert evaluated(folder) == evaluated(snapshot(folder))
    message = "the Delta table .*, version 0 lacks a file; is it vacuumed"
    assert_raises(FileNotFoundError, message, evaluated, folder, version=0)


def test_an_empty_table(tmp_path):
    deltalake.write_deltalake(tmp_path, log(5))
    deltalake.DeltaTable(tmp_path).delete()
    assert_raises(ValueError, "data has no rows", evaluated, tmp_path)


# ------------------------------------------------------------------------------------------------------ schema changes


def test_columns_that_were_added_are_null_before(tmp_path):
    deltalake.write_deltalake(tmp_path, pa.table({"click": [0, 1], "score": [0.25, 0.5]}))
    wider = pa.table({"click": [1], "score": [0.75], "note": ["new"], "n": pa.array([7], pa.int32())})
    deltalake.write_deltalake(tmp_path, wider, mode="append", schema_mode="merge")
    found = read(tmp_path, ["score", "note", "n"]).sort_by("score")
    assert found.to_pydict() == {"score": [0.25, 0.5, 0.75], "note": [None, None, "new"], "n": [None, None, 7]}
    options = {"by": "note", "on_invalid": "drop"}
    assert evaluated(tmp_path, **options) == evaluated(snapshot(tmp_path), **options)
    assert_raises(ValueError, "score column 'n' has a null", fm.evaluate, tmp_path, "rmse", label="score", score="n")


def test_types_that_were_widened(tmp_path):
    narrow = pa.table({"n": pa.array([1, 2], pa.int32()), "x": pa.array([0.5, 1], pa.float32())})
    deltalake.write_deltalake(tmp_path, narrow)

    def widen(actions):
        metadata = actions["metaData"][0]
        schema = json.loads(metadata["schemaString"])
        schema["fields"][0]["type"], schema["fields"][1]["type"] = "long", "double"
        metadata["schemaString"] = json.dumps(schema)

    edit_commit(tmp_path, widen)
    set_features(tmp_path, "typeWidening")
    found = read(tmp_path, ["n", "x"])
    assert found.schema.types == [pa.int64(), pa.float64()]
    assert found.to_pydict() == {"n": [1, 2], "x": [0.5, 1.0]}


@pytest.mark.parametrize("mode", ["name", "id"])
def test_mapped_columns(mode, tmp_path):
    """The names of columns in files are not those of the table."""
    ids = [pa.field(name, kind, metadata={"PARQUET:field_id": str(number + 1)}) for number, (name, kind) in enumerate(
        [("col-a", pa.int64()), ("col-b", pa.float64())])]  # fmt: skip
    stored = pa.table({"col-a": [0, 1, 1], "col-b": [0.25, 0.5, 0.75], "col-c": ["x", "y", "y"]})
    deltalake.write_deltalake(tmp_path, stored, partition_by="col-c")

    def rename(actions):
        metadata = actions["metaData"][0]
        metadata["configuration"] = {"delta.columnMapping.mode": mode, "delta.columnMapping.maxColumnId": "3"}
        schema = json.loads(metadata["schemaString"])
        for number, (field, name) in enumerate(zip(schema["fields"], ["click", "score", "kind"], strict=True)):
            mapping = "delta.columnMapping"
            field["metadata"] = {f"{mapping}.id": number + 1, f"{mapping}.physicalName": field["name"]}
            field["name"] = name
        metadata.update(schemaString=json.dumps(schema), partitionColumns=["kind"])

    edit_commit(tmp_path, rename)
    set_features(tmp_path, version=2)
    if mode == "id":
        assert_raises(ValueError, "a file of the table has no field ids", read, tmp_path, ["score"])
        for path in tmp_path.glob("*/*.parquet"):
            pq.write_table(pq.ParquetFile(path).read().cast(pa.schema(ids)), path)
    found = read(tmp_path, ["score", "click", "kind"]).sort_by("score")
    assert found.to_pydict() == {"score": [0.25, 0.5, 0.75], "click": [0, 1, 1], "kind": ["x", "y", "y"]}
    assert evaluated(tmp_path, by="kind") == evaluated(found, by="kind")
    where = {"where": "score < 0.6 and kind <> 'z'"}
    assert evaluated(tmp_path, **where) == evaluated(found, **where)


def test_fields_of_structs(tmp_path):
    rows = [{"model": {"a": 0.5, "b": 1}, "click": 1}, {"model": {"a": 0.25, "b": 2}, "click": 0}]
    deltalake.write_deltalake(tmp_path, pa.Table.from_pylist(rows))
    options = {"metrics": "auc", "label": "click", "score": "model.a"}
    assert fm.evaluate(tmp_path, **options)["auc"] == 1.0
    more = pa.Table.from_pylist([{"model": {"a": 0.5, "b": 1, "c": 2}, "click": 1}])
    deltalake.write_deltalake(tmp_path, more, mode="append", schema_mode="merge")
    assert_raises(ValueError, "column 'model' of .* has other fields", fm.evaluate, tmp_path, **options)


# ------------------------------------------------------------------------------- deletion vectors, features of readers

DELETED = [3, 4, 7, 11, 18, 29]
Z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"


def write_deleted_rows(folder):
    """Delete rows as engines with deletion vectors do, in the commit that adds the file."""
    bitmap = struct.pack("<IIHHI", 12346, 1, 0, len(DELETED) - 1, 16) + struct.pack(f"<{len(DELETED)}H", *DELETED)
    content = struct.pack("<IqI", 1681511377, 1, 0) + bitmap
    text = ""
    for (word,) in struct.iter_unpack(">I", content):
        text += "".join(Z85[word // 85**power % 85] for power in (4, 3, 2, 1, 0))

    def change(actions):
        vector = {"storageType": "i", "pathOrInlineDv": text, "sizeInBytes": len(content), "cardinality": len(DELETED)}
        actions["add"][0]["deletionVector"] = vector
        actions["metaData"][0]["configuration"]["delta.enableDeletionVectors"] = "true"

    edit_commit(folder, change)
    set_features(folder, "deletionVectors")


def test_rows_of_deletion_vectors_are_left_out(tmp_path, store):
    table = log(100)
    deltalake.write_deltalake(tmp_path / "a", table)
    write_deleted_rows(tmp_path / "a")
    left = table.take([row for row in range(100) if row not in DELETED])
    assert read(tmp_path / "a") == left.select(read(tmp_path / "a").column_names)
    assert open_source(tmp_path / "a").rows == 94
    assert evaluated(tmp_path / "a") == evaluated(left)
    assert evaluated(deltalake.DeltaTable(tmp_path / "a"), n_threads=2) == evaluated(left)
    uri = store.upload(tmp_path / "a", f"{store.bucket('vectors')}/a")
    assert evaluated(uri) == evaluated(left)


def test_deletion_vectors_that_cannot_be_read_are_an_error(tmp_path):
    deltalake.write_deltalake(tmp_path, log(100))
    write_deleted_rows(tmp_path)
    edit_commit(tmp_path, lambda actions: actions["add"][0]["deletionVector"].update(pathOrInlineDv="00000" * 11))
    assert_raises(ValueError, "has deleted rows that cannot be read", evaluated, tmp_path)


def test_features_that_are_not_known_are_an_error(tmp_path):
    for number, (features, version, message) in enumerate([
        (["variantType"], 3, "the Delta table .* needs variantType, which is not read here"),
        (["nonsense"], 3, "the Delta table .* cannot be read: .*nonsense"),
        ([], 4, "the Delta table .* cannot be read: .*version 4"),
    ]):  # fmt: skip
        folder = tmp_path / str(number)
        deltalake.write_deltalake(folder, log(10))
        set_features(folder, *features, version=version)
        assert_raises(ValueError, message, evaluated, folder)
    for feature in ("timestampNtz", "v2Checkpoint", "vacuumProtocolCheck", "deletionVectors"):
        folder = tmp_path / feature
        deltalake.write_deltalake(folder, log(10))
        set_features(folder, feature)
        assert evaluated(folder) == evaluated(log(10))


# ------------------------------------------------------------------------------ never the files underneath


def test_parts_of_a_table_are_an_error(stored):
    folder, uri = stored
    (first, *_), city = sorted(folder.glob("*/*.parquet")), sorted(folder.glob("city=*"))[0]
    inside = first.relative_to(folder)
    for table, parent in ((str(folder), str(folder.parent)), (uri, uri.rpartition("/")[0])):
        for part in (
            f"{table}/{city.name}", f"{table}/{inside}", f"{table}/*", f"{table}/**/*.parquet", f"{table}/city=*",
            f"{table}/_delta_log/*.json", [f"{table}/{inside}"], [f"{table}/{inside}", f"{table}/{city.name}"],
        ):  # fmt: skip
            message = r"(inside|holds) the Delta Lake table .*clicks.* Name the table itself"
            assert_raises(ValueError, message, evaluated, part)
        assert_raises(ValueError, r"holds the Delta Lake table .*clicks, .* Name the table itself", evaluated, parent)
        assert_raises(ValueError, r"(inside|holds) the Delta Lake table", evaluated, f"{parent}/*")
        assert_raises(ValueError, r"(inside|holds) the Delta Lake table", evaluated, [table, table])


def test_a_link_into_a_table_is_found(table_folder, tmp_path):
    link = tmp_path / "log.parquet"
    link.symlink_to(next(table_folder.glob("*/*/*.parquet")))
    assert_raises(ValueError, "inside the Delta Lake table", evaluated, link)


def test_without_the_extra_nothing_is_read(table_folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "deltalake", None)
    message = r"reading the Delta table .* needs deltalake: pip install 'fastmetrics-engine\[lake\]'"
    assert_raises(ImportError, message, evaluated, table_folder)


def test_hudi_is_refused(tmp_path, store):
    pq.write_table(log(10), tmp_path / "a.parquet")
    (tmp_path / ".hoodie").mkdir()
    (tmp_path / ".hoodie" / "hoodie.properties").touch()
    uri = store.upload(tmp_path, f"{store.bucket('hudi')}/a")
    for folder in (str(tmp_path), uri):
        assert_raises(ValueError, "is a table of Hudi, which is not read here", evaluated, folder)
        assert_raises(ValueError, "inside the Hudi table", evaluated, f"{folder}/a.parquet")


# ------------------------------------------------------------------------------ stores and errors


def test_tables_in_stores(stored, store):
    folder, uri = stored
    address = uri.removeprefix("s3://")
    options = {"AWS_ENDPOINT_URL": store.address, "AWS_ALLOW_HTTP": "true"}
    for version in (0, 1):
        expected = evaluated(snapshot(folder, version))
        assert evaluated(uri, version=version) == expected
        assert evaluated(address, filesystem=store.filesystem, version=version) == expected
        table = deltalake.DeltaTable(uri, version=version, storage_options=options)
        assert evaluated(table) == expected
    fsspec = pytest.importorskip("fsspec")
    memory = fsspec.filesystem("memory")
    memory.put(str(folder), "/clicks", recursive=True)
    assert evaluated("memory://clicks") == evaluated("clicks", filesystem=memory) == expected
    memory.rm("/clicks", recursive=True)
    assert evaluated(uri, timestamp="2100-01-01") == expected


def test_only_the_needed_part_of_a_log_is_copied():
    def info(name):
        return fs.FileInfo(f"t/_delta_log/{name}", fs.FileType.File)

    commits = [info(f"{number:020}.json") for number in range(8)]
    checkpoints = [info(f"{2:020}.checkpoint.parquet"), info(f"{5:020}.checkpoint.{1:010}.{2:010}.parquet")]
    other = [info("_last_checkpoint"), info(f"{3:020}.crc"), info("_sidecars/a.parquet")]
    chosen = [entry.base_name for entry in files_of_version([*commits, *checkpoints, *other], None)]
    assert chosen == [checkpoints[0].base_name, *(entry.base_name for entry in commits[2:]), "a.parquet"]
    second = info(f"{5:020}.checkpoint.{2:010}.{2:010}.parquet")
    chosen = files_of_version([*commits, *checkpoints, second], None)
    assert [entry.base_name[:20] for entry in chosen] == [f"{number:020}" for number in (5, 5, 5, 6, 7)]
    assert len(files_of_version([*commits, *checkpoints, second], 4)) == 1 + 3


def test_wrong_versions(table_folder):
    for options, message in [
        ({"version": 9}, "has no version 9; its log has versions 0 to 3"), ({"version": -1}, "must not be negative"),
        ({"version": "latest"}, "version must be an integer; got 'latest'"),
        ({"version": 1, "timestamp": "2026-11-01"}, "version and timestamp each name a snapshot"),
        ({"timestamp": "yesterday"}, "timestamp: type a time such as"),
        ({"format": "csv"}, "format: it is for files"),
    ]:  # fmt: skip
        assert_raises(ValueError, message, evaluated, table_folder, **options)
    assert_raises(TypeError, "version must be an integer; got float", evaluated, table_folder, version=1.5)
    assert_raises(TypeError, "timestamp must be a str or a datetime", evaluated, table_folder, timestamp=5)
    table = deltalake.DeltaTable(table_folder)
    assert_raises(ValueError, "version: the DeltaTable .* has a version already", evaluated, table, version=1)
    one = next(table_folder.glob("*/*/*.parquet"))
    shutil.copy(one, table_folder.parent.parent / "plain.parquet")
    message = "version: it is for tables of Delta Lake and Iceberg, and data is a path of files"
    assert_raises(ValueError, message, evaluated, table_folder.parent.parent / "plain.parquet", version=1)


def test_a_damaged_log(tmp_path):
    (tmp_path / "_delta_log").mkdir()
    assert_raises(ValueError, "the Delta table .* cannot be read", evaluated, tmp_path)
    deltalake.write_deltalake(tmp_path / "b", log(10))
    commit(tmp_path / "b").write_text("{")
    assert_raises(ValueError, "the Delta table .* cannot be read", evaluated, tmp_path / "b")
