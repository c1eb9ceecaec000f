"""Values against values: every function, weighted, with several outputs, with every option of scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.cases import each_case
from support.parity import strategies
from support.parity.cases import REGRESSION, Call, ours, present, run
from support.parity.differences import check, exact_in_float64

SINGLE = ["max_error", "mean_gamma_deviance", "mean_poisson_deviance", "mean_tweedie_deviance", "d2_tweedie_score"]
VARIANCE = ["explained_variance_score", "r2_score"]
POSITIVE = ["mean_gamma_deviance", "mean_poisson_deviance", "mean_squared_log_error", "root_mean_squared_log_error"]
POWERS = [0, 0.0, 1, 1.5, 2, 3, 2.5, -1, -0.5, np.float64(1.5)]
KINDS = ["float64", "float64", "float64", "list", "int64", "int32", "uint8", "bool", "float32", "float16"]


def positive_only(name, options):
    power = options.get("power", 0)
    return name in POSITIVE or (name in ("mean_tweedie_deviance", "d2_tweedie_score") and power != 0)


@st.composite
def values_twice(draw, positive, single):
    """(y_true, y_pred): of one or two dimensions, each of its own kind; ties, constants and equal columns happen."""
    size = draw(st.sampled_from(strategies.SIZES))
    outputs = draw(st.sampled_from([None] * 12 + [1, 1, 1, 2] if single else [None, None, None, 1, 2, 3]))
    shape = (size,) if outputs is None else (size, outputs)
    low, high = (0.25, 9.0) if positive else (-9.0, 9.0)
    levels = draw(st.sampled_from([None, None, 2, 6]))
    columns = []
    for _ in range(2):
        values = strategies.floats_between(draw, low, high, int(np.prod(shape)), levels).reshape(shape)
        kind = draw(st.sampled_from(KINDS))
        if kind == "list":
            columns.append(values.tolist())
        elif kind.startswith("float"):
            columns.append(values.astype(kind))
        else:
            columns.append(np.abs(np.round(values + 0.5)).astype(kind))
    event = draw(st.integers(0, 11))
    if event == 0:
        columns[1] = columns[0]
    elif event == 1:
        columns[0] = np.full(shape, 2.0)
    return *columns, shape


def options_for(draw, name, shape):
    outputs = shape[1] if len(shape) == 2 else 1
    choices = {}
    if name not in SINGLE:
        kinds = ["uniform_average", "raw_values", *(["variance_weighted"] if name in VARIANCE else [])]
        custom = [[0.25, 0.5, 0.25][:outputs], np.arange(outputs) + 1, [1.0] * outputs]
        choices["multioutput"] = st.sampled_from([*kinds, *(custom if outputs > 1 else kinds)])
    if name in VARIANCE:
        choices["force_finite"] = st.booleans()
    if "pinball" in name:
        choices["alpha"] = st.sampled_from([0, 1, 0.5, 0.1, 0.75, np.float64(0.3)])
    if "tweedie" in name:
        choices["power"] = st.sampled_from(POWERS)
    if name != "max_error":
        choices["sample_weight"] = strategies.weights(shape[0])
    return {option: draw(choice) for option, choice in choices.items() if draw(st.booleans())}


@pytest.mark.parametrize("name", present(REGRESSION))
@given(data=st.data())
def test_values_of_any_kind_with_any_option(name, data):
    positive = data.draw(st.booleans())
    y_true, y_pred, shape = data.draw(values_twice(positive, name in SINGLE))
    options = options_for(data.draw, name, shape)
    if not positive and positive_only(name, options) and data.draw(st.integers(0, 9)):
        y_true, y_pred = np.abs(np.asarray(y_true)), np.abs(np.asarray(y_pred))
    check(name, y_true, y_pred, **options)


@pytest.mark.parametrize("name", present(REGRESSION))
def test_many_rows(name):
    rng = np.random.default_rng(5)
    y_true = rng.gamma(2.0, size=20_000) + 0.01
    y_pred = y_true * rng.gamma(20.0, 1 / 20, size=20_000)
    check(name, y_true, y_pred)
    if name != "max_error":
        check(name, y_true, y_pred, sample_weight=rng.random(20_000))
        check(name, y_true, y_pred, sample_weight=rng.integers(0, 4, 20_000))
    if name not in SINGLE:
        check(name, y_true.reshape(-1, 4), y_pred.reshape(-1, 4), multioutput="raw_values")


@pytest.mark.parametrize("name", present(REGRESSION))
@each_case("dtype", ["float16", "float32"])
def test_narrow_floats_are_computed_in_float64(name, dtype):
    """Not in their own type, as there: the result is that of the same numbers in float64, to the last digits."""
    rng = np.random.default_rng(17)
    y_true = rng.gamma(2.0, size=300).astype(dtype) + np.dtype(dtype).type(0.5)
    call = Call(name, (y_true, (y_true * rng.gamma(20.0, 1 / 20, size=300)).astype(dtype)), {})
    mine = run(ours(name), call)
    assert exact_in_float64(call, mine, mine)


@pytest.mark.parametrize("name", present(VARIANCE))
@each_case("force_finite", [True, False])
@each_case("multioutput", ["uniform_average", "raw_values", "variance_weighted"])
def test_constant_targets(name, force_finite, multioutput):
    """0/0 and x/0 of every kind: perfect, wrong, and both beside a column that varies."""
    options = {"force_finite": force_finite, "multioutput": multioutput}
    constant, varied = np.full(4, 3.0), np.array([1.0, 2.0, 4.0, 3.0])
    check(name, constant, constant, **options)
    check(name, constant, varied, **options)
    both = np.column_stack([constant, varied, constant])
    check(name, both, np.column_stack([constant, varied + 0.5, varied]), **options)
    check(name, both, both, **options)
    check(name, np.column_stack([constant, constant]), np.column_stack([varied, constant]), **options)


@pytest.mark.parametrize("name", present(["r2_score"]))
def test_multioutput_none(name):
    check(name, [[1.0, 2.0], [3.0, 5.0]], [[1.5, 2.0], [3.0, 4.0]], multioutput=None)


@pytest.mark.parametrize("name", present(REGRESSION))
def test_one_row(name):
    check(name, [2.0], [3.0])
    check(name, [2.0], [2.0])
    check(name, [[2.0, 1.0]], [[2.0, 3.0]])
