"""Negative log-likelihood, from probabilities or log-probabilities, against exact sums."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from oracles import probability
from support import strategies
from support.cases import assert_raises, each_case
from support.peers import pandas

ROUNDINGS = 1e-15


def close(value, expected, rel_tol=ROUNDINGS):
    return math.isclose(value, float(expected), rel_tol=rel_tol, abs_tol=0.0)


@st.composite
def log_probabilities(draw):
    dtype = draw(st.sampled_from(strategies.SCORE_DTYPES))
    width = 32 if dtype == "float32" else 64
    value = st.one_of(
        st.sampled_from([0.0, -0.0, -math.inf, -1e-30]), st.floats(max_value=0.0, allow_nan=False, width=width)
    )
    return np.array(draw(st.lists(value, min_size=1, max_size=40)), dtype=dtype)


@given(log_probabilities(), st.sampled_from(["mean", "sum"]))
def test_of_logarithms_exactly(values, reduction):
    """No logarithm is taken: the sum is exact, and rounded once."""
    expected = probability.negative_log_likelihood(values.tolist(), mean=reduction == "mean")
    assert fm.negative_log_likelihood(values, kind="log_prob", reduction=reduction) == expected


@given(log_probabilities(), st.data())
def test_of_weighted_logarithms(values, data):
    weights = data.draw(strategies.real_weights(len(values)))
    for reduction in ("mean", "sum"):
        expected = probability.negative_log_likelihood(values.tolist(), weights, reduction == "mean")
        if expected is None:
            with pytest.warns(fm.UndefinedMetricWarning, match="every weight is zero"):
                assert math.isnan(fm.negative_log_likelihood(values, kind="log_prob", sample_weight=weights))
        else:
            value = fm.negative_log_likelihood(values, kind="log_prob", reduction=reduction, sample_weight=weights)
            # Products of subnormal doubles have fewer digits, and products of the largest are infinite.
            sizes = [abs(v) for v in values.tolist() if v not in (0.0, -math.inf)] or [1.0]
            if min(sizes) > 1e-290 and max(sizes) < 1e290:
                assert value == expected or close(value, expected, 2 * ROUNDINGS)


@given(strategies.labeled_probabilities(min_size=1, both_classes=False), st.sampled_from([None, "auto", 1e-7, 0.01]))
def test_of_probabilities(case, eps):
    _, y_proba = case
    number = {None: 0.0, "auto": probability.EPSILON[y_proba.dtype.name]}.get(eps, eps)
    logs = [math.log(p) if p else -math.inf for p in [probability.clip(p, number) for p in y_proba.tolist()]]
    value = fm.negative_log_likelihood(y_proba, eps=eps)
    assert value == (expected := probability.negative_log_likelihood(logs)) or close(value, expected)


@given(strategies.labeled_probabilities())
def test_of_positive_rows_it_is_log_loss(case):
    y_true, y_proba = case
    outcome_probabilities = np.where(y_true == 1, y_proba.astype(np.float64), 1.0 - y_proba.astype(np.float64))
    eps = probability.EPSILON[y_proba.dtype.name]
    assert fm.negative_log_likelihood(outcome_probabilities, eps=eps) == fm.log_loss(y_true, y_proba, eps=eps)


@each_case("p", [5e-324, 1e-320, 2.2e-308, 2.2250738585072014e-308, 2.3e-308, 1e-300])
def test_the_least_doubles(p):
    """Subnormal numbers, which the kernel's logarithm cannot take directly."""
    assert close(fm.negative_log_likelihood([p]), -math.log(p))
    assert close(fm.negative_log_likelihood([p, 1.0, p], reduction="sum"), -2 * math.log(p))


