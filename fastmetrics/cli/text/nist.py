"""``fastmetrics nist``: NIST of translations, as mteval-v13a computes it."""

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
    Lowercase,
    Quiet,
    References,
    ScoreOnly,
    Systems,
    Tokenizer,
    TokenizerName,
    run,
)
from fastmetrics.cli.text.systems import Scorer
from fastmetrics.reporting.terminal.score_tables import Components, ScoreComponent, ScoreDisplay, TableFormat

EXAMPLES = examples(
    "nist ref.txt < system.txt",
    "nist ref1.txt ref2.txt -i first.txt second.txt --format markdown",
)


class InformationWeights(StrEnum):
    """How n-grams of the references are weighted."""

    MTEVAL = "mteval"
    FORMULA = "formula"


def nist(
    references: References = None,
    system: Systems = None,
    tokenize: Tokenizer = TokenizerName.V13A,
    lowercase: Lowercase = False,
    max_order: Annotated[int, typer.Option(metavar="N", min=1, max=16, help="Length of the longest n-grams.")] = 5,
    information: Annotated[
        InformationWeights, typer.Option(help="Weights as mteval computes them, or by the formula of the paper.")
    ] = InformationWeights.MTEVAL,
    by_segment: BySegment = False,
    layout: Layout = TableFormat.TEXT,
    score_only: ScoreOnly = False,
    digits: Digits = None,
    quiet: Quiet = False,
    threads: Threads = None,
) -> None:
    """NIST of translations, with the numbers of mteval-v13a: rare n-grams of the references weigh more."""
    scorer = Scorer(
        ScoreDisplay(nist.__name__, digits=4, components=components),
        function="corpus_nist",
        options={
            "tokenize": tokenize.value,
            "lowercase": lowercase,
            "max_order": max_order,
            "information": information.value,
        },
        needs_plain_text=tokenize is not TokenizerName.NONE,
    )
    run(scorer, CommonOptions(references, system, by_segment, layout, score_only, digits, threads, quiet))


def components(result: Any) -> Components:
    return {
        **{f"n{order}": ScoreComponent(value, 4) for order, value in enumerate(result.individual, start=1)},
        "bp": ScoreComponent(result.bp, 3),
        "sys_len": ScoreComponent(result.sys_len),
        "ref_len": ScoreComponent(result.ref_len, 1),
    }
