"""``fastmetrics compare``: do two models differ by more than chance? And an exit code for those that gate on it."""

from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.text import Text

import fastmetrics
from fastmetrics.cli.evaluate import (
    OnInvalid,
    call_on_log,
    default_metrics,
    example_metrics,
    examples_of,
    read_memory_limit,
    read_metrics,
)
from fastmetrics.cli.files import complete_or_nothing
from fastmetrics.cli.gates import FORM, Gate, read_gate
from fastmetrics.cli.interval_options import Method, read_level
from fastmetrics.cli.terminal import examples, shown_path, standard_error

if TYPE_CHECKING:
    from fastmetrics import Comparison

# The exit code of a comparison in which a --fail-if holds; 1 are errors, 2 is wrong usage.
GATE_FAILED = 3


class Correction(StrEnum):
    """How p-values are adjusted over all differences."""

    HOLM = "holm"
    BENJAMINI_HOCHBERG = "benjamini-hochberg"
    NONE = "none"


def example_gate() -> str:
    """A metric by which models are gated, from the registry: no metric is known here by name."""
    return next(spec.example for spec in fastmetrics.describe_metrics() if spec.exchange == "score" and spec.default)


EXAMPLES = examples(
    "compare clicks.parquet --label click --score old --score new --group user_id",
    f"compare log.csv --label y --score a --score b -m '{example_metrics()}' --by country",
    f"compare log.parquet --label y --score a --score b --unit day --fail-if '{example_gate()} drops 0.001'",
    f"compare log.parquet --label y --score a --score b --fail-if '{example_gate()} drops 0.5% significantly' --json -",
    f"compare systems.parquet -m {examples_of('text')} --label reference --score a --score b",
)


def compared_metrics(wanted: list[str] | None, gates: list[Gate], *, grouped: bool) -> list[str]:
    """The metrics asked for, those of gates among them; by default all that have a better and a worse."""
    from fastmetrics.engine.plan import make_plan

    if wanted:
        known = read_metrics(",".join(wanted), grouped=grouped)
    else:
        facts = {spec.example for spec in fastmetrics.describe_metrics() if spec.best == "none"}
        known = [name for name in default_metrics(grouped=grouped) if name not in facts] if not gates else []
    names = [repr(metric) for metric in make_plan(known).metrics] if known else []
    names = list(dict.fromkeys([*names, *(gate.metric for gate in gates)]))
    read_metrics(",".join(names), grouped=grouped)
    return names


