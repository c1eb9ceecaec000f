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


class WordReader:
    """One thread's way from text blocks to word blocks; blocks of tokens pass through."""

    def __init__(self, tokenizer: str) -> None:
        self.tokenizer = Tokenizer(tokenizer) if tokenizer != GIVEN else None
        self.vocabulary = Vocabulary()
        self.scratch = Scratch()

    def read(self, block: Any) -> WordBlock:
        """The words of a block, good until the next is read. Numbers are those of this block alone."""
        if isinstance(block, WordBlock):
            return block
        if isinstance(block, TokenBlock):
            token_points, token_starts, text_tokens, segments = block
        elif self.tokenizer is None:
            raise TypeError("texts came where tokens were to be given")
        else:
            segments = block.segments
            token_points, token_starts, text_tokens = self.tokenizer.split(block.points, block.offsets)
        n_tokens = int(text_tokens[-1])
        if self.vocabulary.size > MOST_WORDS:
            self.vocabulary.clear()
        ids = self.scratch.take("ids", np.int64, n_tokens)
        self.vocabulary.number(token_points, token_starts, n_tokens, ids)
        return WordBlock(ids, text_tokens, segments)
