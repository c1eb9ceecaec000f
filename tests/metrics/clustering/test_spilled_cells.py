"""Partitions whose pairs of labels do not fit their memory: metrics, merged tables and bytes are those of all rows."""

import pickle

import numpy as np
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmetrics._core.columns.label_columns import ComparedLabels, as_label_column
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics.metrics.clustering.mutual_info import compute_information
from fastmetrics.metrics.clustering.pair_confusion_matrix import count_pairs
from fastmetrics.metrics.clustering.partition_table import PartitionTable
from fastmetrics.metrics.clustering.purity import purity
from support.states.spilled_tables import spill_cells

CELLS_OF_ROWS = st.lists(st.tuples(st.integers(-3, 5), st.integers(0, 9)), min_size=1, max_size=80)


def table_of(pairs, budget=None, is_text=False):
    """A table of pairs; clusters may be texts."""
    classes, clusters = (np.array(side) for side in zip(*pairs, strict=True))
    columns = [pyarrow.array(classes), pyarrow.array(clusters.astype(str) if is_text else clusters)]
    table = PartitionTable()
    table.limit_memory(budget)
    table.add(ComparedLabels(*(as_label_column(column, "label", lambda row: row) for column in columns)))
    return table


def joined(columns):
    return [pair for pairs in columns for pair in pairs]


def new_budget():
    return MemoryBudget(1 << 20, None, 2)


@pytest.fixture(autouse=True)
def small_tables(monkeypatch):
    """All cells move to tables of keys, which spill after a few."""
    spill_cells(monkeypatch)


@pytest.mark.parametrize("is_text", [False, True])
@given(columns=st.lists(CELLS_OF_ROWS, min_size=1, max_size=3))
def test_merged_tables(is_text, columns):
    merged, whole = PartitionTable(), table_of(joined(columns), None, is_text)
    merged.limit_memory(new_budget())
    for pairs in columns:
        merged.merge(table_of(pairs, new_budget(), is_text))
    assert merged.cells.moved is not None
    assert whole.cells.moved is None
    assert merged.n_rows == whole.n_rows
    for table in (merged, pickle.loads(pickle.dumps(merged))):
        assert all(map(np.array_equal, table.arrays(), whole.arrays()))
    large, small = merged.contingency(), whole.contingency()
    for function in (count_pairs, purity, compute_information):
        assert function(large) == function(small)


def test_a_spilled_table_is_merged_with_itself():
    table = table_of([(number, number % 7) for number in range(300)], new_budget(), is_text=True)
    table.merge(table)
    twice = table_of([(number % 300, number % 300 % 7) for number in range(600)], None, is_text=True)
    assert all(map(np.array_equal, table.arrays(), twice.arrays()))


def test_memory_is_given_back():
    budget = MemoryBudget(64 << 20, None, 2)
    table = table_of([(number, number % 7) for number in range(5000)], budget, is_text=True)
    assert budget.reserved_bytes > 0
    assert table.n_bytes > 0
    table.close()
    assert budget.reserved_bytes == 0


def test_texts_and_numbers_are_not_joined():
    table = table_of([(1, 2)], None, is_text=True)
    with pytest.raises(ValueError, match="labels of type text cannot be combined with labels of type number or date"):
        table.merge(table_of([(1, 2)]))
