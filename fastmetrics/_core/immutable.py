"""Immutable results: dicts, and objects with slots that are equal if their content is equal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn


class FrozenDict(dict[str, Any]):
    """An immutable dict. Nested dicts become immutable copies, and NumPy scalars become Python scalars."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        super().__init__({key: _frozen(value) for key, value in content.items()})

    def _raise_immutable(self, *arguments: object, **options: object) -> NoReturn:
        raise TypeError("a result cannot be changed; copy with dict(...)")

    __setitem__ = __delitem__ = __ior__ = update = setdefault = pop = popitem = clear = _raise_immutable

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)


def _frozen(value: Any) -> Any:
    if isinstance(value, Mapping):
        return FrozenDict(value)
    return value.item() if hasattr(value, "dtype") and hasattr(value, "item") else value


EMPTY = FrozenDict({})


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
        return self._content() == other._content() if isinstance(other, type(self)) else NotImplemented

    def _content(self) -> tuple[object, ...]:
        """The values of all slots but `seconds`. Two undefined values are equal, although NaN does not equal itself."""
        return self._content_without("seconds")

    def _content_without(self, *left_out: str) -> tuple[object, ...]:
        """The values of all slots but some."""
        slots = (name for own in type(self).__mro__ for name in vars(own).get("__slots__", ()))
        names = [name for name in slots if name not in left_out]
        values = [getattr(self, name) for name in names]
        return tuple("undefined" if isinstance(value, float) and value != value else value for value in values)

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        self._set(**state[1])
