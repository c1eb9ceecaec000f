"""Other libraries, met where installed: a test that calls one of these skips where it is missing, and says so."""

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
