"""``fastmetrics bleu`` and its siblings: systems against references, files of a segment a line.

A command is named after its function, and the function after the metric, as `segment_statistics` has it.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any

import typer

from fastmetrics.cli.scores import Format
from fastmetrics.cli.systems import Part, Parts, Scorer, no_parts, one_line, one_score
from fastmetrics.cli.terminal import examples
from fastmetrics.cli.text_options import (
    BySegment,
    Digits,
    Layout,
    Lowercase,
    Quiet,
    References,
    ScoreOnly,
    Shown,
    Systems,
    Threads,
    run,
)


class Tokenizer(StrEnum):
    """How texts become words."""

    V13A = "13a"
    INTL = "intl"
    CHAR = "char"
    ZH = "zh"
    NONE = "none"


class RougeTokenizer(StrEnum):
    """How summaries become words."""

    DEFAULT = "default"
    UNICODE = "unicode"


class Multi(StrEnum):
    """What several references are to a pair."""

    BEST = "best"
    MEAN = "mean"


class Alignment(StrEnum):
    """Which words match where several could."""

    FEWEST_CROSSINGS = "fewest_crossings"
    NLTK = "nltk"


class Information(StrEnum):
    """How n-grams of the references are weighed."""

    MTEVAL = "mteval"
    FORMULA = "formula"


class Average(StrEnum):
    """What a corpus is."""

    SEGMENT = "segment"
    CORPUS = "corpus"


class Smoothing(StrEnum):
    """What becomes of orders without a match."""

    EXP = "exp"
    FLOOR = "floor"
    ADD_K = "add-k"
    NONE = "none"


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
    weights: Annotated[
        str | None,
        typer.Option(metavar="W,...", help="A weight for every order.", show_default="all the same"),
    ] = None,
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
        "weights": None if weights is None else numbers_in(weights),
    }
    scorer = Scorer(
        metric=bleu.__name__,
        function="corpus_bleu",
        options=options,
        of_segments={"effective_order": True},
        scores=one_score,
        parts=bleu_parts,
        lines=one_line,
        digits=1,
        wants_plain_text=tokenize is not Tokenizer.NONE,
    )
    run(scorer, Shown(references, system, by_segment, layout, score_only, digits, threads, quiet))


def names_in(text: str) -> tuple[str, ...]:
    """Names apart by commas or blanks."""
    return tuple(text.replace(",", " ").split())


WEIGHTS = "--weights"


def numbers_in(text: str) -> tuple[float, ...]:
    try:
        return tuple(map(float, names_in(text)))
    except ValueError:
        raise typer.BadParameter(f"numbers apart by commas are wanted; found {text!r}", param_hint=WEIGHTS) from None


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
        scores=one_score,
        parts=no_parts,
        lines=one_line,
        digits=1,
        wants_plain_text=False,
    )
    run(scorer, Shown(references, system, by_segment, layout, score_only, digits, threads))


def nist(
    references: References = None,
    system: Systems = None,
    tokenize: Annotated[Tokenizer, typer.Option("-tok", "--tokenize", help="How texts become words.")] = Tokenizer.V13A,
    lowercase: Lowercase = False,
    max_order: Annotated[int, typer.Option(metavar="N", min=1, max=16, help="The longest n-grams that count.")] = 5,
    information: Annotated[
        Information, typer.Option(help="Weights as mteval computes them, or by the formula of the paper.")
    ] = Information.MTEVAL,
    by_segment: BySegment = False,
    layout: Layout = Format.TEXT,
    score_only: ScoreOnly = False,
    digits: Digits = None,
    quiet: Quiet = False,
    threads: Threads = None,
) -> None:
    """NIST of translations, with the numbers of mteval-v13a: rare n-grams of the references weigh more."""
    scorer = Scorer(
        metric=nist.__name__,
        function="corpus_nist",
        options={
            "tokenize": tokenize.value,
            "lowercase": lowercase,
            "max_order": max_order,
            "information": information.value,
        },
        of_segments={},
        scores=one_score,
        parts=nist_parts,
        lines=one_line,
        digits=4,
        wants_plain_text=tokenize is not Tokenizer.NONE,
    )
    run(scorer, Shown(references, system, by_segment, layout, score_only, digits, threads, quiet))


def nist_parts(result: Any) -> Parts:
    return {
        **{f"n{order}": Part(own, 4) for order, own in enumerate(result.individual, start=1)},
        "bp": Part(result.bp, 3),
        "sys_len": Part(result.sys_len),
        "ref_len": Part(result.ref_len, 1),
    }


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
        RougeTokenizer, typer.Option(help="default knows the letters a-z only, unicode those of all scripts.")
    ] = RougeTokenizer.DEFAULT,
    multi: Annotated[Multi, typer.Option(help="Of several references the best, or their mean.")] = Multi.BEST,
    beta: Annotated[float, typer.Option(metavar="X", min=0, help="How much recall weighs.")] = 1.0,
    by_segment: BySegment = False,
    layout: Layout = Format.TEXT,
    score_only: ScoreOnly = False,
    digits: Digits = None,
    threads: Threads = None,
) -> None:
    """ROUGE of summaries, with rouge-score's numbers: F of common n-grams and common subsequences."""
    scorer = Scorer(
        metric=rouge.__name__,
        function="rouge_score",
        options={
            **({} if types is None else {"types": names_in(types)}),
            "stem": stem,
            "tokenizer": tokenizer.value,
            "multi": multi.value,
            "beta": beta,
        },
        of_segments={},
        scores=lambda result: {name: own.fmeasure for name, own in result.items()},
        parts=no_parts,
        details=rouge_details,
        lines=rouge_lines,
        digits=4,
        wants_plain_text=False,
    )
    run(scorer, Shown(references, system, by_segment, layout, score_only, digits, threads))


