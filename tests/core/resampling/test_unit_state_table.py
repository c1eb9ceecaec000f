"""A table of states by unit bucket: exact for values of any size and sign, added in any parts."""

from __future__ import annotations

import operator
from fractions import Fraction

import numpy as np
import pytest

from fastmetrics._core import exact
from fastmetrics._core.resampling import unit_state_table
from fastmetrics._core.resampling.unit_state_table import UnitStateTable
from fastmetrics._core.state import Fields, exact_sum
from fastmetrics._core.statistic import AdditiveStatistic
from support.cases import each_case

UNIT = Fraction(1, 1 << exact.EXPONENT)
N_UNITS = 40
SIZES = {
    "alike": lambda random, n: random.random(n),
    "signed": lambda random, n: random.normal(size=n),
    "far smaller": lambda random, n: random.random(n) * np.where(random.random(n) < 0.2, 1e-30, 1.0),
    "far greater": lambda random, n: np.sort(random.random(n) ** 40),
    "all exponents": lambda random, n: random.normal(size=n) * 2.0 ** random.integers(-1060, 1000, n),
    "zeros and subnormal numbers": lambda random, n: np.where(random.random(n) < 0.5, -0.0, 5e-324 * np.arange(n)),
    "nothing but zeros": lambda random, n: np.zeros(n),
    "whole numbers near 2^53": lambda random, n: 2.0**53 - random.integers(0, 5, n),
}


class TwoSums(AdditiveStatistic):
    """A statistic with one count and two sums."""

    fields = Fields("rows", exact_sum("values", 2))

    def update(self, state, rows):
        """Tests add to tables themselves."""


def oracle(values, numbers, columns):
    """The sums of units in fractions."""
    out = [[Fraction(0), Fraction(0)] for _ in range(N_UNITS)]
    for value, number, column in zip(values.tolist(), numbers.tolist(), columns.tolist(), strict=True):
        out[number][column] += Fraction(value)
    return out


def sums_of(table):
    return [[exact.to_integer(sums) * UNIT for sums in table.state(unit).exact] for unit in range(N_UNITS)]


def draw(size, seed=0, n=3000):
    random = np.random.default_rng(seed)
    values = SIZES[size](random, n)
    return values, random.integers(0, N_UNITS, n).astype(np.int32), random.integers(0, 2, n).astype(np.uint16)


def filled(values, numbers, cells, parts=3):
    table = UnitStateTable(TwoSums(), N_UNITS)
    for rows in np.array_split(np.arange(values.shape[0]), parts):
        table.add(values[rows], numbers[rows], "values", cells[rows])
    return table


@each_case("size", list(SIZES))
@each_case("most_others", [0, 50, 1 << 17])
def test_sums_are_exact(size, most_others, monkeypatch):
    monkeypatch.setattr(unit_state_table, "MAX_OTHERS", most_others)
    values, numbers, cells = draw(size)
    expected = oracle(values, numbers, cells)
    table = filled(values, numbers, cells)
    total = table.total()
    for column in (0, 1):
        assert exact.to_integer(total.exact[column]) * UNIT == sum(unit[column] for unit in expected)
    table.normalize()
    assert sums_of(table) == expected


@each_case("size", list(SIZES))
def test_windows_are_emptied_before_they_overflow(size, monkeypatch):
    monkeypatch.setattr(unit_state_table, "MAX_UNNORMALIZED", 100)
    values, numbers, cells = draw(size)
    table = filled(values, numbers, cells, parts=60)
    table.normalize()
    assert sums_of(table) == oracle(values, numbers, cells)


def test_a_window_holds_as_many_of_the_greatest_values_as_it_says():
    # The greatest value that fits the window of ones, as often as the headroom of the window allows: 2^30 of them.
    greatest = np.nextafter(2.0**5, 0)
    table = UnitStateTable(TwoSums(), 1)
    numbers = np.zeros(1, np.int32)
    table.add(np.array([1.0]), numbers, "values")
    table.windows[0, 0] = 0, 0
    table.add(np.array([greatest]), numbers, "values")
    assert not table.others, "the value does not fit"
    low, high = table.windows[0, 0].tolist()
    window = (low + (high << 64)) * (1 << 30)
    assert window < 1 << 127
    table.windows[0, 0] = window & (1 << 64) - 1, window >> 64
    table.normalize()
    assert exact.to_integer(table.state(0).exact[0]) * UNIT == Fraction(greatest) * (1 << 30)


