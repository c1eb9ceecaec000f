"""The answer to keywords that a public function does not have: those that are meant.

`@answers_unknown` stands above a public function or method. A call costs a tenth of a microsecond more; functions that
are compiled with `compile_like` answer by themselves, at a tenth of that.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from functools import wraps
from inspect import CO_VARKEYWORDS
from typing import Any, TypeVar, cast

from fastmetrics._core.calls.words import meant
from fastmetrics._core.suggestions import MOST_SUGGESTED, PUBLIC_MODULES, similar_words
from fastmetrics._core.upper_layers import PUBLIC_NAMES, ask

Function = TypeVar("Function", bound=Callable[..., Any])

INIT = "__init__"


def answers_unknown(function: Function) -> Function:
    """A decorator: unknown keywords are a TypeError that says which ones are meant."""
    if function.__code__.co_flags & CO_VARKEYWORDS:
        raise TypeError(f"{function.__qualname__} takes any keyword, and answers by itself")

    @wraps(function)
    def answering(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except TypeError as error:
            # An error of the call itself: the function has not begun.
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise
            known = parameters_of(function)
            unknown = [word for word in options if word not in known]
            if not unknown:
                raise
            answer = answer_to_unknown(unknown, function, args[0] if args else None)
        raise TypeError(answer)

    return cast(Function, answering)


def parameters_of(function: Callable[..., Any]) -> tuple[str, ...]:
    """The names of the parameters."""
    code = function.__code__
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def answer_to_unknown(words: Iterable[str], function: Callable[..., Any], own: Any = None) -> str:
    """The message for keywords that the function does not have. `own` is the object of a method."""
    known = [name for name in parameters_of(function) if name not in ("self", "cls")]
    title, place = names_of(function, own)
    listed = f"it has {', '.join(known)}" if known else "it takes none"
    where = listed if place is None else f"help({place}) lists them"
    advice = {word: advice_for(word, known, title) for word in words}
    if len(advice) == 1:
        return "".join(f"{title}() has no argument {word!r}; {own or where}" for word, own in advice.items())
    answers = [f"{word!r}: {own}" for word, own in advice.items() if own]
    return "; ".join([f"{title}() has no arguments {', '.join(map(repr, advice))}", *answers, where])


def advice_for(word: str, known: list[str], title: str) -> str:
    """What to type in place of an unknown keyword; empty if nothing is like it."""
    near = meant(word, known)
    if not near and (reason := ask("refusal of keyword", title, word)) is not None:
        return str(reason)
    if not near and "metrics" in known and (line := ask("metric string with", word)) is not None:
        return f"it stands in the metric string: write {line!r}"
    if not near:
        written = {name.lower(): name for name in known}
        near = [written[name] for name in similar_words(word.lower(), written)]
    return f"did you mean {ask_for(near)}?" if near else ""


def ask_for(names: Iterable[str]) -> str:
    return " or ".join(f"{name}=" for name in list(names)[:MOST_SUGGESTED])


def names_of(function: Callable[..., Any], own: Any) -> tuple[str, str | None]:
    """How errors name a function, and where it is found; None if it is not public."""
    owner, _, name = function.__qualname__.rpartition(".")
    if owner:  # a method may be that of a base class
        kind = own if isinstance(own, type) else type(own)
        owner = kind.__name__ if hasattr(kind, name) else owner
        name = owner if name == INIT else f"{owner}.{name}"
    first, package = name.partition(".")[0], function.__module__.split(".")[1]
    if package not in PUBLIC_MODULES and first in PUBLIC_NAMES:
        return name, f"fastmetrics.{name}"
    own_modules = (package, function.__module__.partition(".")[2])
    for module in own_modules if package in PUBLIC_MODULES else PUBLIC_MODULES:
        if first in getattr(sys.modules.get(f"fastmetrics.{module}"), "__all__", ()):
            return f"{module}.{name}", f"fastmetrics.{module}.{name}"
    return name, None
