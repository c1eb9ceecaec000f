"""What the commands for texts share: systems and references as they are typed, their scores, and what to warn of."""

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer
from typer.core import TyperCommand

import fastmetrics
from fastmetrics.cli.terminal import program, show_warning

if TYPE_CHECKING:
    from fastmetrics import SegmentStatistics, TextFile

INPUT = ("-i", "--input")
STANDARD_INPUT = "-"
# Lines that are looked at for a full stop apart from its word, and how many of these are a habit.
LOOKED_AT = 10_000
HABIT = 100
TOKENIZED_END = " ."


class SystemsCommand(TyperCommand):
    """A command whose option -i takes all the words that follow, up to the next option, as sacrebleu's does."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, list(repeated(args)))


def repeated(words: Sequence[str]) -> Iterator[str]:
    """-i a b -> -i a -i b"""
    option = ""
    for place, word in enumerate(words):
        if word == "--":
            yield from words[place:]
            return
        if word in INPUT:
            option = word
            # With nothing behind it the parser says so.
            if place + 1 == len(words) or is_option(words[place + 1]):
                yield word
        elif is_option(word):
            option = ""
            yield word
        elif option:
            yield from (option, word)
        else:
            yield word


def is_option(word: str) -> bool:
    return word.startswith("-") and word != STANDARD_INPUT


class Part(NamedTuple):
    """A number that a score is made of, and the decimals that people look at."""

    value: float | int
    digits: int = 0


Parts = dict[str, Part]


class Scorer(NamedTuple):
    """How a command scores, and what of a result it shows."""

    metric: str
    function: str  # the public function of a corpus
    options: dict[str, Any]
    of_segments: dict[str, Any]  # options of single segments that are others
    scores: Callable[[Any], dict[str, float]]  # what systems are compared by
    parts: Callable[[Any], Parts]  # what these are made of
    lines: Callable[[Any, int, bool], list[str]]  # a result as text: with so many digits, and only its scores
    digits: int
    details: Callable[[Any], Parts] | None = None  # what programs are told instead of the parts
    is_error_rate: bool = False
    wants_plain_text: bool = True  # tokenised text gives another number

    def corpus(self, hypotheses: "TextFile", references: "Sequence[TextFile]", threads: int | None) -> Any:
        return getattr(fastmetrics, self.function)(hypotheses, list(references), n_threads=threads, **self.options)

    def segments(
        self, hypotheses: "TextFile", references: "Sequence[TextFile]", threads: int | None
    ) -> "SegmentResults":
        options = {**self.options, **self.of_segments}
        return SegmentResults(
            fastmetrics.segment_statistics(self.metric, hypotheses, list(references), n_threads=threads, **options)
        )


class SegmentResults(Sequence[Any]):
    """The result of every segment by itself, made when it is asked for."""

    def __init__(self, statistics: "SegmentStatistics") -> None:
        self.statistics = statistics

    def __len__(self) -> int:
        return len(self.statistics)

    def __getitem__(self, row: Any) -> Any:
        if not 0 <= row < len(self):
            raise IndexError(row)
        return self.statistics[row].score()


class Scored(NamedTuple):
    """A system: its name, and its result, or those of its segments."""

    name: str
    results: Sequence[Any]


def score(
    scorer: Scorer,
    references: Sequence[str],
    systems: Sequence[str],
    *,
    by_segment: bool,
    threads: int | None,
    quiet: bool = False,
) -> list[Scored]:
    """Every system against the references. The latter are opened once."""
    from fastmetrics.cli.progress import row_progress

    paths = systems or [STANDARD_INPUT]
    check_paths(scorer.metric, references, paths, from_input=bool(systems))
    scored = []
    with row_progress() as report:
        opened = [open_segments(path, None) for path in references]
        for path, name in zip(paths, names_of(paths), strict=True):
            hypotheses = open_segments(path, report)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                results: Sequence[Any]
                if by_segment:
                    results = scorer.segments(hypotheses, opened, threads)
                else:
                    results = [scorer.corpus(hypotheses, opened, threads)]
            for message in dict.fromkeys(str(warning.message) for warning in caught):
                show_warning(f"{name}: {message}")
            if scorer.wants_plain_text and not quiet:
                warn_of_tokens(hypotheses)
            scored.append(Scored(name, results))
            hypotheses.close()
    return scored


def check_paths(command: str, references: Sequence[str], systems: Sequence[str], *, from_input: bool) -> None:
    """Wrong usage is said before anything is read."""
    typed = f"{program()} {command}"
    if not references:
        ahead, after = (" before -i", "-i HYP...") if from_input else ("", "< HYP")
        raise typer.BadParameter(f"name the references{ahead}: {typed} REF... {after}", param_hint="REF")
    if [*references, *systems].count(STANDARD_INPUT) > 1:
        raise typer.BadParameter("standard input can be only one of the files", param_hint=STANDARD_INPUT)
    if STANDARD_INPUT in systems and (sys.stdin is None or sys.stdin.isatty()):
        shown = " ".join(references)
        raise typer.BadParameter(
            f"no system output: type {typed} {shown} < HYP, or {typed} {shown} -i HYP", param_hint="-i"
        )


def open_segments(path: str, report: Any) -> "TextFile":
    if path == STANDARD_INPUT:
        return fastmetrics.read_segments(sys.stdin.buffer, name="standard input", progress=report)
    return fastmetrics.read_segments(path, progress=report)


def names_of(paths: Sequence[str]) -> list[str]:
    """Systems by the names of their files; by their paths where these are the same."""
    names = ["standard input" if path == STANDARD_INPUT else Path(path).name for path in paths]
    return names if len(set(names)) == len(names) else list(paths)


def warn_of_tokens(hypotheses: "TextFile") -> None:
    """Output that was never put together again scores otherwise than the text it stands for."""
    lines = hypotheses[:LOOKED_AT]
    ends = sum(line.rstrip().endswith(TOKENIZED_END) for line in lines)
    if ends > HABIT:
        show_warning(
            f"{ends:,} of the first {len(lines):,} lines of {hypotheses.name} end in a full stop apart from its word: "
            "detokenize the output, for its tokens are made here; -q says no more of it"
        )


# ------------------------------------------------------------------------------------------------- results of one score


def one_line(result: Any, digits: int, score_only: bool) -> list[str]:
    """A result as sacrebleu prints it: its name with the signature, the score, and what it is made of."""
    value = f"{float(result):.{digits}f}"
    if score_only:
        return [value]
    name, _, rest = str(result).partition(" = ")
    parts = rest.partition(" ")[2]
    return [f"{name}|{result.signature} = {value} {parts}".rstrip()]


def one_score(result: Any) -> dict[str, float]:
    return {str(result).partition(" = ")[0]: float(result)}


def no_parts(_: Any) -> Parts:
    return {}
