"""A number with attributes: a float that also has what it was found with, such as its threshold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn, Self, TypeVar

Number = TypeVar("Number", bound="NumberWithParts")
new_float = float.__new__
set_part = object.__setattr__


class NumberWithParts(float):
    """A float with attributes: it compares, averages and formats as a number.

    A subclass declares its attributes as annotations, in the order of the arguments that follow the number. Instances
    are immutable; pickles and copies keep the attributes. Equality is that of floats; `repr` shows all attributes.
    """

    __slots__ = ()

    def __new__(cls, value: float, *parts: Any) -> Self:
        self = super().__new__(cls, value)
        for name, part in zip(cls.__annotations__, parts, strict=True):
            set_part(self, name, part)
        return self

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable; found an assignment to {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable; found a deletion of {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (float(self), *(getattr(self, name) for name in self.__annotations__))

    def __repr__(self) -> str:
        parts = "".join(f", {name}={getattr(self, name)!r}" for name in self.__annotations__)
        return f"{type(self).__name__}({float(self)!r}{parts})"

    def __str__(self) -> str:
        return repr(float(self))


def maker(kind: type[Number], part: str) -> Callable[[float, Any], Number]:
    """A function that makes numbers of a class with one part, a slot, in a seventh of the time: for small calls."""
    set_slot = vars(kind)[part].__set__

    def make(value: float, only: Any) -> Number:
        number = new_float(kind, value)
        set_slot(number, only)
        return number

    return make
