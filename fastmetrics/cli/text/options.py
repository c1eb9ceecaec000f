"""The options that several commands for texts share, and the function that runs such a command."""

from enum import StrEnum
from typing import Annotated, NamedTuple

import typer

from fastmetrics.cli.text.systems import Scorer, score_systems
from fastmetrics.reporting.terminal.score_tables import TableFormat, write_scores

References = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="REF",
        help="Reference files, one segment a line; several for several references of a segment. Plain or gzip.",
        show_default=False,
    ),
]
Systems = Annotated[
    list[str] | None,
    typer.Option(
        "-i", "--input", metavar="HYP...", help="Systems, several for a table.", show_default="standard input"
    ),
]
BySegment = Annotated[bool, typer.Option("-sl", "--sentence-level", help="The score of every segment.")]
Layout = Annotated[TableFormat, typer.Option("-f", "--format", help="How to write the scores.")]
ScoreOnly = Annotated[bool, typer.Option("-b", "--score-only", help="Only the score.")]
Digits = Annotated[
    int | None, typer.Option("-w", "--width", metavar="N", min=0, max=17, help="Decimals of scores.")
]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="Do not warn of output that looks tokenized.")]
Lowercase = Annotated[bool, typer.Option("-lc", "--lowercase", help="Compare lower-cased texts.")]


class TokenizerName(StrEnum):
    """How texts are split into words."""

    V13A = "13a"
    INTL = "intl"
    CHAR = "char"
    ZH = "zh"
    NONE = "none"


Tokenizer = Annotated[TokenizerName, typer.Option("-tok", "--tokenize", help="How texts are split into words.")]
RecallWeight = Annotated[float, typer.Option(metavar="X", min=0, help="The weight of recall.")]


class CommonOptions(NamedTuple):
    """The options that all commands have."""

    references: list[str] | None
    systems: list[str] | None
    by_segment: bool
    layout: TableFormat
    score_only: bool
    digits: int | None
    threads: int | None
    quiet: bool = True


def run(scorer: Scorer, options: CommonOptions) -> None:
    """Score the systems and write the scores."""
    scored = score_systems(
        scorer,
        options.references or [],
        options.systems or [],
        by_segment=options.by_segment,
        threads=options.threads,
        quiet=options.quiet,
    )
    write_scores(
        scorer.display,
        scored,
        options.layout,
        by_segment=options.by_segment,
        digits=options.digits,
        score_only=options.score_only,
    )


def split_names(text: str) -> tuple[str, ...]:
    """Names separated by commas or blanks."""
    return tuple(text.replace(",", " ").split())
