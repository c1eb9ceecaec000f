"""Statistics of the values of groups, and the state that keeps the values, against their definitions."""

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmetrics._core.exchange import group_values
from fastmetrics._core.exchange.group_values import SortedValues, UnitValues, WeightedValues
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.group_stat import read_stat
from oracles.group_stat import quantile, stat
from support.cases import assert_raises, each_case

STATS = [
    {"stat": "min"}, {"stat": "max"}, {"stat": "below", "at": 0.5}, {"stat": "p50"}, {"stat": "p99.9"},
    {"stat": "p10", "rule": "lower"}, {"stat": "p25", "rule": "higher"}, {"stat": "p0"}, {"stat": "p100"},
]  # fmt: skip
SAMPLES = st.lists(
    st.tuples(
        st.sampled_from([-1.5, 0.0, 0.25, 0.5, 0.75, 1.0]) | st.floats(-1, 1),
        st.sampled_from([0.1, 0.5, 1, 2, 3]) | st.floats(1e-3, 1e6),
    ),
    min_size=1,
    max_size=30,
)


def state_of(sample, parts=1, budget=None):
    state = WeightedValues()
    state.limit_memory(budget)
    for part in range(parts):
        own = WeightedValues()
        own.limit_memory(budget)
        own.add(*columns_of(sample[part::parts]))
        state.merge(own)
    return state


def columns_of(sample):
    return tuple(np.array([row[column] for row in sample], np.float64) for column in (0, 1))


def found(options, sample):
    _, group_stat = read_stat(options)
    return group_stat.value(sample)


def expected(options, sample):
    return float(stat(sample, options["stat"], options.get("rule", "linear"), options.get("at", 0)))


@given(SAMPLES, st.integers(1, 3))
@pytest.mark.parametrize("options", STATS, ids=str)
def test_they_are_the_definition(options, sample, parts):
    assert found(options, state_of(sample, parts)) == expected(options, sample)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(group_values, "SORTED_ROWS", 2)  # further passes in place of sorting
        patch.setattr(group_values, "CUTS", 2)
        assert found(options, state_of(sample, parts)) == expected(options, sample)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=30), st.sampled_from([5, 10, 50, 75, 99.9]))
def test_without_weights_they_are_those_of_numpy(values, percent):
    sample = [(value + 0.0, 1) for value in values]
    for rule in ("lower", "higher"):
        exact = (len(values) - 1) * Fraction(str(percent)) / 100
        if exact.denominator != 1:  # NumPy rounds the position
            wanted = np.percentile([value for value, _ in sample], percent, method=rule)
            assert found({"stat": f"p{percent}", "rule": rule}, state_of(sample)) == wanted
    wanted = np.percentile([value for value, _ in sample], percent)
    assert found({"stat": f"p{percent}"}, state_of(sample)) == pytest.approx(wanted, rel=1e-12, abs=1e-12)


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(1, 4)), min_size=1, max_size=20))
def test_a_whole_weight_is_a_repeated_value(sample):
    repeated = [(value, 1) for value, weight in sample for _ in range(weight)]
    for options in STATS:
        assert found(options, state_of(sample)) == found(options, state_of(repeated))


@given(SAMPLES)
def test_equal_small_weights_are_no_weights(sample):
    """Also where the weights have no exact sum in floats."""
    equal, plain = ([(value, weight) for value, _ in sample] for weight in (0.1, 1))
    for options in STATS:
        assert found(options, state_of(equal)) == found(options, state_of(plain))


def test_values_of_a_worked_example():
    sample = [(0.1, 1), (0.2, 2), (0.4, 1)]  # 0.1 0.2 0.2 0.4
    rows = {"p50": 0.2, "p90": 0.34, "p10": 0.13}
    for name, value in rows.items():
        assert found({"stat": name}, state_of(sample)) == pytest.approx(value)
    assert found({"stat": "p90", "rule": "lower"}, state_of(sample)) == 0.2
    assert found({"stat": "p90", "rule": "higher"}, state_of(sample)) == 0.4
    assert found({"stat": "below", "at": 0.2}, state_of(sample)) == 0.25


MANY = 300_000  # four blocks, and more values than one range has


