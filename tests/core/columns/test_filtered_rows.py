"""The rows of a bitmap."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmetrics._kernels.columns import filtered_rows


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
