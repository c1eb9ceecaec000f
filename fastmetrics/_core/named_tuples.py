"""`NamedTuple` without what `typing.NamedTuple` does most of the time: it compiles the text of every annotation.

The first function makes fifty such classes, the first `evaluate` 240. `typing` takes 3 of 28 ms and 15 of 500 ms more
for them than `collections.namedtuple`. To type checkers it is `typing.NamedTuple`; here annotations stay texts, as
those of other classes do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["NamedTuple"]

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    from collections import namedtuple

    class MakeNamedTuple(type):
        """Turns the body of a class into that of a tuple whose items have the names of its annotations."""

        def __new__(cls, name, bases, body):
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = body.get("__annotations__", {})
            defaults = [body.pop(field) for field in fields if field in body]
            made = namedtuple(name, fields, defaults=defaults, module=body["__module__"])
            for member, value in body.items():
                setattr(made, member, value)
            return made

    class NamedTuple(metaclass=MakeNamedTuple):
        """Base of classes whose annotations are the names of a tuple's items."""
