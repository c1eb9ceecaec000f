"""Invalid input raises an error that names argument and row; metrics of numbers in the engine."""

import math
import warnings

import numpy as np
import pytest

import fastmetrics as fm
from oracles import regression as oracle
from support.cases import assert_raises, each_case
from support.peers import scikit_learn

VARIANCE_SCORES = ["r2_score", "explained_variance_score"]
LOGARITHMIC = ["mean_squared_log_error", "root_mean_squared_log_error"]
D2 = ["d2_absolute_error_score", "d2_pinball_score"]
WITH_OUTPUTS = ["mean_squared_error", "mean_absolute_error", "mean_absolute_percentage_error", "mean_pinball_loss",
                "root_mean_squared_error", "median_absolute_error", *LOGARITHMIC, *VARIANCE_SCORES, *D2]  # fmt: skip


def peer(name, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(scikit_learn(), name)(*arguments, **options)


def call_without_warnings(name, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fm.UndefinedMetricWarning)
        return getattr(fm, name)(*arguments, **options)


def outputs(rows=300, width=3, seed=0):
    generator = np.random.default_rng(seed)
    y_true = np.abs(generator.normal(2, 1, (rows, width)))
    return y_true, np.abs(y_true + generator.normal(0, 0.3, (rows, width)))


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
        found = "NaN" if math.isnan(value) else str(value)
        for n_threads in (None, 1, 2):
            with pytest.raises(ValueError, match=f"^{argument} has {found} at row {rows - 3}(:|$)"):
                getattr(fm, name)(*columns, n_threads=n_threads)
        if name != "max_error":
            # Also in a row of weight zero.
            weights = np.ones(rows)
            weights[rows - 3] = 0.0
            with pytest.raises(ValueError, match=f"^{argument} has {found} at row {rows - 3}(:|$)"):
                getattr(fm, name)(*columns, sample_weight=weights)
        assert_raises(ValueError, r"infinity|NaN", peer, name, *columns)


@pytest.mark.parametrize("name", WITH_OUTPUTS)
def test_the_output_of_a_bad_number_is_named(name):
    y_true, y_pred = outputs()
    y_pred[[7, 8], [2, 0]] = math.nan
    assert_raises(ValueError, r"^y_pred has NaN at row 7, column 2", getattr(fm, name), y_true, y_pred)


@pytest.mark.parametrize("name", ALL_FUNCTIONS)
def test_integers_that_float64_does_not_hold(name):
    most = 2**53
    assert math.isfinite(call_without_warnings(name, [most, 1, 2], [most - 2, 1, 2]))
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
    with pytest.raises(ValueError):  # noqa: PT011 - of the peer, whose words are its own
        peer(name, y_true, y_pred)


@pytest.mark.parametrize("name", [name for name in ALL_FUNCTIONS if name != "max_error"])
def test_weights_that_are_all_zero(name):
    with pytest.raises(ValueError, match="sample_weight is zero in every row"):
        getattr(fm, name)([1.0, 2.0], [1.0, 2.0], sample_weight=[0.0, 0.0])
    with pytest.raises(ValueError):  # noqa: PT011
        peer(name, [1.0, 2.0], [1.0, 2.0], sample_weight=[0.0, 0.0])


@each_case("bad", ["raw", "variance_weighted", None, 3, [1.0], [1.0, math.nan, 1.0], [[1.0, 2.0, 3.0]]],
                         ids=repr)  # fmt: skip
@pytest.mark.parametrize("name", WITH_OUTPUTS)
def test_wrong_multioutput(name, bad):
    if (bad == "variance_weighted" and name in VARIANCE_SCORES) or (bad is None and name == "r2_score"):
        pytest.skip("is valid here")
    y_true, y_pred = outputs()
    if not (name == "root_mean_squared_error" and isinstance(bad, list)):  # the peer checks nothing there
        with pytest.raises((ValueError, TypeError)):
            peer(name, y_true, y_pred, multioutput=bad)
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
        with pytest.raises(ValueError, match=f"^y_true has {value} at row 1: a logarithmic error needs numbers above"):
            getattr(fm, name)([0.0, value], [0.0, -2.0])
        with pytest.raises(ValueError, match=r"^y_pred has -1.0 at row 2, column 1: a logarithmic"):
            getattr(fm, name)(np.zeros((3, 2)), [[0.0, 0.0], [0.0, 0.0], [0.0, -1.0]])
        assert_raises(ValueError, "cannot be used", peer, name, [0.0, value], [0.0, 0.0])


# --------------------------------------------------------------------------------------------------------- the engine


def test_errors_of_the_engine_name_the_row_of_the_log():
    log = {"y": [1.0, 2.0, 3.0, -2.0], "p": [1.0, 2.0, 3.0, 4.0], "w": [0.0, 1.0, 1.0, 1.0]}
    with pytest.raises(ValueError, match=r"label column 'y' has -2.0 at row 3: a logarithmic error"):
        fm.evaluate(log, ["mse", "msle"], label="y", score="p", weight="w")
    with pytest.raises(ValueError, match=r"score column 'p' has inf at row 2"):
        fm.evaluate({**log, "p": [1.0, 2.0, math.inf, 4.0]}, ["mae"], label="y", score="p", weight="w")


def test_the_engine_has_the_functions_values():
    columns = {"y": [0.5, -2.0, 3.0, 8.0], "p": [1.0, -2.5, 3.5, 6.0], "w": [1.0, 0.5, 2.0, 0.0]}
    log = {name: np.array(column) for name, column in columns.items()}
    report = fm.evaluate(log, ["mse", "rmse", "mae", "mape", "r2", "bias", "pinball(alpha=0.2)"], label="y", score="p",
                         weight="w")  # fmt: skip
    case = (log["y"], log["p"])
    options = {"sample_weight": log["w"]}
    assert report["mse"] == fm.mean_squared_error(*case, **options)
    assert report["rmse"] == fm.root_mean_squared_error(*case, **options)
    assert report["mae"] == fm.mean_absolute_error(*case, **options)
    assert report["mape"] == fm.mean_absolute_percentage_error(*case, **options)
    assert report["r2"] == fm.r2_score(*case, **options)
    assert report["pinball(alpha=0.2)"] == fm.mean_pinball_loss(*case, alpha=0.2, **options)
    assert report["bias"] == oracle.mean(oracle.signed, *(own.tolist() for own in (*case, log["w"])))


def test_undefined_in_the_engine():
    one = fm.evaluate({"y": [1.0], "p": [2.0]}, ["r2", "mse"], label="y", score="p")
    assert math.isnan(one["r2"])
    assert (one["mse"], one.results[0].reason) == (1.0, "it needs at least two rows")
    none = fm.evaluate({"y": [1.0, 2.0], "p": [2.0, 1.0], "w": [0.0, 0.0]}, ["r2", "mse"], label="y", score="p",
                       weight="w")  # fmt: skip
    assert math.isnan(none["r2"])
    assert math.isnan(none["mse"])
