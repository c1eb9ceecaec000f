"""``fastmetrics voc``: VOC's result files against its annotations, class by class."""

import json
import sys
import warnings
from enum import StrEnum
from typing import Annotated

import typer

import fastmetrics
from fastmetrics.cli.coco import spelled
from fastmetrics.cli.scores import Format, finite, write
from fastmetrics.cli.terminal import examples
from fastmetrics.cli.value_table import comma_separated, markdown, plain, print_table


class Interpolation(StrEnum):
    """What AP is of a curve."""

    AREA = "area"
    ELEVEN = "voc11"


class Difficult(StrEnum):
    """What difficult objects are."""

    IGNORE = "ignore"
    COUNT = "count"


DIGITS = 4
MEAN = "mean"
HEADER = ["class", "AP", "ground truths", "detections", "true positives"]

EXAMPLES = examples(
    "voc VOC2012/Annotations results",
    "voc VOC2007 'results/comp4_det_test_{}.txt' --images test.txt",
    "voc VOC2007 results --interpolation voc11 --format markdown",
)


def voc(
    truth: Annotated[
        str, typer.Argument(metavar="ANNOTATIONS", help="The folder of XML files, or that above.", show_default=False)
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
        Interpolation, typer.Option(help="The area below the envelope (from VOC2010 on), or eleven points.")
    ] = Interpolation.AREA,
    iou_threshold: Annotated[float, typer.Option(metavar="T", help="The least overlap of a true positive.")] = 0.5,
    difficult: Annotated[Difficult, typer.Option(help="Objects marked as difficult.")] = Difficult.IGNORE,
    images: Annotated[
        str | None, typer.Option(metavar="FILE", help="An image set: names, one a line.", show_default="all")
    ] = None,
    layout: Annotated[Format, typer.Option("--format", help="How to write the values.")] = Format.TEXT,
    as_json: Annotated[bool, typer.Option("--json", help="Short for --format json: all digits.")] = False,
    threads: Annotated[int | None, typer.Option(metavar="N", min=1, help="Default: all cores.")] = None,
) -> None:
    """Evaluate detections by the rule of Pascal VOC's devkit.

    A row for every class, the mean below. A class without objects is
    undefined (–) and in no mean.
    """
    from fastmetrics.cli.progress import busy

    with busy(f"evaluating {found}"), warnings.catch_warnings():
        # What is undefined is said below the table.
        warnings.simplefilter("ignore", fastmetrics.UndefinedMetricWarning)
        result = fastmetrics.voc_map(
            truth,
            found,
            interpolation=interpolation.value,
            iou_threshold=iou_threshold,
            difficult=difficult.value,
            images=images,
            n_threads=threads,
        )
    layout = Format.JSON if as_json else layout
    if layout is Format.JSON:
        document = {"schema": 1, "version": fastmetrics.__version__, **result.to_dict()}
        sys.stdout.write(json.dumps(finite(document), indent=2) + "\n")
        return
    digits = None if layout is Format.CSV else DIGITS
    counts = ("ground_truths", "detections", "true_positives")
    rows = [
        [str(name), spelled(own.ap, digits), *(str(getattr(own, count)) for count in counts)]
        for name, own in result.per_class.items()
    ]
    rows.append([MEAN, spelled(float(result), digits), *(str(result.coverage[count]) for count in counts)])
    if layout is Format.CSV:
        sys.stdout.write(comma_separated(HEADER, rows))
        return
    if layout is Format.MARKDOWN:
        write(markdown(HEADER, rows, len(HEADER) - 1))
    elif sys.stdout.isatty():
        print_table(HEADER, rows, len(HEADER) - 1)
    else:
        write(plain(HEADER, rows, len(HEADER) - 1))
    reasons = [f"– {name}: {reason}, in no mean" for name, reason in result.undefined.items()]
    write(["", *reasons, *([""] if reasons else []), result.signature])
