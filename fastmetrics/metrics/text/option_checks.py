"""Checks of options that several text metrics have."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics.metrics.text.tokens.tokenizers import TOKENIZERS

MAX_ORDER = 255


def check_tokenizer(name: Any) -> None:
    validation.check_option(name, "tokenize", TOKENIZERS)


def check_flags(**flags: Any) -> None:
    """Raise OptionError for the first of these options that is not a bool."""
    for name, flag in flags.items():
        validation.check_flag(flag, name)


def check_number(value: Any, name: str, most: float = math.inf) -> Any:
    """Return a finite number from 0 to `most` as a number of Python; else OptionError."""
    number = value.item() if isinstance(value, np.number) else value
    is_number = isinstance(number, (int, float)) and not isinstance(number, bool)
    if not is_number or not (math.isfinite(number) and 0 <= number <= most):
        bound = "" if most == math.inf else f" and at most {most:g}"
        raise validation.OptionError(f"{name} must be a finite number of at least 0{bound}; found {value!r}")
    return number


def check_order(value: Any, name: str, least: int = 1, most: int = MAX_ORDER) -> int:
    """Return the longest n-gram's length as an int; ValueError unless it is an integer from `least` to `most`."""
    try:
        order = -1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        order = -1
    if not least <= order <= most:
        raise ValueError(f"{name} must be an integer from {least} to {most}; found {value!r}")
    return order
