"""compare: against logs in which the rows of every unit are repeated as often as its weight."""

from __future__ import annotations

import math

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics._core.comparison import multiple_testing
from fastmetrics._core.registry import parse
from fastmetrics._core.resampling.resampling_units import draw_weights, find_unit_buckets
from fastmetrics._kernels.exchange import hash_partition
from oracles.significance import comparison as oracle
from support.cases import assert_raises, each_case

pytestmark = pytest.mark.filterwarnings("ignore::fastmetrics.UndefinedMetricWarning")

COLUMNS = {"label": "click", "score": ["a", "b"], "group": "user"}
# Metrics of every exchange: higher is better, lower is better, or neither.
METRICS = ["gauc", "ndcg@3", "auc", "ap", "logloss", "accuracy", "copc", "ctr"]


def log_of(rows=120, users=15, seed=0):
    generator = np.random.default_rng(seed)
    first = generator.integers(1, 16, rows) / 16
    return {
        "user": generator.integers(0, users, rows),
        "day": generator.integers(0, 8, rows),
        "click": (generator.random(rows) < first).astype(np.int8),
        "buy": generator.integers(0, 2, rows),
        "a": first,
        "b": np.where(generator.random(rows) < 0.4, first, generator.integers(1, 16, rows) / 16),
        "c": generator.integers(1, 16, rows) / 16,
        "country": generator.choice(["NL", "DE"], rows),
        "weight": generator.integers(1, 4, rows).astype(float),
    }


def times_of(keys, seed, replicates):
    """The weight of every row's unit in every replicate."""
    keys = np.unique(keys)
    hashes = np.empty(keys.shape[0], np.uint64)
    hash_partition.hash_keys(keys.astype(np.uint64), hashes)
    unit_buckets = find_unit_buckets([hashes])
    drawn = draw_weights(unit_buckets, seed, 0, replicates)
    numbers = unit_buckets.bucket_of(hashes)
    return [
        {int(key): int(drawn[number, replicate]) for key, number in zip(keys, numbers, strict=True)}
        for replicate in range(replicates)
    ]


def value_of(columns, metric, score, **options):
    if not columns["click"]:
        return math.nan
    return fm.evaluate(columns, [metric], label="click", score=score, group="user", n_threads=1, **options)[metric]


def drawn_differences(log, unit, metric, times, of=float, **options):
    found = []
    for own in times:
        columns = oracle.repeated(log, unit, own, groups=["user"])
        found.append(of(value_of(columns, metric, "b", **options)) - of(value_of(columns, metric, "a", **options)))
    return found


@pytest.mark.parametrize(("unit", "weight"), [("user", None), ("day", None), ("user", "weight")])
def test_a_comparison_equals_that_of_repeated_rows(unit, weight):
    log = log_of(240 if unit == "day" else 120, 5 if unit == "day" else 15)
    if unit == "day":
        log["user"] = log["user"] + 100 * log["day"]  # a user's rows are of one day
    metrics = [name for name in METRICS if weight is None or parse(name).spec.target != "graded"]
    options = {"weight": weight} if weight else {}
    comparison = fm.compare(log, metrics, **COLUMNS, unit=unit, replicates=30, seed=7, correction=None, **options)
    times = times_of(log[unit], 7, 30)
    plain = {name: column.tolist() for name, column in log.items()}
    for metric in metrics:
        one = comparison[metric]
        assert one.baseline_value == value_of(plain, metric, "a", **options)
        assert one.other_value == value_of(plain, metric, "b", **options)
        drawn = drawn_differences(plain, unit, metric, times, **options)
        compared = drawn
        if metric == "copc":  # distances from 1
            compared = drawn_differences(plain, unit, metric, times, lambda value: abs(value - 1), **options)
            assert one.change == abs(one.other_value - 1) - abs(one.baseline_value - 1)
        else:
            assert one.change == one.difference
        assert one.pvalue == one.adjusted_pvalue == oracle.two_sided(one.change, compared)
        expected = [oracle.percentile(drawn, share) for share in ((1 - 0.95) / 2, 1 - (1 - 0.95) / 2)]
        if metric == "ctr":  # it reads no scores
            assert (one.interval, one.standard_error) == (None, None)
            continue
        assert one.interval == pytest.approx(expected, rel=1e-12, abs=1e-15)
        assert one.standard_error == pytest.approx(np.std(drawn, ddof=1), rel=1e-9, abs=1e-15)
    assert comparison.unit == unit


