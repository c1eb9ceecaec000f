"""GAUC: AUC inside each user."""

from functools import partial

import numpy as np
import pytest

import fastmetrics as fm
from bench import peers, workloads

INTEGERS = "`gauc_score`, {rows} rows, {users} users (power law, int64 ids, shuffled)"


@pytest.fixture(scope="module")
def numbers(rows):
    return workloads.user_numbers(rows)


@pytest.fixture(scope="module")
def log(clicks, numbers):
    return clicks.labels, clicks.probabilities, workloads.user_ids(numbers)


def test_integer_ids_alone(timing, log):
    timing.measure(INTEGERS, lambda: fm.gauc_score(*log))


PEERS = {
    "polars": peers.polars_gauc,
    "DuckDB SQL": peers.duckdb_gauc,
    "polars, users without a click left out first": peers.polars_gauc_of_clicked,
    "DuckDB SQL, users without a click left out first": peers.duckdb_gauc_of_clicked,
}


@pytest.mark.parametrize("name", PEERS, ids=["polars", "duckdb", "polars_clicked", "duckdb_clicked"])
def test_integer_ids(timing, log, name):
    theirs = PEERS[name](*log)
    timing.compare(INTEGERS, lambda: fm.gauc_score(*log), name, theirs, within=1e-9, rounds=6)


def test_integer_ids_with_one_thread(timing, log):
    work = f"{INTEGERS}, one thread of ours"
    ours = partial(fm.gauc_score, *log, n_threads=1)
    timing.compare(work, ours, "polars", peers.polars_gauc(*log), within=1e-9)


def test_loop_over_users(timing, log):
    loop = peers.UserLoop(*log)
    expected = fm.gauc_score(*(column[loop.rows] for column in log))
    drawn = f"extrapolated: the loop ran over {len(loop.users)} users drawn at random, and its time was multiplied by"
    timing.compare(
        INTEGERS, lambda: fm.gauc_score(*log), "scikit-learn, user by user", loop, within=1e-9, expected=expected,
        scale=loop.scale, note=f"{drawn} {loop.scale:g}",
    )  # fmt: skip


def numpy_names(numbers):
    return workloads.user_names(numbers).to_numpy(zero_copy_only=False).astype(str)


NAMES = {
    "Arrow strings `user_…`": workloads.user_names,
    "NumPy strings `user_…`": numpy_names,
    "Arrow strings of 36 bytes (UUIDs)": workloads.user_uuids,
}


@pytest.mark.parametrize("what", NAMES, ids=["arrow", "numpy", "uuid"])
def test_string_ids(timing, log, numbers, what):
    names = NAMES[what](numbers)
    labels, scores, _ = log
    ours = partial(fm.gauc_score, labels, scores, names)
    integers = partial(fm.gauc_score, *log)
    timing.compare(f"`gauc_score`, the same with {what}", ours, "int64 ids", integers, within=0.0, rounds=6)


def test_string_ids_beside_polars(timing, log, numbers):
    names = workloads.user_names(numbers)
    columns = *log[:2], names
    work = "`gauc_score`, the same with Arrow strings `user_…`"
    timing.compare(work, lambda: fm.gauc_score(*columns), "polars", peers.polars_gauc(*columns), within=1e-9)


def test_rows_in_user_order(timing, log):
    order = np.argsort(log[2], kind="stable")
    columns = tuple(column[order] for column in log)
    work = "`gauc_score`, the same with int64 ids and the rows of a user together"
    timing.compare(work, lambda: fm.gauc_score(*columns), "polars", peers.polars_gauc(*columns), within=1e-9)
