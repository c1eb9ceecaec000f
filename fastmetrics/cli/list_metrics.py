"""``fastmetrics list``: every metric the registry knows."""

import json as json_format
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich import box
from rich.table import Table

import fastmetrics
from fastmetrics.cli.terminal import examples, standard_output

EXAMPLES = examples("list", "list --json | jq -r '.metrics[].name'")

# What the engine brings together in one place for a metric.
EXCHANGES = {
    "none": "sums over rows",
    "score": "rows with neighbouring scores meet",
    "group": "rows of one group meet: needs --group",
}

# What a metric takes for labels.
TARGETS = {
    "binary": "labels are of two classes: 0/1, -1/+1 or bool",
    "real": "labels are any finite numbers",
    "graded": "labels are grades of relevance: 0 and 1, or any finite numbers",
    "text": "labels are references, scores are hypotheses: strings; several references are a list of strings",
    "partition": "labels are classes, scores are clusters: integers, strings, dates or any other labels",
}


def list_metrics(
    json: Annotated[bool, typer.Option("--json", help="Print JSON, with everything the registry knows.")] = False,
) -> None:
    """List the metrics, what they need and their parameters with defaults.

    A parameter is set in parentheses: name(parameter=value). A cutoff follows after @: name@10 where the name ends with
    @k, name or name@10 where @k stands among the parameters.
    """
    specs = fastmetrics.describe_metrics()
    if json:
        metrics = [as_dictionary(spec) for spec in specs]
        document = {"schema": 1, "version": fastmetrics.__version__, "metrics": metrics}
        typer.echo(json_format.dumps(document, indent=2))
    elif sys.stdout.isatty():
        print_table(specs)
    else:
        print_lines(specs)


def print_table(specs: Sequence[Any]) -> None:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1), header_style="bold")
    table.add_column("metric", style="cyan", no_wrap=True)
    table.add_column("what it is", ratio=1)
    table.add_column("exchange")
    table.add_column("target")
    table.add_column("parameters and defaults", style="green")
    for spec in specs:
        table.add_row(spec.name, spec.summary, spec.exchange, spec.target, "\n".join(parameters(spec)))
    console = standard_output()
    console.print("", table, "", sep="\n")
    for word, meaning in {**EXCHANGES, **TARGETS}.items():
        console.print(f" {word:<9} {meaning}", style="dim")


def print_lines(specs: Sequence[Any]) -> None:
    """One metric a line, its columns apart by two blanks or more, for grep and awk."""
    rows = [("metric", "exchange", "target", "parameters", "summary")]
    rows += [(spec.name, spec.exchange, spec.target, ",".join(parameters(spec)) or "-", spec.summary) for spec in specs]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def parameters(spec: Any) -> list[str]:
    """Parameters with defaults, and "@k" where a cutoff may be given."""
    return [f"{name}={default}" for name, default in spec.parameters.items()] + ["@k"] * (spec.cutoff is True)


def as_dictionary(spec: Any) -> dict[str, Any]:
    return {
        "name": spec.name,
        "summary": spec.summary,
        "family": spec.family,
        "exchange": spec.exchange,
        "target": spec.target,
        "parameters": dict(spec.parameters),
        "cutoff": {False: None, True: "optional"}.get(spec.cutoff, spec.cutoff),
        "undefined": spec.undefined,
        "best": spec.best,
    }
