"""Names that tools ask of modules and objects: each is there, or an AttributeError, whatever text it is."""

import copy
import inspect
import pickle
import pkgutil
from importlib import import_module

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics.extend import Columns
from support.cases import each_case

STRANGE = (
    "", ".", "..", "a.b", "a.b.c", ".a", "a.", "a b", "1", "é.x", "None", "class", "\ud800", "a\0b", "a" * 300,
    "auc@10", "auc(", "auc)", "'", "ndcg(k=1)", "auc,ap", "metrics.curves", "engine.compare",
    "os.path", "__path__.x", "_a.b",
)  # fmt: skip
LOG = {"y": [0, 1], "s": [0.1, 0.2]}


def public_modules():
    """The package, and its modules and packages that have no underscore."""
    names = [own.name for own in pkgutil.iter_modules(fm.__path__) if not own.name.startswith("_")]
    return [fm, *(import_module(f"fastmetrics.{name}") for name in names)]


def objects():
    report = fm.evaluate(LOG, ["auc"], label="y", score="s")
    return [fm.Metric, Columns({"a": np.zeros(2)}, None), fm.list_metrics(), report, next(iter(report))]


def ask(owner, name):
    try:
        getattr(owner, name)
    except AttributeError:
        assert not hasattr(owner, name)


@each_case("name", STRANGE)
def test_any_name_is_an_attribute_error(name):
    for owner in [*public_modules(), *objects()]:
        ask(owner, name)


@given(st.text())
def test_any_text_is_an_attribute_error(name):
    for owner in (fm, fm.Metric):
        ask(owner, name)


def test_objects_with_attributes_of_their_content_are_copied_and_pickled():
    columns = Columns({"a": np.arange(2)}, None)
    for own in (copy.copy(columns), copy.deepcopy(columns), pickle.loads(pickle.dumps(columns))):
        assert own.a.tolist() == [0, 1]
    for own in objects():
        inspect.getmembers(own)
