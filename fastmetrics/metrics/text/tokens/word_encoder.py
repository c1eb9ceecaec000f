"""`WordEncoder`: tokenizes blocks of texts and maps their words to integer ids."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core.columns.row_blocks import Scratch
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.text.tokens.vocabulary import Vocabulary
from fastmetrics.metrics.text.inputs.segments import TokenBlock, TokenIdBlock
from fastmetrics.metrics.text.tokens.tokenizers import Tokenizer

PRETOKENIZED = "given"  # the tokenizer's name, also in signatures, if callers pass lists of tokens
MAX_WORDS = 1 << 13  # words that a vocabulary keeps from block to block; it should stay in cache


def make_tokenizer(name: str) -> Tokenizer | None:
    """Return a new tokenizer for one thread, or None if callers pass lists of tokens."""
    return Tokenizer(name) if name != PRETOKENIZED else None


def tokenize_block(block: Any, tokenizer: Tokenizer | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the token_points, token_starts and text_tokens of a TokenBlock, or of a TextBlock after tokenizing it."""
    if isinstance(block, TokenBlock):
        return block.token_points, block.token_starts, block.text_tokens
    if tokenizer is None:
        raise TypeError("hypotheses are lists of tokens, so references must be, too; found texts")
    return tokenizer.split(block.points, block.offsets)


class PackedWords(NamedTuple):
    """Code points of words: word i is points[starts[i]:starts[i + 1]]."""

    points: np.ndarray
    starts: np.ndarray


def copy_words(vocabulary: Vocabulary, first: int = 0) -> PackedWords:
    """Return the words of a vocabulary from the id `first` on."""
    words = PackedWords(
        np.empty(vocabulary.n_points(first), np.uint32), np.empty(vocabulary.size - first + 1, np.int64)
    )
    vocabulary.copy_words(first, words.points, words.starts)
    return words


def grow_array(array: np.ndarray, length: int) -> np.ndarray:
    """Return the array if it has at least `length` items, else a longer copy."""
    if length <= len(array):
        return array
    longer = np.empty(length + length // 2, array.dtype)
    longer[: len(array)] = array
    return longer


class WordEncoder:
    """One thread's tokenizer and vocabulary. A TokenIdBlock is returned unchanged."""

    def __init__(self, tokenizer: str) -> None:
        self.tokenizer = make_tokenizer(tokenizer)
        self.vocabulary = Vocabulary()
        self.scratch = Scratch()

    def encode(self, block: Any) -> TokenIdBlock:
        """Return the word ids of a block, valid until the next call. Ids of different blocks are not comparable."""
        if isinstance(block, TokenIdBlock):
            return block
        token_points, token_starts, text_tokens = tokenize_block(block, self.tokenizer)
        n_tokens = int(text_tokens[-1])
        if self.vocabulary.size > MAX_WORDS:
            self.vocabulary.clear()
        ids = self.scratch.array("ids", np.int64, n_tokens)
        self.vocabulary.number(token_points, token_starts, n_tokens, ids)
        return TokenIdBlock(ids, text_tokens, block.segments)
