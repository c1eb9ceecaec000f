"""Options that several metrics of text take, checked."""

from __future__ import annotations

import operator
from typing import Any

from fastmetrics._core import inputs
from fastmetrics.metrics.text.tokenizers import TOKENIZERS

MOST_ORDER = 255


def check_tokenizer(name: Any, argument: str = "tokenize") -> None:
    inputs.check_option(name, argument, tuple(TOKENIZERS))


def check_order(value: Any, name: str, least: int = 1) -> int:
    """The greatest length of n-grams: an integer of at least `least`, below 256."""
    try:
        order = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        order = -1
    if not least <= order <= MOST_ORDER:
        raise ValueError(f"{name} must be an integer from {least} to {MOST_ORDER}; found {value!r}")
    return order
