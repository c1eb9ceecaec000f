"""Deviances of the Tweedie family: the oracle, scikit-learn, where they are not defined, and the engine."""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from oracles import regression as oracle
from support.cases import assert_raises, assert_undefined, each_case
from support.peers import check_parity

POWERS = [-2, -1.5, -1, -0.5, 0, 1, 1.2, 1.5, 1.9, 2, 2.5, 3, 4]
NAMES = {1: "mean_poisson_deviance", 2: "mean_gamma_deviance"}



@st.composite
def cases(draw, min_size=1):
    """(y_true, y_pred, weights or None, power): numbers for which the power is defined."""
    power = draw(st.sampled_from(POWERS))
    rows = draw(st.integers(min_size, 25))
    positive = st.floats(1e-3, 1e3).map(lambda value: float(f"{value:.3g}"))
    target = positive
    if power < 2:
        target = st.one_of(st.just(0.0), positive)
    if power <= 0:
        target = st.floats(-1e3, 1e3)
    y_true = np.array(draw(st.lists(target, min_size=rows, max_size=rows)))
    y_pred = np.array(draw(st.lists(positive, min_size=rows, max_size=rows)))
    weights = None
    if draw(st.booleans()):
        weights = np.array(draw(st.lists(st.floats(1e-3, 1e3), min_size=rows, max_size=rows)))
    return y_true, y_pred, weights, power


def size_of_terms(y_true, y_pred, power):
    """The size of the summands of a term, which may cancel. Rounding errors are relative to it."""
    y, p = np.abs(y_true), y_pred
    return float(np.max(2 * (y ** (2 - power) * (y > 0) + y * p ** (1 - power) + p ** (2 - power) + 1))) * 20


@given(case=cases())
def test_is_the_oracle(case):
    """To the accuracy of a logarithm or a power; squares are exact."""
    y_true, y_pred, weights, power = case
    own = None if weights is None else weights.tolist()
    expected = oracle.mean(oracle.tweedie(power), y_true.tolist(), y_pred.tolist(), own)
    value = fm.mean_tweedie_deviance(y_true, y_pred, sample_weight=weights, power=power)
    assert type(value) is float
    if power == 0:
        assert value == expected == fm.mean_squared_error(y_true, y_pred, sample_weight=weights)
    with np.errstate(divide="ignore"):
        within = 1e-15 * np.nan_to_num(size_of_terms(y_true, y_pred, power))
    assert math.isclose(value, expected, rel_tol=1e-14, abs_tol=within)
    if power in NAMES:
        assert getattr(fm, NAMES[power])(y_true, y_pred, sample_weight=weights) == value




@each_case("power", POWERS)
@each_case("rows", [1, 15, 17, 100, 2049, 40_000, 150_001])
def test_the_short_path_has_the_bits_of_the_general_path(rows, power):
    generator = np.random.default_rng(rows)
    y_true, y_pred = generator.gamma(1.0, 3.0, (2, rows)) + 1e-3
    values = {fm.mean_tweedie_deviance(y_true, y_pred, power=power, n_threads=threads) for threads in (None, 1, 2, 3)}
    assert len(values) == 1
    order = generator.permutation(rows)
    assert fm.mean_tweedie_deviance(y_true[order], y_pred[order], power=power) in values


