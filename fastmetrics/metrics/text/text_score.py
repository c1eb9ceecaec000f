"""The base class of results: a float with the quantities that it was computed from."""

from __future__ import annotations

from typing import Any, NoReturn, Self


class TextScore(float):
    """A float with attributes: it compares, averages and formats as a number.

    A subclass declares its attributes as annotations, in the order of the arguments that follow the score. Instances
    are immutable. Equality is that of floats; `repr` shows all attributes.
    """

    def __new__(cls, score: float, *parts: Any) -> Self:
        self = super().__new__(cls, score)
        self.__dict__.update(zip(cls.__annotations__, parts, strict=True))
        return self

    @property
    def score(self) -> float:
        """The score as a plain float."""
        return float(self)

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable; found an assignment to {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} is immutable; found a deletion of {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.score, *self.__dict__.values())

    def __repr__(self) -> str:
        parts = "".join(f", {name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}(score={self.score!r}{parts})"
