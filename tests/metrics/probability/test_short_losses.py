"""Losses of few rows, which are one call of a kernel: the bits of the general path, and its errors."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from support import strategies
from support.cases import assert_raises, each_case

GENERAL_PATH = {"n_threads": 1}
SHORT_CALLS = [
    "brier_score_loss", "copc", "d2_brier_score", "d2_log_loss_score", "expected_calibration_error", "log_loss",
    "normalized_entropy", "pcoc",
]  # fmt: skip


def same_outcome(function, *arguments, **options):
    """Return the bits of the value or the text of the error, and the texts of all warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            outcome = function(*arguments, **options).hex()
        except ValueError as error:
            outcome = str(error)
    return outcome, [str(one.message) for one in caught]


@pytest.mark.parametrize("name", SHORT_CALLS)
@given(strategies.labeled_probabilities(min_size=1, both_classes=False), st.sampled_from(strategies.LABEL_DTYPES))
def test_short_calls_have_the_bits_of_long_ones(name, case, label_dtype):
    y_true, y_proba = case
    function = getattr(fm, name)
    for labels in (y_true.astype(label_dtype), (2 * y_true - 1).astype("int16"), y_true + 1, -y_true):
        assert same_outcome(function, labels, y_proba) == same_outcome(function, labels, y_proba, **GENERAL_PATH)
        lists = labels.tolist(), y_proba.tolist()
        assert same_outcome(function, *lists) == same_outcome(function, *lists, **GENERAL_PATH)


BAD_WEIGHTS = [-1.0, -0.0, 1e301, math.nan, math.inf]


@pytest.mark.parametrize("name", SHORT_CALLS)
@given(strategies.labeled_probabilities(min_size=1, both_classes=False), st.data())
def test_weighted_short_calls_have_the_bits_of_long_ones(name, case, data):
    y_true, y_proba = case
    function = getattr(fm, name)
    weights = data.draw(st.one_of(strategies.real_weights(len(y_true)), strategies.integer_weights(len(y_true))))
    if data.draw(st.integers(0, 4)) == 0:
        weights[data.draw(st.integers(0, len(weights) - 1))] = data.draw(st.sampled_from(BAD_WEIGHTS))
    for kind in (np.asarray, np.ndarray.tolist, lambda column: column.astype(">f8"), lambda column: column[:-1]):
        converted_weights = kind(weights)
        outcome = same_outcome(function, y_true, y_proba, sample_weight=converted_weights)
        assert outcome == same_outcome(function, y_true, y_proba, sample_weight=converted_weights, **GENERAL_PATH)


@each_case("rows", [100, 2047, 2048, 2049, 65_535, 65_536, 65_537])
@pytest.mark.parametrize("name", SHORT_CALLS)
def test_short_calls_of_every_length(name, rows):
    log = strategies.click_log(rows, seed=rows, levels=None)
    log["prob"][::7] **= 9  # far below the two binary exponents of the short sum
    function = getattr(fm, name)
    for dtype in strategies.SCORE_DTYPES:
        y_proba = log["prob"].astype(dtype)
        expected = function(log["label"].tolist(), y_proba)
        assert function(log["label"], y_proba) == expected == function(log["label"], y_proba, n_threads=3)
        weight = np.random.default_rng(rows).random(rows)
        expected = function(log["label"], y_proba, sample_weight=weight, n_threads=2)
        assert function(log["label"], y_proba, sample_weight=weight) == expected


@each_case("bad", [math.nan, 1.5, -1e-300, math.inf, -math.inf])
@each_case("rows", [1, 17, 2049])
@pytest.mark.parametrize("name", SHORT_CALLS)
def test_short_calls_find_the_same_bad_values(name, rows, bad):
    y_true, y_proba = np.arange(rows + 1) % 2, np.full(rows + 1, 0.25)
    for dtype in strategies.SCORE_DTYPES:
        wrong = y_proba.astype(dtype)
        wrong[rows] = bad
        if not 0 <= wrong[rows] <= 1:
            outcome = same_outcome(getattr(fm, name), y_true, wrong)
            assert f"at row {rows}" in outcome[0]
            assert outcome == same_outcome(getattr(fm, name), y_true, wrong, **GENERAL_PATH)


@pytest.mark.parametrize("name", [*SHORT_CALLS, "calibration_curve"])
def test_short_calls_of_unusual_arrays(name):
    """Layouts, types and shapes that only the general path reads, and different lengths."""
    log = strategies.click_log(64, seed=1)
    function, y_true, y_proba = getattr(fm, name), log["label"], log["prob"]
    expected = repr(function(y_true, y_proba))
    unaligned = np.frombuffer(b"x" + y_proba.tobytes(), np.uint8)[1:].view(np.float64)
    for column in (np.repeat(y_proba, 2)[::2], y_proba[::-1].copy()[::-1], y_proba.astype(">f8"), unaligned):
        assert repr(function(y_true, column)) == expected
    for column in (np.repeat(y_true, 2)[::2], y_true.astype(">i4"), y_true.astype(bool), y_true.view(np.recarray)):
        assert repr(function(column, y_proba)) == expected
    assert repr(function(y_true, np.ascontiguousarray(y_proba)[None, :][0])) == expected
    assert_raises(ValueError, "63", function, y_true[:63], y_proba)
    assert_raises(ValueError, "63", function, y_true, y_proba[:63])
    for nothing in ("datetime64[s]", "V0", "V8", "S4", "U0", "complex128"):
        with pytest.raises((ValueError, TypeError)):
            function(y_true, np.zeros(64, nothing))
        with pytest.raises((ValueError, TypeError)):
            function(np.zeros(64, nothing), y_proba)
    with pytest.raises((ValueError, TypeError)):
        function(y_true.astype("datetime64[s]"), y_proba.astype("U8"))
