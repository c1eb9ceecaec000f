"""``fastmetrics trec``: metrics of TREC runs, with trec_eval's names, definitions and output."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import typer

import fastmetrics
from fastmetrics.cli.completion import complete_measures
from fastmetrics.cli.input_names import file_names, readable
from fastmetrics.cli.options import DEFAULT_OUTPUTS, OutputWords, Threads
from fastmetrics.cli.outputs import read_outputs, write_result
from fastmetrics.cli.records import fields_of, spread
from fastmetrics.cli.table_results import TableResult
from fastmetrics.cli.terminal import examples, show_warning
from fastmetrics.cli.trec_comparison import compare_runs
from fastmetrics.reporting.number_formats import format_fixed
from fastmetrics.reporting.tables import Table, name_and_number_columns
from fastmetrics.reporting.terminal.console import write_lines, write_table

if TYPE_CHECKING:
    from fastmetrics import TrecResult

# How values are written.
TrecOutputFormat = Literal["trec", "table", "csv", "markdown", "json"]


MAX_NAMED = 3  # queries in a warning
SUMMARY_TOPIC = "all"
DIGITS = 4
Row = tuple[str, str, list[float | int | str]]

EXAMPLES = examples(
    "trec qrels.txt bm25.run",
    "trec qrels.txt bm25.run -m map -m ndcg_cut.10 -m P.5,10 -q",
    "trec qrels.txt bm25.run.gz -c -M1000 -l2",
    "trec qrels.txt bm25.run dense.run rerank.run -m map -m recall.100",
    "trec qrels.txt *.run -m official -o runs.csv -o runs.html",
    "trec qrels.txt bm25.run dense.run -m map -m mrr --compare",
)


# trec_eval's -q is --per-query, so --quiet has no letter.
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress and no messages but errors and warnings.")]
FIELDS = {**fields_of(OutputWords), "quiet": (Quiet, False)}


@spread(OutputWords, FIELDS, lambda values: OutputWords(**values))
def trec(
    qrels: Annotated[
        str,
        typer.Argument(
            metavar="QRELS", help="Judgments: lines of query, iteration, item, relevance.", show_default=False
        ),
    ],
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN",
            help="Runs: lines of query, Q0, item, rank, score, tag. Plain or gzip, as judgments; - is standard input.",
            show_default=False,
        ),
    ],
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "-m",
            "--metrics",
            metavar="NAME[.PARAMS]",
            help="A metric by trec_eval's name, parameters after a dot; or official, set, all_trec. May be repeated.",
            show_default="official",
            autocompletion=complete_measures,
        ),
    ] = None,
    per_query: Annotated[bool, typer.Option("-q", "--per-query", help="Also the values of every query.")] = False,
    complete: Annotated[
        bool, typer.Option("-c", "--complete", help="Average over all queries of QRELS; a missing one counts as 0.")
    ] = False,
    no_summary: Annotated[bool, typer.Option("-n", "--no-summary", help="Queries only: needs -q.")] = False,
    level: Annotated[
        int, typer.Option("-l", "--level", metavar="N", min=1, help="The least relevance of a relevant item.")
    ] = 1,
    max_per_query: Annotated[
        int | None,
        typer.Option(
            "-M", "--max-per-query", metavar="N", min=1, help="Evaluate the first N items of a query. Default: all."
        ),
    ] = None,
    judged_only: Annotated[
        bool, typer.Option("-J", "--judged-only", help="Remove unjudged items from the ranking.")
    ] = False,
    collection_size: Annotated[
        int | None,
        typer.Option(
            "-N", "--collection-size", metavar="N", min=1, help="Items of the collection, for utility's 4th parameter.",
            show_default=False,
        ),
    ] = None,
    qrels_format: Annotated[str, typer.Option("-R", "--rel-info-format", hidden=True)] = "qrels",
    run_format: Annotated[str, typer.Option("-T", "--results-format", hidden=True)] = "trec_results",
    z_scores: Annotated[str | None, typer.Option("-Z", "--zscore", hidden=True)] = None,
    layout: Annotated[
        TrecOutputFormat | None,
        typer.Option(
            "-f", "--format", help="Default: trec_eval's own for one run, a table for several.", show_default=False
        ),
    ] = None,
    compare: Annotated[
        bool,
        typer.Option(
            "--compare",
            help="Compare the runs with the first, paired by query: differences, intervals, p-values. -m names metrics "
            "that are means over queries; without -c a query that a run lacks is left out of all.",
        ),
    ] = False,
    words: OutputWords = DEFAULT_OUTPUTS,
    threads: Threads = None,
) -> None:
    """Evaluate TREC runs: trec_eval's metrics, definitions and output.

    Items are ranked by score, descending; ties by name, descending. One run is
    printed as trec_eval prints it, several runs as a table with a column for each.
    """
    check_absent_options(qrels_format, run_format, z_scores)
    if compare:
        no_effect = {"-q": per_query, "-n": no_summary, "-M": max_per_query is not None, "-J": judged_only}
        no_effect["-N"] = collection_size is not None
        given = words.with_layout(layout)
        compare_runs(qrels, runs, metrics, given, no_effect, complete=complete, level=level, threads=threads)
        return
    default = "trec" if len(runs) == 1 else "table"
    outputs = read_outputs(words.with_layout(layout), [qrels, *runs], default=default, first_columns=("metric",))
    check_options(metrics, runs, outputs.layout, per_query=per_query, no_summary=no_summary)
    opened = readable([qrels, *runs], "RUN")
    rows_of = {"per_query": per_query, "summary": not no_summary}

    def compute() -> "list[TrecResult]":
        from fastmetrics.cli.progress import row_progress

        with row_progress(quiet=outputs.quiet) as report:
            judgments = fastmetrics.read_qrels(opened[0], n_threads=threads, progress=report)
            results = [
                fastmetrics.evaluate_trec(
                    judgments,
                    path,
                    metrics,
                    relevance_level=level,
                    complete=complete,
                    max_per_query=max_per_query,
                    judged_only=judged_only,
                    collection_size=collection_size,
                    n_threads=threads,
                    progress=report,
                )
                for path in opened[1:]
            ]
        for path, result in zip(runs, results, strict=True):
            warn_of_unmatched(path, qrels, result, complete=complete)
        return results

    def show(results: "list[TrecResult]") -> None:
        if outputs.layout == "trec":
            write_lines(results[0].lines(**rows_of))
        else:
            digits = None if outputs.layout == "csv" else DIGITS
            write_table(table_of(names_of(runs, results), results, digits, **rows_of), outputs.layout or "table")

    def written(results: "list[TrecResult]") -> TableResult:
        return table_result(names_of(runs, results), results, **rows_of)

    write_result(compute, outputs, show, written)


def names_of(runs: Sequence[str], results: "Sequence[TrecResult]") -> list[str]:
    return file_names(runs, preferred=[result.runid for result in results])


def table_result(
    names: Sequence[str], results: "Sequence[TrecResult]", *, per_query: bool, summary: bool
) -> TableResult:
    """The values of every run, for files."""
    all_digits, shown = (
        table_of(names, results, digits, per_query=per_query, summary=summary) for digits in (None, DIGITS)
    )
    content = {"runs": values_of_runs(names, results, per_query=per_query, summary=summary)}
    return TableResult(f"Measures of {', '.join(names)}", all_digits, [shown], content)


def check_absent_options(qrels_format: str, run_format: str, z_scores: str | None) -> None:
    """Report options of trec_eval that fastmetrics does not have."""
    if qrels_format != "qrels":
        raise typer.BadParameter(
            f"judgments in trec_eval's format {qrels_format!r} are not read, only 'qrels'", param_hint="-R"
        )
    if run_format != "trec_results":
        raise typer.BadParameter(
            f"runs in trec_eval's format {run_format!r} are not read, only 'trec_results'", param_hint="-T"
        )
    if z_scores is not None:
        raise typer.BadParameter("trec_eval's z-scores are not available: only values are printed", param_hint="-Z")


def check_options(
    metrics: list[str] | None,
    runs: Sequence[str],
    layout: str | None,
    *,
    per_query: bool,
    no_summary: bool,
) -> None:
    """Report wrong usage before any file is read."""
    try:
        fastmetrics.trec_metric_names(metrics or None)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="-m") from error
    if no_summary and not per_query:
        raise typer.BadParameter("without the summary there is nothing to show: add -q", param_hint="-n")
    if layout == "trec" and len(runs) > 1:
        raise typer.BadParameter(
            f"trec_eval's output shows one run; found {len(runs)}: type --format table, csv, markdown or json",
            param_hint="--format",
        )


def warn_of_unmatched(path: str, qrels: str, result: "TrecResult", *, complete: bool) -> None:
    """Warn of queries that only one of the files has; trec_eval is silent about them."""
    if result.missing and not complete:
        show_warning(
            f"{path} lacks {list_queries(result.missing)} of {qrels}, not in the means; type -c to count them as 0"
        )
    if result.unjudged:
        show_warning(f"{path} has {list_queries(result.unjudged)} that {qrels} does not have: left out")


def list_queries(queries: Sequence[str]) -> str:
    """3 queries (q1, q2, …)"""
    first = ", ".join(queries[:MAX_NAMED]) + (", …" if len(queries) > MAX_NAMED else "")
    return f"{len(queries):,} quer{'y' if len(queries) == 1 else 'ies'} ({first})"


def metric_rows(results: Sequence["TrecResult"], *, per_query: bool, summary: bool) -> Iterator[Row]:
    """Measure, topic and the value of every run; empty if the run does not have the topic."""
    if per_query:
        positions = [{query: position for position, query in enumerate(result.queries)} for result in results]
        columns = [result.values_of_queries() for result in results]
        topics = sorted({query for result in results for query in result.queries}, key=str.encode)
        for topic in topics:
            rows = [position.get(topic) for position in positions]
            for name in columns[0]:
                runs = zip(columns, rows, strict=True)
                yield name, topic, ["" if row is None else values[name][row] for values, row in runs]
    if summary:
        for name in results[0].summary:
            yield name, SUMMARY_TOPIC, [result[name] for result in results]


def table_of(
    names: Sequence[str],
    results: "Sequence[TrecResult]",
    digits: int | None,
    *,
    per_query: bool,
    summary: bool,
) -> Table:
    """A row for every metric and topic, a column for every run."""
    columns = name_and_number_columns(["metric", *(["topic"] if per_query else [])], names)
    cells = [
        [metric, *([topic] if per_query else []), *(format_fixed(value, digits) for value in values)]
        for metric, topic, values in metric_rows(results, per_query=per_query, summary=summary)
    ]
    return Table(columns, cells)


def values_of_runs(
    names: Sequence[str], results: Sequence["TrecResult"], *, per_query: bool, summary: bool
) -> dict[str, dict[str, object]]:
    """The values of every run, over all queries and of every query, with all digits."""
    runs: dict[str, dict[str, object]] = {name: {} for name in names}
    for name, result in zip(names, results, strict=True):
        if summary:
            runs[name]["all"] = result.summary
        if per_query:
            runs[name]["queries"] = result.to_dict()
    return runs
