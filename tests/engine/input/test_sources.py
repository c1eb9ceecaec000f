"""Sources: the same rows from every container, only the requested columns, bounded memory."""

import gzip
import subprocess
import sys
import threading

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from fastmetrics.engine.input.batches import BATCH_ROWS, READ_AHEAD_BATCHES, read_ahead, resize_batches
from fastmetrics.engine.input.sources import open_source
from support.cases import assert_raises, each_case
from support.files.log_files import (
    COLUMNS,
    corrupt_column,
    log,
    parquet_file,
    read,
    write_csv,
    write_ipc,
    write_parquet,
)
from support.peers import duckdb, pandas, polars

# ------------------------------------------------------------------------------------------------ the same rows


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
    """An object with the Arrow stream protocol only."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class OnlyArray:
    def __init__(self, table):
        self.batch = table.combine_chunks().to_batches()[0]

    def __arrow_c_array__(self, requested_schema=None):
        return self.batch.__arrow_c_array__(requested_schema)


ACCEPTED = {
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


@each_case("use_threads", [False, True])
@each_case("container", ACCEPTED)
def test_every_container_gives_the_same_rows(container, use_threads, tmp_path):
    table = log()
    found = read(ACCEPTED[container](table, tmp_path), use_threads=use_threads)
    assert found.column_names == COLUMNS
    assert found.to_pydict() == table.select(COLUMNS).to_pydict()


@each_case("write", [lambda t, f: write_csv(t, f / "log.csv"), gzipped_csv, zstd_csv])
@each_case("use_threads", [False, True])
def test_csv_gives_the_same_rows(write, use_threads, tmp_path):
    table = log()
    path = write(table, tmp_path)
    found = read(path, use_threads=use_threads)
    assert found.to_pydict() == table.select(COLUMNS).to_pydict()
    assert found.schema.types == [pa.int64(), pa.float64(), pa.int64()]
    assert open_source(path).rows is None


@each_case("container", ACCEPTED)
def test_columns_come_once_and_in_the_requested_order(container, tmp_path):
    found = read(ACCEPTED[container](log(10), tmp_path), ["city", "score", "city"])
    assert found.column_names == ["city", "score"]
    assert found.to_pydict() == log(10).select(["city", "score"]).to_pydict()


@each_case("container", ACCEPTED)
def test_rows_are_known_before_reading_or_unknown(container, tmp_path):
    source = open_source(ACCEPTED[container](log(123), tmp_path))
    unknown = ("ipc stream", "reader", "stream capsule", "duckdb", "in-memory dataset", "dataset of files")
    assert source.rows == (None if container in unknown else 123)
    assert source.column_names == log(1).column_names


@each_case("container", [name for name in ACCEPTED if name != "reader"])
def test_a_source_can_be_read_again(container, tmp_path):
    source = open_source(ACCEPTED[container](log(50), tmp_path))
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


# ------------------------------------------------------------------------------------- only the requested columns


def test_a_damaged_column_that_is_not_requested_is_not_read(tmp_path):
    path = corrupt_column(write_parquet(log(), tmp_path / "log.parquet"), log().column_names.index("city"))
    assert read(path).to_pydict() == log().select(COLUMNS).to_pydict()
    assert_raises(ValueError, r"log\.parquet cannot be read as Parquet; is it damaged", read, path, ["city"])


@pytest.mark.parametrize("stream", [False, True])
def test_unread_columns_of_ipc_files_are_not_decoded(stream, tmp_path):
    compressed = pa.ipc.IpcWriteOptions(compression="lz4")
    path = write_ipc(log(), tmp_path / "log.arrow", stream=stream, rows_per_batch=1000, options=compressed)
    content = path.read_bytes()
    frame = b"\x04\x22\x4d\x18"  # begins every compressed buffer; the last ones are the last column's
    path.write_bytes(content[::-1].replace(frame[::-1], b"\xff\xff\xff\xff", 1)[::-1])
    assert read(path).to_pydict() == log().select(COLUMNS).to_pydict()
    assert_raises(ValueError, r"log\.arrow cannot be read as Arrow IPC", read, path, ["city"])


def test_unread_columns_of_a_csv_file_are_not_converted(tmp_path):
    path = tmp_path / "log.csv"
    path.write_bytes(b"click,note\n" + b"1,2\n" * 1_500_000 + b"0,words\n")
    assert read(path, ["click"]).num_rows == 1_500_001
    assert_raises(ValueError, r"log\.csv cannot be read as CSV", read, path, ["note"])


def test_unread_arrays_are_not_converted():
    data = {"click": [0, 1], "vector": np.zeros((2, 3)), "anything": np.array([object(), 1j], dtype=object)}
    assert read(data, ["click"]).to_pydict() == {"click": [0, 1]}
    assert read(pandas().DataFrame({"click": [0, 1], "mixed": [1, "a"]}), ["click"]).num_rows == 2


def test_duckdb_does_not_compute_unread_columns():
    relation = duckdb().sql("""select 1 as click, error('computed') as "other ""column" """)
    assert open_source(relation).column_names == ["click", 'other "column']
    assert read(relation, ["click"]).to_pydict() == {"click": [1]}
    assert_raises(Exception, "computed", read, relation, ['other "column'])


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
    assert_raises(OSError, "bad sector", next, batches)


def test_an_early_end_stops_the_thread_and_closes_the_file():
    closed = threading.Event()

    def endless():
        try:
            while True:
                yield pa.record_batch({"number": [0]})
        finally:
            closed.set()

    batches = read_ahead(endless())
    next(batches)
    batches.close()
    assert closed.is_set()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("fastmetrics")]


def test_without_threads_all_work_is_in_the_calling_thread(tmp_path, monkeypatch):
    monkeypatch.setattr("concurrent.futures.ThreadPoolExecutor", None)
    assert read(parquet_file(log(), tmp_path), use_threads=False).num_rows == 1000


@pytest.fixture
def arrow_peak():
    """The peak of Arrow's memory since the start of the test."""
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
    found = list(resize_batches(cut))
    assert max(batch.num_rows for batch in found) == BATCH_ROWS
    assert np.array_equal(np.concatenate([batch["number"].to_numpy() for batch in found]), numbers)
    many = [pa.record_batch({"number": [number]}) for number in range(1000)]
    assert [batch.num_rows for batch in resize_batches(many)] == [1000]


