"""Packages that are extras of fastmetrics: imported at their first use, with a message that says what to type."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

# Where the extra has another name than the package.
EXTRAS = {"pyarrow": "arrow", "sqlglot": "arrow", "deltalake": "lake", "pyiceberg": "lake"}


def import_extra(package: str, user: str) -> Any:
    """Import the package that `user` needs."""
    if (loaded := sys.modules.get(package)) is not None:
        return loaded
    try:
        return import_module(package)
    except ImportError as error:
        extra = EXTRAS.get(package, package)
        raise ImportError(f"{user} needs {package}: pip install 'fastmetrics[{extra}]'") from error


class LazyModule:
    """A module that is imported when one of its names is first read."""

    def __init__(self, name: str) -> None:
        self.__dict__["__name__"] = name

    def __getattr__(self, name: str) -> Any:
        value = self.__dict__[name] = getattr(import_module(self.__dict__["__name__"]), name)
        return value


if TYPE_CHECKING:
    import pyarrow as pyarrow
    from pyarrow import parquet as parquet
    from pyarrow import types as types
else:
    pyarrow = LazyModule("pyarrow")
    parquet = LazyModule("pyarrow.parquet")
    types = LazyModule("pyarrow.types")
