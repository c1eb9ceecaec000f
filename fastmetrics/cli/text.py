"""``fastmetrics bleu`` and its siblings: systems against references, files of a segment a line.

A command is named after its function, and the function after the metric, as `segment_statistics` has it.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

import typer

from fastmetrics.cli import scores, systems
from fastmetrics.cli.scores import Format
from fastmetrics.cli.systems import Part, Parts, Scorer
from fastmetrics.cli.terminal import examples


class Tokenizer(StrEnum):
    """How texts become words."""

    V13A = "13a"
    INTL = "intl"
    CHAR = "char"
    ZH = "zh"
    NONE = "none"


class Smoothing(StrEnum):
    """What becomes of orders without a match."""

    EXP = "exp"
    FLOOR = "floor"
    ADD_K = "add-k"
    NONE = "none"


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


def bleu(
    references: References = None,
    system: Systems = None,
    tokenize: Annotated[Tokenizer, typer.Option("-tok", "--tokenize", help="How texts become words.")] = Tokenizer.V13A,
    smooth: Annotated[
        Smoothing, typer.Option("-s", "--smooth", help="What becomes of orders without a match.")
    ] = Smoothing.EXP,
    smooth_value: Annotated[
        float | None,
        typer.Option(
            "-sv", "--smooth-value", metavar="X", help="Default: 0.1 for floor, 1 for add-k.", show_default=False
        ),
    ] = None,
    lowercase: Lowercase = False,
    max_order: Annotated[int, typer.Option(metavar="N", min=1, max=255, help="The longest n-grams that count.")] = 4,
    effective_order: Annotated[
        bool, typer.Option("--effective-order", help="Leave out orders too long for the text; always with -sl.")
    ] = False,
    by_segment: BySegment = False,
    layout: Layout = Format.TEXT,
    score_only: ScoreOnly = False,
    digits: Digits = None,
    quiet: Quiet = False,
    threads: Threads = None,
) -> None:
    """BLEU of translations, with sacrebleu's tokenizers, smoothings, numbers and output."""
    options: dict[str, Any] = {
        "tokenize": tokenize.value,
        "smooth": smooth.value,
        "smooth_value": smooth_value,
        "lowercase": lowercase,
        "max_order": max_order,
        "effective_order": effective_order,
    }
    scorer = Scorer(
        metric=bleu.__name__,
        function="corpus_bleu",
        options=options,
        of_segments={"effective_order": True},
        scores=systems.one_score,
        parts=bleu_parts,
        lines=systems.one_line,
        digits=1,
        wants_plain_text=tokenize is not Tokenizer.NONE,
    )
    run(scorer, Shown(references, system, by_segment, layout, score_only, digits, threads, quiet))


def bleu_parts(result: Any) -> Parts:
    return {
        **{f"p{order}": Part(own, 1) for order, own in enumerate(result.precisions, start=1)},
        "bp": Part(result.bp, 3),
        "ratio": Part(result.ratio, 3),
        "sys_len": Part(result.sys_len),
        "ref_len": Part(result.ref_len),
    }


def chrf(
    references: References = None,
    system: Systems = None,
    char_order: Annotated[
        int, typer.Option("-cc", "--char-order", metavar="N", min=0, max=255, help="The longest n-grams of characters.")
    ] = 6,
    word_order: Annotated[
        int, typer.Option("-cw", "--word-order", metavar="N", min=0, max=255, help="Of words; 2 is chrF++.")
    ] = 0,
    beta: Annotated[float, typer.Option(metavar="X", min=0, help="How much recall weighs.")] = 2,
    lowercase: Lowercase = False,
    whitespace: Annotated[bool, typer.Option("--whitespace", help="White space is a character, too.")] = False,
    eps_smoothing: Annotated[
        bool, typer.Option("--eps-smoothing", help="Orders too long for the text count, as in NLTK and Moses.")
    ] = False,
    by_segment: BySegment = False,
    layout: Layout = Format.TEXT,
    score_only: ScoreOnly = False,
    digits: Digits = None,
    threads: Threads = None,
) -> None:
    """chrF and chrF++: F-scores of n-grams of characters and words, with sacrebleu's numbers and output."""
    options: dict[str, Any] = {
        "char_order": char_order,
        "word_order": word_order,
        "beta": int(beta) if beta.is_integer() else beta,
        "lowercase": lowercase,
        "whitespace": whitespace,
        "eps_smoothing": eps_smoothing,
    }
    scorer = Scorer(
        metric=chrf.__name__,
        function="corpus_chrf",
        options=options,
        of_segments={},
        scores=systems.one_score,
        parts=systems.no_parts,
        lines=systems.one_line,
        digits=1,
        wants_plain_text=False,
    )
    run(scorer, Shown(references, system, by_segment, layout, score_only, digits, threads))


COMMANDS: list[tuple[Callable[..., None], str]] = [
    (
        bleu,
        examples(
            "bleu ref.txt < system.txt",
            "bleu ref.txt -i system.txt -b -w 4",
            "bleu ref1.txt ref2.txt.gz -i first.txt second.txt third.txt",
            "bleu ref.txt -i system.txt --tokenize intl -lc --format json",
            "bleu ref.txt -i system.txt -sl > segments.txt",
        ),
    ),
    (
        chrf,
        examples(
            "chrf ref.txt < system.txt",
            "chrf ref.txt -i first.txt second.txt --word-order 2",
            "chrf ref.txt -i system.txt -sl --format csv > segments.csv",
        ),
    ),
]
