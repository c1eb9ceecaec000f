"""The values of many replicates at once are those that finalisers find one by one."""

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics._core.registry import describe_metrics, parse
from fastmetrics.engine.scan import intervals
from support.cases import each_case

MANY = [spec for spec in describe_metrics() if spec.many is not None]
EXAMPLES = sorted({name for spec in MANY for name in (spec.example, *spec.variants)})
REPLICATES = 70


@pytest.fixture
def checked(monkeypatch):
    """Whenever an interval is made: the metric, and how many of its values were found at once."""
    found = []

    def finalise_both_ways(metric, replicates, n_replicates):
        at_once = intervals.find_many_values(metric, replicates)
        states = zip(*(own.states() for own in replicates), strict=True)
        one_by_one = np.array([metric.finalise(*own).value for own in states])
        if at_once is not None:
            known = ~np.isnan(at_once)
            assert np.array_equal(at_once[known], one_by_one[known]), metric
            found.append((str(metric), int(known.sum())))
        values = original(metric, replicates, n_replicates)
        assert np.array_equal(values, one_by_one, equal_nan=True)
        return values

    original = intervals.finalise_metric
    monkeypatch.setattr(intervals, "finalise_metric", finalise_both_ways)
    return found


def make_log(kind, n=400):
    random = np.random.default_rng(len(kind))
    log = {
        "label": random.integers(0, 2, n),
        "score": random.random(n),
        "unit": random.integers(0, 60, n),
        "weight": random.uniform(0.1, 3.1, n),
    }
    if kind == "one class":
        log["label"][:] = 0
    if kind == "tiny weights":
        log["weight"] *= 1e-300
    if kind == "great weights":
        log["weight"] *= 1e290
    if kind == "perfect":
        log["score"] = log["label"].astype(np.float64)
    if kind == "few rows":
        log = {name: column[:3] for name, column in log.items()}
    return log


def evaluate(log, metrics, **options):
    """Metrics of numbers read positive ones, which deviances need."""
    columns = {"label": "label", "score": "score", "group": "unit", "unit": "unit"}
    of_numbers = [name for name in metrics if parse(name).spec.target == "real"]
    positive = log | {"label": log["label"] + 1.0, "score": log["score"] + 1.0}
    for names, own in ((of_numbers, positive), ([name for name in metrics if name not in of_numbers], log)):
        if names:
            fm.evaluate(own, names, **columns, ci=0.9, replicates=REPLICATES, **options)


def test_metrics_of_all_exchanges_have_it():
    names = {parse(example).spec.base_name for example in EXAMPLES}
    assert {"logloss", "brier", "ctr", "copc", "pcoc", "mse", "rmse", "mae", "gauc", "ndcg", "hr", "mrr"} <= names


@each_case("kind", ["usual", "one class", "perfect", "few rows"])
def test_values_are_those_of_finalisers(kind, checked):
    checked.clear()
    evaluate(make_log(kind), EXAMPLES)
    assert {name for name, _ in checked} >= {name for name in EXAMPLES if "stat=" not in name}
    if kind == "usual":
        assert [name for name, n in checked if n < REPLICATES] == []


@each_case("kind", ["usual", "tiny weights", "great weights", "perfect"])
def test_values_of_weighted_rows(kind, checked):
    checked.clear()
    metrics = [name for name in EXAMPLES if parse(name).spec.exchange == "none"]
    evaluate(make_log(kind), metrics, weight="weight")
    assert len(checked) == len(metrics)
    assert (kind == "usual") <= all(n == REPLICATES for _, n in checked)


def test_values_of_slices(checked):
    log = make_log("usual")
    evaluate(log | {"slice": log["unit"] % 3}, ["logloss", "rmse", "gauc"], by="slice")
    assert len(checked) == 3 * 4


def test_metrics_without_it_are_refused():
    with pytest.raises(ValueError, match="one value at a time"):
        parse("accuracy").finalise_many()