def many_values(weighted):
    random = np.random.default_rng(3)
    values = np.round(random.random(MANY), 4)
    weights = np.round(random.random(MANY) * 5, 2) + 0.01 if weighted else np.ones(MANY)
    return values, weights


def fill(values, weights, budget=None, n_states=3):
    """A state that is merged from several, each of many small additions."""
    merged = WeightedValues()
    merged.limit_memory(budget)
    for part in np.array_split(np.arange(MANY), n_states):
        own = WeightedValues()
        own.limit_memory(budget)
        for rows in np.array_split(part, 200):
            own.add(values[rows], weights[rows])
        merged.merge(own)
    return merged


@each_case("weighted", [False, True])
@each_case("limit", [None, 1 << 20, 1 << 24])
def test_many_values_spilled_and_merged(weighted, limit):
    values, weights = many_values(weighted)
    budget = None if limit is None else MemoryBudget(limit, None, 2)
    state = fill(values, weights, budget)
    assert state.rows == MANY
    assert bool(state.store.spilled_blocks) == (limit == 1 << 20)
    order = np.argsort(-values)
    in_memory = SortedValues(values[order], weights[order])
    for options in STATS:
        assert found(options, state) == found(options, in_memory)
    if budget is not None:
        assert state.n_bytes <= limit // 2


@given(SAMPLES, st.data())
@pytest.mark.parametrize("options", STATS, ids=str)
def test_replicates_repeat_the_values(options, sample, data):
    """In memory, and where the values do not fit it."""
    copies = data.draw(st.lists(st.integers(0, 3), min_size=4, max_size=4).filter(any))
    sample = sample + sample[:3]
    numbers = np.arange(len(sample)) % 4
    repeated = [row for row, number in zip(sample, numbers, strict=True) for _ in range(copies[number])]
    if not repeated:
        return
    for limit in (None, 0):
        values = UnitValues()
        values.limit_memory(None if limit is None else MemoryBudget(limit, None, 1))
        values.add(*columns_of(sample), numbers.astype(np.int32))
        (replicate,) = values.replicates([np.array(copies, np.uint8)])
        assert replicate.rows == len(repeated)
        assert found(options, replicate) == expected(options, repeated)


def test_a_state_travels():
    values, weights = many_values(True)
    state = fill(values, weights, MemoryBudget(1 << 20, None, 1))
    again = pickle.loads(pickle.dumps(state))
    for own, other in zip(again.arrays(), state.arrays(), strict=True):
        assert own.tobytes() == other.tobytes()
    assert [own.dtype for own in state.arrays()] == [np.dtype(kind) for kind, _ in state.layout()]
    assert pickle.loads(pickle.dumps(WeightedValues())).rows == 0


@each_case(
    "values, weights, message",
    [
        ([0.5], [1.0, 2.0], "not as many weights"),
        ([np.nan], [1.0], "no value"),
        ([0.5], [0.0], "not above 0"),
        ([0.5], [np.inf], "not above 0"),
    ],
)
def test_damaged_arrays(values, weights, message):
    assert_raises(ValueError, message, WeightedValues().load_arrays, np.array(values), np.array(weights))


@each_case(
    "options, message",
    [
        ({"stat": "median"}, "stat must be mean, min, max, a quantile such as p10 or p99.9, or below; found 'median'"),
        ({"stat": 10}, "stat must be"),
        ({"stat": "p101"}, "from p0 to p100; found p101"),
        ({"stat": "p10", "rule": "nearest"}, "rule must be one of linear, lower, higher; found 'nearest'"),
        ({"stat": "min", "rule": "lower"}, "rule is that of quantiles, such as stat=p10; stat is min"),
        ({"rule": "lower"}, "rule is that of quantiles, such as stat=p10; stat is mean"),
        ({"stat": "below"}, "write stat=below, at=0.5; found None"),
        ({"stat": "below", "at": "x"}, "write stat=below, at=0.5; found 'x'"),
        ({"stat": "p10", "at": 0.5}, "at belongs to stat=below"),
    ],
)
def test_wrong_options(options, message):
    assert_raises(ValueError, message, read_stat, options)


def test_a_rank_between_two_values_of_unequal_weight():
    assert quantile([(0.0, 1), (1.0, 9)], Fraction(1, 18)) == Fraction(1, 2)
