"""``fastmetrics trec``: runs against judgements, with trec_eval's measures and output."""

import json
import sys
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import fastmetrics
from fastmetrics.cli.terminal import examples, show_warning
from fastmetrics.cli.value_table import comma_separated, markdown, plain, print_table

if TYPE_CHECKING:
    from fastmetrics import TrecResult


class Format(StrEnum):
    """How values are written."""

    TREC = "trec"
    TABLE = "table"
    CSV = "csv"
    MARKDOWN = "markdown"
    JSON = "json"


NAMED = 3  # queries that a warning names
SUMMARY_TOPIC = "all"
Row = tuple[str, str, list[float | int | str]]

EXAMPLES = examples(
    "trec qrels.txt bm25.run",
    "trec qrels.txt bm25.run -m map -m ndcg_cut.10 -m P.5,10 -q",
    "trec qrels.txt bm25.run.gz -c -M1000 -l2",
    "trec qrels.txt bm25.run dense.run rerank.run -m map -m recall.100",
    "trec qrels.txt *.run -m official --format csv > runs.csv",
)


def trec(
    qrels: Annotated[
        str,
        typer.Argument(
            metavar="QRELS", help="Judgements: lines of query, iteration, item, relevance.", show_default=False
        ),
    ],
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN",
            help="Runs: lines of query, Q0, item, rank, score, tag. Plain or compressed by gzip, as the judgements.",
            show_default=False,
        ),
    ],
    measure: Annotated[
        list[str] | None,
        typer.Option(
            "-m",
            "--measure",
            metavar="NAME[.PARAMS]",
            help="A measure by trec_eval's name, parameters behind a point; or official, set, all_trec. Repeat it.",
            show_default="official",
        ),
    ] = None,
    per_query: Annotated[bool, typer.Option("-q", "--per-query", help="The values of every query, too.")] = False,
    complete: Annotated[
        bool, typer.Option("-c", "--complete", help="Average over all queries of QRELS: those that a run lacks are 0.")
    ] = False,
    no_summary: Annotated[bool, typer.Option("-n", "--no-summary", help="Queries only: needs -q.")] = False,
    level: Annotated[
        int, typer.Option("-l", "--level", metavar="N", min=1, help="The least relevance of a relevant item.")
    ] = 1,
    max_per_query: Annotated[
        int | None,
        typer.Option(
            "-M", "--max-per-query", metavar="N", min=1, help="Evaluate so many items of a query. Default: all."
        ),
    ] = None,
    judged_only: Annotated[
        bool, typer.Option("-J", "--judged-only", help="Take items out of the ranking that were not judged.")
    ] = False,
    layout: Annotated[
        Format | None,
        typer.Option("--format", help="Default: trec_eval's own for one run, a table for several.", show_default=False),
    ] = None,
    threads: Annotated[int | None, typer.Option(metavar="N", min=1, help="Default: all cores.")] = None,
) -> None:
    """Evaluate TREC runs: trec_eval's measures, definitions and output.

    Items are ranked by score, tied ones by name, descending. One run is shown
    as trec_eval shows it; several make a table, a column for each.
    """
    check(measure, runs, layout, per_query=per_query, no_summary=no_summary)
    from fastmetrics.cli.progress import row_progress

    with row_progress() as report:
        judgements = fastmetrics.read_qrels(qrels, n_threads=threads, progress=report)
        results = [
            fastmetrics.evaluate_trec(
                judgements,
                path,
                measure,
                relevance_level=level,
                complete=complete,
                max_per_query=max_per_query,
                judged_only=judged_only,
                n_threads=threads,
                progress=report,
            )
            for path in runs
        ]
    for path, result in zip(runs, results, strict=True):
        warn(path, qrels, result, complete=complete)
    if layout is Format.TREC or (layout is None and len(runs) == 1):
        write_lines(results[0].lines(per_query=per_query, summary=not no_summary))
        return
    names = column_names(runs, results)
    if layout is Format.JSON:
        typer.echo(as_json(names, results, per_query=per_query, summary=not no_summary))
        return
    rows = list(rows_of(results, per_query=per_query, summary=not no_summary))
    show(layout or Format.TABLE, names, rows, with_topics=per_query)


