"""`MeteorVocabulary`: the ids, code points, lower-case forms and stems of the words that one thread has read."""

from __future__ import annotations

import sys
from itertools import pairwise
from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import Scratch
from fastmetrics._kernels.text.tokens.stemmer import stem_words
from fastmetrics._kernels.text.tokens.vocabulary import Vocabulary
from fastmetrics.metrics.text.inputs.segments import TokenIdBlock
from fastmetrics.metrics.text.tokens.word_encoder import (
    PackedWords,
    copy_words,
    grow_array,
    make_tokenizer,
    tokenize_block,
)

MAX_WORDS = 1 << 17  # words that a thread keeps from block to block, with their stems and synonyms


class PackedWordList:
    """Packed words that can be appended to, in arrays that grow."""

    def __init__(self) -> None:
        self.points = np.empty(1 << 12, np.uint32)
        self.starts = np.zeros(1 << 9, np.int64)
        self.size = 0

    def append(self, words: PackedWords) -> None:
        """Append words to the list."""
        size, n_points = len(words.starts) - 1, int(words.starts[-1])
        end = int(self.starts[self.size])
        self.points = grow_array(self.points, end + n_points)
        self.starts = grow_array(self.starts, self.size + size + 1)
        self.points[end : end + n_points] = words.points[:n_points]
        self.starts[self.size + 1 : self.size + size + 1] = words.starts[1:] + end
        self.size += size

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Return points and starts of all words."""
        return self.points, self.starts[: self.size + 1]


class MeteorVocabulary:
    """Maps words to ids, and ids to code points and stems. It is cleared when it holds more than MAX_WORDS words."""

    def __init__(self, tokenizer: str, lowercase: bool, stemmed: bool) -> None:
        self.tokenizer = make_tokenizer(tokenizer)
        self.lowercase = lowercase
        self.stemmed = stemmed
        self.scratch = Scratch()
        self.vocabulary = Vocabulary()
        self.generation = 0  # increases at every clear, after which ids have new meanings
        self.clear()

    def clear(self) -> None:
        self.generation += 1
        self.vocabulary.clear()
        self.stem_vocabulary = Vocabulary()
        self.words, self.stems, self.lower = PackedWordList(), PackedWordList(), PackedWordList()
        self.stem_ids = np.empty(1 << 9 if self.stemmed else 0, np.int64)

    def encode(self, block: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the ids of a block's words and where those of each text begin, valid until the next call."""
        if isinstance(block, TokenIdBlock):
            raise TypeError("tokens must be strings, because METEOR compares their letters; found integers")
        points, starts, text_tokens = tokenize_block(block, self.tokenizer)
        n_tokens = int(text_tokens[-1])
        if self.vocabulary.size > MAX_WORDS:
            self.clear()
        ids = self.scratch.array("ids", np.int64, n_tokens)
        self.vocabulary.number(points, starts, n_tokens, ids)
        if self.vocabulary.size > self.words.size:
            self.add_words(copy_words(self.vocabulary, self.words.size))
        return ids, text_tokens

    def add_words(self, new: PackedWords) -> None:
        """Store the code points of new words, and their stems."""
        first = self.words.size
        self.words.append(new)
        lower = new
        if not self.lowercase:
            lower = lowercase_words(new)
            self.lower.append(lower)
        if not self.stemmed:
            return
        size = len(new.starts) - 1
        stems = PackedWords(np.empty(int(lower.starts[-1]), np.uint32), np.empty(size + 1, np.int64))
        stem_words(lower.points, lower.starts, 0, size, stems.points, stems.starts)
        self.stem_ids = grow_array(self.stem_ids, first + size)
        self.stem_vocabulary.number(stems.points, stems.starts, size, self.stem_ids[first : first + size])
        if self.stem_vocabulary.size > self.stems.size:
            self.stems.append(copy_words(self.stem_vocabulary, self.stems.size))


def lowercase_words(words: PackedWords) -> PackedWords:
    """Return words in lower case, each converted by itself."""
    coding = f"utf-32-{sys.byteorder[0]}e"
    text = words.points.tobytes().decode(coding, "surrogatepass")
    bounds = words.starts.tolist()
    lower = [text[start:stop].lower() for start, stop in pairwise(bounds)]
    points = np.frombuffer("".join(lower).encode(coding, "surrogatepass"), np.uint32)
    return PackedWords(points, np.cumsum([0, *map(len, lower)], dtype=np.int64))
