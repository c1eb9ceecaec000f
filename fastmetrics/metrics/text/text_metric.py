"""The interface of a text metric, and the loops that count its statistics over segments.

A text metric counts integer statistics for every segment of a block (`new_counter()`). It creates an empty state
(`empty`), adds rows of statistics to a state (`add`) and computes the result of a state (`score`). Corpora, single
segments, files, batches and bootstrap samples all use these four methods, so they give the same numbers.

The base class of results and the checks of options that several metrics have are here, too.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

import numpy as np

from fastmetrics._core.calls.compiled_functions import Function, computed_by
from fastmetrics._core.columns import validation
from fastmetrics._core.columns.row_blocks import Scratch, UnpooledScratch
from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._core.results.number_with_parts import NumberWithParts
from fastmetrics._core.state import Fields, ManySums, Sums
from fastmetrics._version import __version__
from fastmetrics.metrics.text.inputs.segments import VARIABLE, Segments
from fastmetrics.metrics.text.tokens.tokenizers import TOKENIZERS
from fastmetrics.metrics.text.tokens.word_encoder import PRETOKENIZED

MAX_ORDER = 255
MAX_SERIAL_BLOCKS = 2  # up to this number of blocks, one thread is faster than two

Score = TypeVar("Score")
# count(block, out) fills out[n_segments, n_columns] (int64) with the statistics of the segments of a block. Each thread
# has its own counter, with scratch memory and a vocabulary.
BlockCounter = Callable[[Any, np.ndarray], None]


class TextScore(NumberWithParts):
    """The score of a text metric: a float with what it was computed from."""

    @property
    def score(self) -> float:
        """The score as a plain float."""
        return float(self)

    def __repr__(self) -> str:
        return super().__repr__().replace("(", "(score=", 1)


class TextMetric(ABC, Generic[Score]):
    """A metric of hypotheses and references: a frozen dataclass of its options, checked."""

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """The names of a segment's statistics."""

    if TYPE_CHECKING:  # a property here would be the default of a dataclass's field

        @property
        @abstractmethod
        def lowercase(self) -> bool:
            """Are texts loaded in lower case?"""

    @property
    @abstractmethod
    def fields(self) -> Fields:
        """The fields of a state."""

    @abstractmethod
    def new_counter(self) -> BlockCounter:
        """A counter for one thread."""

    @abstractmethod
    def score(self, sums: Sums, n_references: int) -> Score:
        """The result of a state; its signature names n_references."""

    def empty(self) -> Sums:
        return Sums(self.fields)

    def add(self, sums: Sums, counts: np.ndarray) -> None:
        """Add rows of statistics, int64[n, n_columns], to a state: here one of their sums."""
        sums.counts += counts.sum(axis=0)


class Tokenizing:
    """The metric has words, which a tokenizer finds: the option `tokenize`."""

    def with_tokenizer(self, tokenize: str) -> Self:
        own: Any = self
        changed: Self = replace(own, tokenize=tokenize)
        return changed


class CorpusMetric(TextMetric[Score]):
    """A metric whose statistics of one segment depend on all segments, so that it counts a whole corpus itself."""

    @abstractmethod
    def count_corpus(self, source: Segments, n_threads: int | None, by_segment: bool) -> tuple[Any, np.ndarray]:
        """The metric bound to this corpus, and a row of statistics per segment or one row of their sums."""


class ScoresManySums(ABC):
    """The scores of many states are found at once."""

    @abstractmethod
    def many_scores(self, states: ManySums) -> np.ndarray:
        """The score of every state as `score` finds it; NaN where that has to be asked, or there are no rows."""


class FindsLostWords(ABC):
    """Texts may have words that only another tokenizer finds."""

    @abstractmethod
    def rows_without_words(self, block: Any, counts: np.ndarray) -> np.ndarray:
        """The rows of a block with such a text."""

    @abstractmethod
    def warn_of_lost_words(self, counts: np.ndarray, segments: Segments) -> None:
        """Warn if a segment has such a text."""