@pytest.mark.parametrize("metric", ["logloss", "brier", "accuracy", "copc", "f1"])
def test_units_won_are_counted_by_their_own_values(metric):
    log = log_of(300, 40, seed=1)
    one = fm.compare(log, [metric], **COLUMNS, replicates=5)[metric]
    values = {"a": [], "b": []}
    for user in np.unique(log["user"]):
        own = {name: column[log["user"] == user].tolist() for name, column in log.items()}
        for score, found in values.items():
            found.append(value_of(own, metric, score))
    goodness = {"maximize": float, "minimize": lambda value: -value, "closest_to_one": lambda value: -abs(value - 1)}
    good = goodness[parse(metric).spec.direction]
    expected = oracle.wins(values["a"], values["b"], lambda first, second: good(first) > good(second))
    assert (one.won, one.lost, one.tied) == expected
    assert one.won
    assert one.lost
    assert one.n_units == len(np.unique(log["user"]))


def test_groups_are_counted_although_other_units_are_resampled():
    log = log_of(300, 40, seed=2)
    log["user"] = log["user"] + 100 * log["day"]
    by_user = fm.compare(log, ["gauc", "mrr"], **COLUMNS, replicates=5)
    by_day = fm.compare(log, ["gauc", "mrr"], **COLUMNS, unit="day", replicates=5)
    for metric in ("gauc", "mrr"):
        one, other = by_user[metric], by_day[metric]
        assert (one.won, one.lost, one.tied) == (other.won, other.lost, other.tied)
        assert sum((one.won, one.lost, one.tied)) > 5
    assert by_day["gauc"].n_units == 8


def test_metrics_without_win_counts_have_a_reason():
    comparison = fm.compare(log_of(), [*METRICS, "hr(average=micro)@2"], **COLUMNS, replicates=3)
    notes = "\n".join(comparison.notes)
    assert "for auc and ap: rows of all units" in notes or "for auc, ap: rows of all units" in notes
    assert "for ctr: no value is better than another" in notes
    assert "for hr(average=micro)@2: groups have no values of their own" in notes
    assert [comparison[name].won for name in ("auc", "ctr", "hr(average=micro)@2")] == [None, None, None]


def test_equal_columns_do_not_differ():
    log = log_of()
    log["b"] = log["a"].copy()
    for one in fm.compare(log, METRICS, **COLUMNS, replicates=20):
        assert (one.difference, one.pvalue, one.adjusted_pvalue, one.interval) == (0, 1, 1, None)
        assert (one.verdict, one.reason) == ("equal", "the columns are identical")
        assert not one.won
        assert not one.lost


def test_a_constant_difference_has_no_test():
    generator = np.random.default_rng(3)
    target = generator.normal(size=400)
    log = {"y": target, "a": target + 1 + generator.normal(size=400), "user": np.repeat(np.arange(40), 10)}
    log["b"] = log["a"] + 0.1
    one = fm.compare(log, ["bias"], label="y", score=["a", "b"], unit="user", replicates=50)["bias"]
    assert (one.difference, one.pvalue) == (pytest.approx(0.1), 1.0)
    assert one.reason is not None
    assert "the same difference in every replicate" in one.reason
    log["b"][7] += 0.01
    assert fm.compare(log, ["bias"], label="y", score=["a", "b"], unit="user", replicates=50)["bias"].pvalue < 0.05



@pytest.mark.parametrize("options", [{}, {"unit": "user", "group": None}, {"by": "country"}])
def test_the_order_of_rows_does_not_matter(options):
    log = log_of(3_000, 400, seed=3)
    metrics = METRICS if options.get("group", "user") else METRICS[2:]
    options = COLUMNS | {"score": ["a", "b", "c"], "replicates": 25} | options
    expected = fm.compare(log, metrics, **options, n_threads=1)
    order = np.random.default_rng(0).permutation(3_000)
    moved = {name: column[order] for name, column in log.items()}
    assert fm.compare(moved, metrics, **options, n_threads=3) == expected
    assert fm.compare(moved, metrics, **options, memory_limit="1MiB") == expected