@pytest.mark.parametrize(
    ("columns", "memory_limit", "most"),
    [
        (["label"], None, 300_000),
        (["label"], 1 << 30, 300_000),
        (["label"], 200_000 * 32 * 2, 200_000),
        (["label"], 1 << 20, BATCH_ROWS),
        (["label", "features"], None, BATCH_ROWS),
    ],
    ids=["narrow rows", "a large limit", "a limit", "a small limit", "wide rows"],
)
def test_the_thread_that_decodes_a_row_group_gets_large_batches(tmp_path, columns, memory_limit, most):
    """A batch has a fixed cost. With a small memory limit, or where a row takes many bytes, batches stay small."""
    rows = 700_000
    label = np.arange(rows) % 7 == 0
    features = pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(16 * rows)), 16)
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table({"label": label.view(np.int8), "features": features}), path, row_group_size=300_000)
    source = open_source(path)
    source.memory_limit, source.n_threads = memory_limit, 2
    found = [list(partition.read()) for partition in source.partitions(columns)]
    assert [sum(batch.num_rows for batch in batches) for batches in found] == [300_000, 300_000, 100_000]
    assert max(batch.num_rows for batches in found for batch in batches) == most
    read = pa.Table.from_batches([batch for batches in found for batch in batches])
    np.testing.assert_array_equal(read["label"].to_numpy(), label)


def test_short_batches_with_different_dictionaries_are_joined_by_value():
    reader = pa.RecordBatchReader.from_batches(
        pa.schema([("user", pa.dictionary(pa.int32(), pa.string()))]),
        [pa.record_batch({"user": pa.array(users).dictionary_encode()}) for users in (["a", "b"], ["b", "c"])],
    )
    assert read(reader, ["user"])["user"].to_pylist() == ["a", "b", "b", "c"]


# ------------------------------------------------------------------------------------------------------- columns


@each_case("container", ACCEPTED)
def test_missing_column_names_the_near_ones(container, tmp_path):
    source = open_source(ACCEPTED[container](log(5), tmp_path))
    assert_raises(
        ValueError, r"no column 'clik' in .*; did you mean 'click'\? Its columns: user, score, ",
        source.batches, ["score", "clik"],
    )
    assert_raises(
        ValueError, r"^label: no column 'SCORE' in .*; did you mean 'score'\?", source.require, "SCORE", "label"
    )


