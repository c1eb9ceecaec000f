"""Functions compiled with the parameters of another function, as dataclasses compile `__init__`.

A function that takes *args and **options made `mean_squared_error` on 100 rows slower by a tenth, and by a third with
keywords. So these have the parameters themselves, and take further arguments only to say what is wrong with the call.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, TypeVar, cast

from fastmetrics._core.calls.unknown_keywords import answer_to_unknown

Function = TypeVar("Function", bound=Callable[..., Any])

MISSING: Any = object()  # in place of an argument that the call lacks
IS_WRONG_CALL = "extra or unknown"


def parameter_names(function: Callable[..., Any]) -> tuple[list[str], list[str]]:
    """The names of the parameters: those that may be positional, and those that are given by name only."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    return list(names[: code.co_argcount]), list(names[code.co_argcount :])


def passed_on(function: Callable[..., Any]) -> str:
    """The arguments of a call that passes all parameters on."""
    positional, by_name = parameter_names(function)
    return ", ".join([*positional, *map("{0}={0}".format, by_name)])


def refusal(function: Callable[..., Any]) -> str:
    """Lines that stop a call with unknown keywords, with too many arguments or with too few."""
    positional, by_name = parameter_names(function)
    is_optional = {*positional[len(positional) - len(function.__defaults__ or ()) :], *(function.__kwdefaults__ or ())}
    required = [name for name in (*positional, *by_name) if name not in is_optional]
    wrong = " or ".join([IS_WRONG_CALL, *map("{} is MISSING".format, required)])
    given = ", ".join(f"{name!r}: {name}" for name in (*positional, *by_name))
    return f"    if {wrong}:\n        refuse({{{given}}}, extra, unknown)\n"


def compile_like(function: Function, body: str, what: str, names: dict[str, Any]) -> Function:
    """A function with the parameters, defaults and docstring of another. `body` is its source and may use `names`.

    It begins with `refusal`, or with what needs no check of the call. Tracebacks show the source, in a file called
    `what` and the name of the function.
    """
    positional, by_name = parameter_names(function)
    parameters = ", ".join([*positional, "*extra", *by_name, "**unknown"])
    source = f"def {function.__name__}({parameters}):\n{body}"
    file = f"<{what} {function.__module__}.{function.__qualname__}>"
    defined: dict[str, Any] = {}
    names = names | {"MISSING": MISSING, "refuse": partial(refuse, function), "__name__": function.__module__}
    exec(compile(source, file, "exec"), names, defined)
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    compiled = defined[function.__name__]
    defaults = function.__defaults__ or ()
    compiled.__defaults__ = (*[MISSING] * (len(positional) - len(defaults)), *defaults)
    compiled.__kwdefaults__ = dict.fromkeys(by_name, MISSING) | (function.__kwdefaults__ or {})
    return cast(Function, wraps(function)(compiled))


def refuse(
    function: Callable[..., Any], arguments: dict[str, Any], extra: tuple[Any, ...], unknown: dict[str, Any]
) -> None:
    """Raise the error of a wrong call: that of an unknown keyword, else what Python says of the function."""
    if unknown:
        raise TypeError(answer_to_unknown(unknown, function))
    if extra:
        function(*(arguments[name] for name in parameter_names(function)[0]), *extra)
    function(**{name: value for name, value in arguments.items() if value is not MISSING})


def computed_by(compute: Callable[..., Any]) -> Callable[[Function], Function]:
    """A decorator of functions that have a signature and a docstring, but no body: `compute` gets all arguments."""

    def decorate(function: Function) -> Function:
        body = f"{refusal(function)}    return compute({passed_on(function)})\n"
        return compile_like(function, body, "call of", {"compute": compute})

    return decorate
