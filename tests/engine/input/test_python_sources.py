"""LazyFrames, iterators and lists of batches, results of DuckDB, Scanners, narwhals frames, rows as dicts, records."""

import types
import warnings
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pytest

import fastmetrics as fm
from fastmetrics.engine.input import stream_sources
from fastmetrics.engine.input.batches import BATCH_ROWS
from fastmetrics.engine.input.sources import open_source
from support.cases import assert_raises, each_case
from support.files.log_files import COLUMNS, log, parquet_file, read
from support.peers import duckdb, pandas, peer, polars


def pieces(table, rows=90):
    return [table.slice(start, rows) for start in range(0, table.num_rows, rows)]


def records(table):
    return np.rec.fromarrays([table[name].to_numpy() for name in table.column_names], names=table.column_names)


def query(table, connection=None):
    connection = duckdb().connect() if connection is None else connection
    connection.register("log", table)
    return connection.execute("select * from log")


ACCEPTED = {
    "LazyFrame": lambda table: polars().from_arrow(table).lazy(),
    "LazyFrame of a query": lambda table: polars().from_arrow(table).lazy().with_columns(new=polars().col("user") * 2),
    "generator of record batches": lambda table: (batch for batch in table.to_batches(max_chunksize=90)),
    "generator of tables": lambda table: (piece for piece in pieces(table)),
    "list of record batches": lambda table: table.to_batches(max_chunksize=90),
    "tuple of tables": lambda table: tuple(pieces(table)),
    "list of pandas frames": lambda table: pandas() and [piece.to_pandas() for piece in pieces(table)],
    "map of polars frames": lambda table: map(polars().from_arrow, pieces(table)),
    "generator of dicts of lists": lambda table: (piece.to_pydict() for piece in pieces(table)),
    "list of rows": lambda table: table.to_pylist(),
    "iterator of rows": lambda table: iter(table.to_pylist()),
    "DuckDB connection": query,
    "DuckDB cursor": lambda table: query(table, duckdb().connect().cursor()),
    "Scanner": lambda table: pa.dataset.dataset(table).scanner(),
    "Scanner of a reader": lambda table: pa.dataset.Scanner.from_batches(table.to_reader()),
    "narwhals frame": lambda table: peer("narwhals").from_native(polars().from_arrow(table)),
    "narwhals LazyFrame": lambda table: peer("narwhals").from_native(polars().from_arrow(table).lazy()),
    "record array": records,
    "structured array": lambda table: np.asarray(records(table)),
}
READ_ONCE = ("generator", "map", "iterator", "DuckDB", "Scanner of a reader")


@each_case("container", ACCEPTED)
def test_every_container_gives_the_same_rows(container):
    table = log()
    found = read(ACCEPTED[container](table))
    assert found.column_names == COLUMNS
    assert found.to_pydict() == table.select(COLUMNS).to_pydict()


@each_case("container", ACCEPTED)
def test_what_can_be_read_once_says_so(container):
    source = open_source(ACCEPTED[container](log(50)))
    first = pa.Table.from_batches(source.batches(COLUMNS))
    assert first.to_pydict() == log(50).select(COLUMNS).to_pydict()
    if container.startswith(READ_ONCE):
        assert_raises(ValueError, "can be read only once", lambda: list(source.batches(COLUMNS)))
        assert source.reads_once or container == "Scanner of a reader"
    else:
        assert pa.Table.from_batches(source.batches(COLUMNS)).to_pydict() == first.to_pydict()
        assert not source.reads_once


def test_a_used_generator_says_that_it_was_read():
    batches = iter(log(50).to_batches())
    read(batches)
    assert_raises(ValueError, "the list_iterator of batches is empty, or it was read before", open_source, batches)


def test_only_the_columns_needed_are_selected_from_a_query():
    """A LazyFrame computes a column only if it is read: this one would fail."""
    frame = polars().from_arrow(log(50)).lazy()
    failing = frame.with_columns(bad=polars().col("city").cast(polars().Int64))
    assert read(failing).num_rows == 50
    with pytest.raises(polars().exceptions.InvalidOperationError):
        read(failing, ["bad"])
    fields = frame.select(model=polars().struct("score", "user"))
    assert read(fields, ["model.score"])["model.score"].to_pylist() == log(50)["score"].to_pylist()


def test_a_stream_of_batches_is_read_batch_by_batch():
    table = log(1000)
    given = []

    def generate():
        for number in range(1000):
            given.append(number)
            yield table

    batches = open_source(generate()).batches(COLUMNS, use_threads=False)
    assert next(batches).num_rows <= BATCH_ROWS
    assert len(given) < 200


def test_frames_are_let_go_of():
    """Nothing holds the batches of a generator that are done."""
    import weakref

    class Batch:
        def __init__(self, table):
            self.table = table

        def __arrow_c_stream__(self, requested_schema=None):
            return self.table.__arrow_c_stream__(requested_schema)

    alive = weakref.WeakSet()
    most = 0

    def generate():
        nonlocal most
        for _ in range(20):
            batch = Batch(log(BATCH_ROWS))
            alive.add(batch)
            most = max(most, len(alive))
            yield batch
            del batch

    fm.evaluate(generate(), ["logloss"], label="click", score="score")
    assert most <= 3


def test_paths_from_an_iterator_are_files(tmp_path):
    parquet_file(log(), tmp_path)
    assert read(tmp_path.glob("*.parquet")).to_pydict() == log().select(COLUMNS).to_pydict()


