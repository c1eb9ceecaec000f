"""Logs that do not fit the memory limit, and counts of the rare code paths that an evaluation used."""

import itertools
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import fastmetrics as fm
from fastmetrics._core.exchange import (
    group_reduction,
    hash_exchange,
    memory_budget,
    memory_size,
    range_exchange,
    range_reduction,
)
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.registry import parse
from fastmetrics.engine.input import batches
from fastmetrics.metrics.ranking.lists import large_groups
from fastmetrics.metrics.ranking.lists.group_pairs import PairsByGroup
from support import strategies
from support.registry_cases import JOINT_METRICS, of_different_work, taking_row_weights

# The common checks spill every metric with all variants; here, metrics that only differ in numbers take one path.
METRICS = of_different_work(JOINT_METRICS)
# Their scores need not be probabilities.
EXCHANGED = [name for name in METRICS if parse(name).spec.exchange != "none"]
COLUMNS = {"label": "label", "score": "prob", "group": "group"}
RARE_PATHS = {
    "spilled": (BlockStore, "write_blocks"),
    "repartitioned": (group_reduction, "repartition"),
    "large partition": (group_reduction, "reduce_large_partition"),
    "large group": (PairsByGroup, "of_large_group"),
    "large list": (large_groups, "load_graded_rows"),
    "large bucket": (range_reduction, "reduce_large_bucket"),
    "large tie": (range_reduction, "states_of_tie"),
}


def evaluate(data: Any, metrics: Any = METRICS, **options: Any) -> fm.Report:
    """Evaluate the log. Its weights are weights of rows: with them, metrics that weigh whole groups are left out."""
    return fm.evaluate(data, taking_row_weights(metrics, options.get("weight")), **{**COLUMNS, **options})


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Count how often each rare path is used."""
    calls: Counter[str] = Counter()

    def counting(path: str, function: Any) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            calls[path] += 1
            return function(*arguments, **options)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for path, (owner, name) in RARE_PATHS.items():
            counted_function = counting(path, getattr(owner, name))
            is_static = isinstance(owner, type) and isinstance(vars(owner)[name], staticmethod)
            patch.setattr(owner, name, staticmethod(counted_function) if is_static else counted_function)
        yield calls


def small_batches(patch: pytest.MonkeyPatch, rows: int) -> None:
    """Many blocks of few rows, like those of a log that is a thousand times as long."""
    patch.setattr(batches, "BATCH_ROWS", rows)
    patch.setattr(batches, "SMALL_BATCH_ROWS", 1)


SCALE = 8
MEMORY = "128KiB"


def scale_down(patch: pytest.MonkeyPatch) -> None:
    """Limits, buckets, partitions, samples and batches are an eighth of their size.

    A log of 10,000 rows with a limit of 128 KiB takes the paths of 80,000 rows with 1 MiB, the smallest limit.
    """
    for module, name in (
        (memory_size, "SMALLEST_LIMIT"), (batches, "BATCH_ROWS"), (range_exchange, "ROWS_PER_BUCKET"),
        (range_exchange, "SAMPLE"), (range_reduction, "SERIAL_ROWS"),
        (hash_exchange, "PARTITION_ROWS"), (hash_exchange, "SERIAL_ROWS"), (group_reduction, "CACHED_ROWS"),
        (group_reduction, "SAMPLED_ROWS"), (group_reduction, "CROWDED_ROWS"),
    ):  # fmt: skip
        patch.setattr(module, name, getattr(module, name) // SCALE)


def tiny_memory(patch: pytest.MonkeyPatch, bytes_per_range: int, blocks_divisor: int = 1 << 20) -> None:
    """With memory_limit="1MiB": ranges of so many bytes for one thread, and hardly a block stays in memory."""
    patch.setattr(memory_budget, "RANGE_DIVISOR", (1 << 20) // bytes_per_range)
    patch.setattr(memory_budget, "BLOCKS_DIVISOR", blocks_divisor)


def log_of(rows: int, users: int | None = None, seed: int = 0, dtype: str = "float64") -> dict[str, Any]:
    """The columns of click_log with some tied scores, `weight` (integers, some 0), `real` weights, `hour`, `city`."""
    generator = np.random.default_rng(seed + 1)
    log: dict[str, Any] = strategies.click_log(rows, rows // 10 if users is None else users, seed, dtype, levels=None)
    rounded = generator.random(rows) < 0.5
    log["prob"] = np.where(rounded, np.round(log["prob"], 2), log["prob"]).astype(dtype)
    log["weight"] = generator.integers(0, 5, rows).astype(np.float64)
    log["real"] = generator.lognormal(0.0, 2.0, rows)
    log["hour"] = generator.integers(0, 4, rows)
    log["city"] = pa.array(["Bern", "Köln", "Ørsta"]).take(pa.array(generator.integers(0, 3, rows)))
    return log


def repeated(log: dict[str, Any], column: str, share: float, value: Any, seed: int = 5) -> dict[str, Any]:
    """The log with one value in a column for a random share of the rows."""
    chosen = np.random.default_rng(seed).random(len(log[column])) < share
    return {**log, column: np.where(chosen, value, log[column]).astype(log[column].dtype)}


def moved(log: dict[str, Any], order: np.ndarray) -> dict[str, Any]:
    """The rows in another order, or a part of them."""
    found = {}
    for name, column in log.items():
        if isinstance(column, pa.Array):
            # Some versions of pyarrow cannot take rows of string views.
            taken = column.cast(pa.string()) if pa.types.is_string_view(column.type) else column
            found[name] = taken.take(pa.array(order)).cast(column.type)
        else:
            found[name] = column[order]
    return found


def slice_rows(log: dict[str, Any], where: np.ndarray) -> dict[str, Any]:
    return moved(log, np.flatnonzero(where))


def text_of(numbers: np.ndarray, name_of: Any) -> pa.Array:
    """The name of every number."""
    distinct, indices = np.unique(numbers, return_inverse=True)
    return pa.array([name_of(int(number)) for number in distinct], pa.string()).take(pa.array(indices))


def long_name(number: int) -> str:
    digits = f"{number * 0x9E3779B97F4A7C15 % (1 << 128):032x}"
    return "-".join(digits[start:stop] for start, stop in itertools.pairwise((0, 8, 12, 16, 20, 32)))


def any_name(number: int) -> str:
    """Short, long, empty and non-ASCII names, names with a zero byte, and names as long as a slot."""
    digits = str(number)
    kinds = [digits, long_name(number), f"用户{number}", f"Ünïcödé-användare-{number}", f"a\0{number}"]
    kinds += [digits.rjust(12, "_"), digits.rjust(13, "_"), "x" * 300 + digits]
    kinds += ["" if number == 8 else digits.rjust(16, "é")]
    return kinds[number % len(kinds)]


KEYS = {
    "int64": lambda numbers: numbers * 1_000_003 - (1 << 62),
    "int32": lambda numbers: (numbers - 100).astype(np.int32),
    "uint64": lambda numbers: numbers.astype(np.uint64) + np.uint64((1 << 64) - 200_000),
    "short text": lambda numbers: text_of(numbers, "u{}".format),
    "long text": lambda numbers: text_of(numbers, long_name),
    "any text": lambda numbers: text_of(numbers, any_name),
    "large text": lambda numbers: text_of(numbers, any_name).cast(pa.large_string()),
    "dictionary": lambda numbers: text_of(numbers, any_name).dictionary_encode(),
}
