"""``fastmetrics evaluate``: metrics of a log, from one scan."""

import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import fastmetrics
from fastmetrics._core.inputs import LabelError, ProbabilityError
from fastmetrics._core.memory import parse_size
from fastmetrics.cli.files import complete_or_nothing
from fastmetrics.cli.interval_options import Method, read_level
from fastmetrics.cli.terminal import examples, show_warning, shown_path

if TYPE_CHECKING:
    from fastmetrics import Report


class OnInvalid(StrEnum):
    """What to do with a row in which a column that is read is null or NaN."""

    RAISE = "raise"
    DROP = "drop"


def default_metrics(*, grouped: bool, target: str = "binary") -> list[str]:
    """Every metric that wants to be shown without being asked for, those by group only where there is a group."""
    return [
        spec.example
        for spec in fastmetrics.describe_metrics()
        if spec.default and spec.target == target and (grouped or spec.exchange != "group")
    ]


def read_metrics(text: str | None, *, grouped: bool) -> list[str] | str:
    """What --metrics means. A name or parameter that does not exist is wrong usage, found before any reading."""
    if text is None:
        return default_metrics(grouped=grouped)
    from fastmetrics.engine.plan import make_plan

    try:
        plan = make_plan(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--metrics") from error
    inside = [str(metric) for metric in plan.metrics if metric.spec.exchange == "group"]
    if inside and not grouped:
        raise typer.BadParameter(
            f"{', '.join(inside)} is computed inside groups: name their column with --group", param_hint="--metrics"
        )
    return text


def check_columns(metrics: list[str] | str, label: list[str] | None, score: list[str] | None) -> None:
    """Columns that have to be named are, which is where metrics take numbers: others have names of their own."""
    from fastmetrics.engine.plan import make_plan

    if make_plan(metrics).targets.alone is not None:
        return
    for option, columns in (("--label", label), ("--score", score)):
        if not columns:
            raise typer.BadParameter("name the column", param_hint=option)


def read_memory_limit(text: str | None) -> str | None:
    """What --memory-limit says, if it can be read: found before any reading."""
    try:
        parse_size(text, "--memory-limit")
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    return text


def read_intervals(ci: str | None, unit: str | None) -> float | None:
    """The level of --ci; what only intervals need is wrong usage without it."""
    if ci is None and unit is not None:
        raise typer.BadParameter("it is for intervals: add --ci 95", param_hint="--unit")
    return None if ci is None else read_level(ci)


def refuse_idle_options(ci: str | None, context: typer.Context) -> None:
    """How intervals are made, without asking for any, is a slip: nobody would see that there are none."""
    for name in ("ci_method", "replicates", "seed"):
        source = context.get_parameter_source(name)
        if ci is None and source is not None and source.name == "COMMANDLINE":
            raise typer.BadParameter("it is for intervals: add --ci 95", param_hint=f"--{name.replace('_', '-')}")


def example_metrics() -> str:
    """A value for --metrics, plain and with a parameter, from the registry: no metric is known here by name."""
    specs = [spec for spec in fastmetrics.describe_metrics() if spec.exchange != "group" and spec.target == "binary"]
    plain = next(spec for spec in specs if not spec.parameters)
    tuned = next(spec for spec in specs if spec.parameters)
    parameter, default = next(iter(tuned.parameters.items()))
    return f"{plain.name},{tuned.name}({parameter}={default})"


def examples_of(target: str) -> str:
    """Two metrics of a target, from the registry too."""
    names = [spec.example for spec in fastmetrics.describe_metrics() if spec.target == target]
    return ",".join(names[:2])


EXAMPLES = examples(
    "evaluate clicks.parquet --label click --score pctr --group user_id",
    f"evaluate log.csv --label y --score p --metrics '{example_metrics()}'",
    "evaluate 'day=*/*.parquet' --label y --score p --json report.json",
    "evaluate a.parquet b.parquet --label y --score p --json -",
    "evaluate log.parquet --label click --score a --score b --by channel",
    "evaluate clicks.parquet --label click --score a --score b --group user_id --ci 95 --html report.html",
    "evaluate log.csv --label y --label z --score p --by day --by country",
    "evaluate log.csv --label y --score p --memory-limit 2GiB --spill-dir /scratch",
    f"evaluate systems.parquet --metrics {examples_of('text')} --label reference --score a --score b --by domain",
    f"evaluate points.parquet --metrics {examples_of('partition')} --label kind --score k10 --score k20",
)


def evaluate(
    context: typer.Context,
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH",
            help="Parquet, Arrow IPC or CSV files, quoted globs of them, or a folder partitioned as in column=value.",
            show_default=False,
        ),
    ],
    label: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="What happened: 0/1, -1/+1 or bool; any numbers for metrics of target real; for those of text the "
            "references (default: column reference); for those of partition the classes (default: column label). "
            "Repeat it: every score against every label.",
        ),
    ] = None,
    score: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="What the model predicted; for metrics of target text the hypotheses (default: column hypothesis), "
            "of partition the clusters (default: column cluster). Repeat it to compare models.",
        ),
    ] = None,
    group: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Whose rows belong together: integers or strings.")
    ] = None,
    weight: Annotated[str | None, typer.Option(metavar="COLUMN", help="How much a row counts.")] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Every value of it is a slice, evaluated beside all rows. Repeat it for every combination of values.",
        ),
    ] = None,
    metrics: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...",
            help="See `fastmetrics list`; NAME(parameter=value) sets a parameter. "
            "Default: all of target binary that need no group, and with --group also those that do.",
        ),
    ] = None,
    threads: Annotated[int | None, typer.Option(metavar="N", min=1, help="Default: all cores.")] = None,
    memory_limit: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="As 2GiB or 500MB: rows beyond half of it wait in a spill file. Default: half of the free memory.",
        ),
    ] = None,
    spill_dir: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="Where the spill file is, if one is needed. Default: the system's folder."),
    ] = None,
    on_invalid: Annotated[
        OnInvalid,
        typer.Option(help="A null or NaN in a column that is read: an error, or the row is left out and counted."),
    ] = OnInvalid.RAISE,
    ci: Annotated[
        str | None,
        typer.Option(metavar="LEVEL", help="Intervals: 95 for those of 95 %. Default: none.", show_default=False),
    ] = None,
    ci_method: Annotated[
        Method, typer.Option(help="How: resampling's percentiles, its standard error, or DeLong's formula (for AUC).")
    ] = Method.BOOTSTRAP,
    replicates: Annotated[int, typer.Option(metavar="N", min=1, help="How often units are resampled.")] = 1000,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Another one draws other samples.")] = 0,
    unit: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="What is resampled: a column, or 'row'. Default: the group, else rows."),
    ] = None,
    json: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the report as JSON too; '-' prints nothing but JSON.")
    ] = None,
    html: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the report as a page too, with curves; it needs no network."),
    ] = None,
) -> None:
    """Evaluate a log of any size: exact metrics from one scan of the columns needed.

    The numbers do not depend on the order of rows or files, nor on the threads; of intervals, only where rows
    themselves are resampled does the order count.
    An undefined metric is shown as such, with the reason.
    """
    from fastmetrics.cli.table import print_report

    wanted = read_metrics(metrics, grouped=group is not None)
    check_columns(wanted, label, score)
    limit = read_memory_limit(memory_limit)
    level = read_intervals(ci, unit)
    refuse_idle_options(ci, context)
    if html == "-":
        raise typer.BadParameter("name a file, report.html say", param_hint="--html")
    with ExitStack() as files:
        json_file, page_file = (
            files.enter_context(complete_or_nothing(Path(name))) if name not in (None, "-") else None
            for name in (json, html)
        )
        report = evaluate_log(
            paths,
            wanted,
            label=label or None,
            score=score or None,
            group=group,
            weight=weight,
            by=by or None,
            memory_limit=limit,
            spill_dir=spill_dir,
            n_threads=threads,
            on_invalid=on_invalid.value,
            ci=level,
            ci_method=ci_method.value,
            replicates=replicates,
            seed=seed,
            unit=unit,
            curves=html is not None,
        )
        if json_file is not None:
            json_file.write_text(report.to_json(indent=2) + "\n", encoding="utf-8")
        if page_file is not None:
            page_file.write_text(report.to_html(), encoding="utf-8")
    if html is not None:
        typer.echo(f"wrote {shown_path(Path(html))}", err=True)
    if json == "-":
        typer.echo(report.to_json(indent=2))
    else:
        print_report(report)


