"""Tests of differences between two models: by replicates of both values, or by a formula over the rows."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from fastmetrics._core.columns.row_blocks import LABEL, SCORE, SLICE, ScoreLabelPair, label_name, score_name
from fastmetrics._core.comparison.win_counts import WinKey
from fastmetrics._core.statistic import Value
from fastmetrics.engine.scan.intervals import MetricReplicates, make_interval
from fastmetrics.engine.scan.scan import Scan

ROUNDING = 8 * float(np.finfo(np.float64).eps)
NO_DIFFERENCE = "no difference, in no replicate either"
SAME_DIFFERENCE = "the same difference in every replicate: without spread nothing can be said of chance"
NO_ROW_DIFFERS = "no difference, at no row either"


class TestedDifference(NamedTuple):
    """The interval and the p-value of a difference, or the reason why there are none."""

    bounds: tuple[float, float] | None
    standard_error: float | None
    pvalue: float
    reason: str | None = None


UNTESTED = TestedDifference(None, None, math.nan)


def test_replicates(
    change: float, before: np.ndarray | None, after: np.ndarray | None, replicates: MetricReplicates
) -> TestedDifference:
    """Test the difference of two models by the replicates of both values."""
    differences = pair_replicates(before, after)
    interval = make_interval(Value(change, {}), differences, replicates.unit_buckets, replicates.resampling)
    if differences is None or "interval" in interval.coverage:
        return TestedDifference(None, interval.standard_error, math.nan, str(interval.coverage["interval"]))
    if not change and not differences.any():
        return TestedDifference(interval.bounds, interval.standard_error, 1.0, NO_DIFFERENCE)
    if before is not None and after is not None and is_constant(differences, before, after):
        return TestedDifference(interval.bounds, interval.standard_error, 1.0, SAME_DIFFERENCE)
    return TestedDifference(interval.bounds, interval.standard_error, two_sided_pvalue(change, differences), None)


def is_constant(differences: np.ndarray, before: np.ndarray, after: np.ndarray) -> bool:
    """Return whether the differences of replicates vary by rounding only."""
    magnitude = max(float(np.nanmax(np.abs(values))) for values in (before, after))
    spread = float(np.nanmax(differences)) - float(np.nanmin(differences))
    return spread <= ROUNDING * magnitude


def test_rows(scan: Scan, level: float, n_threads: int) -> dict[WinKey, TestedDifference]:
    """Test differences by a formula over the rows of two models, all of them in memory."""
    tested: dict[WinKey, TestedDifference] = {}
    if not scan.rows_kept:
        return tested
    store = scan.range_store()
    names = [name for name in store.types if name == SLICE or name.startswith((LABEL, SCORE))]
    columns = store.load_partitions(names, 0, store.n_partitions).columns
    baselines: dict[int, ScoreLabelPair] = {}
    for pair_number, pair in enumerate(scan.score_label_pairs):
        baseline = baselines.setdefault(pair.label, pair)
        if baseline is pair:
            continue
        for slice_number in (None, *range(len(scan.validator.slices))):
            where = slice(None) if slice_number is None else columns[SLICE] == slice_number
            labels, before, after = (
                np.ascontiguousarray(columns[name][where])
                for name in (label_name(pair.label), score_name(baseline.score), score_name(pair.score))
            )
            for metric in scan.plan.metrics:
                key = (metric, pair_number, slice_number)
                result = metric.compare_rows(level, labels, before, after, n_threads)
                if isinstance(result, str):  # the reason why there is no test
                    tested[key] = TestedDifference(None, None, math.nan, result)
                    continue
                low, high, error, pvalue = result
                tested[key] = TestedDifference((low, high), error, pvalue, None if error else NO_ROW_DIFFERS)
    return tested


def pair_replicates(before: np.ndarray | None, after: np.ndarray | None) -> np.ndarray | None:
    """The difference in every replicate; NaN if either value is undefined."""
    if before is None or after is None:
        return None
    with np.errstate(invalid="ignore"):  # two infinite values have no difference
        differences: np.ndarray = after - before
    return differences


def two_sided_pvalue(change: float, differences: np.ndarray) -> float:
    """The share of differences that are as far from their mean as the observed one is from 0; that one counts too."""
    defined = differences[~np.isnan(differences)]
    centre = math.fsum(defined) / defined.shape[0]
    extreme = int(np.count_nonzero(np.abs(defined - centre) >= abs(change)))
    return (1 + extreme) / (1 + int(defined.shape[0]))