@each_case("power", [-5, -1, 1.2, 1.5, 1.9, 2.5, 3, 4, 9.5, 40])
def test_a_row_does_not_depend_on_its_neighbors(power):
    """Rows near the ends of the range, zeros and usual rows have other powers: one row alone has the same bits."""
    generator = np.random.default_rng(7)
    exponents = generator.choice([0, 2, -2, 150, -150, 320, -320], (2, 700)) / max(1, abs(1 - power), abs(2 - power))
    y_true, y_pred = generator.gamma(1.0, 3.0, (2, 700)) * np.exp2(exponents * 1.5)
    if power < 2:
        y_true[::7] = 0
    alone = [fm.mean_tweedie_deviance(y_true[i : i + 1], y_pred[i : i + 1], power=power) for i in range(700)]
    assert math.isfinite(max(alone))
    assert fm.mean_tweedie_deviance(y_true, y_pred, power=power) == float(sum(map(Fraction, alone)) / 700)
    y_true, y_pred = generator.gamma(1.0, 3.0, (2, 200))
    usual = fm.mean_tweedie_deviance(y_true, y_pred, power=power)
    edge = 400 if power == 1.5 else 999 / max(1, abs(1 - power), abs(2 - power))
    for y, p in [(1.0, 2.0**edge), (1.0, 2.0**-edge)]:
        weights = np.ones(201)
        weights[100] = 0
        columns = (np.insert(y_true, 100, y), np.insert(y_pred, 100, p))
        assert fm.mean_tweedie_deviance(*columns, sample_weight=weights, power=power) == usual


@each_case("power", [-5, -1, -0.25, 1.001, 1.3, 1.7, 1.999, 2.001, 2.6, 3, 4, 9.9])
def test_powers_are_accurate(power):
    """The error of each term is at most 4 units in the last place of its largest summand."""
    generator = np.random.default_rng(8)
    widest = 600 / max(1, abs(1 - power), abs(2 - power))
    with localcontext() as context:
        context.prec = 60
        one, two = Decimal(1.0 - power), Decimal(2.0 - power)
        for width in (0.1, 5, widest):
            for y, p in np.exp(generator.uniform(-width, width, (60, 2))).tolist():
                of_target, of_both, of_prediction = Decimal(y) ** two, Decimal(p) ** one, Decimal(p) ** two
                summands = [2 * of_target / (one * two), -2 * Decimal(y) * of_both / one, 2 * of_prediction / two]
                size = max(map(abs, summands))
                if not 1e-290 < size < 1e290:
                    continue
                found = fm.mean_tweedie_deviance([y], [p], power=power)
                assert abs(Decimal(found) - sum(summands)) <= 4 * size * Decimal(2) ** -53


def test_quotients_that_are_no_normal_numbers():
    """y / p may overflow or be zero although its logarithm is small; scikit-learn then returns inf or NaN."""
    poisson = {(1e200, 1e-200): 2 * (1e200 * math.log(1e200) - 1e200 * math.log(1e-200) - 1e200 + 1e-200),
               (1e-200, 1e200): 2e200, (5e-324, 1.0): 2.0}  # fmt: skip
    for (y, p), expected in poisson.items():
        assert math.isclose(fm.mean_poisson_deviance([y], [p]), expected, rel_tol=1e-14)
    assert fm.mean_poisson_deviance([0.0, 0.0], [1e300, 5e-324]) == 1e300
    gamma = 2 * (math.log(1e300) - math.log(1e-300) + 0.0 - 1)
    assert math.isclose(fm.mean_gamma_deviance([1e-300], [1e300]), gamma, rel_tol=1e-14)
    assert fm.mean_gamma_deviance([1e300], [1e-300]) == math.inf


OUTSIDE = [
    (-1, [-1.0, 2.0], [1.0, 0.0], "y_pred has 0.0 at row 1: the deviance of power -1 needs positive predictions"),
    (1, [1.0, -0.5], [1.0, 1.0], "y_true has -0.5 at row 1: the deviance of power 1 needs targets of at least 0"),
    (1, [0.0, 0.0], [1.0, 0.0], "y_pred has 0.0 at row 1: the deviance of power 1 needs"),
    (1, [0.0, 0.0], [1.0, -2.0], "y_pred has -2.0 at row 1: the deviance of power 1 needs"),
    (1.5, [1.0, -1.0], [1.0, 1.0], "y_true has -1.0 at row 1: the deviance of power 1.5 needs targets of at least 0"),
    (2, [1.0, 0.0], [1.0, 1.0], "y_true has 0.0 at row 1: the deviance of power 2 needs positive targets"),
    (2, [1.0, 1.0], [1.0, 0.0], "y_pred has 0.0 at row 1: the deviance of power 2 needs positive targets"),
    (3, [1.0, 0.0], [1.0, 1.0], "y_true has 0.0 at row 1: the deviance of power 3 needs positive targets"),
]


