"""Scores that are numbers and know what they are made of."""

from __future__ import annotations

from typing import Any, NoReturn, Self


class TextScore(float):
    """A float with parts: compared, averaged and formatted as a number, with attributes that tell how it came about.

    A subclass names its parts as annotations, in the order of the arguments that follow the score. Nothing of it can be
    changed. Equality is that of floats; `repr` shows all parts.
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
        raise AttributeError(f"{type(self).__name__} cannot be changed; found an assignment to {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{type(self).__name__} cannot be changed; found a deletion of {name!r}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.score, *self.__dict__.values())

    def __repr__(self) -> str:
        parts = "".join(f", {name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}(score={self.score!r}{parts})"
