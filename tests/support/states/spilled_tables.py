"""Tables of pairs of labels that spill after a few pairs."""

from fastmetrics._core.tables import pair_table
from fastmetrics._core.tables.key_table import KeyTable


def spill_pairs(patch, most_bytes=2000, divisor=1 << 20):
    """All pairs move to tables of keys, which spill beyond a size."""
    patch.setattr(pair_table, "FEW_PAIRS", 0)
    patch.setattr(pair_table, "COUNTER_DIVISOR", divisor)
    patch.setattr("fastmetrics._core.tables.key_table.SMALL_SHARD", 1)
    patch.setattr(KeyTable, "try_reserve", lambda table, n_bytes: table.n_bytes + n_bytes < most_bytes)
