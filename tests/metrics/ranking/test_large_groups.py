"""Ranked lists of groups that do not fit in memory, against sorting all rows."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmetrics._core.columns.row_blocks import SLICE, WEIGHT, Output, label_name, score_name
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.blocks import Block
from fastmetrics._core.exchange.hash_exchange import GroupKeys
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._kernels.exchange import hash_partition
from fastmetrics.metrics.ranking.lists import large_groups as module
from fastmetrics.metrics.ranking.lists.large_groups import large_group_lists

EDGES = [np.inf, -np.inf, 0.0, -0.0, 1.0, 5e-324, -5e-324]


def keys_of(number):
    hashes = np.empty(1, np.uint64)
    hash_partition.hash_keys(np.array([number], np.uint64), hashes)
    return GroupKeys(hashes, np.empty(0, np.uint64), np.empty(0, np.uint64), np.dtype(np.int64))


def store_of(columns, block_rows, budget=None):
    store = BlockStore(1, budget)
    for start in range(0, len(columns[label_name(0)]), block_rows):
        own = {name: values[start : start + block_rows] for name, values in columns.items()}
        block = Block(own, np.array([0, len(own[label_name(0)])], np.int32))
        store.add(block, store.try_reserve(block.n_bytes()))
    return store


def by_definition(grades, scores):
    """For each distinct score of graded rows: (their grades, descending; zeros above since the last; tied zeros)."""
    entries, zeros_above = [], 0
    for score in sorted(set(scores.tolist()), reverse=True):
        tied = grades[scores == score]
        graded = sorted(tied[tied != 0].tolist(), reverse=True)
        if graded:
            entries.append((graded, zeros_above, int((tied == 0).sum())))
            zeros_above = 0
        else:
            zeros_above += len(tied)
    return entries, zeros_above


def entries_of(found):
    own = [found.grades[start:stop].tolist() for start, stop in pairwise(found.starts.tolist())]
    return list(zip(own, found.zeros_above[:-1].tolist(), found.tied_zeros.tolist(), strict=True)), int(
        found.zeros_above[-1]
    )


def columns_of(rows, seed, n_scores, dtype, graded, n_slices=0):
    generator = np.random.default_rng(seed)
    pool = np.array([*EDGES, *generator.normal(size=n_scores)], dtype)[:n_scores]
    grades = generator.choice([0.0, 0.0, 0.0, 1.0, 2.5, -1.0] if graded else [0, 0, 0, 1], rows)
    columns = {label_name(0): grades.astype("f8" if graded else "u1"), score_name(0): generator.choice(pool, rows)}
    if n_slices:
        columns[SLICE] = generator.choice(generator.choice(n_slices, 3), rows).astype(np.uint16)
    return columns


@given(
    st.integers(1, 200), st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 7, 40, 150]), st.sampled_from(["f4", "f8"]),
    st.booleans(), st.sampled_from([0, 5]), st.sampled_from([1, 7, 64, 1000]), st.booleans(),
    st.sampled_from([4, 1 << 31]),
)  # fmt: skip
def test_is_the_list_by_definition(rows, seed, n_scores, dtype, graded, n_slices, block_rows, spilled, counted_rows):
    columns = columns_of(rows, seed, n_scores, dtype, graded, n_slices)
    store = store_of(columns, block_rows, MemoryBudget(1, None, 1) if spilled else None)
    assert store.in_memory != spilled
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_COUNTED_ROWS", counted_rows)
        for by_slice in (False, True) if n_slices else (False,):
            found = dict(large_group_lists(store, keys_of(7), Output(0, 0), by_slice))
            wanted = np.unique(columns[SLICE]).tolist() if by_slice else [None]
            assert list(found) == wanted
            for number in wanted:
                where = slice(None) if number is None else columns[SLICE] == number
                grades, scores = columns[label_name(0)][where], columns[score_name(0)][where]
                assert entries_of(found[number]) == by_definition(grades, scores)
                assert found[number].rows == len(grades)
                assert found[number].weight == 1.0
    store.close()


def test_weights_are_those_of_the_group():
    columns = columns_of(500, 3, 40, "f8", True, 9)
    columns[WEIGHT] = np.full(500, 2.5)
    for by_slice in (False, True):
        lists = large_group_lists(store_of(columns, 64), keys_of(7), Output(0, 0), by_slice)
        assert {ranked.weight for _, ranked in lists} == {2.5}
    columns[WEIGHT][[499, 20]] = 0.25, 3
    message = (
        r"^group -7 has weights 0.25 and 3.0: metrics of ranked lists weigh whole groups; give all rows of a group the "
        "same weight$"
    )
    with pytest.raises(ValueError, match=message):
        list(large_group_lists(store_of(columns, 64), keys_of(np.uint64(2**64 - 7)), Output(0, 0), False))


def test_many_pivots():
    """More pivots than the table has cells, close together: most keys share a cell with pivots."""
    generator = np.random.default_rng(2)
    scores = np.where(generator.random(300_000) < 0.9, generator.random(300_000) * 1e-9, generator.random(300_000))
    columns = {label_name(0): generator.integers(0, 2, 300_000).astype(np.uint8), score_name(0): scores.round(15)}
    ((_, found),) = large_group_lists(store_of(columns, 70_000), keys_of(7), Output(0, 0), False)
    held = np.sort(columns[score_name(0)][columns[label_name(0)] == 1])[::-1]
    others = np.sort(columns[score_name(0)][columns[label_name(0)] == 0])
    pivots = np.unique(held)[::-1]
    above = len(others) - np.searchsorted(others, pivots, "right")
    tied = np.searchsorted(others, pivots, "right") - np.searchsorted(others, pivots, "left")
    assert np.array_equal(found.tied_zeros, tied)
    assert np.array_equal(np.cumsum(found.zeros_above)[:-1] + np.cumsum(found.tied_zeros) - found.tied_zeros, above)
    assert found.grades.sum() == len(held)