def test_every_pair_of_models_labels_and_slices():
    log = log_of(400, 30, seed=4)
    comparison = fm.compare(
        log, ["gauc", "auc"], label=["click", "buy"], score=["a", "b", "c"], group="user", by="country",
        baseline="b", replicates=50,
    )  # fmt: skip
    assert len(comparison) == 2 * 2 * 2 * 3
    assert {one.baseline for one in comparison} == {"b"}
    assert {one.other for one in comparison} == {"a", "c"}
    for of_slices in (False, True):  # two families
        family = [one for one in comparison if bool(one.slice) is of_slices]
        adjusted = multiple_testing.holm([one.pvalue for one in family])
        assert [one.adjusted_pvalue for one in family] == pytest.approx(adjusted.tolist(), rel=1e-15)
    one = comparison.difference("auc", other="c", label="buy", slice={"country": "NL"})
    report = fm.evaluate(log, ["auc"], label="buy", score=["b", "c"], by="country")
    assert one.baseline_value == report.value("auc", score="b", slice={"country": "NL"})
    assert one.other_value == report.value("auc", score="c", slice={"country": "NL"})
    assert comparison.columns == {
        "label": ("click", "buy"), "score": ("b", "a", "c"), "group": "user", "by": "country",
        "unit": "user",
    }  # fmt: skip
    alone = fm.compare(log, ["auc"], label="buy", score=["b", "c"], group="user", replicates=50)["auc"]
    whole = comparison.difference("auc", other="c", label="buy", slice={})
    assert (alone.interval, alone.pvalue) == (whole.interval, whole.pvalue)


def test_another_baseline_changes_the_sign_only():
    log = log_of(seed=5)
    there = fm.compare(log, METRICS, **COLUMNS, replicates=20, correction="benjamini-hochberg")
    back = fm.compare(log, METRICS, **COLUMNS, replicates=20, correction="benjamini-hochberg", baseline="b")
    for one, other in zip(there, back, strict=True):
        assert (one.difference, one.pvalue, one.won, one.lost) == (
            -other.difference, other.pvalue, other.lost, other.won,
        )  # fmt: skip


def test_normal_intervals_are_around_the_difference():
    log = log_of(seed=6)
    one = fm.compare(log, "logloss", **COLUMNS, ci=0.9, ci_method="normal", replicates=200)["logloss"]
    low, high = one.interval
    assert (low + high) / 2 == pytest.approx(one.difference)
    assert (high - low) / 2 == pytest.approx(1.6448536269514722 * one.standard_error)


def test_one_class_has_no_comparison():
    log = log_of()
    log["click"][:] = 0
    comparison = fm.compare(log, ["auc", "gauc", "logloss"], **COLUMNS, replicates=10)
    for metric in ("auc", "gauc"):
        one = comparison[metric]
        assert math.isnan(one.difference)
        assert math.isnan(one.pvalue)
        assert math.isnan(one.adjusted_pvalue)
        assert one.interval is None
        assert one.reason.startswith("a: ")
    assert comparison["logloss"].pvalue <= 1
    assert comparison["logloss"].adjusted_pvalue == comparison["logloss"].pvalue  # no other difference was tested


def test_one_unit_has_no_test():
    log = log_of()
    log["user"][:] = 3
    one = fm.compare(log, ["auc"], **COLUMNS)["auc"]
    assert one.interval is None
    assert math.isnan(one.pvalue)
    assert "too few units: 1" in one.reason


@each_case(
    ("options", "error", "message"),
    [
        ({"score": ["a"]}, ValueError, r"score must name two different columns or more.*found \['a'\]"),
        ({"score": ["a", "a"]}, ValueError, "score must name two different columns"),
        ({"score": "a"}, ValueError, r"score must name two different columns.*found \['a'\]"),
        ({"score": None}, TypeError, "score is missing"),
        ({"score": ["a", 3.5]}, TypeError, "score must be the name of a column or a list of names"),
        ({"score": ["a", "bb"]}, ValueError, "bb"),
        ({"baseline": "c"}, ValueError, "baseline must be one of the columns of score, 'a', 'b'; found 'c'"),
        ({"correction": "z"}, ValueError, "correction must be one of 'holm', 'benjamini-hochberg', 'none'; found 'z'"),
        ({"ci": 95}, ValueError, "ci must be a number between 0 and 1"),
        ({"ci": None}, ValueError, "ci must be a number between 0 and 1"),
        ({"ci_method": "delong", "unit": "row"}, ValueError, "is for the AUC of independent rows; metric gauc"),
        ({"ci_method": "delong", "metrics": "auc", "weight": "weight"}, ValueError, "knows no weights"),
        ({"ci_method": "delong", "metrics": "auc", "unit": "user"}, ValueError, "takes rows for independent"),
        ({"ci_method": "bca"}, ValueError, "ci_method must be one of"),
        ({"replicates": 0}, ValueError, "replicates must be an integer of at least 1; found 0"),
        ({"seed": 0.5}, ValueError, "seed must be an integer"),
        ({"unit": "userid"}, ValueError, "userid"),
        ({"unit": 3.5}, TypeError, "unit must be the name of a column"),
        ({"label": None}, TypeError, "label is missing"),
        ({"group": None}, ValueError, "gauc is computed inside groups; say which column"),
        ({"metrics": ["gaux"]}, ValueError, "did you mean 'gauc'"),
    ],
)
def test_wrong_arguments(options, error, message):
    options = {"metrics": ["gauc"], **COLUMNS, **options}
    assert_raises(error, message, fm.compare, log_of(), **options)


