"""``fastmetrics compare``: do two models differ by more than chance? With --fail-if, a gate for CI."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from rich.markup import escape
from rich.text import Text

import fastmetrics
from fastmetrics._core.kinds import MODEL_ROLES, SCORE_ROLE
from fastmetrics.cli import options
from fastmetrics.cli.logs.config import with_config
from fastmetrics.cli.logs.found_columns import show_columns
from fastmetrics.cli.logs.gates import FORM, Gate, read_gate
from fastmetrics.cli.logs.log_evaluation import read_level, read_metrics, run_on_log
from fastmetrics.cli.logs.log_options import LogOptions, reject_unused_options, shared_options
from fastmetrics.cli.logs.task_options import read_tasks
from fastmetrics.cli.outputs import Tables, read_outputs
from fastmetrics.cli.terminal import GATE_FAILED, examples, standard_error
from fastmetrics.engine.evaluation.options import BY_NAME

if TYPE_CHECKING:
    from fastmetrics import Comparison

# `LogCommand` fills in the metrics.
EXAMPLES = examples(
    "compare clicks.parquet --label click --score old --score new --group user_id",
    "compare log.csv --label y --score a --score b -m '{metrics}' --by country",
    "compare log.parquet --label y --score a --score b --unit day --fail-if '{gate_metric} worsens 0.001'",
    "compare log.parquet --label y --score a --score b --fail-if 'anything worsens significantly' --json -",
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
            help="The score that the others are compared with. Default: the first.",
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
        typer.Option(metavar=BY_NAME["margin"].metavar, help=BY_NAME["margin"].help, rich_help_panel=options.INTERVALS),
    ] = None,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GATE",
            help=f"Exit with code {GATE_FAILED} if it holds for any score: '{escape(FORM)}'. A metric worsens in its "
            "own direction ('anything': each of them); the value itself drops or rises, whether or not a higher value "
            "is better. By at least the amount; significantly: the verdict is better, worse or different. Without 'in "
            "any slice' it tests only all rows. An undefined value fails. May be repeated.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
) -> None:
    """Compare models on the same log: differences with intervals and p-values, paired by user, units won and lost.

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
        if not (log.label and columns):
            show_missing(names, paths, arguments, columns, model_role)
        check_columns(names, log.label, columns, baseline, model_role)
    level = read_level(ci)
    reject_unused_options(context, log)
    check_gates(gates, log, model_role)
    outputs = read_outputs(log, paths, has_gates=bool(gates))
    comparison: Comparison = run_on_log(
        fastmetrics.compare,
        paths,
        names,
        outputs,
        Tables(print_comparison, comparison_document),
        scores=log.score,
        predictions=log.prediction,
        baseline=options.split_columns(baseline) if baseline and log.probabilities else baseline,
        ci=level,
        correction=correction,
        margin=margins,
        stored=stored,
        **arguments,
    )
    report_failures(gates, comparison)


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
        undirected = {spec.example for spec in fastmetrics.describe_metrics() if spec.direction == "none"}
        defaults = read_metrics(None, grouped=grouped, model_roles=(model_role,))
        metrics = [name for name in defaults if name not in undirected]
    names = [repr(metric) for metric in make_plan(metrics, (model_role,)).metrics] if metrics else []
    names = list(dict.fromkeys([*names, *(gate.metric for gate in gates if gate.metric is not None)]))
    read_metrics(",".join(names), grouped=grouped, model_roles=(model_role,))
    return names


def check_gates(gates: list[Gate], log: LogOptions, model_role: str) -> None:
    """Reject a gate on a metric that no task computes: it would always pass."""
    from fastmetrics.engine.plan.metric_plan import make_plan

    tasks = (read_tasks(log.tasks) or {}).values()
    if not gates or not tasks or any(task.metrics is None for task in tasks):
        return
    computed = {repr(metric) for task in tasks for metric in make_plan(task.metrics or (), (model_role,)).metrics}
    for gate in gates:
        if gate.metric is not None and gate.metric not in computed:
            found = f"no --task computes {gate.metric}, only {', '.join(sorted(computed))}"
            raise typer.BadParameter(found, param_hint="--fail-if")


def show_missing(
    metrics: list[str], paths: list[str], arguments: dict[str, Any], score: list[str] | None, model_role: str
) -> None:
    """Print the columns of the log if no model is named, or no label where one is needed."""
    from fastmetrics._core.kinds import LABEL_ROLE
    from fastmetrics.engine.plan.metric_plan import make_plan

    if not score or make_plan(metrics, (model_role,)).needs_columns((LABEL_ROLE,)):
        show_columns("compare", paths, arguments, 2)


def check_columns(
    metrics: list[str], label: list[str] | None, score: list[str] | None, baseline: str | None, model_role: str
) -> None:
    """Report missing columns and a missing second score before any file is read."""
    from fastmetrics._core.kinds import LABEL_ROLE
    from fastmetrics.engine.plan.metric_plan import make_plan

    if not label and make_plan(metrics, (model_role,)).needs_columns((LABEL_ROLE,)):
        raise typer.BadParameter("name the column", param_hint="--label")
    scores = list(dict.fromkeys(score or ()))
    if len(scores) < 2:
        found = f"found only {scores[0]}" if scores else "found none"
        raise typer.BadParameter(
            f"name the columns of at least two models, --{model_role} a --{model_role} b; {found}",
            param_hint=f"--{model_role}",
        )
    if baseline is not None and baseline not in scores:
        models = model_role if model_role.endswith("s") else f"{model_role}s"
        found = f"{baseline} is not one of the {models} ({', '.join(scores)})"
        raise typer.BadParameter(found, param_hint="--baseline")


def report_failures(gates: list[Gate], comparison: "Comparison") -> None:
    """Print the gates that fail to standard error, and exit with their code if there are any."""
    failures = [sentence for gate in gates for sentence in gate.failures(comparison)]
    for sentence in failures:
        standard_error().print(Text.assemble(("failed:", "bold red"), " --fail-if ", sentence))
    if failures:
        raise typer.Exit(GATE_FAILED)
