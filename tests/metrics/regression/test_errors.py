"""Errors, R^2, explained variance and D2: against oracles and scikit-learn, also with extreme numbers."""

import itertools
import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics.metrics.regression import error_totals, numeric_targets
from oracles import regression as oracle
from support.cases import assert_raises, assert_undefined, each_case
from support.peers import scikit_learn
from support.regression_cases import D2, MEANS, VARIANCE_SCORES, WITH_OUTPUTS, call_silently, columns, is_same, outputs

r2_module = sys.modules[fm.r2_score.__module__]


DTYPES = ["float64", "float32", "float16", "int8", "int32", "int64", "uint8", "uint64", "bool"]
ANY_SIZE = st.floats(allow_nan=False, allow_infinity=False)


def to_lists(case):
    return [None if column is None else column.tolist() for column in case]


# ---------------------------------------------------------------------------------------------------- the oracle, ==


@pytest.mark.parametrize("name", MEANS)
@given(case=st.one_of(columns(), columns(ANY_SIZE)))
def test_means_are_the_oracle(name, case):
    y_true, y_pred, weights = case
    value = getattr(fm, name)(y_true, y_pred, sample_weight=weights)
    assert type(value) is float
    assert value == oracle.mean(MEANS[name], *to_lists(case))


@given(case=columns(st.floats(-1e150, 1e150)))
def test_root_of_the_mean(case):
    y_true, y_pred, weights = case
    expected = math.sqrt(oracle.mean(oracle.squared, *to_lists(case)))
    assert fm.root_mean_squared_error(y_true, y_pred, sample_weight=weights) == expected


@given(case=columns(), alpha=st.one_of(st.floats(0, 1), st.sampled_from([0, 1, 0.5, 0.1])))
def test_pinball_is_the_oracle(case, alpha):
    y_true, y_pred, weights = case
    expected = oracle.mean(oracle.pinball(alpha), *to_lists(case))
    assert fm.mean_pinball_loss(y_true, y_pred, sample_weight=weights, alpha=alpha) == expected


@given(case=columns(st.floats(-0.999, 1e9)))
def test_logarithmic_errors_are_the_oracle(case):
    """Equal to the accuracy of a logarithm: below one unit in the last place, here and in the C library."""
    y_true, y_pred, weights = case
    expected = oracle.mean(oracle.squared_log, *to_lists(case))
    value = fm.mean_squared_log_error(y_true, y_pred, sample_weight=weights)
    largest = max(abs(math.log1p(y)) for y in [*y_true.tolist(), *y_pred.tolist()])
    assert math.isclose(value, expected, rel_tol=1e-13, abs_tol=1e-14 * largest * math.sqrt(expected) + 1e-300)
    assert fm.root_mean_squared_log_error(y_true, y_pred, sample_weight=weights) == math.sqrt(value)


def test_the_logarithm_of_one_plus_x_at_its_edges():
    for y in [-1 + 2.0**-53, -0.5, -1e-300, 5e-324, 1e-17, 0.3, 1.0, 2.0**52, 2.0**53, 2.0**54 + 4, 1e300, 1.7e308]:
        for p in [0.0, 1e-9]:
            expected = (math.log1p(y) - math.log1p(p)) ** 2
            assert math.isclose(fm.mean_squared_log_error([y], [p]), expected, rel_tol=2e-15, abs_tol=1e-320)


EXTREMES = st.sampled_from([0.0, -0.0, 5e-324, -3e-310, 1e-200, -1e-160, 1e-90, 1.0, -3.0, 1e90, 1e160, -1e300])
FAR_FROM_ZERO = st.floats(1e8, 1e8 + 1)


