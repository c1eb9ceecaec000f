"""``fastmetrics meteor``: METEOR of translations, as NLTK computes it."""

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
    References,
    ScoreOnly,
    Systems,
    TokenizerName,
    run,
    split_names,
)
from fastmetrics.cli.text.systems import Scorer
from fastmetrics.reporting.terminal.score_tables import Components, ScoreComponent, ScoreDisplay, TableFormat

EXAMPLES = examples(
    "meteor ref.txt < system.txt",
    "meteor ref.txt -i first.txt second.txt --tokenize 13a",
    "meteor ref.txt -i system.txt --modules exact,stem --alignment nltk",
)


class AlignmentRule(StrEnum):
    """Which alignment of the words is taken if there are several."""

    FEWEST_CROSSINGS = "fewest_crossings"
    NLTK = "nltk"


class CorpusAverage(StrEnum):
    """How the score of a corpus is computed."""

    SEGMENT = "segment"
    CORPUS = "corpus"


def meteor(
    references: References = None,
    system: Systems = None,
    modules: Annotated[
        str, typer.Option("-m", "--modules", metavar="NAME,...", help="How words match: exact, stem, synonym.")
    ] = "exact,stem,synonym",
    alignment: Annotated[
        AlignmentRule, typer.Option(help="Of several possible alignments, that of METEOR's definition or that of NLTK.")
    ] = AlignmentRule.FEWEST_CROSSINGS,
    tokenize: Annotated[
        TokenizerName,
        typer.Option("-tok", "--tokenize", help="How texts are split into words; none splits at white space."),
    ] = TokenizerName.NONE,
    alpha: Annotated[float, typer.Option(metavar="X", help="F = P R / (alpha P + (1 - alpha) R).")] = 0.9,
    beta: Annotated[float, typer.Option(metavar="X", help="The exponent of the penalty.")] = 3.0,
    gamma: Annotated[float, typer.Option(metavar="X", help="The greatest penalty.")] = 0.5,
    average: Annotated[
        CorpusAverage, typer.Option(help="The mean over segments, or the score of all matches together.")
    ] = CorpusAverage.SEGMENT,
    lowercase: Annotated[bool, typer.Option("--lowercase/--no-lowercase", help="Compare lower-cased words.")] = True,
    wordnet: Annotated[
        str | None, typer.Option(metavar="DIR", help="The folder of WordNet's files.", show_default="found")
    ] = None,
    by_segment: BySegment = False,
    layout: Layout = TableFormat.TEXT,
    score_only: ScoreOnly = False,
    digits: Digits = None,
    threads: Threads = None,
) -> None:
    """METEOR of translations, with NLTK's numbers: words match by form, stem or meaning."""
    scorer = Scorer(
        ScoreDisplay(meteor.__name__, digits=4, components=components),
        function="corpus_meteor",
        options={
            "modules": split_names(modules),
            "alignment": alignment.value,
            "tokenize": tokenize.value,
            "alpha": alpha,
            "beta": beta,
            "gamma": gamma,
            "average": average.value,
            "lowercase": lowercase,
            "wordnet": wordnet,
        },
    )
    run(scorer, CommonOptions(references, system, by_segment, layout, score_only, digits, threads))


def components(result: Any) -> Components:
    return {
        "P": ScoreComponent(result.precision, 4),
        "R": ScoreComponent(result.recall, 4),
        "fragmentation": ScoreComponent(result.fragmentation, 4),
        "matches": ScoreComponent(result.matches),
        "chunks": ScoreComponent(result.chunks),
        "sys_len": ScoreComponent(result.sys_len),
        "ref_len": ScoreComponent(result.ref_len),
    }
