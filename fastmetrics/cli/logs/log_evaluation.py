"""What the commands for logs share: metrics from the registry, and calls with a progress bar, warnings and advice."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import typer

import fastmetrics
from fastmetrics._core.columns.validation import LabelError, ProbabilityError
from fastmetrics._core.exchange.memory_size import parse_size
from fastmetrics._core.immutable import EMPTY
from fastmetrics._core.kinds import GROUP_ROLE, SCORE_ROLE
from fastmetrics.cli.command import Command
from fastmetrics.cli.drawn_results import Tables, print_result
from fastmetrics.cli.logs.config import stored_question
from fastmetrics.cli.logs.input_options import read_data
from fastmetrics.cli.outputs import Outputs, write_result
from fastmetrics.cli.terminal import show_warning

PERCENT = 100


def read_metrics(
    text: str | None, *, grouped: bool, model_roles: Sequence[str] = (SCORE_ROLE,), compared: bool = False
) -> list[str] | str:
    """The metrics of --metrics, else the defaults of Python, of those that may be `compared`.

    An unknown name or parameter is wrong usage, reported before any file is read.
    """
    from fastmetrics._core.registry import default_metrics

    if text is None:
        roles = [model_roles[0], *([GROUP_ROLE] if grouped else [])]
        return default_metrics({role: role for role in roles}, compared=compared)
    from fastmetrics.engine.plan.metric_plan import make_plan

    try:
        plan = make_plan(text, model_roles)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--metrics") from error
    by_group = [
        str(metric)
        for metric in plan.metrics
        if metric.spec.exchange == "hash" and GROUP_ROLE not in metric.columns
    ]
    if by_group and not grouped:
        raise typer.BadParameter(
            f"{', '.join(by_group)} is computed inside groups: name their column with --group", param_hint="--metrics"
        )
    return text


def example_metrics() -> str:
    """A value for --metrics, one metric without and one with a parameter: the command knows no metric by name."""
    specs = [spec for spec in fastmetrics.list_metrics(target="binary").values() if spec.exchange != "hash"]
    plain = next(spec for spec in specs if not spec.parameters)
    with_parameter = next(spec for spec in specs if spec.parameters)
    parameter, default = next(iter(with_parameter.parameters.items()))
    return f"{plain.name},{with_parameter.name}({parameter}={default})"


def examples_of_target(target: str) -> str:
    """Two metrics of a target, from the registry too."""
    names = [spec.example for spec in fastmetrics.list_metrics().values() if spec.target == target]
    return ",".join(names[:2])


def example_gate_metric() -> str:
    """A metric for the examples of gates, from the registry too."""
    return str(next(name for name, spec in fastmetrics.list_metrics(exchange="range").items() if spec.default))


class LogCommand(Command):
    """A command with examples of metrics. The registry imports all metrics, so it is asked when the help is shown."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        self.epilog = (self.epilog or "").format(
            metrics=example_metrics(),
            text_metrics=examples_of_target("text"),
            partition_metrics=examples_of_target("partition"),
            gate_metric=example_gate_metric(),
        )
        super().format_help(ctx, formatter)


def advice_for_raw_scores(*, grouped: bool) -> str:
    """The metrics that only compare scores: those with an exchange."""
    exchanges = {spec.example: spec.exchange for spec in fastmetrics.list_metrics().values()}
    comparing = [name for name in read_metrics(None, grouped=grouped) if exchanges[name] != "none"]
    return f"For scores that are not probabilities type --metrics {','.join(comparing)}"


def advice_for_numbers(metrics: str | list[str]) -> str:
    """The metrics that accept the labels which another metric rejected."""
    from fastmetrics._core.registry import default_metrics
    from fastmetrics.engine.plan.metric_plan import make_plan

    kinds = make_plan(metrics).label_kinds
    requested = [repr(metric) for metric in kinds.real + kinds.graded]
    names = requested or default_metrics({}, target="real")
    return f"For labels that are numbers type --metrics '{','.join(names)}'"


def read_level(text: str) -> float:
    """The level of --ci: 95, 95% and 0.95 are the same."""
    try:
        level = float(text.strip().removesuffix("%"))
    except ValueError:
        level = float("nan")
    if level > 1 or text.strip().endswith("%"):
        level /= PERCENT
    if not 0 < level < 1:
        raise typer.BadParameter(f"type a percentage, --ci 95, or a share, --ci 0.95; found {text}", param_hint="--ci")
    return level


def run_on_log(
    function: Callable[..., Any],
    paths: Sequence[str],
    metrics: str | list[str],
    outputs: Outputs,
    tables: Tables,
    *,
    stored: Mapping[str, Any],
    memory_limit: str | None,
    sort: str | None = None,
    **options: Any,
) -> Any:
    """Call `evaluate` or `compare`, write the output files, and print the result.

    Options and folders are checked before the log is read. `stored` are the options of --config.
    """
    try:
        parse_size(memory_limit, "--memory-limit")
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    check_sort(sort, metrics, options["by"])

    def compute() -> Any:
        result = call_on_log(
            function, paths, metrics, stored, quiet=outputs.quiet, memory_limit=memory_limit, **options
        )
        return result if sort is None else result.sorted_by(sort)

    return write_result(compute, outputs, lambda result: print_result(result, outputs, tables))


def check_sort(sort: str | None, metrics: str | list[str], by: Any) -> None:
    """Slices are sorted by a metric that is computed, one of whose values is better than another."""
    if sort is None:
        return
    from fastmetrics._core.kinds import MODEL_ROLES
    from fastmetrics._core.results.result_set import canonical_metric
    from fastmetrics._core.results.slice_order import badness_of
    from fastmetrics.engine.plan.metric_plan import make_plan

    if not by:
        raise typer.BadParameter("it is for slices: add --by or --grouping-set", param_hint="--sort")
    forms = {canonical_metric(sort, role) for role in MODEL_ROLES}
    known = [repr(metric) for role in MODEL_ROLES for metric in make_plan(metrics, (role,)).metrics]
    found = [name for name in dict.fromkeys(known) if name in forms]
    if not found:
        raise typer.BadParameter(
            f"{sort} is not computed: name one of {', '.join(dict.fromkeys(known))}", param_hint="--sort"
        )
    try:
        badness_of(found[0], 0.0)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--sort") from error


def call_on_log(
    function: Callable[..., Any],
    paths: Sequence[str],
    metrics: str | list[str],
    stored: Mapping[str, Any] = EMPTY,
    *,
    quiet: bool = False,
    **options: Any,
) -> Any:
    """Call a function of a log under a progress bar. Its warnings are shown without Python's file and line."""
    import_module("pyarrow")  # if it is missing, the error names the command line's extra, not the engine's
    from fastmetrics.cli.progress import row_progress

    with warnings.catch_warnings(record=True) as caught, row_progress(quiet=quiet) as report_rows:
        # Whatever PYTHONWARNINGS says: a command has no other way to tell.
        warnings.simplefilter("always", UserWarning)
        # The result has every undefined metric with its reason.
        warnings.simplefilter("ignore", fastmetrics.UndefinedMetricWarning)
        try:
            question, run = stored_question(stored, metrics, options) if stored else (metrics, options)
            result = function(read_data(paths), question, progress=report_rows, **run)
        except ProbabilityError as error:
            raise ValueError(f"{error}. {advice_for_raw_scores(grouped=options['group'] is not None)}") from error
        except LabelError as error:
            raise ValueError(f"{error}. {advice_for_numbers(metrics)}") from error
    for warning in caught:
        show_warning(str(warning.message))
    return result
