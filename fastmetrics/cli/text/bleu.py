"""``fastmetrics bleu``: BLEU of translations, as sacrebleu computes and prints it."""

from typing import Annotated, Any, Literal

import typer

from fastmetrics.cli.options import DEFAULT_OUTPUTS, OutputWords, Threads, with_outputs
from fastmetrics.cli.terminal import examples
from fastmetrics.cli.text.systems import (
    BySegment,
    Digits,
    Layout,
    Lowercase,
    References,
    ScoreOnly,
    Scorer,
    Systems,
    Tokenizer,
    run,
    split_names,
)
from fastmetrics.reporting.terminal.score_tables import Components, ScoreComponent, ScoreDisplay

WEIGHTS = "--weights"
EXAMPLES = examples(
    "bleu ref.txt < system.txt",
    "bleu ref.txt -i system.txt -b -w 4",
    "bleu ref1.txt ref2.txt.gz -i first.txt second.txt third.txt",
    "bleu ref.txt -i system.txt --tokenize intl -lc --format json",
    "bleu ref.txt -i system.txt -sl > segments.txt",
)


@with_outputs
def bleu(
    references: References = None,
    system: Systems = None,
    tokenize: Tokenizer = "13a",
    smooth: Annotated[
        Literal["exp", "floor", "add-k", "none"],
        typer.Option("-s", "--smooth", help="How orders without a match are smoothed."),
    ] = "exp",
    smooth_value: Annotated[
        float | None,
        typer.Option(
            "-sv", "--smooth-value", metavar="X", help="Default: 0.1 for floor, 1 for add-k.", show_default=False
        ),
    ] = None,
    lowercase: Lowercase = False,
    max_order: Annotated[int, typer.Option(metavar="N", min=1, max=255, help="Length of the longest n-grams.")] = 4,
    effective_order: Annotated[
        bool, typer.Option("--effective-order", help="Leave out orders too long for the text; always with -sl.")
    ] = False,
    weights: Annotated[
        str | None,
        typer.Option(metavar="W,...", help="A weight for every order.", show_default="all the same"),
    ] = None,
    by_segment: BySegment = False,
    layout: Layout = None,
    score_only: ScoreOnly = False,
    digits: Digits = None,
    words: OutputWords = DEFAULT_OUTPUTS,
    threads: Threads = None,
) -> None:
    """BLEU of translations, with sacrebleu's tokenizers, smoothings, numbers and output."""
    options: dict[str, Any] = {
        "tokenize": tokenize,
        "smooth": smooth,
        "smooth_value": smooth_value,
        "lowercase": lowercase,
        "max_order": max_order,
        "effective_order": effective_order,
        "weights": None if weights is None else read_weights(weights),
    }
    scorer = Scorer(
        ScoreDisplay(bleu.__name__, digits=1, components=components),
        function="corpus_bleu",
        options=options,
        segment_options={"effective_order": True},
        needs_plain_text=tokenize != "none",
    )
    run(scorer, references, system, by_segment, layout, score_only, digits, threads, words)


def read_weights(text: str) -> tuple[float, ...]:
    try:
        return tuple(map(float, split_names(text)))
    except ValueError:
        raise typer.BadParameter(f"type numbers separated by commas; found {text!r}", param_hint=WEIGHTS) from None


def components(result: Any) -> Components:
    return {
        **{f"p{order}": ScoreComponent(value, 1) for order, value in enumerate(result.precisions, start=1)},
        "bp": ScoreComponent(result.bp, 3),
        "ratio": ScoreComponent(result.ratio, 3),
        "sys_len": ScoreComponent(result.sys_len),
        "ref_len": ScoreComponent(result.ref_len),
    }