def test_a_long_list_of_columns_is_shortened():
    source = open_source({f"c{i:03}": [0] for i in range(500)})
    assert_raises(
        ValueError, r"no column 'label' in data\. Its columns: c000, .*, c019 and 480 more$", source.batches, ["label"]
    )


def test_duplicate_column_names(tmp_path):
    table = pa.table([[1], [2], [3]], names=["a", "b", "a"])
    csv = tmp_path / "twice.csv"
    csv.write_text("a,b,a\n1,2,3\n")
    sources = [table, table.to_reader(), write_parquet(table, tmp_path / "twice.parquet"), csv]
    sources.append(write_ipc(table, tmp_path / "twice.arrow"))
    sources.append([*sources[2:3], write_parquet(pa.table({"a": [1], "b": [2]}), tmp_path / "once.parquet")])
    for data in sources:
        assert_raises(ValueError, "has 2 columns named 'a'; rename all but one", open_source(data).batches, ["a"])
        assert read(data, ["b"])["b"].to_pylist()[0] == 2


def test_names_with_points_and_quotes(tmp_path):
    table = pa.table({"user": [1], "user.id": [2], 'a "b"': [3], "nested": pa.array([{"id": 4}])})
    path = write_parquet(table, tmp_path / "log.parquet")
    for name in ("user", "user.id", 'a "b"'):
        assert read(path, [name]).to_pydict() == {name: table[name].to_pylist()}


# -------------------------------------------------------------------------------------------------- dict of arrays


@each_case("dtype", ["int8", "int64", "uint64", "float32", "float64"])
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


@each_case(
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
    ids=lambda values: type(values).__name__,  # no addresses: workers of pytest-xdist need the same names
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
    assert_raises(
        ValueError, r"different lengths: click: 3, score: 2; give each the same",
        open_source, {"click": [1, 0, 1], "score": np.zeros(2)},
    )


@each_case(
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
        ([1, "a"], ValueError, "cannot be read as one column"),
    ],
    ids=repr,
)
def test_values_that_are_not_columns(values, error, message):
    assert_raises(error, rf"data\['score'\] {message}", read, {"score": values}, ["score"])


def test_empty_dict_and_empty_arrays():
    assert_raises(ValueError, "empty dict", open_source, {})
    source = open_source({"score": []})
    assert source.rows == 0
    assert list(source.batches(["score"])) == []


def test_dict_keys_that_are_not_text():
    assert read(pandas().DataFrame({0: [1], "click": [2]}), ["click"]).to_pydict() == {"click": [2]}
    with pytest.raises(ValueError, match=r"no column 'x' in data\. Its columns: 0, click"):
        open_source({0: [1], "click": [1]}).batches(["x"])


# ------------------------------------------------------------------------------------------------ streams, others


def test_a_reader_is_read_once():
    reader = log(10).to_reader()
    source = open_source(reader)
    assert sum(batch.num_rows for batch in source.batches(COLUMNS)) == 10
    assert_raises(
        ValueError, r"the RecordBatchReader was read before.*only once; make a new one", source.batches, COLUMNS
    )
    with pytest.raises(ValueError, match="gave no rows: it is empty, or it was read before"):
        list(open_source(reader).batches(COLUMNS))


def test_a_filtered_dataset_keeps_its_filter(tmp_path):
    dataset = pa.dataset.dataset(parquet_file(log(), tmp_path)).filter(pa.dataset.field("user") < 3)
    assert read(dataset).to_pydict() == log().filter(pa.compute.field("user") < 3).select(COLUMNS).to_pydict()


@each_case(
    ("data", "got"),
    [
        (None, "NoneType"),
        (5, "int"),
        ([0.5, 0.25], "float"),
        (np.zeros(3), 'ndarray; name its columns: {"label": ..., "score": ...}'),
    ],
)
def test_objects_that_are_not_data(data, got):
    wanted = r"^(batch 0 of .*)?data must be a path, a glob .* or an open binary file; got "
    with pytest.raises(TypeError, match=wanted) as caught:
        open_source(data)
    assert str(caught.value).endswith(f"got {got}")


def test_pyarrow_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert_raises(ImportError, r"pip install 'fastmetrics-engine\[arrow\]'", open_source, {"click": [1]})


def test_the_module_does_not_import_pyarrow(tmp_path):
    code = (
        "import sys, fastmetrics.engine.input.sources; assert not [m for m in sys.modules if m.startswith('pyarrow')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
