"""Functions compiled with the parameters of another function, as dataclasses compile `__init__`.

A function that takes *args and **options made `mean_squared_error` on 100 rows slower by a tenth, and by a third with
keywords.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])


def parameter_names(function: Callable[..., Any]) -> tuple[list[str], list[str]]:
    """The names of the parameters: those that may be positional, and those that are given by name only."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return list(names[: code.co_argcount]), list(names[code.co_argcount :])


def passed_on(function: Callable[..., Any]) -> str:
    """The arguments of a call that passes all parameters on."""
    positional, by_name = parameter_names(function)
    return ", ".join([*positional, *map("{0}={0}".format, by_name)])


def compile_like(function: Function, body: str, what: str, names: dict[str, Any]) -> Function:
    """A function with the parameters, defaults and docstring of another. `body` is its source and may use `names`.

    Tracebacks show the source, in a file called `what` and the name of the function.
    """
    positional, by_name = parameter_names(function)
    parameters = ", ".join([*positional, *(["*"] if by_name else []), *by_name])
    source = f"def {function.__name__}({parameters}):\n{body}"
    file = f"<{what} {function.__module__}.{function.__qualname__}>"
    defined: dict[str, Any] = {}
    exec(compile(source, file, "exec"), names | {"__name__": function.__module__}, defined)
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    compiled = defined[function.__name__]
    compiled.__defaults__, compiled.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return cast(Function, wraps(function)(compiled))


def computed_by(compute: Callable[..., Any]) -> Callable[[Function], Function]:
    """A decorator of functions that have a signature and a docstring, but no body: `compute` gets all arguments."""

    def decorate(function: Function) -> Function:
        body = f"    return compute({passed_on(function)})\n"
        return compile_like(function, body, "call of", {"compute": compute})

    return decorate
