"""Columns of binary labels with numbers: which numbers are allowed is said by the caller, whatever the weights are."""

import numpy as np
import pytest

from fastmetrics._core.columns import validation
from fastmetrics._core.columns.binary_probabilities import check_binary_columns, check_binary_probabilities
from fastmetrics._core.state import Fields, exact_sum
from fastmetrics._core.statistic import AdditiveStatistic
from fastmetrics._kernels.numeric import sums
from support.cases import assert_raises

LABELS = [0, 1, 0, 1]
WEIGHTS = [None, [1, 1, 1, 1], [1, 1, 0, 1]]


class ClickedValues(AdditiveStatistic):
    """The weighted sum of the values of clicked rows: any finite number is allowed."""

    __slots__ = ()
    fields = Fields(exact_sum("values"))

    def update(self, state, rows):
        sums.sum_values(rows.scores * rows.labels, rows.weights, state.sum_of("values"))


@pytest.mark.parametrize("weights", WEIGHTS)
def test_numbers_above_one_are_numbers(weights):
    """Inverse propensities, as a metric of users' own reads them: a weight of zero makes them no probabilities."""
    columns = check_binary_columns(LABELS, [1, 2, 0.5, 1], weights, "y_score", validation.check_finite)
    (state,) = columns.reduce((ClickedValues(),), None)
    assert state.integer("values") == 3 << sums.BASE_EXPONENT


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize(("value", "found"), [(np.nan, "NaN at row 2"), (np.inf, "inf at row 2: finite")])
def test_a_bad_number_is_found_whatever_its_weight(value, found, weights):
    assert_raises(
        ValueError, f"^gain has {found}",
        check_binary_columns, LABELS, [1, 2, value, 1], weights, "gain", validation.check_finite,
    )


@pytest.mark.parametrize("weights", WEIGHTS)
def test_a_bad_probability_is_found_whatever_its_weight(weights):
    assert_raises(
        ValueError, r"^y_proba has 1.5 at row 2: probabilities",
        check_binary_columns, LABELS, [1, 0, 1.5, 1], weights, "y_proba", validation.check_probabilities,
    )


def test_probabilities_are_checked_before_rows_are_dropped():
    assert_raises(
        ValueError, r"^y_proba has 1.5 at row 2: probabilities",
        check_binary_probabilities, LABELS, [1, 0, 1.5, 1], [1, 1, 0, 1], "y_proba",
    )
