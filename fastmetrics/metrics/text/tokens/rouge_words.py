"""ROUGE's encoders: they tokenize blocks of texts, stem words, split texts into sentences and map words to ids.

Every distinct word is stemmed once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import Scratch
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.text.rouge import count_lines, split_lines
from fastmetrics._kernels.text.tokens.stemmer import stem_words
from fastmetrics._kernels.text.tokens.vocabulary import Vocabulary
from fastmetrics.metrics.text.inputs.segments import MAX_TOKEN_IDS, Segments, TextBlock
from fastmetrics.metrics.text.tokens.tokenizers import Tokenizer
from fastmetrics.metrics.text.tokens.word_encoder import MAX_WORDS, PRETOKENIZED, WordEncoder, copy_words, grow_array

TOKENIZERS = {"default": "alphanumeric", "unicode": "unicode"}
MIN_STEMMED_LETTERS = 4  # shorter words are not stemmed
MAX_STEMMED_WORDS = 1 << 15  # words kept with their stems; more than without stems, as stemming again costs more


class SentenceWords(NamedTuple):
    """Word ids of a block, with the bounds of its sentences, texts and segments.

    Sentence i has the words sentences[i] to sentences[i + 1], text i the sentences texts[i] to texts[i + 1], and
    segment i the texts segments[i] to segments[i + 1].
    """

    ids: np.ndarray
    sentences: np.ndarray
    texts: np.ndarray
    segments: np.ndarray


def one_sentence_per_text(ids: np.ndarray, text_tokens: np.ndarray, segments: np.ndarray) -> SentenceWords:
    """Return the words of a block in which every text is one sentence."""
    return SentenceWords(ids, text_tokens, np.arange(len(text_tokens), dtype=np.int64), segments)


class TokenListEncoder:
    """Encodes blocks of token lists. Each list is one sentence."""

    def __init__(self) -> None:
        self.encoder = WordEncoder(PRETOKENIZED)

    def encode(self, block: Any, by_sentence: bool) -> SentenceWords:
        return one_sentence_per_text(*self.encoder.encode(block))


class RougeTextEncoder:
    """Encodes blocks of texts with a native tokenizer: one thread's tokenizer, vocabulary and stems."""

    def __init__(self, tokenizer: str, stem: bool) -> None:
        self.tokenizer = Tokenizer(TOKENIZERS[tokenizer])
        self.stems = StemIds() if stem else None
        self.vocabulary = Vocabulary()
        self.most_words = MAX_STEMMED_WORDS if stem else MAX_WORDS
        self.scratch = Scratch()

    def encode(self, block: TextBlock, by_sentence: bool) -> SentenceWords:
        """Return the words of a block, valid until the next call. Ids of different blocks are not comparable."""
        offsets, texts = block.offsets, None
        if by_sentence:
            n_lines = count_lines(block.points, offsets)
            if n_lines > len(offsets) - 1:
                texts = self.scratch.array("texts", np.int64, len(offsets))
                lines = self.scratch.array("lines", np.int64, n_lines + 1)
                split_lines(block.points, offsets, lines, texts)
                offsets = lines
        token_points, token_starts, bounds = self.tokenizer.split(block.points, offsets)
        ids = self.word_ids(token_points, token_starts, int(bounds[-1]))
        if texts is None:
            return one_sentence_per_text(ids, bounds, block.segments)
        return SentenceWords(ids, bounds, texts, block.segments)

    def word_ids(self, token_points: np.ndarray, token_starts: np.ndarray, n_tokens: int) -> np.ndarray:
        """Return the id of every token, or of its stem."""
        if self.vocabulary.size > self.most_words:
            self.vocabulary.clear()
            if self.stems is not None:
                self.stems.clear()
        ids = self.scratch.array("ids", np.int64, n_tokens)
        self.vocabulary.number(token_points, token_starts, n_tokens, ids)
        return ids if self.stems is None else self.stems.update(self.vocabulary)[ids]


