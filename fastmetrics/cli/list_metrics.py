"""``fastmetrics list``: every metric of the registry."""

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

import fastmetrics
from fastmetrics.cli.terminal import examples
from fastmetrics.reporting.terminal.console import standard_output, write_json, write_lines
from fastmetrics.reporting.terminal.drawn_tables import borderless_table
from fastmetrics.reporting.text_tables import aligned_lines

EXAMPLES = examples("list", "list --json | jq -r '.metrics[].name'")

# The rows that must be in one partition before a metric can be computed.
EXCHANGES = {
    "none": "sums over rows",
    "range": "rows with neighbouring scores meet",
    "hash": "rows of one group meet: needs --group",
}

# The kind of labels that a metric reads.
TARGETS = {
    "binary": "labels are of two classes: 0/1, -1/+1 or bool",
    "real": "labels are any finite numbers",
    "graded": "labels are grades of relevance: 0 and 1, or any finite numbers",
    "text": "labels are references, scores are hypotheses: strings; several references are a list of strings",
    "partition": "labels are classes, scores are clusters: integers, strings, dates or any other labels",
    "prediction": "labels are of any number of classes, and --prediction names predicted labels of their type",
    "probabilities": "labels are of any number of classes, and --probabilities names a probability for each class",
    "sets": "labels are lists: sets of labels; scores are lists with a score for each label",
}


def list_metrics(
    json: Annotated[bool, typer.Option("--json", help="Print the whole registry as JSON.")] = False,
) -> None:
    """List the metrics with their aliases, what they need and their parameters with defaults.

    A parameter is set in parentheses: name(parameter=value). A cutoff follows after @: write name@10 for a name that
    ends with @k, and name or name@10 for a metric with @k among its parameters.
    """
    specs = fastmetrics.describe_metrics()
    forms = [form for spec in specs for form in spec.forms]
    if json:
        write_json(metrics=list(map(as_dictionary, specs)))
    elif sys.stdout.isatty():
        print_table(forms)
    else:
        print_lines(forms)


def print_table(specs: Sequence[Any]) -> None:
    table = borderless_table()
    table.add_column("metric", style="cyan", no_wrap=True)
    table.add_column("what it is", ratio=1)
    table.add_column("exchange")
    table.add_column("target")
    table.add_column("parameters and defaults", style="green")
    for spec in specs:
        meaning = spec.summary + (f"\n[dim]also {', '.join(spec.aliases)}[/dim]" if spec.aliases else "")
        table.add_row(spec.name, meaning, spec.exchange, spec.target, "\n".join(parameter_texts(spec)))
    console = standard_output()
    console.print("", table, "", sep="\n")
    for word, meaning in {**EXCHANGES, **TARGETS}.items():
        console.print(f" {word:<10} {meaning}", style="dim")


def print_lines(specs: Sequence[Any]) -> None:
    """One metric a line, with at least two blanks between columns, for grep and awk."""
    rows = [("metric", "exchange", "target", "parameters", "aliases", "summary")]
    for spec in specs:
        lists = (",".join(texts) or "-" for texts in (parameter_texts(spec), spec.aliases))
        rows.append((spec.name, spec.exchange, spec.target, *lists, spec.summary))
    write_lines(aligned_lines(rows, range(len(rows[0]))))


def parameter_texts(spec: Any) -> list[str]:
    """Parameters with defaults, and "@k" if a cutoff is optional."""
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
        "direction": spec.direction,
        "aliases": list(spec.aliases),
        "of_predictions": describe_form(spec.of_predictions),
        "of_probabilities": describe_form(spec.of_probabilities),
    }


def describe_form(form: Any) -> dict[str, Any] | None:
    """What differs in another form of a metric; None if there is none."""
    return None if form is None else {"parameters": dict(form.parameters), "undefined": form.undefined}
