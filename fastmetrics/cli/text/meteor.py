"""``fastmetrics meteor``: METEOR of translations, as NLTK computes it."""

from typing import Annotated, Any, Literal

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
    TokenizerName,
    run,
    split_names,
)
from fastmetrics.reporting.terminal.score_tables import Components, ScoreComponent, ScoreDisplay

EXAMPLES = examples(
    "meteor ref.txt < system.txt",
    "meteor ref.txt -i first.txt second.txt --tokenize 13a",
    "meteor ref.txt -i system.txt --modules exact,stem --alignment nltk",
)


@with_outputs
def meteor(
    references: References = None,
    system: Systems = None,
    modules: Annotated[
        str, typer.Option("--modules", metavar="NAME,...", help="How words match: exact, stem, synonym.")
    ] = "exact,stem,synonym",
    alignment: Annotated[
        Literal["fewest_crossings", "nltk"],
        typer.Option(help="Of several possible alignments, that of METEOR's definition or that of NLTK."),
    ] = "fewest_crossings",
    tokenize: Annotated[
        TokenizerName,
        typer.Option("-tok", "--tokenize", help="How texts are split into words; none splits at white space."),
    ] = "none",
    alpha: Annotated[float, typer.Option(metavar="X", help="F = P R / (alpha P + (1 - alpha) R).")] = 0.9,
    beta: Annotated[float, typer.Option(metavar="X", help="The exponent of the penalty.")] = 3.0,
    gamma: Annotated[float, typer.Option(metavar="X", help="The greatest penalty.")] = 0.5,
    average: Annotated[
        Literal["segment", "corpus"], typer.Option(help="The mean over segments, or the score of all matches together.")
    ] = "segment",
    lowercase: Annotated[bool, typer.Option("--lowercase/--no-lowercase", help="Compare lower-cased words.")] = True,
    wordnet: Annotated[
        str | None, typer.Option(metavar="DIR", help="The folder of WordNet's files.", show_default="found")
    ] = None,
    by_segment: BySegment = False,
    layout: Layout = None,
    score_only: ScoreOnly = False,
    digits: Digits = None,
    words: OutputWords = DEFAULT_OUTPUTS,
    threads: Threads = None,
) -> None:
    """METEOR of translations, with NLTK's numbers: words match by form, stem or meaning."""
    scorer = Scorer(
        ScoreDisplay(meteor.__name__, digits=4, components=components),
        function="corpus_meteor",
        options={
            "modules": split_names(modules),
            "alignment": alignment,
            "tokenize": tokenize,
            "alpha": alpha,
            "beta": beta,
            "gamma": gamma,
            "average": average,
            "lowercase": lowercase,
            "wordnet": wordnet,
        },
    )
    run(scorer, references, system, by_segment, layout, score_only, digits, threads, words)


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
