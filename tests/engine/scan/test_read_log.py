"""The ways rows reach a scan: in the calling thread, through a pool, by partitions. Report and error are the same."""

from __future__ import annotations

import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fastmetrics as fm
from fastmetrics.engine.input.batches import SourcePartition
from fastmetrics.engine.input.files import file_source
from fastmetrics.engine.input.sources import open_source
from fastmetrics.engine.scan.read_log import FirstError, PartitionWorkers
from support.cases import assert_raises, each_case

METRICS = ["auc", "gauc", "logloss", "ks"]
COLUMNS = {"label": "click", "score": "pctr", "group": "user"}


def make_log(rows: int) -> pa.Table:
    random = np.random.default_rng(3)
    score = np.round(random.random(rows), 3)
    click = (random.random(rows) < score).astype(np.int8)
    return pa.table({"click": click, "pctr": score, "user": random.integers(0, 500, rows), "other": score})


@pytest.fixture
def small_partitions(monkeypatch):
    """Partitions of a few thousand rows, so that a small log has many."""
    monkeypatch.setattr(file_source, "PARTITION_ROWS", 4_000)


def write(path, table, row_group_size):
    pq.write_table(table, path, row_group_size=row_group_size)
    return path


def test_partitions_have_every_row_once_in_order(tmp_path, small_partitions):
    table = make_log(30_000)
    write(tmp_path / "a.parquet", table.slice(0, 17_000), 1_500)
    write(tmp_path / "b.parquet", table.slice(17_000), 9_000)
    partitions = open_source([tmp_path / "a.parquet", tmp_path / "b.parquet"]).partitions(["pctr", "click"])
    assert len(partitions) > 4
    assert [own.first_row for own in partitions] == np.cumsum([0, *(own.rows for own in partitions[:-1])]).tolist()
    batches = [batch for partition in partitions for batch in partition.read()]
    assert pa.Table.from_batches(batches) == table.select(["pctr", "click"])


def test_one_row_group_and_other_formats_are_one_partition(tmp_path, small_partitions):
    table = make_log(10_000)
    assert open_source(write(tmp_path / "one.parquet", table, 10_000)).partitions(["click"]) == []
    assert open_source(table).partitions(["click"]) == []


@each_case("n_threads", [1, 2, 5])
@each_case("row_group_size", [700, 4_000, 60_000])
def test_reports_are_the_same_to_the_bit(tmp_path, small_partitions, n_threads, row_group_size):
    table = make_log(60_000)
    path = write(tmp_path / "log.parquet", table, row_group_size)
    expected = fm.evaluate(table, METRICS, **COLUMNS, n_threads=1)
    assert fm.evaluate(path, METRICS, **COLUMNS, n_threads=n_threads) == expected


@pytest.mark.parametrize("way", ["partitions", "batches"])
def test_the_first_bad_row_is_named_whatever_the_threads_do(tmp_path, monkeypatch, way):
    monkeypatch.setattr(file_source, "PARTITION_ROWS", 2_000 if way == "partitions" else 10**9)
    table = make_log(80_000)
    score = table["pctr"].to_numpy().copy()
    score[[23_456, 23_900, 41_000, 79_999]] = np.nan
    path = write(tmp_path / "log.parquet", table.set_column(1, "pctr", pa.array(score)), 1_000)
    for _ in range(20):
        assert_raises(ValueError, r"'pctr' has NaN at row 23456;", fm.evaluate, path, METRICS, **COLUMNS, n_threads=4)


def test_the_error_of_the_lowest_row_wins_whichever_comes_last():
    """The error of a later partition, recorded after that of an earlier one, is not raised."""
    failed = threading.Event()

    class FailingScan:
        rows = 0
        has_memory_limit = False

        def process_batch(self, batch, first_row):
            if first_row:
                assert failed.wait(60)
            else:
                failed.set()
            raise ValueError(f"row {first_row}")

    partitions = [SourcePartition(row, 100, lambda: iter([pa.table({"column": [1]})])) for row in (0, 100)]
    assert_raises(ValueError, "row 0", PartitionWorkers(FailingScan(), partitions).run, 200, 2, None)
    first_error = FirstError()
    for row in (50, 10, 30):
        first_error.record(row, ValueError(str(row)))
    assert (first_error.row, str(first_error.error)) == (10, "10")


def test_labels_of_both_conventions_in_different_partitions(tmp_path, small_partitions):
    table = make_log(20_000)
    click = table["click"].to_numpy().copy()
    click[15_000:][click[15_000:] == 0] = -1
    first = int(np.flatnonzero(click == -1)[0])
    path = write(tmp_path / "log.parquet", table.set_column(0, "click", pa.array(click)), 2_000)
    for _ in range(5):
        assert_raises(
            ValueError, rf"'click' has -1 at row {first} and 0 elsewhere",
            fm.evaluate, path, METRICS, **COLUMNS, n_threads=3,
        )


def test_an_error_in_the_progress_callback_ends_the_scan(tmp_path, small_partitions):
    path = write(tmp_path / "log.parquet", make_log(60_000), 1_000)

    def progress(stage: str, done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fm.evaluate(path, METRICS, **COLUMNS, n_threads=3, progress=progress)
    assert fm.evaluate(path, METRICS, **COLUMNS, n_threads=3).rows == 60_000


def test_a_damaged_row_group_names_the_file(tmp_path, small_partitions):
    good = write(tmp_path / "a.parquet", make_log(20_000), 2_000)
    bad = write(tmp_path / "b.parquet", make_log(20_000), 2_000)
    data = bytearray(bad.read_bytes())
    middle = pq.ParquetFile(bad).metadata.row_group(5).column(1)
    start = middle.dictionary_page_offset or middle.data_page_offset
    data[start : start + 64] = bytes(64)
    bad.write_bytes(data)
    assert_raises(ValueError, r"b\.parquet", fm.evaluate, [good, bad], METRICS, **COLUMNS, n_threads=2)
