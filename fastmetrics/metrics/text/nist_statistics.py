"""NIST's statistics of a corpus: matches are counted per segment, and weighted by the n-gram counts of all references.

The first pass reads every block of segments once. Words become ids below 2**32, and every hypothesis word gets the
orders of the matching n-grams that begin with it (`nist.pyx`). Each thread has its own vocabulary; ids are unified
after the pass. Memory holds six bytes per hypothesis word and four per reference word.

The second pass partitions n-grams by the hash of their first word. One thread per partition fills a table with the
matching n-grams, counts them in the references and sums their weights. Sums are integers, so they depend neither on the
number of threads nor on the number of tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import Scratch
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import accumulate, count_threads
from fastmetrics._kernels.text import nist as kernels
from fastmetrics._kernels.text.ngram_matcher import NgramMatcher
from fastmetrics._kernels.text.tokens.vocabulary import Vocabulary
from fastmetrics.metrics.text.inputs.segments import Segments, TokenIdBlock
from fastmetrics.metrics.text.text_metric import MAX_SERIAL_BLOCKS
from fastmetrics.metrics.text.tokens.word_encoder import copy_words, make_tokenizer, tokenize_block

# These constants count words of hypotheses.
WORDS_PER_SHARD = 1 << 20  # one call of a kernel reads one shard
# A table of the n-grams of WORDS_PER_TABLE words stays in cache. But all words are read once per table, so above
# MAX_SMALL_TABLES tables, each has the n-grams of WORDS_PER_LARGE_TABLE words.
WORDS_PER_TABLE = 1 << 16
MAX_SMALL_TABLES = 16
WORDS_PER_LARGE_TABLE = 1 << 19
MIN_WORDS_FOR_TABLES = 1 << 13  # smaller corpora use one table, and one thread for it
MAX_TABLES = 1 << 16
NO_WORD = kernels.NO_WORD
INTEGER_TOKEN_MARK = 0x110000  # the first code point of an integer token; it is not a valid character


class NistShard(NamedTuple):
    """Words of some segments: ids and matched orders of hypothesis words, and ids of reference words.

    The hypothesis of segment s is words[starts[s]:starts[s + 1]]. Every reference is followed by NO_WORD.
    """

    words: np.ndarray
    matched_orders: np.ndarray
    starts: np.ndarray
    references: np.ndarray


class NistEncoder:
    """One thread's tokenizer and vocabulary. It encodes blocks of segments and matches their n-grams."""

    def __init__(self, tokenizer: str, lower_ascii: bool, max_order: int) -> None:
        self.tokenizer = make_tokenizer(tokenizer)
        self.lower_ascii = lower_ascii
        self.max_order = max_order
        self.vocabulary = Vocabulary()
        self.matcher = NgramMatcher()
        self.scratch, self.block_scratch = Scratch(), Scratch()
        self.total = np.zeros(2 + 2 * max_order, np.int64)

    def encode(self, block: Any, token_ids: dict[Any, int]) -> TokenIdBlock:
        """Return a block with the word ids of this vocabulary. `token_ids` maps the tokens of a TokenIdBlock."""
        if isinstance(block, TokenIdBlock):
            return block._replace(ids=self.word_ids(*token_code_points(token_ids))[block.ids])
        token_points, token_starts, text_tokens = tokenize_block(block, self.tokenizer)
        return TokenIdBlock(
            self.word_ids(token_points, token_starts[: text_tokens[-1] + 1]), text_tokens, block.segments
        )

    def word_ids(self, points: np.ndarray, starts: np.ndarray) -> np.ndarray:
        """Return ids of words, valid until the next call. `points` is lower-cased in place if `lower_ascii`."""
        if self.lower_ascii:
            used = points[: starts[-1]]
            used += ((used - np.uint32(65) < 26) * 32).astype(np.uint32)
        ids = self.scratch.array("ids", np.int64, len(starts) - 1)
        self.vocabulary.number(points, starts, len(ids), ids)
        return ids

    def match_block(self, block: TokenIdBlock, counts: np.ndarray) -> NistShard:
        """Return the block as a shard with matched orders, and fill `counts` with the statistics of its segments."""
        ids, text_tokens, segments = block
        firsts = segments[:-1]
        n_tokens, n_texts = int(text_tokens[-1]), len(text_tokens) - 1
        n_words = int((text_tokens[firsts + 1] - text_tokens[firsts]).sum())
        shard = NistShard(
            np.empty(n_words, np.uint32), np.empty(n_words, np.uint16), np.empty(len(segments), np.int64),
            np.empty(n_tokens - n_words + n_texts - len(firsts), np.uint32),
        )  # fmt: skip
        kernels.match_segments(
            ids, text_tokens, segments, self.max_order, self.matcher, shard.words, shard.starts, shard.references,
            shard.matched_orders, counts,
        )  # fmt: skip
        return shard


