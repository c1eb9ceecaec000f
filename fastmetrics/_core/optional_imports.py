"""Packages that are extras of fastmetrics: imported at their first use, with a message that says what to type."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

# What pip calls this project. Another project has the name of the import on the package index.
DISTRIBUTION = "fastmetrics-engine"
# Where the extra has another name than the package.
EXTRAS = {
    "pyarrow": "arrow", "sqlglot": "arrow", "scipy": "stats", "matplotlib": "plot", "deltalake": "lake",
    "pyiceberg": "lake",
}  # fmt: skip


def install_command(extra: str) -> str:
    """What to type for the packages of an extra."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"


def import_extra(module: str, user: str) -> Any:
    """Import the module, of a package of an extra, that `user` needs."""
    if (loaded := sys.modules.get(module)) is not None:
        return loaded
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        command = install_command(EXTRAS.get(package, package))
        raise ImportError(f"{user} needs {package}: {command}") from error


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
