"""``fastmetrics evaluate``: metrics of a log, from one scan."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.markup import escape

import fastmetrics
from fastmetrics.cli import options
from fastmetrics.cli.completion import complete_gate
from fastmetrics.cli.drawn_results import Tables
from fastmetrics.cli.logs.config import with_config
from fastmetrics.cli.logs.found_columns import show_columns
from fastmetrics.cli.logs.gates import check_any_slice, check_gates, report_gates
from fastmetrics.cli.logs.log_evaluation import read_level, read_metrics, run_on_log
from fastmetrics.cli.logs.log_options import LogOptions, reject_unused_options, shared_options
from fastmetrics.cli.logs.task_options import read_tasks
from fastmetrics.cli.logs.value_gates import FORM, ValueGate, read_value_gate
from fastmetrics.cli.outputs import read_outputs
from fastmetrics.cli.terminal import GATE_FAILED, examples, show_warning

# `LogCommand` fills in the metrics.
EXAMPLES = examples(
    "evaluate clicks.parquet --label click --score pctr --group user_id",
    "evaluate log.csv --label y --score p --metrics '{metrics}'",
    "evaluate 'day=*/*.parquet' --label y --score p -o report.json -o report.html",
    "evaluate a.parquet b.parquet --label y --score p --json",
    "evaluate log.parquet --label click --score a --score b --by channel",
    "evaluate clicks.parquet --label click --score a --score b --group user_id --ci 95 -o report.html",
    "evaluate clicks.parquet --label click --score pctr --by channel --fail-if '{gate_metric} < 0.5 in any slice'",
    "evaluate log.csv --label y --label z --score p --by day --by country",
    "evaluate log.csv --label y --score p --memory-limit 2GiB --spill-dir .",
    "evaluate systems.parquet --metrics {text_metrics} --label reference --score a --score b --by day",
    "evaluate log.parquet --plugin my_metrics --metrics snips --role reward=revenue --role propensity=p",
    "evaluate images.parquet --metrics 'accuracy,f1(average=macro)' --label class --prediction predicted",
    "evaluate images.parquet --metrics logloss,brier,ece --label class --probabilities p_ant,p_bee,p_cat",
    "evaluate log.parquet --task 'ctr: label=click; score=pctr' --task 'sales: label=order; score=porder'",
    "evaluate points.parquet --metrics {partition_metrics} --label kind --score k10 --score k20",
    has_gates=True,
)


@shared_options
def evaluate(
    context: typer.Context,
    paths: options.Paths,
    log: LogOptions,
    ci: Annotated[
        str | None,
        typer.Option(
            metavar="LEVEL",
            help="Confidence intervals at this level: 95 for 95 %. Default: none.",
            show_default=False,
            rich_help_panel=options.INTERVALS,
        ),
    ] = None,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GATE",
            help=f"Exit with code {GATE_FAILED} if it holds for any score: '{escape(FORM)}'. Significantly: the whole "
            "interval of --ci is beyond the number. A gate looks at all rows only, and where it ends with 'in any "
            "slice' at slices too. An undefined value fails. May be repeated.",
            autocompletion=complete_gate,
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
) -> None:
    """Evaluate a log of any size: exact metrics, from one reading of the columns needed.

    The numbers do not depend on the order of rows or files, nor on the number of threads. Intervals depend on the order
    only if single rows are resampled.
    An undefined metric is shown as undefined, with the reason.
    """
    from fastmetrics.engine.plan.column_names import named_model_roles
    from fastmetrics.reporting.report_table import report_document
    from fastmetrics.reporting.terminal.report import print_report

    log, stored = with_config(context, log)
    if ci is None and "ci" in stored:
        ci = str(stored["ci"])
    arguments = log.arguments()
    models = arguments["probabilities"]
    model_roles = named_model_roles(log.score or None, log.prediction or None, models)
    gates = [read_value_gate(text, model_roles[0]) for text in fail_if or ()]
    names = evaluated_metrics(log.metric_text, gates, grouped=log.group is not None, model_roles=model_roles)
    if not log.tasks:
        missing = find_missing(names, log.labels, log.score, log.prediction, models)
        if missing is not None:
            columns = show_columns("evaluate", paths, arguments, 1)
            raise typer.BadParameter(f"name the column{columns}", param_hint=f"--{missing}")
    level = read_intervals(ci, log.unit)
    reject_unused_options(context, log, with_intervals=ci is not None)
    check_gates(gates, list((read_tasks(log.tasks) or {}).values()), model_roles[0])
    check_any_slice(gates, arguments["by"])
    for gate in gates:
        if gate.significantly and ci is None:
            raise typer.BadParameter(f"{gate.text!r} needs intervals: add --ci 95", param_hint="--fail-if")
    outputs = read_outputs(log.outputs, paths, default="table", has_gates=bool(gates))
    if not (log.tasks or ci or outputs.has_page):
        warn_of_unused_columns(names, model_roles, log)
    report = run_on_log(
        fastmetrics.evaluate,
        paths,
        names,
        outputs,
        Tables(print_report, report_document),
        ci=level,
        curves=outputs.has_page or stored.get("curves", False),
        stored=stored,
        **arguments,
    )
    report_gates(gates, report, quiet=log.quiet)


def evaluated_metrics(
    requested: str | None, gates: Sequence[ValueGate], *, grouped: bool, model_roles: Sequence[str]
) -> list[str] | str:
    """The metrics of --metrics and of the gates; without any, the defaults."""
    from fastmetrics.engine.plan.metric_plan import make_plan

    names = read_metrics(requested, grouped=grouped, model_roles=model_roles) if requested or not gates else []
    if not gates:
        return names
    known = [repr(metric) for metric in make_plan(names, model_roles).metrics] if names else []
    names = list(dict.fromkeys([*known, *(gate.metric for gate in gates)]))
    read_metrics(",".join(names), grouped=grouped, model_roles=model_roles)
    return names


def warn_of_unused_columns(metrics: list[str] | str, model_roles: Sequence[str], log: LogOptions) -> None:
    """Say which options do nothing: scripts may pass the same columns whatever metrics they ask for."""
    from fastmetrics._core.kinds import LABEL_ROLE, SCORE_ROLE
    from fastmetrics.engine.plan.metric_plan import make_plan

    plan = make_plan(metrics, model_roles)
    if log.group and not plan.needs("hash"):
        show_warning("--group has no effect: no metric is computed inside groups, and no intervals are asked for")
    for role, columns in ((LABEL_ROLE, log.label), (SCORE_ROLE, log.score)):
        readers = [metric for metric in plan.metrics if role in metric.spec.roles]
        if columns and readers and all(role in metric.columns for metric in readers):
            show_warning(f"--{role} has no effect: every metric names its own column")


def find_missing(
    metrics: list[str] | str,
    label: list[str] | None,
    score: list[str] | None,
    prediction: list[str] | None,
    probabilities: list[list[str]] | None,
) -> str | None:
    """The role without a column. Most metrics need --label and --score; some read neither, or have default names."""
    from fastmetrics._core.kinds import LABEL_ROLE, PREDICTION_ROLE, PROBABILITIES_ROLE, SCORE_ROLE
    from fastmetrics.engine.plan.column_names import named_model_roles, read_column_names
    from fastmetrics.engine.plan.metric_plan import make_plan
    from fastmetrics.engine.plan.plan_parts import check_kinds

    plan = make_plan(metrics, named_model_roles(score or None, prediction or None, probabilities))
    if not plan.is_numeric:
        roles = {PREDICTION_ROLE: prediction or None, PROBABILITIES_ROLE: probabilities}
        try:
            check_kinds(plan, read_column_names(plan, label or None, score or None, None, None, None, roles))
        except ValueError as error:
            raise typer.BadParameter(str(error), param_hint="--metrics") from None
        return None
    named = {LABEL_ROLE: label, SCORE_ROLE: score, PROBABILITIES_ROLE: probabilities}
    return next((role for role, columns in named.items() if not columns and plan.needs_columns((role,))), None)


def read_intervals(ci: str | None, unit: list[str] | None) -> float | None:
    """The level of --ci. Without it, --unit is wrong usage."""
    if ci is None and unit is not None:
        raise typer.BadParameter("it is for intervals: add --ci 95", param_hint="--unit")
    return None if ci is None else read_level(ci)
