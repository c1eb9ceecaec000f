"""``fastmetrics compare``: do two models differ by more than chance? With --fail-if, a gate for CI."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.markup import escape

import fastmetrics
from fastmetrics._core.kinds import MODEL_ROLES, SCORE_ROLE
from fastmetrics.cli import options
from fastmetrics.cli.completion import complete_columns, complete_gate, complete_margin
from fastmetrics.cli.drawn_results import Tables
from fastmetrics.cli.logs.config import with_config
from fastmetrics.cli.logs.found_columns import show_columns
from fastmetrics.cli.logs.gates import (
    FORM,
    Gate,
    check_any_slice,
    check_gates,
    check_slices_only,
    read_gate,
    report_gates,
)
from fastmetrics.cli.logs.input_options import read_data
from fastmetrics.cli.logs.log_evaluation import read_level, read_metrics, run_on_log
from fastmetrics.cli.logs.log_options import LogOptions, reject_unused_options, shared_options
from fastmetrics.cli.logs.task_options import read_tasks
from fastmetrics.cli.outputs import read_outputs
from fastmetrics.cli.terminal import GATE_FAILED, examples
from fastmetrics.engine.evaluation.options import BY_NAME
from fastmetrics.engine.evaluation.options.option import REST

if TYPE_CHECKING:
    from fastmetrics import Comparison

# `LogCommand` fills in the metrics.
EXAMPLES = examples(
    "compare clicks.parquet --label click --score old --score new --group user_id",
    "compare log.csv --label y --score a --score b -m '{metrics}' --by country",
    "compare log.parquet --label y --score a --score b --unit day --fail-if '{gate_metric} worsens 0.001'",
    "compare log.parquet --label y --score a --score b --fail-if 'anything worsens significantly' --json",
    "compare clicks.parquet --label click --score pctr --by channel --baseline rest",
    "compare today.parquet --against yesterday.parquet --label click --score pctr --group user_id",
    "compare systems.parquet -m {text_metrics} --label reference --score a --score b",
    has_gates=True,
)


@shared_options
def compare(
    context: typer.Context,
    paths: options.Paths,
    log: LogOptions,
    baseline: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The score that the others are compared with. Default: the first. 'rest': each slice of one score is "
            "compared with the rest of the rows.",
            autocompletion=complete_columns,
            rich_help_panel=options.COLUMNS,
        ),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PATH",
            help="Another log, such as that of yesterday: every value of a score is compared with its value there. "
            "Units that are in both are paired. May be repeated: several files are one log.",
            rich_help_panel=options.COLUMNS,
        ),
    ] = None,
    ci: Annotated[
        str,
        typer.Option(
            metavar="LEVEL", help="The level of the intervals, in percent.", rich_help_panel=options.INTERVALS
        ),
    ] = "95",
    correction: Annotated[
        Literal["holm", "benjamini-hochberg", "none"],
        typer.Option(
            help="How p-values are adjusted within all rows, and within each set of slices.",
            rich_help_panel=options.INTERVALS,
        ),
    ] = "holm",
    margin: Annotated[
        list[str] | None,
        typer.Option(
            metavar=BY_NAME["margin"].metavar,
            help=BY_NAME["margin"].help,
            rich_help_panel=options.INTERVALS,
            autocompletion=complete_margin,
        ),
    ] = None,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GATE",
            help=f"Exit with code {GATE_FAILED} if it holds for any score: '{escape(FORM)}'. A metric worsens in its "
            "own direction ('anything': each of them); the value itself drops or rises, whether or not a higher value "
            "is better. By at least the amount; significantly: the verdict is better, worse or different. A gate looks "
            "at all rows only, and where it ends with 'in any slice' at slices too. An undefined value fails. May be "
            "repeated.",
            autocompletion=complete_gate,
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
) -> None:
    """Compare models on the same log, or a model on two: differences with intervals and p-values, paired by user.

    The verdict of each line is decided for all rows together, and for each set of slices.
    The units are users if there is a group, otherwise rows.
    The numbers do not depend on the number of threads, nor on the order of rows unless rows are the units.
    """
    from fastmetrics.reporting.comparison_table import comparison_document
    from fastmetrics.reporting.terminal.comparison import print_comparison

    log, stored = with_config(context, log)
    if "ci" in stored and not options.was_given(context, "ci"):
        ci = str(stored["ci"])
    baseline = stored.get("baseline") if baseline is None else baseline
    if "correction" in stored and not options.was_given(context, "correction"):
        correction = stored["correction"]
    margins = read_margins(margin) if margin else stored.get("margin")
    gates = [read_gate(text) for text in fail_if or ()]
    models = {
        role: columns
        for role, columns in zip(MODEL_ROLES, (log.score, log.prediction, log.probabilities), strict=True)
        if columns
    }
    if len(models) > 1:
        options_given = " or by ".join(f"--{role}" for role in models)
        hint = f"--{next(iter(models))}"
        raise typer.BadParameter(f"models are compared by {options_given}, not by both", param_hint=hint)
    model_role, columns = next(iter(models.items()), (SCORE_ROLE, None))
    names = compared_metrics(log.metric_text, gates, grouped=log.group is not None, model_role=model_role)
    arguments = log.arguments()
    if not log.tasks:
        n_scores = 2 if baseline != REST and not against else 1
        columns_of_log = partial(show_columns, "compare", paths, arguments, n_scores)
        check_columns(names, log.labels, columns, baseline, model_role, columns_of_log, n_scores)
    level = read_level(ci)
    reject_unused_options(context, log)
    check_gates(gates, list((read_tasks(log.tasks) or {}).values()), model_role)
    check_any_slice(gates, arguments["by"])
    if baseline == REST and len(columns or ()) < 2:
        check_slices_only(gates)
    outputs = read_outputs(log.outputs, paths, default="table", has_gates=bool(gates))
    comparison: Comparison = run_on_log(
        fastmetrics.compare,
        paths,
        names,
        outputs,
        Tables(print_comparison, comparison_document),
        against=None if against is None else read_data(against),
        baseline=options.split_columns(baseline) if baseline and log.probabilities else baseline,
        ci=level,
        correction=correction,
        margin=margins,
        stored=stored,
        **arguments,
    )
    report_gates(gates, comparison, quiet=log.quiet)


def read_margins(texts: list[str]) -> dict[str, float]:
    """The values of --margin: "auc=0.001"."""
    found: dict[str, float] = {}
    for text in texts:
        name, equals, number = text.rpartition("=")
        try:
            value = float(number) if equals else None
        except ValueError:
            value = None
        if value is None or not name or name in found:
            why = f"{name} has two margins" if name in found else f"cannot read {text!r}; write METRIC=VALUE, auc=0.001"
            raise typer.BadParameter(why, param_hint="--margin")
        found[name] = value
    return found


def compared_metrics(
    requested: str | None, gates: list[Gate], *, grouped: bool, model_role: str = SCORE_ROLE
) -> list[str]:
    """The metrics of --metrics and of the gates; without any, the defaults that have a better direction."""
    from fastmetrics.engine.plan.metric_plan import make_plan

    if requested:
        metrics = read_metrics(requested, grouped=grouped, model_roles=(model_role,))
    elif any(gate.metric for gate in gates):
        metrics = []
    else:
        metrics = read_metrics(None, grouped=grouped, model_roles=(model_role,), compared=True)
    names = [repr(metric) for metric in make_plan(metrics, (model_role,)).metrics] if metrics else []
    names = list(dict.fromkeys([*names, *(gate.metric for gate in gates if gate.metric is not None)]))
    read_metrics(",".join(names), grouped=grouped, model_roles=(model_role,))
    return names


def check_columns(
    metrics: list[str],
    label: list[str] | None,
    score: list[str] | None,
    baseline: str | None,
    model_role: str,
    columns_of_log: Callable[[], str],
    n_scores: int = 2,
) -> None:
    """Report missing columns and a missing second score before any row is read."""
    from fastmetrics._core.kinds import LABEL_ROLE
    from fastmetrics.engine.plan.metric_plan import make_plan

    if not label and make_plan(metrics, (model_role,)).needs_columns((LABEL_ROLE,)):
        raise typer.BadParameter(f"name the column{columns_of_log()}", param_hint="--label")
    scores = list(dict.fromkeys(score or ()))
    if n_scores < 2 and len(scores) < 2:
        if not scores and make_plan(metrics, (model_role,)).needs_columns((model_role,)):
            raise typer.BadParameter(f"name the column{columns_of_log()}", param_hint=f"--{model_role}")
        return
    if len(scores) < 2:
        found = f"found only {scores[0]}" if scores else f"found none{columns_of_log()}"
        raise typer.BadParameter(
            f"name the columns of at least two models, --{model_role} a --{model_role} b; {found}",
            param_hint=f"--{model_role}",
        )
    if baseline is not None and baseline not in scores:
        models = model_role if model_role.endswith("s") else f"{model_role}s"
        found = f"{baseline} is not one of the {models} ({', '.join(scores)})"
        raise typer.BadParameter(found, param_hint="--baseline")
