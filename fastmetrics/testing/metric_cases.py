"""How the checks evaluate a registered metric: its strings, and the columns that its target takes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import isnan
from typing import Any

import fastmetrics as fm
from fastmetrics._core.kinds import LABEL_ROLE, MODEL_ROLES, SCORE_ROLE, Roles
from fastmetrics._core.metric_spec import MetricSpec
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.registry import Metric, find_spec, known_specs, parse
from fastmetrics.engine.plan.column_names import format_key, key_columns
from fastmetrics.testing.sample_logs import Log, sample_log, select

ROWS = 2000
FEWER_ROWS = (2, 3, 5, 10, 30, 100, 300)
OF_THE_LOG = ("row_order", "threads", "batches", "unit_weights", "repeated_rows", "inputs_are_kept", "slices",
              "accumulators", "function_agrees")  # fmt: skip
SHARED_COLUMNS = ("label", "group", "slice", "weight")  # of all metrics
SOME_ROWS = 200
CLASS_COLUMNS = {"label": "label", "score": "prob"}
NUMBER_COLUMNS = {"label": "target", "score": "forecast"}
GRADE_COLUMNS = {"label": "grade", "score": "score"}
TEXT_COLUMNS = {"label": "reference", "score": "hypothesis"}
PARTITION_COLUMNS = {"label": "class", "score": "cluster"}
PREDICTION_COLUMNS = {"label": "label", "prediction": "pred"}
MANY_CLASS_COLUMNS = {"label": "kind", "prediction": "guess"}
SET_COLUMNS = {"label": "tags", "prediction": "predicted_tags"}
PROBABILITY_COLUMNS = {"label": "kind_number", "probabilities": tuple(f"chance_{number}" for number in range(5))}
# Classes 0 and 1 are also numbers and grades.
Columns = str | tuple[str, ...]
COLUMNS_OF_TARGET: dict[str, tuple[dict[str, Any], ...]] = {
    "binary": (CLASS_COLUMNS,),
    "real": (NUMBER_COLUMNS, CLASS_COLUMNS),
    "graded": (GRADE_COLUMNS, CLASS_COLUMNS),
    "text": (TEXT_COLUMNS,),
    "partition": (PARTITION_COLUMNS,),
    "prediction": (PREDICTION_COLUMNS, MANY_CLASS_COLUMNS, SET_COLUMNS),
    "probabilities": (PROBABILITY_COLUMNS,),
    "sets": ({"label": "tag_numbers", "score": "tag_scores"},),
}


USUAL_ROLES = (LABEL_ROLE, *MODEL_ROLES)


@cache
def log_of(rows: int = ROWS) -> Log:
    return sample_log(rows)


class MetricCase(NamedTuple):
    """A metric string, and the columns on which it is evaluated. With others, they are evaluated in the same call."""

    metric: str
    columns: dict[str, Columns]
    others: tuple[str, ...] = ()
    weight: str | None = None
    rows: int = ROWS  # of the sample log

    def __str__(self) -> str:
        weighted = " with weights" if self.weight else ""
        return f"{', '.join(self.metrics)} of {' and '.join(map(format_key, self.columns.values()))}{weighted}"

    @property
    def metrics(self) -> tuple[str, ...]:
        return self.metric, *self.others

    def column_names(self) -> list[str]:
        """All columns, each by itself."""
        return [name for columns in self.columns.values() for name in key_columns(columns)]

    @property
    def log(self) -> Log:
        """The columns of the sample log that the checks of this metric read."""
        log = log_of(ROWS)
        columns = {name: log[name] for name in dict.fromkeys([*self.column_names(), *SHARED_COLUMNS])}
        return columns if self.rows == ROWS else select(columns, slice(self.rows))

    @property
    def model_role(self) -> str:
        """The role of a model's columns: "score", "prediction" or "probabilities"."""
        return next((role for role in MODEL_ROLES if role in self.columns), SCORE_ROLE)

    @property
    def parsed(self) -> Metric:
        return parse(self.metric, (self.model_role,))

    @property
    def spec(self) -> MetricSpec:
        return self.parsed.spec

    def evaluate(self, log: Any, **options: Any) -> fm.Report:
        return fm.evaluate(log, [*self.metrics], **self.keywords, **options)

    @property
    def keywords(self) -> dict[str, Any]:
        """The columns as keywords of `evaluate`; metrics that are not numeric take no group."""
        keywords: dict[str, Any] = {role: name for role, name in self.columns.items() if role in USUAL_ROLES}
        roles = {role: name for role, name in self.columns.items() if role not in USUAL_ROLES}
        keywords |= {"roles": roles} if roles else {}
        keywords |= {"weight": self.weight} if self.weight else {}
        return keywords if self.spec.exchange == "none" else {**keywords, "group": "group"}

    def content(self, log: Any, **options: Any) -> dict[str, Any]:
        """All that a report says, without run time."""
        return content(self.evaluate(log, **options))

    def takes_weights(self) -> bool:
        """Whether rows may have weights. A metric without weights raises if there are any; it does not ignore them."""
        return weights_are_taken(*self.key[:3])

    @property
    def key(self) -> tuple[object, tuple[str, ...], tuple[tuple[str, Columns], ...], str | None, int]:
        """By what results are kept. The finalizer is a part: another metric of the same name has another one."""
        return self.spec.finalize, self.metrics, tuple(self.columns.items()), self.weight, self.rows


