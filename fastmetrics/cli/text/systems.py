"""What the commands for texts share: options, the files of systems and references, scores, and warnings about them.

`run` scores the systems and writes the scores.
"""

import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

import fastmetrics
from fastmetrics._core.immutable import EMPTY
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.cli.command import Command
from fastmetrics.cli.input_names import STANDARD_INPUT, file_names
from fastmetrics.cli.options import OutputWords
from fastmetrics.cli.outputs import read_outputs, write_result
from fastmetrics.cli.table_results import TableResult
from fastmetrics.cli.terminal import program, show_warning
from fastmetrics.reporting.terminal.score_tables import (
    ScoreDisplay,
    SystemResults,
    TextFormat,
    scores_as_dict,
    segment_table,
    system_table,
    write_scores,
)

if TYPE_CHECKING:
    from fastmetrics import SegmentStatistics, TextFile

INPUT_OPTIONS = ("-i", "--input")
# The first lines are checked for a full stop after a blank; more than so many of them look tokenized.
CHECKED_LINES = 10_000
MAX_TOKENIZED_ENDS = 100
TOKENIZED_END = " ."

References = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="REF",
        help="Reference files, one segment a line; several for several references of a segment. Plain or gzip.",
        show_default=False,
    ),
]
Systems = Annotated[
    list[str] | None,
    typer.Option(
        "-i", "--input", metavar="HYP...", help="Systems, several for a table.", show_default="standard input"
    ),
]
BySegment = Annotated[bool, typer.Option("-sl", "--sentence-level", help="The score of every segment.")]
Layout = Annotated[
    TextFormat | None,
    typer.Option("-f", "--format", help="How to print the scores. Default: text.", show_default=False),
]
ScoreOnly = Annotated[bool, typer.Option("-b", "--score-only", help="Only the score.")]
Digits = Annotated[int | None, typer.Option("-w", "--width", metavar="N", min=0, max=17, help="Decimals of scores.")]
Lowercase = Annotated[bool, typer.Option("-lc", "--lowercase", help="Compare lower-cased texts.")]

# How texts are split into words.
TokenizerName = Literal["13a", "intl", "char", "zh", "none"]
Tokenizer = Annotated[TokenizerName, typer.Option("-tok", "--tokenize", help="How texts are split into words.")]
RecallWeight = Annotated[float, typer.Option(metavar="X", min=0, help="The weight of recall.")]


class SystemsCommand(Command):
    """A command whose option -i takes all words up to the next option, as sacrebleu's does."""

    def words(self, args: Sequence[str]) -> list[str]:
        return list(repeat_option(args))


def repeat_option(words: Sequence[str]) -> Iterator[str]:
    """-i a b -> -i a -i b"""
    option = ""
    for place, word in enumerate(words):
        if word == "--":
            yield from words[place:]
            return
        if word in INPUT_OPTIONS:
            option = word
            # Without any word the parser reports the missing argument.
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


class Scorer(NamedTuple):
    """How a command scores systems, and how it shows the scores."""

    display: ScoreDisplay
    function: str  # the public function of a corpus
    options: dict[str, Any]
    segment_options: Mapping[str, Any] = EMPTY  # options that differ for single segments
    needs_plain_text: bool = False  # tokenized text gives another number

    def score_corpus(self, hypotheses: "TextFile", references: "Sequence[TextFile]", threads: int | None) -> Any:
        return getattr(fastmetrics, self.function)(hypotheses, list(references), n_threads=threads, **self.options)

    def score_segments(
        self, hypotheses: "TextFile", references: "Sequence[TextFile]", threads: int | None
    ) -> "SegmentResults":
        options = {**self.options, **self.segment_options}
        metric: Any = self.display.metric
        return SegmentResults(
            fastmetrics.segment_statistics(metric, hypotheses, list(references), n_threads=threads, **options)
        )


class SegmentResults(Sequence[Any]):
    """The result of every segment, computed on access."""

    def __init__(self, statistics: "SegmentStatistics") -> None:
        self.statistics = statistics

    def __len__(self) -> int:
        return len(self.statistics)

    def __getitem__(self, row: Any) -> Any:
        if not 0 <= row < len(self):
            raise IndexError(row)
        return self.statistics[row].score()


