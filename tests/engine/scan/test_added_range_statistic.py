"""KS as a user's class of ten lines: it has weights, slices, memory limits, accumulators, replicates and Spark's tasks.

Everything equals the metric `ks`, which has the same class.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[2]

STATISTIC = """
class Distance(RangeStatistic):
    def find(self, runs, position):
        return RangeState(runs.totals, runs.extremes(position.totals.masses))

    def merge(self, higher, lower, totals):
        (negatives, positives), (all_negatives, all_positives) = higher.totals.masses, totals.masses
        above = positives * all_negatives - negatives * all_positives
        (greatest, least), (greatest_below, least_below) = higher.found, lower.found
        found = max(greatest, above + greatest_below), min(least, above + least_below)
        return RangeState(higher.totals.plus(lower.totals), found)
"""
USE = """
import json, sys
import numpy as np
import pyarrow as pa
import fastmetrics as fm
from fastmetrics._core.exchange.runs import RangeState, RangeStatistic
from fastmetrics._core.registry import metric
from fastmetrics.metrics.curves.ks import finalize_extremes
from support.kernel_paths import run_tasks
{statistic}
@metric("distance", exchange="range", statistics=lambda: (Distance(),), undefined="one class only", default=False)
def finalize_distance(parameters, state):
    'The distance of two distributions.'
    return finalize_extremes(parameters, state)


rng, rows = np.random.default_rng(7), 30_000
scores = np.round(rng.normal(size=rows), 3)
log = pa.table({{
    "label": (rng.random(rows) < 1 / (1 + np.exp(1 - scores))).astype(int), "score": scores,
    "weight": rng.random(rows), "far": np.ldexp(1.0, rng.integers(-300, 300, rows)),
    "slice": rng.integers(0, 3, rows), "user": rng.integers(0, 500, rows),
}})
columns = {{"label": "label", "score": "score"}}


def evaluate(name, **options):
    report = fm.evaluate(log, name, **columns, **options)
    return [[repr(own.slice), own.value, own.interval, own.reason] for own in report.results]


def accumulate(name, **options):
    parts = [fm.Accumulator(name, **columns, **options) for _ in range(2)]
    for part, data in zip(parts, (log[20_000:], log[:20_000]), strict=True):
        part.update(data)
    return parts[0].merge(parts[1]).result()[name]


def spark(name):
    found = run_tasks(log, name, **columns)
    return [list(state) for state in found.by_key.values()]


def everything(name):
    units = {{"ci": 0.9, "unit": "user", "replicates": 70}}
    return [
        evaluate(name), evaluate(name, weight="weight"), evaluate(name, weight="far"), evaluate(name, by="slice"),
        evaluate(name, memory_limit="1MiB"), evaluate(name, memory_limit="1MiB", weight="weight", by="slice"),
        evaluate(name, **units), evaluate(name, weight="weight", **units), evaluate(name, by="slice", **units),
        evaluate(name, memory_limit="1MiB", **units), accumulate(name), spark(name),
    ]


print(json.dumps([everything("distance"), everything("ks")]))
"""


def test_one_class_has_everything():
    assert len(STATISTIC.strip().splitlines()) <= 11
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent)])}
    done = subprocess.run(
        [sys.executable, "-c", USE.format(statistic=STATISTIC)],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    distance, ks = json.loads(done.stdout)
    assert distance == ks
    assert all(0 < value < 1 and reason is None for of_call in ks[:10] for _, value, _, reason in of_call)
