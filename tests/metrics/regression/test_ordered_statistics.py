"""Metrics of numbers whose rows need an order of their own, or two readings: the bits of the functions."""

import errno
import itertools
import math
import os
import re
import sys
import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core import registry
from fastmetrics._core.columns import row_blocks
from fastmetrics._core.exchange import range_exchange, row_ranges
from fastmetrics._core.exchange.row_ranges import RowRangeStatistic
from fastmetrics._core.exchange.spill import SpillError, SpillFile
from fastmetrics._core.exchange.weighted_ranges import span_of
from fastmetrics._core.kinds import Real
from fastmetrics._kernels.regression import selection
from fastmetrics.metrics.regression.quantiles import Mass, middle_values, midpoint, quantile, quantiles
from fastmetrics.metrics.regression.xauc import ConcordantPairs, Span
from oracles import regression as oracle
from support.cases import assert_raises, each_case
from support.registry_cases import own_metrics
from support.states.spilled_logs import small_batches, tiny_memory

FUNCTIONS = {
    "median_ae": (fm.median_absolute_error, {}),
    "d2_absolute_error": (fm.d2_absolute_error_score, {}),
    "d2_pinball(alpha=0.9)": (fm.d2_pinball_score, {"alpha": 0.9}),
    "d2_tweedie": (fm.d2_tweedie_score, {}),
    "d2_tweedie(power=1.5)": (fm.d2_tweedie_score, {"power": 1.5}),
    "xauc": (fm.xauc, {}),
}
METRICS = list(FUNCTIONS)
COLUMNS = {"label": "y", "score": "p"}
quantiles_module = sys.modules[Mass.__module__]
xauc_module = sys.modules[ConcordantPairs.__module__]


def make_log(rows, seed=0, digits=1):
    generator = np.random.default_rng(seed)
    y = 0.5 + np.round(generator.gamma(2.0, 3.0, rows), digits)
    return {
        "y": y,
        "p": np.round(0.1 + y * generator.lognormal(0.0, 0.4, rows), digits).astype(np.float32) + np.float32(0.5),
        "q": generator.random(rows) + 0.1,
        "w": generator.integers(0, 4, rows) / 2,
        "real": generator.lognormal(0.0, 5.0, rows),
        "by": generator.choice(["a", "b"], rows, p=[0.8, 0.2]),
        "user": generator.integers(0, 40, rows),
    }


def expected(log, score="p", weight=None, where=slice(None)):
    """The value of every metric by its function."""
    weights = None if weight is None else log[weight][where]
    kept = slice(None) if weights is None else weights > 0
    columns = [log[name][where][kept] for name in ("y", score)]
    options = {"sample_weight": None if weights is None else weights[kept]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fm.UndefinedMetricWarning)
        return {name: function(*columns, **own, **options) for name, (function, own) in FUNCTIONS.items()}


def values(report, **where):
    return {result.metric: result.value for result in report if result.slice == where}


@each_case("rows", [2, 3, 70, 5000])
@each_case("weight", [None, "w", "real"])
def test_values_are_those_of_the_functions(rows, weight):
    log = make_log(rows, seed=rows)
    log["w"][:2] = 1.0
    for score in ("p", "q"):
        report = fm.evaluate(log, METRICS, label="y", score=score, weight=weight)
        assert repr(sorted(values(report).items())) == repr(sorted(expected(log, score, weight).items()))


@each_case("digits", [0, 1, 12])
@each_case("weight", [None, "real"])
def test_many_ranges_in_any_order(digits, weight, monkeypatch):
    """Few and many equal labels; ranges of few rows, in memory and spilled, with slices."""
    monkeypatch.setattr(range_exchange, "ROWS_PER_BUCKET", 500)
    log = make_log(20_000, digits=digits)
    order = np.random.default_rng(1).permutation(20_000)
    moved = {name: column[order] for name, column in log.items()}
    whole = fm.evaluate(log, METRICS, **COLUMNS, weight=weight, by="by")
    assert values(whole) == expected(log, weight=weight)
    assert values(whole, by="b") == expected(log, weight=weight, where=log["by"] == "b")
    assert fm.evaluate(moved, METRICS, **COLUMNS, weight=weight, by="by", n_threads=2) == whole
    assert fm.evaluate(moved, METRICS, **COLUMNS, weight=weight, by="by", memory_limit="1MiB") == whole


