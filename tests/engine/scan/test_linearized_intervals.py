"""Linearized intervals: the errors are those of leaving every unit out, for all ways to feed the same rows."""

import math

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics._core.resampling import entry_states
from support.cases import each_case

SUMS = ["logloss", "ne", "brier", "accuracy", "f1", "mcc", "copc", "ctr", "precision", "ece"]
GROUPS = ["gauc", "gauc(weight=pairs)", "ndcg@3", "mrr", "hr@2"]
ORDERS = ["auc", "ap", "ks"]
UNITS = 30


def make_log(rows=900, units=UNITS, seed=3):
    rng = np.random.default_rng(seed)
    user = rng.integers(0, units, rows)
    rate = rng.beta(2, 4, rows)
    return {
        "click": (rng.random(rows) < rate).astype(np.int64),
        "old": np.clip(rate * np.exp(rng.normal(size=rows) * 0.7), 0.001, 0.999),
        "new": np.clip(rate * np.exp(rng.normal(size=rows) * 0.3), 0.001, 0.999),
        "user": user,
        "weight": 0.5 + (user % 7) / 3,
        "channel": rng.integers(0, 3, rows),
    }


COLUMNS = {"label": "click", "score": "new", "group": "user"}


def evaluate(log, metrics, **options):
    return fm.evaluate(log, metrics, **COLUMNS, ci=0.95, **options)


def select(log, rows):
    return {name: column[rows] for name, column in log.items()}


def jackknife_error(log, metric, **options):
    """The standard error by the definition: every unit is left out in turn."""
    whole = fm.evaluate(log, metric, **COLUMNS, **options)[metric]
    without = [
        fm.evaluate(select(log, log["user"] != unit), metric, **COLUMNS, **options)[metric]
        for unit in np.unique(log["user"])
    ]
    n = evaluate(log, metric, **options).result(metric).coverage["units"]
    return math.sqrt((n - 1) / n * math.fsum((whole - one) ** 2 for one in without))


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("metric", SUMS + GROUPS)
def test_sums_and_means_over_groups_are_the_jackknife(metric, weight):
    log = make_log()
    result = evaluate(log, metric, weight=weight).result(metric)
    assert result.standard_error == pytest.approx(jackknife_error(log, metric, weight=weight), rel=1e-9)
    assert result.interval[0] < result.value < result.interval[1]


PARTIAL = ["partial_auc(max_fpr=0.3)", "auc(max_fpr=0.2)", "partial_auc(max_fpr=0.5, standardize=True)"]


@each_case("metric, tolerance", [("auc", 0.01), ("ap", 0.06), ("ks", 0.4), *((own, 0.05) for own in PARTIAL)])
def test_the_order_of_scores_is_the_jackknife_to_first_order(metric, tolerance):
    log = make_log(3000, 60)
    error = evaluate(log, metric).result(metric).standard_error
    assert error == pytest.approx(jackknife_error(log, metric), rel=tolerance)


def test_the_error_of_lift_is_that_of_repeated_logs():
    """The threshold moves with the rows: the jackknife of a quantile is wrong, and the spread of other logs is not."""
    found = [evaluate(make_log(4000, 100, seed), ["lift", "lift(q=0.5)"]) for seed in range(150)]
    for metric in ("lift", "lift(q=0.5)"):
        values = [report[metric] for report in found]
        errors = [report.result(metric).standard_error for report in found]
        assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(np.std(values, ddof=1), rel=0.2)


def test_weights_of_scores_count_as_repeated_rows():
    log = make_log()
    log["weight"] = 1 + log["user"] % 3
    repeated = select(log, np.repeat(np.arange(900), log["weight"]))
    for metric in ORDERS:
        weighted = evaluate(log, metric, weight="weight").result(metric).standard_error
        assert weighted == pytest.approx(evaluate(repeated, metric).result(metric).standard_error, rel=1e-7)


