"""Texts to words as ROUGE takes them: tokenized, stemmed once for every distinct word, and cut into sentences."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core.rows import Scratch
from fastmetrics._kernels.stemmer import stem_words
from fastmetrics._kernels.subsequences import count_lines, split_lines
from fastmetrics._kernels.words import Vocabulary
from fastmetrics.metrics.text.segments import MOST_KNOWN, TextBlock
from fastmetrics.metrics.text.tokenizers import Tokenizer
from fastmetrics.metrics.text.words import GIVEN, MOST_WORDS, WordReader

TOKENIZERS = {"default": "alphanumeric", "unicode": "unicode"}
LEAST_STEMMED = 4  # letters of a word that is stemmed: shorter ones remain as they are
MOST_STEMMED = 1 << 15  # words that are remembered with their stems: more than without, for they cost more


class Words(NamedTuple):
    """Words of a block: their numbers, and where sentences, texts and segments begin."""

    ids: np.ndarray
    sentences: np.ndarray
    texts: np.ndarray
    segments: np.ndarray


def alone(ids: np.ndarray, text_tokens: np.ndarray, segments: np.ndarray) -> Words:
    """Texts of one sentence each."""
    return Words(ids, text_tokens, np.arange(len(text_tokens), dtype=np.int64), segments)


class TokenReader:
    """Texts that came as tokens: each is one sentence."""

    def __init__(self) -> None:
        self.words = WordReader(GIVEN)

    def read(self, block: Any, _: bool) -> Words:
        return alone(*self.words.read(block))


class TextReader:
    """One thread's tokenizer in native code, its vocabulary and the stems of its words."""

    def __init__(self, tokenizer: str, stem: bool) -> None:
        self.tokenizer = Tokenizer(TOKENIZERS[tokenizer])
        self.stems = Stems() if stem else None
        self.vocabulary = Vocabulary()
        self.most_words = MOST_STEMMED if stem else MOST_WORDS
        self.scratch = Scratch()

    def read(self, block: TextBlock, by_sentence: bool) -> Words:
        """The words of a block, good until the next is read. Numbers are those of this block alone."""
        offsets, texts = block.offsets, None
        if by_sentence:
            n_lines = count_lines(block.points, offsets)
            if n_lines > len(offsets) - 1:
                texts = self.scratch.take("texts", np.int64, len(offsets))
                lines = self.scratch.take("lines", np.int64, n_lines + 1)
                split_lines(block.points, offsets, lines, texts)
                offsets = lines
        token_points, token_starts, bounds = self.tokenizer.split(block.points, offsets)
        ids = self.number(token_points, token_starts, int(bounds[-1]))
        return alone(ids, bounds, block.segments) if texts is None else Words(ids, bounds, texts, block.segments)

    def number(self, token_points: np.ndarray, token_starts: np.ndarray, n_tokens: int) -> np.ndarray:
        if self.vocabulary.size > self.most_words:
            self.vocabulary.clear()
            if self.stems is not None:
                self.stems.clear()
        ids = self.scratch.take("ids", np.int64, n_tokens)
        self.vocabulary.number(token_points, token_starts, n_tokens, ids)
        return ids if self.stems is None else self.stems.of(self.vocabulary)[ids]


class Stems:
    """The stems of a vocabulary's words, numbered."""

    def __init__(self) -> None:
        self.vocabulary = Vocabulary()
        self.known = np.zeros(0, np.int64)
        self.size = 0

    def clear(self) -> None:
        """Forget all, because the words are numbered anew."""
        self.size = 0
        self.vocabulary.clear()

    def of(self, words: Vocabulary) -> np.ndarray:
        """The number of every word's stem."""
        if words.size > self.size:
            self.add(words)
        return self.known[: self.size]

    def add(self, words: Vocabulary) -> None:
        """Stem the words that are new."""
        first, n_new = self.size, words.size - self.size
        points = np.empty(words.n_points(first), np.uint32)
        starts = np.empty(n_new + 1, np.int64)
        stem_starts = np.empty(n_new + 1, np.int64)
        words.copy_words(first, points, starts)
        stem_words(points, starts, 0, n_new, points, stem_starts, LEAST_STEMMED)
        if words.size > len(self.known):
            known = np.empty(2 * words.size, np.int64)
            known[:first] = self.known[:first]
            self.known = known
        self.vocabulary.number(points, stem_starts, n_new, self.known[first : words.size])
        self.size = words.size


class OwnTokenizer:
    """A tokenizer of the caller's: a function from a text to its tokens, called by one thread at a time."""

    def __init__(self, function: Callable[[str], list[str]]) -> None:
        self.function = function
        self.lock = Lock()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OwnTokenizer) and other.function == self.function

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


class OwnReader:
    """One thread's way through a tokenizer of the caller's. Sentences are tokenized one by one."""

    def __init__(self, tokenizer: OwnTokenizer) -> None:
        self.tokenizer = tokenizer
        self.known: dict[str, int] = {}

    def read(self, block: TextBlock, by_sentence: bool) -> Words:
        if len(self.known) > MOST_KNOWN:
            self.known.clear()
        ids: list[int] = []
        sentences, texts = [0], [0]
        bounds = block.offsets.tolist()
        for start, stop in pairwise(bounds):
            text = block.points[start:stop].astype("<u4").tobytes().decode("utf-32-le")
            parts = [part for part in text.split("\n") if part] if by_sentence else [text]
            for part in parts:
                ids.extend(self.known.setdefault(token, len(self.known)) for token in self.tokenizer(part))
                sentences.append(len(ids))
            texts.append(len(sentences) - 1)
        own, starts, firsts = (np.array(numbers, np.int64) for numbers in (ids, sentences, texts))
        return Words(own, starts, firsts, block.segments)
