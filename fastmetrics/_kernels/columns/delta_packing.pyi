# Written by tools/generate.py from delta_packing.pyx.

from typing import Any

from fastmetrics._kernels.columns.column_blocks import ColumnBlocks

MOST_BLOCK_BYTES: int

def most_packed_bytes(n: int) -> int: ...
def pack_deltas(values: ColumnBlocks, out: Any) -> int: ...
