"""Rows as resampling units are told apart by what is in them: intervals do not depend on the order of rows."""

import math

import numpy as np
import pytest

import fastmetrics as fm
from support.cases import each_case

METRICS = ["logloss(eps=1e-6)", "auc", "f1", "ks"]
COLUMNS = {"label": "click", "score": "score"}


def make_log(rows, decimals):
    """A log; scores of few decimals make many equal rows."""
    rng = np.random.default_rng(rows)
    rate = rng.random(rows)
    return {
        "click": (rng.random(rows) < rate).astype(np.int64),
        "score": np.round(rate, decimals),
        "other": np.round(rng.random(rows), 2),
        "weight": rng.integers(1, 3, rows) / 2,
        "channel": np.array(["app", "web", "mail"])[rng.integers(0, 3, rows)],
        "day": rng.integers(0, 4, rows),
    }


def shuffle(log):
    order = np.random.default_rng(0).permutation(len(log["click"]))
    return {name: column[order] for name, column in log.items()}


def in_batches(log, rows=4001):
    return [
        {name: column[start : start + rows] for name, column in log.items()}
        for start in range(0, len(log["click"]), rows)
    ]


@pytest.mark.parametrize("decimals", [1, 16])
@pytest.mark.parametrize("rows", [2000, 18_000])
@each_case("options", [{}, {"by": ["channel", "day"], "weight": "weight"}, {"replicates": 20}])
def test_the_same_bits_in_any_order_of_rows(options, rows, decimals):
    log = make_log(rows, decimals)
    expected = fm.evaluate(log, METRICS, **COLUMNS, ci=0.95, **options)
    again = shuffle(log)
    for source, machine in ((again, {"n_threads": 1}), (in_batches(again), {}), (again, {"memory_limit": "1MiB"})):
        assert fm.evaluate(source, METRICS, **COLUMNS, ci=0.95, **options, **machine) == expected


@each_case("decimals", [1, 16])
def test_equal_rows_are_different_units(decimals):
    """Rows with eleven scores alone have the error of independent rows, within the noise of shared entries."""
    log = make_log(40_000, decimals)
    found = fm.evaluate(log, ["brier", "auc"], **COLUMNS, ci=0.95)
    terms = (log["click"] - log["score"]) ** 2
    assert found.result("brier").standard_error == pytest.approx(terms.std(ddof=1) / 200, rel=0.03)
    exact = fm.evaluate(log, "auc", **COLUMNS, ci=0.95, ci_method="delong").result("auc")
    assert found.result("auc").standard_error == pytest.approx(exact.standard_error, rel=0.03)


def test_differences_of_models_in_any_order():
    log = make_log(40_000, 2)
    lines = [
        fm.compare(source, ["auc", "brier"], label="click", score=["score", "other"])
        for source in (log, in_batches(shuffle(log)))
    ]
    for metric in ("auc", "brier"):
        first, second = (comparison[metric] for comparison in lines)
        assert (first.standard_error, first.pvalue) == (second.standard_error, second.pvalue)


@each_case(
    "metrics, columns",
    [
        (["accuracy", "f1(average=macro)", "mcc"], {"label": "label", "prediction": "prediction"}),
        (["accuracy", "jaccard(average=samples)"], {"label": "labels", "prediction": "predictions"}),
        (["bleu", "chrf"], {"label": "text", "score": "hypothesis"}),
        (["ari"], {"label": "label", "score": "prediction"}),
    ],
    ids=["classes", "sets", "texts", "partitions"],
)
def test_rows_of_other_columns_in_any_order(metrics, columns):
    rng = np.random.default_rng(4)
    words = np.array(["one", "two", "three", "four"])
    rows = [
        {
            "label": str(words[rng.integers(4)]),
            "prediction": str(words[rng.integers(4)]),
            "labels": words[np.flatnonzero(rng.random(4) < 0.5)].tolist(),
            "predictions": words[np.flatnonzero(rng.random(4) < 0.5)].tolist(),
            "text": " ".join(words[rng.integers(0, 4, 3)]),
            "hypothesis": " ".join(words[rng.integers(0, 4, 3)]),
            "slice": int(rng.integers(2)),
        }
        for _ in range(400)
    ]
    orders = range(400), rng.permutation(400)
    logs = [{name: [rows[row][name] for row in order] for name in rows[0]} for order in orders]
    for replicates in (None, 20):
        options = {**columns, "unit": "row", "ci": 0.95, "by": "slice", "replicates": replicates}
        first, second = (fm.evaluate(log, metrics, **options) for log in logs)
        assert first == second
        assert all(math.isfinite(result.standard_error) for result in first)
