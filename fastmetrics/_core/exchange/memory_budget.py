"""The memory budget of one evaluation, shared by all its block stores and by states that grow with the rows."""

from __future__ import annotations

import math
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np

from fastmetrics._core.exchange.memory_size import SMALLEST_DEFAULT, default_memory_limit, format_size
from fastmetrics._core.exchange.spill import SpillFile, check_free_space

# Stored blocks may take half of the limit. The partitions that threads work on take the other half.
BLOCKS_DIVISOR = 2
# States that cannot spill may take this part of the limit.
STATES_DIVISOR = 2
# Blocks that wait to be joined, and then spilled, may take this part.
WAITING_DIVISOR = 8
# A thread loads at most this part of the limit at once, for it needs about three times as much while it works.
RANGE_DIVISOR = 16
MAX_RANGE_BYTES = 1 << 26
SLAB_BYTES = 1 << 26  # mapped at a time, for many small arrays: each map takes a file descriptor
ALIGNMENT = 64


class MemoryLimitError(ValueError):
    """A state that cannot spill does not fit the memory limit."""


class MemoryBudget:
    """The memory that the blocks of one evaluation may take, and the folder for blocks that do not fit.

    Parameters
    ----------
    limit : int or None
        The memory limit in bytes. None: the default limit, divided by `processes`; it is determined at its first use.
    folder : str or None
        Where spill files are made. None: the system's folder for temporary files.
    n_threads : int
        Threads that load partitions at the same time.
    processes : int
        Processes that share the default limit.
    """

    def __init__(self, limit: int | None, folder: str | None, n_threads: int, processes: int = 1) -> None:
        self.explicit_limit = limit
        self.folder = folder
        self.n_threads = n_threads
        self.processes = processes
        self.reserved_bytes = 0
        self.state_bytes = 0
        self.waiting: set[int] = set()  # the stores whose blocks wait
        self.lock = Lock()

    def empty(self) -> MemoryBudget:
        """A budget of the same size of which nothing is reserved."""
        return MemoryBudget(self.explicit_limit, self.folder, self.n_threads, self.processes)

    @cached_property
    def limit(self) -> int:
        return default_memory_limit() // self.processes if self.explicit_limit is None else self.explicit_limit

    @cached_property
    def spill_file(self) -> SpillFile:
        """The spill file that tables of keys share: there may be many. It is made at its first use."""
        return SpillFile(self.folder)

    @property
    def bytes_per_range(self) -> int:
        """The most bytes that a thread loads at once: those of a range of partitions."""
        return max(1, min(MAX_RANGE_BYTES, self.limit // (RANGE_DIVISOR * self.n_threads)))

    def waiting_bytes(self, store: object) -> int:
        """The most bytes of the blocks of a store that wait to be joined: all stores share their part of the limit."""
        with self.lock:
            self.waiting.add(id(store))
            return self.limit // (WAITING_DIVISOR * len(self.waiting))

    def stop_waiting(self, store: object) -> None:
        """The store is closed."""
        with self.lock:
            self.waiting.discard(id(store))

    def try_reserve(self, n_bytes: int) -> bool:
        """Reserve n_bytes if they fit the budget; return whether they did."""
        with self.lock:
            fits = self.has_space_for(self.reserved_bytes + n_bytes)
            self.reserved_bytes += n_bytes if fits else 0
            return fits

    def reserve_state(self, n_bytes: int) -> bool:
        """Reserve n_bytes for a state that cannot spill, if all such states fit their part; return whether they do.

        Blocks of rows may have taken their own part already: rows that come later spill the sooner.
        """
        with self.lock:
            fits = self.is_within(self.state_bytes + n_bytes, STATES_DIVISOR)
            self.reserved_bytes += n_bytes if fits else 0
            self.state_bytes += n_bytes if fits else 0
            return fits

    def require_state(self, n_bytes: int, what: str, advice: str = "; allow more memory") -> None:
        """Reserve n_bytes for a state that cannot spill, or raise an error that says what takes too much."""
        if not self.reserve_state(n_bytes):
            raise MemoryLimitError(
                f"{what} take more than half of memory_limit={format_size(self.limit)}, which is all that they may take"
                f"{advice}"
            )

    def release_state(self, n_bytes: int) -> None:
        """Give bytes of a state back to the budget."""
        with self.lock:
            self.reserved_bytes -= n_bytes
            self.state_bytes -= n_bytes

    def has_space_for(self, n_bytes: int) -> bool:
        """Return whether so many bytes in all fit the half of the limit that stored blocks may take."""
        return self.is_within(n_bytes, BLOCKS_DIVISOR)

    def is_within(self, n_bytes: int, divisor: int) -> bool:
        """Return whether so many bytes are at most the limit by the divisor."""
        # The default limit is at least SMALLEST_DEFAULT. Most logs fit that and need not determine the limit.
        smallest = SMALLEST_DEFAULT // self.processes if self.explicit_limit is None else self.explicit_limit
        return n_bytes <= smallest // divisor or n_bytes <= self.limit // divisor

    def check_disk_space(self, n_bytes: int) -> None:
        """Raise SpillError if n_bytes of blocks fit neither the memory nor the disk."""
        if self.has_space_for(n_bytes):
            return
        check_free_space(self.folder, n_bytes - self.limit // BLOCKS_DIVISOR)

    def release(self, n_bytes: int) -> None:
        """Give reserved bytes back to the budget."""
        with self.lock:
            self.reserved_bytes -= n_bytes


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
