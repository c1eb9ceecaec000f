"""``fastmetrics list``: the metrics of the registry, all or some, or one in full."""

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

import fastmetrics
from fastmetrics.cli.completion import complete_metrics
from fastmetrics.cli.options import DEFAULT_OUTPUTS, OutputWords, Plugins, import_plugins, with_outputs
from fastmetrics.cli.outputs import read_outputs, write_result
from fastmetrics.cli.table_results import TableResult
from fastmetrics.cli.terminal import examples
from fastmetrics.reporting.tables import Table, name_and_number_columns
from fastmetrics.reporting.terminal.console import standard_output, write_lines
from fastmetrics.reporting.terminal.drawn_tables import borderless_table
from fastmetrics.reporting.text_tables import aligned_lines

EXAMPLES = examples(
    "list",
    "list ndcg",
    "list 'recall@10' 'auc'",
    "list --family ranking",
    "list --plugin my_metrics --json",
    "list -o metrics.csv",
)
COLUMNS = ("metric", "summary", "labels", "needs", "parameters", "aliases")
# The labels of a metric, in a word and in full.
LABELS = {
    "binary": ("0/1", "0/1, -1/+1 or bool"),
    "real": ("numbers", "any finite numbers"),
    "graded": ("grades", "grades of relevance: 0 and 1, or any finite numbers"),
    "text": ("texts", "references, and scores are hypotheses: strings; several references are a list of strings"),
    "partition": ("clusters", "classes, and scores are clusters: integers, strings, dates or any other labels"),
    "prediction": ("classes", "of any number of classes, and --prediction names predicted labels of their type"),
    "probabilities": ("classes", "of any number of classes, and --probabilities names a probability for each class"),
    "sets": ("sets", "lists: sets of labels; scores are lists with a score for each label"),
}
NO_LABELS = ("-", "")  # of metrics that read columns of other roles
MODELS = {"prediction": "--prediction", "probabilities": "--probabilities"}
OWN_OPTIONS = ("label", "score", "prediction", "probabilities", "group", "weight")  # of roles
BETTER = {
    "maximize": "higher values", "minimize": "lower values", "closest_to_one": "values near 1",
    "closest_to_zero": "values near 0", "none": "neither: no value is better than another",
}  # fmt: skip


@with_outputs
def list_metrics(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="Metrics to show in full, by any of their names. Default: a line for each metric.",
            autocompletion=complete_metrics,
            show_default=False,
        ),
    ] = None,
    family: Annotated[
        str | None,
        typer.Option(
            metavar="FAMILY",
            help="Only the metrics of this family, such as ranking.",
            autocompletion=lambda incomplete: families(),
        ),
    ] = None,
    plugin: Plugins = None,
    words: OutputWords = DEFAULT_OUTPUTS,
) -> None:
    """List the metrics with their other names, what they need and their parameters with defaults.

    A parameter is set in parentheses: name(parameter=value). A cutoff follows after @: write name@10 for a name that
    ends with @k, and name or name@10 for a metric with @k among its parameters.

    In a pipe the list is a line for each metric, with tabs between metric, summary, labels, needs, parameters and
    aliases, and - for nothing: list | cut -f1,2 shows names and meanings.
    """
    outputs = read_outputs(words.with_layout(), (), default="table")
    import_plugins(plugin)
    specs = chosen_specs(names or [], family)
    if plugin and not (names or family):
        specs = [spec for spec in specs if is_of_module(spec, plugin)]
    show = print_in_full if names else print_table if sys.stdout.isatty() else print_lines
    write_result(lambda: specs, outputs, show, table_result)


def is_of_module(spec: Any, modules: Sequence[str]) -> bool:
    """Whether one of the modules, or a module of one that is a package, registers the metric."""
    own = f"{spec.finalize.__module__}."
    return any(own.startswith(f"{module}.") for module in modules)


def families() -> list[str]:
    return sorted({spec.family for spec in fastmetrics.list_metrics().values()})