def token_code_points(token_ids: dict[Any, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return code points and starts of tokens, in the order of their ids. Unequal tokens have unequal code points.

    A mark before the digits of an integer distinguishes the token 1 from the token "1".
    """
    tokens = sorted(token_ids, key=token_ids.__getitem__)
    texts = [token if isinstance(token, str) else f" {token:d}" for token in tokens]
    starts = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), "<u4").astype(np.uint32)
    points[starts[:-1][[not isinstance(token, str) for token in tokens]]] = INTEGER_TOKEN_MARK
    return points, starts


class NistCorpus(NamedTuple):
    """An encoded corpus: shards with ids of one vocabulary, and the counts of every segment, or one row of sums."""

    shards: list[NistShard]
    vocabulary: Vocabulary
    counts: np.ndarray
    n_reference_words: int


def encode_corpus(metric: Any, source: Segments, n_threads: int, by_segment: bool) -> NistCorpus:
    """The first pass: encode all segments and count their matches."""
    width = 2 + 2 * metric.max_order
    counts = np.zeros((len(source) if by_segment else 1, width), np.int64)
    encoded_blocks: dict[int, tuple[NistEncoder, NistShard]] = {}

    def encode_block(encoder: NistEncoder, block_index: int) -> None:
        start, stop = source.bounds(block_index)
        scratch = encoder.block_scratch
        token_ids: dict[Any, int] = {}
        rows = counts[start:stop]
        if not by_segment:
            rows = scratch.array("rows", np.int64, (stop - start) * width).reshape(stop - start, width)
        block = encoder.encode(source.load(block_index, scratch, token_ids), token_ids)
        encoded_blocks[block_index] = encoder, encoder.match_block(block, rows)
        if not by_segment:
            encoder.total += rows.sum(axis=0)

    encoders = accumulate(
        source.n_blocks, lambda: NistEncoder(metric.tokenize, metric.lower_ascii, metric.max_order), encode_block,
        n_threads,
    )  # fmt: skip
    if not by_segment:
        counts[0] = sum(encoder.total for encoder in encoders)
    vocabulary, new_ids = merge_vocabularies(encoders)
    in_order = (encoded_blocks.pop(block_index) for block_index in range(source.n_blocks))
    shards = list(join_into_shards(in_order, new_ids))
    n_words = sum(len(shard.references) - int((shard.references == NO_WORD).sum()) for shard in shards)
    return NistCorpus(shards, vocabulary, counts, n_words)


def join_into_shards(
    encoded_blocks: Iterable[tuple[NistEncoder, NistShard]], new_ids: dict[NistEncoder, np.ndarray]
) -> Iterator[NistShard]:
    """Yield shards of about WORDS_PER_SHARD words, in the order of segments, with the ids of the merged vocabulary."""
    pending: list[NistShard] = []
    n_words = 0
    for encoder, shard in encoded_blocks:
        if encoder in new_ids:
            ids, is_word = new_ids[encoder], shard.references != NO_WORD
            shard.words[:] = ids[shard.words]
            shard.references[is_word] = ids[shard.references[is_word]]
        pending.append(shard)
        n_words += len(shard.words)
        if n_words >= WORDS_PER_SHARD:
            yield concatenate_shards(pending)
            pending, n_words = [], 0
    if pending:
        yield concatenate_shards(pending)


def merge_vocabularies(encoders: list[NistEncoder]) -> tuple[Vocabulary, dict[NistEncoder, np.ndarray]]:
    """Return the union of all vocabularies, and for each encoder the union's id of each of its ids.

    If there is one encoder only, its ids stay and the mapping is empty.
    """
    if len(encoders) == 1:
        return encoders[0].vocabulary, {}
    union = Vocabulary()
    new_ids: dict[NistEncoder, np.ndarray] = {}
    for encoder in encoders:
        size = encoder.vocabulary.size
        ids = np.empty(size, np.int64)
        union.number(*copy_words(encoder.vocabulary), size, ids)
        new_ids[encoder] = ids.astype(np.uint32)
    return union, new_ids


def id_of_zero(vocabulary: Vocabulary) -> int:
    """Return the id of the word "0", which is added if the corpus does not have it."""
    ids = np.empty(1, np.int64)
    vocabulary.number(np.array([ord("0")], np.uint32), np.array([0, 1], np.int64), 1, ids)
    return int(ids[0])


def concatenate_shards(shards: list[NistShard]) -> NistShard:
    if len(shards) == 1:
        return shards[0]
    words, matched_orders, references = (np.concatenate([shard[field] for shard in shards]) for field in (0, 1, 3))
    first_words = np.cumsum([0, *(len(shard.words) for shard in shards)])
    starts = np.concatenate(
        [[0], *(shard.starts[1:] + first for shard, first in zip(shards, first_words[:-1], strict=True))],
        dtype=np.int64,
    )
    return NistShard(words, matched_orders, starts, references)


def count_tables(n_words: int, n_threads: int) -> int:
    """Return the number of tables that the n-grams are partitioned into."""
    if n_words < MIN_WORDS_FOR_TABLES:
        return 1
    small = min(MAX_SMALL_TABLES, -(-n_words // WORDS_PER_TABLE))
    return min(MAX_TABLES, max(small, -(-n_words // WORDS_PER_LARGE_TABLE), 2 * n_threads if n_threads > 1 else 1))


def sum_information(corpus: NistCorpus, max_order: int, zero: int, n_threads: int, by_segment: bool) -> np.ndarray:
    """The second pass: sum the weights of matching n-grams, by segment or over all of them.

    Columns are, for every order, the sum of the upper 32 bits of the weights, then that of the lower 32 bits.
    """
    n_words = sum(len(shard.words) for shard in corpus.shards)
    bits = (count_tables(n_words, n_threads) - 1).bit_length()
    rows = corpus.counts.shape[0]

    def new_state() -> tuple[np.ndarray, kernels.NgramTable]:
        return np.zeros((rows, 2 * max_order), np.int64), kernels.NgramTable(bits, max_order, n_words >> bits)

    def sum_partition(state: tuple[np.ndarray, kernels.NgramTable], partition: int) -> None:
        thread_sums, table = state
        table.begin(partition)
        for shard in corpus.shards:
            table.add(shard.words, shard.matched_orders)
        for shard in corpus.shards:
            table.add_references(shard.references)
        for order in range(max_order):
            table.count_order(order, zero)
        table.weigh(corpus.n_reference_words, zero)
        if not by_segment:
            table.sum_all_weights(thread_sums[0])
            return
        row = 0
        for shard in corpus.shards:
            table.sum_weights(shard.words, shard.matched_orders, shard.starts, thread_sums[row:])
            row += len(shard.starts) - 1

    states = accumulate(1 << bits, new_state, sum_partition, n_threads if bits else 1)
    total = states[0][0]
    for thread_sums, _ in states[1:]:
        total += thread_sums
    return total


def count_corpus(metric: Any, source: Segments, n_threads: int | None, by_segment: bool) -> tuple[np.ndarray, int]:
    """Return the statistics of every segment with a fingerprint of their weights, or one row of sums with 0."""
    threads = count_threads(n_threads) if source.n_blocks > MAX_SERIAL_BLOCKS else 1
    corpus = encode_corpus(metric, source, threads, by_segment)
    zero = id_of_zero(corpus.vocabulary) if metric.information == "mteval" else NO_WORD
    sums = sum_information(corpus, metric.max_order, zero, threads, by_segment)
    counts = np.concatenate([corpus.counts, sums[:, ::2], sums[:, 1::2]], axis=1)
    return counts, fingerprint_references(corpus) if by_segment else 0


def fingerprint_references(corpus: NistCorpus) -> int:
    """Return a 63-bit hash of the pairs of adjacent words in all references. It does not depend on their order.

    Statistics are added only if their fingerprints are equal: weights of other references must not be mixed.
    """
    size = corpus.vocabulary.size
    points, starts = copy_words(corpus.vocabulary)
    positions = np.arange(len(points), dtype=np.int64) - np.repeat(starts[:-1], np.diff(starts))
    hashes = mix_bits(points.astype(np.uint64) + (positions.astype(np.uint64) << np.uint64(32)))
    sums = np.append(np.uint64(0), np.cumsum(hashes))
    word_hashes = np.append(mix_bits(sums[starts[1:]] - sums[starts[:-1]]), np.uint64(0))
    total = 0
    for shard in corpus.shards:
        hashes = word_hashes[np.minimum(shard.references, np.uint32(size))]
        total += int(mix_bits(hashes[:-1] * np.uint64(3) + hashes[1:]).sum(dtype=np.uint64)) if len(hashes) else 0
        # Every shard ends with NO_WORD, whose hash is 0. Add the pair of the NO_WORD before this shard and the shard's
        # first word, so that the fingerprint does not depend on the division into shards.
        total += int(mix_bits(hashes[:1]).sum(dtype=np.uint64))
    return total & ((1 << 63) - 1)


def mix_bits(values: np.ndarray) -> np.ndarray:
    """Return hashes of uint64 values."""
    values = (values ^ (values >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
    result: np.ndarray = values ^ (values >> np.uint64(29))
    return result
