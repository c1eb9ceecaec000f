"""Errors near the ends of the range of doubles: values up to 1e308, weights from 5e-324 to 1e300."""

import math
from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from oracles import curves
from oracles import regression as oracle
from support.cases import each_case

SOME = st.sampled_from([0.0, 1.0, -2.5, 1e155, -3e160, 1e-170, 5e-324])
WIDE = st.one_of(st.floats(-1e300, 1e300), st.floats(-1e-300, 1e-300), SOME)
WEIGHTS = st.one_of(st.sampled_from([0.0, 5e-324, 1e-310, 1e-170, 1.0, 3.0, 1e300]), st.floats(1e-320, 1e300))
# Function, options, and how the value follows the scale of targets and predictions: by which power of it.
SCALED = [
    ("r2_score", {}, 0), ("explained_variance_score", {}, 0), ("d2_absolute_error_score", {}, 0),
    ("d2_pinball_score", {"alpha": 0.25}, 0), *(("d2_tweedie_score", {"power": p}, 0) for p in (-1, 0, 1, 1.5, 2, 3)),
    ("mean_squared_error", {}, 2), ("root_mean_squared_error", {}, 1), ("mean_absolute_error", {}, 1),
    ("median_absolute_error", {}, 1), ("mean_pinball_loss", {"alpha": 0.25}, 1), ("mean_poisson_deviance", {}, 1),
    ("mean_gamma_deviance", {}, 0), *(("mean_tweedie_deviance", {"power": p}, 2 - p) for p in (-1, 0, 1, 1.5, 2, 3)),
]  # fmt: skip
EXPONENTS = (-1060, -700, -510, -300, 300, 505, 520, 800, 1010)
DECIMALS = Context(prec=60, Emax=10**9, Emin=-(10**9))


@st.composite
def columns(draw, values=WIDE):
    rows = draw(st.integers(2, 9))
    one = st.lists(values, min_size=rows, max_size=rows)
    weights = draw(st.none() | st.lists(WEIGHTS, min_size=rows, max_size=rows).filter(any))
    return draw(one), draw(one), weights


MEANS = {
    "mean_squared_error": (oracle.squared, {}), "mean_absolute_error": (oracle.absolute, {}),
    "mean_absolute_percentage_error": (oracle.percentage, {}),
    "mean_pinball_loss": (oracle.pinball(0.3), {"alpha": 0.3}),
}  # fmt: skip


@pytest.mark.parametrize("name", MEANS)
@given(case=columns())
def test_means(name, case):
    term, options = MEANS[name]
    y_true, y_pred, weights = case
    assert getattr(fm, name)(y_true, y_pred, sample_weight=weights, **options) == oracle.mean(term, *case)


@given(case=columns())
def test_shares_explained(case):
    y_true, y_pred, weights = case
    assert fm.r2_score(y_true, y_pred, sample_weight=weights) == oracle.r2(*case)
    expected = oracle.d2_pinball(y_true, y_pred, 0.3, weights)
    assert fm.d2_pinball_score(y_true, y_pred, sample_weight=weights, alpha=0.3) == expected


@given(case=columns())
def test_the_root_of_the_mean(case):
    y_true, y_pred, weights = case
    terms = oracle.sum_of_terms(oracle.squared, y_true, y_pred, weights)
    mean = terms / oracle.total(map(oracle.Fraction, oracle.weights_of(weights, len(y_true))))
    expected = float(DECIMALS.sqrt(DECIMALS.divide(Decimal(mean.numerator), Decimal(mean.denominator))))
    found = fm.root_mean_squared_error(y_true, y_pred, sample_weight=weights)
    assert math.isclose(found, expected, rel_tol=1e-15, abs_tol=5e-324)


def deviance(y, p, power):
    """The deviance of a row with 60 digits and exponents of any size."""
    d = DECIMALS
    y, p, power = Decimal(y), Decimal(p), Decimal(power)
    if power == 1:
        product = d.multiply(y, d.ln(d.divide(y, p))) if y else Decimal(0)
        return 2 * d.add(d.subtract(product, y), p)
    if power == 2:
        quotient = d.divide(y, p)
        return 2 * d.subtract(d.subtract(quotient, d.ln(quotient)), Decimal(1))
    one, two = 1 - power, 2 - power
    of_target = d.divide(d.power(y, two) if y > 0 else Decimal(0), one * two)
    of_both = d.divide(d.multiply(y, d.power(p, one)), one)
    return 2 * d.add(d.subtract(of_target, of_both), d.divide(d.power(p, two), two))


POSITIVE = st.one_of(st.floats(1e-300, 1e300), st.sampled_from([5e-324, 1e-310, 1.0, 2.0, 1e155, 1e300]))