def advice_for_raw_scores(*, grouped: bool) -> str:
    """Metrics that only compare scores: those of the exchanges."""
    exchanges = {spec.example: spec.exchange for spec in fastmetrics.describe_metrics()}
    comparing = [name for name in default_metrics(grouped=grouped) if exchanges[name] != "none"]
    return f"For scores that are no probabilities type --metrics {','.join(comparing)}"


def advice_for_numbers(metrics: str | list[str]) -> str:
    """Metrics that take the labels another one refused."""
    from fastmetrics.engine.plan import make_plan

    targets = make_plan(metrics).targets
    asked = [repr(metric) for metric in targets.real + targets.graded]
    names = asked or default_metrics(grouped=False, target="real")
    return f"For labels that are numbers type --metrics '{','.join(names)}'"


def evaluate_log(paths: Sequence[str], metrics: str | list[str], **options: Any) -> "Report":
    """``fastmetrics.evaluate`` as the command line calls it."""
    report: Report = call_on_log(fastmetrics.evaluate, paths, metrics, **options)
    return report


def call_on_log(door: Callable[..., Any], paths: Sequence[str], metrics: str | list[str], **options: Any) -> Any:
    """A function of a log under a progress bar, its warnings without Python's file and line."""
    import_module("pyarrow")  # its absence is to be answered with the command line's extra, not with the engine's
    from fastmetrics.cli.progress import row_progress

    with warnings.catch_warnings(record=True) as caught, row_progress() as report_rows:
        # An undefined metric is said in the answer, with its reason.
        warnings.simplefilter("ignore", fastmetrics.UndefinedMetricWarning)
        try:
            answer = door(list(paths), metrics, progress=report_rows, **options)
        except ProbabilityError as error:
            raise ValueError(f"{error}. {advice_for_raw_scores(grouped=options['group'] is not None)}") from error
        except LabelError as error:
            raise ValueError(f"{error}. {advice_for_numbers(metrics)}") from error
    for warning in caught:
        show_warning(str(warning.message))
    return answer