def count_blocks(
    metric: TextMetric[Any], source: Segments, n_threads: int | None, consume: Callable[[int, np.ndarray], None]
) -> None:
    """Call consume(block_index, counts) for every block of a source; counts are valid during the call only."""
    most_threads = count_threads(n_threads)

    def make_worker() -> Callable[[int], None]:
        scratch, count = Scratch(), metric.new_counter()
        token_ids: dict[Any, int] = {}

        def count_block(block_index: int) -> None:
            start, stop = source.bounds(block_index)
            block = source.load(block_index, scratch, token_ids)
            counts = scratch.array("counts", np.int64, (stop - start) * len(metric.columns))
            counts = counts.reshape(stop - start, len(metric.columns))
            count(block, counts)
            consume(block_index, counts)

        return count_block

    for_each(source.n_blocks, make_worker, most_threads if source.n_blocks > MAX_SERIAL_BLOCKS else 1)


def count_segments(metric: TextMetric[Any], source: Segments, n_threads: int | None = None) -> np.ndarray:
    """Return the statistics of every segment, int64[n_segments, n_columns]."""
    out = np.empty((len(source), len(metric.columns)), np.int64)

    def store(block_index: int, counts: np.ndarray) -> None:
        start, stop = source.bounds(block_index)
        out[start:stop] = counts

    count_blocks(metric, source, n_threads, store)
    return out


def accumulate_segments(metric: TextMetric[Any], source: Segments, n_threads: int | None = None) -> Sums:
    """Return the state of all segments. Memory does not grow with their number."""
    n_threads = count_threads(n_threads)
    sums = metric.empty()
    if isinstance(metric, CorpusMetric):
        metric.add(sums, metric.count_corpus(source, n_threads, False)[1])
        return sums
    if source.n_blocks == 1:
        # Callers score single sentences in loops, so this path starts no thread and makes no lock.
        counts = np.empty((len(source), len(metric.columns)), np.int64)
        metric.new_counter()(source.load(0, UnpooledScratch(), {}), counts)
        metric.add(sums, counts)
        return sums
    lock = Lock()

    def add(block_index: int, counts: np.ndarray) -> None:
        with lock:
            metric.add(sums, counts)

    count_blocks(metric, source, n_threads, add)
    return sums


def prepare_metric(metric: Any, segments: Segments) -> Any:
    """Return the metric for these segments, and set `segments.lowercase` as the metric needs it.

    If the segments are lists of tokens, the metric's tokenizer is replaced by PRETOKENIZED.
    """
    if segments.is_tokens and isinstance(metric, Tokenizing):
        metric = metric.with_tokenizer(PRETOKENIZED)
    segments.lowercase = metric.lowercase
    return metric


def score_corpus(metric: TextMetric[Score], segments: Segments, n_threads: int | None) -> Score:
    """Return the metric's result for all segments."""
    prepared: TextMetric[Score] = prepare_metric(metric, segments)
    return prepared.score(accumulate_segments(prepared, segments, n_threads), segments.n_references)


def score_function(
    make_metric: Callable[..., TextMetric[Any]], read: Callable[[Any, Any], Segments]
) -> Callable[[Function], Function]:
    """Return a decorator of a function without a body: it scores the texts that `read` returns.

    Its options are those of the metric. One sentence is scored by one thread.
    """

    def compute(hypotheses: Any, references: Any, *, n_threads: int | None = 1, **options: Any) -> Any:
        return score_corpus(make_metric(**options), read(hypotheses, references), n_threads)

    return computed_by(compute)


def join_signature(fields: dict[str, Any]) -> str:
    """Return a signature of these fields and the version. "nrefs" is a number of references, or VARIABLE."""
    references = "var" if fields["nrefs"] == VARIABLE else fields["nrefs"]
    named = fields | {"nrefs": references, "version": f"fastmetrics-{__version__}"}
    return "|".join(f"{name}:{value}" for name, value in named.items())


def check_tokenizer(name: Any) -> None:
    validation.check_option(name, "tokenize", TOKENIZERS)


def check_flags(**flags: Any) -> None:
    """Raise OptionError for the first of these options that is not a bool."""
    for name, flag in flags.items():
        validation.check_flag(flag, name)


def check_number(value: Any, name: str, most: float = math.inf) -> Any:
    """Return a finite number from 0 to `most` as a number of Python; else OptionError."""
    bound = "" if most == math.inf else f" and at most {most:g}"
    wanted = f"a finite number of at least 0{bound}"
    validation.check_number(value, name, wanted, lambda number: 0 <= number < math.inf and number <= most)
    return value.item() if isinstance(value, np.number) else value


def check_order(value: Any, name: str, least: int = 1, most: int = MAX_ORDER) -> int:
    """Return the longest n-gram's length as an int; OptionError unless it is an integer from `least` to `most`."""
    return validation.check_integer(value, name, f"an integer from {least} to {most}", least, most)
