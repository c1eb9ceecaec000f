"""`evaluate` of a Parquet log: five metrics, one scan."""

import pytest

import fastmetrics as fm
from bench import peers, workloads
from bench.memory import METRICS, peak_of_evaluate
from bench.race import at_least, at_most, at_most_bytes

WORK = "`evaluate` of auc, gauc, logloss, ne, copc on a {rows}-row Parquet log"


@pytest.fixture(scope="module")
def path(rows, tmp_path_factory):
    return workloads.click_log(tmp_path_factory.mktemp("log"), rows)


@pytest.fixture(scope="module")
def tiny_path(tmp_path_factory):
    return workloads.click_log(tmp_path_factory.mktemp("tiny_log"), workloads.TINY_ROWS)


def report(path, n_threads=None):
    return fm.evaluate(path, METRICS, label="click", score="pctr", group="user_id", n_threads=n_threads)


def five(path, n_threads=None):
    found = report(path, n_threads)
    return [found[metric] for metric in METRICS]


def test_alone(race, path):
    race.alone(WORK, lambda: five(path))


@pytest.mark.parametrize(
    ("name", "peer"),
    [("bare pyarrow dataset scan", peers.arrow_dataset_scan), ("bare pyarrow `read_table`", peers.arrow_read_table)],
    ids=["dataset", "read_table"],
)
def test_beside_a_bare_scan(race, path, name, peer):
    race.against(
        WORK, lambda: five(path), name, peer(path), within=0.0, expected=report(path).rows, target=at_most(4), rounds=6
    )


@pytest.mark.parametrize("n_threads", [None, 1], ids=["default", "one_thread"])
def test_beside_duckdb(race, path, n_threads):
    work = WORK if n_threads is None else f"{WORK}, one thread of ours"
    target = at_least(8) if n_threads is None else None
    race.against(work, lambda: five(path, n_threads), "DuckDB SQL", peers.duckdb_five(path), within=1e-9, target=target)


def test_memory(race, rows, path, tiny_path):
    baseline = min(peak_of_evaluate(tiny_path) for _ in range(3))
    race.alone(
        "peak memory of that `evaluate` above a process that evaluates a tiny log",
        lambda: (peak_of_evaluate(path) - baseline) / rows, target=at_most_bytes(24), reported=True, rounds=3,
    )  # fmt: skip
