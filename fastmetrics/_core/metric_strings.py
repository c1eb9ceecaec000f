"""Metric strings as text: their parts, the keywords in their parentheses, and how values are written.

Metric strings look like "auc", "gauc(weight=pairs)" or "ndcg(gain=exp2)@10". Only literals and bare words are read.
"""

from __future__ import annotations

import ast
import re
from typing import Any

# The patterns are compiled at their first use: an import has nothing to parse.
METRIC_STRING = r"(?s)\s*([A-Za-z_][A-Za-z0-9_-]*)\s*(?:\((.*)\))?\s*(?:@\s*([0-9]+))?\s*"
GREATEST_CUTOFF = 2**63 - 1  # what kernels can hold
WORD = r"[A-Za-z_][A-Za-z0-9_]*"
WORD_OR_QUANTILE = rf"{WORD}(?:\.[0-9]+)?"  # also p99.9
BARE_WORD = rf"(=\s*)({WORD_OR_QUANTILE})(?=\s*(?:,|$))"
BARE_LIST = r"(=\s*\[)([^\]'\"]*)(?=\])"
LITERAL_WORDS = ("True", "False", "None")


def format_value(value: Any) -> str:
    """A parameter's value as metric strings write it: words without quotes."""
    is_word = isinstance(value, str) and re.fullmatch(WORD_OR_QUANTILE, value) and value not in LITERAL_WORDS
    return value if is_word else repr(value)


def format_columns(names: tuple[str, ...]) -> str:
    """Columns as metric strings write them: one name, or a list."""
    formatted = [format_value(name) for name in names]
    if formatted != list(names):  # a list is of bare words, or of quoted texts
        formatted = [repr(name) for name in names]
    return formatted[0] if len(formatted) == 1 else f"[{', '.join(formatted)}]"


def quote(word: str) -> str:
    """A bare word as a Python literal."""
    return word if word in LITERAL_WORDS else repr(word)


def quote_list(match: re.Match[str]) -> str:
    """The bare words of a list as Python literals."""
    return match[1] + re.sub(WORD, lambda word: quote(word[0]), match[2])


def read_keywords(inside: str, text: str) -> dict[str, ast.expr]:
    """The keywords inside the parentheses of a metric string, each with what is written after it."""
    # Bare words are strings; some of them are Python keywords ("raise").
    inside = re.sub(BARE_LIST, quote_list, inside)
    inside = re.sub(BARE_WORD, lambda match: match[1] + quote(match[2]), inside)
    try:
        call = ast.parse(f"f({inside})", mode="eval").body
    except SyntaxError:
        call = None
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
        raise ValueError(f"cannot read the parameters of {text!r}; write them as name=value")
    keywords: dict[str, ast.expr] = {}
    for keyword in call.keywords:
        if keyword.arg in keywords:
            raise ValueError(f"{keyword.arg} is given twice in {text!r}")
        keywords[str(keyword.arg)] = keyword.value
    return keywords


def read_columns(role: str, value: Any, text: str, several: bool) -> tuple[str, ...]:
    """The columns of a role: one name, or `several` if it may have them."""
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, (list, tuple)) or not names or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{role} in {text!r} must be the name of a column; found {value!r}")
    if len(names) > 1 and not several:
        raise ValueError(f"{role} in {text!r} must be one column; found {len(names)}")
    return tuple(dict.fromkeys(names))