def chosen_specs(names: Sequence[str], family: str | None) -> list[Any]:
    """The metrics of these names, or of this family, or all."""
    try:
        metrics = fastmetrics.list_metrics(family=family)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--family") from error
    if not names:
        return list(metrics.values())
    try:
        return list(dict.fromkeys(metrics[name] for name in names))
    except KeyError as error:
        raise typer.BadParameter(error.args[0], param_hint="NAME") from error


# ------------------------------------------------------------------------------------------------------------ printing


def print_table(specs: Sequence[Any]) -> None:
    table = borderless_table()
    table.add_column("metric", style="cyan", no_wrap=True)
    table.add_column("what it is", ratio=1)
    table.add_column("labels")
    table.add_column("needs")
    table.add_column("parameters and defaults", style="green")
    for spec in forms_of(specs):
        meaning = spec.summary + (f"\n[dim]also {', '.join(spec.aliases)}[/dim]" if spec.aliases else "")
        table.add_row(spec.name, meaning, label_words(spec)[0], needs(spec), "\n".join(parameter_texts(spec)))
    console = standard_output()
    console.print("", table, "", sep="\n")
    for word, meaning in dict.fromkeys(map(label_words, forms_of(specs))):
        console.print(f" {word:<12} labels are {meaning}", style="dim")
    console.print(" fastmetrics list NAME shows a metric in full", style="dim")


def print_lines(specs: Sequence[Any]) -> None:
    """One metric a line, with a tab between columns, for cut, grep and sort."""
    write_lines("\t".join(cell or "-" for cell in row) for row in [COLUMNS, *rows_of(specs)])


def print_in_full(specs: Sequence[Any]) -> None:
    """All about each metric."""
    for place, spec in enumerate(specs):
        write_lines([*([""] if place else []), f"{spec.name}: {spec.summary}"])
        for form in spec.forms:
            write_lines(aligned_lines([(f"  {name}", text) for name, text in facts_of(form) if text], range(2)))


def facts_of(spec: Any) -> list[tuple[str, str]]:
    return [
        ("type", spec.example),
        ("family", spec.family),
        ("other names", ", ".join(spec.aliases)),
        ("labels", label_words(spec)[1]),
        ("needs", needs(spec)),
        ("parameters", ", ".join(parameter_texts(spec))),
        ("better", BETTER[spec.direction]),
        ("undefined", spec.undefined),
    ]


def forms_of(specs: Sequence[Any]) -> list[Any]:
    return [form for spec in specs for form in spec.forms]


def label_words(spec: Any) -> tuple[str, str]:
    """The labels of a metric, in a word and in full."""
    return LABELS.get(spec.target, NO_LABELS)


def needs(spec: Any) -> str:
    """The options that the metric needs beside a label and a score."""
    group = ["--group"] if spec.exchange == "hash" else []
    models = [MODELS[spec.target]] if spec.target in MODELS else []
    roles = [f"--role {role}" for role in spec.roles if role not in OWN_OPTIONS]
    return " ".join([*group, *models, *roles])


def rows_of(specs: Sequence[Any]) -> list[list[str]]:
    return [
        [
            spec.name, spec.summary, label_words(spec)[0], needs(spec), ",".join(parameter_texts(spec)),
            ",".join(spec.aliases),
        ]
        for spec in forms_of(specs)
    ]  # fmt: skip


def parameter_texts(spec: Any) -> list[str]:
    """Parameters with defaults, and "@k" if a cutoff is optional."""
    return [f"{name}={default}" for name, default in spec.parameters.items()] + ["@k"] * (spec.cutoff is True)


# --------------------------------------------------------------------------------------------------------------- files


def table_result(specs: Sequence[Any]) -> TableResult:
    table = Table(name_and_number_columns(COLUMNS, ()), rows_of(specs))
    return TableResult("Metrics", table, [table], {"metrics": list(map(as_dictionary, specs))})


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
