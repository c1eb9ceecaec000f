"""Flat names for the numbers of a report or comparison, as experiment trackers accept them.

The rule is MLflow's: letters, digits and ``_-. /:``, at most 250 characters, a path without empty parts.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from fastmetrics._core.named_tuples import NamedTuple

MAX_LENGTH = 250
LONGEST_SUFFIX = len(".adjusted_pvalue")
HASH_DIGITS = 8
LONGEST_METRIC = 100
NULL = "null"


class NamedNumbers(NamedTuple):
    """Numbers of one metric: of which columns or models, of which slice, and each number by the end of its name."""

    metric: str
    models: Mapping[str, str | None]
    slice: Mapping[str, Any]
    numbers: Mapping[str, float | None]


def flat_metrics(entries: Iterable[NamedNumbers]) -> dict[str, float]:
    """Name -> number, without undefined ones. Models are in the names if there are several."""
    found = list(entries)
    several = [
        role
        for role in dict.fromkeys(role for own in found for role in own.models)
        if len({own.models.get(role) for own in found}) > 1
    ]
    names = [entry_name(own, several) for own in found]
    uses = Counter(name + suffix for name, own in zip(names, found, strict=True) for suffix in own.numbers)
    metrics = {}
    for name, own in zip(names, found, strict=True):
        if any(uses[name + suffix] > 1 for suffix in own.numbers):
            name = f"{name}-{short_hash(repr((own.metric, own.models, own.slice)))}"
        for suffix, number in own.numbers.items():
            if number is not None and not math.isnan(number):
                metrics[name + suffix] = float(number)
    return metrics


def entry_name(entry: NamedNumbers, several: Iterable[str]) -> str:
    """Models, slice and metric as the parts of a path. The metric is the last: a tracker may store paths as folders, in
    which the name of one number cannot be the folder of another.
    """
    models = [(role, entry.models.get(role)) for role in several]
    parts = [f"{key}.{value_text(value)}" for key, value in (*models, *entry.slice.items())]
    metric = shortened(metric_name(entry.metric), LONGEST_METRIC, entry.metric)
    folder = "/".join(map(path_part, parts))
    remaining = MAX_LENGTH - LONGEST_SUFFIX - HASH_DIGITS - 2 - len(metric)
    return f"{shortened(folder, remaining, '/'.join(parts))}/{metric}" if parts else metric


def shortened(name: str, length: int, whole: str) -> str:
    """The name, or its beginning with a hash of the `whole` that it is made of."""
    return name if len(name) <= length else f"{name[: length - HASH_DIGITS - 1]}-{short_hash(whole)}"


def metric_name(metric: str) -> str:
    """A metric string in allowed signs: "ndcg(gain=exp2)@10" is "ndcg.gain_exp2_at_10"."""
    text = re.sub(r"[\s'\"\[\]{})]", "", metric.replace("@", "_at_"))
    text = re.sub(r"[(,]+", ".", text).replace("=", "_")
    return re.sub(r"[._]*\.[._]*", ".", re.sub(r"[^A-Za-z0-9_.\-]", "_", text)).strip(".")


def path_part(text: str) -> str:
    """A column and its value in allowed signs. Where a sign was replaced, a hash of the original follows."""
    from unicodedata import normalize

    plain = "".join(sign for sign in normalize("NFKD", text) if sign.isascii() or sign.isalnum())
    part = re.sub(r"[^A-Za-z0-9_.\-: ]", "_", plain).strip(" ")
    return part if part == text else f"{part}-{short_hash(text)}"


def value_text(value: Any) -> str:
    """The value of a slice as text."""
    if value is None:
        return NULL
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def short_hash(text: str) -> str:
    from hashlib import sha256  # it loads OpenSSL, which takes milliseconds

    return sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:HASH_DIGITS]