def test_an_event_of_probability_zero_is_infinite():
    assert fm.negative_log_likelihood([0.5, 0.0]) == math.inf
    assert fm.negative_log_likelihood([0.5, 0.0], reduction="sum") == math.inf
    assert fm.negative_log_likelihood([-0.5, -math.inf], kind="log_prob") == math.inf
    assert fm.negative_log_likelihood([-0.5, -math.inf], kind="log_prob", sample_weight=[2, 3]) == math.inf
    # A row of weight zero is absent.
    assert fm.negative_log_likelihood([-0.5, -math.inf], kind="log_prob", sample_weight=[2, 0]) == 0.5
    assert fm.negative_log_likelihood([0.0, 1.0], eps="auto") == pytest.approx(-math.log(2.0**-52) / 2, rel=1e-12)


def test_the_clip_is_the_epsilon_of_the_type():
    for dtype, eps in probability.EPSILON.items():
        for container in (np.asarray, pa.array, lambda column: pandas().Series(column)):
            value = fm.negative_log_likelihood(container(np.array([0.0], dtype)), eps="auto")
            assert close(value, -math.log(eps)), (dtype, container)


@pytest.mark.parametrize("kind", ["prob", "log_prob"])
def test_many_events_in_any_order_with_any_threads(kind):
    generator = np.random.default_rng(3)
    values = generator.random(300_001) * (1 if kind == "prob" else -20)
    weights = generator.random(300_001)
    for options in ({}, {"sample_weight": weights}):
        expected = fm.negative_log_likelihood(values, kind=kind, **options)
        for n_threads in (1, 2, 5):
            order = generator.permutation(len(values))
            reordered = {name: column[order] for name, column in options.items()}
            assert fm.negative_log_likelihood(values[order], kind=kind, n_threads=n_threads, **reordered) == expected
    terms = [-math.log(p) for p in values.tolist()] if kind == "prob" else (-values).tolist()
    assert close(fm.negative_log_likelihood(values, kind=kind, reduction="sum"), math.fsum(terms))



@each_case(
    ("values", "options", "message"),
    [
        ([0.5, 1.5], {}, "y_proba has 1.5 at row 1: probabilities must lie between 0 and 1"),
        ([-0.5], {}, "y_proba has -0.5 at row 0"),
        ([0.5, math.nan], {}, "y_proba has NaN at row 1"),
        ([-0.5, 0.25], {"kind": "log_prob"}, "y_proba has 0.25 at row 1: logarithms of probabilities are at most 0"),
        ([-0.5, math.inf], {"kind": "log_prob"}, "y_proba has inf at row 1"),
        ([-0.5, math.nan], {"kind": "log_prob"}, "y_proba has NaN at row 1"),
        ([-0.5, 0.25], {"kind": "log_prob", "sample_weight": [1, 0]}, "y_proba has 0.25 at row 1"),
        ([0.5, 7.0], {"sample_weight": [1, 0]}, "y_proba has 7.0 at row 1"),
        ([0.5], {"kind": "logit"}, "kind"),
        ([0.5], {"reduction": "none"}, "reduction"),
        ([-0.5], {"kind": "log_prob", "eps": 0.1}, "eps"),
        ([0.5], {"eps": 0.0}, "eps"),
        ([0.5], {"eps": True}, "eps"),
        ([0.5], {"sample_weight": [1, 2]}, "sample_weight"),
        ([0.5], {"sample_weight": [-1]}, "sample_weight"),
        ([0.5], {"n_threads": 0}, "n_threads"),
        ([], {}, "empty"),
        ([[0.5, 0.5]], {}, "one dimension"),
    ],
    ids=str,
)
def test_errors(values, options, message):
    assert_raises(ValueError, message.replace(".", r"\."), fm.negative_log_likelihood, values, **options)


def test_the_first_bad_row_is_named_with_any_threads():
    values = np.full(500_000, -1.0)
    values[[131_082, 400_000]] = 0.5
    for n_threads in (1, 3):
        assert_raises(
            ValueError, r"has 0\.5 at row 131082:",
            fm.negative_log_likelihood, values, kind="log_prob", n_threads=n_threads,
        )
