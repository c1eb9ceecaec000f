"""Test cases over all registered metrics: the variants of their options, and the columns they take; own metrics."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

import fastmetrics as fm
from fastmetrics._core.registry import parse, registration
from fastmetrics.testing.metric_cases import (
    CLASS_COLUMNS,
    GRADE_COLUMNS,
    NUMBER_COLUMNS,
    PARTITION_COLUMNS,
    TEXT_COLUMNS,
    metric_cases,
)

SPECS = {spec.name: spec for spec in fm.list_metrics().values()}
METRICS = list(SPECS)
PUBLIC_FUNCTIONS = {spec.name: spec.function for spec in SPECS.values() if spec.function is not None}
COLUMNS = {"label": "label", "score": "prob", "group": "group"}
ALL_CASES = [case for name in METRICS for case in metric_cases(name)]
# Metrics that one call may compute together from classes 0 and 1, which are also numbers and grades. Metrics of texts
# and of partitions need their own call.
JOINT_METRICS = [case.metric for case in ALL_CASES if case.columns == CLASS_COLUMNS]
REAL = [case.metric for case in ALL_CASES if case.columns == NUMBER_COLUMNS]
GRADED = [case.metric for case in ALL_CASES if case.columns == GRADE_COLUMNS]
TEXT = [case.metric for case in ALL_CASES if case.columns == TEXT_COLUMNS]
PARTITION = [case.metric for case in ALL_CASES if case.columns == PARTITION_COLUMNS]
BINARY = [metric for metric in JOINT_METRICS if parse(metric).spec.target == "binary"]
# Of a column of labels and one of scores; the others have tests of their own.
SCORE_CASES = [
    case
    for case in ALL_CASES
    if case.columns in (CLASS_COLUMNS, NUMBER_COLUMNS, GRADE_COLUMNS, TEXT_COLUMNS, PARTITION_COLUMNS)
]
OF_SCORES = list(dict.fromkeys(case.metric for case in SCORE_CASES))
CASES = [pytest.param(case.metric, case.columns, id=str(case)) for case in SCORE_CASES]


def taking_row_weights(metrics, weight="weight"):
    """The metrics that take row weights, if there are weights. Ranking metrics take weights of lists only."""
    return metrics if weight is None else [metric for metric in metrics if metric not in GRADED]


def of_different_work(metrics):
    """Metrics that together have each type of statistic and each measure, treatment of ties and of lists without gain.

    A metric is left out if those before it have all of its own: it differs in numbers such as a cutoff.
    """
    seen, found = set(), []
    for metric in metrics:
        work = {part for statistic in parse(metric).statistics() for part in parts_of_work(statistic)}
        if not work <= seen:
            seen |= work
            found.append(metric)
    return found


def parts_of_work(statistic):
    kind = getattr(getattr(statistic, "measure", None), "kind", None)
    options = [(name, getattr(statistic, name, None)) for name in ("ties", "empty_policy")]
    return [(type(statistic), kind), *((type(statistic), option) for option in options)]


@contextmanager
def own_metrics(replaced: str | None = None) -> Iterator[None]:
    """Metrics that are registered inside are forgotten afterwards; the metric `replaced` is missing inside."""
    fm.list_metrics()
    tables = registration._specs, registration._spec_of_spelling
    copies = [dict(table) for table in tables]
    for table, copy in zip(tables, copies, strict=True):
        for name in [name for name, spec in copy.items() if spec.name == replaced]:
            del table[name]
    registration.forget_parsed()
    try:
        yield
    finally:
        for table, copy in zip(tables, copies, strict=True):
            table.clear()
            table.update(copy)
        registration.forget_parsed()
