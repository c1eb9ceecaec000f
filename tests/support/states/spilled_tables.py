"""Tables of cells that spill after a few of them."""

from fastmetrics._core.tables import cell_table
from fastmetrics._core.tables.key_table import KeyTable


def spill_cells(patch, most_bytes=2000, divisor=1 << 20):
    """All cells move to tables of keys, which spill beyond a size."""
    patch.setattr(cell_table, "FEW_CELLS", 0)
    patch.setattr(cell_table, "COUNTER_DIVISOR", divisor)
    patch.setattr("fastmetrics._core.tables.key_table.SMALL_SHARD", 1)
    patch.setattr(KeyTable, "try_reserve", lambda table, n_bytes: table.n_bytes + n_bytes < most_bytes)
