"""``fastmetrics ter``: translation edit rate, as sacrebleu computes and prints it."""

from typing import Annotated, Any

import typer

from fastmetrics.cli.options import DEFAULT_OUTPUTS, OutputWords, Threads, with_outputs
from fastmetrics.cli.terminal import examples
from fastmetrics.cli.text.systems import (
    BySegment,
    Digits,
    Layout,
    References,
    ScoreOnly,
    Scorer,
    Systems,
    run,
)
from fastmetrics.reporting.terminal.score_tables import Components, ScoreComponent, ScoreDisplay

EXAMPLES = examples(
    "ter ref.txt < system.txt",
    "ter ref1.txt ref2.txt -i first.txt second.txt --case-sensitive",
)


@with_outputs
def ter(
    references: References = None,
    system: Systems = None,
    case_sensitive: Annotated[
        bool, typer.Option("--case-sensitive", help="Upper and lower case are different.")
    ] = False,
    normalized: Annotated[bool, typer.Option("--normalized", help="Separate punctuation first.")] = False,
    no_punct: Annotated[bool, typer.Option("--no-punct", help="Remove punctuation.")] = False,
    asian_support: Annotated[
        bool, typer.Option("--asian-support", help="Separate Chinese and Japanese characters; with the two above.")
    ] = False,
    by_segment: BySegment = False,
    layout: Layout = None,
    score_only: ScoreOnly = False,
    digits: Digits = None,
    words: OutputWords = DEFAULT_OUTPUTS,
    threads: Threads = None,
) -> None:
    """Translation edit rate, with sacrebleu's numbers and output: lower is better."""
    scorer = Scorer(
        ScoreDisplay(ter.__name__, digits=1, components=components, is_error_rate=True),
        function="corpus_ter",
        options={
            "case_sensitive": case_sensitive,
            "normalized": normalized,
            "no_punct": no_punct,
            "asian_support": asian_support,
        },
    )
    run(scorer, references, system, by_segment, layout, score_only, digits, threads, words)


def components(result: Any) -> Components:
    return {"edits": ScoreComponent(result.num_edits), "ref_len": ScoreComponent(result.ref_length, 1)}
