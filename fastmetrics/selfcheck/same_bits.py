"""The checks of `fastmetrics.testing` that are about bits, and those of other registers.

The same rows in another order, with other numbers of threads, in batches, from merged states and under a memory limit.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from inspect import isfunction

import numpy as np

import fastmetrics
from fastmetrics import testing
from fastmetrics.metrics.clustering import mean_distances
from fastmetrics.selfcheck.outcomes import SelfCheck, without_seed
from fastmetrics.testing.comparing import Check, require_equal

TITLES = {
    "row_order": "order of rows", "threads": "threads", "batches": "batches", "accumulators": "merged states",
    "memory_limit": "memory limit",
}  # fmt: skip


def same_bits(family: str, subject: str, checks: Iterable[Check]) -> Iterator[SelfCheck]:
    """Those of the checks that are about bits. Their rows do not depend on the seed."""
    for name, run in checks:
        if name in TITLES:
            yield SelfCheck(family, f"{subject}: {TITLES[name]}", without_seed(run))


def function_checks() -> Iterator[SelfCheck]:
    """Checks of every public function of rows."""
    for name in sorted(fastmetrics.__all__):
        function = getattr(fastmetrics, name)
        if isfunction(function) and function.__module__.startswith("fastmetrics.metrics"):
            yield from same_bits(function.__module__.split(".")[2], name, testing.function_checks(function))
    yield SelfCheck("clustering", "silhouette_samples: widths of registers", same_register_widths)


def metric_checks() -> Iterator[SelfCheck]:
    """Checks of every registered metric in `evaluate`."""
    for spec in fastmetrics.list_metrics().values():
        yield from same_bits(spec.family, f"evaluate, {spec.name}", testing.metric_checks(spec.name))


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
