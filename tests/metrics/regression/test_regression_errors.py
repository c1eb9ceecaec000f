"""Invalid input raises an error that names argument and row; metrics of numbers in the engine."""

import math

import numpy as np
import pytest

import fastmetrics as fm
from oracles import regression as oracle
from support.cases import assert_raises, each_case
from support.regression_cases import LOGARITHMIC, VARIANCE_SCORES, WITH_OUTPUTS, call_silently, outputs

# ------------------------------------------------------------------------------------------------------- bad input

ALL_FUNCTIONS = [*WITH_OUTPUTS, "max_error", "mean_tweedie_deviance", "mean_poisson_deviance", "mean_gamma_deviance",
         "d2_tweedie_score"]  # fmt: skip


@each_case("value", [math.inf, -math.inf, math.nan])
@each_case("rows", [10, 80_000])
@pytest.mark.parametrize("name", ALL_FUNCTIONS)
def test_numbers_that_are_not_finite(name, rows, value):
    y_true, y_pred = (column[:, 0] for column in outputs(rows, 1))
    for place, argument in enumerate(("y_true", "y_pred")):
        columns = [y_true.copy(), y_pred.copy()]
        columns[place][[rows - 3, rows - 1]] = value
        message = f"^{argument} has {'NaN' if math.isnan(value) else value} at row {rows - 3}(:|$)"
        for n_threads in (None, 1, 2):
            assert_raises(ValueError, message, getattr(fm, name), *columns, n_threads=n_threads)
        if name != "max_error":
            # Also in a row of weight zero.
            weights = np.ones(rows)
            weights[rows - 3] = 0.0
            assert_raises(ValueError, message, getattr(fm, name), *columns, sample_weight=weights)


@pytest.mark.parametrize("name", WITH_OUTPUTS)
def test_the_output_of_a_bad_number_is_named(name):
    y_true, y_pred = outputs()
    y_pred[[7, 8], [2, 0]] = math.nan
    assert_raises(ValueError, r"^y_pred has NaN at row 7, column 2", getattr(fm, name), y_true, y_pred)


@pytest.mark.parametrize("name", ALL_FUNCTIONS)
def test_integers_that_float64_does_not_hold(name):
    most = 2**53
    assert math.isfinite(call_silently(fm, name, [most, 1, 2], [most - 2, 1, 2]))
    for bad, dtype in ((most + 1, "int64"), (most + 1, "uint64"), (2**64 - 1, "uint64"), (-most - 1, "int64")):
        with pytest.raises(ValueError, match=f"^y_pred has {bad} at row 1: integers beyond"):
            getattr(fm, name)(np.array([1, 2, 3], dtype), np.array([1, bad, 3], dtype))


SHAPES = {
    "rows": (np.ones(3), np.ones(4), "y_true has 3 rows but y_pred has 4"),
    "outputs": (np.ones((3, 2)), np.ones((3, 4)), "y_true has 2 outputs but y_pred has 4"),
    "one and many": (np.ones(3), np.ones((3, 4)), "y_true has 1 outputs but y_pred has 4"),
    "dimensions": (np.ones((3, 2, 2)), np.ones((3, 2, 2)), "y_true must have one dimension, or two; found 3"),
    "no rows": (np.ones(0), np.ones(0), "y_true is empty"),
    "no outputs": (np.ones((3, 0)), np.ones((3, 0)), "y_true has no column"),
    "a number": (1.0, 2.0, "y_true must have one dimension"),
    "lists of different lengths": ([[1, 2], [3]], [[1, 2], [3]], "y_true must have rows of one length"),
}


@each_case("case", SHAPES)
@pytest.mark.parametrize("name", ALL_FUNCTIONS)
def test_shapes_that_do_not_match(name, case):
    y_true, y_pred, message = SHAPES[case]
    assert_raises(ValueError, message, getattr(fm, name), y_true, y_pred)


@pytest.mark.parametrize("name", [name for name in ALL_FUNCTIONS if name != "max_error"])
def test_weights_that_are_all_zero(name):
    message = "sample_weight is zero in every row"
    assert_raises(ValueError, message, getattr(fm, name), [1.0, 2.0], [1.0, 2.0], sample_weight=[0.0, 0.0])