def run(
    scorer: Scorer,
    references: list[str] | None,
    systems: list[str] | None,
    by_segment: bool,
    layout: TextFormat | None,
    score_only: bool,
    digits: int | None,
    threads: int | None,
    words: OutputWords,
) -> None:
    """Score the systems and write the scores."""
    display, paths = scorer.display, systems or [STANDARD_INPUT]
    first_columns = ("segment",) if by_segment else ("system",)
    inputs = [*(references or []), *paths]
    outputs = read_outputs(words.with_layout(layout), inputs, default="text", first_columns=first_columns)
    check_paths(display.metric, references or [], paths, from_option=bool(systems))

    def show(scored: list[SystemResults]) -> None:
        printed = outputs.layout or "text"
        write_scores(display, scored, printed, by_segment=by_segment, digits=digits, score_only=score_only)

    write_result(
        lambda: score_systems(scorer, references or [], paths, by_segment, threads, outputs.quiet),
        outputs,
        show,
        lambda scored: table_result(display, scored, by_segment=by_segment),
    )


def table_result(display: ScoreDisplay, scored: Sequence[SystemResults], *, by_segment: bool) -> TableResult:
    """The scores for files."""
    if by_segment:
        table, shown = (segment_table(display, scored, digits) for digits in (None, display.digits))
    else:
        table, shown = (
            system_table(display, scored, digits, score_only=False, for_programs=digits is None)
            for digits in (None, display.digits)
        )
    title = f"{display.metric} of {', '.join(system.name for system in scored)}"
    content = scores_as_dict(display, scored, by_segment=by_segment)
    return TableResult(title, table, [shown], content, [scored[0].results[0].signature])


def score_systems(
    scorer: Scorer,
    references: Sequence[str],
    paths: Sequence[str],
    by_segment: bool,
    threads: int | None,
    quiet: bool,
) -> list[SystemResults]:
    """Score every system against the references. The references are opened once."""
    from fastmetrics.cli.progress import row_progress

    scored = []
    with row_progress(quiet=quiet) as report:
        reference_files = [open_segments(path, None) for path in references]
        for path, name in zip(paths, file_names(paths), strict=True):
            hypotheses = open_segments(path, report)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                results: Sequence[Any]
                if by_segment:
                    results = scorer.score_segments(hypotheses, reference_files, threads)
                else:
                    results = [scorer.score_corpus(hypotheses, reference_files, threads)]
            for message in dict.fromkeys(str(warning.message) for warning in caught):
                show_warning(f"{name}: {message}")
            if scorer.needs_plain_text and not quiet:
                warn_if_tokenized(hypotheses)
            scored.append(SystemResults(name, results))
            hypotheses.close()
    return scored


def check_paths(command: str, references: Sequence[str], systems: Sequence[str], *, from_option: bool) -> None:
    """Report wrong usage before any file is read."""
    typed = f"{program()} {command}"
    if not references:
        before, after = (" before -i", "-i HYP...") if from_option else ("", "< HYP")
        raise typer.BadParameter(f"name the references{before}: {typed} REF... {after}", param_hint="REF")
    if [*references, *systems].count(STANDARD_INPUT) > 1:
        raise typer.BadParameter("standard input can be only one of the files", param_hint=STANDARD_INPUT)
    if STANDARD_INPUT in systems and (sys.stdin is None or sys.stdin.isatty()):
        names = " ".join(references)
        raise typer.BadParameter(
            f"no system output: type {typed} {names} < HYP, or {typed} {names} -i HYP", param_hint="-i"
        )


def open_segments(path: str, report: Any) -> "TextFile":
    if path == STANDARD_INPUT:
        return fastmetrics.read_segments(sys.stdin.buffer, name="standard input", progress=report)
    return fastmetrics.read_segments(path, progress=report)


def warn_if_tokenized(hypotheses: "TextFile") -> None:
    """Warn of output that looks tokenized: it does not score as the text it stands for."""
    lines = hypotheses[:CHECKED_LINES]
    ends = sum(line.rstrip().endswith(TOKENIZED_END) for line in lines)
    if ends > MAX_TOKENIZED_ENDS:
        show_warning(
            f"{ends:,} of the first {len(lines):,} lines of {hypotheses.name} end in a full stop after a blank: the "
            "output looks tokenized. Detokenize it, because the metric tokenizes it again; -q hides this warning"
        )


def split_names(text: str) -> tuple[str, ...]:
    """Names separated by commas or blanks."""
    return tuple(text.replace(",", " ").split())
