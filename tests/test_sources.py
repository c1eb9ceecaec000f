"""Anything Arrow -> record batches: the same rows through every door, bounded memory, errors that name the file."""

import gzip
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet
import pytest
from peers import duckdb, pandas, polars

from fastmetrics.engine.batches import BATCH_ROWS, READ_AHEAD_BATCHES, read_ahead, resized
from fastmetrics.engine.sources import open_source

COLUMNS = ["user", "score", "click"]


def log(n_rows=1000, seed=0):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "user": pa.array(rng.integers(0, 50, n_rows)),
            "score": pa.array(rng.random(n_rows)),
            "click": pa.array(rng.integers(0, 2, n_rows), pa.int8()),
            "city": pa.array([f"city {i % 7}" for i in range(n_rows)]),
        }
    )


def read(data, columns=COLUMNS, use_threads=True):
    batches = list(open_source(data).batches(columns, use_threads=use_threads))
    assert all(0 < batch.num_rows <= BATCH_ROWS for batch in batches)
    assert all(batch.schema == batches[0].schema for batch in batches)
    return pa.Table.from_batches(batches)


def write_parquet(table, path, **options):
    path.parent.mkdir(parents=True, exist_ok=True)
    pa.parquet.write_table(table, path, **options)
    return path


def write_ipc(table, path, *, stream=False, rows_per_batch=100, options=None):
    new = pa.ipc.new_stream if stream else pa.ipc.new_file
    with new(str(path), table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=rows_per_batch)
    return path


def write_csv(table, path):
    pa.csv.write_csv(table, path)
    return path


