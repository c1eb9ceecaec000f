"""What one thread knows of the words it has met: their numbers, letters and stems."""

from __future__ import annotations

import sys
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core.rows import Scratch
from fastmetrics._kernels.stemmer import stem_words
from fastmetrics._kernels.words import Vocabulary
from fastmetrics.metrics.text.segments import WordBlock
from fastmetrics.metrics.text.words import open_tokenizer, tokens_of

MOST_WORDS = 1 << 17  # what a thread may remember from block to block, with stems and synonyms


class Words(NamedTuple):
    """Code points of words, one behind the other, and where each begins."""

    points: np.ndarray
    starts: np.ndarray


class WordList:
    """Words by number, in memory that grows."""

    def __init__(self) -> None:
        self.points = np.empty(1 << 12, np.uint32)
        self.starts = np.zeros(1 << 9, np.int64)
        self.size = 0

    def append(self, words: Words) -> None:
        """Take in words behind those that are here."""
        size, n_points = len(words.starts) - 1, int(words.starts[-1])
        end = int(self.starts[self.size])
        self.points = with_room(self.points, end + n_points)
        self.starts = with_room(self.starts, self.size + size + 1)
        self.points[end : end + n_points] = words.points[:n_points]
        self.starts[self.size + 1 : self.size + size + 1] = words.starts[1:] + end
        self.size += size

    def take(self) -> tuple[np.ndarray, np.ndarray]:
        """All words: code points and where each begins."""
        return self.points, self.starts[: self.size + 1]


class Lexicon:
    """Numbers of words; what was met is forgotten when it has become much."""

    def __init__(self, tokenizer: str, lowercase: bool, stemmed: bool) -> None:
        self.tokenizer = open_tokenizer(tokenizer)
        self.lowercase = lowercase
        self.stemmed = stemmed
        self.scratch = Scratch()
        self.vocabulary = Vocabulary()
        self.generation = 0  # counts how often numbers began anew
        self.forget()

    def forget(self) -> None:
        self.generation += 1
        self.vocabulary.clear()
        self.stem_numbers = Vocabulary()
        self.words, self.stems, self.lower = WordList(), WordList(), WordList()
        self.stem_of = np.empty(1 << 9 if self.stemmed else 0, np.int64)

    def read(self, block: Any) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of a block's words, and where those of each text begin; good until the next block."""
        if isinstance(block, WordBlock):
            raise TypeError("tokens must be strings, for METEOR looks at their letters; found integers among them")
        points, starts, text_tokens = tokens_of(block, self.tokenizer)
        n_tokens = int(text_tokens[-1])
        if self.vocabulary.size > MOST_WORDS:
            self.forget()
        ids = self.scratch.take("ids", np.int64, n_tokens)
        self.vocabulary.number(points, starts, n_tokens, ids)
        if self.vocabulary.size > self.words.size:
            self.learn(copied(self.vocabulary, self.words.size))
        return ids, text_tokens

    def learn(self, new: Words) -> None:
        """Take in words, and their stems."""
        first = self.words.size
        self.words.append(new)
        lower = new
        if not self.lowercase:
            lower = lowered(new)
            self.lower.append(lower)
        if not self.stemmed:
            return
        size = len(new.starts) - 1
        stems = Words(np.empty(int(lower.starts[-1]), np.uint32), np.empty(size + 1, np.int64))
        stem_words(lower.points, lower.starts, 0, size, stems.points, stems.starts)
        self.stem_of = with_room(self.stem_of, first + size)
        self.stem_numbers.number(stems.points, stems.starts, size, self.stem_of[first : first + size])
        if self.stem_numbers.size > self.stems.size:
            self.stems.append(copied(self.stem_numbers, self.stems.size))


def with_room(array: np.ndarray, length: int) -> np.ndarray:
    """The array, or a longer one that begins with it."""
    if length <= len(array):
        return array
    longer = np.empty(length + length // 2, array.dtype)
    longer[: len(array)] = array
    return longer


def copied(vocabulary: Vocabulary, first: int) -> Words:
    """The words of a vocabulary from a number on."""
    words = Words(
        np.empty(vocabulary.n_points(first), np.uint32), np.empty(vocabulary.size - first + 1, np.int64)
    )
    vocabulary.copy_words(first, words.points, words.starts)
    return words


def lowered(words: Words) -> Words:
    """Words in lower case, each by itself."""
    coding = f"utf-32-{sys.byteorder[0]}e"
    text = words.points.tobytes().decode(coding, "surrogatepass")
    bounds = words.starts.tolist()
    lower = [text[start:stop].lower() for start, stop in pairwise(bounds)]
    starts = np.zeros(len(bounds), np.int64)
    np.cumsum([len(word) for word in lower], out=starts[1:])
    return Words(np.frombuffer("".join(lower).encode(coding, "surrogatepass"), np.uint32), starts)