@given(case=st.one_of(columns(), columns(EXTREMES), columns(st.floats(-1e308, 1e308)), columns(FAR_FROM_ZERO)))
def test_explained_variance_is_the_oracle(case):
    """Also if squares overflow, or are zero in float64."""
    y_true, y_pred, weights = case
    for force_finite in (True, False):
        expected = oracle.explained_variance(*to_lists(case), force_finite)
        value = fm.explained_variance_score(y_true, y_pred, sample_weight=weights, force_finite=force_finite)
        assert is_same(value, expected)


@given(case=st.one_of(columns(), columns(st.floats(-1e150, 1e150)), columns(FAR_FROM_ZERO)))
def test_r2_is_the_oracle(case):
    y_true, y_pred, weights = case
    for force_finite in (True, False):
        value = call_silently(fm, "r2_score", y_true, y_pred, sample_weight=weights, force_finite=force_finite)
        expected = oracle.r2(*to_lists(case), force_finite) if len(y_true) > 1 else math.nan
        assert is_same(value, expected)


@given(case=columns(), alpha=st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]))
def test_shares_of_the_pinball_loss_are_the_oracle(case, alpha):
    """Weights are integers here, because sums of other weights are rounded before the quantile (see below)."""
    y_true, y_pred, weights = case
    weights = None if weights is None else np.ceil(weights)
    own = [*to_lists(case)[:2], None if weights is None else weights.tolist()]
    for name, share, options in (("d2_pinball_score", alpha, {"alpha": alpha}), ("d2_absolute_error_score", 0.5, {})):
        value = call_silently(fm, name, y_true, y_pred, sample_weight=weights, **options)
        expected = oracle.d2_pinball(own[0], own[1], share, own[2]) if len(y_true) > 1 else math.nan
        assert is_same(value, expected)


@given(case=columns(ANY_SIZE))
def test_median_and_greatest_are_the_oracle(case):
    y_true, y_pred, weights = case
    sizes = [abs(y - p) for y, p in zip(y_true.tolist(), y_pred.tolist(), strict=True)]
    assert fm.max_error(y_true, y_pred) == max(sizes)
    if weights is not None:
        weights = np.ceil(weights)
    if all(map(math.isfinite, sizes)):
        own = None if weights is None else weights.tolist()
        expected = oracle.median_absolute(y_true.tolist(), y_pred.tolist(), own)
        assert fm.median_absolute_error(y_true, y_pred, sample_weight=weights) == expected


# --------------------------------------------------------------------------------------------------- scikit-learn


@given(case=columns(st.floats(-100, 100), weighted=True))
def test_median_with_real_weights_is_scikit_learn(case):
    y_true, y_pred, weights = case
    sizes = np.abs(y_true - y_pred)
    if len(np.unique(sizes)) < len(sizes):
        return  # scikit-learn adds the weights of ties in no fixed order
    expected = call_silently(scikit_learn(), "median_absolute_error", y_true, y_pred, sample_weight=weights)
    assert fm.median_absolute_error(y_true, y_pred, sample_weight=weights) == expected


def test_targets_of_zero_in_half_precision():
    """scikit-learn's quotient overflows in float16; here a target of zero counts as the smallest step above 1."""
    case = np.array([0.0, 2.0], np.float16), np.array([1.0, 3.0], np.float16)
    assert fm.mean_absolute_percentage_error(*case) == (1 / np.finfo(np.float64).eps + 0.5) / 2


@pytest.mark.parametrize("name", WITH_OUTPUTS)
def test_the_type_of_raw_values_is_that_of_scikit_learn(name):
    options = {"multioutput": "raw_values"}
    for pair in itertools.product(DTYPES, repeat=2):
        case = [np.array(values, dtype) for values, dtype in zip(([1, 0, 1], [1, 1, 0]), pair, strict=True)]
        # scikit-learn's median does not subtract two columns of bool.
        if (name, pair) != ("median_absolute_error", ("bool", "bool")) and "float16" not in pair:
            theirs = call_silently(scikit_learn(), name, *case, **options)
            assert getattr(fm, name)(*case, **options).dtype == theirs.dtype, pair


