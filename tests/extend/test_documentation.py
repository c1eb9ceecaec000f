"""`help` of what registers metrics names every parameter, and leads to names that are public and documented."""

import inspect
import re

import pytest

import fastmetrics as fm
from fastmetrics import extend
from fastmetrics._core.metric_spec import DIRECTIONS, EXCHANGES, SCALES

ALLOWED = {"exchange": set(EXCHANGES), "direction": set(DIRECTIONS), "scale": set(SCALES), "cutoff": {"required"}}


def parameters_of(function):
    """The parameters that a docstring has: name -> its type and text."""
    text = inspect.getdoc(function).partition("Parameters\n----------\n")[2].partition("\n\nReturns")[0]
    parts = re.split(r"^(\w+) : ", text, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], (own.partition("\n")[::2] for own in parts[1::2]), strict=True))


def test_every_parameter_has_its_type_and_text():
    documented = parameters_of(extend.metric)
    assert list(documented) == list(inspect.signature(extend.metric).parameters)
    for name, (kind, text) in documented.items():
        assert kind.strip()
        assert len(text.split()) > 5, name


@pytest.mark.parametrize("option", ALLOWED)
def test_allowed_values_are_those_that_are_checked(option):
    kind, _ = parameters_of(extend.metric)[option]
    assert set(re.findall(r'"(\w+)"', kind)) == ALLOWED[option]
    given = {"exchange": "none", "statistics": lambda: ()} | {option: "no such value"}
    with pytest.raises(ValueError, match=f"{option} must be") as raised:
        extend.metric("own", **given)
    assert all(value in str(raised.value) for value in ALLOWED[option])


def names_in(text):
    """The names of classes and of what the package has, in single backticks."""
    return set(re.findall(r"(?<!`)`((?:fastmetrics\.|[A-Z])[\w.]+)`(?!`)", text))


def resolved(name):
    """The public object of this name, of `fastmetrics.extend` or of `fastmetrics`."""
    path = name.removeprefix("fastmetrics.").removeprefix("extend.").split(".")
    owner = extend if path[0] in extend.__all__ else fm
    assert path[0] in owner.__all__, f"{name} is not public"
    found = owner
    for part in path:
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("name", [*extend.__all__, "MetricSpec", "MetricTable", "list_metrics"])
def test_help_leads_to_what_is_public(name):
    text = inspect.getdoc(getattr(extend, name, None) or getattr(fm, name))
    for own in names_in(text) - {"fastmetrics.testing", "fastmetrics.metrics"}:
        assert inspect.getdoc(resolved(own)), own


def test_entries_have_every_parameter_as_an_attribute():
    spec = fm.list_metrics()["gauc"]
    for name in inspect.signature(extend.metric).parameters:
        assert hasattr(spec, name)
        assert name in fm.MetricSpec.__annotations__


def test_these_tests_can_fail():
    def function(first, second):
        """Do it.

        Parameters
        ----------
        first : int
            A number, `NoSuchName` of `SomeBase.method`, not ``Code``.

        Returns
        -------
        int
        """

    (first,) = parameters_of(function).items()
    assert first == ("first", ("int", "    A number, `NoSuchName` of `SomeBase.method`, not ``Code``."))
    assert names_in(function.__doc__) == {"NoSuchName", "SomeBase.method"}
    with pytest.raises(AssertionError, match="NoSuchName is not public"):
        resolved("NoSuchName")
