"""Other libraries, met where installed: a test that calls one of these skips where it is missing, and says so."""

import warnings
from types import ModuleType

import pytest


def peer(name: str) -> ModuleType:
    return pytest.importorskip(name, reason=f"{name} is not installed")


def scikit_learn() -> ModuleType:
    return peer("sklearn.metrics")


def pandas() -> ModuleType:
    return peer("pandas")


def polars() -> ModuleType:
    return peer("polars")


def duckdb() -> ModuleType:
    return peer("duckdb")


def pytrec_eval() -> ModuleType:
    return peer("pytrec_eval")


def ranx() -> ModuleType:
    """Slow to import: it compiles. What it warns of on import and at its first calls is its own affair."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return peer("ranx")