def test_differences_of_unsigned_integers():
    """scikit-learn wraps around: 3 - 4 is 255 in uint8."""
    case = np.array([4, 4], np.uint8), np.array([3, 3], np.uint8)
    assert fm.median_absolute_error(*case) == fm.max_error(*case) == 1.0
    assert call_silently(scikit_learn(), "median_absolute_error", *case) == 255.0


def test_median_at_half_of_decimal_weights():
    """0.1 + 0.2 is 0.3 to within a rounding error: half of the weight is reached, as scikit-learn finds too."""
    case = [1.0, 2.0, 3.0], [0.0, 0.0, 0.0]
    weights = [0.1, 0.2, 0.3]
    assert fm.median_absolute_error(*case, sample_weight=weights) == 2.5
    assert call_silently(scikit_learn(), "median_absolute_error", *case, sample_weight=weights) == 2.5


def test_median_of_ties_whose_weights_round():
    """Sums of the weights of equal errors are rounded in one order, whatever that of the rows."""
    sizes, weights = [1.0, 1.0, 1.0, 1.0, 2.0], [0.7, 0.4, 0.30000000000000004, 1.0, 2.4000000000000004]
    values = set()
    for order in itertools.permutations(range(5)):
        own = [weights[row] for row in order]
        values.add(fm.median_absolute_error([sizes[row] for row in order], [0.0] * 5, sample_weight=own))
    assert len(values) == 1


def test_median_of_scaled_weights():
    """scikit-learn compares sums of weights to within 2**-52 whatever their scale: small ones are always equal."""
    case = [1.0, 2.0, 3.0, 4.0], [0.0] * 4
    weights = np.array([1.0, 1.0, 3.0, 1.0])
    for exponent in (-60, 0, 60):
        assert fm.median_absolute_error(*case, sample_weight=np.ldexp(weights, exponent)) == 3.0
    assert call_silently(scikit_learn(), "median_absolute_error", *case, sample_weight=np.ldexp(weights, -60)) == 3.5


@pytest.mark.parametrize("name", [*VARIANCE_SCORES])
def test_constant_targets_have_no_variance(name):
    """And no rounding error of it. scikit-learn divides by (0.1 - mean of 0.1)^2, about 1e-34."""
    y_true, y_pred = np.full(3, 0.1), np.linspace(0, 1, 3)
    assert getattr(fm, name)(y_true, y_pred) == 0.0
    assert getattr(fm, name)(y_true, y_true) == 1.0
    assert getattr(fm, name)(y_true, y_pred, force_finite=False) == -math.inf
    assert math.isnan(getattr(fm, name)(y_true, y_true, force_finite=False))
    assert call_silently(scikit_learn(), name, y_true, y_pred) < -1e30


def test_a_constant_error_leaves_no_variance():
    """Of one row, or of equal errors; scikit-learn has rounding errors in the weighted mean of one number."""
    assert fm.explained_variance_score([5.0], [3.0], sample_weight=[0.1]) == 1.0
    assert fm.explained_variance_score(np.arange(10.0), np.arange(10.0) + 3) == 1.0


@pytest.mark.parametrize("offset", [1e8, 1e12, 2.0**52])
def test_targets_far_from_zero(offset):
    """Without exact products no digit of the variance would be correct."""
    generator = np.random.default_rng(1)
    y_true = offset + np.round(generator.normal(0, 3, 500))
    y_pred = y_true + generator.integers(-1, 2, 500)
    for own in (None, generator.random(500)):
        case = y_true.tolist(), y_pred.tolist(), None if own is None else own.tolist()
        assert fm.r2_score(y_true, y_pred, sample_weight=own) == oracle.r2(*case)
        assert fm.explained_variance_score(y_true, y_pred, sample_weight=own) == oracle.explained_variance(*case)


