"""Logs larger than memory, several slices and models in one scan, and `Accumulator` updates in batches."""

import pyarrow.parquet
import pytest

import fastmetrics as fm
from bench import workloads
from bench.memory import peak_of_evaluate
from bench.timing import format_count

METRICS = ["auc", "gauc", "logloss"]
COLUMNS = {"label": "click", "score": "pctr", "group": "user_id"}
ROWS_PER_USER = 20
BATCH_ROWS = 1 << 16


@pytest.fixture(scope="module")
def log(log_rows, tmp_path_factory):
    return workloads.click_log(tmp_path_factory.mktemp("large_log"), log_rows, ROWS_PER_USER)


@pytest.fixture(scope="module")
def smaller_log(log_rows, tmp_path_factory):
    return workloads.click_log(tmp_path_factory.mktemp("smaller_log"), log_rows // 10, ROWS_PER_USER)


@pytest.fixture(scope="module")
def smallest_log(log_rows, tmp_path_factory):
    return workloads.click_log(tmp_path_factory.mktemp("smallest_log"), log_rows // 100, ROWS_PER_USER)


@pytest.fixture(scope="module")
def sliced_log(rows, tmp_path_factory):
    return workloads.sliced_log(tmp_path_factory.mktemp("sliced_log"), rows)


def values(path, **options):
    report = fm.evaluate(path, METRICS, **{**COLUMNS, **options})
    return [report[metric] for metric in METRICS]


def seconds_a_row(path):
    return fm.evaluate(path, METRICS, **COLUMNS).seconds / pyarrow.parquet.read_metadata(path).num_rows


def test_cost_of_a_row(timing, log_rows, log, smaller_log):
    timing.compare(
        f"`evaluate` of auc, gauc, logloss: time per row of a {format_count(log_rows)}-row Parquet log",
        lambda: seconds_a_row(log), f"a log of {format_count(log_rows // 10)} rows", lambda: seconds_a_row(smaller_log),
        within=None, rounds=5, reported=True,
    )  # fmt: skip


def test_cost_of_a_row_of_small_logs(timing, log_rows, smaller_log, smallest_log):
    timing.compare(
        f"`evaluate` of auc, gauc, logloss: time per row of a {format_count(log_rows // 10)}-row Parquet log",
        lambda: seconds_a_row(smaller_log), f"a log of {format_count(log_rows // 100)} rows",
        lambda: seconds_a_row(smallest_log), within=None, rounds=6, reported=True,
    )  # fmt: skip


@pytest.mark.parametrize("limit", ["1GiB", "256MiB"])
def test_time_under_a_limit(timing, log_rows, log, limit):
    timing.compare(
        f"`evaluate` of auc, gauc, logloss, {format_count(log_rows)} rows, `memory_limit=\"{limit}\"`",
        lambda: values(log, memory_limit=limit), "no limit", lambda: values(log), within=0.0, rounds=3, ours_rounds=3,
    )  # fmt: skip


@pytest.mark.parametrize("limit", ["1GiB", "256MiB"])
def test_memory_under_a_limit(timing, log_rows, log, limit):
    timing.measure(
        f"peak resident memory of that process, {format_count(log_rows)} rows, `memory_limit=\"{limit}\"`",
        lambda: peak_of_evaluate(log, METRICS, limit) / 2**20, unit="MiB", reported=True, rounds=2,
    )  # fmt: skip


def test_slices_and_models(timing, sliced_log):
    models = ["a", "b", "c"]
    columns = {"label": "click", "group": "user_id"}

    def together():
        report = fm.evaluate(sliced_log, METRICS, score=models, by="channel", **columns)
        return [report.value(metric, score=model, slice={}) for model in models for metric in METRICS]

    def one_by_one():
        reports = [fm.evaluate(sliced_log, METRICS, score=model, **columns) for model in models]
        return [report[metric] for report in reports for metric in METRICS]

    timing.compare(
        "`evaluate` of auc, gauc, logloss for 3 models x 64 slices, {rows} rows, one scan", together,
        "three scans of one model, no slices", one_by_one, within=0.0, rounds=6,
    )  # fmt: skip


def test_batches_of_an_accumulator(timing, sliced_log):
    table = pyarrow.parquet.read_table(sliced_log, columns=["user_id", "click", "a"]).combine_chunks()
    batches = table.to_batches(max_chunksize=BATCH_ROWS)
    columns = {"label": "click", "score": "a", "group": "user_id"}

    def accumulate(batches):
        accumulator = fm.Accumulator(METRICS, **columns)
        for batch in batches:
            accumulator.update(batch)
        report = accumulator.result()
        return [report[metric] for metric in METRICS]

    timing.compare(
        "`Accumulator` of auc, gauc, logloss, {rows} rows in batches of 64k", lambda: accumulate(batches),
        "one `update` with all rows", lambda: accumulate([table]), within=0.0, rounds=6,
    )  # fmt: skip
