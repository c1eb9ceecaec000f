"""Predictions of numbers: four rows, of which the last two are predicted 1 too high."""

from math import log, sqrt

import pytest

import fastmetrics as fm

from .cases import Case, near, of_type, plain

pytestmark = pytest.mark.smoke

TARGET = [3, 1, 4, 2]  # mean and median 2.5; squared distances from them add up to 5, absolute ones to 4
FORECAST = [3, 1, 5, 3]
GROUP = ["a", "a", "b", "b"]

MSLE = (log(5 / 6) ** 2 + log(3 / 4) ** 2) / 4
POISSON = 2 * (4 * log(4 / 5) + 1 + 2 * log(2 / 3) + 1) / 4
GAMMA = 2 * (log(5 / 4) + 4 / 5 - 1 + log(3 / 2) + 2 / 3 - 1) / 4

CASES: list[Case] = [
    ("mean_squared_error", lambda function: function(TARGET, FORECAST), 2 / 4),
    ("root_mean_squared_error", lambda function: function(TARGET, FORECAST), near(sqrt(1 / 2))),
    ("mean_absolute_error", lambda function: function(TARGET, FORECAST), 2 / 4),
    ("median_absolute_error", lambda function: function(TARGET, FORECAST), 1 / 2),
    ("max_error", lambda function: function(TARGET, FORECAST), 1),
    ("mean_absolute_percentage_error", lambda function: function(TARGET, FORECAST), (1 / 4 + 1 / 2) / 4),
    ("mean_squared_log_error", lambda function: function(TARGET, FORECAST), near(MSLE)),
    ("root_mean_squared_log_error", lambda function: function(TARGET, FORECAST), near(sqrt(MSLE))),
    # Too high by 1 costs 1 - alpha.
    ("mean_pinball_loss", lambda function: function(TARGET, FORECAST, alpha=0.25), 2 * 0.75 / 4),
    ("mean_tweedie_deviance", lambda function: function(TARGET, FORECAST, power=0), 2 / 4),
    ("mean_poisson_deviance", lambda function: function(TARGET, FORECAST), near(POISSON)),
    ("mean_gamma_deviance", lambda function: function(TARGET, FORECAST), near(GAMMA)),
    ("r2_score", lambda function: function(TARGET, FORECAST), near(1 - 2 / 5)),
    # Errors 0, 0, 1, 1 have the mean 1/2, from which their squared distances add up to 1.
    ("explained_variance_score", lambda function: function(TARGET, FORECAST), near(1 - 1 / 5)),
    ("d2_absolute_error_score", lambda function: function(TARGET, FORECAST), 1 - 2 / 4),
    ("d2_pinball_score", lambda function: function(TARGET, FORECAST, alpha=0.5), 1 - 2 / 4),
    ("d2_tweedie_score", lambda function: function(TARGET, FORECAST, power=0), near(1 - 2 / 5)),
    # Of six pairs five are in order; 3 and 2 are both predicted 3.
    ("xauc", lambda function: function(TARGET, FORECAST), 5.5 / 6),
    ("errors_by_group", lambda function: function(TARGET, FORECAST, GROUP).mse, [0, 1]),
    ("ErrorTable", lambda kind: of_type(kind, fm.errors_by_group(TARGET, FORECAST, GROUP)).bias, [0, 1]),
]


@pytest.mark.parametrize(("name", "call", "expected"), CASES, ids=[name for name, *_ in CASES])
def test_value(name, call, expected):
    assert plain(call(getattr(fm, name))) == expected
