"""``fastmetrics rouge``: ROUGE of summaries, as rouge-score computes it."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from fastmetrics.cli.options import Threads
from fastmetrics.cli.terminal import examples
from fastmetrics.cli.text.options import (
    BySegment,
    CommonOptions,
    Digits,
    Layout,
    RecallWeight,
    References,
    ScoreOnly,
    Systems,
    run,
    split_names,
)
from fastmetrics.cli.text.systems import Scorer
from fastmetrics.reporting.terminal.score_tables import Components, ScoreComponent, ScoreDisplay, TableFormat

EXAMPLES = examples(
    "rouge ref.txt < system.txt",
    "rouge ref.txt -i first.txt second.txt --types rouge1,rougeL --stem",
    "rouge ref.txt -i system.txt --tokenizer unicode -sl --format csv > pairs.csv",
)


class RougeTokenizerName(StrEnum):
    """How summaries are split into words."""

    DEFAULT = "default"
    UNICODE = "unicode"


class MultipleReferences(StrEnum):
    """The score of a segment with several references."""

    BEST = "best"
    MEAN = "mean"


def rouge(
    references: References = None,
    system: Systems = None,
    types: Annotated[
        str | None,
        typer.Option(
            "-t",
            "--types",
            metavar="TYPE,...",
            help="rouge1 to rouge9, rougeL, rougeLsum.",
            show_default="1, 2, L, Lsum",
        ),
    ] = None,
    stem: Annotated[bool, typer.Option("--stem", help="Compare the stems of words (Porter).")] = False,
    tokenizer: Annotated[
        RougeTokenizerName, typer.Option(help="default has the letters a-z only, unicode those of all scripts.")
    ] = RougeTokenizerName.DEFAULT,
    multi: Annotated[
        MultipleReferences, typer.Option(help="The best of several references, or their mean.")
    ] = MultipleReferences.BEST,
    beta: RecallWeight = 1.0,
    by_segment: BySegment = False,
    layout: Layout = TableFormat.TEXT,
    score_only: ScoreOnly = False,
    digits: Digits = None,
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
            "tokenizer": tokenizer.value,
            "multi": multi.value,
            "beta": beta,
        },
    )
    run(scorer, CommonOptions(references, system, by_segment, layout, score_only, digits, threads))


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
        return [f"{score.fmeasure:.{digits}f}" for score in result.values()]
    signature = "|".join(field for field in result.signature.split("|") if not field.startswith("types:"))
    return [
        f"{name}|{signature} = {score.fmeasure:.{digits}f} "
        f"(P = {score.precision:.{digits}f} R = {score.recall:.{digits}f})"
        for name, score in result.items()
    ]
