"""Options that several metrics of text take, checked."""

from __future__ import annotations

import operator
from typing import Any

from fastmetrics._core import inputs
from fastmetrics.metrics.text.tokenizers import TOKENIZERS

MOST_ORDER = 255


def check_tokenizer(name: Any, argument: str = "tokenize") -> None:
    inputs.check_option(name, argument, tuple(TOKENIZERS))


def check_order(value: Any, name: str, least: int = 1, most: int = MOST_ORDER) -> int:
    """The greatest length of n-grams: an integer from `least` to `most`."""
    try:
        order = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        order = -1
    if not least <= order <= most:
        raise ValueError(f"{name} must be an integer from {least} to {most}; found {value!r}")
    return order
