"""Intervals by resampling: a replicate equals `evaluate` of the log with every unit's rows repeated by its weight."""

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics._core.columns.group_keys import as_keys
from fastmetrics._core.columns.key_columns import KeyScratch
from fastmetrics._core.resampling.resampling_units import draw_weights, find_unit_buckets
from support.cases import each_case
from support.states.row_units import keys_of_rows

SEEDS = range(12)
OF_ROWS = [
    "logloss", "ctr", "brier", "ece", "copc", "accuracy", "f1", "precision", "ne", "mcc", "logloss(sampling_rate=0.5)",
]  # fmt: skip
OF_NUMBERS = ["mse", "mae", "rmse", "r2", "bias", "explained_variance", "median_ae", "xauc"]
OF_GROUPS = [
    "gauc", "gauc(weight=pairs)", "gauc(weight=uniform,single_class=half)", "gauc(weight=positives)", "ndcg@3",
    "map@5", "mrr(empty=skip)", "hr@2",
]  # fmt: skip


def known(names):
    """The names that are registered."""
    words = {spec.base_name for spec in fm.list_metrics().values()}
    return [name for name in names if name.partition("(")[0].partition("@")[0] in words]


def make_log(rows=900, users=60, seed=0, weighted=False):
    rng = np.random.default_rng(seed)
    user = rng.integers(0, users, rows)
    score = np.round(rng.random(rows), 2).clip(0.01, 0.99)
    label = (rng.random(rows) < score * 0.6 + 0.2 * (user % 3 == 0)).astype(np.int64)
    log = {"y": label, "p": score, "q": rng.random(rows).astype(np.float32), "user": user, "city": user % 17}
    log["target"] = np.round(rng.normal(size=rows) + user % 5, 3)
    log["day"] = rng.integers(0, 3, rows)
    if weighted:
        log["w"] = rng.integers(1, 9, rows) / 4
    return log


def hashes_of(values):
    own = as_keys(values)
    scratch = KeyScratch(own.rows, own.dtype)
    own.hash_block(0, own.rows, scratch)
    return scratch.hashes


def repeated(log, unit, seed, replicate=0):
    """The log with the rows of every unit repeated by its weight; copies of a user are different users."""
    hashes = hashes_of(unit)
    unit_buckets = find_unit_buckets([hashes])
    weights = draw_weights(unit_buckets, seed, replicate, replicate + 1)[:, 0]
    times = weights[unit_buckets.bucket_of(hashes)].astype(np.int64)
    chosen = np.repeat(np.arange(len(hashes)), times)
    copy = np.arange(len(chosen)) - np.repeat(np.cumsum(times) - times, times)
    out = {name: np.asarray(column)[chosen] for name, column in log.items()}
    if "user" in log and log["user"].dtype.kind == "i":
        out["user"] = out["user"] * 100 + copy
    return out


def check_replicates(log, metrics, unit, seeds=SEEDS, rows=None, **columns):
    """With one replicate, both ends of the interval are its value. `rows` are the keys of rows as units."""
    place = log[unit] if rows is None else rows
    for seed in seeds:
        report = fm.evaluate(log, metrics, ci=0.9, replicates=1, seed=seed, unit=unit, **columns)
        plain = fm.evaluate(repeated(log, place, seed), metrics, **columns)
        for found, wanted in zip(report, plain, strict=True):
            assert (found.metric, found.slice) == (wanted.metric, wanted.slice)
            if found.interval is None:
                assert np.isnan(found.value) or np.isnan(wanted.value), found
            else:
                assert found.interval == (wanted.value, wanted.value), found.metric


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_of_users(weighted):
    weight = "w" if weighted else None
    check_replicates(
        make_log(weighted=weighted), known(OF_ROWS), "user", label="y", score=["p", "q"], weight=weight
    )


def test_numbers_of_users():
    check_replicates(make_log(), known(OF_NUMBERS), "user", label="target", score=["p", "q"])


@pytest.mark.parametrize("weighted", [False, True])
def test_groups(weighted):
    log = make_log(weighted=weighted)
    metrics = known(OF_GROUPS)
    if weighted:
        log["w"] = 1 + log["user"] % 4 / 2  # all rows of a ranked list have the same weight
        metrics = [*metrics, "gauc(weight=weights)"]
    columns = {"label": "y", "score": ["p", "q"], "group": "user", "weight": "w" if weighted else None}
    check_replicates(log, metrics, "user", **columns)


def test_groups_inside_units():
    check_replicates(make_log(), known([*OF_GROUPS, "logloss"]), "city", label="y", score="p", group="user")


def test_rows_as_units():
    log = make_log()
    check_replicates(log, known(OF_ROWS), "row", rows=keys_of_rows(log, ["y", "p"]), label="y", score="p")


def test_slices():
    check_replicates(make_log(), ["logloss", "gauc", "ndcg@3"], "user", label="y", score="p", group="user", by="day")


def make_texts(rows=120, seed=3):
    rng = np.random.default_rng(seed)
    words = np.array(["the", "a", "cat", "dog", "sat", "ran", "on", "mat", "under", "table", "quickly"])
    texts = [" ".join(rng.choice(words, rng.integers(1, 9))) for _ in range(2 * rows)]
    user = rng.integers(0, 25, rows)
    return {"reference": texts[:rows], "hypothesis": texts[rows:], "user": user, "day": user % 2}


@pytest.mark.parametrize("unit", ["row", "user"])
def test_texts(unit):
    log = make_texts()
    rows = keys_of_rows(log, [], ["reference", "hypothesis"], "day") if unit == "row" else None
    check_replicates(log, ["bleu", "chrf", "rouge1", "rougeL", "ter"], unit, range(4), rows, by="day")


@each_case("unit", ["row", "user"])
@each_case("texts", [False, True])
def test_partitions(unit, texts):
    rng = np.random.default_rng(5)
    user = rng.integers(0, 25, 300)
    log = {"label": rng.integers(0, 6, 300), "cluster": rng.integers(0, 5, 300), "user": user, "day": user % 2}
    if texts:
        log |= {name: np.array([f"k{value}" for value in log[name]]) for name in ("label", "cluster")}
    rows = keys_of_rows(log, [], ["label", "cluster"], "day") if unit == "row" else None
    check_replicates(log, ["ari", "nmi", "purity", "v_measure"], unit, range(4), rows, by="day")
