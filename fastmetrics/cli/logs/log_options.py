"""The options that the commands for logs share, as one record.

Those of the table of options have their types and texts from there; one that has no field here is in `more`.
`shared_options` puts them into the signature of a command.
"""

from collections.abc import Mapping
from copy import copy
from types import MappingProxyType
from typing import Annotated, Any, get_args, get_type_hints

import typer

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.cli import options
from fastmetrics.cli.logs import input_options
from fastmetrics.cli.logs.task_options import read_tasks
from fastmetrics.cli.outputs import OutputOptions
from fastmetrics.cli.question_options import OF_LOGS, command_option, further_options
from fastmetrics.cli.records import spread
from fastmetrics.engine.evaluation.options import options_of
from fastmetrics.engine.evaluation.options.option import EVALUATE


class LogOptions(NamedTuple):
    """What `evaluate` and `compare` have in common, in the order of --help; see `PANELS`."""

    label: list[str] | None = None
    score: list[str] | None = None
    prediction: list[str] | None = None
    probabilities: list[Any] | None = None
    group: list[str] | None = None
    weight: str | None = None
    where: str | None = None
    by: list[str] | None = None
    grouping_set: options.GroupingSets = None
    min_rows: int = 0
    sort: options.SortedBy = None
    roles: list[str] | None = None
    tasks: Any = None  # texts, or the tasks of --config
    metrics: list[str] | None = None
    config: options.Config = None
    plugin: options.Plugins = None
    ci_method: str | None = None
    replicates: int | None = None
    seed: int | None = None
    unit: list[str] | None = None
    on_invalid: str = "raise"
    storage_options: list[str] | None = None
    version: str | None = None
    timestamp: str | None = None
    format: str | None = None
    delimiter: input_options.Delimiter = None
    quote: input_options.Quote = None
    no_header: input_options.NoHeader = False
    null_value: input_options.NullValues = None
    column_type: input_options.ColumnTypes = None
    decimal_point: input_options.DecimalPoint = None
    encoding: input_options.Encoding = None
    missing_columns: str = "raise"
    time_zone: str | None = None
    n_threads: int | None = None
    memory_limit: str | None = None
    spill_dir: str | None = None
    output: options.OutputFiles = None
    no_clobber: options.NoClobber = False
    as_json: options.PrintJson = False
    layout: options.ResultFormat = None
    digits: options.Digits = None
    quiet: options.Quiet = False
    more: Mapping[str, Any] = MappingProxyType({})  # options of the table that no field here has

    @property
    def metric_text(self) -> str | None:
        """All values of --metrics as one; None if there is none."""
        return ",".join(self.metrics) if self.metrics else None

    @property
    def outputs(self) -> OutputOptions:
        return OutputOptions(**{name: getattr(self, name) for name in OutputOptions._fields})

    def arguments(self) -> dict[str, Any]:
        """The arguments that `fastmetrics.evaluate` and `fastmetrics.compare` have under the same name."""
        return {
            **{name: own for name, own in self._asdict().items() if name in OF_LOGS and name != "metrics"},
            "ci_method": self.ci_method,
            "sort": self.sort,
            **{role: getattr(self, role) or None for role in ("label", "score", "prediction")},
            "by": options.read_slices(self.by, self.grouping_set),
            "roles": options.read_roles(self.roles),
            "tasks": read_tasks(self.tasks),
            "probabilities": options.read_probabilities(self.probabilities),
            "storage_options": input_options.read_storage_options(self.storage_options),
            "format_options": input_options.read_format_options(
                self.delimiter, self.quote, self.no_header, self.null_value, self.column_type,
                self.decimal_point, self.encoding,
            ),
            **self.more,
            "truth_columns": self.truth_columns,
        }

    @property
    def truth_columns(self) -> Mapping[str, Any] | None:
        """The columns of --truth-column, or those of --config, by role."""
        given = self.more.get("truth_columns")
        return options.read_roles(given, "--truth-column", "label=rating") if isinstance(given, list) else given

    @property
    def labels(self) -> list[str] | None:
        """The columns of labels, of the log or of the truth table, whose label may have none."""
        has_truth = self.truth_columns is not None or self.more.get("truth") is not None
        return self.label or ([(self.truth_columns or {}).get("label", "")] if has_truth else None)


# What a task takes over where it names none of its own.
TASK_DEFAULTS = ("label", "score", "prediction", "probabilities", "group", "weight", "metrics")
MORE = "More"
# The field that is the first of each panel of --help.
PANELS = {
    "label": options.COLUMNS,
    "where": "Rows and slices",
    "roles": "Metrics",
    "ci_method": options.INTERVALS,
    "on_invalid": "Input",
    "n_threads": "Resources",
    "output": options.OUTPUT,
}


def fields_in_panels() -> dict[str, tuple[Any, Any]]:
    """The type of each option, with its panel, and its default."""
    fields = {}
    panel, own = "", options_of(EVALUATE)
    for name, hint in get_type_hints(LogOptions, include_extras=True).items():
        if name == "more":
            continue
        panel = PANELS.get(name, panel)
        option = command_option(own[name]) if name in own else hint
        fields[name] = in_panel(option, panel), LogOptions._field_defaults[name]
    for further in further_options(LogOptions._fields):
        fields[further.name] = in_panel(command_option(further), MORE), further.default
    return fields


def in_panel(hint: Any, panel: str) -> Any:
    kind, option = get_args(hint)
    option = copy(option)
    option.rich_help_panel = panel
    return Annotated[kind, option]


FIELDS = fields_in_panels()


def make_record(values: dict[str, Any]) -> LogOptions:
    more = {name: value for name, value in values.items() if name not in LogOptions._fields}
    return LogOptions(**{name: value for name, value in values.items() if name not in more}, more=more)


shared_options = spread(LogOptions, FIELDS, make_record)


def reject_unused_options(context: typer.Context, log: LogOptions, *, with_intervals: bool = True) -> None:
    """Reject options of intervals, of resampling and of slices where there are none, and what no task takes over."""
    unused: dict[str, str] = {}
    tasks = (read_tasks(log.tasks) or {}).values()
    for name in TASK_DEFAULTS if tasks else ():
        if all(getattr(task, name) is not None for task in tasks):
            unused[name] = "every --task names its own, so it has no effect"
    if not with_intervals:
        unused |= dict.fromkeys(("ci_method", "replicates", "seed"), "it is for intervals: add --ci 95")
    elif log.ci_method == "delong":
        unused |= dict.fromkeys(("replicates", "seed"), "--ci-method delong resamples nothing, so it has no effect")
    if not log.by and not log.grouping_set:
        unused["min_rows"] = "it is for slices: add --by or --grouping-set"
    for name, why in unused.items():
        if options.was_given(context, name):
            raise typer.BadParameter(why, param_hint=f"--{name.replace('_', '-')}")
