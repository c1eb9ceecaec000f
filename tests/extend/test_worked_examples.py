"""The worked examples give the values of their definitions, and the same bits however a log is read."""

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core.exchange import range_exchange
from fastmetrics.testing import check_metric
from oracles.extend import auuc, concordance, cvr, snips
from support.cases import assert_raises, each_case
from support.extend.worked_examples import ALL_COLUMNS, NAMES, contents, evaluate, make_log
from support.states.replicate_cases import repeat_units
from support.states.spilled_logs import counted, small_batches, tiny_memory

ROWS = 1600
DEFINITIONS = {
    "cvr": (cvr.cvr, ("click", "bought")),
    "snips": (snips.snips, ("revenue", "logged", "target")),
    "auuc": (auuc.auuc, ("bought", "score", "treated")),
    "concordance": (concordance.concordance, ("days", "churned", "score")),
}
ROUNDED = {"auuc"}  # a term for each distinct score is rounded


def define(name, log, weight=None):
    function, columns = DEFINITIONS[name]
    return function(*(log[column].tolist() for column in columns), None if weight is None else log[weight].tolist())


def assert_defined(name, value, expected):
    if expected is None:
        assert math.isnan(value)
    elif name in ROUNDED:
        assert math.isclose(value, expected, rel_tol=1e-12, abs_tol=1e-14)
    else:
        assert value == float(expected)


@st.composite
def small_logs(draw):
    """Few rows, with ties in scores and in times."""
    rows = draw(st.integers(1, 25))
    classes = st.lists(st.integers(0, 1), min_size=rows, max_size=rows)

    def numbers(values):
        return np.array(draw(st.lists(values, min_size=rows, max_size=rows)), float)

    log = {name: np.array(draw(classes)) for name in ("treated", "click", "bought", "churned")}
    log |= {"score": numbers(st.sampled_from([-1.5, 0.0, 0.25, 3.0]) | st.floats(-1e300, 1e300))}
    log |= {"revenue": numbers(st.floats(-1e9, 1e9)), "days": numbers(st.integers(0, 5) | st.floats(0, 1e12))}
    log |= {"logged": numbers(st.floats(1e-3, 1.0)), "target": numbers(st.floats(1e-9, 1.0) | st.just(0.0))}
    log |= {"weight": numbers(st.integers(0, 3)), "real": numbers(st.floats(1e-6, 1e6) | st.just(0.0))}
    return log


@given(small_logs())
def test_values_are_those_of_the_definitions(log):
    report = evaluate(log)
    for name in NAMES:
        assert_defined(name, report[name], define(name, log))
    weighted = evaluate(log, weight="weight")
    for name in NAMES:
        assert_defined(name, weighted[name], define(name, log, "weight"))
    for name in ("cvr", "snips", "auuc"):
        assert_defined(name, evaluate(log, (name,), weight="real")[name], define(name, log, "real"))


def test_definitions_of_a_few_rows():
    """Values worked out by hand."""
    assert cvr.cvr([1, 1, 0, 1], [1, 0, 1, 0]) == Fraction(1, 3)
    assert snips.snips([1.0, 4.0], [0.5, 0.25], [0.5, 0.5]) == 3  # (1 * 1 + 2 * 4) / (1 + 2)
    # Down to 0.9 no row is untreated; then 1 - 0 = 1 of two rows, 1 - 1/2 of three, 1/2 - 1/2 of four.
    assert auuc.auuc([1, 0, 1, 0], [0.9, 0.8, 0.7, 0.6], [1, 0, 0, 1]) == Fraction(2 * 1, 16) + Fraction(3, 32)
    # Comparable: (0, 1), (0, 2), (1, 2). Row 0 is above row 1 and ties with row 2; row 1 is below row 2.
    assert concordance.concordance([1.0, 2.0, 2.0], [1, 1, 0], [5.0, 3.0, 5.0]) == Fraction(3, 6)


def test_rows_of_weight_zero_and_no_rows_that_count():
    log = make_log(200)
    without = {name: column[log["weight"] > 0] for name, column in log.items()}
    assert contents(evaluate(log, weight="weight")) == contents(evaluate(without, weight="weight"))
    none = {**log, "click": log["click"] * 0, "target": log["target"] * 0, "churned": log["churned"] * 0}
    report = evaluate({**none, "treated": log["treated"] * 0})
    assert {own.metric: own.reason for own in report} == {
        "cvr": "no row was clicked", "snips": "no row could have been chosen by the target policy",
        "auuc": "no treated row", "concordance": "no two rows can be compared",
    }  # fmt: skip


@pytest.fixture(scope="module")
def log():
    return make_log(ROWS)


