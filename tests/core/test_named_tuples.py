"""`NamedTuple` does what `typing.NamedTuple` does, and no module imports the slow one."""

import copy
import inspect
import pickle
import typing

import pytest

from architecture.sources import read, relative, source_files
from fastmetrics._core import named_tuples


class Ours(named_tuples.NamedTuple):
    """A point."""

    x: int
    y: "list[int] | None" = None
    make: float = 0.5

    def total(self):
        return self.x + self.make

    @property
    def twice(self):
        return 2 * self.x

    @classmethod
    def of(cls, x):
        return cls(x)


class Theirs(typing.NamedTuple):
    """A point."""

    x: int
    y: "list[int] | None" = None
    make: float = 0.5

    def total(self):
        return self.x + self.make

    @property
    def twice(self):
        return 2 * self.x

    @classmethod
    def of(cls, x):
        return cls(x)


class Derived(Ours):
    """A class that derives from a named tuple has attributes of its own."""


def test_same_as_typing():
    for make in (lambda own: own(1), lambda own: own(1, make=2), lambda own: own(x=1, y=[2]), lambda own: own.of(3)):
        ours, theirs = make(Ours), make(Theirs)
        assert tuple(ours) == tuple(theirs)
        assert repr(ours) == repr(theirs).replace("Theirs", "Ours")
        assert ours._asdict() == theirs._asdict()
        assert ours._replace(y=4) == theirs._replace(y=4)
        assert (ours.total(), ours.twice, ours.y) == (theirs.total(), theirs.twice, theirs.y)
        assert type(ours._replace(x=2)) is Ours
    for name in ("_fields", "_field_defaults", "__match_args__", "__doc__", "__slots__"):
        assert getattr(Ours, name) == getattr(Theirs, name)
    assert list(inspect.signature(Ours).parameters) == list(inspect.signature(Theirs).parameters)
    assert typing.get_type_hints(Ours) == typing.get_type_hints(Theirs)
    match Ours(1, 2):
        case Ours(x, y):
            assert (x, y) == (1, 2)


def test_errors():
    for wrong in (lambda own: own(), lambda own: own(1, 2, 3, 4), lambda own: own(1, z=2)):
        with pytest.raises(TypeError, match=r"Ours\.__new__"):
            wrong(Ours)
    with pytest.raises(ValueError, match=r"unexpected field names: .*z"):
        Ours(1)._replace(z=2)
    with pytest.raises(TypeError, match="Expected 3 arguments, got 1"):
        Ours._make([1])
    with pytest.raises(AttributeError):
        Ours(1).x = 2
    with pytest.raises(AttributeError):
        Ours(1).z = 2


def test_copies():
    for one in (Ours(1, [2]), Derived(1, [2])):
        for same in (pickle.loads(pickle.dumps(one)), copy.copy(one), copy.deepcopy(one)):
            assert same == one
            assert type(same) is type(one)
    derived = Derived(1)
    derived.more = 2
    assert type(derived._replace(x=3)) is Derived
    assert not hasattr(derived._replace(x=3), "more")


def test_modules_import_the_fast_one():
    importing = [
        relative(path) for path in source_files("fastmetrics", suffixes={".py"})
        if "selfcheck/definitions" not in relative(path)  # copies of oracles, which only the self-check imports
        and "NamedTuple" in read(path) and "from fastmetrics._core.named_tuples import NamedTuple" not in read(path)
    ]  # fmt: skip
    assert importing == ["fastmetrics/_core/named_tuples.py"]
