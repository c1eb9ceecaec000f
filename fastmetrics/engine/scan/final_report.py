"""The report of a scan: every metric of every model, label and slice."""

from __future__ import annotations

from typing import Any

from fastmetrics._core.registry import Metric
from fastmetrics._core.statistic import Value
from fastmetrics._version import __version__
from fastmetrics.engine.plan.column_names import ColumnNames
from fastmetrics.engine.results.report import Report, Result
from fastmetrics.engine.scan.additive_states import StateKey
from fastmetrics.engine.scan.intervals import AnalyticIntervals, MetricReplicates
from fastmetrics.engine.scan.resolve import FinalStates
from fastmetrics.engine.scan.scan import Scan

# States between which the exact state of a key lies.
StateBounds = dict[StateKey, tuple[Any, Any]]


def value_between(
    metric: Metric, bounds: StateBounds, pair: int, slice_number: int | None
) -> tuple[Value, tuple[float, float] | None]:
    """The midpoint of the values of the two bounding states, and these values as an interval."""
    states = [bounds[statistic, pair, slice_number] for statistic in metric.statistics()]
    ends = [metric.finalise(*(low_and_high[side] for low_and_high in states)) for side in (0, 1)]
    if ends[0].reason is not None:
        return ends[0], None
    low, high = sorted(end.value for end in ends)
    return ends[0]._replace(value=low + (high - low) / 2), (low, high)


def make_report(
    scan: Scan,
    states: FinalStates,
    names: ColumnNames,
    seconds: float | None,
    bounds: StateBounds | None = None,
    intervals: MetricReplicates | AnalyticIntervals | None = None,
) -> Report:
    """The report: all rows first, then slices in the order of their values; in each, every metric of every pair.

    `bounds` are those of an approximate state's range statistics; `intervals` are those that were asked for.
    """
    results = []
    for slice_number, slice_values in scan.validator.slices.in_order():
        for pair_number, pair in enumerate(scan.score_label_pairs):
            for metric in scan.plan.metrics:
                interval, error, suffix = None, None, ""
                if bounds is not None and metric.spec.exchange == "range":
                    value, interval = value_between(metric, bounds, pair_number, slice_number)
                else:
                    value = metric.finalise(*states.select(metric.statistics(), pair_number, slice_number))
                if intervals is not None:
                    found = intervals.interval(metric, pair_number, slice_number, value)
                    interval, error = found.bounds, found.standard_error
                    suffix = intervals.resampling.signature_suffix
                    value = value._replace(coverage=value.coverage | found.coverage)
                approximate = bounds is not None and interval is not None
                signature = metric.signature(value.coverage, names.weight, approximate)
                result = Result(
                    repr(metric), names.scores[pair.score], slice_values, value.value, signature + suffix,
                    value.coverage, value.reason, label=names.labels[pair.label], interval=interval,
                    standard_error=error,
                )  # fmt: skip
                results.append(result)
    return Report(
        results,
        rows=scan.rows,
        dropped=dict(sorted(scan.dropped.items())),
        columns=names.by_role(),
        version=__version__,
        seconds=seconds,
    )
