"""Detectable differences and numbers of units beside the power of the exact noncentral test."""

import math

import pytest
from scipy import stats

from fastmetrics._core.inference.difference_tests import Change, two_sided_pvalue
from fastmetrics._core.inference.errors import ErrorEstimate
from fastmetrics._core.inference.sample_size import error_of_units, smallest_difference, units_to_show
from support.cases import each_case


def error_of(n_units, size=0.01, df=None):
    return ErrorEstimate(size, n_units - 1.0 if df is None else df, n_units, n_units)


def exact_power(difference, error, level):
    return stats.nct.sf(stats.t.ppf((1 + level) / 2, error.df), error.df, difference / error.standard_error)


@each_case("power", [0.3, 0.5, 0.8, 0.95])
@each_case("level", [0.9, 0.95, 0.9999])
@each_case(("n_units", "slack"), [(20, 0.06), (60, 0.02), (10**5, 0.001)])
def test_the_smallest_difference_is_found_with_its_power(power, level, n_units, slack):
    error = error_of(n_units)
    assert exact_power(smallest_difference(error, level, power), error, level) == pytest.approx(power, abs=slack)


def test_none_is_found():
    assert smallest_difference(error_of(4), 0.95) is None  # p is at least 1/8
    assert smallest_difference(error_of(40, 0.0), 0.95) is None
    assert smallest_difference(error_of(1, math.nan), 0.95) is None
    assert units_to_show(0.0, error_of(40), 0.95) is None
    assert units_to_show(0.1, error_of(40, 0.0), 0.95) is None
    assert units_to_show(0.1, error_of(1, math.nan), 0.95) is None


@each_case("difference", [0.3, -0.02, 0.001])
@each_case("df", [199.0, 12.5])
def test_so_many_units_are_enough_and_fewer_are_not(difference, df):
    error = error_of(200, 0.01, df)
    n = units_to_show(difference, error, 0.95)
    found, before = (smallest_difference(error_of_units(error, own), 0.95) for own in (n, n - 1))
    assert found <= abs(difference)
    assert before is None or before > abs(difference)
    variance = 200 * 0.01**2
    if df == 199.0 and n > 1000:
        assert n == pytest.approx(variance * (1.959964 + 0.841621) ** 2 / difference**2, rel=0.01)


def test_a_clear_difference_needs_as_many_units_as_p_needs():
    """Six units that agree are the first with p below 0.05."""
    assert units_to_show(10.0, error_of(200), 0.95) == 6
    assert two_sided_pvalue(Change(10.0, error_of_units(error_of(200), 6))).probability == 2.0**-5
    assert units_to_show(10.0, ErrorEstimate(0.01, 99.0, 200, 100), 0.95) == 12