def test_other_metrics_share_the_pass():
    """Metrics in the order of scores, and of single rows, are as they are alone."""
    log = make_log(500)
    log["click"] = (log["y"] > 6).astype(np.int8)
    both = fm.evaluate(log, ["auc(label=click)", "median_ae", "rmse", "xauc"], **COLUMNS)
    assert both["auc(label=click)"] == fm.roc_auc_score(log["click"], log["p"])
    assert both["rmse"] == fm.root_mean_squared_error(log["y"], log["p"])
    assert (both["median_ae"], both["xauc"]) == (expected(log)["median_ae"], expected(log)["xauc"])


def test_models_are_compared():
    log = make_log(800)
    found = fm.compare(log, METRICS, label="y", score=["p", "q"], unit="user", replicates=50)
    for name, before in expected(log).items():
        after = expected(log, "q")[name]
        assert (found[name].baseline_value, found[name].other_value) == (before, after)
        low, high = found[name].interval
        assert low <= after - before <= high


@each_case(
    ("log", "reasons"),
    [
        ({"y": [1.0], "p": [2.0]}, {*METRICS} - {"median_ae"}),
        ({"y": [3.0, 3.0], "p": [1.0, 2.0]}, {"d2_tweedie", "d2_tweedie(power=1.5)", "xauc"}),
        ({"y": [3.0, 3.0], "p": [1.0, 2.0], "w": [0.0, 0.0]}, {*METRICS}),
    ],
)
def test_undefined_values_have_a_reason(log, reasons):
    report = fm.evaluate(log, METRICS, **COLUMNS, weight="w" if "w" in log else None)
    assert {result.metric for result in report if math.isnan(result.value)} == reasons
    assert {result.metric for result in report if result.reason} == reasons


@each_case(
    ("metric", "y", "p", "message"),
    [
        ("median_ae", [1.0, 2.0], [1.0, math.inf], "score column 'p' has inf at row 1"),
        ("d2_pinball", [1.0, 2.0], [math.inf, 1.0], "score column 'p' has inf at row 0"),
        ("d2_absolute_error", [1.0, math.inf], [1.0, 1.0], "label column 'y' has inf at row 1"),
        ("d2_tweedie(power=1)", [1.0, -2.0], [1.0, 1.0], "label column 'y' has -2.0 at row 1: .* targets of at least"),
        ("d2_tweedie(power=2)", [1.0, 2.0], [1.0, 0.0], "score column 'p' has 0.0 at row 1: .* positive"),
        ("d2_tweedie(power=0.5)", [1.0], [1.0], "power must be a number"),
        ("d2_pinball(alpha=2)", [1.0], [1.0], "alpha must be a number in"),
    ],
)
def test_bad_values_name_their_row(metric, y, p, message):
    log = {"y": [1.0] * 100 + y, "p": [1.0] * 100 + p}
    numbered = re.sub(r"row (\d)", r"row 10\1", message)
    for limit in (None, "1MiB"):
        assert_raises(ValueError, numbered, fm.evaluate, log, [metric], **COLUMNS, memory_limit=limit)
    if "row" in message:
        state = fm.Accumulator([metric], **COLUMNS)
        assert_raises(ValueError, message, state.update, {"y": y, "p": p})
        assert state.rows == 0


def test_infinite_scores_have_an_order():
    log = {"y": [1.0, 2.0, 3.0], "p": [-math.inf, 0.0, math.inf]}
    assert fm.evaluate(log, ["xauc"], **COLUMNS)["xauc"] == 1.0


