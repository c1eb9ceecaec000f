"""Annotations of public functions as types: sources import their types for type checkers alone."""

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Any, Literal, NamedTuple, get_args, get_origin

from numpydoc.docscrape import NumpyDocString

import fastmetrics


class Option(NamedTuple):
    """A parameter of a public function or method, with its type and what its docstring says of the type."""

    owner: str
    name: str
    hint: Any
    documented: str
    default: Any

    @property
    def named_values(self) -> set[Any]:
        """The values of the Literals in its type."""
        return set(values_of_literals(self.hint))

    @property
    def documented_values(self) -> set[Any]:
        """The values between quotes, and the numbers between braces beside them."""
        values: set[Any] = set(re.findall(r'"([^"]+)"', self.documented))
        if values and (braces := re.search(r"\{([^}]*)\}", self.documented)):
            values |= {int(number) for number in re.findall(r"\b\d+\b", re.sub(r'"[^"]*"', "", braces[1]))}
        return values


def values_of_literals(hint: Any) -> Iterator[Any]:
    if get_origin(hint) is Literal:
        yield from get_args(hint)
    else:
        for argument in get_args(hint):
            yield from values_of_literals(argument)


def parts_of(hint: Any) -> Iterator[Any]:
    """A type and everything between its brackets, without the shape of an array."""
    yield hint
    if get_origin(hint) is Literal:
        return
    arguments = get_args(hint)
    for argument in arguments[1:] if getattr(get_origin(hint), "__name__", "") == "ndarray" else arguments:
        for own in argument if isinstance(argument, list) else [argument]:
            yield from parts_of(own)


def public_callables() -> Iterator[tuple[str, Callable[..., Any], str]]:
    """Every public function and method: its name, itself, and the docstring that has its parameters."""
    for name in sorted(fastmetrics.__all__):
        item = getattr(fastmetrics, name)
        if inspect.isfunction(item):
            yield name, item, item.__doc__ or ""
        elif inspect.isclass(item):
            yield from public_methods(name, item)


def public_methods(name: str, owner: type) -> Iterator[tuple[str, Callable[..., Any], str]]:
    for own, member in vars(owner).items():
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        if inspect.isfunction(function) and (not own.startswith("_") or own in ("__init__", "__getitem__")):
            yield f"{name}.{own}", function, (owner.__doc__ if own == "__init__" else function.__doc__) or ""


@cache
def names_for_checkers(module: str) -> dict[str, Any]:
    """What a module imports under TYPE_CHECKING. A package that is not installed is Any."""
    tree = ast.parse(inspect.getsource(import_module(module)))
    blocks = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    names: dict[str, Any] = {}
    for node in (node for block in blocks for node in block.body):
        try:
            exec(compile(ast.Module([node], []), module, "exec"), names)
        except ImportError:
            names |= {alias.asname or alias.name: Any for alias in node.names}
    return names


def evaluated(annotation: Any, function: Callable[..., Any]) -> Any:
    if not isinstance(annotation, str):
        return annotation
    function = inspect.unwrap(function)
    return eval(annotation, {**names_for_checkers(function.__module__), **function.__globals__})


def options_of(name: str, function: Callable[..., Any], docstring: str) -> Iterator[Option]:
    documented = {
        own.strip().lstrip("*"): parameter.type
        for parameter in NumpyDocString(inspect.cleandoc(docstring))["Parameters"]
        for own in parameter.name.split(",")
    }
    for own in inspect.signature(function).parameters.values():
        if own.annotation is not own.empty:
            yield Option(name, own.name, evaluated(own.annotation, function), documented.get(own.name, ""), own.default)


@cache
def public_options() -> tuple[Option, ...]:
    """Every parameter of every public function and method."""
    return tuple(
        option for name, function, docstring in public_callables() for option in options_of(name, function, docstring)
    )


def return_types() -> Iterator[tuple[str, Any]]:
    for name, function, _ in public_callables():
        yield name, evaluated(inspect.signature(function).return_annotation, function)