@each_case(
    "make",
    [
        lambda log: (select(log, np.random.default_rng(1).permutation(900)), {}),
        lambda log: ([select(log, slice(start, start + 70)) for start in range(0, 900, 70)], {}),
        lambda log: (log, {"n_threads": 1}),
        lambda log: (log, {"memory_limit": "1MiB"}),
    ],
    ids=["order", "batches", "threads", "limit"],
)
def test_the_same_bits_however_rows_come(make):
    log = make_log()
    again, options = make(log)
    metrics = SUMS + GROUPS + ORDERS
    assert evaluate(again, metrics, by="channel", **options) == evaluate(log, metrics, by="channel")


def test_a_slice_has_the_errors_of_its_rows():
    log = make_log()
    metrics = SUMS + GROUPS + ["auc"]
    sliced = evaluate(log, metrics, by="channel")
    for channel in range(3):
        alone = evaluate(select(log, log["channel"] == channel), metrics)
        for metric in metrics:
            own = sliced.result(metric, slice={"channel": channel})
            assert own.standard_error == pytest.approx(alone.result(metric).standard_error, rel=1e-6)


def test_accumulators_have_the_same_intervals(tmp_path):
    log = make_log()
    metrics = SUMS + GROUPS + ORDERS
    states = [fm.Accumulator(metrics, **COLUMNS, ci=0.95) for _ in range(2)]
    for state, rows in zip(states, (slice(0, 400), slice(400, 900)), strict=True):
        state.update(select(log, rows))
    states[1].save(tmp_path / "state")
    states[0].merge(fm.Accumulator.load(tmp_path / "state"))
    assert list(states[0].result()) == list(evaluate(log, metrics))


def test_more_units_than_entries_share_them():
    rng = np.random.default_rng(5)
    log = make_log(120_000, 40_000)
    metrics = ["auc", "logloss", "gauc"]
    shared = evaluate(log, metrics)
    log["user"] = rng.permutation(40_000)[log["user"]]  # other entries
    for one, other in zip(shared, evaluate(log, metrics), strict=True):
        assert one.value == other.value
        assert one.standard_error == pytest.approx(other.standard_error, rel=0.03)
        assert one.standard_error != other.standard_error


def test_rows_that_are_not_kept_count_too():
    """Metrics of sums alone keep no rows once there are more units than entries."""
    log = make_log(120_000, 40_000)
    alone = evaluate(log, ["logloss", "f1"])
    with_others = evaluate(log, ["logloss", "f1", "gauc", "auc"])
    for metric in ("logloss", "f1"):
        assert alone.result(metric).standard_error == with_others.result(metric).standard_error


def test_four_rows_that_are_all_right_are_not_certain():
    log = {"click": [0, 1, 0, 1], "score": [0.1, 0.9, 0.2, 0.8]}
    report = fm.evaluate(log, ["accuracy", "auc"], label="click", score="score", ci=0.95)
    for result in report:
        assert result.value == 1.0
        assert result.interval is None or result.interval[0] < 0.6
        assert "interval" in result.coverage
    assert report.result("accuracy").interval == (pytest.approx(0.025**0.25), 1.0)


def test_a_unit_that_holds_a_class_has_no_interval():
    log = make_log()
    log["click"] = (log["user"] == 4).astype(int)
    result = evaluate(log, "auc").result("auc")
    assert result.interval is None
    assert "too few units" in result.coverage["interval"]


@each_case(
    "options, of_auc, of_eer",
    [
        ({}, "linearized", "bootstrap|replicates:1000|seed:0"),
        ({"replicates": 50}, "bootstrap|replicates:50|seed:0", "bootstrap|replicates:50|seed:0"),
        ({"seed": 7}, "bootstrap|replicates:1000|seed:7", "bootstrap|replicates:1000|seed:7"),
        ({"ci_method": "linearized"}, "linearized", "linearized"),
    ],
)
def test_signatures_name_the_method(options, of_auc, of_eer):
    report = evaluate(make_log(), ["auc", "eer"], **options)
    for result, method in zip(report, (of_auc, of_eer), strict=True):
        assert f"|ci:0.95|method:{method}|unit:user" in result.signature
    has_interval = options != {"ci_method": "linearized"}
    assert (report.result("eer").interval is not None) == has_interval


