"""Results that cannot be changed: dicts, and objects with slots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn


class FrozenDict(dict[str, Any]):
    """A dict that cannot be changed; dicts inside become frozen copies, NumPy's scalars Python's."""

    def __init__(self, content: Mapping[str, Any]) -> None:
        super().__init__({key: _frozen(value) for key, value in content.items()})

    def _refuse(self, *arguments: object, **options: object) -> NoReturn:
        raise TypeError("a result cannot be changed; copy with dict(...)")

    __setitem__ = __delitem__ = __ior__ = update = setdefault = pop = popitem = clear = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenDict, (dict(self),)


def _frozen(value: Any) -> Any:
    if isinstance(value, Mapping):
        return FrozenDict(value)
    return value.item() if hasattr(value, "dtype") and hasattr(value, "item") else value


NOTHING = FrozenDict({})


class Fixed:
    """Slots that are set once, by `__init__` or by unpickling. Not a dataclass: those double the time of the import."""

    __slots__ = ()

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} cannot be changed")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a {type(self).__name__} cannot be changed")

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        self._set(**state[1])
