"""The resampling units that rows are: keys that stand for what is in their columns."""

import numpy as np
import pyarrow as pa

from fastmetrics._core.columns.key_columns import KeyScratch, NumberKeys
from fastmetrics._core.resampling.equal_rows import EqualRows
from fastmetrics._kernels.exchange import hash_partition
from fastmetrics.engine.input.row_hashes import hash_arrays, hash_column, hash_values


def keys_of_rows(log, numbers, others=(), by=None):
    """The keys of all rows: columns of numbers in the order label, scores, weight; other columns; one of slices."""
    rows = len(log[[*numbers, *others][0]])
    arrays = [np.asarray(log[name]) for name in numbers]
    arrays += [hash_column(pa.array(log[name])) for name in others]
    content = hash_arrays(arrays, rows)
    if by is not None:
        content = hash_arrays([content, hash_values([(value,) for value in np.asarray(log[by]).tolist()])], rows)
    scratch = KeyScratch(rows, np.dtype(np.uint64))
    NumberKeys(content).hash_block(0, rows, scratch)
    EqualRows().number(scratch.hashes)
    keys = np.empty(rows, np.uint64)
    hash_partition.unhash_keys(scratch.hashes, keys)
    return keys
