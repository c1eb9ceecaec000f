"""Logs larger than memory, slices and models in one scan, and states fed batch by batch."""

import pyarrow.parquet
import pytest

import fastmetrics as fm
from bench import workloads
from bench.memory import peak_of_evaluate
from bench.race import at_most, at_most_mebibytes, count

METRICS = ["auc", "gauc", "logloss"]
COLUMNS = {"label": "click", "score": "pctr", "group": "user_id"}
ROWS_PER_USER = 20
BATCH_ROWS = 1 << 16
BESIDE_THE_LIMIT = 250  # MiB


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


def test_cost_of_a_row(race, log_rows, log, smaller_log):
    race.against(
        f"`evaluate` of auc, gauc, logloss: time per row of a {count(log_rows)}-row Parquet log",
        lambda: seconds_a_row(log), f"a log of {count(log_rows // 10)} rows", lambda: seconds_a_row(smaller_log),
        within=None, target=at_most(1.3), rounds=5, reported=True,
    )  # fmt: skip


def test_cost_of_a_row_of_small_logs(race, log_rows, smaller_log, smallest_log):
    race.against(
        f"`evaluate` of auc, gauc, logloss: time per row of a {count(log_rows // 10)}-row Parquet log",
        lambda: seconds_a_row(smaller_log), f"a log of {count(log_rows // 100)} rows",
        lambda: seconds_a_row(smallest_log), within=None, rounds=6, reported=True,
    )  # fmt: skip


@pytest.mark.parametrize("limit", ["1GiB", "256MiB"])
def test_time_under_a_limit(race, log_rows, log, limit):
    target = at_most(3) if limit == "1GiB" else None
    race.against(
        f"the same, {count(log_rows)} rows, `memory_limit=\"{limit}\"`", lambda: values(log, memory_limit=limit),
        "no limit", lambda: values(log), within=0.0, target=target, rounds=3, ours_rounds=3,
    )  # fmt: skip


@pytest.mark.parametrize(("limit", "mebibytes"), [("1GiB", 1024), ("256MiB", 256)])
def test_memory_under_a_limit(race, log_rows, log, limit, mebibytes):
    race.alone(
        f"peak resident memory of that process, {count(log_rows)} rows, `memory_limit=\"{limit}\"`",
        lambda: peak_of_evaluate(log, METRICS, limit) / 2**20, target=at_most_mebibytes(mebibytes + BESIDE_THE_LIMIT),
        reported=True, rounds=2,
    )  # fmt: skip


def test_slices_and_models(race, sliced_log):
    models = ["a", "b", "c"]
    columns = {"label": "click", "group": "user_id"}

    def together():
        report = fm.evaluate(sliced_log, METRICS, score=models, by="channel", **columns)
        return [report.value(metric, score=model, slice={}) for model in models for metric in METRICS]

    def one_by_one():
        reports = [fm.evaluate(sliced_log, METRICS, score=model, **columns) for model in models]
        return [report[metric] for report in reports for metric in METRICS]

    race.against(
        "`evaluate` of auc, gauc, logloss for 3 models x 64 slices, {rows} rows, one scan", together,
        "three scans of one model, no slices", one_by_one, within=0.0, target=at_most(2), rounds=6,
    )  # fmt: skip


def test_batches_of_an_accumulator(race, sliced_log):
    table = pyarrow.parquet.read_table(sliced_log, columns=["user_id", "click", "a"]).combine_chunks()
    batches = table.to_batches(max_chunksize=BATCH_ROWS)
    columns = {"label": "click", "score": "a", "group": "user_id"}

    def fed(parts):
        accumulator = fm.Accumulator(METRICS, **columns)
        for part in parts:
            accumulator.update(part)
        report = accumulator.result()
        return [report[metric] for metric in METRICS]

    race.against(
        "`Accumulator` of auc, gauc, logloss, {rows} rows in batches of 64k", lambda: fed(batches),
        "one `update` with all rows", lambda: fed([table]), within=0.0, target=at_most(1.3), rounds=6,
    )  # fmt: skip
