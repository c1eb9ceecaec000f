"""Rows as the exchange by units stores them, and the replicates of score statistics of such rows."""

import numpy as np

from fastmetrics._core.columns.group_keys import as_keys
from fastmetrics._core.columns.key_columns import KeyScratch
from fastmetrics._core.columns.row_blocks import SLICE, WEIGHT, Output, label_name, score_name
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.blocks import Block
from fastmetrics._core.exchange.hash_exchange import HASH
from fastmetrics._core.exchange.range_reduction import RangeReduction
from fastmetrics._core.registry import parse
from fastmetrics._core.resampling.range_replicates import replicate_scores
from fastmetrics._core.resampling.resampling_units import draw_weights, find_unit_buckets

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


def hashes_of(units):
    return np.asarray(units, np.uint64) * MULTIPLIER


def store_of(labels, scores, units, row_weights=None, slices=None, budget=None, block_rows=1 << 17):
    """Rows in the form in which the exchange by units stores them."""
    columns = {label_name(0): np.asarray(labels, np.uint8), score_name(0): np.asarray(scores), HASH: hashes_of(units)}
    if row_weights is not None:
        columns[WEIGHT] = np.asarray(row_weights, np.float64)
    if slices is not None:
        columns[SLICE] = np.asarray(slices, np.uint16)
    store = BlockStore(1, budget)
    for start in range(0, len(labels), block_rows):
        block = {name: np.ascontiguousarray(values[start : start + block_rows]) for name, values in columns.items()}
        rows = len(block[HASH])
        is_reserved = store.try_reserve(sum(values.nbytes for values in block.values()))
        store.add(Block(block, np.array([0, rows], np.int32)), is_reserved)
    return store


def repeat_units(log, keys, seed):
    """The log with the rows of every unit repeated by its weight in replicate 0."""
    own = as_keys(keys)
    scratch = KeyScratch(own.rows, own.dtype)
    own.hash_block(0, own.rows, scratch)
    unit_buckets = find_unit_buckets([scratch.hashes])
    times = draw_weights(unit_buckets, seed, 0, 1)[:, 0][unit_buckets.bucket_of(scratch.hashes)]
    return {name: np.repeat(column, times) for name, column in log.items()}


def statistics_of(metrics):
    return list(dict.fromkeys(statistic for metric in metrics for statistic in parse(metric).statistics()))


def replicate(store, unit_buckets, n, metrics, weighted=False, n_slices=0, n_threads=1, seed=3):
    reduction = RangeReduction(store, Output(0, 0), weighted, statistics_of(metrics), n_threads)
    return replicate_scores(reduction, unit_buckets, seed, n, n_slices)


def value_of(metric, state):
    return parse(metric).finalize(state).value
