"""NIST's statistics of a corpus: n-grams that count are found by segments, and weighed by all references together.

First every unit of segments is read once: words become numbers below 2**32, and every hypothesis word gets its credits,
which of the n-grams that begin with it count (`nist.pyx`). Threads have vocabularies of their own; their numbers are
made one afterwards. What stays is six bytes for a hypothesis word and four for one of a reference. Then n-grams are
taken by the hash of their first word, part after part, each by one thread with a table of its own: it takes in those
that count, counts them in the references, and adds their weights up. Sums are integers, so neither threads nor parts
show in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._core.rows import Scratch
from fastmetrics._kernels import nist as kernels
from fastmetrics._kernels.words import Vocabulary
from fastmetrics.metrics.text.matching import MatchMemory
from fastmetrics.metrics.text.segments import WordBlock
from fastmetrics.metrics.text.statistics import SERIAL_UNITS, Progress, Source, told_together
from fastmetrics.metrics.text.words import open_tokenizer, tokens_of

SHARD_WORDS = 1 << 20  # of hypotheses, gone through by one call
PART_WORDS = 1 << 16  # of hypotheses, whose n-grams are in one table: it should stay in cache, but
SMALL_PARTS = 16  # all words are looked at for every part: of more than these,
LARGE_PART_WORDS = 1 << 19  # so many are in one table
SHARED_WORDS = 1 << 13  # from here on threads take parts
MOST_PARTS = 1 << 16
NO_WORD = kernels.NO_WORD
NOT_A_POINT = 0x110000  # begins the spelling of a token that is an integer


class Part(NamedTuple):
    """Some segments: words and credits of hypotheses, where each begins, references with an end behind each."""

    words: np.ndarray
    credits: np.ndarray
    starts: np.ndarray
    references: np.ndarray


class Reader:
    """One thread: its tokenizer and vocabulary, and the credits of blocks."""

    def __init__(self, tokenizer: str, lower_ascii: bool, max_order: int) -> None:
        self.tokenizer = open_tokenizer(tokenizer)
        self.lower_ascii = lower_ascii
        self.max_order = max_order
        self.vocabulary = Vocabulary()
        self.memory = MatchMemory()
        self.scratch = Scratch()

    def read(self, block: Any, known: dict[Any, int]) -> WordBlock:
        """A block's words by this reader's numbers. `known` has the numbers of a block of tokens."""
        if isinstance(block, WordBlock):
            return block._replace(ids=self.number(*spelled(known))[block.ids])
        token_points, token_starts, text_tokens = tokens_of(block, self.tokenizer)
        return WordBlock(self.number(token_points, token_starts[: text_tokens[-1] + 1]), text_tokens, block.segments)

    def number(self, points: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Numbers of words, good until the next are asked for; `points` may be changed."""
        if self.lower_ascii:
            used = points[: starts[-1]]
            used += ((used - np.uint32(65) < 26) * 32).astype(np.uint32)
        ids = self.scratch.take("ids", np.int64, len(starts) - 1)
        self.vocabulary.number(points, starts, len(ids), ids)
        return ids

    def credit(self, block: WordBlock, counts: np.ndarray) -> Part:
        ids, text_tokens, segments = block
        firsts = segments[:-1]
        n_tokens, n_texts = int(text_tokens[-1]), len(text_tokens) - 1
        n_words = int((text_tokens[firsts + 1] - text_tokens[firsts]).sum())
        longest = int(np.diff(text_tokens).max(initial=0))
        part = Part(
            np.empty(n_words, np.uint32), np.empty(n_words, np.uint16), np.empty(len(segments), np.int64),
            np.empty(n_tokens - n_words + n_texts - len(firsts), np.uint32),
        )  # fmt: skip
        kernels.credit_segments(
            ids, text_tokens, segments, self.max_order, *self.memory.reserve(longest, self.vocabulary.size),
            *self.memory.reserve_tables(longest, self.max_order), part.words, part.starts, part.references,
            part.credits, counts,
        )  # fmt: skip
        return part