# ------------------------------------------------------------------------------------------------------- schemas


def test_batches_have_one_schema():
    first = {"x": [1.0, 2.0], "k": ["a", "b"]}
    with_text = [first, first, {"x": ["3"], "k": ["c"]}]
    message = r"batch 2 of the list of batches has column 'x' of Arrow type string, but those before it have double"
    assert_raises(ValueError, message, read, with_text, ["x", "k"])
    without = [first, {"x": [1.0]}]
    assert_raises(ValueError, r"batch 1 of the list of batches: columns: no column 'k'", read, without, ["x", "k"])
    bad = iter([first, 5])
    assert_raises(TypeError, r"batch 1 of the list_iterator of batches: data must be", read, bad, ["x", "k"])
    rounded = [{"x": np.array([0.5], np.float32)}, {"x": np.array([0.5, 0.1])}]
    message = "batch 1 of .* of Arrow type double, but those before it have float, which does not hold 0.1 at row 2;"
    assert_raises(ValueError, message, read, iter(rounded), ["x"])
    assert read(rounded, ["x"])["x"].to_pylist() == [0.5, 0.5, 0.1]
    large = [{"x": [0.5]}, {"x": [2**53 + 1]}]
    assert_raises(ValueError, "batch 1 of .* int64, but .* double, .* 9007199254740993 at row 1", read, large, ["x"])


@each_case(
    "values, wanted",
    [
        ([[1, 2], np.array([3], np.int8)], pa.int64()),
        ([[0.5], [1]], pa.float64()),
        ([["a"], pa.array(["b"]).dictionary_encode(), pa.array(["c"], pa.large_string())], pa.string()),
        ([[None], [None, None], ["c"]], pa.string()),
        ([[0.5], [None]], pa.float64()),
    ],
)
def test_batches_of_the_same_values_fit(values, wanted):
    found = read([{"x": own} for own in values], ["x"])
    assert found.schema.field("x").type == wanted
    assert found["x"].to_pylist() == [value for own in values for value in pa.array(own).to_pylist()]


def test_nulls_wait_for_a_type_for_some_rows_only(monkeypatch):
    monkeypatch.setattr(stream_sources, "ROWS_WITHOUT_TYPE", 3)
    batches = [{"x": [None, None]}] * 2 + [{"x": [1.0]}]
    assert_raises(ValueError, "batch 2 .* double, but those before it have null", read, batches, ["x"])


def test_rows_of_an_iterator_may_lack_keys(monkeypatch):
    monkeypatch.setattr(stream_sources, "ROWS_OF_ITERATOR", 2)
    rows = [{"x": 1, "y": 1.5}, {"x": 2}, {"x": 3}, {"x": 4}, {"x": 5, "y": 2.5}]
    assert read(iter(rows), ["x", "y"])["y"].to_pylist() == [1.5, None, None, None, 2.5]
    assert read(rows, ["x", "y"])["y"].to_pylist() == [1.5, None, None, None, 2.5]
    assert_raises(TypeError, "iterator of rows gave int, not a dict", read, iter([{"x": 1}, 5]), ["x"])


# -------------------------------------------------------------------------------------------------------- errors


def frame_of(module, **methods):
    return types.new_class("DataFrame", exec_body=lambda body: body.update(__module__=module, **methods))()


@each_case(
    "frame, words",
    [
        (frame_of("pyspark.sql.connect.dataframe", mapInArrow=None), r"fastmetrics.spark.evaluate\(data, \.\.\.\)"),
        (frame_of("pyspark.pandas.frame", to_spark=None), r"fastmetrics.spark.evaluate\(data.to_spark\(\), \.\.\.\)"),
        (frame_of("dask.dataframe.core", compute=None), r"partition.compute\(\) for partition in data.partitions"),
        (frame_of("ray.data.dataset", iter_batches=None), r"data.iter_batches\(batch_format='pyarrow'\)"),
    ],
)
def test_frames_of_clusters_say_what_to_type(frame, words):
    columns = {"label": "click", "score": "score"}
    assert_raises(TypeError, words, fm.evaluate, frame, ["auc"], **columns)
    assert_raises(TypeError, words, fm.compare, frame, ["auc"], label="click", score=["score", "user"])
    assert_raises(TypeError, words, fm.Accumulator(["auc"], **columns).update, frame)


def test_other_data_are_named():
    assert_raises(ValueError, "the DuckDB connection has no result: execute a query", open_source, duckdb().connect())
    assert_raises(ValueError, "data is an empty list", open_source, [])
    assert_raises(TypeError, "data must be .* got int", open_source, 5)
    assert_raises(ValueError, r"structured array of shape \(1, 1\)", open_source, np.zeros((1, 1), [("x", float)]))
    assert_raises(TypeError, "got ndarray; name its columns", open_source, np.zeros(3))


def test_duckdb_results_give_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read(query(log(10))).num_rows == 10


def test_nested_records():
    nested = np.zeros(3, [("click", int), ("model", [("score", float)])])
    nested["model"]["score"] = [0.1, 0.2, 0.3]
    assert read(nested, ["model.score"])["model.score"].to_pylist() == [0.1, 0.2, 0.3]


def test_a_path_of_another_kind_is_a_path(tmp_path):
    class OwnPath:
        def __fspath__(self):
            return str(parquet_file(log(10), Path(tmp_path)))

    assert read(OwnPath()).num_rows == 10