def rouge_details(result: Any) -> Parts:
    """Precisions and recalls: beside the F of several types they would make a table too wide to read."""
    parts = {}
    for name, own in result.items():
        parts[f"{name}_P"] = Part(own.precision, 4)
        parts[f"{name}_R"] = Part(own.recall, 4)
    return parts


def rouge_lines(result: Any, digits: int, score_only: bool) -> list[str]:
    """A line for every type."""
    if score_only:
        return [f"{own.fmeasure:.{digits}f}" for own in result.values()]
    signature = "|".join(part for part in result.signature.split("|") if not part.startswith("types:"))
    return [
        f"{name}|{signature} = {own.fmeasure:.{digits}f} (P = {own.precision:.{digits}f} R = {own.recall:.{digits}f})"
        for name, own in result.items()
    ]


def meteor(
    references: References = None,
    system: Systems = None,
    modules: Annotated[
        str, typer.Option("-m", "--modules", metavar="NAME,...", help="How words match: exact, stem, synonym.")
    ] = "exact,stem,synonym",
    alignment: Annotated[
        Alignment, typer.Option(help="Which words match where several could: as METEOR defines it, or as NLTK does.")
    ] = Alignment.FEWEST_CROSSINGS,
    tokenize: Annotated[
        Tokenizer, typer.Option("-tok", "--tokenize", help="How texts become words; none splits at white space.")
    ] = Tokenizer.NONE,
    alpha: Annotated[float, typer.Option(metavar="X", help="F = P R / (alpha P + (1 - alpha) R).")] = 0.9,
    beta: Annotated[float, typer.Option(metavar="X", help="The penalty's exponent.")] = 3.0,
    gamma: Annotated[float, typer.Option(metavar="X", help="The greatest penalty.")] = 0.5,
    average: Annotated[Average, typer.Option(help="The mean of segments, or all matches together.")] = Average.SEGMENT,
    lowercase: Annotated[bool, typer.Option("--lowercase/--no-lowercase", help="Compare lower-cased words.")] = True,
    wordnet: Annotated[str | None, typer.Option(metavar="DIR", help="WordNet's files.", show_default="found")] = None,
    by_segment: BySegment = False,
    layout: Layout = Format.TEXT,
    score_only: ScoreOnly = False,
    digits: Digits = None,
    threads: Threads = None,
) -> None:
    """METEOR of translations, with NLTK's numbers: words match by form, stem or meaning."""
    scorer = Scorer(
        metric=meteor.__name__,
        function="corpus_meteor",
        options={
            "modules": names_in(modules),
            "alignment": alignment.value,
            "tokenize": tokenize.value,
            "alpha": alpha,
            "beta": beta,
            "gamma": gamma,
            "average": average.value,
            "lowercase": lowercase,
            "wordnet": wordnet,
        },
        of_segments={},
        scores=one_score,
        parts=meteor_parts,
        lines=one_line,
        digits=4,
        wants_plain_text=False,
    )
    run(scorer, Shown(references, system, by_segment, layout, score_only, digits, threads))


def meteor_parts(result: Any) -> Parts:
    return {
        "P": Part(result.precision, 4),
        "R": Part(result.recall, 4),
        "fragmentation": Part(result.fragmentation, 4),
        "matches": Part(result.matches),
        "chunks": Part(result.chunks),
        "sys_len": Part(result.sys_len),
        "ref_len": Part(result.ref_len),
    }


def ter(
    references: References = None,
    system: Systems = None,
    case_sensitive: Annotated[bool, typer.Option("--case-sensitive", help="Letters are large or small.")] = False,
    normalized: Annotated[bool, typer.Option("--normalized", help="Separate punctuation first.")] = False,
    no_punct: Annotated[bool, typer.Option("--no-punct", help="Leave punctuation out.")] = False,
    asian_support: Annotated[
        bool, typer.Option("--asian-support", help="Separate Chinese and Japanese characters; with the two above.")
    ] = False,
    by_segment: BySegment = False,
    layout: Layout = Format.TEXT,
    score_only: ScoreOnly = False,
    digits: Digits = None,
    threads: Threads = None,
) -> None:
    """Translation edit rate, with sacrebleu's numbers and output: the lower the better."""
    scorer = Scorer(
        metric=ter.__name__,
        function="corpus_ter",
        options={
            "case_sensitive": case_sensitive,
            "normalized": normalized,
            "no_punct": no_punct,
            "asian_support": asian_support,
        },
        of_segments={},
        scores=one_score,
        parts=ter_parts,
        lines=one_line,
        digits=1,
        is_error_rate=True,
        wants_plain_text=False,
    )
    run(scorer, Shown(references, system, by_segment, layout, score_only, digits, threads))


def ter_parts(result: Any) -> Parts:
    return {"edits": Part(result.num_edits), "ref_len": Part(result.ref_length, 1)}


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
    (
        nist,
        examples(
            "nist ref.txt < system.txt",
            "nist ref1.txt ref2.txt -i first.txt second.txt --format markdown",
        ),
    ),
    (
        ter,
        examples(
            "ter ref.txt < system.txt",
            "ter ref1.txt ref2.txt -i first.txt second.txt --case-sensitive",
        ),
    ),
    (
        rouge,
        examples(
            "rouge ref.txt < system.txt",
            "rouge ref.txt -i first.txt second.txt --types rouge1,rougeL --stem",
            "rouge ref.txt -i system.txt --tokenizer unicode -sl --format csv > pairs.csv",
        ),
    ),
    (
        meteor,
        examples(
            "meteor ref.txt < system.txt",
            "meteor ref.txt -i first.txt second.txt --tokenize 13a",
            "meteor ref.txt -i system.txt --modules exact,stem --alignment nltk",
        ),
    ),
]
