"""PairCounter, the growing table of pairs of labels."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fastmetrics._kernels.clustering.contingency_table import PairCounter
from support.cases import assert_raises

INT64_MAX = 2**63 - 1
LABELS = st.one_of(st.integers(0, 3), st.integers(-(2**63), 2**63 - 1))
PAIRS = st.integers(0, 200).flatmap(lambda n: hnp.arrays(np.int64, (2, n), elements=LABELS))


def cells_of(counter):
    first, second, counts = (column.tolist() for column in counter.cells())
    found = dict(zip(zip(first, second, strict=True), counts, strict=True))
    assert len(found) == len(counts) == counter.size
    assert sum(counts) == counter.total
    return found


@given(PAIRS, PAIRS)
def test_pairs_are_counted_row_by_row_and_cell_by_cell(rows, others):
    counter, merged = PairCounter(), PairCounter()
    counter.add(*rows, 0, rows.shape[1])
    assert cells_of(counter) == Counter(zip(*rows.tolist(), strict=True))
    merged.add(*others, 0, others.shape[1])
    merged.add_cells(*counter.cells())
    assert cells_of(merged) == Counter(zip(*np.hstack([rows, others]).tolist(), strict=True))


def test_a_table_grows_over_several_calls():
    first = np.arange(100_000) * 7 % 30_011
    second = -(first**2) % 1013
    counter = PairCounter()
    for start in range(0, 100_000, 33_000):
        counter.add(first, second, start, min(100_000, start + 33_000))
    assert cells_of(counter) == Counter(zip(first.tolist(), second.tolist(), strict=True))


def test_only_the_given_rows_are_counted():
    labels = np.arange(10)
    counter = PairCounter()
    counter.add(labels, labels[::-1].copy(), 3, 5)
    assert cells_of(counter) == {(3, 6): 1, (4, 5): 1}


def test_empty_cells_are_dropped_and_counts_reach_the_limit_of_int64():
    counter = PairCounter()
    counter.add_cells(np.array([5, 6, 5]), np.array([1, 1, 1]), np.array([2**62, 0, 2**62 - 1]))
    assert cells_of(counter) == {(5, 1): INT64_MAX}
    assert_raises(OverflowError, "more than 2", counter.add, np.zeros(1, np.int64), np.zeros(1, np.int64), 0, 1)
    assert_raises(
        OverflowError, "more than 2", counter.add_cells, np.zeros(2, np.int64), np.zeros(2, np.int64), np.array([0, 1])
    )
    assert cells_of(counter) == {(5, 1): INT64_MAX}


def test_invalid_input_is_rejected_before_anything_is_counted():
    counter, three = PairCounter(), np.arange(3)
    for bounds in ((0, 4), (-1, 2), (2, 1)):
        assert_raises(ValueError, "start and stop", counter.add, three, three, *bounds)
    assert_raises(ValueError, "start and stop", counter.add, three, three[:2], 0, 3)
    assert_raises(ValueError, "one length", counter.add_cells, three, three, three[:2])
    assert_raises(ValueError, "negative", counter.add_cells, three, three, np.array([1, -1, 1]))
    assert cells_of(counter) == {}