@each_case(
    "options, message",
    [
        ({"ci_method": "linearized", "replicates": 10}, "resamples nothing: leave out replicates=10"),
        ({"ci_method": "delong", "seed": 1}, "resamples nothing: leave out seed=1"),
        ({"ci_method": "delong"}, "group='user' has several: say unit='row'"),
    ],
)
def test_options_that_do_not_fit_are_errors(options, message):
    with pytest.raises(ValueError, match=message):
        evaluate(make_log(), "auc", **options)


def test_differences_of_models_are_paired():
    log = make_log(4000, 200)
    comparison = fm.compare(log, ["auc", "logloss", "gauc"], label="click", score=["old", "new"], group="user")
    resampled = fm.compare(
        log, ["auc", "logloss", "gauc"], label="click", score=["old", "new"], group="user", replicates=2000
    )
    for metric in ("auc", "logloss", "gauc"):
        one, other = comparison[metric], resampled[metric]
        assert one.standard_error == pytest.approx(other.standard_error, rel=0.1)
        assert one.pvalue < 1e-6  # no floor of replicates
        assert one.verdict in ("better", "worse")


def test_equal_models_have_no_difference():
    log = make_log() | {"same": make_log()["new"]}
    one = fm.compare(log, "auc", label="click", score=["new", "same"], group="user")["auc"]
    assert (one.difference, one.pvalue, one.interval) == (0.0, 1.0, None)


@pytest.mark.filterwarnings("ignore::fastmetrics.UndefinedMetricWarning")
def test_models_without_a_value():
    log = make_log() | {"flat": np.full(900, 0.25)}
    comparison = fm.compare(log, "precision,auc", label="click", score=["flat", "new"], unit="user")
    assert math.isnan(comparison["precision"].pvalue)
    assert comparison["precision"].interval is None
    assert "flat" in comparison["precision"].reason
    assert comparison["auc"].interval is not None


def test_intervals_of_the_greatest_distance_and_of_bins_allow_for_their_bias():
    """A calibrated model has a calibration error of 0, and the interval has it; the distance is corrected downwards."""
    rng = np.random.default_rng(2)
    log = make_log(20_000, 500)
    log["click"] = (rng.random(20_000) < log["new"]).astype(int)
    log["copies"] = 1 + log["user"] % 3
    repeated = select(log, np.repeat(np.arange(20_000), log["copies"]))
    for options, own in (({}, log), ({"by": "channel"}, log), ({"weight": "copies"}, log)):
        for result in evaluate(own, ["ece", "ks"], **options):
            if result.metric == "ece":
                assert result.interval[0] == 0 < result.interval[1]
            else:
                middle = float(result.coverage["interval"].split("around ")[1].split(":")[0])
                assert result.interval[0] < middle < result.value < result.interval[1]
    for metric, tolerance in (("ece", 1e-6), ("ks", 2e-3)):  # copies make other classes of scores
        weighted = evaluate(log, metric, weight="copies").result(metric).interval
        assert weighted == pytest.approx(evaluate(repeated, metric).result(metric).interval, rel=tolerance)


def test_many_slices_have_few_classes_of_scores_and_entries():
    """Of many slices each has fewer classes and entries, so that memory does not grow with them; errors stay close."""
    rng = np.random.default_rng(8)
    log = make_log(150_000, 20_000)
    log["many"] = np.where(np.arange(150_000) < 30_000, 0, rng.integers(1, 400, 150_000))
    alone = evaluate(select(log, log["many"] == 0), ["auc", "ap", "logloss", "gauc"])
    sliced = evaluate(log, ["auc", "ap", "logloss", "gauc"], by="many")
    for one in alone:
        own = sliced.result(one.metric, slice={"many": 0})
        assert own.value == one.value
        assert own.standard_error == pytest.approx(one.standard_error, rel=0.06)


