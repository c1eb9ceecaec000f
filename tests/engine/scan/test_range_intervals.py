"""Intervals of metrics of the range exchange: a replicate equals `evaluate` of the log with rows repeated."""

import numpy as np
import pytest

import fastmetrics as fm
from support.cases import each_case
from support.states.replicate_cases import repeat_units
from support.states.row_units import keys_of_rows

METRICS = ["auc", "ap", "ks", "eer", "eer(method=mean)", "eer(method=convex_hull)"]
METRICS += ["best_threshold", "lift", "partial_auc"]
COLUMNS = {"label": "label", "score": ["a", "b"]}


def make_log(rows=1500, seed=0):
    generator = np.random.default_rng(seed)
    user = generator.integers(0, 60, rows)
    label = generator.random(rows) < 0.2 + 0.01 * (user % 30)
    return {
        "user": user,
        "name": np.array([f"user {number}" for number in user]),
        "label": label.astype(np.int8),
        "a": np.round(generator.standard_normal(rows) + label, 2),
        "b": (generator.random(rows) + 0.3 * label).astype(np.float32),
        "country": np.array(["de", "fr", "it"])[generator.integers(0, 3, rows)],
        "weight": generator.random(rows),
    }


@each_case(
    "options",
    [
        {"unit": "user"},
        {"unit": "name", "by": "country"},
        {"unit": "row"},
        {"unit": "user", "weight": "weight", "by": "country"},
        {"unit": "user", "memory_limit": "1MiB", "by": "country"},
    ],
)
def test_a_replicate_is_the_log_repeated(options):
    """With one replicate, both ends of the interval are its value."""
    log = make_log()
    without = {name: value for name, value in options.items() if name != "unit"}
    keys = keys_of_rows(log, ["label", "a", "b"]) if options["unit"] == "row" else log[options["unit"]]
    for seed in range(3):
        report = fm.evaluate(log, METRICS, ci=0.9, replicates=1, seed=seed, **COLUMNS, **options)
        plain = fm.evaluate(repeat_units(log, keys, seed), METRICS, **COLUMNS, **without)
        for found, wanted in zip(report, plain, strict=True):
            assert (found.metric, found.score, found.slice) == (wanted.metric, wanted.score, wanted.slice)
            assert found.interval == (wanted.value, wanted.value)


@pytest.mark.parametrize("options", [{"n_threads": 1}, {"memory_limit": "1MiB", "n_threads": 2}])
def test_intervals_are_the_same_in_any_order_and_memory(options):
    log = make_log(40_000)
    asked = {"ci": 0.95, "replicates": 70, "unit": "user", "by": "country"}
    expected = fm.evaluate(log, METRICS[:4], **COLUMNS, **asked)
    order = np.random.default_rng(1).permutation(40_000)
    shuffled = {name: column[order] for name, column in log.items()}
    found = fm.evaluate(shuffled, METRICS[:4], **COLUMNS, **asked, **options)
    for one, other in zip(found, expected, strict=True):
        assert one.interval == other.interval
        assert one.standard_error == other.standard_error > 0


def test_range_metrics_together_with_those_of_groups_and_of_rows():
    """Groups are the units; replicates do not depend on the other metrics of the plan."""
    log = make_log()
    log["b"] = np.clip(log["b"], 0.01, 0.99)
    asked = {"ci": 0.95, "replicates": 30, "group": "user"} | COLUMNS | {"score": "b"}
    together = {own.metric: own for own in fm.evaluate(log, ["auc", "gauc", "logloss", "ks"], **asked)}
    for alone in fm.evaluate(log, ["auc", "ks"], **asked):
        assert together[alone.metric].interval == alone.interval
        assert alone.interval[0] < alone.value < alone.interval[1]


def test_slices_of_one_class_have_no_interval():
    log = make_log(600)
    log["label"] = np.where(log["country"] == "fr", 0, log["label"])
    report = fm.evaluate(log, ["auc", "ap"], ci=0.95, replicates=20, unit="user", by="country", **COLUMNS)
    for found in report:
        is_french = found.slice == {"country": "fr"}
        assert (found.interval is None) == is_french
        assert ("interval" in found.coverage) == is_french
