"""AUC, AP, KS, EER, lift and best thresholds of the engine equal the functions: slices, weights, spills, states."""

import functools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core.exchange import range_exchange, range_reduction, threshold_sweep
from oracles.inference.errors import error_by_leaving_out
from support.cases import each_case
from support.curve_cases import KINDS_AND_SHARES, make_case, ordering_infinities, weighted_scores
from support.states.spilled_logs import MEMORY, counted, repeated, small_batches, tiny_memory

METHODS = ["interpolate", "mean", "max", "convex_hull"]
EER = {method: "eer" if method == "interpolate" else f"eer(method={method})" for method in METHODS}
BEST = {name: f"best_threshold(metric={name})" for name in ("accuracy", "mcc")}
BEST |= {"fbeta": "best_threshold(metric=fbeta, beta=0.3)"}
SHARES = {"lift(q=0.37)": 0.37}
AREAS = {"partial_auc(max_fpr=0.3)": 0.3}
STANDARDIZED_AREAS = {"auc(max_fpr=0.2)": 0.2}
METRICS = ["auc", "ap", "ks", *EER.values(), *BEST.values(), *SHARES, *AREAS, *STANDARDIZED_AREAS]
CERTIFIED = ["auc", "ap", "ks", "eer", "eer(method=convex_hull)"]
COLUMNS = {"label": "y", "score": "s"}


def evaluate(log, metrics=METRICS, **options):
    return fm.evaluate(log, metrics, **{**COLUMNS, **options})


def with_threshold(found):
    return float(found), found.threshold


def expected_values(y_true, y_score, weights=None):
    """The value of every metric by its function, and its threshold or None."""
    options = {"sample_weight": weights}
    values = {
        "auc": (ordering_infinities(fm.roc_auc_score)(y_true, y_score, **options), None),
        "ap": (ordering_infinities(fm.average_precision_score)(y_true, y_score, **options), None),
        "ks": (fm.ks_statistic(y_true, y_score, **options), None),
    }
    for method, metric in EER.items():
        values[metric] = with_threshold(fm.equal_error_rate(y_true, y_score, method=method, **options))
    for name, metric in BEST.items():
        beta = 0.3 if name == "fbeta" else 1.0
        values[metric] = with_threshold(fm.best_threshold(y_true, y_score, metric=name, beta=beta, **options))
    for metric, end in AREAS.items():
        values[metric] = fm.partial_auc_score(y_true, y_score, max_fpr=end, **options), None
    for metric, end in STANDARDIZED_AREAS.items():
        values[metric] = ordering_infinities(fm.roc_auc_score)(y_true, y_score, max_fpr=end, **options), None
    for metric, share in SHARES.items():
        values[metric] = fm.lift(y_true, y_score, q=share, **options), None
    return values


def values_of_slice(report, **where):
    return {
        result.metric: (result.value, result.coverage.get("threshold")) for result in report if result.slice == where
    }


def make_log(rows, kind="tied", share=0.3, dtype="float64", seed=0):
    y_true, y_score = make_case(kind, rows, share, dtype)
    generator = np.random.default_rng(seed)
    order = generator.permutation(rows)
    return {
        "y": y_true[order],
        "s": y_score[order],
        "w": generator.integers(0, 4, rows).astype(float),
        "real": generator.lognormal(0.0, 3.0, rows),
        "by": generator.choice(["a", "b", "c"], rows, p=[0.6, 0.3, 0.1]),
    }


@given(weighted_scores(), st.sampled_from(["together", "one by one"]))
def test_few_rows(case, how):
    y_true, y_score, weights = case
    log, options = {"y": y_true, "s": y_score}, {}
    if weights is not None:
        log["w"], options = weights, {"weight": "w"}
    expected = expected_values(y_true, y_score, weights)
    if how == "together":
        assert values_of_slice(evaluate(log, **options)) == expected
    else:
        for metric, value in expected.items():
            assert values_of_slice(evaluate(log, [metric], **options)) == {metric: value}


@each_case("weight", [None, "w", "real"])
@each_case(("kind", "share"), KINDS_AND_SHARES)
def test_many_rows_of_any_scores(kind, share, weight, monkeypatch):
    """Several buckets; rare and common positives, so sweeps pivot on either class."""
    monkeypatch.setattr(range_exchange, "ROWS_PER_BUCKET", 1000)
    monkeypatch.setattr(range_reduction, "SERIAL_ROWS", 1000)
    log = make_log(5000, kind, share, "float32" if kind == "tied" else "float64")
    expected = expected_values(log["y"], log["s"], None if weight is None else log[weight])
    for n_threads in (1, 2):
        assert values_of_slice(evaluate(log, n_threads=n_threads, weight=weight)) == expected


@functools.cache
def log_with_expected(kind, share, rows=250):
    """A log, and its values without and with weights."""
    log = make_log(rows, kind, share)
    return log, expected_values(log["y"], log["s"]), expected_values(log["y"], log["s"], log["real"])


@each_case("unit", [1, 3, 1000])
@each_case("bucket", [1, 20, 10_000])
def test_any_division_into_buckets_and_bucket_ranges(bucket, unit, monkeypatch):
    """Results do not depend on the ends of ranges, even at the crossing of the error rates."""
    for kind in ("tied", "shuffled", "one heavy tie"):
        for share in (0.1, 0.8):
            log, expected, by_weight = log_with_expected(kind, share)
            with monkeypatch.context() as patch:
                patch.setattr(range_exchange, "ROWS_PER_BUCKET", bucket)
                patch.setattr(threshold_sweep, "BUCKETS_PER_RANGE", unit)
                patch.setattr(range_reduction, "BUCKETS_PER_RANGE", unit)
                assert values_of_slice(evaluate(log)) == expected
                assert values_of_slice(evaluate(log, weight="real")) == by_weight