def test_texts_and_partitions_are_compared_too():
    generator = np.random.default_rng(8)
    words = np.array(["a", "b", "c", "d"])

    def texts(seed):
        own = np.random.default_rng(seed)
        return [" ".join(own.choice(words, 6)) for _ in range(20)]

    log = {"reference": texts(0), "a": texts(1), "b": texts(0)[:10] + texts(2)[10:]}
    comparison = fm.compare(log, ["bleu", "ter"], score=["a", "b"], replicates=30)
    report = fm.evaluate(log, ["bleu", "ter"], score=["a", "b"])
    for metric in ("bleu", "ter"):
        assert comparison[metric].other_value == report.value(metric, score="b")
        assert 0 < comparison[metric].pvalue <= 1
        assert comparison[metric].won > comparison[metric].lost
    kinds = generator.integers(0, 3, 60)
    log = {"label": kinds, "a": generator.integers(0, 3, 60), "b": np.where(generator.random(60) < 0.9, kinds, 0)}
    assert fm.compare(log, ["ari"], score=["a", "b"], replicates=30)["ari"].interval[0] > 0


def log_of_many(users, rows, seed=0):
    rng = np.random.default_rng(seed)
    rate = rng.random(rows)
    return {
        "user": rng.integers(0, users, rows),
        "click": (rng.random(rows) < rate).astype(np.int8),
        "a": rate,
        "b": np.clip(rate + rng.normal(0, 0.2, rows), 0.01, 0.99),
        "country": rng.integers(0, 3, rows),
    }


@pytest.mark.parametrize("metrics", [["brier", "logloss"], ["brier", "logloss", "auc"], ["brier", "gauc"]])
def test_many_units_are_counted_in_a_sample(metrics):
    """Rows are not kept for sums alone, but those of the sample are; with others all are kept."""
    log = log_of_many(40_000, 60_000)
    asked = {"label": "click", "score": ["a", "b"], "unit": "user"}
    if "gauc" in metrics:
        asked["group"] = asked.pop("unit")
    comparison = fm.compare(log, metrics, **asked)
    one = comparison["brier"]
    n = one.won + one.lost + one.tied
    n_units = np.unique(log["user"]).shape[0]
    assert n == pytest.approx(n_units / 8, rel=0.08)
    (note,) = (note for note in comparison.notes if "won and lost are counted" in note)
    names = ", ".join(name for name in metrics if name in ("brier", "logloss"))
    assert note.startswith(f"units won and lost are counted for {names} among {n:,} of about ")
    assert note.endswith("units, drawn by their hash")
    # All users: the share that is won is that of the sample, but for chance.
    of_user = [np.bincount(log["user"], (log[score] - log["click"]) ** 2) for score in ("a", "b")]
    present = np.bincount(log["user"]) > 0
    share = float((of_user[1] < of_user[0])[present].mean())
    assert one.won / n == pytest.approx(share, abs=4 * 0.5 / np.sqrt(n))
    order = np.random.default_rng(1).permutation(60_000)
    turned = {name: column[order] for name, column in log.items()}
    again = fm.compare(turned, metrics, n_threads=3, **asked)
    assert list(again) == list(comparison)
    assert again.notes == comparison.notes


