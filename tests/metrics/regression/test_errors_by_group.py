"""Errors of every group: the oracle with ==, the functions on the rows of a group, every kind of key."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core.exchange import hash_exchange
from fastmetrics.metrics.regression.errors_by_group import GroupErrorWorker
from oracles import regression as oracle
from support.cases import assert_raises, each_case

VALUE = st.one_of(st.floats(-1e6, 1e6), st.sampled_from([0.0, 1.0, 1e-300, -1e160, 5e-324, 0.1, 1e8]))


def columns_of(table):
    return [table.group.tolist(), table.n.tolist(), *(own.tolist() for own in (table.bias, table.mse, table.mae))]


def as_columns(rows):
    """The oracle's rows as the table's columns: its order of errors is squared, absolute, signed."""
    group, n, mse, mae, bias = (list(column) for column in zip(*rows, strict=True))
    return [group, n, bias, mse, mae]


@st.composite
def cases(draw):
    rows = draw(st.integers(1, 40))
    column = st.lists(VALUE, min_size=rows, max_size=rows)
    keys = draw(st.sampled_from([st.integers(-3, 3), st.sampled_from(["a", "b", "ü", "a longer name than twelve"])]))
    groups = draw(st.lists(keys, min_size=rows, max_size=rows))
    weights = None
    if draw(st.booleans()):
        weight = st.one_of(st.sampled_from([0.0, 1.0, 2.0, 1e-200]), st.floats(1e-3, 1e3))
        weights = draw(st.lists(weight, min_size=rows, max_size=rows))
        weights[0] = weights[0] or 1.0
    return draw(column), draw(column), groups, weights


@given(cases())
def test_is_the_oracle(case):
    y_true, y_pred, groups, weights = case
    table = fm.errors_by_group(y_true, y_pred, groups, sample_weight=weights)
    if any(abs(y - p) > 1e150 for y, p in zip(y_true, y_pred, strict=True)):
        assert not np.isnan(table.mae).any()
        return
    assert columns_of(table) == as_columns(oracle.errors_by_group(*case))


def log_of(rows, users, seed=0):
    generator = np.random.default_rng(seed)
    y_true = np.round(generator.gamma(1.0, 30.0, rows), 2)
    y_pred = y_true * np.exp(generator.normal(0, 0.3, rows))
    groups = np.minimum(generator.pareto(0.8, rows) * 20, users - 1).astype(np.int64) * 7919 - 10**6
    return y_true, y_pred, groups, generator.integers(0, 4, rows) / 4


@each_case("weighted", [False, True])
@each_case(("rows", "users"), [(50, 5), (3000, 200), (200_003, 20_000), (100_000, 2)])
def test_a_group_equals_the_functions_on_its_rows(rows, users, weighted):
    y_true, y_pred, groups, weights = log_of(rows, users)
    own = weights if weighted else None
    table = fm.errors_by_group(y_true, y_pred, groups, sample_weight=own)
    present = weights > 0 if weighted else np.ones(rows, bool)
    assert table.group.tolist() == np.unique(groups[present]).tolist()
    assert table.n.sum() == np.count_nonzero(present)
    places = np.random.default_rng(1).integers(0, len(table), 20)
    for place in {0, len(table) - 1, int(table.n.argmax()), *places.tolist()}:
        chosen = present & (groups == table.group[place])
        options = {"sample_weight": weights[chosen]} if weighted else {}
        case = y_true[chosen], y_pred[chosen]
        assert table.n[place] == np.count_nonzero(chosen)
        assert table.mse[place] == fm.mean_squared_error(*case, **options)
        assert table.mae[place] == fm.mean_absolute_error(*case, **options)
        own = weights[chosen].tolist() if weighted else None
        assert table.bias[place] == oracle.mean(oracle.signed, case[0].tolist(), case[1].tolist(), own)



KEYS = {
    "list of text": lambda keys: [f"user {key}" for key in keys.tolist()],
    "numpy text": lambda keys: np.array([f"u{key}" for key in keys.tolist()]),
    "arrow text": lambda keys: pa.array([f"a user with the number {key}" for key in keys.tolist()]),
    "dictionary": lambda keys: pa.array([f"u{key}" for key in keys.tolist()]).dictionary_encode(),
    "int32": lambda keys: keys.astype(np.int32),
    "uint64": lambda keys: (keys + 10**7).astype(np.uint64),
    "bool": lambda keys: keys % 2 == 0,
}


@each_case("kind", KEYS)
def test_any_kind_of_key(kind):
    y_true, y_pred, keys, weights = log_of(4000, 300)
    groups = KEYS[kind](keys)
    table = fm.errors_by_group(y_true, y_pred, groups, sample_weight=weights)
    plain = groups.to_pylist() if hasattr(groups, "to_pylist") else np.asarray(groups).tolist()
    expected = oracle.errors_by_group(y_true.tolist(), y_pred.tolist(), plain, weights.tolist())
    assert columns_of(table) == as_columns(expected)


@each_case("types", [("f4", "f8"), ("f8", "f4"), ("f4", "f4"), ("i8", "f4"), ("f2", "u1"), (">f8", "f8")])
def test_types_of_numbers(types):
    y_true, y_pred, groups, _ = log_of(2000, 50)
    columns = [np.clip(np.round(own), 0, 200).astype(kind) for own, kind in zip((y_true, y_pred), types, strict=True)]
    expected = fm.errors_by_group(*(own.astype(np.float64) for own in columns), groups)
    assert columns_of(fm.errors_by_group(*columns, groups)) == columns_of(expected)


def test_partitions_of_any_size(monkeypatch):
    y_true, y_pred, groups, weights = log_of(5000, 700)
    expected = [columns_of(fm.errors_by_group(y_true, y_pred, groups, sample_weight=own)) for own in (None, weights)]
    for rows in (1, 40, 1000):
        monkeypatch.setattr(hash_exchange, "PARTITION_ROWS", rows)
        for own, columns in zip((None, weights), expected, strict=True):
            assert columns_of(fm.errors_by_group(y_true, y_pred, groups, sample_weight=own)) == columns


def test_sums_that_the_kernel_leaves_to_integers():
    """Means halfway between two doubles, sums that cancel, infinite squares, weights out of range."""
    table = fm.errors_by_group(
        [0.0, 0.0, 1e16, -1e16, 0.0, 1e200, 1e-200, 0.0, 0.0],
        [1.0, 1.0 + 2.0**-52, 0.0, 0.0, 1.0, -1e200, 0.0, 5e-324, 0.0],
        [1, 1, 2, 2, 2, 3, 4, 5, 5],
    )
    assert table.bias.tolist() == [1.0, 1 / 3, -2e200, -1e-200, 0.0]
    assert table.mse.tolist() == [1.0 + 2.0**-52, (2e32 + 1) / 3, math.inf, 0.0, 0.0]
    assert table.mae.tolist() == [1.0, (2e16 + 1) / 3, 2e200, 1e-200, 0.0]
    halfway = [1.0, 2.0**-53, 2.0**-200, 0.0]
    assert fm.errors_by_group([0.0] * 4, halfway, [1] * 4).bias.tolist() == [math.nextafter(0.25, 1.0)]
    assert fm.errors_by_group([0.0] * 4, halfway, [1] * 4, sample_weight=[0.5] * 4).bias > 0.25
    for weight in (1e-290, 1e290, 5e-324):
        table = fm.errors_by_group([1.0, 2.0], [2.0, 4.0], [7, 7], sample_weight=[weight, weight])
        assert columns_of(table) == [[7], [2], [1.5], [2.5], [1.5]]


@pytest.mark.parametrize("weighted", [False, True])
def test_few_groups_are_left_to_integers(weighted, monkeypatch):
    """Means of few rows are often halfway between two doubles; the kernel decides nearly all of them."""
    y_true, y_pred, groups, _ = log_of(30_000, 5000)
    weights = np.random.default_rng(1).random(30_000) if weighted else None
    left = []
    mean = GroupErrorWorker.mean_from_integers
    monkeypatch.setattr(
        GroupErrorWorker, "mean_from_integers", lambda *arguments: left.append(arguments) or mean(*arguments)
    )
    fm.errors_by_group(y_true, y_pred, groups, sample_weight=weights, n_threads=1)
    assert len(left) < 5


def test_rows_without_weight_are_no_group():
    table = fm.errors_by_group([1.0, 2.0], [1.0, 3.0], ["a", "b"], sample_weight=[0.0, 2.0])
    assert columns_of(table) == [["b"], [1], [1.0], [1.0], [1.0]]
    none = fm.errors_by_group([1.0, 2.0], [1.0, 3.0], ["a", "b"], sample_weight=[0.0, 0.0])
    assert columns_of(none) == [[]] * 5
    assert len(none) == 0


def test_the_table():
    table = fm.errors_by_group([1.0, 2.0, 3.0], [1.5, 2.0, 2.0], ["b", "a", "b"])
    assert len(table) == 2
    assert repr(table).splitlines() == [
        "group  n     bias     mse     mae", "a      1   0.0000  0.0000  0.0000", "b      2  -0.2500  0.6250  0.7500"
    ]  # fmt: skip
    arrow = table.to_arrow()
    assert arrow.column_names == ["group", "n", "bias", "mse", "mae"]
    assert arrow.to_pydict() == {"group": ["a", "b"], "n": [1, 2], "bias": [0.0, -0.25], "mse": [0.0, 0.625],
                                 "mae": [0.0, 0.75]}  # fmt: skip


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_bad_numbers(value):
    for argument in ("y_true", "y_pred"):
        columns = {"y_true": [1.0, 2.0, 3.0], "y_pred": [1.0, 2.0, 3.0]}
        columns[argument][2] = value
        for weights in (None, [0.0, 1.0, 0.0]):
            assert_raises(
                ValueError, f"{argument} has (NaN|inf) at row 2",
                fm.errors_by_group, **columns, groups=[1, 2, 3], sample_weight=weights,
            )
