"""Packages that are extras of fastmetrics: imported at their first use, with a message that says what to type.

So it is with a package that is older than what pyproject.toml asks for: it would end in an error of its own, far from
its cause. `LEAST_VERSIONS` repeats pyproject.toml, because reading the metadata of packages takes milliseconds.
"""

from __future__ import annotations

import re
import sys
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

# What pip calls this project. Another project has the name of the import on the package index.
DISTRIBUTION = "fastmetrics-engine"
# Where the extra has another name than the package.
EXTRAS = {
    "pyarrow": "arrow", "sqlglot": "arrow", "typer": "cli", "rich": "cli", "scipy": "stats", "matplotlib": "plot",
    "deltalake": "lake", "pyiceberg": "lake", "pyspark": "spark",
}  # fmt: skip
LEAST_VERSIONS = {
    "numpy": "2.0", "pyarrow": "19.0.1", "sqlglot": "28.0", "typer": "0.20", "rich": "13", "pandas": "2.2.2",
    "polars": "1.25.2", "duckdb": "1.0", "pyspark": "4.0", "scipy": "1.13", "matplotlib": "3.9", "deltalake": "1.4.2",
    "pyiceberg": "0.9", "ray": "2.44", "dask": "2025.1",
}  # fmt: skip


def install_command(extra: str) -> str:
    """What to type for the packages of an extra."""
    return f"pip install '{DISTRIBUTION}[{extra}]'"


def import_extra(module: str, user: str) -> Any:
    """Import the module, of a package of an extra, that `user` needs."""
    package = module.partition(".")[0]
    loaded = sys.modules.get(module)
    if loaded is None:
        try:
            loaded = import_module(module)
        except ImportError as error:
            check_version(package, user)  # some packages that are too old cannot be imported beside newer ones
            raise ImportError(f"{user} needs {package}: {install_command(EXTRAS.get(package, package))}") from error
    check_version(package, user)
    return loaded


def library_of(value: object) -> str:
    """The name of the package that an object's class is of."""
    return type(value).__module__.partition(".")[0]


def check_version(package: str, user: str) -> None:
    """Raise an ImportError that says what to type if the package that is loaded is older than what is needed."""
    if (found := old_version(package)) is not None:
        command = install_command(EXTRAS.get(package, package))
        raise ImportError(f"{user} needs {package} {LEAST_VERSIONS[package]} or later; {found} is installed: {command}")


def old_version(package: str) -> str | None:
    """The version of a loaded package, if it is too old."""
    if package not in LEAST_VERSIONS:
        return None
    found = getattr(sys.modules.get(package), "__version__", None)
    if not isinstance(found, str):
        return None
    return found if version_key(found) < version_key(LEAST_VERSIONS[package]) else None


@lru_cache(maxsize=64)
def version_key(version: str) -> tuple[int, ...]:
    """The numbers of a release, for comparison: 2.0 and 2.0.0 are the same."""
    numbers = [int(number) for number in re.findall(r"\d+", re.split(r"[^\d.]", version)[0])]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


class LazyModule:
    """A module that is imported when one of its names is first read."""

    def __init__(self, name: str) -> None:
        self.__dict__["__name__"] = name

    def __getattr__(self, name: str) -> Any:
        value = self.__dict__[name] = getattr(import_module(self.__dict__["__name__"]), name)
        return value


if TYPE_CHECKING:
    import pyarrow as pyarrow
    from pyarrow import compute as compute
    from pyarrow import fs as fs
    from pyarrow import parquet as parquet
    from pyarrow import types as types
else:
    pyarrow = LazyModule("pyarrow")
    compute = LazyModule("pyarrow.compute")
    fs = LazyModule("pyarrow.fs")
    parquet = LazyModule("pyarrow.parquet")
    types = LazyModule("pyarrow.types")