def corrupt_column(path, index):
    """Overwrite a column of a Parquet file; its footer and the other columns stay whole."""
    column = pa.parquet.read_metadata(path).row_group(0).column(index)
    start = column.dictionary_page_offset or column.data_page_offset
    content = bytearray(path.read_bytes())
    content[start : start + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    path.write_bytes(content)
    return path


def truncate(path, n_bytes):
    path.write_bytes(path.read_bytes()[:-n_bytes])
    return path


# ------------------------------------------------------------------------------------------------ the same rows


def parquet_file(table, folder):
    return write_parquet(table, folder / "log.parquet", row_group_size=300)


def gzipped_csv(table, folder):
    path = folder / "log.csv.gz"
    path.write_bytes(gzip.compress(write_csv(table, folder / "plain.csv").read_bytes()))
    return path


def zstd_csv(table, folder):
    plain = write_csv(table, folder / "plain.csv").read_bytes()
    path = folder / "log.csv.zst"
    with pa.output_stream(str(path), compression="zstd") as stream:
        stream.write(plain)
    return path


class OnlyStream:
    """Nothing but the protocol."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class OnlyArray:
    def __init__(self, table):
        self.batch = table.combine_chunks().to_batches()[0]

    def __arrow_c_array__(self, requested_schema=None):
        return self.batch.__arrow_c_array__(requested_schema)


DOORS = {
    "parquet": parquet_file,
    "parquet, path as text": lambda table, folder: str(parquet_file(table, folder)),
    "parquet, .pq": lambda table, folder: write_parquet(table, folder / "LOG.PQ"),
    "list of paths": lambda table, folder: [parquet_file(table, folder)],
    "glob": lambda table, folder: str(parquet_file(table, folder).parent / "*.parquet"),
    "directory": lambda table, folder: parquet_file(table, folder).parent,
    "ipc file": lambda table, folder: write_ipc(table, folder / "log.arrow"),
    "ipc stream": lambda table, folder: write_ipc(table, folder / "log.arrows", stream=True),
    "feather, lz4": lambda table, folder: write_ipc(
        table, folder / "log.feather", options=pa.ipc.IpcWriteOptions(compression="lz4")
    ),
    "table": lambda table, folder: table,
    "chunked table": lambda table, folder: pa.concat_tables([table.slice(0, 7), table.slice(7)]),
    "record batch": lambda table, folder: table.combine_chunks().to_batches()[0],
    "reader": lambda table, folder: table.to_reader(max_chunksize=90),
    "in-memory dataset": lambda table, folder: pa.dataset.dataset(table),
    "dataset of files": lambda table, folder: pa.dataset.dataset(parquet_file(table, folder)),
    "stream capsule": lambda table, folder: OnlyStream(table),
    "array capsule": lambda table, folder: OnlyArray(table),
    "polars": lambda table, folder: polars().from_arrow(table),
    "pandas": lambda table, folder: pandas() and table.to_pandas(),
    "duckdb": lambda table, folder: duckdb().from_arrow(table),
    "dict of numpy arrays": lambda table, folder: {name: table[name].to_numpy() for name in table.column_names},
    "dict of lists": lambda table, folder: table.to_pydict(),
    "dict of arrow columns": lambda table, folder: {name: table[name] for name in table.column_names},
}


@pytest.mark.parametrize("use_threads", [False, True])
@pytest.mark.parametrize("door", DOORS)
def test_every_door_gives_the_same_rows(door, use_threads, tmp_path):
    table = log()
    found = read(DOORS[door](table, tmp_path), use_threads=use_threads)
    assert found.column_names == COLUMNS
    assert found.to_pydict() == table.select(COLUMNS).to_pydict()


@pytest.mark.parametrize("write", [lambda t, f: write_csv(t, f / "log.csv"), gzipped_csv, zstd_csv])
@pytest.mark.parametrize("use_threads", [False, True])
def test_csv_gives_the_same_rows(write, use_threads, tmp_path):
    table = log()
    path = write(table, tmp_path)
    found = read(path, use_threads=use_threads)
    assert found.to_pydict() == table.select(COLUMNS).to_pydict()
    assert found.schema.types == [pa.int64(), pa.float64(), pa.int64()]
    assert open_source(path).rows is None


@pytest.mark.parametrize("door", DOORS)
def test_columns_come_in_the_order_asked_for_and_once(door, tmp_path):
    found = read(DOORS[door](log(10), tmp_path), ["city", "score", "city"])
    assert found.column_names == ["city", "score"]
    assert found.to_pydict() == log(10).select(["city", "score"]).to_pydict()


@pytest.mark.parametrize("door", DOORS)
def test_rows_are_known_before_reading_or_unknown(door, tmp_path):
    source = open_source(DOORS[door](log(123), tmp_path))
    unknown = ("ipc stream", "reader", "stream capsule", "duckdb", "in-memory dataset", "dataset of files")
    assert source.rows == (None if door in unknown else 123)
    assert source.column_names == log(1).column_names


@pytest.mark.parametrize("door", [name for name in DOORS if name != "reader"])
def test_a_source_can_be_read_again(door, tmp_path):
    source = open_source(DOORS[door](log(50), tmp_path))
    first, second = (pa.Table.from_batches(source.batches(COLUMNS)) for _ in range(2))
    assert first.to_pydict() == second.to_pydict() == log(50).select(COLUMNS).to_pydict()


def test_real_log(visits_path, visits):
    found = read(visits_path, ["user_id", "label", "score"])
    assert open_source(visits_path).rows == found.num_rows == 980_067
    for name in found.column_names:
        assert np.array_equal(found[name].to_numpy(), visits[name])


def test_real_csv(data_folder):
    found = read(str(data_folder / "obd" / "*.csv.gz"), ["click", "propensity_score"])
    assert found.num_rows == 40_000
    assert pa.compute.sum(found["click"]).as_py() == 207


# ------------------------------------------------------------------------------------- only the columns asked for


def test_a_damaged_column_that_is_not_asked_for_is_not_read(tmp_path):
    path = corrupt_column(write_parquet(log(), tmp_path / "log.parquet"), log().column_names.index("city"))
    assert read(path).to_pydict() == log().select(COLUMNS).to_pydict()
    with pytest.raises(ValueError, match=r"log\.parquet cannot be read as Parquet; is it damaged"):
        read(path, ["city"])


@pytest.mark.parametrize("stream", [False, True])
def test_unread_columns_of_ipc_files_are_not_decoded(stream, tmp_path):
    compressed = pa.ipc.IpcWriteOptions(compression="lz4")
    path = write_ipc(log(), tmp_path / "log.arrow", stream=stream, rows_per_batch=1000, options=compressed)
    content = path.read_bytes()
    frame = b"\x04\x22\x4d\x18"  # every compressed buffer begins so; the last ones are those of the last column
    path.write_bytes(content[::-1].replace(frame[::-1], b"\xff\xff\xff\xff", 1)[::-1])
    assert read(path).to_pydict() == log().select(COLUMNS).to_pydict()
    with pytest.raises(ValueError, match=r"log\.arrow cannot be read as Arrow IPC"):
        read(path, ["city"])


def test_unread_columns_of_a_csv_file_are_not_converted(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(b"click,note\n" + b"1,2\n" * 1_500_000 + b"0,words\n")
    assert read(path, ["click"]).num_rows == 1_500_001
    with pytest.raises(ValueError, match=r"log\.csv cannot be read as CSV"):
        read(path, ["note"])


def test_unread_arrays_are_not_converted():
    data = {"click": [0, 1], "vector": np.zeros((2, 3)), "anything": np.array([object(), 1j], dtype=object)}
    assert read(data, ["click"]).to_pydict() == {"click": [0, 1]}
    assert read(pandas().DataFrame({"click": [0, 1], "mixed": [1, "a"]}), ["click"]).num_rows == 2


def test_duckdb_does_not_compute_unread_columns():
    relation = duckdb().sql("""select 1 as click, error('computed') as "other ""column" """)
    assert open_source(relation).column_names == ["click", 'other "column']
    assert read(relation, ["click"]).to_pydict() == {"click": [1]}
    with pytest.raises(Exception, match="computed"):
        read(relation, ['other "column'])


# -------------------------------------------------------------------------------------- bounded memory, in order


def numbered(n_batches, made):
    for number in range(n_batches):
        made.append(number)
        yield pa.record_batch({"number": pa.array([number])})


def test_read_ahead_keeps_order_and_stays_a_few_batches_ahead():
    made = []
    for used, batch in enumerate(read_ahead(numbered(50, made))):
        assert batch["number"].to_pylist() == [used]
        assert len(made) <= used + 1 + READ_AHEAD_BATCHES
    assert made == list(range(50))


def test_read_ahead_gives_the_good_batches_before_an_error():
    def failing():
        yield pa.record_batch({"number": [0]})
        raise OSError("bad sector")

    batches = read_ahead(failing())
    assert next(batches).num_rows == 1
    with pytest.raises(OSError, match="bad sector"):
        next(batches)


def test_an_early_end_stops_the_thread_and_closes_the_file():
    closed = threading.Event()

    def endless():
        try:
            while True:
                yield pa.record_batch({"number": [0]})
        finally:
            closed.set()

    held_elsewhere = endless()
    batches = read_ahead(held_elsewhere)
    next(batches)
    batches.close()
    assert closed.is_set()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("fastmetrics")]


def test_without_threads_nothing_runs_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setattr("concurrent.futures.ThreadPoolExecutor", None)
    assert read(parquet_file(log(), tmp_path), use_threads=False).num_rows == 1000


@pytest.fixture
def arrow_peak():
    """The most bytes that Arrow held since the start of the test."""
    pool = pa.proxy_memory_pool(pa.default_memory_pool())
    before = pa.default_memory_pool()
    pa.set_memory_pool(pool)
    yield pool.max_memory
    pa.set_memory_pool(before)


@pytest.mark.parametrize("row_group_size", [100_000, 4_000_000])
def test_memory_does_not_grow_with_the_file(row_group_size, tmp_path, arrow_peak):
    n_rows = 4_000_000
    table = pa.table({"user": np.arange(n_rows), "score": np.random.default_rng(0).random(n_rows)})
    path = write_parquet(table, tmp_path / "log.parquet", row_group_size=row_group_size)
    held_before = arrow_peak()
    n_bytes = table.nbytes
    del table
    assert sum(batch.num_rows for batch in open_source(path).batches(["user", "score"])) == n_rows
    assert n_bytes > 60e6
    assert arrow_peak() - held_before < 30e6


def test_batches_have_a_useful_size():
    sizes = [1, 0, 5, 3 * BATCH_ROWS + 1, 10, BATCH_ROWS, 20_000]
    numbers = np.arange(sum(sizes))
    stops = np.cumsum(sizes)
    cut = [pa.record_batch({"number": numbers[stop - size : stop]}) for stop, size in zip(stops, sizes, strict=True)]
    found = list(resized(cut))
    assert max(batch.num_rows for batch in found) == BATCH_ROWS
    assert np.array_equal(np.concatenate([batch["number"].to_numpy() for batch in found]), numbers)
    many = [pa.record_batch({"number": [number]}) for number in range(1000)]
    assert [batch.num_rows for batch in resized(many)] == [1000]


def test_short_batches_with_dictionaries_of_their_own_are_joined_by_value():
    reader = pa.RecordBatchReader.from_batches(
        pa.schema([("user", pa.dictionary(pa.int32(), pa.string()))]),
        [pa.record_batch({"user": pa.array(users).dictionary_encode()}) for users in (["a", "b"], ["b", "c"])],
    )
    assert read(reader, ["user"])["user"].to_pylist() == ["a", "b", "b", "c"]


# ------------------------------------------------------------------------------------------ directories and globs


def test_hive_folders_are_columns(tmp_path):
    for day in (2, 10):
        for channel in ("ads%2Fsearch", "__HIVE_DEFAULT_PARTITION__"):
            write_parquet(log(3, seed=day), tmp_path / f"day={day}" / f"channel={channel}" / "part-0.parquet")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / "day=2" / ".part-0.parquet.crc").touch()
    source = open_source(tmp_path)
    assert source.column_names == [*log(1).column_names, "day", "channel"]
    assert source.rows == 12
    found = read(tmp_path, ["day", "click", "channel"])
    assert found.schema.types == [pa.int64(), pa.int8(), pa.string()]
    assert found["day"].to_pylist() == [10] * 6 + [2] * 6
    assert found["channel"].to_pylist() == ([None] * 3 + ["ads/search"] * 3) * 2
    assert read(tmp_path, ["day"])["day"].to_pylist() == [10] * 6 + [2] * 6
    assert read(str(tmp_path / "day=1*"), ["day"])["day"].to_pylist() == [10] * 6


def test_hive_values_that_are_not_plain_integers_stay_text(tmp_path):
    for code in ("7", "07"):
        write_parquet(log(1), tmp_path / f"code={code}" / "a.parquet")
    assert read(tmp_path, ["code"])["code"].to_pylist() == ["07", "7"]


def test_a_column_of_the_file_wins_over_the_folder(tmp_path):
    write_parquet(pa.table({"day": [5, 6]}), tmp_path / "day=1" / "a.parquet")
    assert read(tmp_path, ["day"])["day"].to_pylist() == [5, 6]


def test_globs_are_sorted_and_each_file_comes_once(tmp_path):
    for name in ("b/2", "a/1", "a/deep/0", "_temporary/9", "b/_9"):
        write_parquet(pa.table({"name": [name]}), tmp_path / f"{name}.parquet")
    (tmp_path / "empty").mkdir()
    for pattern in ("**", "**/*.parquet", "*"):
        assert read(str(tmp_path / pattern), ["name"])["name"].to_pylist() == ["a/1", "a/deep/0", "b/2"], pattern
    assert read(str(tmp_path / "b" / "_*.parquet"), ["name"])["name"].to_pylist() == ["b/_9"]
    assert read(tmp_path, ["name"])["name"].to_pylist() == ["a/1", "a/deep/0", "b/2"]


def test_a_name_that_looks_like_a_glob(tmp_path):
    path = write_parquet(log(4), tmp_path / "log[1].parquet")
    assert read(str(path)).num_rows == 4


def test_a_link_that_leads_back_is_not_read_again(tmp_path):
    write_parquet(log(4), tmp_path / "a" / "log.parquet")
    (tmp_path / "a" / "loop").symlink_to(tmp_path, target_is_directory=True)
    assert read(tmp_path).num_rows == 4


def test_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    write_parquet(log(4), tmp_path / "log.parquet")
    assert read("~/log.parquet").num_rows == 4


def test_missing_file_names_the_near_ones(tmp_path):
    write_parquet(log(1), tmp_path / "clicks.parquet")
    with pytest.raises(FileNotFoundError, match=r"no file .*clik\.parquet; did you mean clicks\.parquet\?"):
        open_source(tmp_path / "clik.parquet")
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere either"):
        open_source(tmp_path / "nowhere" / "clicks.parquet")


def test_nothing_to_read(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no file matches .*\*\.parquet"):
        open_source(str(tmp_path / "*.parquet"))
    (tmp_path / "_SUCCESS").touch()
    with pytest.raises(FileNotFoundError, match="holds no data file"):
        open_source(tmp_path)
    with pytest.raises(ValueError, match="empty list"):
        open_source([])


def test_unknown_suffix(tmp_path):
    path = tmp_path / "log.xlsx"
    path.touch()
    with pytest.raises(ValueError, match=r"log\.xlsx is of no known kind: .*\.parquet, .*\.feather, .*\.csv\.gz"):
        open_source(path)
    write_parquet(log(1), tmp_path / "log.parquet")
    with pytest.raises(ValueError, match=r"log\.xlsx is of no known kind: .*give a glob: '.*/\*\.parquet'"):
        open_source(tmp_path)


def test_two_kinds_in_one_directory(tmp_path):
    write_parquet(log(1), tmp_path / "log.parquet")
    write_csv(log(1), tmp_path / "log.csv")
    with pytest.raises(ValueError, match=r"several kinds, CSV \(.*log\.csv\) and Parquet \(.*log\.parquet\)"):
        open_source(tmp_path)
    assert read(str(tmp_path / "*")).num_rows == 2


@pytest.mark.parametrize("address", ["s3://bucket/log.parquet", "https://example.org/log.csv", "hdfs://host/logs/*"])
def test_nothing_is_fetched_from_a_network(address):
    with pytest.raises(ValueError, match=r"is not a local path, and nothing is fetched from a network"):
        open_source(address)


# ------------------------------------------------------------------------------------------------ several files


def two_files(folder, first, second):
    return [
        write_parquet(pa.table(columns), folder / f"{name}.parquet") for name, columns in (("a", first), ("b", second))
    ]


def test_columns_are_matched_by_name(tmp_path):
    paths = two_files(tmp_path, {"click": [0], "score": [0.5]}, {"score": [0.25], "extra": ["x"], "click": [1]})
    assert open_source(paths).column_names == ["click", "score", "extra"]
    assert read(paths, ["score", "click"]).to_pydict() == {"score": [0.5, 0.25], "click": [0, 1]}


def test_rows_are_located_in_their_file(tmp_path):
    paths = [write_parquet(log(n), tmp_path / f"{n}.parquet") for n in (10, 20)]
    source = open_source(paths)
    assert source.locate(9) == f"row 9 of {paths[0]}"
    assert source.locate(10) == f"row 0 of {paths[1]}"
    assert open_source(paths[0]).locate(9) == "row 9"
    assert open_source([write_csv(log(3), tmp_path / "a.csv"), *paths]).locate(2) == "row 2"


STRINGS = ["u1", "u2"]


@pytest.mark.parametrize(
    ("first", "second", "unified"),
    [
        (pa.array([1, 2], pa.int8()), pa.array([3, 4], pa.int64()), pa.int64()),
        (pa.array([1, 2], pa.int32()), pa.array([3, 4], pa.uint32()), pa.int64()),
        (pa.array([1, 2], pa.float32()), pa.array([3, 4], pa.float64()), pa.float64()),
        (pa.array([1, 2], pa.int64()), pa.array([0.5, 4]), pa.float64()),
        (pa.nulls(2), pa.array([3, 4]), pa.int64()),
        (pa.array(STRINGS), pa.array(STRINGS, pa.large_string()), pa.large_string()),
        (pa.array(STRINGS).dictionary_encode(), pa.array(STRINGS), pa.string()),
        (pa.array(STRINGS, pa.string_view()), pa.array(STRINGS), pa.large_string()),
    ],
    ids=lambda value: str(value) if isinstance(value, pa.DataType) else str(value.type),
)
def test_types_are_made_one_where_no_value_changes(first, second, unified, tmp_path):
    paths = []
    for name, column in (("a", first), ("b", second), ("c", first)):
        paths.append(write_ipc(pa.table({"column": column}), tmp_path / f"{name}.arrow"))
    found = read(paths, ["column"])
    assert found.schema.types == [unified]
    assert found["column"].to_pylist() == [*first.to_pylist(), *second.to_pylist(), *first.to_pylist()]


def test_a_value_that_would_change_is_an_error(tmp_path):
    paths = two_files(tmp_path, {"user": [2**53 + 1]}, {"user": [0.5]})
    with pytest.raises(ValueError, match=r"'user' of .*a\.parquet is int64 and does not fit double.*9007199254740993"):
        read(paths, ["user"])
    paths = two_files(tmp_path, {"user": pa.array([2**64 - 1], pa.uint64())}, {"user": [1]})
    with pytest.raises(ValueError, match=r"'user' of .*a\.parquet is uint64 and does not fit int64"):
        read(paths, ["user"])


@pytest.mark.parametrize("second", [["1"], [True]])
def test_types_that_do_not_meet_name_both_files(second, tmp_path):
    paths = two_files(tmp_path, {"user": [1]}, {"user": second})
    with pytest.raises(ValueError, match=r"'user' is (string|bool) in .*b\.parquet but int64 .* such as .*a\.parquet"):
        read(paths, ["user"])


def test_a_column_that_one_file_lacks(tmp_path):
    paths = two_files(tmp_path, {"click": [1], "score": [0.5]}, {"clicks": [1], "score": [0.5]})
    with pytest.raises(ValueError, match=r"no column 'click' in .*b\.parquet; did you mean 'clicks'\?"):
        read(paths, ["click"])


# ------------------------------------------------------------------------------------------------------- columns


@pytest.mark.parametrize("door", DOORS)
def test_missing_column_names_the_near_ones(door, tmp_path):
    source = open_source(DOORS[door](log(5), tmp_path))
    with pytest.raises(ValueError, match=r"no column 'clik' in .*; did you mean 'click'\? Its columns: user, score, "):
        source.batches(["score", "clik"])
    with pytest.raises(ValueError, match=r"^label: no column 'SCORE' in .*; did you mean 'score'\?"):
        source.require("SCORE", "label")


def test_a_long_list_of_columns_is_cut():
    source = open_source({f"c{i:03}": [0] for i in range(500)})
    with pytest.raises(ValueError, match=r"no column 'label' in data\. Its columns: c000, .*, c019 and 480 more$"):
        source.batches(["label"])


def test_duplicate_column_names(tmp_path):
    table = pa.table([[1], [2], [3]], names=["a", "b", "a"])
    csv = tmp_path / "twice.csv"
    csv.write_text("a,b,a\n1,2,3\n")
    sources = [table, table.to_reader(), write_parquet(table, tmp_path / "twice.parquet"), csv]
    sources.append(write_ipc(table, tmp_path / "twice.arrow"))
    sources.append([*sources[2:3], write_parquet(pa.table({"a": [1], "b": [2]}), tmp_path / "once.parquet")])
    for data in sources:
        with pytest.raises(ValueError, match="has 2 columns named 'a'; rename all but one"):
            open_source(data).batches(["a"])
        assert read(data, ["b"])["b"].to_pylist()[0] == 2


def test_names_with_points_and_quotes(tmp_path):
    table = pa.table({"user": [1], "user.id": [2], 'a "b"': [3], "nested": pa.array([{"id": 4}])})
    path = write_parquet(table, tmp_path / "log.parquet")
    for name in ("user", "user.id", 'a "b"'):
        assert read(path, [name]).to_pydict() == {name: table[name].to_pylist()}


# ------------------------------------------------------------------------------------------------- damaged files


@pytest.mark.parametrize("damage", [lambda path: truncate(path, 50), lambda path: path.write_bytes(b"")])
def test_truncated_parquet(damage, tmp_path):
    good = write_parquet(log(), tmp_path / "good.parquet")
    bad = write_parquet(log(), tmp_path / "bad.parquet")
    damage(bad)
    for data in (bad, [good, bad], tmp_path):
        with pytest.raises(ValueError, match=r"bad\.parquet cannot be read as Parquet; is it damaged or cut short\?"):
            open_source(data)


@pytest.mark.parametrize("use_threads", [False, True])
def test_one_damaged_file_of_many_is_named_when_its_turn_comes(use_threads, tmp_path):
    for number in range(8):
        write_parquet(log(), tmp_path / f"{number}.parquet")
    corrupt_column(tmp_path / "5.parquet", log().column_names.index("score"))
    for data in (tmp_path, pa.dataset.dataset(tmp_path)):
        with pytest.raises(ValueError, match=r"5\.parquet"):
            read(data, use_threads=use_threads)


def test_a_file_cut_after_it_was_opened(tmp_path):
    path = write_parquet(log(), tmp_path / "log.parquet")
    source = open_source(path)
    truncate(path, 50)
    with pytest.raises(ValueError, match=r"log\.parquet cannot be read as Parquet"):
        list(source.batches(COLUMNS))


@pytest.mark.parametrize(("stream", "n_bytes"), [(False, 60), (True, 600)])
def test_truncated_ipc(stream, n_bytes, tmp_path):
    path = truncate(write_ipc(log(), tmp_path / "log.arrow", stream=stream), n_bytes)
    with pytest.raises(ValueError, match=r"log\.arrow cannot be read as Arrow IPC; is it damaged or cut short\?"):
        read(path)


@pytest.mark.parametrize("content", [b"", b"FEA1....", b"these are words, not Arrow"])
def test_what_is_not_ipc(content, tmp_path):
    path = tmp_path / "log.feather"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"log\.feather cannot be read as Arrow IPC"):
        open_source(path)


def test_csv_with_a_word_in_a_later_block(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(b"click,score\n" + b"1,0.5\n" * 1_500_000 + b"yes,0.5\n")
    message = r"log\.csv cannot be read as CSV; column types are taken from the first 4 MiB.*Row #1500002.*'yes'"
    for use_threads in (False, True):
        batches = open_source(path).batches(["click", "score"], use_threads=use_threads)
        with pytest.raises(ValueError, match=message):
            list(batches)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.csv", b"", "Empty CSV file"),
        ("ragged.csv", b"a,b\n1,2\n3\n", "Expected 2 columns, got 1"),
        ("cut.csv.gz", gzip.compress(b"a,b\n1,2\n")[:-6], "Truncated compressed stream"),
        ("plain.csv.gz", b"a,b\n1,2\n", ""),
    ],
)
def test_csv_that_cannot_be_read(name, content, message, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"{name} cannot be read as CSV.*{message}"):
        read(path, ["a"])


def test_csv_values_with_newlines_are_not_cut(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(b"click,text\n" + b'1,"two\nlines"\n' * 1_000_000)
    found = read(path, ["text", "click"])
    assert found.num_rows == pa.compute.sum(found["click"]).as_py() == 1_000_000
    assert found["text"].unique().to_pylist() == ["two\nlines"]


def test_csv_types(tmp_path):
    (tmp_path / "1.csv").write_text('click,user,text\n1,a,"two\nlines"\n,,""\n')
    (tmp_path / "2.csv").write_text("text,user,click\nx,NA,0.5\n")
    (tmp_path / "3.csv").write_text("click,user,text\n")
    found = read(tmp_path, ["click", "user", "text"])
    assert found.to_pydict() == {"click": [1, None, 0.5], "user": ["a", "", "NA"], "text": ["two\nlines", "", "x"]}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permission bits")
def test_a_file_that_may_not_be_read(tmp_path):
    path = write_parquet(log(1), tmp_path / "log.parquet")
    path.chmod(0)
    try:
        path.open("rb").close()
    except PermissionError:
        with pytest.raises(PermissionError, match=r"log\.parquet"):
            open_source(path)
    else:
        pytest.skip("this user may read everything")


# -------------------------------------------------------------------------------------------------- dict of arrays


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint64", "float32", "float64"])
def test_numeric_arrays_are_not_copied(dtype):
    array = np.arange(300_000).astype(dtype)
    array.flags.writeable = False
    batches = list(open_source({"score": array}).batches(["score"]))
    starts = [batch["score"].buffers()[1].address for batch in batches]
    assert len(batches) == 3
    assert set(starts) == {array.ctypes.data}


@pytest.mark.parametrize("value", [2.5, np.float32(0.1)])
def test_nan_stays_nan_in_float_arrays(value):
    array = np.array([value, np.nan, -0.0])
    found = read({"score": array}, ["score"])["score"]
    assert found.null_count == 0
    assert found.to_numpy().tobytes() == array.tobytes()


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (np.array(["a", "long text"]), ["a", "long text"]),
        (np.array(["a", "b"], dtype=np.dtypes.StringDType()), ["a", "b"]),
        (np.array(["a", None], dtype=object), ["a", None]),
        (np.array(["a", np.nan], dtype=object), ["a", None]),
        (np.array([True, False]), [True, False]),
        (np.arange(4)[::-2], [3, 1]),
        (np.array([1, 2], dtype=">i4"), [1, 2]),
        (np.array([0.5, 2], dtype=">f8"), [0.5, 2.0]),
        (np.ma.array([1, 2], mask=[False, True]), [1, None]),
        ([1, None], [1, None]),
        ((0.5, 1), [0.5, 1.0]),
        (range(2), [0, 1]),
        (memoryview(b"ab"), [97, 98]),
    ],
    ids=repr,
)
def test_kinds_of_arrays(values, found):
    assert read({"column": values}, ["column"])["column"].to_pylist() == found


def test_numpy_text_becomes_arrow_text():
    for array in (np.array(["a", "b"]), np.array(["a", "b"], dtype=np.dtypes.StringDType())):
        assert read({"user": array}, ["user"]).schema.types in ([pa.string()], [pa.large_string()])


def test_series_as_columns():
    data = {
        "categorical": pandas().Series(["x", "y"], dtype="category"),
        "nullable": pandas().Series([1, None], dtype="Int64"),
        "floats": pandas().Series([0.5, 1.5], index=[7, 3]),
        "polars": polars().Series(["x", None]),
    }
    assert read(data, list(data)).to_pydict() == {
        "categorical": ["x", "y"],
        "nullable": [1, None],
        "floats": [0.5, 1.5],
        "polars": ["x", None],
    }


def test_lengths_that_differ():
    with pytest.raises(ValueError, match=r"different lengths: click: 3, score: 2; give each the same"):
        open_source({"click": [1, 0, 1], "score": np.zeros(2)})


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        (np.zeros((2, 3)), ValueError, r"must be one-dimensional; got shape \(2, 3\)"),
        (np.zeros((2, 1)), ValueError, r"must be one-dimensional; got shape \(2, 1\)"),
        ([[1, 2], [3, 4]], ValueError, r"holds list<.*must be one-dimensional"),
        (np.array(1.0), ValueError, "is a single value"),
        (1.0, TypeError, "must be a one-dimensional array or a list; got float"),
        ("text", TypeError, "must be a one-dimensional array or a list; got str"),
        (np.array([1j]), ValueError, "has dtype complex128"),
        ([1, "a"], ValueError, "cannot be read as one column"),
        (np.array(["a", 1], dtype=object), ValueError, "cannot be read as one column"),
        ([2**70], ValueError, "cannot be read as one column"),
    ],
    ids=repr,
)
def test_what_is_no_column(values, error, message):
    with pytest.raises(error, match=rf"data\['score'\] {message}"):
        read({"score": values}, ["score"])


def test_empty_dict_and_empty_arrays():
    with pytest.raises(ValueError, match="empty dict"):
        open_source({})
    source = open_source({"score": []})
    assert source.rows == 0
    assert list(source.batches(["score"])) == []


def test_dict_keys_that_are_no_text():
    assert read(pandas().DataFrame({0: [1], "click": [2]}), ["click"]).to_pydict() == {"click": [2]}
    with pytest.raises(ValueError, match=r"no column 'x' in data\. Its columns: 0, click"):
        open_source({0: [1], "click": [1]}).batches(["x"])


# ------------------------------------------------------------------------------------------------ streams, others


def test_a_reader_is_read_once():
    reader = log(10).to_reader()
    source = open_source(reader)
    assert sum(batch.num_rows for batch in source.batches(COLUMNS)) == 10
    with pytest.raises(ValueError, match=r"the RecordBatchReader was read before.*only once; make a new one"):
        source.batches(COLUMNS)
    with pytest.raises(ValueError, match="gave no rows: it is empty, or it was read before"):
        list(open_source(reader).batches(COLUMNS))


def test_a_filtered_dataset_keeps_its_filter(tmp_path):
    dataset = pa.dataset.dataset(parquet_file(log(), tmp_path)).filter(pa.dataset.field("user") < 3)
    assert read(dataset).to_pydict() == log().filter(pa.compute.field("user") < 3).select(COLUMNS).to_pydict()


@pytest.mark.parametrize(
    ("data", "got"),
    [
        (None, "NoneType"),
        (5, "int"),
        ([0.5, 0.25], "list"),
        (np.zeros(3), 'ndarray; name its columns: {"label": ..., "score": ...}'),
    ],
)
def test_what_is_no_data(data, got):
    with pytest.raises(TypeError, match=r"^data must be a path, a glob .* or a dict of arrays; got ") as caught:
        open_source(data)
    assert str(caught.value).endswith(f"got {got}")


def test_lazy_frames_are_not_computed_in_silence():
    with pytest.raises(TypeError, match=r"got LazyFrame; collect it first: data\.collect\(\)"):
        open_source(polars().DataFrame({"click": [1]}).lazy())


def test_pyarrow_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'fastmetrics\[arrow\]'"):
        open_source({"click": [1]})


def test_the_module_does_not_import_pyarrow(tmp_path):
    code = "import sys, fastmetrics.engine.sources; assert not [m for m in sys.modules if m.startswith('pyarrow')]"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parent.parent)