def test_products_of_any_size():
    """Products of weights and targets outside the range of float64 and of one accumulator."""
    y_true = [1e-300, -3e-310, 5e-324, 2.0, 1e300, -1.7e308, 0.0, 1e-160]
    y_pred = [0.0, 1e-300, 1.0, 3.0, 1e300, 0.0, -0.0, 2e-160]
    weights = [1e-300, 5e-324, 1e-200, 1.0, 1e-299, 1e-308, 1.0, 1e300]
    assert fm.explained_variance_score(y_true, y_pred, sample_weight=weights) == oracle.explained_variance(
        y_true, y_pred, weights
    )
    tiny = [value * 1e-200 for value in (1.0, 2.0, 5.0)]
    assert fm.explained_variance_score(tiny, tiny) == 1.0
    assert fm.explained_variance_score(tiny, tiny[::-1]) == oracle.explained_variance(tiny, tiny[::-1])


def test_one_row_is_too_few():
    for name in ("r2_score", *D2, "d2_tweedie_score"):
        assert_undefined(f"{name} is undefined: it needs at least two rows", getattr(fm, name), [1.0], [2.0])
        assert math.isnan(call_silently(scikit_learn(), name, [1.0], [2.0]))
        assert_raises(ValueError, "y_pred has NaN at row 0", getattr(fm, name), [1.0], [math.nan])


def test_only_a_result_that_no_double_holds_is_infinite():
    """scikit-learn's root and R^2 are infinite too: it squares the errors as doubles."""
    y_true, y_pred = [1e200, 0.0], [-1e200, 0.0]
    assert fm.mean_squared_error(y_true, y_pred) == math.inf
    assert call_silently(scikit_learn(), "mean_squared_error", y_true, y_pred) == math.inf
    assert math.isclose(fm.root_mean_squared_error(y_true, y_pred), math.sqrt(2) * 1e200, rel_tol=1e-15)
    assert fm.mean_squared_error(y_true, y_pred, sample_weight=[0.0, 1.0]) == 0.0
    assert fm.r2_score(y_true, y_pred) == -7.0
    assert fm.max_error([1.7e308], [-1.7e308]) == math.inf
    two = np.array([y_true, [1.0, 2.0]]).T, np.array([y_pred, [1.0, 3.0]]).T
    assert fm.mean_squared_error(*two, multioutput="raw_values").tolist() == [math.inf, 0.5]
    assert fm.mean_squared_error(*two) == fm.mean_squared_error(*two, multioutput=[0.5, 0.5]) == math.inf


# -------------------------------------------------------------------------------------------- outputs, types, layouts


@pytest.mark.parametrize("name", WITH_OUTPUTS)
def test_every_output_is_as_if_alone(name):
    y_true, y_pred = outputs()
    function = getattr(fm, name)
    alone = [function(y_true[:, column], y_pred[:, column]) for column in range(3)]
    assert function(y_true, y_pred, multioutput="raw_values").tolist() == alone
    assert math.isclose(function(y_true, y_pred), math.fsum(alone) / 3, rel_tol=1e-15)
    assert math.isclose(function(y_true, y_pred, multioutput=[1, 2, 5]), np.average(alone, weights=[1, 2, 5]))
    assert function(y_true, y_pred, multioutput=np.array([0.0, 1.0, 0.0])) == alone[1]
    for library_function in (function, getattr(scikit_learn(), name)):
        assert_raises(ZeroDivisionError, ".", library_function, y_true, y_pred, multioutput=[1.0, -1.0, 0.0])


@pytest.mark.parametrize("name", MEANS)
def test_the_mean_over_outputs_is_rounded_once(name):
    y_true, y_pred = outputs(7, 3)
    weights = [0.25, 3.0, 0.1]
    sums_of_terms = [oracle.sum_of_terms(MEANS[name], y_true[:, i].tolist(), y_pred[:, i].tolist()) for i in range(3)]
    assert getattr(fm, name)(y_true, y_pred) == float(sum(sums_of_terms) / 21)
    weighted = sum(Fraction(weight) * own for weight, own in zip(weights, sums_of_terms, strict=True))
    assert getattr(fm, name)(y_true, y_pred, multioutput=weights) == float(weighted / (7 * sum(map(Fraction, weights))))


