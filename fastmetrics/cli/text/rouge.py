"""``fastmetrics rouge``: ROUGE of summaries, as rouge-score computes it."""

from typing import Annotated, Any, Literal

import typer

from fastmetrics.cli.options import DEFAULT_OUTPUTS, OutputWords, Threads, with_outputs
from fastmetrics.cli.terminal import examples
from fastmetrics.cli.text.systems import (
    BySegment,
    Digits,
    Layout,
    RecallWeight,
    References,
    ScoreOnly,
    Scorer,
    Systems,
    run,
    split_names,
)
from fastmetrics.reporting.terminal.score_tables import Components, ScoreComponent, ScoreDisplay

EXAMPLES = examples(
    "rouge ref.txt < system.txt",
    "rouge ref.txt -i first.txt second.txt -m rouge1,rougeL --stem",
    "rouge ref.txt -i system.txt --tokenizer unicode -sl --format csv > pairs.csv",
)


@with_outputs
def rouge(
    references: References = None,
    system: Systems = None,
    types: Annotated[
        str | None,
        typer.Option(
            "-m",
            "--types",
            metavar="TYPE,...",
            help="rouge1 to rouge9, rougeL, rougeLsum.",
            show_default="1, 2, L, Lsum",
        ),
    ] = None,
    stem: Annotated[bool, typer.Option("--stem", help="Compare the stems of words (Porter).")] = False,
    tokenizer: Annotated[
        Literal["default", "unicode"],
        typer.Option(help="default has the letters a-z only, unicode those of all scripts."),
    ] = "default",
    multi: Annotated[
        Literal["best", "mean"], typer.Option(help="The best of several references, or their mean.")
    ] = "best",
    beta: RecallWeight = 1.0,
    by_segment: BySegment = False,
    layout: Layout = None,
    score_only: ScoreOnly = False,
    digits: Digits = None,
    words: OutputWords = DEFAULT_OUTPUTS,
    threads: Threads = None,
) -> None:
    """ROUGE of summaries, with rouge-score's numbers: F-scores of common n-grams and common subsequences."""
    scorer = Scorer(
        ScoreDisplay(
            rouge.__name__,
            digits=4,
            scores=lambda result: {name: score.fmeasure for name, score in result.items()},
            lines=result_lines,
            details=precisions_and_recalls,
        ),
        function="rouge_score",
        options={
            **({} if types is None else {"types": split_names(types)}),
            "stem": stem,
            "tokenizer": tokenizer,
            "multi": multi,
            "beta": beta,
        },
    )
    run(scorer, references, system, by_segment, layout, score_only, digits, threads, words)


def precisions_and_recalls(result: Any) -> Components:
    """Details for programs: beside the F-scores of several types they would make a table too wide to read."""
    components = {}
    for name, score in result.items():
        components[f"{name}_P"] = ScoreComponent(score.precision, 4)
        components[f"{name}_R"] = ScoreComponent(score.recall, 4)
    return components


def result_lines(result: Any, digits: int, score_only: bool) -> list[str]:
    """A line for every type."""
    if score_only:
        return [f"{score.fmeasure:.{digits}f}" for score in dict(result).values()]
    signature = "|".join(field for field in result.signature.split("|") if not field.startswith("types:"))
    return [
        f"{name}|{signature} = {score.fmeasure:.{digits}f} "
        f"(P = {score.precision:.{digits}f} R = {score.recall:.{digits}f})"
        for name, score in result.items()
    ]