def test_no_certified_interval():
    for metric in METRICS:
        assert_raises(ValueError, "has no certified interval", fm.Accumulator, [metric], **COLUMNS, approximate=True)


def test_names_of_scikit_learn():
    log = make_log(50)
    for name, metric in {
        "median_absolute_error": "median_ae",
        "d2_absolute_error_score": "d2_absolute_error",
        "d2_pinball_score(alpha=0.9)": "d2_pinball(alpha=0.9)",
        "d2_tweedie_score": "d2_tweedie",
    }.items():
        assert fm.evaluate(log, [name], **COLUMNS).results[0].value == expected(log)[metric]


# ------------------------------------------------------------------------------------------------------- quantiles


@given(
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from([0.1, 0.2, 0.3, 1.0, 1e-30, 5.0])), min_size=1, max_size=30),
    st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.75, 1.0]),
    st.booleans(),
)
def test_ranges_have_the_quantile_of_the_whole(rows, level, weighted):
    """Cut between any two values; the order of the rows does not matter."""
    numbers = np.array([value for value, _ in rows], float)
    weights = np.array([weight for _, weight in rows]) if weighted else None
    whole = quantile(numbers.copy(), weights, level)
    backwards = None if weights is None else weights[::-1].copy()
    assert quantile(numbers[::-1].copy(), backwards, level) == whole
    low, high = Mass.of(len(rows), weights).bounds(level)
    for first, second in itertools.combinations(range(11), 2):
        found, below = [], 0
        for start, stop in ((0, first), (first, second), (second, 11)):
            inside = (numbers >= start) & (numbers < stop)
            if inside.any():
                own = None if weights is None else weights[inside]
                found += middle_values(numbers[inside], own, below, low, high)
                below += Mass.of(int(inside.sum()), own).size
        assert midpoint(found[:2]) == whole


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5)), min_size=1, max_size=30))
def test_the_weighted_median_is_the_oracle(rows):
    numbers, weights = [float(value) for value, _ in rows], [float(weight) for _, weight in rows]
    weights[0] += 1.0
    found = quantile(np.array(numbers), np.array(weights), 0.5)
    assert found == oracle.quantile(numbers, oracle.Fraction(1, 2), weights)


@pytest.mark.parametrize("seed", range(24))
def test_the_quantile_of_long_and_of_many_columns_is_the_oracle(seed, monkeypatch):
    """Ties, sorted columns and columns of one value; a sample that leads astray; threads."""
    random = np.random.default_rng(seed)
    rows = int(random.integers(1, 400))
    numbers = random.normal(size=(3, rows)) * 10.0 ** random.integers(-3, 4, (3, rows))
    numbers[1] = random.integers(-2, 3, rows) * -0.5
    numbers[2] = np.sort(random.integers(0, rows, rows))
    weights = [None, random.integers(0, 4, rows).astype(float), random.random(rows)][seed % 3]
    if weights is not None:
        weights[0] = 0.5
    level = float(random.choice([0.0, 0.1, 0.25, 0.5, 0.9, 1.0]))
    listed = None if weights is None else weights.tolist()
    expected = [oracle.quantile(column, oracle.Fraction(level), listed) for column in numbers.tolist()]
    assert quantiles(numbers, weights, level, 2).tolist() == expected
    for name, value in {"MANY_ROWS": 0, "LEAST_STEP": 1 + seed % 8, "SAMPLE_MARGIN": 0.1 * (seed % 5)}.items():
        monkeypatch.setattr(quantiles_module, name, value)
    monkeypatch.setattr(row_blocks, "BLOCK_ROWS", 50)
    assert quantiles(numbers, weights, level, 2).tolist() == expected


