"""Probabilities and their calibration: four rows, two of them positive."""

from math import log

import pytest

import fastmetrics as fm

from .cases import Case, near, plain

pytestmark = pytest.mark.smoke

CLICK = [1, 0, 1, 0]
PROBABILITY = [0.5, 0.25, 0.75, 0.25]

LOG_LOSS = -(log(0.5) + 3 * log(0.75)) / 4  # 0.5, 0.75, 0.75 and 0.75 were given to what happened
BRIER = (0.5**2 + 3 * 0.25**2) / 4
# Three bins: two rows of 0.25 without a click; one of 0.5 and one of 0.75, each with a click.
ECE = (0.25 + 0.25 + 0.5 + 0.25) / 4

CASES: list[Case] = [
    ("log_loss", lambda function: function(CLICK, PROBABILITY), near(LOG_LOSS)),
    ("normalized_entropy", lambda function: function(CLICK, PROBABILITY), near(LOG_LOSS / log(2))),
    # Margins 8.5, 0.5, 1.5 and 0.25.
    ("hinge_loss", lambda function: function([-1, 1, 1, -1], [-8.5, 0.5, 1.5, -0.25]), (0.5 + 0.75) / 4),
    ("d2_log_loss_score", lambda function: function(CLICK, PROBABILITY), near(1 - LOG_LOSS / log(2))),
    ("negative_log_likelihood", lambda function: function([0.5, 0.25]), near((log(2) + log(4)) / 2)),
    ("clipped_rows", lambda function: function(CLICK, PROBABILITY, eps=0.3), 3),
    ("brier_score_loss", lambda function: function(CLICK, PROBABILITY), BRIER),
    ("d2_brier_score", lambda function: function(CLICK, PROBABILITY), 1 - BRIER / 0.25),
    ("expected_calibration_error", lambda function: function(CLICK, PROBABILITY, n_bins=3), ECE),
    ("calibration_curve", lambda function: function(CLICK, PROBABILITY, n_bins=3), ([0, 1, 1], [0.25, 0.5, 0.75])),
]


@pytest.mark.parametrize(("name", "call", "expected"), CASES, ids=[name for name, *_ in CASES])
def test_value(name, call, expected):
    assert plain(call(getattr(fm, name))) == expected
