"""``fastmetrics coco``: detections against annotations, COCO's twelve numbers, by category too."""

import json
import math
import sys
import warnings
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

import fastmetrics
from fastmetrics.cli.scores import finite, starred, write
from fastmetrics.cli.systems import names_of
from fastmetrics.cli.terminal import examples
from fastmetrics.cli.value_table import comma_separated, markdown, plain, print_table

if TYPE_CHECKING:
    from fastmetrics import CocoResult


class IouType(StrEnum):
    """What is compared."""

    BBOX = "bbox"
    SEGM = "segm"


class Format(StrEnum):
    """How values are written."""

    TABLE = "table"
    COCO = "coco"
    CSV = "csv"
    MARKDOWN = "markdown"
    JSON = "json"


DIGITS = 3  # as pycocotools shows values; by category one more
UNDEFINED = "–"
LISTED = 8  # categories that a line names
LONG_NAMES = {"P": "Average Precision", "R": "Average Recall"}
Cells = list[list[str]]

EXAMPLES = examples(
    "coco instances.json detections.json",
    "coco instances.json detections.json --per-class",
    "coco instances.json small.json large.json --format markdown",
    "coco instances.json masks.json --iou-type segm --json",
    "coco instances.json detections.json --max-detections 1,10,300",
    "coco instances.json detections.json --per-class --format csv > out.csv",
)


def coco(
    truth: Annotated[
        str, typer.Argument(metavar="GT", help="Annotations: a JSON file in COCO's format.", show_default=False)
    ],
    found: Annotated[
        list[str],
        typer.Argument(
            metavar="DT",
            help="Detections: JSON files in the format of COCO's results, several for a table.",
            show_default=False,
        ),
    ],
    per_class: Annotated[bool, typer.Option("--per-class", help="The values of every category, too.")] = False,
    iou_type: Annotated[IouType, typer.Option("--iou-type", help="Compare boxes, or masks.")] = IouType.BBOX,
    max_detections: Annotated[
        str, typer.Option("--max-detections", metavar="N,N,...", help="The most detections of a category in an image.")
    ] = "1,10,100",
    iou_thresholds: Annotated[
        str | None,
        typer.Option(
            "--iou-thresholds", metavar="T,T,...", help="Least overlaps.", show_default="0.5 to 0.95 by 0.05"
        ),
    ] = None,
    class_agnostic: Annotated[
        bool, typer.Option("--class-agnostic", help="Take all categories for one.")
    ] = False,
    layout: Annotated[Format, typer.Option("--format", help="How to write the values.")] = Format.TABLE,
    as_json: Annotated[bool, typer.Option("--json", help="Short for --format json: all digits.")] = False,
    threads: Annotated[int | None, typer.Option(metavar="N", min=1, help="Default: all cores.")] = None,
) -> None:
    """Evaluate detections against annotations: COCO's twelve numbers.

    A value is undefined (–) where no object counts for it; a category without
    objects is in no mean. With --format coco the lines are pycocotools' own.
    """
    options = {
        "iou_type": iou_type.value,
        "max_detections": numbers(max_detections, int, "--max-detections"),
        "iou_thresholds": numbers(iou_thresholds, float, "--iou-thresholds") if iou_thresholds is not None else None,
        "class_agnostic": class_agnostic,
        "n_threads": threads,
    }
    layout = Format.JSON if as_json else layout
    check(layout, found, per_class=per_class)
    results = evaluate(truth, found, options)
    names = names_of(found)
    if layout is Format.JSON:
        sys.stdout.write(document(names, results, per_class=per_class) + "\n")
    elif layout is Format.COCO:
        write(coco_lines(results[0]))
    elif layout is Format.CSV:
        header, cells, _ = category_table(names, results, None) if per_class else value_table(names, results, None)
        sys.stdout.write(comma_separated(header, cells))
    else:
        show(layout, names, results, per_class=per_class)


def numbers(text: str, kind: type, option: str) -> list[Any]:
    """1,10,100"""
    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        what = "whole numbers" if kind is int else "numbers"
        message = f"{what} with commas between them are wanted; found {text!r}"
        raise typer.BadParameter(message, param_hint=option) from None


def check(layout: Format, found: Sequence[str], *, per_class: bool) -> None:
    """Wrong usage is said before anything is read."""
    if layout is not Format.COCO:
        return
    if len(found) > 1:
        message = f"pycocotools' lines are of one file, and {len(found)} are given: type --format table"
        raise typer.BadParameter(message, param_hint="--format")
    if per_class:
        raise typer.BadParameter("pycocotools' lines know no categories: type --format table", param_hint="--format")


def evaluate(truth: str, found: Sequence[str], options: dict[str, Any]) -> "list[CocoResult]":
    """Every file of detections against the annotations."""
    from fastmetrics.cli.progress import busy

    results = []
    for path in found:
        with busy(f"evaluating {path}"), warnings.catch_warnings():
            # What is undefined is said below the table.
            warnings.simplefilter("ignore", fastmetrics.UndefinedMetricWarning)
            try:
                results.append(fastmetrics.coco_map(truth, path, **options))
            except (ValueError, TypeError) as error:
                raise ValueError(with_files(str(error), truth, path)) from error
    return results


def with_files(message: str, truth: str, found: str) -> str:
    """An error that names an argument, in the words of who typed files."""
    for argument, path in (("ground_truth", truth), ("detections", found)):
        if message.startswith(argument):
            rest = message[len(argument) :].removeprefix(":").lstrip(" ")
            return rest if rest.startswith(path) else f"{path}: {rest}"
    return message


