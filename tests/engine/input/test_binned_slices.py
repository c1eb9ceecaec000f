"""Slices of numbers by intervals: exact comparison with edges, quantiles of the filtered log, any source."""

import datetime
import math
import os
import shutil
import tracemalloc
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import fastmetrics as fm
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.exchange.spill import SpillError
from fastmetrics.engine.input import binned_columns
from fastmetrics.engine.input.batches import Source
from support.cases import assert_raises, each_case
from support.states.spilled_logs import evaluate, log_of, moved, slice_rows, small_batches

ROWS = 2000
LOG = log_of(ROWS, users=50, seed=12)
LOG["price"] = np.round(np.random.default_rng(3).normal(5, 4, ROWS), 1)
METRICS = ["auc", "logloss", "gauc"]


def intervals(report, title):
    return [own[title] for own in report.slices()[1:]]


def quantiles(values, n):
    """The least values that i of n parts of the rows do not exceed."""
    ordered = sorted(values)
    return sorted({ordered[math.ceil(number * len(ordered) / n) - 1] for number in range(1, n)})


class TestCut:
    def test_each_slice_is_an_evaluation_of_its_rows(self):
        title = "cut(price, [0, 2.5, 10])"
        report = evaluate(LOG, METRICS, by=title)
        price = LOG["price"]
        parts = {
            "(-inf, 0)": price < 0, "[0, 2.5)": (price >= 0) & (price < 2.5),
            "[2.5, 10)": (price >= 2.5) & (price < 10), "[10, inf)": price >= 10,
        }  # fmt: skip
        assert intervals(report, title) == list(parts)
        assert report.bins == {title: (0, 2.5, 10)}
        for name, rows in parts.items():
            alone = evaluate(slice_rows(LOG, rows), METRICS)
            for metric in METRICS:
                assert report.value(metric, slice={title: name}) == alone[metric]
            assert report.result("auc", slice={title: name}).rows == rows.sum()
            assert report.result("auc", slice={title: name}).signature.endswith(f"|edges:{title}=0,2.5,10")
        assert report["auc"] == evaluate(LOG, METRICS)["auc"]

    def test_slices_are_in_the_order_of_the_edges(self):
        title = "cut(price, [-1, 5, 10])"
        report = evaluate(LOG, ["auc"], by=[title, "city"])
        names = list(dict.fromkeys(intervals(report, title)))
        assert names == ["(-inf, -1)", "[-1, 5)", "[5, 10)", "[10, inf)"]

    @each_case(
        "values, edges, expected",
        [
            (pa.array([2**53, 2**53 + 1, -5], pa.int64()), "[9007199254740993]", [0, 1, 0]),
            (pa.array([2**64 - 1, 0], pa.uint64()), "[18446744073709551615]", [1, 0]),
            (pa.array([3, 4], pa.int8()), "[3.5, 1e300]", [0, 1]),
            (pa.array([-(2**63), 2**63 - 1]), "[-1e300, 1e30]", [1, 1]),
            (pa.array([0.1, 0.1], pa.float32()), "[0.1]", [1, 1]),
            (pa.array([0.3], pa.float32()), "[0.30000001192092896]", [1]),
            (pa.array([0.3], pa.float32()), "[0.300000011920929]", [0]),
            (pa.array([-0.0, 0.0]), "[0]", [1, 1]),
            (pa.array([float(2**53), float(2**53 + 2)]), "[9007199254740993]", [0, 1]),
            (pa.array([math.inf, -math.inf, math.nan, None]), "[0]", [1, 0, None, None]),
            (pa.array(["1"]).cast(pa.int32()).dictionary_encode(), "[1]", [1]),
            (pa.array([None, None]), "[1]", [None, None]),
            (pa.array(np.array([1, 2], np.float16)), "[1.5]", [0, 1]),
        ],
    )
    def test_comparison_is_exact(self, values, edges, expected):
        from fastmetrics.engine.plan.slice_bins import read_bins

        bins = read_bins(f"cut(x, {edges})")
        labels = bins.labels()
        assert binned_columns.cut_column(bins, values).to_pylist() == [
            None if place is None else labels[place] for place in expected
        ]

    def test_many_edges(self):
        edges = list(range(-10, 30))
        report = evaluate(LOG, ["ctr"], by=f"cut(price, {edges})")
        expected = np.searchsorted(edges, LOG["price"], "right")
        assert [own.rows for own in report if own.slice] == np.bincount(expected)[np.unique(expected)].tolist()

    def test_of_an_expression_a_null_and_grouping_sets(self):
        log = {**LOG, "price": pa.array([None if row % 9 == 0 else own for row, own in enumerate(LOG["price"])])}
        title = "cut(price * 2, [1])"
        report = evaluate(log, ["auc"], by=[[title], [title, "city"]])
        assert list(report)[:4] == list(evaluate(log, ["auc"], by=title))
        assert report.slices()[3] == {title: None}

    @each_case(
        "by, message",
        [
            ("cut(price, [])", "no edges"),
            ("cut(price, [2, 1])", r"have to ascend; 1 comes after 2"),
            ("cut(price, [1, 1])", "have to ascend"),
            ("cut(price, ['a'])", "finite numbers"),
            ("cut(price, 3)", "list of numbers"),
            ("cut(price)", "1 arguments"),
            ("qcut(price, 1)", "2 to 1,000 slices"),
            ("qcut(price, 2.5)", "2 to 1,000 slices"),
            ("cut(nothing, [1])", "no column 'nothing'"),
        ],
    )
    def test_bad_calls(self, by, message):
        assert_raises(ValueError, message, evaluate, LOG, ["auc"], by=by)

    def test_values_that_are_no_numbers(self):
        for values in (LOG["city"], pa.array([Decimal("1.5")] * ROWS), pa.array([datetime.date(2026, 1, 1)] * ROWS)):
            assert_raises(TypeError, r"cast it, such as", evaluate, {**LOG, "x": values}, ["auc"], by="cut(x, [1])")

    def test_accumulators(self):
        title = "cut(price, [0, 2.5, 10])"
        state = fm.Accumulator(METRICS, label="label", score="prob", group="group", by=title)
        for start in range(0, ROWS, 700):
            state.update(slice_rows(LOG, (np.arange(ROWS) >= start) & (np.arange(ROWS) < start + 700)))
        expected = evaluate(LOG, METRICS, by=title)
        assert state.result() == expected
        assert fm.Accumulator.from_bytes(state.to_bytes()).result() == expected