def test_a_quantile_that_takes_too_much_work_is_left_to_numpy(monkeypatch):
    def give_up(columns, *arguments):
        arguments[-1][:, 0] = np.nan

    numbers, weights = np.arange(12.0).reshape(2, 6)[:, ::-1].copy(), np.array([1.0, 2, 3, 4, 5, 6])
    expected = [quantiles(numbers, own, 0.5, 1).tolist() for own in (None, weights)]
    monkeypatch.setattr(selection, "middles", give_up)
    monkeypatch.setattr(selection, "weighted_middles", give_up)
    assert [quantiles(numbers, own, 0.5, 1).tolist() for own in (None, weights)] == expected == [[2.5, 8.5], [1.0, 7.0]]


def test_a_column_that_is_hard_to_halve():
    """Each pivot is the median of the first, the middle and the last value: here the least but one."""
    numbers = np.concatenate([np.arange(1.0, 2000, 2), np.arange(2000.0, 0, -2)])
    assert fm.median_absolute_error(numbers, np.zeros(2000)) == 1000.5
    assert fm.median_absolute_error(numbers, np.zeros(2000), sample_weight=np.full(2000, 0.1)) == 1000.5


def test_a_thousand_equal_weights_are_no_weights():
    """A float64 sum of 500 tenths is not half of that of 1,000."""
    numbers = np.arange(1000.0)
    assert quantile(numbers.copy(), np.full(1000, 0.1), 0.5) == quantile(numbers.copy(), None, 0.5) == 499.5


def test_only_the_range_with_the_median_is_read_again(monkeypatch):
    monkeypatch.setattr(range_exchange, "ROWS_PER_BUCKET", 100)
    calls = []
    original = row_ranges.RowRangeReduction.rows_of
    monkeypatch.setattr(
        row_ranges.RowRangeReduction, "rows_of", lambda own, columns: calls.append(1) or original(own, columns)
    )
    log = make_log(10_000, digits=9)
    assert fm.evaluate(log, ["median_ae"], **COLUMNS)["median_ae"] == expected(log)["median_ae"]
    n_ranges = 100
    assert n_ranges < len(calls) <= n_ranges + 2


# ------------------------------------------------------------------------------------------------------------ pairs


@each_case("digits", [0, 9])
@each_case("chunk", [1, 7, 1 << 16])
@each_case("weighted", [False, True])
def test_pairs_between_ranges(digits, chunk, weighted, monkeypatch):
    """States of ranges merge to the counts of all rows, whether targets are often equal or not."""
    monkeypatch.setattr(xauc_module, "MERGED_ROWS", chunk)
    log = make_log(400, digits=digits)
    weights = log["real"] if weighted else None
    span = Span(span_of(log["real"])) if weighted else None
    order = np.argsort(-log["q"])
    statistic = ConcordantPairs()

    def state(rows):
        own = None if weights is None else weights[rows]
        return statistic.reduce(
            row_ranges.RowRange(log["y"][rows], log["q"][rows], own, row_ranges.NO_STARTS, {}), None, span
        )

    whole = state(order)
    for cut in (1, 37, 399):
        merged = statistic.merge(state(order[:cut]), state(order[cut:]))
        assert (merged.rows, merged.discordant, merged.tied) == (whole.rows, whole.discordant, whole.tied)
        assert statistic.finish(merged) == statistic.finish(whole)
    assert statistic.merge(whole, statistic.empty()) is whole
    assert not statistic.finish(whole).targets.shape[0]


def test_targets_that_do_not_fit_memory_are_in_a_mapped_file(monkeypatch, tmp_path):
    """Every array after the first few is: the same value, and nothing is left in the folder."""
    monkeypatch.setattr(range_exchange, "ROWS_PER_BUCKET", 1000)
    mapped = []
    original = SpillFile.map
    monkeypatch.setattr(SpillFile, "map", lambda own, n_bytes: mapped.append(n_bytes) or original(own, n_bytes))
    log = make_log(100_000, digits=12)
    limited = {"memory_limit": 1 << 20, "spill_dir": str(tmp_path)}
    for weight in (None, "real"):
        found = fm.evaluate(log, ["xauc"], **COLUMNS, weight=weight, **limited)["xauc"]
        assert found == expected(log, weight=weight)["xauc"]
    assert mapped
    assert not list(tmp_path.iterdir())