@pytest.fixture(scope="module")
def expected(log):
    """The reports of one thread in memory, without weights and with."""
    return {weight: contents(evaluate(log, weight=weight, by="hour", n_threads=1)) for weight in (None, "weight")}


@each_case("weight", [None, "weight"])
class TestSameBits:
    def test_each_metric_alone(self, weight, log, expected):
        alone = [own for name in NAMES for own in contents(evaluate(log, (name,), weight=weight, by="hour"))]
        assert sorted(alone, key=repr) == sorted(expected[weight], key=repr)

    def test_files(self, weight, log, expected, tmp_path):
        for number in range(3):
            rows = slice(number * 600, (number + 1) * 600)
            table = pa.table({name: column[rows] for name, column in log.items()})
            pa.parquet.write_table(table, tmp_path / f"{number}.parquet", row_group_size=160)
        assert contents(evaluate(str(tmp_path / "*.parquet"), weight=weight, by="hour")) == expected[weight]

    def test_spilled_logs_of_many_ranges(self, weight, log, expected, monkeypatch):
        small_batches(monkeypatch, 300)
        tiny_memory(monkeypatch, 1 << 13)
        monkeypatch.setattr(range_exchange, "ROWS_PER_BUCKET", 50)
        for n_threads in (1, 2):
            with counted() as calls:
                found = evaluate(log, weight=weight, by="hour", memory_limit="1MiB", n_threads=n_threads)
            assert calls["spilled"]
            assert contents(found) == expected[weight]

@each_case(
    "options", [{}, {"by": "hour"}, {"weight": "weight", "by": "hour"}, {"memory_limit": "1MiB", "n_threads": 2}]
)
def test_a_replicate_is_the_log_repeated(options):
    """With one replicate, both ends of the interval are its value."""
    log = make_log(700)
    for seed in range(2):
        report = evaluate(log, ci=0.9, replicates=1, seed=seed, unit="user", **options)
        plain = evaluate(repeat_units(log, log["user"], seed), **options)
        assert [own.interval for own in report] == [(own.value, own.value) for own in plain]


def test_intervals_do_not_depend_on_how_a_log_is_read(monkeypatch):
    log = make_log(600)
    asked = {"ci": 0.9, "replicates": 10, "unit": "user", "by": "hour"}
    expected = contents(evaluate(log, n_threads=1, **asked))
    assert all(low < high for *_, (low, high) in expected)
    state = fm.Accumulator(NAMES, **ALL_COLUMNS, **asked)
    for start in (400, 0, 200):
        state.update({name: column[start:start + 200] for name, column in log.items()})
    assert contents(fm.Accumulator.from_bytes(state.to_bytes()).result()) == expected
    small_batches(monkeypatch, 150)
    tiny_memory(monkeypatch, 1 << 12)
    backwards = {name: column[::-1] for name, column in log.items()}
    assert contents(evaluate(backwards, memory_limit="1MiB", n_threads=2, **asked)) == expected


def test_two_models_are_compared():
    log = {**make_log(1500), "other": make_log(1500, seed=1)["score"]}
    options = {"treatment": "treated", "label": "bought", "unit": "user", "replicates": 30}
    found = fm.compare(log, ["auuc"], score=["score", "other"], **options)["auuc"]
    values = [evaluate({**log, "score": log[name]}, ("auuc",))["auuc"] for name in ("score", "other")]
    assert (found.baseline_value, found.other_value) == tuple(values)


def test_concordance_refuses_fractions_of_rows():
    log = make_log(50)
    assert_raises(
        ValueError, "concordance index counts pairs of rows: weights have to be whole", evaluate,
        {**log, "weight": log["weight"] / 2}, ("concordance",), weight="weight",
    )  # fmt: skip


@each_case("name", NAMES)
def test_examples_pass_all_checks(name):
    check_metric(name)


@each_case("name", NAMES)
def test_examples_are_short(name, worked_examples):
    with open(worked_examples[name].__file__, encoding="utf-8") as file:
        assert len(file.readlines()) <= 120


def test_metrics_of_sums_have_linearized_intervals():
    """Their finalizer is asked for the value without each unit; the others are resampled."""
    log = make_log(600)
    units, report = np.unique(log["user"]), evaluate(log, ci=0.9, unit="user")
    methods = {own.metric: "|method:linearized|" in own.signature for own in report}
    assert methods == {name: name in ("cvr", "snips") for name in NAMES}
    without = [evaluate({name: column[log["user"] != unit] for name, column in log.items()}) for unit in units]
    for name in ("cvr", "snips"):
        squares = [(report[name] - one[name]) ** 2 for one in without]
        expected = math.sqrt((len(units) - 1) / len(units) * math.fsum(squares))
        assert report.result(name).standard_error == pytest.approx(expected, rel=1e-9)