@each_case("most_bytes", [1, 1 << 14, 1 << 16])
@each_case("n_threads", [1, 2])
def test_slices_that_do_not_fit_together_come_in_turn(most_bytes, n_threads, monkeypatch):
    log = make_log(2000, 100)
    log["part"] = log["user"] % 9 + (log["channel"] == 1)
    metrics = ["logloss", "ece", "accuracy", "mcc", "r2", "gauc", "auc"]
    options = {"by": [["channel"], ["part"]], "n_threads": n_threads}
    expected = [(own.interval, own.standard_error) for own in evaluate(log, metrics, **options)]
    monkeypatch.setattr(entry_states, "MAX_STATE_BYTES", most_bytes)
    assert [(own.interval, own.standard_error) for own in evaluate(log, metrics, **options)] == expected


def test_slices_join_classes_of_scores():
    """Scores of a slice that lie close together have few of the classes; errors stay close to those of its rows."""
    log = make_log(200_000, 3_000)
    log["level"] = np.searchsorted(np.quantile(log["new"], np.arange(0.025, 1, 0.025)), log["new"])
    sliced = evaluate(log, ORDERS, by="level")
    for level in (0, 20, 39):
        for one in evaluate(select(log, log["level"] == level), ORDERS):
            own = sliced.result(one.metric, slice={"level": level})
            assert own.value == one.value
            assert own.standard_error == pytest.approx(one.standard_error, rel=0.01 if one.metric == "ap" else 2e-3)


AVERAGES = ["average=weighted", "average=micro", "multi_class=ovo"]
OF_CLASSES = ["auc", *(f"auc({own})" for own in AVERAGES), "ap", "ap(average=weighted)"]


def make_classes(rows=900, classes=3):
    rng = np.random.default_rng(9)
    log = make_log(rows)
    chances = rng.dirichlet(np.ones(classes), rows)
    draws = (rng.random(rows)[:, None] > np.cumsum(chances, axis=1)).sum(axis=1)
    named = {f"chance_{number}": chances[:, number] for number in range(classes)}
    return log | named | {"kind": draws}


def evaluate_classes(log, metrics=OF_CLASSES, classes=3, **options):
    chances = [f"chance_{number}" for number in range(classes)]
    return fm.evaluate(log, metrics, label="kind", probabilities=chances, unit="user", ci=0.95, **options)


@each_case(
    "change, options",
    [
        (lambda log: select(log, np.random.default_rng(1).permutation(900)), {"n_threads": 1}),
        (lambda log: [select(log, slice(start, start + 70)) for start in range(0, 900, 70)], {}),
        (lambda log: log, {"memory_limit": "1MiB"}),
    ],
    ids=["order", "batches", "limit"],
)
@each_case("weight", [None, "weight"])
def test_areas_of_classes_have_the_same_bits_however_rows_come(change, options, weight):
    log = make_classes()
    expected = evaluate_classes(log, by="channel", weight=weight)
    assert evaluate_classes(change(log), by="channel", weight=weight, **options) == expected
    assert all("|method:linearized|" in result.signature for result in expected)


def test_an_area_of_two_classes_has_the_error_of_one():
    log = make_classes(classes=2)
    one = fm.evaluate(log, "auc", label="kind", score="chance_1", unit="user", ci=0.95).result("auc")
    for metric in ("auc", "auc(average=weighted)", "auc(multi_class=ovo)"):
        two = evaluate_classes(log, metric, classes=2).result(metric)
        assert two.standard_error == pytest.approx(one.standard_error, rel=1e-6)