@pytest.mark.parametrize("name", WITH_OUTPUTS)
def test_any_layout_of_outputs(name):
    y_true, y_pred = outputs()
    function = getattr(fm, name)
    expected = function(y_true, y_pred)
    wide = np.zeros((600, 8))
    wide[::2, 1:7:2] = y_true
    layouts = [
        np.asfortranarray(y_true), wide[::2, 1:7:2], y_true[::-1].copy()[::-1], y_true.T.copy().T, y_true.tolist(),
        y_true.astype(">f8"), [tuple(row) for row in y_true.tolist()],
    ]  # fmt: skip
    for layout in layouts:
        assert function(layout, y_pred) == expected
    whole = np.round(y_true).astype(np.int64)
    for dtype in ("int8", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float16", object):
        assert function(whole.astype(dtype), y_pred) == function(whole.astype(np.float64), y_pred), dtype


@pytest.mark.parametrize("seed", range(20))
def test_certain_scores_are_those_of_exact_sums(seed, monkeypatch):
    """Lengths of chunks and tiles and their rests, targets far from zero, weights, types; one output and several."""
    random = np.random.default_rng(seed)
    rows = int(random.choice([2, 7, 8, 255, 257, 2049, 5000]))
    shape = rows if seed % 2 else (rows, int(random.integers(2, 20)))
    y_true = random.normal(size=shape) + 10.0 ** random.integers(-2, 9)
    y_pred = y_true + random.normal(size=shape) * 10.0 ** random.integers(-3, 2)
    weights = random.random(rows) * 10.0 ** random.integers(-20, 20, rows) if seed % 3 else None
    if seed % 5 == 0:
        y_true, y_pred = (np.rint(column).astype(np.int32) for column in (y_true, y_pred))
    for function in (fm.r2_score, fm.explained_variance_score):
        quick = function(y_true, y_pred, sample_weight=weights, multioutput="raw_values")
        with monkeypatch.context() as patch:
            patch.setattr(r2_module, "certain_scores", lambda *arguments: None)
            exact = function(y_true, y_pred, sample_weight=weights, multioutput="raw_values")
        assert np.array_equal(quick, exact, equal_nan=True)


@pytest.mark.parametrize("seed", range(12))
def test_certain_means_are_those_of_exact_sums(seed, monkeypatch):
    """Every kind of term of several outputs: rows of blocks and their rests, more outputs than are read together."""
    random = np.random.default_rng(seed)
    shape = int(random.choice([3, 8, 255, 300, 2049])), int(random.choice([2, 9, 130]))
    y_true = random.random(shape) * 10.0 ** random.integers(-2, 5)
    y_pred = y_true * (1 + random.random(shape))
    y_pred[:, 0] = y_true[:, 0]  # a perfect output
    weights = random.random(shape[0]) * 10.0 ** random.integers(-20, 20, shape[0]) if seed % 2 else None
    types = [np.float64, np.float32, np.int32, np.int64]
    y_true, y_pred = y_true.astype(types[seed % 4]), y_pred.astype(types[seed % 3 and seed % 4])
    if seed % 5 == 0:
        y_true, y_pred = np.asfortranarray(y_true), y_pred[:, ::-1]
    names = [name for name in WITH_OUTPUTS if name not in (*VARIANCE_SCORES, "median_absolute_error")]
    assert len(names) == 9
    for name in names:
        function = getattr(fm, name)
        values = function(y_true, y_pred, multioutput="raw_values", sample_weight=weights)
        columns = zip(np.ascontiguousarray(y_true.T), np.ascontiguousarray(y_pred.T), strict=True)
        expected = [function(y, p, sample_weight=weights) for y, p in columns]
        assert values.tolist() == np.array(expected).astype(values.dtype).tolist(), name
        mean = function(y_true, y_pred, sample_weight=weights)
        with monkeypatch.context() as patch:
            patch.setattr(error_totals.DoubleDoubleTotals, "mean_of_outputs", lambda self: np.nan)
            assert mean == function(y_true, y_pred, sample_weight=weights), name


def test_scores_of_ordinary_columns_are_certain(monkeypatch):
    def refuse(*arguments):
        raise AssertionError("exact sums were needed")

    monkeypatch.setattr(r2_module.moments, "add_moments", refuse)
    random = np.random.default_rng(0)
    y_true = random.random((30_000, 2))
    for own in (y_true, y_true[:, 0], y_true.astype(np.float32)):
        for weights in (None, random.random(30_000)):
            assert fm.r2_score(own, own + 0.1, sample_weight=weights) < 1
            assert fm.explained_variance_score(own, own * 0.9, sample_weight=weights) < 1
    monkeypatch.setattr(numeric_targets.NumericTargets, "error_totals", refuse)
    for name in ("mean_squared_error", "root_mean_squared_log_error", "mean_pinball_loss", "d2_pinball_score"):
        assert getattr(fm, name)(y_true, y_true * 0.9) < 1


@each_case("rows", [5, 2048, 70_000])
@pytest.mark.parametrize("name", ["mean_squared_error", "r2_score", "explained_variance_score", "mean_pinball_loss"])
def test_outputs_over_threads(name, rows):
    y_true, y_pred = outputs(rows, 3, rows)
    for own in (None, np.random.default_rng(1).random(rows)):
        values = [
            getattr(fm, name)(y_true, y_pred, sample_weight=own, multioutput="raw_values", n_threads=threads).tolist()
            for threads in (1, 2, 5, None)
        ]
        assert values.count(values[0]) == 4
        order = np.random.default_rng(2).permutation(rows)
        reordered_weights = None if own is None else own[order]
        again = getattr(fm, name)(
            y_true[order], y_pred[order], sample_weight=reordered_weights, multioutput="raw_values"
        )
        assert again.tolist() == values[0]


def test_a_column_of_one_output_is_one_output():
    y_true, y_pred = outputs(50, 1)
    for name in [*WITH_OUTPUTS, "max_error", "mean_tweedie_deviance", "d2_tweedie_score"]:
        function = getattr(fm, name)
        expected = function(y_true[:, 0], y_pred[:, 0])
        assert function(y_true, y_pred) == function(y_true[:, 0], y_pred) == function(y_true, y_pred[:, 0]) == expected


def test_a_large_sum_of_small_float32():
    """A float32 sum stops growing at 2**24; the exact sum does not, for any order."""
    y_true = np.zeros(300_000, np.float32)
    y_pred = np.full(300_000, 0.1, np.float32)
    y_pred[:7] = 4096.0
    step = float(np.float32(0.1))
    expected = float((7 * Fraction(4096.0) ** 2 + (300_000 - 7) * Fraction(step * step)) / 300_000)
    assert fm.mean_squared_error(y_true, y_pred) == fm.mean_squared_error(y_true, y_pred[::-1]) == expected


def test_wide_ranges_do_not_depend_on_the_order():
    generator = np.random.default_rng(9)
    y_true = np.ldexp(generator.normal(size=50_000), generator.integers(-200, 200, 50_000))
    y_pred = np.ldexp(generator.normal(size=50_000), generator.integers(-200, 200, 50_000))
    weights = generator.random(50_000)
    order = generator.permutation(50_000)
    for name in [*MEANS, *VARIANCE_SCORES, *D2, "median_absolute_error"]:
        for own in (None, weights):
            reordered_weights = None if own is None else own[order]
            value = getattr(fm, name)(y_true, y_pred, sample_weight=own)
            assert getattr(fm, name)(y_true[order], y_pred[order], sample_weight=reordered_weights) == value, name