def spelled(known: dict[Any, int]) -> tuple[np.ndarray, np.ndarray]:
    """Tokens, strings and integers, as code points that only equal tokens share."""
    tokens = sorted(known, key=known.__getitem__)
    texts = [token if isinstance(token, str) else f" {token:d}" for token in tokens]
    starts = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=starts[1:])
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint32)
    points[starts[:-1][[not isinstance(token, str) for token in tokens]]] = NOT_A_POINT
    return points, starts


class Corpus(NamedTuple):
    """All that is read: parts with words numbered alike, and these words; counts of segments, words of references."""

    parts: list[Part]
    vocabulary: Vocabulary
    counts: np.ndarray
    n_reference_words: int


def read_corpus(metric: Any, source: Source, n_threads: int, by_segment: bool, progress: Progress | None) -> Corpus:
    width = 2 + 2 * metric.max_order
    counts = np.zeros((len(source) if by_segment else 1, width), np.int64)
    readers: list[Reader] = []
    totals: list[np.ndarray] = []
    found: dict[int, tuple[Reader, Part]] = {}
    report = told_together(progress, len(source))

    def make_worker() -> Callable[[int], None]:
        reader, scratch = Reader(metric.tokenize, metric.lower_ascii, metric.max_order), Scratch()
        own = np.zeros(width, np.int64)
        readers.append(reader)
        totals.append(own)

        def work(unit: int) -> None:
            start, stop = source.bounds(unit)
            known: dict[Any, int] = {}
            rows = counts[start:stop]
            if not by_segment:
                rows = scratch.take("rows", np.int64, (stop - start) * width).reshape(stop - start, width)
            found[unit] = reader, reader.credit(reader.read(source.load(unit, scratch, known), known), rows)
            if not by_segment:
                own[:] += rows.sum(axis=0)
            report(stop - start)

        return work

    for_each(source.n_units, make_worker, n_threads)
    if not by_segment:
        counts[0] = sum(totals)
    vocabulary, numbers = united(readers)
    parts = list(shards((found.pop(unit) for unit in range(source.n_units)), numbers))
    n_words = sum(len(part.references) - int((part.references == NO_WORD).sum()) for part in parts)
    return Corpus(parts, vocabulary, counts, n_words)


def shards(entries: Iterable[tuple[Reader, Part]], numbers: dict[Reader, np.ndarray]) -> Iterator[Part]:
    """Parts of about SHARD_WORDS words, in the order of segments, their words renumbered."""
    waiting: list[Part] = []
    n_words = 0
    for reader, part in entries:
        if reader in numbers:
            kernels.renumber(part.words, numbers[reader])
            kernels.renumber(part.references, numbers[reader])
        waiting.append(part)
        n_words += len(part.words)
        if n_words >= SHARD_WORDS:
            yield joined(waiting)
            waiting, n_words = [], 0
    if waiting:
        yield joined(waiting)


def united(readers: list[Reader]) -> tuple[Vocabulary, dict[Reader, np.ndarray]]:
    """The words of all vocabularies in one, and its numbers for theirs; none for a reader that was alone."""
    if len(readers) == 1:
        return readers[0].vocabulary, {}
    whole = Vocabulary()
    numbers: dict[Reader, np.ndarray] = {}
    for reader in readers:
        own = reader.vocabulary
        points, starts = np.empty(own.n_points(), np.uint32), np.empty(own.size + 1, np.int64)
        own.copy_words(0, points, starts)
        ids = np.empty(own.size, np.int64)
        whole.number(points, starts, own.size, ids)
        numbers[reader] = ids.astype(np.uint32)
    return whole, numbers


def number_of_zero(vocabulary: Vocabulary) -> int:
    ids = np.empty(1, np.int64)
    vocabulary.number(np.array([ord("0")], np.uint32), np.array([0, 1], np.int64), 1, ids)
    return int(ids[0])


def joined(parts: list[Part]) -> Part:
    if len(parts) == 1:
        return parts[0]
    words, earned, references = (np.concatenate([part[place] for part in parts]) for place in (0, 1, 3))
    before = np.cumsum([0, *(len(part.words) for part in parts)])
    starts = np.concatenate(
        [[0], *(part.starts[1:] + start for part, start in zip(parts, before[:-1], strict=True))], dtype=np.int64
    )
    return Part(words, earned, starts, references)


