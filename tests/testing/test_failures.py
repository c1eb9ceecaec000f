"""The checks can fail: a metric or a function with one mistake is caught by the check of that promise, and named."""

import math
import warnings

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics._core import exact, registry
from fastmetrics._core.state import Fields, exact_sum
from fastmetrics._core.statistic import AdditiveStatistic, Value
from fastmetrics._kernels.numeric import sums
from fastmetrics.testing import check_function, check_metric, function_checks, metric_checks
from fastmetrics.testing.comparing import bits
from support.cases import assert_raises
from support.registry_cases import own_metrics


@pytest.fixture(autouse=True)
def forget_metrics():
    with own_metrics():
        yield


class ScoreSum(AdditiveStatistic):
    """The sum of the scores. `mistake` names what it does wrong."""

    __slots__ = ("mistake",)
    fields = Fields("rows", exact_sum("scores"))

    def __init__(self, mistake):
        self.mistake = mistake

    def update(self, state, rows):
        scores = rows.scores.astype(np.float64)
        if self.mistake == "first score counts twice":
            scores = np.append(scores, scores[:1])
        weights = None if self.mistake == "ignores weights" else rows.weights
        sums.sum_values(scores, weights, state.sum_of("scores"))
        state.add_count("rows", scores.shape[0])


def register(mistake, **options):
    def finalize(parameters, state):
        """The sum of the scores."""
        rows = state.count("rows")
        if mistake == "forgets its reason" and rows == 1:
            return Value(math.nan, {"rows": rows})
        return Value(exact.divide(state.integer("scores"), 1 << exact.EXPONENT), {"rows": rows})

    finalize.__module__ = "fastmetrics.metrics.curves.score_sum"
    options = {"direction": "minimize", "function": None, "undefined": "never"} | options
    registry.metric("score_sum", exchange="none", statistics=lambda: (ScoreSum(mistake),), **options)(finalize)


def other_sum(y_true, y_score, *, n_threads=None):
    return 0.5


MISTAKES = {
    "first score counts twice": ("row_order", {}),
    "ignores weights": ("repeated_rows", {}),
    "forgets its reason": ("undefined", {}),
    "another function": ("function_agrees", {"function": other_sum}),
    "another direction": ("direction", {"direction": "maximize"}),
    "another scale": ("scale", {"scale": "share"}),
    "does not say when it is undefined": ("description", {"undefined": ""}),
}


def failing(checks):
    failures = {}
    for name, run in checks:
        try:
            run()
        except AssertionError as error:
            failures[name] = str(error)
    return failures


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_wrong_metric_fails_its_check(mistake):
    check, options = MISTAKES[mistake]
    register(mistake, **options)
    assert f"score_sum: check {check} failed" in failing(metric_checks("score_sum"))[check]
    assert_raises(
        AssertionError, rf"(?s)^score_sum fails \d+ checks?:.*check {check} failed for score_sum",
        check_metric, "score_sum",
    )


def test_a_right_metric_fails_no_check():
    register(None)
    assert not failing(metric_checks("score_sum"))


def test_both_values_are_named():
    register("first score counts twice")
    message = failing(metric_checks("score_sum"))["row_order"]
    assert "another order of rows: expected " in message
    assert "found " in message
    assert ".results[0].value" in message


def mean_score(y_true, y_score, *, sample_weight=None, half=False, n_threads=None):
    """The mean of the scores.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels.
    y_score : array-like of shape (n,)
        Scores.
    sample_weight : array-like of shape (n,), optional
        Weights.
    half : bool
        Ignored.
    n_threads : int, optional
        Ignored.

    Returns
    -------
    float
        The mean.

    Examples
    --------
    >>> mean_score([0, 1], [0.0, 1.0])
    0.5
    """
    scores = np.asarray(y_score, np.float64)
    if np.isnan(scores).any():
        warnings.warn("NaN", RuntimeWarning, stacklevel=2)
    return float(np.average(scores, weights=sample_weight))


def test_a_plain_function_fails_what_it_does_not_promise():
    failures = failing(function_checks(mean_score))
    assert {"row_order", "bad_values", "bad_weights", "options_are_used"} <= set(failures)
    assert "expected an error that names ['y_true', 'NaN', 'row 3'], found the value" in failures["bad_values"]
    assert not {"docstring", "argument_kinds", "result_type"} & set(failures)
    assert_raises(AssertionError, "mean_score fails", check_function, mean_score)


def test_arguments_and_docstring_are_checked():
    failures = failing(function_checks(lambda y_true, *, y_score: 1.0))
    assert "'y_score' must be positional or keyword" in failures["argument_kinds"]
    assert "the docstring has no first line" in failures["docstring"]


def test_a_name_that_is_no_metric():
    assert_raises(ValueError, "unknown metric 'no_metric'", next(metric_checks("no_metric")).run)


def test_functions_that_pass():
    check_function(fm.ks_statistic)
    check_metric("ks")


def test_attributes_of_base_classes_are_compared():
    """A result without attributes would be equal to any other of its type."""
    groups, metrics = [1, 1, 2], ["mrr"]
    one = fm.ranking_by_group([0, 1, 1], [1.0, 2.0, 3.0], groups, metrics)
    assert bits(one) == bits(one) != bits(fm.ranking_by_group([1, 0, 1], [1.0, 2.0, 3.0], groups, metrics))
    assert_raises(TypeError, "cannot compare values of type object", bits, object())
