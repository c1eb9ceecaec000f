"""The same bits of functions in another order of rows, with other numbers of threads and other registers."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import fastmetrics
from fastmetrics.metrics.clustering import mean_distances
from fastmetrics.selfcheck.outcomes import SelfCheck
from fastmetrics.testing.comparing import require_equal
from fastmetrics.testing.function_cases import FunctionCase, function_case
from fastmetrics.testing.sample_logs import Log, click_log, select

FEW_ROWS = 3_000
THREADED_ROWS = 140_000  # more than one block: several threads have work
THREADS = (2, 3)


def log_of(chance: random.Random, rows: int) -> Log:
    log = click_log(rows, seed=chance.randrange(2**31))
    return {**log, "prob": np.clip(log["prob"], 0.01, 0.99)}


def function_checks() -> Iterator[SelfCheck]:
    """Checks of every public function of rows."""
    for name in sorted(fastmetrics.__all__):
        function = getattr(fastmetrics, name)
        is_function = callable(function) and not isinstance(function, type)
        case = (
            function_case(function) if is_function and function.__module__.startswith("fastmetrics.metrics") else None
        )
        if case is not None:
            family = function.__module__.split(".")[2]
            yield SelfCheck(family, f"{name}: order of rows", same_order(name))
            yield SelfCheck(family, f"{name}: threads", same_threads(name))

    yield SelfCheck("clustering", "silhouette_samples: widths of registers", same_register_widths)


def same_register_widths(chance: random.Random) -> None:
    """Every width that this processor has gives the same bits."""
    generator = np.random.default_rng(chance.randrange(2**31))
    points, labels = generator.normal(size=(500, 7)), generator.integers(0, 4, 500)
    widest = mean_distances.REGISTER_WIDTH
    expected = fastmetrics.silhouette_samples(points, labels)
    try:
        for width in range(widest):
            mean_distances.REGISTER_WIDTH = width
            require_equal(
                expected, fastmetrics.silhouette_samples(points, labels), f"register width {width} of {widest}"
            )
    finally:
        mean_distances.REGISTER_WIDTH = widest


def current_case(name: str) -> FunctionCase:
    case = function_case(getattr(fastmetrics, name))
    if case is None:
        raise AssertionError(f"{name} is not a function of rows")
    return case


def value(case: FunctionCase, log: Log, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return case.call(log, **case.options[0], **options)


def same_order(name: str) -> Callable[[random.Random], None]:
    def run(chance: random.Random) -> None:
        case, log = current_case(name), log_of(chance, FEW_ROWS)
        expected = value(case, log)
        shuffled = list(range(FEW_ROWS))
        chance.shuffle(shuffled)
        for rows, words in ((shuffled, "a shuffled log"), (slice(None, None, -1), "a reversed log")):
            require_equal(expected, value(case, select(log, rows)), words)

    return run


def same_threads(name: str) -> Callable[[random.Random], None]:
    def run(chance: random.Random) -> None:
        case, log = current_case(name), log_of(chance, THREADED_ROWS)
        expected = value(case, log, n_threads=1)
        for n_threads in THREADS:
            require_equal(expected, value(case, log, n_threads=n_threads), f"n_threads={n_threads}")

    return run
