"""Other libraries. A test that uses one is skipped, with the reason, if it is not installed."""

import warnings
from types import ModuleType
from typing import Any

import pytest


def peer(name: str) -> ModuleType:
    return pytest.importorskip(name, reason=f"{name} is not installed")


def scikit_learn() -> ModuleType:
    return peer("sklearn.metrics")


def check_parity(name: str, *arguments: Any, **options: Any) -> None:
    """A function of scikit-learn and ours agree, as tests/parity says; skipped for other versions of scikit-learn."""
    from support.parity.differences import check

    check(name, *arguments, **options)


def pandas() -> ModuleType:
    return peer("pandas")


def polars() -> ModuleType:
    return peer("polars")


def duckdb() -> ModuleType:
    return peer("duckdb")


def pytrec_eval() -> ModuleType:
    return peer("pytrec_eval")


def ranx() -> ModuleType:
    """ranx, whose own warnings on import are ignored."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return peer("ranx")