def first_row_without_words(segments: Segments, blocks: Iterable[int]) -> int | None:
    """The first segment that `segments_without_words` finds."""
    scratch = Scratch()
    for number in blocks:
        block = segments.load(number, scratch, {})
        if isinstance(block, TextBlock) and (lost := segments_without_words(block)).shape[0]:
            return segments.bounds(number)[0] + int(lost[0])
    return None


def segments_without_words(block: TextBlock) -> np.ndarray:
    """The segments with a text in which tokenizer="unicode" finds words and "default" finds none, in order."""
    tokenizers = [Tokenizer(TOKENIZERS[name]) for name in ("default", "unicode")]
    bounds, unicode_bounds = (own.split(block.points, block.offsets)[2] for own in tokenizers)
    texts = np.flatnonzero((bounds[1:] == bounds[:-1]) & (unicode_bounds[1:] > unicode_bounds[:-1]))
    return np.unique(np.searchsorted(block.segments, texts, side="right") - 1)


class StemIds:
    """The id of the stem of every word of a vocabulary."""

    def __init__(self) -> None:
        self.vocabulary = Vocabulary()
        self.ids = np.zeros(0, np.int64)
        self.size = 0

    def clear(self) -> None:
        """Remove all stems, because the vocabulary of words was cleared."""
        self.size = 0
        self.vocabulary.clear()

    def update(self, words: Vocabulary) -> np.ndarray:
        """Stem the vocabulary's new words, and return the stem id of every word."""
        n_new = words.size - self.size
        if n_new:
            points, starts = copy_words(words, self.size)
            stem_starts = np.empty_like(starts)
            stem_words(points, starts, 0, n_new, points, stem_starts, MIN_STEMMED_LETTERS)
            self.ids = grow_array(self.ids, words.size)
            self.vocabulary.number(points, stem_starts, n_new, self.ids[self.size : words.size])
            self.size = words.size
        return self.ids[: self.size]


class CallableTokenizer:
    """A tokenizer passed by the caller: a function from a text to its tokens, called by one thread at a time."""

    def __init__(self, function: Callable[[str], list[str]]) -> None:
        self.function = function
        self.lock = Lock()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CallableTokenizer) and other.function == self.function

    def __hash__(self) -> int:
        return hash(self.function)

    def __repr__(self) -> str:
        return f"{getattr(self.function, '__qualname__', type(self.function).__qualname__)}"

    def __call__(self, text: str) -> list[str]:
        with self.lock:
            tokens = self.function(text)
        if not isinstance(tokens, (list, tuple)) or not all(isinstance(token, str) for token in tokens):
            raise TypeError(f"tokenizer must return a list of strings; for {text!r} it returned {tokens!r}")
        return list(tokens)


class CallableEncoder:
    """Encodes blocks of texts with the caller's tokenizer. Sentences are tokenized one by one."""

    def __init__(self, tokenizer: CallableTokenizer) -> None:
        self.tokenizer = tokenizer
        self.token_ids: dict[str, int] = {}

    def encode(self, block: TextBlock, by_sentence: bool) -> SentenceWords:
        token_ids = self.token_ids
        if len(token_ids) > MAX_TOKEN_IDS:
            token_ids.clear()
        ids: list[int] = []
        sentence_bounds, text_bounds = [0], [0]
        for start, stop in pairwise(block.offsets.tolist()):
            text = block.points[start:stop].astype("<u4").tobytes().decode("utf-32-le")
            sentences = [line for line in text.split("\n") if line] if by_sentence else [text]
            for sentence in sentences:
                ids.extend(token_ids.setdefault(token, len(token_ids)) for token in self.tokenizer(sentence))
                sentence_bounds.append(len(ids))
            text_bounds.append(len(sentence_bounds) - 1)
        ids_array, sentences_array, texts_array = (
            np.array(numbers, np.int64) for numbers in (ids, sentence_bounds, text_bounds)
        )
        return SentenceWords(ids_array, sentences_array, texts_array, block.segments)
