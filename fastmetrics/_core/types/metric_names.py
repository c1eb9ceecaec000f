"""`Metric.ndcg(k=10, gain="exp2")`: every metric as a method of its name, whose options a type checker knows.

`metric_names.pyi` lists the metrics of this library with their options and columns; `python tools/generate.py` writes
it from the registry. At run time every registered metric is there, those of plugins too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class MetricNames(type):
    """The type of `Metric`. The metrics are its attributes, so that an instance does not have them."""

    def __getattr__(cls, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
        constructor: Callable[..., Any] = cls.constructor(name)
        return constructor

    def __dir__(cls) -> list[str]:
        return sorted({*super().__dir__(), *cls.names()})
