"""Coverage of 95 % intervals and size of 5 % tests, in simulated logs.

    python -m bench.significance.simulated_coverage --logs 4000 --minutes 60

simulates until every cell has that many logs, or until the minutes are over, and adds what it counts to
`coverage.json` beside this file; the next run goes on where this one ended. Then it writes `docs/inference.md`.
`--users`, `--rates` and `--methods` choose cells; `--again` forgets what was counted of them before.

The logs of a block are the slices of one evaluation, whose numbers are those of each log by itself.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from unittest import mock

import fastmetrics as fm
from bench.significance.coverage_page import (
    BEST,
    COUNTS,
    METHODS,
    METRICS,
    OF_BEST,
    OF_GROUPS,
    PAGE,
    RESAMPLED_BEST,
    RESULTS,
    TESTED,
    USERS,
    page_of,
)
from bench.significance.simulated_logs import KINDS, Kind, simulate, true_values, users_with

CALIBRATED = "ece"  # of the true chances, for which it is 0
BLOCKS = {20: 200, 200: 50, 20_000: 1}  # logs at once: users x logs bound the memory
OPTIONS: dict[str, dict[str, Any]] = {
    "linearized": {},
    "rows": {"unit": "row"},
    "bootstrap": {"ci_method": "bootstrap", "replicates": 500},
    BEST: {},
    RESAMPLED_BEST: {"ci_method": "bootstrap", "replicates": 300},
}
LARGE_LOGS_BY = ("linearized",)  # others would take hours
RATES = tuple(dict.fromkeys(kind.ctr for kind in KINDS))
NOTHING = [0] * len(COUNTS)


class Cell(NamedTuple):
    """A kind of log with so many users, and the intervals that are counted."""

    method: str
    users: int
    kind: Kind

    def name(self) -> str:
        return f"{self.method} {self.users} {self.kind.name()}"


def count_block(cell: Cell, logs: int, block: int, truth: Mapping[str, float]) -> dict[str, list[int]]:
    """Evaluate a block of logs, and count of each metric what `COUNTS` says: how often it has been wrong."""
    method, users, kind = cell
    log = simulate(kind, users, logs, [users, KINDS.index(kind), block])
    options = {"label": "click", "group": "user", "ci": 0.95, "n_threads": 1, **OPTIONS[method]}
    if logs > 1:
        options["by"] = "log"
    strings = strings_of(method, kind)
    found = {metric: dict.fromkeys(COUNTS, 0) for metric in strings.values()}
    for one in fm.evaluate(log, list(strings), score="a", **options):
        if one.slice or logs == 1:
            count_interval(found[strings[one.metric]], one.interval, truth[strings[one.metric]])
    tested = [string for string, metric in strings.items() if metric in TESTED and not is_best(method)]
    if not tested:
        return {metric: list(counts.values()) for metric, counts in found.items()}
    # Units won and lost are not counted: it takes most of the time.
    with mock.patch("fastmetrics.engine.scan.resolve_intervals.count_wins", return_value=None):
        differences = fm.compare(log, tested, score=["a", "b"], **options)
    for one in differences:
        if (one.slice or logs == 1) and not math.isnan(one.pvalue):
            found[strings[one.metric]]["tests"] += 1
            found[strings[one.metric]]["rejected"] += one.pvalue <= 0.05
    return {metric: list(counts.values()) for metric, counts in found.items()}


def is_best(method: str) -> bool:
    return method in (BEST, RESAMPLED_BEST)


def strings_of(method: str, kind: Kind) -> dict[str, str]:
    """The metrics of a method by metric string."""
    if is_best(method):
        own = OF_BEST if method == BEST else OF_BEST[:3]
        return {"best_threshold" if name == "f1" else f"best_threshold(metric={name})": name for name in own}
    return {string_of(metric, kind): metric for metric in METRICS if method != "rows" or metric not in OF_GROUPS}


def string_of(metric: str, kind: Kind) -> str:
    """The metric string; F1 has a threshold that some rows of every kind of log exceed."""
    if metric == CALIBRATED:
        return f"{metric}(score=rate)"
    return f"f1(threshold={2 * kind.ctr})" if metric == "f1" and kind.ctr < 0.25 else metric


def count_interval(counts: dict[str, int], interval: tuple[float, float] | None, truth: float) -> None:
    counts["logs"] += 1
    if interval is not None:
        low, high = interval
        counts["intervals"] += 1
        counts["below"] += truth < low
        counts["above"] += truth > high


def find_truth(method: str, kind: Kind) -> dict[str, float]:
    """The true values by metric."""
    if is_best(method):
        strings = strings_of(BEST, kind)
        found = true_values(kind, list(strings), ())
        return {metric: found[string] for string, metric in strings.items()}
    of_rows = {string_of(metric, kind): metric for metric in METRICS if metric not in (*OF_GROUPS, CALIBRATED)}
    values = true_values(kind, list(of_rows), OF_GROUPS)
    return {of_rows.get(string, string): value for string, value in values.items()} | {CALIBRATED: 0.0}


def list_cells(
    users: Sequence[int] = USERS, rates: Sequence[float] = RATES, methods: Sequence[str] = METHODS
) -> Iterator[Cell]:
    """The cells, small logs first."""
    for method, n_users, kind in itertools.product(methods, users, KINDS):
        if kind.ctr in rates and (n_users < max(USERS) or method in LARGE_LOGS_BY):
            yield Cell(method, n_users, kind)


def count_cells(results: dict[str, Any], cells: Sequence[Cell], logs: int, minutes: float) -> None:
    """Count blocks, one of each cell in turn, until every cell has its logs or the time is over."""
    end = time.monotonic() + 60 * minutes
    while True:
        open_cells = [cell for cell in cells if BLOCKS[cell.users] * blocks_of(results, cell) < logs]
        for cell in open_cells:
            if time.monotonic() > end:
                return
            add_block(results, cell)
            save(results)
        if not open_cells:
            return


def blocks_of(results: dict[str, Any], cell: Cell) -> int:
    return int(results["cells"].get(cell.name(), {"blocks": 0})["blocks"])


def add_block(results: dict[str, Any], cell: Cell) -> None:
    """Count one more block of a cell."""
    kind, users = cell.kind, cell.users
    of_truth = f"{BEST} {kind.name()}" if is_best(cell.method) else kind.name()
    if of_truth not in results["truth"]:
        results["truth"][of_truth] = find_truth(cell.method, kind)
    if f"{users} {kind.name()}" not in results["units"]:
        results["units"][f"{users} {kind.name()}"] = users_with(kind, users)
    block = blocks_of(results, cell)
    found = count_block(cell, BLOCKS[users], block, results["truth"][of_truth])
    before = results["cells"].get(cell.name(), {"counts": {}})["counts"]
    counts = {
        metric: [a + b for a, b in zip(before.get(metric, NOTHING), own, strict=True)] for metric, own in found.items()
    }
    results["cells"][cell.name()] = {"blocks": block + 1, "counts": counts}


def save(results: dict[str, Any]) -> None:
    """Write the counts, a line for each cell."""
    parts = []
    for name, part in results.items():
        lines = [f"  {json.dumps(key)}: {json.dumps(value)}" for key, value in part.items()]
        parts.append(f" {json.dumps(name)}: {{\n" + ",\n".join(lines) + "\n }")
    RESULTS.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=4000)
    parser.add_argument("--minutes", type=float, default=600)
    parser.add_argument("--users", type=int, nargs="+", default=USERS)
    parser.add_argument("--rates", type=float, nargs="+", default=RATES)
    parser.add_argument("--methods", nargs="+", default=METHODS)
    parser.add_argument("--again", action="store_true", help="forget what was counted before")
    args = parser.parse_args()
    results = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {"truth": {}, "units": {}, "cells": {}}
    cells = list(list_cells(args.users, args.rates, args.methods))
    if args.again:
        for cell in cells:
            results["cells"].pop(cell.name(), None)
    count_cells(results, cells, args.logs, args.minutes)
    PAGE.write_text(page_of(results), encoding="utf-8")


if __name__ == "__main__":
    main()