@each_case("size", list(SIZES))
@each_case("has_sums", [False, True])
def test_parts_of_tables(size, has_sums):
    tables, expected = [], [[Fraction(0), Fraction(0)] for _ in range(N_UNITS)]
    for seed in (1, 2):
        values, numbers, cells = draw(size, seed)
        tables.append(filled(values, numbers, cells))
        if has_sums:
            tables[-1].normalize()
        tables[-1].sort_others()
        for unit, sums in enumerate(oracle(values, numbers, cells)):
            expected[unit] = [expected[unit][0] + sums[0], expected[unit][1] + sums[1]]
    start = 10
    part = UnitStateTable(TwoSums(), 20)
    for table in tables:
        part.add_part(table, start)
    found = [[exact.to_integer(sums) * UNIT for sums in part.state(unit).exact] for unit in range(20)]
    assert found == expected[start : start + 20]
    chosen = np.array([3, 17])
    few = part.select(chosen)
    assert [[exact.to_integer(sums) * UNIT for sums in few.state(unit).exact] for unit in (0, 1)] == [
        expected[start + 3], expected[start + 17],
    ]  # fmt: skip


def test_infinities_and_nan_are_counted():
    table = UnitStateTable(TwoSums(), 2)
    table.add(np.array([1.0, np.inf, np.nan, -np.inf]), np.array([0, 0, 1, 1], np.int32), "values")
    table.normalize()
    assert [exact.is_finite(table.state(unit).exact[0]) for unit in (0, 1)] == [False, False]
    assert exact.to_float(table.state(0).exact[0]) == np.inf
    assert np.isnan(exact.to_float(table.state(1).exact[0]))


def test_columns_of_different_lengths():
    table = UnitStateTable(TwoSums(), 2)
    with pytest.raises(ValueError, match="different lengths"):
        table.add(np.ones(3), np.zeros(2, np.int32), "values")
    with pytest.raises(ValueError, match="different lengths"):
        table.add(np.ones(3), np.zeros(3, np.int32), "values", np.zeros(2, np.uint16))


@each_case("size", list(SIZES))
@each_case("is_normalized", [False, True])
def test_nonzero_columns_are_the_limbs_of_the_sums(size, is_normalized):
    values, numbers, cells = draw(size)
    table = filled(values, numbers, cells)
    table.count(numbers)
    if is_normalized:
        table.normalize()
    columns, integers = table.nonzero_columns()
    found = np.zeros((N_UNITS, 1 + 2 * exact.SIZE), object)
    found[:, columns] = integers
    assert found[:, 0].tolist() == np.bincount(numbers, minlength=N_UNITS).tolist()
    limbs = found[:, 1:].reshape(N_UNITS, 2, exact.SIZE)[:, :, : exact.LIMBS]
    weights = [(1 << 32 * place) * UNIT for place in range(exact.LIMBS)]
    sums = [[sum(map(operator.mul, own.tolist(), weights)) for own in unit] for unit in limbs]
    assert sums == oracle(values, numbers, cells)
    assert all(len({number > 0 for number in own.tolist() if number}) < 2 for unit in limbs for own in unit)
    assert abs(integers).max() < 1 << 36, "the product with weights is exact below"


def test_tables_of_windows_alone_take_no_memory_for_sums():
    values, numbers, cells = draw("signed")
    parts = [filled(values, numbers, cells), filled(2 * values, numbers, cells)]
    part = UnitStateTable(TwoSums(), 20)
    for table in parts:
        part.add_part(table, 10)
    part.nonzero_columns()
    assert not any("exact" in vars(table) for table in (part, *parts))
