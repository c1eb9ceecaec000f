"""``fastmetrics coco``: COCO's twelve numbers of detections, also by category."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import fastmetrics
from fastmetrics._core.grouping import grouped
from fastmetrics.cli.input_names import file_names, readable
from fastmetrics.cli.options import DEFAULT_OUTPUTS, OutputWords, Threads, with_outputs
from fastmetrics.cli.outputs import read_outputs, write_result
from fastmetrics.cli.table_results import TableResult
from fastmetrics.cli.terminal import examples
from fastmetrics.reporting.number_formats import format_fixed
from fastmetrics.reporting.tables import BEST, Table, name_and_number_columns
from fastmetrics.reporting.terminal.console import write_lines, write_table

if TYPE_CHECKING:
    from fastmetrics import CocoResult


# How values are written.
CocoFormat = Literal["table", "coco", "csv", "markdown", "json"]


DIGITS = 3  # as pycocotools prints values; one more by category
UNDEFINED = "–"
MAX_LISTED = 8  # categories in a note
LONG_NAMES = {"P": "Average Precision", "R": "Average Recall"}

EXAMPLES = examples(
    "coco instances.json detections.json",
    "coco instances.json detections.json --per-class",
    "coco instances.json small.json large.json --format markdown",
    "coco instances.json masks.json --iou-type segm --json",
    "coco instances.json detections.json --max-detections 1,10,300",
    "coco instances.json detections.json --per-class --format csv > out.csv",
)


@with_outputs
def coco(
    truth: Annotated[
        str,
        typer.Argument(
            metavar="GT", help="Annotations: a JSON file in COCO's format; - is standard input.", show_default=False
        ),
    ],
    found: Annotated[
        list[str],
        typer.Argument(
            metavar="DT",
            help="Detections: JSON files in the format of COCO's results, several for a table; - is standard input.",
            show_default=False,
        ),
    ],
    per_class: Annotated[bool, typer.Option("--per-class", help="Also the values of every category.")] = False,
    iou_type: Annotated[Literal["bbox", "segm"], typer.Option("--iou-type", help="Compare boxes, or masks.")] = "bbox",
    max_detections: Annotated[
        str, typer.Option("--max-detections", metavar="N,N,...", help="Detections that count, per category and image.")
    ] = "1,10,100",
    iou_thresholds: Annotated[
        str | None,
        typer.Option(
            "--iou-thresholds", metavar="T,T,...", help="The least IoU of a match.", show_default="0.5 to 0.95 by 0.05"
        ),
    ] = None,
    class_agnostic: Annotated[
        bool, typer.Option("--class-agnostic", help="Treat all categories as one.")
    ] = False,
    layout: Annotated[
        CocoFormat | None,
        typer.Option("-f", "--format", help="How to print the values. Default: table.", show_default=False),
    ] = None,
    words: OutputWords = DEFAULT_OUTPUTS,
    threads: Threads = None,
) -> None:
    """Evaluate detections against annotations: COCO's twelve numbers.

    A value without any object is undefined (–). A category without objects is
    in no mean. With --format coco the lines are those of pycocotools.
    """
    options = {
        "iou_type": iou_type,
        "max_detections": read_numbers(max_detections, int, "--max-detections"),
        "iou_thresholds": None if iou_thresholds is None else read_numbers(iou_thresholds, float, "--iou-thresholds"),
        "class_agnostic": class_agnostic,
        "n_threads": threads,
    }
    first_columns = ("category",) if per_class else ("measure",)
    outputs = read_outputs(words.with_layout(layout), [truth, *found], default="table", first_columns=first_columns)
    check_options(outputs.layout, found, per_class=per_class)
    names = file_names(found)
    truth, *found = readable([truth, *found], "DT")

    def written(results: "list[CocoResult]") -> TableResult:
        return table_result(names, results, per_class=per_class)

    def show(results: "list[CocoResult]") -> None:
        if outputs.layout == "coco":
            write_lines(coco_lines(results[0]))
        elif outputs.layout == "csv":
            write_table(written(results).table, "csv")
        else:
            write_tables(outputs.layout or "table", written(results))

    write_result(lambda: evaluate(truth, found, options, quiet=outputs.quiet), outputs, show, written)


def read_numbers(text: str, kind: type, option: str) -> list[Any]:
    """1,10,100"""
    try:
        return [kind(number) for number in text.split(",")]
    except ValueError:
        noun = "whole numbers" if kind is int else "numbers"
        message = f"type {noun} separated by commas; found {text!r}"
        raise typer.BadParameter(message, param_hint=option) from None


def check_options(layout: str | None, found: Sequence[str], *, per_class: bool) -> None:
    """Report wrong usage before any file is read."""
    if layout != "coco":
        return
    if len(found) > 1:
        message = f"pycocotools' lines show one file; found {len(found)}: type --format table"
        raise typer.BadParameter(message, param_hint="--format")
    if per_class:
        raise typer.BadParameter("pycocotools' lines have no categories: type --format table", param_hint="--format")


def evaluate(truth: str, found: Sequence[str], options: dict[str, Any], *, quiet: bool) -> "list[CocoResult]":
    """Every file of detections against the annotations."""
    from fastmetrics.cli.progress import show_evaluation

    results = []
    for path in found:
        with show_evaluation(path, quiet=quiet):
            try:
                results.append(fastmetrics.coco_map(truth, path, **options))
            except (ValueError, TypeError) as error:
                raise ValueError(with_files(str(error), truth, path)) from error
    return results


def with_files(message: str, truth: str, found: str) -> str:
    """The message of an error with the file's name instead of the argument's."""
    for argument, path in (("ground_truth", truth), ("detections", found)):
        if message.startswith(argument):
            rest = message[len(argument) :].removeprefix(":").lstrip(" ")
            return rest if rest.startswith(path) else f"{path}: {rest}"
    return message


# -------------------------------------------------------------------------------------------------------------- tables


def format_measure(value: float, digits: int | None) -> str:
    """A value with so many decimals, or with all digits for programs."""
    return format_fixed(value, digits, undefined="" if digits is None else UNDEFINED)


def summary_table(names: Sequence[str], results: "Sequence[CocoResult]", digits: int | None) -> Table:
    """A row for every value, a column for every file."""
    first = "measure" if digits is None else ""
    values = names if len(names) > 1 else ["value"]
    columns = name_and_number_columns([first, "IoU", "area"], ["detections", *values])
    rows = [
        [*results[0].describe(name), *(format_measure(result[name], digits) for result in results)]
        for name in dict(results[0])
    ]
    return Table(columns, rows)


def category_table(names: Sequence[str], results: "Sequence[CocoResult]", digits: int | None) -> Table:
    """A row for every category, with all values of one file or one value of each of several files."""
    tables = [result.per_class for result in results]
    first = tables[0]
    label = "name" if "name" in first else "category"
    columns = [column for column in first.columns if column not in ("category", "name")]
    counts = [column for column in columns if first[column].dtype.kind == "i"]
    values = [column for column in columns if column not in counts]
    for_people = digits is not None

    def count_texts(column: str) -> list[str]:
        return [f"{count:,}" if for_people else str(count) for count in first[column].tolist()]

    if len(names) == 1:
        titles = {column: column.upper() for column in values} | {column: title_of(column) for column in counts}
        header = [titles[column] if for_people else column for column in columns]
        cells = [
            count_texts(column) if column in counts else format_measures(first[column], digits) for column in columns
        ]
    else:
        header = [title_of(counts[0]), *names]
        cells = [count_texts(counts[0]), *(format_measures(table[values[0]], digits) for table in tables)]
    categories = list(map(str, first[label].tolist()))
    return Table(name_and_number_columns(["category"], header), list(zip(categories, *cells, strict=True)))


def title_of(column: str) -> str:
    return column.replace("_", " ")


def format_measures(values: Any, digits: int | None) -> list[str]:
    return [format_measure(value, digits) for value in values.tolist()]


def best_cells(table: Table, n_systems: int) -> dict[tuple[int, int], str]:
    """The best value of every row, by row and column; tied values are all best."""
    best: dict[tuple[int, int], str] = {}
    for row, cells in enumerate(table.text_rows()):
        values = [-1.0 if cell == UNDEFINED else float(cell) for cell in cells[-n_systems:]]
        first = len(cells) - n_systems
        best |= {(row, first + place): BEST for place, value in enumerate(values) if value == max(values) >= 0}
    return best


def table_result(names: Sequence[str], results: "Sequence[CocoResult]", *, per_class: bool) -> TableResult:
    """The values of every file, and of their categories."""
    kinds = [(summary_table, DIGITS, "Values"), *([(category_table, DIGITS + 1, "Values by category")] * per_class)]
    shown = []
    for make_table, digits, title in kinds:
        table = make_table(names, results, digits)
        best = best_cells(table, len(names)) if len(names) > 1 else {}
        shown.append(replace(table, emphasis=best, title=title))
    content = {"signature": results[0].signature, "systems": systems_of(names, results, per_class=per_class)}
    title = f"Detections of {', '.join(names)}"
    return TableResult(title, kinds[-1][0](names, results, None), shown, content, notes_of(results[0]))


def write_tables(layout: str, result: TableResult) -> None:
    for number, table in enumerate(result.shown):
        write_table(table, layout, is_first=number == 0)
    write_lines(["", *result.notes] if result.notes else [])


def notes_of(result: "CocoResult") -> list[str]:
    """Undefined values with reasons, and categories without objects. They depend only on the annotations."""
    reasons = grouped(
        (reason, "{0} {2}".format(*result.describe(name))) for name, reason in result.undefined.items()
    )
    notes = [f"{UNDEFINED} {', '.join(dict.fromkeys(values))}: {reason}" for reason, values in reasons.items()]
    without = list(map(str, result.coverage["without_ground_truth"]))
    if without:
        more = ", …" if len(without) > MAX_LISTED else ""
        notes.append(
            f"{len(without):,} categor{'y is' if len(without) == 1 else 'ies are'} in no mean, without ground truth: "
            f"{', '.join(without[:MAX_LISTED])}{more}"
        )
    return notes


def coco_lines(result: "CocoResult") -> list[str]:
    """The lines that pycocotools prints; undefined values are -1."""
    lines = []
    for name in dict(result):
        kind, thresholds, area, limit = result.describe(name)
        value = -1.0 if math.isnan(result[name]) else result[name]
        title = f"{LONG_NAMES[kind[1:]]:<18} ({kind})"
        lines.append(f" {title} @[ IoU={thresholds:<9} | area={area:>6s} | maxDets={limit:>3s} ] = {value:0.3f}")
    return lines


def systems_of(names: Sequence[str], results: "Sequence[CocoResult]", *, per_class: bool) -> list[dict[str, Any]]:
    """The values of every file."""
    systems = []
    for name, result in zip(names, results, strict=True):
        fields = result.to_dict()
        columns = fields.pop("per_class")
        fields.pop("signature")
        if per_class:
            fields["per_class"] = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        systems.append({"name": name, **fields})
    return systems