def test_a_slice_of_one_class():
    log = make_log(3000)
    log["y"] = np.where(log["by"] == "c", 1, log["y"])
    report = evaluate(log, by="by")
    for metric in METRICS:
        value = report.value(metric, slice={"by": "c"})
        has_value = metric == "ap" or "accuracy" in metric or "lift" in metric
        assert value == 1.0 if has_value else math.isnan(value)


@pytest.mark.usefixtures("scaled")
class TestSpilled:
    @each_case("weight", [None, "w", "real"])
    @each_case("kind", ["shuffled", "tied", "clustered", "one heavy tie", "constant"])
    def test_within_little_memory(self, kind, weight, monkeypatch):
        monkeypatch.setattr(range_exchange, "ROWS_PER_BUCKET", 2500)
        log = make_log(8200 if weight is None else 5600, kind, 0.2)
        expected = expected_values(log["y"], log["s"], None if weight is None else log[weight])
        with counted() as calls:
            assert values_of_slice(evaluate(log, memory_limit=MEMORY, weight=weight)) == expected
        assert calls["spilled"] > 0

    @each_case("weight", [None, "real"])
    @each_case("share", [0.0, 0.3, 0.9])
    def test_large_buckets_and_large_ties(self, share, weight, monkeypatch):
        """A share of the rows has one score. Ranges that exceed the memory are divided again, around this tie."""
        small_batches(monkeypatch, 125)
        tiny_memory(monkeypatch, 1 << 13)
        log = repeated(make_log(5000, "shuffled", 0.2), "s", share, 0.4)
        expected = expected_values(log["y"], log["s"], None if weight is None else log[weight])
        with counted() as calls:
            assert values_of_slice(evaluate(log, memory_limit=MEMORY, weight=weight, n_threads=1)) == expected
        assert calls["spilled"] > 0
        assert share == 0.0 or calls["large bucket"] > 0
        assert share == 0.0 or calls["large tie"] > 0


class TestAccumulators:
    @given(weighted_scores(), st.integers(1, 7), st.randoms(use_true_random=False))
    def test_any_batches_merged_in_any_order(self, case, size, randomness):
        y_true, y_score, weights = case
        log, options = {"y": y_true, "s": y_score}, {}
        if weights is not None:
            log["w"], options = weights, {"weight": "w"}
        accumulators = []
        for start in range(0, len(y_true), size):
            accumulators.append(fm.Accumulator(METRICS, **COLUMNS, **options, n_threads=1))
            accumulators[-1].update({name: column[start : start + size] for name, column in log.items()})
        randomness.shuffle(accumulators)
        merged, *others = accumulators
        for other in others:
            merged.merge(fm.Accumulator.from_bytes(other.to_bytes()))
        assert values_of_slice(merged.result()) == expected_values(y_true, y_score, weights)

    @each_case("kind", ["shuffled", "tied", "clustered", "infinities"])
    def test_intervals_of_approximate_states_contain_the_value(self, kind):
        log = make_log(20_000, kind)
        state = fm.Accumulator(CERTIFIED, **COLUMNS, approximate=True, state_size=8192)
        for start in range(0, 20_000, 7000):
            state.update({name: log[name][start : start + 7000] for name in ("y", "s")})
        expected = expected_values(log["y"], log["s"])
        for result in state.result():
            low, high = result.interval
            assert low <= expected[result.metric][0] <= high
            assert high - low < 0.2, result


def value_at(metric, log, threshold):
    """The definition, from the counts at a threshold."""
    chosen, click = log["p"] >= threshold, log["click"] == 1
    tp, fp, p, n = (float(np.count_nonzero(own)) for own in (chosen & click, chosen & ~click, click, ~click))
    chance = (tp + fp) * (p + n - tp - fp) * p * n
    return {
        "f1": 2 * tp / (p + tp + fp), "fbeta, beta=2": 5 * tp / (4 * p + tp + fp), "jaccard": tp / (p + fp),
        "accuracy": (tp + n - fp) / (p + n), "balanced_accuracy": (tp / p + 1 - fp / n) / 2,
        "youden": tp / p - fp / n, "gmean": np.sqrt(tp / p * (n - fp) / n), "mcc": (tp * n - fp * p) / np.sqrt(chance),
    }[metric]  # fmt: skip


@pytest.mark.parametrize(
    "metric", ["f1", "fbeta, beta=2", "jaccard", "accuracy", "balanced_accuracy", "youden", "gmean", "mcc"]
)
def test_the_error_of_a_best_threshold_is_that_at_the_threshold(metric):
    rng = np.random.default_rng(5)
    user = rng.integers(0, 80, 4_000)
    rate = 1 / (1 + np.exp(1.5 - rng.normal(size=80)[user] - rng.normal(size=4_000)))
    log = {
        "user": user, "click": (rng.random(4_000) < rate).astype(np.int8),
        "p": 1 / (1 + np.exp(-np.log(rate / (1 - rate)) - rng.normal(size=4_000))),
    }  # fmt: skip
    found = fm.evaluate(log, f"best_threshold(metric={metric})", label="click", score="p", unit="user", ci=0.95)
    (one,) = found.results
    threshold = one.coverage["threshold"]
    assert one.value == pytest.approx(value_at(metric, log, threshold), rel=1e-12)
    error = error_by_leaving_out(
        lambda rows: value_at(metric, {name: own[rows] for name, own in log.items()}, threshold), user
    )
    assert one.standard_error == pytest.approx(error, rel=0.02)
    center = float(one.coverage["interval"].split()[1].rstrip(":"))
    assert one.ci_low < center < one.value
    assert "biased upwards" in one.coverage["interval"]
    assert "|method:linearized|" in one.signature
