"""Logs that do not fit the memory allowed, and counts that tell which of the rare paths an evaluation really took."""

import itertools
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from test_common import STRINGS, by_row

import fastmetrics as fm
import strategies
from fastmetrics._core import blocks, giant_lists, group_runs, score_runs
from fastmetrics._core.registry import parse
from fastmetrics.engine import batches
from fastmetrics.metrics.ranking.auc import PairsByGroup

METRICS = STRINGS
# Their scores need not be probabilities.
EXCHANGED = [name for name in STRINGS if parse(name).spec.exchange != "none"]
COLUMNS = {"label": "label", "score": "prob", "group": "group"}
RARE_PATHS = {
    "spilled": (blocks, "write_block"),
    "cut again": (group_runs, "cut_again"),
    "large partition": (group_runs, "reduce_large"),
    "giant group": (PairsByGroup, "of_giant"),
    "giant list": (giant_lists, "hold_rows"),
    "large bucket": (score_runs, "large_bucket"),
    "giant tie": (score_runs, "tie_states"),
}


def evaluate(data: Any, metrics: Any = METRICS, **options: Any) -> fm.Report:
    """Weights of these logs are of rows: metrics that weigh whole groups are left out where they are given."""
    return fm.evaluate(data, by_row(metrics, options.get("weight")), **{**COLUMNS, **options})


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """How often each of the rare paths was taken."""
    calls: Counter[str] = Counter()

    def counting(path: str, function: Any) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            calls[path] += 1
            return function(*arguments, **options)

        return call

    with pytest.MonkeyPatch.context() as patch:
        for path, (holder, name) in RARE_PATHS.items():
            own = counting(path, getattr(holder, name))
            is_static = isinstance(holder, type) and isinstance(vars(holder)[name], staticmethod)
            patch.setattr(holder, name, staticmethod(own) if is_static else own)
        yield calls


def small_batches(patch: pytest.MonkeyPatch, rows: int) -> None:
    """Many blocks of few rows, as a log has that is a thousand times as long."""
    patch.setattr(batches, "BATCH_ROWS", rows)
    patch.setattr(batches, "SMALL_BATCH_ROWS", 1)


def tiny_memory(patch: pytest.MonkeyPatch, run_bytes: int, held_share: int = 1 << 20) -> None:
    """With memory_limit="1MiB": runs of so many bytes for one thread, and hardly a block that is held."""
    patch.setattr(blocks, "RUN_SHARE", (1 << 20) // run_bytes)
    patch.setattr(blocks, "HELD_SHARE", held_share)


def log_of(rows: int, users: int | None = None, seed: int = 0, dtype: str = "float64") -> dict[str, Any]:
    """The columns of click_log, some scores tied, `weight` (integers, some 0), `real` weights, `hour` and `city`."""
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
    """The log where a share of the rows, anywhere, has one value in a column."""
    chosen = np.random.default_rng(seed).random(len(log[column])) < share
    return {**log, column: np.where(chosen, value, log[column]).astype(log[column].dtype)}


def moved(log: dict[str, Any], order: np.ndarray) -> dict[str, Any]:
    """The rows in another order, or some of them."""
    found = {}
    for name, column in log.items():
        if isinstance(column, pa.Array):
            # Not every pyarrow takes rows of views of text.
            taken = column.cast(pa.string()) if pa.types.is_string_view(column.type) else column
            found[name] = taken.take(pa.array(order)).cast(column.type)
        else:
            found[name] = column[order]
    return found


def slice_rows(log: dict[str, Any], where: np.ndarray) -> dict[str, Any]:
    return moved(log, np.flatnonzero(where))


def text_of(numbers: np.ndarray, spell: Any) -> pa.Array:
    distinct, places = np.unique(numbers, return_inverse=True)
    return pa.array([spell(int(number)) for number in distinct], pa.string()).take(pa.array(places))


def long_name(number: int) -> str:
    digits = f"{number * 0x9E3779B97F4A7C15 % (1 << 128):032x}"
    return "-".join(digits[start:stop] for start, stop in itertools.pairwise((0, 8, 12, 16, 20, 32)))


def any_name(number: int) -> str:
    """Short, long, empty, not ASCII, with a zero inside, and of the lengths at which slots end."""
    spelt = str(number)
    kinds = [spelt, long_name(number), f"用户{number}", f"Ünïcödé-användare-{number}", f"a\0{number}"]
    kinds += [spelt.rjust(12, "_"), spelt.rjust(13, "_"), "x" * 300 + spelt]
    kinds += ["" if number == 8 else spelt.rjust(16, "é")]
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
