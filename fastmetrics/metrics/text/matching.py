"""One thread's memory for n-grams that two texts share; `sharedgrams.pxd` says what each array is for."""

from __future__ import annotations

import numpy as np

from fastmetrics._core.rows import Scratch
from fastmetrics._kernels import charngrams

LONGEST = charngrams.LONGEST_MASKED
LONGEST_ORDER = charngrams.LONGEST_ORDER_MASKED


class MatchMemory:
    """Arrays that kernels leave as they find them, all zero, and others that they use."""

    def __init__(self) -> None:
        self.scratch = Scratch()
        self.rows = np.zeros(0, np.uint16)
        self.masks = np.zeros(0, np.uint64)

    def reserve(self, longest: int, greatest: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """rows, masks and numbers for texts of so many symbols, the greatest of them so great."""
        length = min(longest, LONGEST)
        n_masks = (length + 1) * -(-length // 64)
        if len(self.masks) < n_masks:
            self.masks = np.zeros(n_masks, np.uint64)
        if len(self.rows) <= greatest:
            self.rows = np.zeros(greatest + greatest // 4 + 1, np.uint16)
        return self.rows, self.masks, self.scratch.take("numbers", np.uint16, longest)

    def reserve_tables(self, longest: int, order: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """keys, grams, gram_numbers and shared: empty where masks do for texts so long and n-grams so long."""
        is_needed = longest > LONGEST or order > LONGEST_ORDER
        size, places = (table_size(longest), longest + 1) if is_needed else (0, 0)
        take = self.scratch.take
        return (
            take("keys", np.uint64, size), take("grams", np.int64, size),
            take("gram_numbers", np.int64, 3 * places).reshape(3, -1), take("shared", np.uint8, places),
        )  # fmt: skip


def table_size(n: int) -> int:
    """The least power of two that is at least 16 and twice n."""
    return max(16, 1 << max(2 * n - 1, 0).bit_length())
