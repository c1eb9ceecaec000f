"""The contract of statistics (`_core/statistic.py`): abilities are bases asked for by `isinstance`; none is guessed."""

import ast
import inspect
import re
from pathlib import Path

import pytest

import fastmetrics as fm
from fastmetrics._core.registry import metric
from fastmetrics._core.registry.statistics import check_statistic, public_names
from fastmetrics._core.state import Fields, State
from fastmetrics._core.statistic import ABILITIES, AdditiveStatistic, ByUnit, Statistic
from fastmetrics.extend import RowStatistic as Terms
from support.registry_cases import own_metrics

ROOT = Path(fm.__file__).parent
GUESSES = ("hasattr", "getattr", "vars")
# What may be asked what it has: columns and objects of users and of other libraries, modules, namespaces of options.
SUBJECTS = r"\b(statistics?|states?|template)\b"


def subclasses(cls: type) -> set[type]:
    return {cls} | {own for direct in cls.__subclasses__() for own in subclasses(direct)}


def own_classes(base: type) -> list[type]:
    fm.list_metrics().values()
    found = (own for own in subclasses(base) if own.__module__.startswith("fastmetrics."))
    return sorted(found, key=lambda own: (own.__module__, own.__qualname__))


@pytest.mark.parametrize("cls", own_classes(Statistic), ids=lambda cls: cls.__qualname__)
def test_a_method_of_an_ability_belongs_to_a_class_that_names_it(cls):
    for ability in ABILITIES:
        taken = set(public_names(ability)) & set(public_names(cls))
        assert not taken or issubclass(cls, ability), f"{cls.__name__} has {sorted(taken)} and is no {ability.__name__}"


@pytest.mark.parametrize("cls", own_classes(Statistic), ids=lambda cls: cls.__qualname__)
def test_attributes_of_statistics_have_slots(cls):
    """Equality and hash read the slots: an attribute without one would tell no two statistics apart."""
    assert not cls.__dictoffset__ or cls.__module__ == "fastmetrics.extend"


@pytest.mark.parametrize("cls", own_classes(State), ids=lambda cls: cls.__qualname__)
def test_states_take_what_the_contract_names(cls):
    for name in ("merge", "arrays", "layout", "load_arrays", "limit_memory", "close"):
        wanted = list(inspect.signature(getattr(State, name)).parameters.values())
        found = list(inspect.signature(getattr(cls, name)).parameters.values())
        assert len(found) >= len(wanted)
        assert all(own.default is not own.empty for own in found[len(wanted) :]), f"{cls.__name__}.{name}"


def guesses_in(path: Path) -> list[str]:
    """Where a module asks a statistic, a state or a table of groups by name what it has."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in GUESSES:
            subject = ast.unparse(node.args[0]).lower() if node.args else ""
            if re.search(SUBJECTS, subject):
                found.append(f"{path.name}:{node.lineno}: {ast.unparse(node)}")
    return found


def test_nothing_asks_statistics_and_states_by_name(tmp_path):
    planted = tmp_path / "planted.py"
    planted.write_text('if hasattr(statistics[0], "update_units") or getattr(own.state, "close", None):\n    pass\n')
    assert len(guesses_in(planted)) == 2
    folders = (ROOT / name for name in ("_core", "engine", "metrics", "spark"))
    paths = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    assert [guess for path in paths for guess in guesses_in(path)] == []


class Rows(AdditiveStatistic):
    fields = Fields("rows")

    def update(self, state, rows):
        """Count nothing."""


class Misspelt(Rows):
    def update_unit(self, states, rows, numbers):
        """Nearly the name of an ability's method, whose base it has not."""


class Unnamed(Rows):
    def update_units(self, states, rows, numbers):
        """The name of an ability's method, whose base it has not."""


class NearlyNamed(ByUnit, Rows):
    def update_units(self, states, rows, numbers):
        """As the ability has it."""

    def has_tiny_weight(self, state):
        """Nearly the name of a method of the base."""


class OwnTerms(Terms):
    sums = ("a",)

    def term(self, columns):
        """Nearly the method that the base calls."""

    def terms(self, columns):
        return {"a": 1}


@pytest.mark.parametrize(
    ("cls", "error"),
    [
        (Misspelt, "Misspelt has a method 'update_unit', which nothing calls: did you mean 'update_units'"),
        (Unnamed, "Unnamed.update_units belongs to ByUnit: name it as a base of Unnamed"),
        (NearlyNamed, "NearlyNamed has a method .has_tiny_weight., which nothing calls: .* .has_tiny_weights."),
        (OwnTerms, "OwnTerms has a method 'term', which nothing calls: did you mean 'terms'"),
    ],
)
def test_a_misspelt_method_is_an_error_when_it_is_registered(cls, error):
    with own_metrics():
        with pytest.raises(TypeError, match=error):
            metric("own", exchange="none", statistics=cls())(lambda parameters, state: 0.0)
        # The statistics of a metric with parameters are made when it is first asked for.
        metric("own_of_k", exchange="none", statistics=lambda k: (cls(),), parameters={"k": 1})(lambda own, state: 0.0)
        with pytest.raises(TypeError, match=error):
            fm.evaluate({"y": [0, 1], "p": [0.5, 0.5]}, ["own_of_k"], label="y", score="p")


def test_a_statistic_of_another_exchange_is_an_error():
    for exchange, base in (("hash", "GroupedStatistic"), ("range", "RangeExchangeStatistic")):
        with pytest.raises(TypeError, match=f"metric 'own' has exchange '{exchange}': its statistic must be a {base}"):
            check_statistic("own", exchange, Rows())
    check_statistic("own", "none", Rows())
