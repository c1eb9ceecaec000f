# Written by tools/generate.py from column_blocks.pyx.

from typing import Any


class ColumnBlocks:
    n_blocks: int
    item_bytes: int
    are_writable: bool
    def __init__(self, arrays: list[Any], writable: bool = False) -> None: ...