@each_case(("power", "y_true", "y_pred", "message"), OUTSIDE)
def test_numbers_without_a_deviance(power, y_true, y_pred, message):
    for name in ["mean_tweedie_deviance", "d2_tweedie_score"]:
        for scale in (1, 40_000):
            columns = (np.array(y_true[:1] * scale + y_true[1:]), np.array(y_pred[:1] * scale + y_pred[1:]))
            found = "^" + message.replace("row 1:", f"row {scale}:")
            assert_raises(ValueError, found, getattr(fm, name), *columns, power=power)
        check_parity(name, y_true, y_pred, power=power)
    if power in NAMES:
        assert_raises(ValueError, f"^{message}", getattr(fm, NAMES[power]), y_true, y_pred, sample_weight=[1.0, 0.0])


@each_case("power", [0.5, 0.999, math.nan, math.inf, -math.inf, "1", None, 1j], ids=repr)
def test_wrong_powers(power):
    for name in ("mean_tweedie_deviance", "d2_tweedie_score"):
        for kind in (ValueError, TypeError):
            assert_raises(kind, "power must be", getattr(fm, name), [1.0, 2.0], [1.0, 2.0], power=power)
        check_parity(name, [1.0, 2.0], [1.0, 2.0], power=power)


def test_several_outputs_are_refused():
    two = np.ones((3, 2))
    for name in ("mean_tweedie_deviance", "mean_poisson_deviance", "mean_gamma_deviance", "d2_tweedie_score"):
        assert_raises(ValueError, f"{name} takes one output; found 2", getattr(fm, name), two, two)


@each_case("power", [0, 1, 2, 3])
def test_constant_targets_have_no_share_explained(power):
    """scikit-learn raises ZeroDivisionError."""
    with pytest.warns(fm.UndefinedMetricWarning, match="d2_tweedie_score is undefined: the mean of the targets"):
        assert math.isnan(fm.d2_tweedie_score([0.5, 0.5], [1.0, 2.0], power=power))
    if power == 1:
        assert_undefined("", fm.d2_tweedie_score, [0.0, 0.0], [1.0, 2.0], power=power)


# --------------------------------------------------------------------------------------------------------- the engine


def engine_log(rows=3000, seed=5):
    generator = np.random.default_rng(seed)
    y = np.round(generator.gamma(1.0, 3.0, rows), 2) + 0.25
    return {
        "y": y,
        "p": (y * np.exp(generator.normal(0, 0.3, rows))).astype(np.float32),
        "w": generator.choice([0.0, 1.0, 2.5], rows),
        "hour": generator.integers(0, 5, rows),
    }





@pytest.mark.parametrize(("metric", "column", "value"), [("poisson_deviance", "y", -1.0), ("gamma_deviance", "y", 0.0),
                                                        ("poisson_deviance", "p", 0.0)])  # fmt: skip
def test_the_engine_names_the_row_of_the_log(metric, column, value):
    log = engine_log()
    log[column][2501] = value
    log["w"][2501] = 1.0
    role = {"y": "label", "p": "score"}[column]
    for options in ({}, {"by": "hour"}, {"weight": "w"}):
        message = f"{role} column '{column}' has {value} at row 2501: the deviance of"
        assert_raises(ValueError, message, fm.evaluate, log, [metric], label="y", score="p", **options)


@pytest.mark.parametrize("power", ["0.5", "x", "None"])
def test_the_engine_refuses_other_powers(power):
    metrics = [f"tweedie_deviance(power={power})"]
    assert_raises(ValueError, "power must be a number", fm.evaluate, engine_log(), metrics, label="y", score="p")
