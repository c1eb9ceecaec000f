"""The options that all commands for texts have, and what they do with them."""

from typing import Annotated, NamedTuple

import typer

from fastmetrics.cli import scores, systems
from fastmetrics.cli.scores import Format
from fastmetrics.cli.systems import Scorer

References = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="REF",
        help="References: a file for each that a segment has, a segment a line. Plain or compressed by gzip.",
        show_default=False,
    ),
]
Systems = Annotated[
    list[str] | None,
    typer.Option(
        "-i", "--input", metavar="HYP...", help="Systems, several for a table.", show_default="standard input"
    ),
]
BySegment = Annotated[bool, typer.Option("-sl", "--sentence-level", help="The score of every segment by itself.")]
Layout = Annotated[Format, typer.Option("-f", "--format", help="How to write the scores.")]
ScoreOnly = Annotated[bool, typer.Option("-b", "--score-only", help="Only the score.")]
Digits = Annotated[
    int | None, typer.Option("-w", "--width", metavar="N", min=0, max=17, help="Decimals of scores.")
]
Threads = Annotated[int | None, typer.Option(metavar="N", min=1, help="Default: all cores.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Do not warn of output that looks tokenized.")]
Lowercase = Annotated[bool, typer.Option("-lc", "--lowercase", help="Compare lower-cased texts.")]


class Shown(NamedTuple):
    """The options that all commands have."""

    references: list[str] | None
    systems: list[str] | None
    by_segment: bool
    layout: Format
    score_only: bool
    digits: int | None
    threads: int | None
    quiet: bool = True


def run(scorer: Scorer, shown: Shown) -> None:
    scored = systems.score(
        scorer,
        shown.references or [],
        shown.systems or [],
        by_segment=shown.by_segment,
        threads=shown.threads,
        quiet=shown.quiet,
    )
    scores.show(
        scorer, scored, shown.layout, by_segment=shown.by_segment, digits=shown.digits, score_only=shown.score_only
    )
