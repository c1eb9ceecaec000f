"""``fastmetrics nist``: NIST of translations, as mteval-v13a computes it."""

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
)
from fastmetrics.reporting.terminal.score_tables import Components, ScoreComponent, ScoreDisplay

EXAMPLES = examples(
    "nist ref.txt < system.txt",
    "nist ref1.txt ref2.txt -i first.txt second.txt --format markdown",
)


@with_outputs
def nist(
    references: References = None,
    system: Systems = None,
    tokenize: Tokenizer = "13a",
    lowercase: Lowercase = False,
    max_order: Annotated[int, typer.Option(metavar="N", min=1, max=16, help="Length of the longest n-grams.")] = 5,
    information: Annotated[
        Literal["mteval", "formula"],
        typer.Option(help="Weights as mteval computes them, or by the formula of the paper."),
    ] = "mteval",
    by_segment: BySegment = False,
    layout: Layout = None,
    score_only: ScoreOnly = False,
    digits: Digits = None,
    words: OutputWords = DEFAULT_OUTPUTS,
    threads: Threads = None,
) -> None:
    """NIST of translations, with the numbers of mteval-v13a: rare n-grams of the references weigh more."""
    scorer = Scorer(
        ScoreDisplay(nist.__name__, digits=4, components=components),
        function="corpus_nist",
        options={
            "tokenize": tokenize,
            "lowercase": lowercase,
            "max_order": max_order,
            "information": information,
        },
        needs_plain_text=tokenize != "none",
    )
    run(scorer, references, system, by_segment, layout, score_only, digits, threads, words)


def components(result: Any) -> Components:
    return {
        **{f"n{order}": ScoreComponent(value, 4) for order, value in enumerate(result.individual, start=1)},
        "bp": ScoreComponent(result.bp, 3),
        "sys_len": ScoreComponent(result.sys_len),
        "ref_len": ScoreComponent(result.ref_len, 1),
    }
