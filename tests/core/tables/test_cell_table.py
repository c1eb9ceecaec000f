"""Tables of cells, in memory and spilled: rows and exact weights are those of a dictionary."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fastmetrics._core import exact
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.tables import cell_table
from fastmetrics._core.tables.cell_table import Cells, CellTable
from fastmetrics._kernels.exchange.cell_counts import CellCounter
from support.cases import assert_raises, each_case
from support.states.spilled_tables import spill_cells

INT64_MAX = 2**63 - 1
LABELS = st.one_of(st.integers(0, 3), st.integers(-(2**63), 2**63 - 1))
CELLS_OF_ROWS = st.integers(0, 200).flatmap(lambda n: hnp.arrays(np.int64, (2, n), elements=LABELS))
WEIGHTS = st.one_of(st.integers(0, 9).map(float), st.floats(0, 1e300))
ROWS = st.lists(st.tuples(st.integers(-3, 5), st.integers(0, 9), WEIGHTS), min_size=1, max_size=80)


def cells_of(counter):
    first, second, counts = (column.tolist() for column in counter.cells())
    found = dict(zip(zip(first, second, strict=True), counts, strict=True))
    assert len(found) == len(counts) == counter.size
    return found


def count_cells(counter, first, second, counts=None):
    """The numbers of rows that are counted."""
    numbers = np.empty(len(first), np.int64)
    counter.add(np.ascontiguousarray(first), np.ascontiguousarray(second), counts, numbers)
    return numbers


@given(CELLS_OF_ROWS, CELLS_OF_ROWS)
def test_cells_are_counted_row_by_row_and_cell_by_cell(rows, others):
    counter, merged = CellCounter(), CellCounter()
    numbers = count_cells(counter, *rows)
    assert cells_of(counter) == Counter(zip(*rows.tolist(), strict=True))
    np.testing.assert_array_equal(np.stack(counter.cells()[:2])[:, numbers], rows)
    merged.add(*others, None, None)
    merged.add(*counter.cells(), None)
    assert cells_of(merged) == Counter(zip(*np.hstack([rows, others]).tolist(), strict=True))
    assert merged.total == rows.shape[1] + others.shape[1]


@pytest.mark.parametrize("most", [3, 255, 256, 30_011])
@pytest.mark.parametrize("first_code", [0, -(2**63)])
def test_a_table_grows_over_several_calls(most, first_code):
    """With and without the square of small labels, whose slots move when the table grows."""
    first = np.arange(100_000) * 7 % most + first_code
    second = np.arange(100_000) ** 2 % 1013 % most
    counter = CellCounter()
    for start in range(0, 100_000, 33_000):
        part = slice(start, start + 33_000)
        numbers = count_cells(counter, first[part], second[part])
        np.testing.assert_array_equal(counter.cells()[0][numbers], first[part])
    assert cells_of(counter) == Counter(zip(first.tolist(), second.tolist(), strict=True))
    counter.empty()
    assert (cells_of(counter), counter.total) == ({}, 100_000)
    counter.add(first[:3], second[:3], None, None)
    assert sum(cells_of(counter).values()) == 3


def test_counts_reach_the_limit_of_int64():
    counter, one = CellCounter(), np.ones(1, np.int64)
    counter.add(np.array([5, 5]), np.array([1, 1]), np.array([2**62, 2**62 - 1]), None)
    for counts in (None, one):
        assert_raises(OverflowError, "more than 2", counter.add, one, one, counts, None)
    assert cells_of(counter) == {(5, 1): INT64_MAX}


def test_invalid_input_is_rejected_before_anything_is_counted():
    counter, three = CellCounter(), np.arange(1, 4)
    for arguments in ((three[:2], None, None), (three, three[:2], None), (three, None, three[:2])):
        assert_raises(ValueError, "different lengths", counter.add, three, *arguments)
    for counts in ([1, -1, 1], [1, 0, 1]):
        assert_raises(ValueError, "at least 1", counter.add, three, three, np.array(counts), None)
    assert (cells_of(counter), counter.total) == ({}, 0)


# ------------------------------------------------------------------------------------------------- tables that spill


@pytest.fixture
def small_tables(monkeypatch):
    """A few rows are added at a time, and all cells move to tables of keys, which spill after a few."""
    spill_cells(monkeypatch)
    monkeypatch.setattr(cell_table, "FEW_ROWS", 7)


def table_of(rows, is_weighted, budget=None):
    table = CellTable()
    table.limit_memory(budget)
    first, second, weights = map(np.array, zip(*rows, strict=True))
    table.add(first, second, None, weights if is_weighted else None)
    return table


def new_budget(limit=1 << 20):
    return MemoryBudget(limit, None, 2)


def amounts_of(table):
    """The rows and the weight of each cell."""
    found = {}
    for cells in table.parts():
        weights = [0] * cells.size if cells.limbs is None else cells.integers(cells.amounts, 0)
        rows = zip(cells.first.tolist(), cells.second.tolist(), strict=True)
        found |= dict(zip(rows, zip(cells.counts.tolist(), weights, strict=True), strict=True))
    return found


def expected_amounts(rows, is_weighted):
    expected = {}
    for first, second, weight in rows:
        count, total = expected.get((first, second), (0, 0))
        expected[first, second] = count + 1, total + (exact.to_fixed(weight) if is_weighted else 0)
    return expected


@pytest.mark.usefixtures("small_tables")
@pytest.mark.parametrize("is_weighted", [False, True])
@given(tables=st.lists(ROWS, min_size=1, max_size=3))
def test_spilled_tables_have_the_cells_and_weights_of_a_dictionary(is_weighted, tables):
    joined = [row for rows in tables for row in rows]
    merged, whole = CellTable(), table_of(joined, is_weighted)
    merged.limit_memory(new_budget())
    for rows in tables:
        for cells in table_of(rows, is_weighted, new_budget()).parts():
            merged.add_cells(cells)
    assert merged.moved is not None
    assert whole.moved is None
    assert merged.n_rows == whole.n_rows == len(joined)
    assert amounts_of(merged) == amounts_of(whole) == expected_amounts(joined, is_weighted)
    arrays = merged.cells().arrays()
    assert all(map(np.array_equal, arrays, whole.cells().arrays()))
    loaded = CellTable()
    loaded.add_cells(Cells.of_arrays(*arrays))
    assert amounts_of(loaded) == amounts_of(whole)


@pytest.mark.usefixtures("small_tables")
def test_weights_of_all_sizes_find_their_limbs():
    """A table of keys is replaced when weights need other limbs, and sums are carried into further ones."""
    weights = [2.0**power for power in (-1074, 1000, 3, 500, -30)] + [float(2**32 - 1)] * 50
    table = table_of([(1, 1, weight) for weight in weights], True, new_budget())
    (cells,) = table.parts()
    (total,) = cells.integers(cells.amounts, 0)
    assert Fraction(total, 1 << exact.EXPONENT) == sum(map(Fraction, weights))
    assert (cells.counts == [len(weights)]).all()


def test_rows_are_counted_across_moves(monkeypatch):
    monkeypatch.setattr(cell_table, "FEW_CELLS", 0)
    monkeypatch.setattr(cell_table, "COUNTER_DIVISOR", 1 << 20)
    table = table_of([(1, 2, 0.0)], False, new_budget())
    assert table.moved is not None
    table.add(np.array([1]), np.array([2]), np.array([INT64_MAX - 1]))
    assert amounts_of(table) == {(1, 2): (INT64_MAX, 0)}
    assert_raises(OverflowError, "more than 2", table.add, np.array([4]), np.array([4]), np.array([1]))


@pytest.mark.parametrize("is_weighted", [False, True])
def test_memory_is_counted_and_given_back(is_weighted):
    budget = new_budget(64 << 20)
    table = table_of([(number, number % 7, 1.0) for number in range(5000)], is_weighted, budget)
    assert (table.moved is not None) == is_weighted
    assert budget.reserved_bytes > 0
    assert table.n_bytes > 0
    table.close()
    assert budget.reserved_bytes == budget.state_bytes == 0


def test_many_tables_of_few_cells_do_not_fit():
    """Few cells stay in memory, and count as what cannot be spilled."""
    budget = new_budget()
    tables = [table_of([(number, number, 1.0) for number in range(200)], True, budget) for _ in range(2)]
    assert budget.state_bytes > 0
    assert_raises(ValueError, "the pairs of labels take more than half of memory_limit=1 MiB", lambda: [
        table_of([(number, number, 1.0) for number in range(200)], True, budget) for _ in range(4)
    ])  # fmt: skip
    for table in tables:
        table.close()


@each_case(
    ("change", "message"),
    [
        (lambda first, *rest: (first[:-1], *rest), "different lengths"),
        (lambda first, second, counts, *rest: (first, second, counts * 0, *rest), "a cell has no rows"),
        (lambda first, second, *rest: (first * 0, second * 0, *rest), "a cell occurs twice"),
        (lambda first, *rest: (first[::-1], *rest), "not sorted"),
        (lambda *arrays: (*arrays[:3], arrays[3][:, :1], arrays[4]), "not those of its cells"),
    ],
    ids=range(5),
)
def test_damaged_cells(change, message):
    arrays = table_of([(1, 2, 1.5), (3, 4, 2.5), (3, 5, 2.0)], True).cells().arrays()
    assert Cells.of_arrays(*arrays).size == 3
    assert_raises(ValueError, message, Cells.of_arrays, *change(*arrays))


def test_damaged_weights():
    *cells, limbs, place = table_of([(1, 2, 1.5), (3, 4, 2.5), (3, 5, 2.0)], True).cells().arrays()
    for own in ((-limbs, place), (limbs << 32, place), (limbs, place - 99), (limbs, place + 99)):
        assert_raises(ValueError, "no sum of weights", Cells.of_arrays, *cells, *own)