@each_case("bad", ["raw", "variance_weighted", None, 3, [1.0], [1.0, math.nan, 1.0], [[1.0, 2.0, 3.0]]],
                         ids=repr)  # fmt: skip
@pytest.mark.parametrize("name", WITH_OUTPUTS)
def test_wrong_multioutput(name, bad):
    if (bad == "variance_weighted" and name in VARIANCE_SCORES) or (bad is None and name == "r2_score"):
        pytest.skip("is valid here")
    y_true, y_pred = outputs()
    assert_raises(ValueError, "multioutput", getattr(fm, name), y_true, y_pred, multioutput=bad)
    if bad is not None and not isinstance(bad, (str, int)):
        assert_raises(ValueError, "only one output", getattr(fm, name), y_true[:, 0], y_pred[:, 0], multioutput=bad)


def test_wrong_options():
    for kind in (ValueError, TypeError):
        assert_raises(kind, "alpha must be a number", fm.mean_pinball_loss, [1.0], [1.0], alpha=1.5)
        assert_raises(kind, "alpha must be a number", fm.d2_pinball_score, [1.0], [1.0], alpha="0.5")
        assert_raises(kind, "force_finite must be", fm.r2_score, [1.0, 2.0], [1.0, 2.0], force_finite=1)
        assert_raises(kind, "multioutput must be", fm.mean_squared_error, [1.0], [1.0], multioutput="variance_weighted")
    assert_raises(ValueError, r"max_error takes one output; found 2", fm.max_error, np.ones((3, 2)), np.ones((3, 2)))


@pytest.mark.parametrize("value", [-1.0, -7.5])
def test_logarithms_outside_their_domain(value):
    for name in LOGARITHMIC:
        message = f"^y_true has {value} at row 1: a logarithmic error needs numbers above"
        assert_raises(ValueError, message, getattr(fm, name), [0.0, value], [0.0, -2.0])
        message = r"^y_pred has -1.0 at row 2, column 1: a logarithmic"
        assert_raises(ValueError, message, getattr(fm, name), np.zeros((3, 2)), [[0.0, 0.0], [0.0, 0.0], [0.0, -1.0]])


# --------------------------------------------------------------------------------------------------------- the engine


def test_errors_of_the_engine_name_the_row_of_the_log():
    log = {"y": [1.0, 2.0, 3.0, -2.0], "p": [1.0, 2.0, 3.0, 4.0], "w": [0.0, 1.0, 1.0, 1.0]}
    assert_raises(
        ValueError, r"label column 'y' has -2.0 at row 3: a logarithmic error",
        fm.evaluate, log, ["mse", "msle"], label="y", score="p", weight="w",
    )
    assert_raises(
        ValueError, r"score column 'p' has inf at row 2",
        fm.evaluate, {**log, "p": [1.0, 2.0, math.inf, 4.0]}, ["mae"], label="y", score="p", weight="w",
    )


def test_bias_is_the_mean_of_signed_errors():
    """It has no function."""
    log = {"y": [0.5, -2.0, 3.0, 8.0], "p": [1.0, -2.5, 3.5, 6.0], "w": [1.0, 0.5, 2.0, 0.0]}
    report = fm.evaluate(log, ["bias"], label="y", score="p", weight="w")
    assert report["bias"] == oracle.mean(oracle.signed, *log.values())


def test_undefined_in_the_engine():
    one = fm.evaluate({"y": [1.0], "p": [2.0]}, ["r2", "mse"], label="y", score="p")
    assert math.isnan(one["r2"])
    assert (one["mse"], one.results[0].reason) == (1.0, "it needs at least two rows")
    none = fm.evaluate({"y": [1.0, 2.0], "p": [2.0, 1.0], "w": [0.0, 0.0]}, ["r2", "mse"], label="y", score="p",
                       weight="w")  # fmt: skip
    assert math.isnan(none["r2"])
    assert math.isnan(none["mse"])
