"""``fastmetrics voc``: average precision of Pascal VOC's result files, class by class."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

import fastmetrics
from fastmetrics.cli.input_names import STANDARD_INPUT, readable
from fastmetrics.cli.options import DEFAULT_OUTPUTS, OutputWords, Threads, with_outputs
from fastmetrics.cli.outputs import read_outputs, write_result
from fastmetrics.cli.table_results import TableResult
from fastmetrics.cli.terminal import examples
from fastmetrics.reporting.number_formats import format_fixed
from fastmetrics.reporting.tables import Table, name_and_number_columns
from fastmetrics.reporting.terminal.console import write_lines, write_table

if TYPE_CHECKING:
    from fastmetrics import VocResult


# How values are written.
VocFormat = Literal["table", "csv", "markdown", "json"]
DIGITS = 4
MEAN = "mean"
UNDEFINED = "–"
COUNTS = ("ground_truths", "detections", "true_positives")
COLUMNS = name_and_number_columns(["class"], ["AP", "ground truths", "detections", "true positives"])

EXAMPLES = examples(
    "voc VOC2012/Annotations results",
    "voc VOC2007 'results/comp4_det_test_{}.txt' --images test.txt",
    "voc VOC2007 results --interpolation voc11 --format markdown",
)


@with_outputs
def voc(
    truth: Annotated[
        str, typer.Argument(metavar="ANNOTATIONS", help="The folder of XML files, or its parent.", show_default=False)
    ],
    found: Annotated[
        str,
        typer.Argument(
            metavar="RESULTS",
            help="The folder of result files, such as comp4_det_test_car.txt; or their path with {} for the class.",
            show_default=False,
        ),
    ],
    interpolation: Annotated[
        Literal["area", "voc11"], typer.Option(help="The area below the envelope (since VOC2010), or eleven points.")
    ] = "area",
    iou_threshold: Annotated[float, typer.Option(metavar="T", help="The least IoU of a true positive.")] = 0.5,
    difficult: Annotated[Literal["ignore", "count"], typer.Option(help="Objects marked as difficult.")] = "ignore",
    images: Annotated[
        str | None, typer.Option(metavar="FILE", help="An image set: names, one a line.", show_default="all")
    ] = None,
    layout: Annotated[
        VocFormat | None,
        typer.Option("-f", "--format", help="How to print the values. Default: table.", show_default=False),
    ] = None,
    words: OutputWords = DEFAULT_OUTPUTS,
    threads: Threads = None,
) -> None:
    """Evaluate detections by the rule of Pascal VOC's devkit.

    A row for every class, then the mean. A class without objects is undefined
    (–) and not in the mean.
    """
    if STANDARD_INPUT in (truth, found):
        message = "a file for each class is read, which standard input is not: name a folder, or results_{}.txt"
        raise typer.BadParameter(message, param_hint=STANDARD_INPUT)
    paths = [truth, found, *([] if images is None else [images])]
    image_set = None if images is None else readable([images], "--images")[0]
    outputs = read_outputs(words.with_layout(layout), paths, default="table", first_columns=("class",))
    from fastmetrics.cli.progress import show_evaluation

    def compute() -> "VocResult":
        with show_evaluation(found, quiet=outputs.quiet):
            return fastmetrics.voc_map(
                truth,
                found,
                interpolation=interpolation,
                iou_threshold=iou_threshold,
                difficult=difficult,
                images=image_set,
                n_threads=threads,
            )

    def show(result: "VocResult") -> None:
        if outputs.layout == "csv":
            write_table(class_table(result, None), "csv")
            return
        write_table(class_table(result, DIGITS), outputs.layout or "table")
        reasons = reasons_of(result)
        write_lines(["", *reasons, *([""] if reasons else []), result.signature])

    write_result(compute, outputs, show, table_result)


def table_result(result: "VocResult") -> TableResult:
    shown = [class_table(result, DIGITS)]
    notes = [*reasons_of(result), result.signature]
    return TableResult("Average precision by class", class_table(result, None), shown, result.to_dict(), notes)


def reasons_of(result: "VocResult") -> list[str]:
    """Why classes are in no mean."""
    return [f"{UNDEFINED} {name}: {reason}, in no mean" for name, reason in result.undefined.items()]


def class_table(result: "VocResult", digits: int | None) -> Table:
    """A row for every class, then the mean; all digits for programs if `digits` is None."""
    undefined = "" if digits is None else UNDEFINED
    rows = [
        [str(name), format_fixed(one.ap, digits, undefined), *(str(getattr(one, count)) for count in COUNTS)]
        for name, one in result.per_class.items()
    ]
    mean = format_fixed(float(result), digits, undefined)
    rows.append([MEAN, mean, *(str(result.coverage[count]) for count in COUNTS)])
    return Table(COLUMNS, rows)
