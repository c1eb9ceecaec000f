"""Exchanges: they bring the rows that a statistic needs together into one partition, within a memory budget.

The hash exchange (`hash_exchange.py`, `group_reduction.py`) partitions rows by group key. The range exchange
(`range_exchange.py`, `range_reduction.py`) partitions rows by score; its statistics read runs (`runs.py`). Both store
their rows in a `BlockStore`, which spills to disk. The engine, metric families and the packages of `_core` above it may
import it. It imports `columns` and the kernels. Start with `block_store.py`, then read the exchange that you need.
"""
