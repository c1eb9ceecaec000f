"""Texts to words as numbers: a tokenizer and the vocabulary of one thread."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core.rows import Scratch
from fastmetrics._kernels.words import Vocabulary
from fastmetrics.metrics.text.segments import TokenBlock, WordBlock
from fastmetrics.metrics.text.tokenizers import Tokenizer

GIVEN = "given"  # stands for the tokenizer where texts came as tokens
MOST_WORDS = 1 << 13  # what a vocabulary may remember from block to block: it should stay in cache


def open_tokenizer(name: str) -> Tokenizer | None:
    """The tokenizer of a thread; none where tokens are given."""
    return Tokenizer(name) if name != GIVEN else None


def tokens_of(block: Any, tokenizer: Tokenizer | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """token_points, token_starts and text_tokens of a block of tokens, or of one of texts by the tokenizer."""
    if isinstance(block, TokenBlock):
        return block.token_points, block.token_starts, block.text_tokens
    if tokenizer is None:
        raise TypeError("texts came where tokens were to be given")
    return tokenizer.split(block.points, block.offsets)


class WordReader:
    """One thread's way from text blocks to word blocks; blocks of tokens pass through."""

    def __init__(self, tokenizer: str) -> None:
        self.tokenizer = open_tokenizer(tokenizer)
        self.vocabulary = Vocabulary()
        self.scratch = Scratch()

    def read(self, block: Any) -> WordBlock:
        """The words of a block, good until the next is read. Numbers are those of this block alone."""
        if isinstance(block, WordBlock):
            return block
        token_points, token_starts, text_tokens = tokens_of(block, self.tokenizer)
        n_tokens = int(text_tokens[-1])
        if self.vocabulary.size > MOST_WORDS:
            self.vocabulary.clear()
        ids = self.scratch.take("ids", np.int64, n_tokens)
        self.vocabulary.number(token_points, token_starts, n_tokens, ids)
        return WordBlock(ids, text_tokens, block.segments)
