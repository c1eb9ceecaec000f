"""`evaluate` of a Parquet log: five metrics, one scan."""

import pytest

import fastmetrics as fm
from bench import peers, workloads
from bench.memory import METRICS, peak_of_evaluate

WORK = "`evaluate` of auc, gauc, logloss, ne, copc on a {rows}-row Parquet log"


@pytest.fixture(scope="module")
def path(rows, tmp_path_factory):
    return workloads.click_log(tmp_path_factory.mktemp("log"), rows)


@pytest.fixture(scope="module")
def tiny_path(tmp_path_factory):
    return workloads.click_log(tmp_path_factory.mktemp("tiny_log"), workloads.TINY_ROWS)


def evaluate(path, n_threads=None):
    return fm.evaluate(path, METRICS, label="click", score="pctr", group="user_id", n_threads=n_threads)


def five_values(path, n_threads=None):
    report = evaluate(path, n_threads)
    return [report[metric] for metric in METRICS]


def test_alone(timing, path):
    timing.measure(WORK, lambda: five_values(path))


@pytest.mark.parametrize(
    ("name", "peer"),
    [("bare pyarrow dataset scan", peers.arrow_dataset_scan), ("bare pyarrow `read_table`", peers.arrow_read_table)],
    ids=["dataset", "read_table"],
)
def test_beside_a_bare_scan(timing, path, name, peer):
    timing.compare(
        WORK, lambda: five_values(path), name, peer(path), within=0.0, expected=evaluate(path).rows,
        rounds=6,
    )  # fmt: skip


@pytest.mark.parametrize("n_threads", [None, 1], ids=["default", "one_thread"])
def test_beside_duckdb(timing, path, n_threads):
    work = WORK if n_threads is None else f"{WORK}, one thread of ours"
    theirs = peers.duckdb_five(path)
    timing.compare(work, lambda: five_values(path, n_threads), "DuckDB SQL", theirs, within=1e-9)


def test_memory(timing, rows, path, tiny_path):
    baseline = min(peak_of_evaluate(tiny_path) for _ in range(3))
    timing.measure(
        "peak memory of that `evaluate` above a process that evaluates a tiny log",
        lambda: (peak_of_evaluate(path) - baseline) / rows, unit="bytes a row", reported=True, rounds=3,
    )  # fmt: skip
