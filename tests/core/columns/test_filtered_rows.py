"""The rows of a bitmap, and sums, differences and products of float32 columns as float64."""

import operator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmetrics._kernels.columns import filtered_rows

OPERATIONS = ("add", "subtract", "multiply")


@given(st.lists(st.booleans(), max_size=300), st.integers(0, 70), st.integers(0, 80))
def test_rows_of_bitmap(bits, first, left_out):
    bitmap = np.packbits(np.array(bits, bool), bitorder="little")
    first = min(first, len(bits))
    rows = max(0, len(bits) - first - left_out)
    expected = [row for row in range(rows) if bits[first + row]]
    out = np.full(len(expected) + 2, -1)
    found = filtered_rows.rows_of_bitmap(bitmap, first, rows, out)
    assert out[:found].tolist() == expected
    assert out[found:].tolist() == [-1, -1]


@given(st.lists(st.booleans(), max_size=300), st.integers(0, 50))
def test_no_more_rows_than_the_result_has_entries(bits, capacity):
    bitmap = np.packbits(np.array(bits, bool), bitorder="little")
    whole = np.full(len(bits) + 1, -1)
    found = filtered_rows.rows_of_bitmap(bitmap, 0, len(bits), whole[:capacity])
    assert found == min(capacity, sum(bits), whole.shape[0])
    assert whole[:found].tolist() == [row for row, bit in enumerate(bits) if bit][:found]
    assert (whole[found:] == -1).all()


@pytest.mark.parametrize(("first", "rows"), [(0, 9), (1, 8), (-1, 3), (2**63 - 1, 4), (0, 2**63 - 1)])
def test_short_bitmaps_are_refused(first, rows):
    with pytest.raises(ValueError, match="shorter than its rows"):
        filtered_rows.rows_of_bitmap(np.zeros(1, np.uint8), first, rows, np.zeros(9, np.int64))


@pytest.mark.parametrize("name", OPERATIONS)
@given(st.lists(st.tuples(*[st.floats(width=32)] * 2), max_size=40))
def test_combined_columns_are_those_of_float64(name, pairs):
    first, second = (np.array([pair[side] for pair in pairs], np.float32) for side in (0, 1))
    out = np.empty(len(pairs))
    getattr(filtered_rows, name)(first, second, out)
    symbol = {"add": operator.add, "subtract": operator.sub, "multiply": operator.mul}[name]
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(out, symbol(first.astype(np.float64), second.astype(np.float64)))


@pytest.mark.parametrize("name", OPERATIONS)
def test_columns_of_different_lengths_are_refused(name):
    with pytest.raises(ValueError, match="different lengths"):
        getattr(filtered_rows, name)(np.zeros(2, np.float32), np.zeros(3, np.float32), np.zeros(2))
