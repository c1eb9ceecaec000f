"""Peak memory of a table of keys under a memory limit, in a new process; the counts are checked after the measurement.

    python -m bench.key_table_memory [ROWS KEYS MEMORY_LIMIT]      100 million rows, 20 million keys, 1GiB
"""

import sys
import threading
import time

import numpy as np

from bench.memory import peak_of_this_process
from fastmetrics._core.columns.group_keys import as_keys
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.exchange.memory_size import format_size, parse_size
from fastmetrics._core.tables.key_table import KeyTable

FACTOR = 7919
BATCH_ROWS = 1 << 17
N_THREADS = 2


def batch(number: int, n_keys: int) -> np.ndarray:
    """Keys of the rows of one batch, shuffled."""
    return np.random.default_rng(number).integers(0, n_keys, BATCH_ROWS) * FACTOR


def fill(table: KeyTable, numbers: range, n_keys: int) -> None:
    for number in numbers:
        table.add(as_keys(batch(number, n_keys)))


def main(rows: int = 100_000_000, n_keys: int = 20_000_000, memory_limit: str = "1GiB") -> None:
    budget = MemoryBudget(parse_size(memory_limit, "memory_limit"), None, N_THREADS)
    numbers = range(-(-rows // BATCH_ROWS))
    tables = [KeyTable(1, budget) for _ in range(N_THREADS)]
    before = peak_of_this_process()
    start = time.perf_counter()
    threads = [
        threading.Thread(target=fill, args=(table, numbers[first::N_THREADS], n_keys))
        for first, table in enumerate(tables)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    table, other = tables
    table.merge(other, N_THREADS)
    other.close()
    filled = time.perf_counter()
    values, found = table.count_values(n_threads=N_THREADS)
    read = time.perf_counter()
    print(
        f"peak {format_size(peak_of_this_process())} ({format_size(before)} before the first row), "
        f"{format_size(budget.spill_file.bytes_written)} spilled, {filled - start:.1f} s to fill, "
        f"{read - filled:.1f} s to read {int(found.sum()):,} keys"
    )
    expected = np.zeros(n_keys, np.int32)
    for number in numbers:
        np.add.at(expected, batch(number, n_keys) // FACTOR, 1)
    for part in table.parts():
        positions = part.keys() // FACTOR
        assert (expected[positions] == part.counts()[:, 0]).all()
        expected[positions] = 0
    assert not expected.any()
    assert int((values * found).sum()) == len(numbers) * BATCH_ROWS
    print("all counts are exact")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    main(*map(int, arguments[:2]), *arguments[2:])
