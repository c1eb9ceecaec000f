"""`NgramScratch`: one thread's arrays for matching n-grams of two texts. `shared_ngrams.pxd` explains each array."""

from __future__ import annotations

import numpy as np

from fastmetrics._core.columns.row_blocks import Scratch
from fastmetrics._kernels.text import chrf_ngrams

LONGEST_MASKED = chrf_ngrams.LONGEST_MASKED
LONGEST_ORDER_MASKED = chrf_ngrams.LONGEST_ORDER_MASKED


class NgramScratch:
    """Scratch arrays of the n-gram kernels. `rows` and `masks` are all zero before and after every call."""

    def __init__(self) -> None:
        self.scratch = Scratch()
        self.rows = np.zeros(0, np.uint16)
        self.masks = np.zeros(0, np.uint64)

    def mask_arrays(self, longest: int, greatest: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return rows, masks and numbers for texts of at most `longest` symbols, none above `greatest`."""
        length = min(longest, LONGEST_MASKED)
        n_masks = (length + 1) * -(-length // 64)
        if len(self.masks) < n_masks:
            self.masks = np.zeros(n_masks, np.uint64)
        if len(self.rows) <= greatest:
            self.rows = np.zeros(greatest + greatest // 4 + 1, np.uint16)
        return self.rows, self.masks, self.scratch.array("numbers", np.uint16, longest)

    def table_arrays(self, longest: int, order: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return keys, grams, gram_numbers and shared. They are empty if masks suffice for these texts and orders."""
        is_needed = longest > LONGEST_MASKED or order > LONGEST_ORDER_MASKED
        size, positions = (table_size(longest), longest + 1) if is_needed else (0, 0)
        array = self.scratch.array
        return (
            array("keys", np.uint64, size), array("grams", np.int64, size),
            array("gram_numbers", np.int64, 3 * positions).reshape(3, -1), array("shared", np.uint8, positions),
        )  # fmt: skip


def table_size(n: int) -> int:
    """Return the smallest power of two that is at least 16 and at least 2 n."""
    return max(16, 1 << max(2 * n - 1, 0).bit_length())
