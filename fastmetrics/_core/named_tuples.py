"""`NamedTuple`, made in a third of the time: `typing.NamedTuple` compiles the text of every annotation.

The package has some hundred such classes; to compile their annotations was a seventh of the time of an import. To type
checkers it is `typing.NamedTuple`, and it does the same but for this: annotations stay texts, as those of other classes
do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["NamedTuple"]

if TYPE_CHECKING:
    from typing import NamedTuple
else:
    try:
        from _collections import _tuplegetter as field_getter  # `collections` reads fields with it
    except ImportError:
        from operator import itemgetter

        def field_getter(number, doc):
            return property(itemgetter(number), doc=doc)

    class FieldsByName(tuple):
        """The methods of all named tuples."""

        __slots__ = ()

        @classmethod
        def _make(cls, values):
            """The named tuple of these values."""
            made = tuple.__new__(cls, values)
            if len(made) != len(cls._fields):
                raise TypeError(f"Expected {len(cls._fields)} arguments, got {len(made)}")
            return made

        def _replace(self, /, **fields):
            """The same named tuple with other values of some fields."""
            made = self._make(map(fields.pop, self._fields, self))
            if fields:
                raise ValueError(f"Got unexpected field names: {list(fields)!r}")
            return made

        def _asdict(self):
            """The values by the names of the fields."""
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self):
            return f"{type(self).__name__}({', '.join(f'{name}={self[i]!r}' for i, name in enumerate(self._fields))})"

        def __getnewargs__(self):
            return tuple(self)

    class MakeNamedTuple(type):
        """Turns the body of a class into that of a tuple whose items have the names of its annotations."""

        def __new__(cls, name, bases, body):
            if not bases:
                return super().__new__(cls, name, bases, body)
            annotations = body.get("__annotations__", {})
            fields = tuple(annotations)
            defaults = {field: body.pop(field) for field in fields if field in body}
            arguments = "".join(f"{field}, " for field in fields)
            new = eval(
                f"lambda _cls, {arguments}: _tuple_new(_cls, ({arguments}))",
                {"_tuple_new": tuple.__new__, "__builtins__": {}, "__name__": body["__module__"]},
            )
            new.__name__ = "__new__"
            new.__qualname__ = f"{body['__qualname__']}.__new__"
            new.__defaults__ = tuple(defaults.values())
            new.__annotations__ = annotations
            members = {
                "__slots__": (), "__doc__": f"{name}({', '.join(fields)})", "__match_args__": fields, "__new__": new,
                "_fields": fields, "_field_defaults": defaults,
            }  # fmt: skip
            members |= {
                field: field_getter(number, f"Alias for field number {number}") for number, field in enumerate(fields)
            }
            return type(name, (FieldsByName,), members | body)

    class NamedTuple(metaclass=MakeNamedTuple):
        """Base of classes whose annotations are the names of a tuple's items."""
