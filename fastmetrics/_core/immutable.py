"""Immutable results: dicts, and objects with slots that are equal if their content is equal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn, Self

PLAIN_TYPES = frozenset({bool, float, int, str, tuple, type(None)})  # of most values, which stay as they are


class FrozenDict(dict[str, Any]):
    """An immutable dict. Nested dicts become immutable copies, and NumPy scalars become Python scalars."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        super().__init__(content)
        for key, value in content.items():
            if type(value) not in PLAIN_TYPES:
                dict.__setitem__(self, key, _frozen(value))

    def _raise_immutable(self, *arguments: object, **options: object) -> NoReturn:
        raise TypeError("a result cannot be changed; copy with dict(...)")

    __setitem__ = __delitem__ = __ior__ = update = setdefault = pop = popitem = clear = _raise_immutable

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)


def freeze(content: Mapping[str, Any]) -> FrozenDict:
    """An immutable dict of the same content, which it may be itself."""
    return content if type(content) is FrozenDict else FrozenDict(content)


def _frozen(value: Any) -> Any:
    if isinstance(value, Mapping):
        return freeze(value)
    return value.item() if hasattr(value, "dtype") and hasattr(value, "item") else value


EMPTY = FrozenDict({})


def equal_contents(first: Any, second: Any) -> bool:
    """Are two contents equal? Two undefined values are, although NaN does not equal itself."""
    try:
        if first == second:
            return True
    except ValueError:  # arrays, which have no single truth
        pass
    return bool(comparable(first) == comparable(second))


def comparable(value: Any) -> Any:
    """The value with a text for every NaN in it, also in tuples, lists and mappings; arrays as lists."""
    if isinstance(value, float):
        return value if value == value else "undefined"
    if isinstance(value, (tuple, list)):
        return [comparable(inner) for inner in value]
    if isinstance(value, Mapping):
        return {comparable(key): comparable(inner) for key, inner in value.items()}
    return comparable(value.tolist()) if hasattr(value, "tolist") else value


class Immutable:
    """A class with slots that only `__init__` and unpickling set. A dataclass would double the import time."""

    __slots__ = ()

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} cannot be changed")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} cannot be changed")

    def __eq__(self, other: object) -> bool:
        return equal_contents(self._content(), other._content()) if isinstance(other, type(self)) else NotImplemented

    def _slot_names(self) -> list[str]:
        return [name for own in type(self).__mro__ for name in vars(own).get("__slots__", ())]

    def _replace(self, **values: Any) -> Self:
        """The same object with other values in some slots."""
        new = object.__new__(type(self))
        new._set(**{name: getattr(self, name) for name in self._slot_names()} | values)
        return new

    def _content(self) -> tuple[object, ...]:
        """What makes two of them equal: the values of all slots but `seconds`."""
        return self._content_without("seconds")

    def _content_without(self, *left_out: str) -> tuple[object, ...]:
        """The values of all slots but some."""
        return tuple(getattr(self, name) for name in self._slot_names() if name not in left_out)

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        self._set(**state[1])