def check(
    measure: list[str] | None, runs: Sequence[str], layout: Format | None, *, per_query: bool, no_summary: bool
) -> None:
    """Wrong usage is said before anything is read."""
    try:
        fastmetrics.trec_measure_names(measure or None)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="-m") from error
    if no_summary and not per_query:
        raise typer.BadParameter("without the summary nothing is left to show: add -q", param_hint="-n")
    if layout is Format.TREC and len(runs) > 1:
        raise typer.BadParameter(
            f"trec_eval's output is of one run, and {len(runs)} are given: type --format table, csv, markdown or json",
            param_hint="--format",
        )


def warn(path: str, qrels: str, result: "TrecResult", *, complete: bool) -> None:
    """Queries that only one of the files has: trec_eval is silent about them."""
    if result.missing and not complete:
        show_warning(f"{path} lacks {named(result.missing)} of {qrels}, not in the means; type -c to count them as 0")
    if result.unjudged:
        show_warning(f"{path} has {named(result.unjudged)} that {qrels} has not: left out")


def named(queries: Sequence[str]) -> str:
    """3 queries (q1, q2, …)"""
    first = ", ".join(queries[:NAMED]) + (", …" if len(queries) > NAMED else "")
    return f"{len(queries):,} quer{'y' if len(queries) == 1 else 'ies'} ({first})"


def column_names(paths: Sequence[str], results: Sequence["TrecResult"]) -> list[str]:
    """Runs by their tags; by their files' names where tags are missing or the same, by their paths where those are."""
    tags = [result.runid for result in results]
    files = [Path(path).name for path in paths]
    for names in (tags, files):
        if all(names) and len(set(names)) == len(names):
            return names
    return list(paths)


def rows_of(results: Sequence["TrecResult"], *, per_query: bool, summary: bool) -> Iterator[Row]:
    """Measure, topic and the value of every run; nothing where a run lacks a topic."""
    if per_query:
        places = [{query: place for place, query in enumerate(result.queries)} for result in results]
        columns = [{name: values.tolist() for name, values in result.per_query.items()} for result in results]
        topics = sorted({query for result in results for query in result.queries}, key=str.encode)
        for topic in topics:
            at = [place.get(topic) for place in places]
            for name in columns[0]:
                own = zip(columns, at, strict=True)
                yield name, topic, ["" if place is None else values[name][place] for values, place in own]
    if summary:
        for name in results[0].summary:
            yield name, SUMMARY_TOPIC, [result[name] for result in results]


def shown(value: float | int | str) -> str:
    """Four decimals, as trec_eval shows them."""
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def write_lines(lines: Iterator[str]) -> None:
    """All lines at once: a line each would take longer than the evaluation."""
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def show(layout: Format, names: Sequence[str], rows: Sequence[Row], *, with_topics: bool) -> None:
    header = ["measure", *(["topic"] if with_topics else []), *names]
    cells = [[name, *([topic] if with_topics else []), *map(shown, values)] for name, topic, values in rows]
    if layout is Format.CSV:
        sys.stdout.write(comma_separated(header, cells))
    elif layout is Format.MARKDOWN:
        write_lines(markdown(header, cells, len(names)))
    elif sys.stdout.isatty():
        print_table(header, cells, len(names))
    else:
        write_lines(plain(header, cells, len(names)))


def as_json(names: Sequence[str], results: Sequence["TrecResult"], *, per_query: bool, summary: bool) -> str:
    """For every run its values over all queries and of every query, with all their digits."""
    runs: dict[str, dict[str, object]] = {name: {} for name in names}
    for name, result in zip(names, results, strict=True):
        if summary:
            runs[name]["all"] = result.summary
        if per_query:
            runs[name]["queries"] = result.to_dict()
    return json.dumps({"schema": 1, "version": fastmetrics.__version__, "runs": runs}, indent=2)
