"""Two paths to the same number, timed in turns: what docs/internals/paths.md says that a path buys.

    python -m bench.path_pairs

Each pair gives equal values, or nothing is timed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa

import fastmetrics as fm
from fastmetrics._core.exchange import sorted_rows
from fastmetrics._core.resampling import replicate_batch, weighted_batch
from fastmetrics.metrics.classification import accuracy, label_counts, label_weights
from fastmetrics.metrics.classification import confusion_matrix as matrices
from fastmetrics.metrics.curves import auc, eer, ks
from fastmetrics.metrics.curves import average_precision as ap
from fastmetrics.metrics.probability import log_loss as losses

Pair = tuple[str, Callable[[], Any], Callable[[], Any]]


def rows_of(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Labels, scores, and two columns of three classes."""
    rng = np.random.default_rng(7)
    return rng.integers(0, 2, n), rng.random(n), rng.integers(0, 3, n), rng.integers(0, 3, n)


def without(module: Any, name: str, value: Any, call: Callable[[], Any]) -> Callable[[], Any]:
    """The call with another value of a name of the module."""

    def changed() -> Any:
        with mock.patch.object(module, name, value):
            return call()

    return changed


def pairs() -> Iterator[Pair]:
    y, s, t, p = rows_of(100)
    guarded = {
        "AUC": (auc.roc_auc_score, y, s),
        "AP": (ap.average_precision_score, y, s),
        "KS": (ks.ks_statistic, y, s),
        "EER": (eer.equal_error_rate, y, s),
        "log loss": (losses.log_loss, y, s),
        "confusion matrix": (matrices.count_matrix, t, p),
        "counts of each class": (label_counts.count_classes, t, p),
        "equal rows": (accuracy.count_matching_rows, t, p),
    }
    for name, (function, *columns) in guarded.items():
        yield f"{name}, 100 rows: one kernel call", partial(function, *columns), partial(function.__wrapped__, *columns)
    for n in (100, 10_000):
        y, s, *_ = rows_of(n)
        call = partial(auc.solve_binary_auc, y, s, None, None)
        yield f"AUC, {n:,} rows: no objects for ranges", call, without(auc, "SERIAL_ROWS", 0, call)
    y, s, *_ = rows_of(10_000)
    call = partial(ap.solve_binary_average_precision, y, s, None, None)
    yield "AP, 10,000 rows: no objects for ranges", call, without(sorted_rows, "SERIAL_ROWS", 0, call)
    y, s, *_ = rows_of(5000)
    call = partial(fm.best_threshold, y, s)
    yield "best threshold, 5,000 rows: a curve", call, without(sorted_rows, "SERIAL_ROWS", 0, call)
    yield from replicate_pairs()
    y, s, t, p = rows_of(1_000_000)
    call = partial(label_counts.count_range_cells, y, y[::-1].copy(), 1)
    other = without(label_counts, "count_binary_cells", nothing, call)
    yield "confusion matrix, 1,000,000 rows of 0 and 1", call, other
    call = partial(matrices.count_matrix, t, p, None, s)
    yield "confusion matrix, 1,000,000 weighted rows", call, without(label_weights, "has_square", no_square, call)


def interval(log: pa.Table, metric: str, weight: str | None) -> tuple[float, float] | None:
    options: dict[str, Any] = {"label": "y", "score": "s", "weight": weight, "unit": "u", "n_threads": 1}
    return fm.evaluate(log, metric, ci=0.9, replicates=64, **options).result(metric).interval


def replicate_pairs() -> Iterator[Pair]:
    """64 replicates of 20,000 rows, read together or one by one."""
    y, s, _, _ = rows_of(20_000)
    log = pa.table({"y": y, "s": s, "w": np.random.default_rng(8).random(20_000), "u": np.arange(20_000) % 5000})
    for metric in ("ks", "eer", "ap"):
        for weight in (None, "w"):
            call = partial(interval, log, metric, weight)
            changed = (weighted_batch, "MOST_LIMBS", 0) if weight else (replicate_batch, "SMALL_ROWS", 0)
            yield f"{metric}, 64 replicates{', weights' if weight else ''}", call, without(*changed, call)


def nothing(*args: Any) -> None:
    return None


def no_square(*args: Any) -> bool:
    return False


def best_time(call: Callable[[], Any], seconds: float) -> float:
    """The best time of a call, among all calls in so many seconds."""
    best, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def main() -> None:
    for title, path, other in pairs():
        value, same = (getattr(call(), "value", None) or repr(call()) for call in (path, other))
        assert value == same, title
        times = [(best_time(path, 0.1), best_time(other, 0.1)) for _ in range(5)]
        here, there = (min(column) * 1e6 for column in zip(*times, strict=True))
        print(f"{title:45} {here:10,.1f} us   without it {there:10,.1f} us   {there / here:5.1f} times")


if __name__ == "__main__":
    main()