def test_slices_of_areas_of_classes_have_the_errors_of_their_rows():
    log = make_classes()
    sliced = evaluate_classes(log, by="channel")
    for channel in range(3):
        for own in evaluate_classes(select(log, log["channel"] == channel)):
            found = sliced.result(own.metric, slice={"channel": channel})
            assert found.standard_error == pytest.approx(own.standard_error, rel=1e-6)


def test_errors_of_pairs_of_targets_and_scores():
    """Of two targets they are those of the area; weights count as repeated rows, and rows in any order."""
    log = make_log(3000, 60)
    log["minutes"] = np.round(np.random.default_rng(6).exponential(size=3000) + log["new"], 1)
    two = evaluate(log, ["xauc", "auc"])
    assert two.result("xauc").standard_error == pytest.approx(two.result("auc").standard_error, rel=0.01)
    log["copies"] = 1 + log["user"] % 3
    repeated = select(log, np.repeat(np.arange(3000), log["copies"]))
    asked = {"label": "minutes", "score": "new", "unit": "user", "ci": 0.95}
    weighted = fm.evaluate(log, "xauc", weight="copies", **asked).result("xauc")
    assert weighted.standard_error == pytest.approx(
        fm.evaluate(repeated, "xauc", **asked).result("xauc").standard_error, rel=1e-3
    )
    sliced = fm.evaluate(log, "xauc", by="channel", **asked)
    shuffled = select(log, np.random.default_rng(1).permutation(3000))
    again = fm.evaluate(shuffled, "xauc", by="channel", memory_limit="1MiB", **asked)
    assert list(again) == list(sliced)
    for channel in range(3):
        alone = fm.evaluate(select(log, log["channel"] == channel), "xauc", **asked).result("xauc")
        own = sliced.result("xauc", slice={"channel": channel})
        assert own.standard_error == pytest.approx(alone.standard_error, rel=0.02)


def test_linearized_intervals_that_do_not_exist_have_a_reason():
    result = evaluate(make_log(), "eer", ci_method="linearized").result("eer")
    assert result.interval is None
    assert result.coverage["interval"].startswith("the metric has no linearized interval, because it is where")


@pytest.mark.parametrize("by", [None, "channel"])
@pytest.mark.parametrize("unit", ["user", "week"])
@pytest.mark.parametrize("metric", GROUPS)
def test_groups_without_a_value_have_no_interval(metric, unit, by):
    """No group has a click, so none has both classes; the slices have no group that counts."""
    rows = np.arange(100)
    log = {"click": rows * 0, "new": rows / 100, "user": rows, "week": rows // 10, "channel": rows % 28}
    found = evaluate(log, metric, unit=unit, by=by)
    undefined = [result for result in found if math.isnan(result.value)]
    assert all(result.reason and result.interval is None for result in undefined)
    assert not metric.startswith("gauc") or len(undefined) == len(list(found))


@pytest.mark.parametrize("unit", [None, "id"])
def test_there_are_never_more_units_than_rows(unit):
    """Beyond 16,384 units they are estimated, to about 2 %."""
    n = 50_000
    rng = np.random.default_rng(8)
    log = {"click": rng.integers(0, 2, n), "new": rng.random(n), "id": np.arange(n), "half": rng.integers(0, 2, n)}
    found = fm.evaluate(log, "auc,logloss", label="click", score="new", unit=unit, by="half", ci=0.95)
    assert all(one.n_units == one.coverage["units"] <= one.rows for one in found)
    assert all(one.n_units > 0.9 * one.rows for one in found)


def test_rounding_is_no_error_of_calibration():
    log = {"y": np.zeros(4, np.int8), "p": np.full(4, 0.9), "user": [1, 2, 1, 1], "w": [0.2, 0.1, 0.1, 3 * 0.1]}
    found = fm.evaluate(log, "ece", label="y", score="p", unit="user", weight="w", ci=0.95).result("ece")
    assert found.interval is None
    assert found.coverage["interval"].startswith("no unit changes the value")
