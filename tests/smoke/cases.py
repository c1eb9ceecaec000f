"""What the tables of cases share: tolerances, and values that `==` compares."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

# The name of a public function or class, a call of it, and the value that the call must return.
Case = tuple[str, Callable[[Any], Any], Any]
# The call also takes a folder to write files in.
FileCase = tuple[str, Callable[[Any, Path], Any], Any]


def near(value: Any) -> Any:
    """A value that plain Python computes: the last digits may differ, for it rounds after each operation."""
    return pytest.approx(value, rel=1e-12, abs=0)


def published(value: float, digits: int) -> Any:
    """A published value with so many decimals."""
    return pytest.approx(value, rel=0, abs=0.51 * 10**-digits)


def plain(value: Any) -> Any:
    """The value with lists in place of arrays."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, list):
        return list(map(plain, value))
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return value


def of_type(kind: type, value: Any) -> Any:
    """The value, if its type is the class of the case."""
    if type(value) is not kind:
        raise TypeError(f"expected {kind.__name__}, found {type(value).__name__}")
    return value
