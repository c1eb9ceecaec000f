"""A log that does not fit into memory gives the same report, to the last bit, for all types and sources."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from fastmetrics._core.registry import parse
from support.cases import each_case
from support.registry_cases import NUMBER_COLUMNS, REAL
from support.states.spilled_logs import (
    EXCHANGED,
    KEYS,
    MEMORY,
    METRICS,
    counted,
    evaluate,
    log_of,
    moved,
    small_batches,
)

pytestmark = pytest.mark.usefixtures("scaled")
ROWS = 10_000
LIMITS = [MEMORY, "512KiB"]
LOG = log_of(ROWS)
BY_TYPE = {"float64": LOG, "float32": log_of(ROWS, seed=3, dtype="float32")}


def assert_same_when_spilled(data, metrics=EXCHANGED, limits=LIMITS, threads=(2,), **options):
    """The report without a limit; `data` may be a function that opens a source that can be read once."""
    opened = data if callable(data) else lambda: data
    expected = evaluate(opened(), metrics, **options)
    for limit in limits:
        for n_threads in threads:
            with counted() as calls:
                report = evaluate(opened(), metrics, memory_limit=limit, n_threads=n_threads, **options)
            assert calls["spilled"] > 0 or limit != MEMORY
            assert report == expected, (limit, n_threads)
    return expected


class TestEveryMetric:
    @pytest.mark.parametrize("metric", EXCHANGED)
    def test_single_metrics(self, metric):
        assert_same_when_spilled(LOG, [metric])

    @pytest.mark.parametrize("dtype", BY_TYPE)
    def test_all_together(self, dtype):
        assert_same_when_spilled(BY_TYPE[dtype], METRICS, threads=(1, 2, 3))

    def test_a_long_log(self):
        with counted() as calls:
            assert_same_when_spilled(log_of(50_000, seed=4), METRICS, ["512KiB"])
        assert calls["spilled"] > 0

    @pytest.mark.parametrize("weight", ["weight", "real"])
    def test_weighted(self, weight):
        assert_same_when_spilled(LOG, [*METRICS, "gauc(weight=weights)"], weight=weight)

    def test_metrics_that_keep_no_rows_spill_nothing(self):
        additive = [metric for metric in METRICS if metric not in EXCHANGED]
        with counted() as calls:
            assert evaluate(LOG, additive, memory_limit=MEMORY) == evaluate(LOG, additive)
            of_numbers = {**NUMBER_COLUMNS, "weight": "real", "by": "hour"}
            numbers = [metric for metric in REAL if parse(metric).spec.exchange == "none"]
            assert evaluate(LOG, numbers, memory_limit=MEMORY, **of_numbers) == evaluate(LOG, numbers, **of_numbers)
        assert calls["spilled"] == 0

    def test_a_log_that_fits_spills_nothing(self):
        log = log_of(1250)
        with counted() as calls:
            assert evaluate(log, memory_limit=MEMORY) == evaluate(log)
        assert not calls


@pytest.fixture(scope="module")
def report_of_log():
    return evaluate(LOG, EXCHANGED)


class TestKeys:
    @each_case("kind", KEYS)
    def test_every_kind(self, kind, report_of_log):
        keys = KEYS[kind](LOG["group"])
        report = assert_same_when_spilled({**LOG, "group": keys}, EXCHANGED, [MEMORY], threads=(1, 3))
        # The text of the keys does not matter: no two users are taken for one, and none for two.
        assert report == report_of_log

    @pytest.mark.parametrize("kind", ["int64", "any text"])
    def test_sorted_by_user(self, kind, report_of_log):
        log = moved({**LOG, "group": KEYS[kind](LOG["group"])}, np.argsort(LOG["group"], kind="stable"))
        assert assert_same_when_spilled(log) == report_of_log

    @pytest.mark.parametrize("kind", ["int64", "any text"])
    def test_many_small_blocks(self, kind, monkeypatch, report_of_log):
        log = moved({**LOG, "group": KEYS[kind](LOG["group"])}, np.argsort(LOG["group"], kind="stable"))
        small_batches(monkeypatch, 60)
        assert assert_same_when_spilled(log, EXCHANGED, [MEMORY]) == report_of_log

    @pytest.mark.parametrize("kind", ["int64", "any text"])
    def test_every_row_a_user_of_its_own(self, kind):
        report = assert_same_when_spilled({**LOG, "group": KEYS[kind](np.arange(ROWS))}, ["gauc(single_class=half)"])
        assert report["gauc(single_class=half)"] == 0.5

    @pytest.mark.parametrize("n_blocks", [1, 2, 50])
    def test_some_blocks_in_memory(self, n_blocks, monkeypatch, report_of_log):
        """Some blocks stay in memory, others are spilled: text keys refer to both."""
        log = {**LOG, "group": KEYS["any text"](LOG["group"])}
        small_batches(monkeypatch, -(-ROWS // n_blocks))
        for limit in (MEMORY, "256KiB", "512KiB"):
            with counted() as calls:
                assert evaluate(log, EXCHANGED, memory_limit=limit) == report_of_log
            assert calls["spilled"] > 0


@pytest.fixture(scope="module")
def table():
    return pa.table({**LOG, "group": KEYS["any text"](LOG["group"])})


class TestSources:
    def test_table_and_stream(self, table):
        expected = assert_same_when_spilled(table, METRICS, by="hour")
        assert assert_same_when_spilled(lambda: table.to_reader(max_chunksize=900), METRICS, by="hour") == expected

    def test_parquet_of_several_row_groups_and_files(self, table, tmp_path):
        expected = evaluate(table, METRICS, by="city")
        path = tmp_path / "whole" / "log.parquet"
        path.parent.mkdir()
        pyarrow.parquet.write_table(table, path, row_group_size=2500)
        parts = tmp_path / "parts"
        parts.mkdir()
        for number, start in enumerate(range(0, ROWS, 5000)):
            pyarrow.parquet.write_table(table.slice(start, 5000), parts / f"{number}.parquet", row_group_size=1100)
        for data, threads in ((path, (1, 3)), (parts, (2,)), (sorted(parts.iterdir())[::-1], (3,))):
            assert assert_same_when_spilled(data, METRICS, [MEMORY], threads, by="city") == expected

    def test_invalid_rows_are_left_out(self, table):
        missing = np.random.default_rng(0).random(ROWS) < 0.1
        table = table.set_column(table.column_names.index("prob"), "prob", pa.array(LOG["prob"], mask=missing))
        report = assert_same_when_spilled(table, METRICS, on_invalid="drop")
        assert report.dropped == {"null or NaN score": int(missing.sum())}


class TestSeveral:
    """Slices, scores and labels in one scan."""

    @each_case("weight", [None, "real"])
    @each_case("by", ["hour", ["city", "hour"]])
    def test_slices(self, by, weight):
        assert_same_when_spilled(LOG, METRICS, [MEMORY], by=by, weight=weight)

    def test_scores_and_labels(self):
        generator = np.random.default_rng(9)
        other = np.round(np.clip(LOG["prob"] + generator.normal(0, 0.1, ROWS), 0, 1), 3).astype(np.float32)
        log = {**LOG, "other": other, "buy": (generator.random(ROWS) < 0.02).astype(np.int8)}
        wanted = {"score": ["prob", "other"], "label": ["label", "buy"]}
        assert_same_when_spilled(log, METRICS, [MEMORY], **wanted)
        assert_same_when_spilled(log, ["auc", "gauc", "ks", "ece"], [MEMORY], by="hour", weight="weight", **wanted)

    def test_many_slices(self):
        log = {**LOG, "minute": np.random.default_rng(1).integers(0, 70, ROWS)}
        assert_same_when_spilled(log, EXCHANGED, [MEMORY], by="minute")


def test_these_tests_can_fail():
    """Reports differ if logs differ in one label."""
    label = LOG["label"].copy()
    label[5555] ^= 1
    expected, other = evaluate(LOG), evaluate({**LOG, "label": label}, memory_limit=MEMORY)
    assert other != expected
    differing = {one.metric for one, two in zip(expected, other, strict=True) if one != two}
    # One row has the greatest error, and it is another; medians and quantiles of groups do not see every row.
    unseeing = {
        result.metric for result in expected if result.metric in ("max_error", "median_ae") or "stat=" in result.metric
    }
    assert differing | unseeing == {result.metric for result in expected}