@pytest.mark.parametrize("power", [-1.0, -0.5, 1.0, 1.5, 2.0, 3.0, 5.0])
@given(case=columns(POSITIVE))
def test_deviances(power, case):
    """To the accuracy of the powers; a row whose prediction is its target nearly has no deviance."""
    y_true, y_pred, weights = case
    own = [Decimal(weight) for weight in weights or [1.0] * len(y_true)]
    lost = [deviance(y, p, power) for y, p in zip(y_true, y_pred, strict=True)]
    size = [
        max(DECIMALS.power(Decimal(value), Decimal(2 - power)) for value in row)
        for row in zip(y_true, y_pred, strict=True)
    ]
    mean, largest = (
        DECIMALS.divide(sum((DECIMALS.multiply(w, v) for w, v in zip(own, values, strict=True)), Decimal(0)), sum(own))
        for values in (lost, size)
    )
    found = fm.mean_tweedie_deviance(y_true, y_pred, sample_weight=weights, power=power)
    tolerance = max(Decimal("1e-11") * abs(mean), Decimal("1e-13") * largest, Decimal("1e-323"))
    assert abs(DECIMALS.subtract(Decimal(found), mean)) <= tolerance or found == float(mean) == math.inf


@pytest.mark.parametrize("unit", [-1070, -1030, -600])
def test_negative_targets_with_small_weights(unit):
    """The mean of negative targets is found first; its sum is negative, and its products may underflow."""
    y_true, y_pred, weights = [-1.25, -3.0, -0.3, -7.0], [-1.0, -2.5, -1.0, -6.0], [1.0, 3.0, 2.0, 1.0]
    value = fm.d2_tweedie_score(y_true, y_pred, sample_weight=weights)
    found = fm.d2_tweedie_score(y_true, y_pred, sample_weight=np.ldexp(weights, unit))
    assert math.isclose(found, value, rel_tol=1e-14)


@each_case(("name", "options", "degree"), SCALED)
def test_scaling_by_powers_of_two(name, options, degree):
    """The same targets in another unit, and weights in another unit, have the value that follows from it."""
    rng = np.random.default_rng(3)
    for rows in (5, 700):
        y_true, y_pred, weights = (rng.integers(1, 60, rows) / 4 for _ in range(3))
        function = getattr(fm, name)
        for weight in (None, weights):
            value = function(y_true, y_pred, sample_weight=weight, **options)
            for exponent in EXPONENTS:
                scaled = np.ldexp(y_true, exponent), np.ldexp(y_pred, exponent)
                expected = value * (math.sqrt(2) if exponent * degree % 1 else 1.0)
                power = math.floor(exponent * degree)
                with np.errstate(over="ignore"):
                    expected = float(np.ldexp(expected, power))
                for unit in (0,) if weight is None else (-1060, -600, 0, 500, 980):
                    own = None if weight is None else np.ldexp(weight, unit)
                    found = function(*scaled, sample_weight=own, **options)
                    assert math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-322), (rows, exponent, unit)


@pytest.mark.parametrize("scale", [1e155, 1e300, 1e-170, 1e-300])
def test_logs_at_the_ends_of_the_range_have_the_value_or_a_reason(scale):
    y_true, y_pred = np.array([1.0, 2, 3, 4]), np.array([1.5, 2, 2, 4])
    log = {"y": y_true * scale, "p": y_pred * scale}
    report = fm.evaluate(log, ["r2", "mse", "rmse", "mae", "explained_variance"], label="y", score="p")
    for result in report:
        value = getattr(fm, FUNCTION_OF[result.metric])(log["y"], log["p"])
        assert math.isnan(result.value) if result.reason else result.value == value, result
    assert {result.metric for result in report if result.reason} == {"r2", "mse", "rmse"}


def test_a_square_beyond_float64_is_no_mean():
    """The mean of the squares is 4e302, but one of them is no float64."""
    log = {"y": np.r_[2e154, np.zeros(999_999)], "p": np.zeros(1_000_000)}
    report = fm.evaluate(log, ["mse", "rmse", "mae"], label="y", score="p")
    assert [result.value for result in report] == pytest.approx([math.nan, math.nan, 2e148], nan_ok=True)
    assert "its square" in report.result("rmse").reason


FUNCTION_OF = {
    "r2": "r2_score", "mse": "mean_squared_error", "rmse": "root_mean_squared_error", "mae": "mean_absolute_error",
    "explained_variance": "explained_variance_score",
}  # fmt: skip


def test_perfect_predictions_of_tiny_targets_have_no_error():
    log = {"y": np.array([1.0, 2, 3, 4]) * 1e-300, "p": np.array([1.0, 2, 3, 4]) * 1e-300}
    report = fm.evaluate(log, ["rmse", "mse", "msle"], label="y", score="p")
    assert [result.value for result in report] == [0.0, 0.0, 0.0]


