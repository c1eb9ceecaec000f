"""``fastmetrics chrf``: chrF and chrF++ of translations, as sacrebleu computes and prints them."""

from typing import Annotated, Any

import typer

from fastmetrics.cli.options import DEFAULT_OUTPUTS, OutputWords, Threads, with_outputs
from fastmetrics.cli.terminal import examples
from fastmetrics.cli.text.systems import (
    BySegment,
    Digits,
    Layout,
    Lowercase,
    RecallWeight,
    References,
    ScoreOnly,
    Scorer,
    Systems,
    run,
)
from fastmetrics.reporting.terminal.score_tables import ScoreDisplay

EXAMPLES = examples(
    "chrf ref.txt < system.txt",
    "chrf ref.txt -i first.txt second.txt --word-order 2",
    "chrf ref.txt -i system.txt -sl --format csv > segments.csv",
)


@with_outputs
def chrf(
    references: References = None,
    system: Systems = None,
    char_order: Annotated[
        int,
        typer.Option(
            "-cc", "--char-order", metavar="N", min=0, max=255, help="Length of the longest n-grams of characters."
        ),
    ] = 6,
    word_order: Annotated[
        int, typer.Option("-cw", "--word-order", metavar="N", min=0, max=255, help="Of words; 2 is chrF++.")
    ] = 0,
    beta: RecallWeight = 2,
    lowercase: Lowercase = False,
    whitespace: Annotated[bool, typer.Option("--whitespace", help="Count white space as characters.")] = False,
    eps_smoothing: Annotated[
        bool, typer.Option("--eps-smoothing", help="Orders too long for the text count, as in NLTK and Moses.")
    ] = False,
    by_segment: BySegment = False,
    layout: Layout = None,
    score_only: ScoreOnly = False,
    digits: Digits = None,
    words: OutputWords = DEFAULT_OUTPUTS,
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
    scorer = Scorer(ScoreDisplay(chrf.__name__, digits=1), function="corpus_chrf", options=options)
    run(scorer, references, system, by_segment, layout, score_only, digits, threads, words)
