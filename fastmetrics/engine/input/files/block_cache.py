"""A file of a store, read in blocks of which the last few are kept: small reads are no requests."""

from __future__ import annotations

import io
from collections import OrderedDict
from typing import Any

BLOCK_BYTES = 4 << 20
KEPT_BLOCKS = 4


class PlacedReader(io.RawIOBase):
    """A file object that reads from a place of its own in a file, which other readers may read too."""

    def __init__(self, file: Any, size: int) -> None:
        super().__init__()
        self._file = file
        self._size = size
        self._place = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        place = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        if place < 0:
            raise OSError(f"a place before the beginning of the file: {place}")
        self._place = place
        return place


class CachedBlocks(PlacedReader):
    """A file object over a file with ``read_at``, which stays open."""

    def __init__(self, file: Any) -> None:
        super().__init__(file, int(file.size()))
        self._blocks: OrderedDict[int, bytes] = OrderedDict()

    def read(self, size: int | None = -1) -> bytes:
        """At most `size` bytes from the present place."""
        left = max(0, self._size - self._place)
        size = left if size is None or size < 0 else min(size, left)
        if size > BLOCK_BYTES:
            content = bytes(self._file.read_at(size, self._place))
            self._place += len(content)
            return content
        pieces = []
        while size:
            number, start = divmod(self._place, BLOCK_BYTES)
            piece = self._block(number)[start : start + size]
            if not piece:  # the file became shorter
                break
            pieces.append(piece)
            self._place += len(piece)
            size -= len(piece)
        return b"".join(pieces)

    def _block(self, number: int) -> bytes:
        if number in self._blocks:
            self._blocks.move_to_end(number)
            return self._blocks[number]
        start = number * BLOCK_BYTES
        block = bytes(self._file.read_at(min(BLOCK_BYTES, self._size - start), start))
        self._blocks[number] = block
        if len(self._blocks) > KEPT_BLOCKS:
            self._blocks.popitem(last=False)
        return block