def test_slices_of_many_units_are_counted_in_the_same_sample(scaled):
    log = log_of_many(40_000, 60_000)
    asked = {"label": "click", "score": ["a", "b"], "unit": "user"}
    comparison = fm.compare(log, ["brier", "logloss"], by="country", **asked)
    whole = fm.compare(log, ["brier", "logloss"], **asked)
    for metric in ("brier", "logloss"):
        first, second = (own.difference(metric, slice={}) for own in (whole, comparison))
        assert (first.won, first.lost, first.tied) == (second.won, second.lost, second.tied)
        of_slices = [own for own in comparison if own.metric == metric and own.slice]
        assert sum(own.won + own.lost + own.tied for own in of_slices) > first.won + first.lost + first.tied
    assert list(fm.compare(log, ["brier", "logloss"], by="country", memory_limit=400_000, **asked)) == list(comparison)


def test_rows_as_units_are_counted_in_a_sample():
    log = log_of_many(5, 30_000)
    one = fm.compare(log, "brier", label="click", score=["a", "b"])["brier"]
    n = one.won + one.lost + one.tied
    assert (n == pytest.approx(30_000 / 8, rel=0.08), one.n_units) == (True, 30_000)
    better = np.abs(log["b"] - log["click"]) < np.abs(log["a"] - log["click"])
    assert one.won / n == pytest.approx(better.mean(), abs=0.03)


def test_texts_of_many_units_are_counted_in_a_sample():
    rng = np.random.default_rng(0)
    words = np.array(["a b c d e", "a b c x e", "a b d c e"])
    log = {name: words[rng.integers(0, 3, 17_000)] for name in ("reference", "a", "b")}
    log["page"] = np.arange(17_000)
    one = fm.compare(log, "ter", label="reference", score=["a", "b"], unit="page")["ter"]
    assert one.won + one.lost + one.tied == pytest.approx(17_000 / 8, rel=0.1)


def test_dropped_rows_are_counted_and_progress_is_shown():
    log = log_of()
    log["b"][3] = np.nan
    assert_raises(ValueError, "score column 'b' has NaN at row 3", fm.compare, log, ["auc"], **COLUMNS)
    seen = []
    comparison = fm.compare(
        log, ["auc"], **COLUMNS, replicates=5, on_invalid="drop", progress=lambda *step: seen.append(step)
    )
    assert (comparison.rows, comparison.dropped) == (120, {"null or NaN score": 1})
    assert "120 rows read, 1 dropped (null or NaN score: 1)" in str(comparison)
    assert {stage for stage, *_ in seen} == {"scan", "resolve", "resample"}


def test_a_comparison_can_be_repeated_from_its_signature():
    one = fm.compare(log_of(), "gauc(weight=pairs)", **COLUMNS, replicates=9, seed=4, ci=0.8)["gauc(weight=pairs)"]
    assert one.signature.startswith("gauc|weight:pairs|single_class:skip|")
    assert one.signature.endswith("|ci:0.8|method:bootstrap|replicates:9|seed:4|unit:user|difference:b-a")
    assert one.method == "9 paired replicates by user, two-sided"


def test_auc_of_independent_rows_is_compared_as_by_delong_test():
    log = log_of(2_000)
    options = {"label": ["click", "buy"], "score": ["a", "b"], "by": "country", "ci_method": "delong", "ci": 0.9}
    comparison = fm.compare(log, "auc", **options)
    for label in ("click", "buy"):
        for part in ({}, {"country": "NL"}, {"country": "DE"}):
            one = comparison.difference("auc", label=label, slice=part)
            rows = log["country"] == part["country"] if part else slice(None)
            test = fm.delong_test(log[label][rows], log["b"][rows], log["a"][rows], ci=0.9)
            assert (one.pvalue, one.interval) == (test.pvalue, test.interval)
            assert one.difference == pytest.approx(test.effect_size, abs=1e-15)
    assert one.method == "DeLong's test of independent rows, two-sided"
    assert one.signature.endswith("|ci:0.9|method:delong|unit:row|difference:b-a")
    assert one.n_units == test.n
    order = np.random.default_rng(1).permutation(2_000)
    moved = {name: column[order] for name, column in log.items()}
    assert fm.compare(moved, "auc", **options, n_threads=3, memory_limit="1MiB") == comparison
    equal = fm.compare(log | {"b": log["a"]}, "auc", label="click", score=["a", "b"], ci_method="delong")["auc"]
    assert (equal.pvalue, equal.verdict, equal.reason) == (1, "equal", "the columns are identical")
    log["click"][:] = 1
    one = fm.compare(log, "auc", label="click", score=["a", "b"], ci_method="delong")["auc"]
    assert math.isnan(one.pvalue)
    assert one.interval is None
    assert one.reason.startswith("a: ")
