"""Registered metrics in `evaluate`: the same report in any order, batches, threads, under a memory limit, and merged.

Metrics that read the same columns are evaluated together; a report that differs names the metric.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import fastmetrics
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics._core.registry import parse
from fastmetrics.selfcheck.outcomes import SelfCheck
from fastmetrics.testing.comparing import require_equal
from fastmetrics.testing.metric_cases import metric_cases
from fastmetrics.testing.sample_logs import Log, click_log, sample_log, select

ROWS = 2_000
LIMITED_ROWS = 80_000  # more than a mebibyte holds
CUTS = (slice(0, 700), slice(700, 701), slice(701, None))
Columns = dict[str, Any]
Variant = Callable[[random.Random, list[str], Columns, Log], Any]


def batches_of(log: Log, size: int) -> Any:
    return pa.table(log).to_reader(max_chunksize=size)


def shuffled(chance: random.Random, metrics: list[str], columns: Columns, log: Log) -> Any:
    rows = list(range(ROWS))
    chance.shuffle(rows)
    return fastmetrics.evaluate(select(log, rows), metrics, **columns)


def threaded(chance: random.Random, metrics: list[str], columns: Columns, log: Log) -> Any:
    return fastmetrics.evaluate(log, metrics, **columns, n_threads=3)


def batched(chance: random.Random, metrics: list[str], columns: Columns, log: Log) -> Any:
    return fastmetrics.evaluate(batches_of(log, chance.randint(50, 900)), metrics, **columns)


def merged(chance: random.Random, metrics: list[str], columns: Columns, log: Log) -> Any:
    """States of three parts, sent as bytes, merged in a drawn order."""
    parts = []
    for rows in CUTS:
        part = fastmetrics.Accumulator(metrics, **columns)
        part.update(select(log, rows))
        parts.append(fastmetrics.Accumulator.from_bytes(part.to_bytes()))
    chance.shuffle(parts)
    return parts[0].merge(parts[1]).merge(parts[2]).result()


def limited(chance: random.Random, metrics: list[str], columns: Columns, log: Log) -> Any:
    """Rows beyond half of the limit go to a spill file."""
    return fastmetrics.evaluate(log, metrics, **columns, memory_limit="1MiB")


VARIANTS: dict[str, Variant] = {"order of rows": shuffled, "threads": threaded, "batches": batched, "merged": merged}


def groups_of_metrics() -> Iterator[tuple[list[tuple[str, str]], Columns]]:
    """Metric strings with their families, and the keywords with which they are evaluated together."""
    together: dict[str, tuple[list[tuple[str, str]], Columns]] = {}
    for spec in fastmetrics.describe_metrics():
        for case in metric_cases(spec.name):
            found = together.setdefault(repr(sorted(case.keywords.items())), ([], case.keywords))
            found[0].append((case.metric, spec.family))
    yield from together.values()


def engine_checks() -> Iterator[SelfCheck]:
    """A check for each family, kind of columns and variant."""
    for members, columns in groups_of_metrics():
        by_family: dict[str, list[str]] = defaultdict(list)
        for metric, family in members:
            by_family[family].append(metric)
        where = ", ".join(str(own) for own in columns.values())
        for family, metrics in by_family.items():
            for name, variant in VARIANTS.items():
                label = f"evaluate, {name}: {len(metrics)} metrics of {where}"
                yield SelfCheck(family, label, same_report(metrics, columns, variant))
            if is_spilled(metrics) and is_in_long_log(columns):
                label = f"evaluate, memory_limit: {len(metrics)} metrics of {where}"
                yield SelfCheck(family, label, same_report(metrics, columns, limited, long_log))


def columns_of(log: Log, columns: Columns) -> Log:
    """The columns that are read; Arrow need not take the others."""
    names = str(columns)
    return {name: column for name, column in log.items() if repr(name) in names}


def is_spilled(metrics: list[str]) -> bool:
    """Metrics that are sums over rows keep none."""
    return any(parse(metric).spec.exchange != "none" for metric in metrics)


def is_in_long_log(columns: Columns) -> bool:
    return all(isinstance(name, str) and name in click_log(1) for name in columns.values())


def short_log(seed: int) -> Log:
    return sample_log(ROWS, seed=seed)


def long_log(seed: int) -> Log:
    return click_log(LIMITED_ROWS, seed=seed)


def same_report(
    metrics: list[str], columns: Columns, variant: Variant, make_log: Callable[[int], Log] = short_log
) -> Callable[[random.Random], None]:
    def run(chance: random.Random) -> None:
        log = columns_of(make_log(chance.randrange(2**31)), columns)
        expected = fastmetrics.evaluate(log, metrics, **columns)
        found = variant(chance, metrics, columns, log)
        for one, other in zip(expected, found, strict=True):
            require_equal(
                (one.value, one.reason, one.coverage), (other.value, other.reason, other.coverage), one.metric
            )

    return run
