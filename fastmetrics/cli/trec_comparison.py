"""`fastmetrics trec --compare`: the runs against the first one, query by query, with significance tests."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import typer

import fastmetrics
from fastmetrics.cli.drawn_results import Tables, print_result
from fastmetrics.cli.input_names import file_names, readable
from fastmetrics.cli.logs.task_options import split_names
from fastmetrics.cli.outputs import OutputOptions, read_outputs, write_result

if TYPE_CHECKING:
    from fastmetrics import Comparison

SETS = ("official", "set", "all_trec")


def compare_runs(
    qrels: str,
    runs: Sequence[str],
    metrics: Sequence[str] | None,
    given: OutputOptions,
    without_effect: Mapping[str, bool],
    *,
    complete: bool,
    level: int,
    threads: int | None,
) -> None:
    """Compare the runs and write the comparison. `without_effect` are other options, and whether they are typed."""
    from fastmetrics.reporting.comparison_table import comparison_document
    from fastmetrics.reporting.terminal.comparison import print_comparison

    if len(runs) < 2:
        raise typer.BadParameter("name at least two runs, the baseline first; found one", param_hint="--compare")
    if given.layout == "trec":
        raise typer.BadParameter("trec_eval has no comparisons: type --format table", param_hint="--format")
    for option, is_typed in without_effect.items():
        if is_typed:
            raise typer.BadParameter("it has no effect on --compare", param_hint=option)
    names = compared_metrics(metrics)
    outputs = read_outputs(given, [qrels, *runs], default="table")
    opened, *of_runs = readable([qrels, *runs], "RUN")
    named = dict(zip(file_names(runs), of_runs, strict=True))

    def compute() -> "Comparison":
        from fastmetrics.cli.progress import row_progress

        with row_progress(quiet=outputs.quiet) as report:
            judgments = fastmetrics.read_qrels(opened, n_threads=threads, progress=report)
            read = {
                name: fastmetrics.read_run(path, n_threads=threads, progress=report) for name, path in named.items()
            }
        return fastmetrics.compare_runs(
            judgments, read, names, ties="docid", missing="zero" if complete else "drop", relevance_level=level,
            n_threads=threads,
        )  # fmt: skip

    tables = Tables(print_comparison, comparison_document)
    write_result(compute, outputs, lambda comparison: print_result(comparison, outputs, tables))


def compared_metrics(names: Sequence[str] | None) -> list[str]:
    """The metrics of -m; of a set of metrics those that are means over queries, which runs are compared by."""
    found: list[str] = []
    for text in names or SETS[:1]:
        if text in SETS:
            found += filter(is_compared, fastmetrics.trec_metric_names([text]))
        else:
            found += [name for name in single_names(text) if is_compared(name, raises=True)]
    return list(dict.fromkeys(found))


def single_names(text: str) -> list[str]:
    """The names of a value of -m: trec_eval's metric with parameters, P.5,10, or metric strings between commas."""
    try:
        return list(fastmetrics.trec_metric_names([text]))
    except ValueError:
        return split_names(text)


def is_compared(name: str, *, raises: bool = False) -> bool:
    from fastmetrics._core.registry import parse

    try:
        spec: Any = parse(name).spec
    except ValueError as error:
        if raises:
            raise typer.BadParameter(str(error), param_hint="-m") from error
        return False
    return raises or (spec.target == "graded" and spec.exchange == "hash")