class TestQuantiles:
    @pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint64", "int16"])
    @pytest.mark.parametrize("n", [2, 3, 10])
    def test_edges_are_the_quantiles(self, dtype, n):
        values = np.round(LOG["price"] * (1 if dtype.startswith("f") else 10)).astype(dtype)
        if dtype.startswith("f"):
            values = (LOG["price"] / 3).astype(dtype)
        report = evaluate({**LOG, "x": values}, ["auc"], by=f"qcut(x, {n})")
        assert list(report.bins[f"qcut(x, {n})"]) == quantiles(values.tolist(), n)

    @pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint64"])
    @pytest.mark.parametrize("few", [0, 40, 500])
    def test_edges_of_long_logs(self, monkeypatch, dtype, few):
        """Keys are counted by a few bits after each other, until few are left, which are sorted."""
        random = np.random.default_rng(6)
        values = random.normal(0, 50, ROWS) if dtype.startswith("f") else random.integers(0, 1 << 50, ROWS)
        values[: ROWS // 3] = np.round(values[: ROWS // 3] % 7)
        values = values.astype(dtype)
        expected = quantiles(values.tolist(), 300)
        small_batches(monkeypatch, 100)
        counted = []
        cells_of = binned_columns.cells_of
        monkeypatch.setattr(binned_columns, "FEW_KEYS", few)
        monkeypatch.setattr(binned_columns, "CELL_BITS", 11)
        monkeypatch.setattr(binned_columns, "cells_of", lambda *own: counted.append(cells_of(*own)) or counted[-1])
        report = evaluate({**LOG, "x": values}, ["ctr"], by="qcut(x, 300)")
        assert list(report.bins["qcut(x, 300)"]) == expected
        assert max(cells.max(initial=0) for cells in counted) < 1 << 11

    def test_quantiles_need_little_memory(self, monkeypatch):
        """The counts of 1,000 quantiles are as large as those of a few."""
        values = np.random.default_rng(2).random(1 << 18)
        store = BlockStore(1, MemoryBudget(None, None, 1))
        binned_columns.add_keys(store, values)
        monkeypatch.setattr(binned_columns, "FEW_KEYS", 1 << 16)
        tracemalloc.start()
        try:
            edges = binned_columns.select_edges(store, 1000, values.dtype)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
            store.close()
        assert list(edges) == quantiles(values.tolist(), 1000)
        assert peak < 64 << 20

    @each_case("few", [1, 1 << 20])
    @each_case("value", [0.0, -1.5, np.inf])
    def test_quantiles_of_one_value(self, few, value, monkeypatch):
        monkeypatch.setattr(binned_columns, "FEW_KEYS", few)
        values = np.full(3000, value)
        store = BlockStore(1, MemoryBudget(None, None, 1))
        binned_columns.add_keys(store, values)
        assert binned_columns.select_edges(store, 1000, values.dtype) == (value,)
        store.close()

    @each_case("dtype", ["f4", "f8", "i8", "u8"])
    def test_many_edges_are_counted_as_a_search_does(self, dtype):
        """Also where a cell has many edges: values that are equal to them, of all sizes, and infinite ones."""
        random = np.random.default_rng(8)
        for exponent in (-300, -30, -3, 0, 15, 30, 300):
            values = random.normal(0, 1, 20_000) * random.choice([1.0, 1e-8, 1e4], 20_000)
            if dtype.startswith("f"):
                with np.errstate(over="ignore"):
                    values = (values * np.float64(f"1e{exponent}")).astype(dtype)
                values[:4] = [np.inf, -np.inf, -0.0, 0.0]
            else:
                values = random.integers(0, np.iinfo(dtype).max, 20_000, dtype) >> np.array(abs(exponent) % 60, dtype)
            for edges in (values[4:1000], values[:1000], np.sort(values)[9000:9900]):
                edges = np.unique(edges)
                found = binned_columns.count_edges(edges, values)
                assert found.tolist() == np.searchsorted(edges, values, "right").tolist()

    def test_the_same_as_a_cut_at_the_edges(self):
        report = evaluate(LOG, METRICS, by="qcut(price, 7)")
        edges = ", ".join(map(repr, report.bins["qcut(price, 7)"]))
        cut = evaluate(LOG, METRICS, by=f"cut(price, [{edges}])")
        assert [(own.value, *own.slice.values()) for own in report] == [(own.value, *own.slice.values()) for own in cut]
        assert f"qcut(price, 7): edges {edges}, found in a first read of the log" in str(report)
        assert report.to_dict()["bins"] == {"qcut(price, 7)": list(report.bins["qcut(price, 7)"])}

    def test_ties_are_never_split(self):
        values = np.where(np.arange(ROWS) % 10 < 7, 1.0, LOG["price"] + 100)
        report = evaluate({**LOG, "x": values}, ["ctr"], by="qcut(x, 10)")
        assert list(report.bins["qcut(x, 10)"]) == quantiles(values.tolist(), 10)
        assert len(report.bins["qcut(x, 10)"]) == 3
        assert sum(own.rows for own in report if own.slice) == ROWS

    def test_of_the_filtered_log(self):
        report = evaluate(LOG, ["auc"], by="qcut(price, 4)", where="hour > 1 and city = 'Bern'")
        kept = (LOG["hour"] > 1) & np.array([city == "Bern" for city in LOG["city"].to_pylist()])
        assert list(report.bins["qcut(price, 4)"]) == quantiles(LOG["price"][kept].tolist(), 4)

    def test_any_order_batches_and_sources(self, monkeypatch, tmp_path):
        expected = evaluate(LOG, ["auc"], by=["qcut(price, 5)"])
        small_batches(monkeypatch, 100)
        table = pa.table(moved(LOG, np.random.default_rng(8).permutation(ROWS)))
        pa.parquet.write_table(table, tmp_path / "log.parquet", row_group_size=300)
        for data in (table, tmp_path / "log.parquet", table.to_reader(max_chunksize=90), iter(table.to_batches(70))):
            report = evaluate(data, ["auc"], by=["qcut(price, 5)"], spill_dir=tmp_path)
            assert report == expected
        assert [path.name for path in tmp_path.iterdir()] == ["log.parquet"]

    def test_a_full_disk(self, monkeypatch, tmp_path):
        """A stream is copied, and its space is checked before every batch."""
        table = pa.table(LOG)
        free = 20_000
        monkeypatch.setattr(shutil, "disk_usage", lambda folder: shutil._ntuple_diskusage(1 << 40, 0, free))
        options = {"by": "qcut(price, 5)", "spill_dir": tmp_path}
        title = f"^copying a stream, which is read twice for quantiles, to folder '{tmp_path}': not enough space"
        advice = r"19\.5 KiB are free \(give another folder with spill_dir="
        message = f"{title}; .* KiB are needed there, and {advice}"
        assert_raises(SpillError, message, evaluate, iter([table]), ["auc"], **options)
        free = 10**9
        known = iter([table])
        assert evaluate(known, ["auc"], **options) == evaluate(table, ["auc"], by="qcut(price, 5)")
        assert list(tmp_path.iterdir()) == []

    def test_a_known_number_of_rows_is_checked_before_they_are_copied(self, monkeypatch):
        batches = []

        class Known(Source):
            reads_once, rows, column_names, label = True, 1 << 30, ["x", "name"], "the stream"

            def _read(self, columns, use_threads):
                for number in range(5):
                    batches.append(number)
                    yield pa.record_batch({"x": np.zeros(200_000), "name": pa.repeat("a", 200_000)})

        monkeypatch.setattr(shutil, "disk_usage", lambda folder: shutil._ntuple_diskusage(1 << 40, 0, 1 << 28))
        twice = binned_columns.read_twice(Known(), ["x", "name"], MemoryBudget(None, None, 1))
        message = "not enough space; 12 GiB are needed there, and 256 MiB are free"
        assert_raises(SpillError, message, twice.__enter__)
        assert len(batches) < 5

    @pytest.mark.skipif(os.name != "posix", reason="limits the size of files")
    def test_a_copy_that_cannot_be_written(self, tmp_path):
        import resource

        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
        try:
            with pytest.raises(SpillError, match=r"a file may not grow larger here.*are needed there.*spill_dir="):
                evaluate(iter(pa.table(LOG).to_batches(100)), ["auc"], by="qcut(price, 5)", spill_dir=tmp_path)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert list(tmp_path.iterdir()) == []

    def test_errors_of_the_stream_are_its_own(self, tmp_path):
        def batches():
            yield from pa.table(LOG).to_batches(100)[:2]
            raise OSError("the connection is closed")

        assert_raises(OSError, "^the connection is closed$", evaluate, batches(), ["auc"], by="qcut(price, 5)")

    def test_under_a_memory_limit(self):
        rows = 150_000
        log = log_of(rows, users=900, seed=4)
        log["x"] = np.random.default_rng(1).normal(size=rows)
        small = evaluate(log, ["auc"], by="qcut(x, 10)", memory_limit="1MiB")
        assert small == evaluate(log, ["auc"], by="qcut(x, 10)")
        assert list(small.bins["qcut(x, 10)"]) == quantiles(log["x"].tolist(), 10)

    def test_nulls_and_infinities(self):
        values = [None, math.nan, math.inf, -math.inf, 1.0, 2.0, 3.0, 4.0] * 10
        log = slice_rows(LOG, np.arange(ROWS) < 80) | {"x": pa.array(values, pa.float64())}
        report = evaluate(log, ["ctr"], by="qcut(x, 3)")
        assert report.bins["qcut(x, 3)"] == (1.0, 3.0)
        assert report.result("ctr", slice={"qcut(x, 3)": None}).rows == 20
        nothing = evaluate({**log, "x": pa.nulls(80, pa.float64())}, ["ctr"], by="qcut(x, 3)")
        assert nothing.slices() == [{}, {"qcut(x, 3)": None}]

    def test_comparisons_tasks_and_grouping_sets(self):
        log = {**LOG, "other": LOG["prob"] ** 2}
        options = {"label": "label", "score": ["prob", "other"], "replicates": 5}
        comparison = fm.compare(log, ["auc"], by="qcut(price, 3)", **options)
        assert list(comparison.bins["qcut(price, 3)"]) == quantiles(LOG["price"].tolist(), 3)
        one = fm.Task(label="label", score="prob")
        tasks = {"one": one, "late": one._replace(where="hour = 3")}
        report = fm.evaluate(LOG, "auc", tasks=tasks, by=[["qcut(price, 3)"], ["city"]])
        late = LOG["price"][LOG["hour"] == 3].tolist()
        assert list(report.bins["late: qcut(price, 3)"]) == quantiles(late, 3)

    def test_accumulators_take_edges(self):
        assert_raises(
            ValueError, r"'qcut\(price, 4\)' needs all rows.*cut\(price, \[\.\.\.\]\)",
            fm.Accumulator, ["auc"], label="label", score="prob", by="qcut(price, 4)",
        )


def test_dates():
    start = datetime.datetime(2026, 11, 25, 10, 59)
    times = [start + datetime.timedelta(minutes=row % 180) for row in range(ROWS)]
    report = evaluate({**LOG, "ts": pa.array(times)}, ["auc"], by="date_trunc('hour', ts)")
    hours = [own["date_trunc('hour', ts)"].hour for own in report.slices()[1:]]
    assert hours == [10, 11, 12, 13]
