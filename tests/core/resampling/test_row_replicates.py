"""Rows by ranges of partitions, in pieces; and their numbers among those of all slices."""

from __future__ import annotations

from itertools import pairwise
from threading import Lock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmetrics._core.columns.binary_probabilities import LabelCounts
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.blocks import Block
from fastmetrics._core.exchange.hash_exchange import HASH
from fastmetrics._core.resampling import row_replicates
from fastmetrics._core.resampling.additive_replicates import SPARE_ROWS, JackknifeStates
from fastmetrics._core.resampling.row_replicates import for_each_range, place_in_slices
from fastmetrics._kernels.resampling import segment_sums
from support.cases import each_case

N_PARTITIONS = 64


def store_of(rows_of_blocks, heavy):
    """A store whose hashes are partition numbers; every row has its own number. `heavy` rows are of one partition."""
    random, store, first = np.random.default_rng(2), BlockStore(N_PARTITIONS), 0
    for n in rows_of_blocks:
        partitions = np.sort(np.append(random.integers(0, N_PARTITIONS, n), np.full(heavy, 17)))
        offsets = np.searchsorted(partitions, np.arange(N_PARTITIONS + 1)).astype(np.int32)
        numbers = np.arange(first, first + partitions.shape[0])
        first += partitions.shape[0]
        store.add(Block({HASH: partitions.astype(np.uint64), "number": numbers}, offsets), True)
    return store


@each_case("heavy", [0, 3000])
@each_case("in_memory", [True, False])
@each_case("n_threads", [1, 2])
def test_every_row_comes_once_in_small_pieces(heavy, in_memory, n_threads, monkeypatch):
    monkeypatch.setattr(row_replicates, "LOADED_BYTES", 1 << 13)
    monkeypatch.setattr(row_replicates, "PIECE_ROWS", 64 if in_memory else 1 << 20)
    store, lock, ranges = store_of([2000, 1500, 2500], heavy), Lock(), []

    def add(pieces):
        with lock:
            ranges.append([{name: column.copy() for name, column in own.items()} for own in pieces])
            shared = [
                np.shares_memory(own["number"], block.columns["number"])
                for own in pieces
                for block in store.blocks_in_memory
            ]
            assert any(shared) == in_memory

    for_each_range(store, [HASH, "number"], add, n_threads)
    assert len(ranges) > 4
    numbers = np.concatenate([own["number"] for pieces in ranges for own in pieces])
    assert np.array_equal(np.sort(numbers), np.arange(store.rows))
    assert all(0 < own[HASH].shape[0] <= row_replicates.PIECE_ROWS for pieces in ranges for own in pieces)
    bounds = sorted(
        (min(own[HASH].min() for own in pieces), max(own[HASH].max() for own in pieces)) for pieces in ranges
    )
    assert all(before[1] < after[0] or after == (17, 17) for before, after in pairwise(bounds))


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), max_size=40))
def test_numbers_among_those_of_all_slices(rows):
    numbers = np.array([number for number, _ in rows], np.int32)
    slices = np.array([own for _, own in rows], np.uint16)
    joined = np.array([0, 0, 1, 2, 2], np.int32)
    assert place_in_slices(numbers, slices, 5).tolist() == [number + 5 * own for number, own in rows]
    expected = [int(joined[number]) + 3 * own for number, own in rows]
    assert place_in_slices(numbers, slices, 3, joined).tolist() == expected


def test_numbers_that_are_not_joined_are_refused():
    with pytest.raises(ValueError, match="numbers"):
        place_in_slices(np.array([2], np.int32), np.zeros(1, np.uint16), 2, np.zeros(2, np.int32))


@each_case("n", [0, 1, 63, 64, 65, 200])
def test_columns_are_added_at_their_places(n):
    random = np.random.default_rng(3)
    values, places = random.integers(-9, 9, (n, 3)), random.integers(0, 5, n).astype(np.int32)
    sums, rows = random.integers(0, 9, (4, 5)), np.array([2, 0, 3])
    expected = sums.copy()
    np.add.at(expected, (rows[:, None], places), values.T)
    segment_sums.add_at(values, places, rows, sums)
    assert np.array_equal(sums, expected)


@each_case("wrong", ["places", "rows"])
def test_places_outside_are_refused(wrong):
    places, rows = np.array([5 if wrong == "places" else 0], np.int32), np.array([1 if wrong == "rows" else 0])
    with pytest.raises(ValueError, match=wrong):
        segment_sums.add_at(np.ones((1, 1), np.int64), places, rows, np.zeros((1, 5), np.int64))


def test_states_keep_their_sums_while_integers_are_added():
    states = JackknifeStates(LabelCounts(), 3)
    for n in range(1, min(states.width, 2 * SPARE_ROWS + 3)):
        rows = states.rows_of(np.array([n - 1]))
        states.sums[rows] += n
        assert states.sums.shape == (n, 3)
        assert (states.sums == np.arange(1, n + 1)[:, None]).all()
