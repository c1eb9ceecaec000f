"""Memory of states that grow with the rows: within the budget, then a spill file that is mapped into memory."""

from __future__ import annotations

import math
from threading import Lock
from typing import Any

import numpy as np

from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.exchange.spill import SpillFile

SLAB_BYTES = 1 << 26  # mapped at a time, for many small arrays: each map takes a file descriptor
ALIGNMENT = 64


class StateMemory:
    """Makes arrays that count against the memory budget. Those that do not fit are in a file without a name.

    Several threads may allocate.
    """

    def __init__(self, budget: MemoryBudget | None) -> None:
        self.budget = budget
        self.reserved_bytes = 0
        self.file: SpillFile | None = None
        self.slab = np.empty(0, np.uint8)  # what is left of the last mapped bytes
        self.lock = Lock()

    def allocate(self, shape: Any, dtype: Any) -> np.ndarray:
        """An array with any content."""
        n_bytes = math.prod(shape if isinstance(shape, tuple) else (shape,)) * np.dtype(dtype).itemsize
        if self.budget is None:
            return np.empty(shape, dtype)
        with self.lock:
            if self.budget.try_reserve(n_bytes):
                self.reserved_bytes += n_bytes
                return np.empty(shape, dtype)
            if self.slab.shape[0] < n_bytes:
                if self.file is None:
                    self.file = SpillFile(self.budget.folder)
                self.slab = self.file.map(max(SLAB_BYTES, n_bytes))
            array: np.ndarray = self.slab[:n_bytes].view(dtype)
            self.slab = self.slab[-(-n_bytes // ALIGNMENT) * ALIGNMENT :]
        return array.reshape(shape)

    def release(self) -> None:
        """Give the reserved bytes back to the budget. Arrays stay valid."""
        if self.budget is not None:
            self.budget.release(self.reserved_bytes)
        self.reserved_bytes = 0
        if self.file is not None:
            self.file.close()
