"""Checks of options that several text metrics have."""

from __future__ import annotations

import operator
from typing import Any

from fastmetrics._core.columns import validation
from fastmetrics.metrics.text.tokens.tokenizers import TOKENIZERS

MAX_ORDER = 255


def check_tokenizer(name: Any, argument: str = "tokenize") -> None:
    validation.check_option(name, argument, TOKENIZERS)


def check_order(value: Any, name: str, least: int = 1, most: int = MAX_ORDER) -> int:
    """Return the longest n-gram's length as an int; ValueError unless it is an integer from `least` to `most`."""
    try:
        order = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        order = -1
    if not least <= order <= most:
        raise ValueError(f"{name} must be an integer from {least} to {most}; found {value!r}")
    return order