def n_parts(n_words: int, n_threads: int) -> int:
    """By how many tables n-grams are taken."""
    if n_words < SHARED_WORDS:
        return 1
    small = min(SMALL_PARTS, -(-n_words // PART_WORDS))
    return min(MOST_PARTS, max(small, -(-n_words // LARGE_PART_WORDS), 2 * n_threads if n_threads > 1 else 1))


def sum_information(corpus: Corpus, max_order: int, zero: int, n_threads: int, by_segment: bool) -> np.ndarray:
    """The weights of what counts, in two parts of 32 bits for every order, by segment or all together."""
    n_words = sum(len(part.words) for part in corpus.parts)
    bits = (n_parts(n_words, n_threads) - 1).bit_length()
    rows = corpus.counts.shape[0]
    sums: list[np.ndarray] = []

    def make_worker() -> Callable[[int], None]:
        own = np.zeros((rows, 2 * max_order), np.int64)
        table = kernels.NgramTable(bits, max_order, n_words >> bits)
        sums.append(own)

        def work(number: int) -> None:
            table.begin(number)
            for part in corpus.parts:
                table.add(part.words, part.credits)
            for part in corpus.parts:
                table.add_references(part.references)
            for order in range(max_order):
                table.count_order(order, zero)
            table.weigh(corpus.n_reference_words, zero)
            if not by_segment:
                table.sum_all_weights(own[0])
                return
            row = 0
            for part in corpus.parts:
                table.sum_weights(part.words, part.credits, part.starts, own[row:])
                row += len(part.starts) - 1

        return work

    for_each(1 << bits, make_worker, n_threads if bits else 1)
    total = sums[0]
    for own in sums[1:]:
        total += own
    return total


def count_corpus(
    metric: Any, source: Source, n_threads: int | None, by_segment: bool, progress: Progress | None = None
) -> tuple[np.ndarray, int]:
    """The statistics of every segment, or of all together in one row; and what tells their weights from others."""
    threads = count_threads(n_threads) if source.n_units > SERIAL_UNITS else 1
    corpus = read_corpus(metric, source, threads, by_segment, progress)
    zero = number_of_zero(corpus.vocabulary) if metric.information == "mteval" else NO_WORD
    sums = sum_information(corpus, metric.max_order, zero, threads, by_segment)
    counts = np.concatenate([corpus.counts, sums[:, ::2], sums[:, 1::2]], axis=1)
    return counts, fingerprint(corpus) if by_segment else 0


def fingerprint(corpus: Corpus) -> int:
    """A number that the pairs of words of all references decide, in any order of references: 63 bits.

    Statistics with weights of other references must not be added up; this only has to notice.
    """
    size = corpus.vocabulary.size
    points, starts = np.empty(corpus.vocabulary.n_points(), np.uint32), np.empty(size + 1, np.int64)
    corpus.vocabulary.copy_words(0, points, starts)
    places = np.arange(len(points), dtype=np.int64) - np.repeat(starts[:-1], np.diff(starts))
    sums = np.zeros(len(points) + 1, np.uint64)
    np.cumsum(mixed(points.astype(np.uint64) + (places.astype(np.uint64) << np.uint64(32))), out=sums[1:])
    words = np.append(mixed(sums[starts[1:]] - sums[starts[:-1]]), np.uint64(0))
    total = 0
    for part in corpus.parts:
        own = words[np.minimum(part.references, np.uint32(size))]
        total += int(mixed(own[:-1] * np.uint64(3) + own[1:]).sum(dtype=np.uint64)) if len(own) else 0
        # Parts end with an end; what follows it in the next is as far from it as in this one.
        total += int(mixed(own[:1]).sum(dtype=np.uint64))
    return total & ((1 << 63) - 1)


def mixed(values: np.ndarray) -> np.ndarray:
    values = (values ^ (values >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
    result: np.ndarray = values ^ (values >> np.uint64(29))
    return result
