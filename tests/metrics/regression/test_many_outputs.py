"""Matrices of any type and layout: every output is as if it were alone. Medians of many values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._kernels.regression import selection
from fastmetrics.metrics.regression import median_absolute_error as medians
from fastmetrics.metrics.regression.quantiles import midpoint, midpoints
from support.cases import each_case

FUNCTIONS = (
    "mean_squared_error",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_pinball_loss",
    "mean_squared_log_error",
    "median_absolute_error",
    "r2_score",
    "explained_variance_score",
)


def columns_of(dtype, shape, layout, seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 120, shape) if np.dtype(dtype).kind in "iu" else rng.random(shape) * 100
    values = values.astype(dtype)
    if layout == "F":
        return np.asfortranarray(values)
    if layout == "gaps":
        wide = np.zeros((shape[0], shape[1] + 3), dtype)
        wide[:, : shape[1]] = values
        return wide[:, : shape[1]]
    return values[::-1] if layout == "reversed" else values


@each_case(
    ("dtype", "other_dtype"),
    [("int64", "float64"), ("int8", "uint64"), ("float32", "int32"), ("float64", "float64"), ("float32", "float32")],
)
@each_case("layout", ["C", "F", "gaps", "reversed"])
@each_case("shape", [(300, 2), (97, 3), (40, 50), (70, 128), (33, 131)])
def test_every_output_is_as_if_alone(dtype, other_dtype, layout, shape):
    y_true = columns_of(dtype, shape, layout, 0)
    y_pred = columns_of(other_dtype, shape, "C", 1)
    weights = np.random.default_rng(2).random(shape[0])
    for name in FUNCTIONS:
        function = getattr(fm, name)
        for options in ({}, {"sample_weight": weights}):
            found = function(y_true, y_pred, multioutput="raw_values", **options)
            alone = [
                function(y_true[:, number], y_pred[:, number], multioutput="raw_values", **options)[0]
                for number in range(shape[1])
            ]
            assert found.tolist() == alone, name


@each_case("column", [0, 5])
def test_integers_that_float64_does_not_hold_are_named(column):
    y_true = np.ones((50, 6), np.int64)
    y_true[7, column] = 2**53 + 1
    for name in ("mean_squared_error", "r2_score"):
        with pytest.raises(ValueError, match=f"y_true has 9007199254740993 at row 7, column {column}"):
            getattr(fm, name)(y_true, np.zeros((50, 6)))


def test_medians_of_a_few_outputs_at_a_time(monkeypatch):
    rng = np.random.default_rng(3)
    y_true, y_pred = rng.random((2, 200, 21))
    expected = fm.median_absolute_error(y_true, y_pred, multioutput="raw_values")
    monkeypatch.setattr(medians, "OUTPUT_VALUES", 100)
    for n_threads in (1, 3):
        options = {"multioutput": "raw_values", "n_threads": n_threads}
        assert fm.median_absolute_error(y_true, y_pred, **options).tolist() == expected.tolist()
        y_bad = y_true.copy()
        y_bad[150, 17] = np.nan
        with pytest.raises(ValueError, match="y_true has NaN at row 150, column 17"):
            fm.median_absolute_error(y_bad, y_pred, **options)


@st.composite
def many_values(draw):
    n = draw(st.integers(1000, 3000))
    rng = np.random.default_rng(draw(st.integers(0, 1 << 30)))
    kind = draw(st.sampled_from(["random", "ties", "sorted", "reversed", "constant", "two", "skewed"]))
    values = {
        "random": lambda: rng.random(n),
        "ties": lambda: rng.integers(0, 9, n).astype(float),
        "sorted": lambda: np.sort(rng.random(n)),
        "reversed": lambda: np.sort(rng.random(n))[::-1].copy(),
        "constant": lambda: np.full(n, 2.5),
        "two": lambda: rng.integers(0, 2, n).astype(float),
        "skewed": lambda: np.where(np.arange(n) % 31 == 0, 1e9, rng.random(n)),
    }[kind]()
    return values, draw(st.one_of(st.sampled_from([0, n // 2, n - 1]), st.integers(0, n - 1)))


@given(many_values(), st.booleans())
def test_values_of_a_rank(case, with_next):
    values, rank = case
    out, scratch = np.empty((1, 2)), np.empty((2, values.shape[0]))
    before = values.copy()
    selection.middles(values[None], rank, with_next, scratch, out)
    ordered = np.sort(values)
    following = ordered[min(rank + 1, values.shape[0] - 1)] if with_next else ordered[rank]
    assert out.tolist() == [[ordered[rank], following]]
    assert (values == before).all()


@given(st.lists(st.tuples(st.floats(-1.7e308, 1.7e308), st.floats(-1.7e308, 1.7e308)), min_size=1, max_size=20))
def test_midpoints(pairs):
    assert midpoints(np.array(pairs)).tolist() == [midpoint(list(pair)) for pair in pairs]