def test_a_mapped_file_without_space_names_the_folder(monkeypatch, tmp_path):
    def is_full(*arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", is_full)
    with pytest.raises(SpillError, match="no space is left") as caught:
        SpillFile(tmp_path).map(1 << 20)
    assert caught.value.filename == str(tmp_path)


def test_replicates_keep_no_targets():
    """Only their counts stay."""
    log = make_log(20_000, digits=12)
    peaks = []
    for replicates in (5, 25):
        tracemalloc.start()
        fm.evaluate(log, ["xauc"], **COLUMNS, unit="user", ci=0.9, replicates=replicates)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 5 * 8 * 20_000


TIES = {
    "all equal": np.zeros(30_000),
    "half equal": np.concatenate([np.zeros(15_000), np.arange(1.0, 15_001)]),
    "one after the middle": np.concatenate([np.zeros(15_000), np.full(15_000, 3.0)]),
    "two frequent values": np.concatenate([np.arange(1000.0), np.full(14_000, 2000.0), np.full(15_000, 5000.0)]),
}


@each_case("name", list(TIES))
@each_case("weight", [None, "w"])
def test_ties_are_taken_in_parts(name, weight, monkeypatch):
    """More rows of one error than may be loaded at once: no reading of them is larger than that."""
    errors = np.random.default_rng(0).permutation(TIES[name])
    log = {"y": errors, "p": np.zeros(errors.shape[0]), "w": 1.0 + np.arange(errors.shape[0]) % 3}
    expected = fm.median_absolute_error(log["y"], log["p"], sample_weight=None if weight is None else log["w"])
    tiny_memory(monkeypatch, 1 << 17)
    small_batches(monkeypatch, 500)
    loaded = []
    rows_of = row_ranges.RowRangeReduction.rows_of

    def count(reduction, columns):
        rows = rows_of(reduction, columns)
        loaded.append(rows.scores.shape[0])
        return rows

    monkeypatch.setattr(row_ranges.RowRangeReduction, "rows_of", count)
    found = fm.evaluate(log, ["median_ae"], **COLUMNS, weight=weight, memory_limit="1MiB", n_threads=1)
    assert found["median_ae"] == expected
    assert max(loaded) < errors.shape[0] // 4


class FirstRows(RowRangeStatistic):
    """The number of rows: it needs the rows of one score together."""

    __slots__ = ()

    def reduce(self, rows, above, total):
        return rows.scores.shape[0]

    def merge(self, higher, lower):
        return higher + lower

    def empty(self):
        return 0


def test_ties_of_pairs_are_taken_in_parts_and_others_name_the_limit(monkeypatch):
    rows = 30_000
    log = {"y": np.arange(float(rows)) // 2, "p": np.zeros(rows), "w": 1.0 + np.arange(rows) % 3}
    small_batches(monkeypatch, 500)
    for weight in (None, "w"):
        expected = fm.xauc(log["y"], log["p"], sample_weight=None if weight is None else log["w"])
        options = {"weight": weight, "memory_limit": "1MiB", "n_threads": 1}
        assert fm.evaluate(log, ["xauc"], **COLUMNS, **options)["xauc"] == expected
    with own_metrics():
        register = registry.metric("own", exchange="range", statistics=FirstRows(), roles={"score": Real()})
        register(lambda parameters, state: float(state))
        assert fm.evaluate(log, ["own"], score="p", memory_limit="8MiB", n_threads=1)["own"] == rows
        message = r"30,000 rows have the same value 0\.0: FirstRows needs them .* and memory_limit=1 MiB"
        assert_raises(ValueError, message, fm.evaluate, log, ["own"], score="p", memory_limit="1MiB", n_threads=1)