def compare(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH",
            help="Parquet, Arrow IPC or CSV files, quoted globs of them, or a folder partitioned as in column=value.",
            show_default=False,
        ),
    ],
    score: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="What a model predicted; at least two. The first is the baseline. For metrics of target text the "
            "hypotheses, of partition the clusters.",
        ),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="What happened, as for `fastmetrics evaluate`. Repeat it: every score against every label.",
        ),
    ] = None,
    baseline: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The score that others are compared with. Default: the first."),
    ] = None,
    group: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Whose rows belong together: integers or strings.")
    ] = None,
    unit: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="What is drawn as a whole: a column of integers or strings, or 'row'. Default: the group, else rows.",
        ),
    ] = None,
    weight: Annotated[str | None, typer.Option(metavar="COLUMN", help="How much a row counts.")] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Every value of it is a slice, compared beside all rows. Repeat it for every combination of values.",
        ),
    ] = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metrics",
            "--metric",
            "-m",
            metavar="NAME,...",
            help="See `fastmetrics list`; may be repeated. Default: those of --fail-if, else all of target binary that "
            "have a better and a worse.",
        ),
    ] = None,
    ci: Annotated[str, typer.Option(metavar="LEVEL", help="Of the intervals, in percent.")] = "95",
    ci_method: Annotated[
        Method, typer.Option(help="How: resampling's percentiles, its standard error, or DeLong's formula (for AUC).")
    ] = Method.BOOTSTRAP,
    replicates: Annotated[int, typer.Option(metavar="N", min=1, help="How often units are resampled.")] = 1000,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Another one draws other samples.")] = 0,
    correction: Annotated[
        Correction, typer.Option(help="How p-values are adjusted over all metrics, slices and models.")
    ] = Correction.HOLM,
    fail_if: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GATE",
            help=f"Exit with code {GATE_FAILED} if it holds for any score: '{escape(FORM)}'. The value itself has to "
            "drop or rise, by at least the amount, whether or not the metric is better high; significantly: adjusted p "
            "below 1 - ci. All rows are looked at, with 'in any slice' slices too; what is undefined fails. Repeat it.",
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
    json: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the comparison as JSON too; '-' prints nothing but JSON.")
    ] = None,
    html: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write the comparison as a page that needs no network.")
    ] = None,
) -> None:
    """Compare models on the same log: differences with intervals and p-values, paired by user, units won and lost.

    Units (users where there is a group, else rows) are resampled for all scores alike.
    The numbers do not depend on the order of rows, unless rows are the units, nor on the threads.
    """
    from fastmetrics.cli.comparison_table import print_comparison

    gates = [read_gate(text) for text in fail_if or ()]
    wanted = compared_metrics(metrics, gates, grouped=group is not None)
    check_columns(wanted, label, score, baseline)
    level = read_level(ci)
    limit = read_memory_limit(memory_limit)
    if html == "-":
        raise typer.BadParameter("name a file, comparison.html say", param_hint="--html")
    with ExitStack() as files:
        json_file, page_file = (
            files.enter_context(complete_or_nothing(Path(name))) if name not in (None, "-") else None
            for name in (json, html)
        )
        comparison: Comparison = call_on_log(
            fastmetrics.compare,
            paths,
            wanted,
            label=label or None,
            scores=score,
            baseline=baseline,
            group=group,
            unit=unit,
            weight=weight,
            by=by or None,
            ci=level,
            ci_method=ci_method.value,
            replicates=replicates,
            seed=seed,
            correction=correction.value,
            memory_limit=limit,
            spill_dir=spill_dir,
            n_threads=threads,
            on_invalid=on_invalid.value,
        )
        if json_file is not None:
            json_file.write_text(comparison.to_json(indent=2) + "\n", encoding="utf-8")
        if page_file is not None:
            page_file.write_text(comparison.to_html(), encoding="utf-8")
    if html is not None:
        typer.echo(f"wrote {shown_path(Path(html))}", err=True)
    if json == "-":
        typer.echo(comparison.to_json(indent=2))
    else:
        print_comparison(comparison)
    report_failures(gates, comparison)


def check_columns(metrics: list[str], label: list[str] | None, score: list[str] | None, baseline: str | None) -> None:
    """Columns that have to be named are, and there are two scores to compare: found before any reading."""
    from fastmetrics.engine.plan import make_plan

    if not label and make_plan(metrics).targets.alone is None:
        raise typer.BadParameter("name the column", param_hint="--label")
    scores = list(dict.fromkeys(score or ()))
    if len(scores) < 2:
        found = f"found {scores[0]} alone" if scores else "found none"
        raise typer.BadParameter(
            f"name the columns of at least two models, --score a --score b; {found}", param_hint="--score"
        )
    if baseline is not None and baseline not in scores:
        raise typer.BadParameter(f"{baseline} is none of the scores ({', '.join(scores)})", param_hint="--baseline")


def report_failures(gates: list[Gate], comparison: "Comparison") -> None:
    """Say which gates hold, on standard error, and exit with their code if any does."""
    failures = [sentence for gate in gates for sentence in gate.failures(comparison)]
    for sentence in failures:
        standard_error().print(Text.assemble(("failed:", "bold red"), " --fail-if ", sentence))
    if failures:
        raise typer.Exit(GATE_FAILED)
