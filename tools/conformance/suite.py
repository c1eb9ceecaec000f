"""What an adaptor says of its library's tests."""

from __future__ import annotations

import functools
import importlib.metadata
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

Replace = Callable[["Calls"], int]


class Suite(NamedTuple):
    """Tests of a library, and how fastmetrics takes the place of its functions.

    Attributes
    ----------
    library : str
        The distribution with the library, by its name on PyPI.
    source : {"installed", "sdist", "git"}
        Where the tests are: in the installed package, in its source distribution, or only in its repository.
    repository : str
        The repository: what `git clone` takes.
    files : tuple of str
        Test files or folders, below the folder of the tests' source.
    requirements : tuple of str
        What the tests need.
    replace : callable
        Puts our functions in place of the library's. It returns how many.
    explained : mapping of str to str
        The name of a test, without its parameters: why it fails. Any other failure is an error.
    versions : tuple of str
        Distributions whose versions stand beside the counts.
    """

    library: str
    source: str
    repository: str
    files: tuple[str, ...]
    requirements: tuple[str, ...]
    replace: Replace
    explained: Mapping[str, str] = {}
    deselect: tuple[str, ...] = ()

    def version(self) -> str:
        return importlib.metadata.version(self.library)


class Calls:
    """Notes whether a replaced function was called: tests that call none are not counted."""

    def __init__(self, plain: bool = False) -> None:
        self.plain = plain
        self.used = False

    def counted(self, theirs: Callable[..., Any], ours: Callable[..., Any]) -> Callable[..., Any]:
        """Our function, or with `plain` theirs, which notes each call; with the name and module of theirs."""
        function = theirs if self.plain else ours

        @functools.wraps(function)
        def call(*args: Any, **options: Any) -> Any:
            self.used = True
            return function(*args, **options)

        call.__module__ = theirs.__module__
        return call

    def replace(self, owner: Any, name: str, ours: Callable[..., Any]) -> int:
        """Replace an attribute of a module or class."""
        setattr(owner, name, self.counted(getattr(owner, name), ours))
        return 1