def test_tiny_weights_of_a_log_have_the_value_or_a_reason():
    """Weights are multiplied by powers of two. Sums of weights alone have no rounding error."""
    random = np.random.default_rng(0)
    weights = random.integers(1, 9, 200).astype(float)
    log = {"y": random.integers(0, 2, 200), "p": random.random(200), "g": np.arange(200) // 10}
    metrics = ["logloss", "brier", "ne", "copc", "pcoc", "bias", "ece", "mse", "rmse", "mae", "r2", "auc", "gauc", "ks"]
    plain = fm.evaluate(log | {"w": weights}, metrics, label="y", score="p", weight="w", group="g")
    for exponent in (-880, -1000, -1060, 990):
        report = fm.evaluate(
            log | {"w": np.ldexp(weights, exponent)}, metrics, label="y", score="p", weight="w", group="g"
        )
        assert all(one.reason or one.value == expected.value for one, expected in zip(report, plain, strict=True))
        with_reason = [one.metric for one in report if one.reason]
        assert with_reason == (metrics[:-3] if exponent in (-1000, -1060) else [])


# Weights that are 1 to 60 times the least double, and weights above and below those that are multiplied.
TINY = st.one_of(st.integers(1, 60).map(lambda n: n * 5e-324), st.floats(1e-310, 1e-290), st.floats(1e-155, 1e-145))
SHARES = ["ap", "d2_absolute_error", "d2_pinball(alpha=0.3)", "d2_tweedie", "d2_tweedie(power=1)"]


@st.composite
def tiny_logs(draw, of_negatives=TINY):
    labels = draw(st.lists(st.integers(0, 1), min_size=2, max_size=9).filter(lambda own: len(set(own)) == 2))
    scores = draw(st.lists(st.sampled_from([0.25, 0.5, 1.0, 3.0]), min_size=len(labels), max_size=len(labels)))
    return {"y": labels, "p": scores, "w": [draw(TINY if label else of_negatives) for label in labels]}


def evaluated(log, metric, **options):
    return fm.evaluate(log, [metric], label="y", score="p", weight="w", **options)[metric]


@given(tiny_logs() | tiny_logs(st.sampled_from([2.0, 1e-150, 1e290])))
def test_average_precision_of_logs_with_tiny_weights(log):
    expected = curves.average_precision(log["y"], log["p"], list(map(Fraction, log["w"])))
    assert evaluated(log, "ap") == pytest.approx(float(expected), rel=1e-14, abs=1e-300)


@given(tiny_logs())
def test_shares_of_logs_with_tiny_weights(log):
    labels, weights = log["y"], list(map(Fraction, log["w"]))
    mean = sum(map(Fraction.__mul__, weights, map(Fraction, labels))) / sum(weights)
    middle = [oracle.quantile(labels, Fraction(alpha), log["w"]) for alpha in (0.5, 0.3)]
    expected = [
        share_of_loss(oracle.pinball(0.5), log, middle[0], weights),
        share_of_loss(oracle.pinball(0.3), log, middle[1], weights),
        *(share_of_loss(oracle.tweedie(power), log, float(mean), weights) for power in (0, 1)),
    ]
    found = [evaluated(log, metric) for metric in SHARES[1:]]
    assert found == pytest.approx(expected, rel=1e-11)


def share_of_loss(term, log, constant, weights):
    """1 - loss / loss of a constant; products with weights are not rounded."""
    lost, whole = (
        sum(weight * Fraction(term(y, p)) for y, p, weight in zip(log["y"], predictions, weights, strict=True))
        for predictions in (log["p"], [constant] * len(weights))
    )
    return oracle.explained_fraction(lost, whole)


@pytest.mark.parametrize("memory_limit", [None, "24MiB"])
def test_shares_follow_no_unit_of_the_weights(memory_limit):
    """Many ranges of scores, one of them a large tie; in memory and spilled; and intervals."""
    random = np.random.default_rng(1)
    rows = 300_000
    scores = np.where(random.random(rows) < 0.4, 0.5, random.random(rows) + 0.01)
    log = {"y": random.integers(0, 2, rows), "p": scores, "g": np.arange(rows) // 100}
    weights = random.integers(1, 60, rows).astype(float)
    options = {"label": "y", "score": "p", "weight": "w", "memory_limit": memory_limit}
    plain = fm.evaluate(log | {"w": weights}, SHARES, **options)
    for exponent in (-510, -900, -1074):
        found = fm.evaluate(log | {"w": np.ldexp(weights, exponent)}, SHARES, **options)
        assert [one.value for one in found] == [one.value for one in plain]


def test_intervals_of_shares_follow_no_unit_of_the_weights():
    random = np.random.default_rng(2)
    log = {"y": random.integers(0, 2, 400), "p": random.random(400).round(2) + 0.01, "g": np.arange(400) // 10}
    weights = random.integers(1, 60, 400).astype(float)
    options = {"label": "y", "score": "p", "weight": "w", "ci": 0.9, "unit": "g", "replicates": 20}
    plain, tiny = (
        fm.evaluate(log | {"w": np.ldexp(weights, exponent)}, SHARES, **options) for exponent in (0, -1074)
    )
    assert [(one.value, one.interval) for one in plain] == [(one.value, one.interval) for one in tiny]