# -------------------------------------------------------------------------------------------------------------- tables


def spelled(value: float, digits: int | None) -> str:
    """So many decimals, or all digits."""
    if math.isnan(value):
        return UNDEFINED if digits is not None else ""
    return repr(value) if digits is None else f"{value:.{digits}f}"


def value_table(
    names: Sequence[str], results: "Sequence[CocoResult]", digits: int | None
) -> tuple[list[str], Cells, int]:
    """A row for every value, a column for every file."""
    header = ["", "IoU", "area", "detections", *(names if len(names) > 1 else ["value"])]
    if digits is None:
        header[0] = "measure"
    cells = [
        [*results[0].describe(name), *(spelled(result[name], digits) for result in results)] for name in results[0]
    ]
    return header, cells, len(names) + 1


def category_table(
    names: Sequence[str], results: "Sequence[CocoResult]", digits: int | None
) -> tuple[list[str], Cells, int]:
    """A row for every category: all of its values, or of several files one each."""
    tables = [result.per_class for result in results]
    label = "name" if "name" in tables[0] else "category"
    heads = [column for column in tables[0] if column not in ("category", "name")]
    counts = [column for column in heads if tables[0][column].dtype.kind == "i"]
    values = [column for column in heads if column not in counts]
    titles = {column: column.upper() for column in values} | {column: column.replace("_", " ") for column in counts}
    own = list(map(str, tables[0][label].tolist()))
    if len(names) == 1:
        columns = [
            [spelled(value, digits) if column in values else f"{value:,}" for value in tables[0][column].tolist()]
            for column in heads
        ]
        if digits is None:
            titles = {column: column for column in heads}
            columns = [
                [spelled(value, None) if column in values else str(value) for value in tables[0][column].tolist()]
                for column in heads
            ]
        header = ["category", *(titles[column] for column in heads)]
    else:
        shared = counts[0]
        columns = [[f"{value:,}" if digits is not None else str(value) for value in tables[0][shared].tolist()]]
        columns += [[spelled(value, digits) for value in table[values[0]].tolist()] for table in tables]
        header = ["category", shared.replace("_", " "), *names]
    return header, [list(row) for row in zip(own, *columns, strict=True)], len(header) - 1


def best_of(cells: Cells, n_systems: int) -> set[tuple[int, int]]:
    """Row and column of the best value of every row; ties share it."""
    best = set()
    for row, own in enumerate(cells):
        values = [-1.0 if cell == UNDEFINED else float(cell) for cell in own[-n_systems:]]
        first = len(own) - n_systems
        best |= {(row, first + place) for place, value in enumerate(values) if value == max(values) >= 0}
    return best


def show(layout: Format, names: Sequence[str], results: "Sequence[CocoResult]", *, per_class: bool) -> None:
    tables = [value_table(names, results, DIGITS)]
    if per_class:
        tables.append(category_table(names, results, DIGITS + 1))
    for place, (header, cells, n_values) in enumerate(tables):
        best = best_of(cells, len(names)) if len(names) > 1 else set()
        if layout is Format.MARKDOWN:
            marked = [
                [f"**{cell}**" if (row, column) in best else cell for column, cell in enumerate(own)]
                for row, own in enumerate(cells)
            ]
            write([*([""] if place else []), *markdown(header, marked, n_values)])
        elif sys.stdout.isatty():
            print_table(header, cells, n_values, best)
        else:
            write([*([""] if place else []), *plain(header, starred(cells, best), n_values)])
    notes = notes_of(results[0])
    write(["", *notes] if notes else [])


def notes_of(result: "CocoResult") -> list[str]:
    """Why values are undefined, and which categories are in no mean: the annotations say so, for all files alike."""
    reasons: dict[str, list[str]] = {}
    for name, reason in result.undefined.items():
        kind, _, area, _ = result.describe(name)
        reasons.setdefault(reason, []).append(f"{kind} {area}")
    notes = [f"{UNDEFINED} {', '.join(dict.fromkeys(values))}: {reason}" for reason, values in reasons.items()]
    without = list(map(str, result.coverage["without_ground_truth"]))
    if without:
        more = ", …" if len(without) > LISTED else ""
        notes.append(
            f"{len(without):,} categor{'y is' if len(without) == 1 else 'ies are'} in no mean, without ground truth: "
            f"{', '.join(without[:LISTED])}{more}"
        )
    return notes


def coco_lines(result: "CocoResult") -> list[str]:
    """As pycocotools prints them, which has -1 for what is undefined."""
    lines = []
    for name in result:
        kind, overlaps, area, most = result.describe(name)
        value = -1.0 if math.isnan(result[name]) else result[name]
        title = f"{LONG_NAMES[kind[1:]]:<18} ({kind})"
        lines.append(f" {title} @[ IoU={overlaps:<9} | area={area:>6s} | maxDets={most:>3s} ] = {value:0.3f}")
    return lines


def document(names: Sequence[str], results: "Sequence[CocoResult]", *, per_class: bool) -> str:
    """All digits of everything; what is undefined is null."""
    systems = []
    for name, result in zip(names, results, strict=True):
        own = result.to_dict()
        rows = own.pop("per_class")
        own.pop("signature")
        if per_class:
            own["per_class"] = [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]
        systems.append({"name": name, **own})
    head = {"schema": 1, "version": fastmetrics.__version__, "signature": results[0].signature}
    return json.dumps(finite({**head, "systems": systems}), indent=2)