@cache
def weights_are_taken(finalize: object, metrics: tuple[str, ...], columns: tuple[tuple[str, Columns], ...]) -> bool:
    try:
        MetricCase(metrics[0], dict(columns), metrics[1:]).evaluate(log_of(), weight="weight")
    except Exception as error:  # noqa: BLE001 - any other error is what the checks find, with their names
        return not (isinstance(error, ValueError) and "weight" in str(error))
    return True


def report_of(case: MetricCase) -> fm.Report:
    """The report on the sample log, evaluated once."""
    return first_report(*case.key)


@cache
def first_report(
    finalize: object, metrics: tuple[str, ...], columns: tuple[tuple[str, Columns], ...], weight: str | None, rows: int
) -> fm.Report:
    case = MetricCase(metrics[0], dict(columns), metrics[1:], weight, rows)
    return case.evaluate(case.log if rows != ROWS else log_of(), n_threads=1)


def expected(case: MetricCase) -> dict[str, Any]:
    """The content of the report on the sample log."""
    return content(report_of(case))


def content(report: fm.Report) -> dict[str, Any]:
    return {key: value for key, value in report.to_dict().items() if key != "seconds"}


def shorter_cases(case: MetricCase, check: str) -> Iterator[tuple[MetricCase, str]]:
    """The case with the first rows of the sample log, for the checks that compare evaluations of it."""
    for rows in FEWER_ROWS if check in OF_THE_LOG else ():
        few = case._replace(rows=rows)
        shown = ", ".join(f"{name} {few.log[name].tolist()}" for name in few.column_names()) if rows <= 3 else ""
        yield few, f"the first {rows} rows of the sample log are enough" + (f": {shown}" if shown else "")


def metric_cases(name: str) -> tuple[MetricCase, ...]:
    """The cases of a metric: its example and its variants on every kind of columns that it takes."""
    spec = known_specs().get(name) or find_spec(*name.partition("@")[::2])
    return tuple(
        case
        for form in spec.forms
        for case in possible_cases(form.finalize, columns_of(form), form.example, *form.variants)
    )


def joint_cases(name: str) -> tuple[MetricCase, ...]:
    """The cases of a metric on the same columns as one case: one call evaluates all of its variants."""
    together: dict[Any, list[MetricCase]] = {}
    for case in metric_cases(name):
        finalize, _, columns, *_ = case.key
        together.setdefault((finalize, columns), []).append(case)
    return tuple(
        MetricCase(first.metric, first.columns, tuple(other.metric for other in others))
        for first, *others in together.values()
    )


def weighted_cases(name: str) -> tuple[MetricCase, ...]:
    """The joint cases with weights, of metrics that take weights."""
    return tuple(case._replace(weight="weight") for case in joint_cases(name) if case.takes_weights())


def columns_of(spec: MetricSpec) -> tuple[tuple[tuple[str, Columns], ...], ...]:
    """The columns of the sample log on which a metric is evaluated, by role: several choices."""
    usual = COLUMNS_OF_TARGET.get(spec.target, ({"score": "score"},))
    others = other_columns({role: kind for role, kind in spec.roles.items() if role not in USUAL_ROLES})
    choices = [{role: name for role, name in columns.items() if role in spec.roles} | others for columns in usual]
    return tuple(tuple(columns.items()) for columns in choices)


def other_columns(roles: Roles) -> dict[str, Any]:
    """A column of the right kind for each role; two roles of one kind have different columns."""
    columns: dict[str, str] = {}
    for role, kind in roles.items():
        number = sum(type(roles[own]) is type(kind) for own in columns)
        columns[role] = f"{type(kind).__name__.lower()}_{number}"
    return columns


# The finalizer is an argument of what is cached: another metric of the same name has another one.
@cache
def possible_cases(
    finalize: object, choices: tuple[tuple[tuple[str, Columns], ...], ...], *metrics: str
) -> tuple[MetricCase, ...]:
    cases = [MetricCase(metric, dict(columns)) for metric in metrics for columns in choices]
    return tuple(case for case in cases if is_possible(case))


def is_possible(case: MetricCase) -> bool:
    """Whether a metric of numbers takes classes (some need positive numbers), and the files of one of texts exist."""
    if case.spec.target == "prediction":  # some take two classes, or no sets
        return not isnan(case.evaluate(select(log_of(), slice(0, SOME_ROWS))).results[0].value)
    if case.spec.target not in ("real", "text"):
        return True
    try:
        case.evaluate(select(log_of(), slice(0, SOME_ROWS)))
    except FileNotFoundError:
        return False
    except ValueError:
        if case.columns != CLASS_COLUMNS:
            raise
        return False
    return True
