"""The public surface of version 0.1 is still there, unchanged. What is new needs no entry here."""

import json

import pytest

from compatibility import surface
from compatibility.encoding import read

STORED = read("surface.json")


def now(section):
    return json.loads(json.dumps(surface.SECTIONS[section]()))


def changes(section):
    """Entries of version 0.1 that are not as they were: what there is now, and what was stored."""
    found = {name: without_new_options(entry, STORED[section].get(name)) for name, entry in now(section).items()}
    return {name: (found.get(name), own) for name, own in STORED[section].items() if found.get(name) != own}


def without_new_options(entry, stored):
    """An entry without options that 0.1 had not: keyword-only parameters with a default break no call."""
    if stored == "str" and entry == {"in": "list", "of": ["str"]}:
        return stored  # an option that may be repeated now
    if isinstance(entry, dict) and isinstance(stored, dict):
        kept = {name: own for name, own in entry.items() if name in stored}
        if "attributes" in kept:  # a class may have new ones
            kept["attributes"] = [name for name in kept["attributes"] if name in stored["attributes"]]
        if "spellings" in kept:  # an option may have further ones
            kept["spellings"] = [own for own in kept["spellings"] if own in stored["spellings"]]
        return {name: without_new_options(own, stored[name]) for name, own in kept.items()}
    if isinstance(entry, list) and isinstance(stored, list) and len(entry) == len(stored):
        return [without_new_options(own, own_stored) for own, own_stored in zip(entry, stored, strict=True)]
    if isinstance(entry, list) and isinstance(stored, list):
        known = [required_word(own) if required_word(own) in stored else own for own in entry]
        return [own for own in known if own in stored or not is_new_option(own)]
    return entry


def required_word(parameter):
    """A keyword without its default: one that 0.1 required may have a default now."""
    return parameter.partition("=")[0] if is_new_option(parameter) else parameter


def is_new_option(parameter):
    """An option with a default, or any options by keyword."""
    if not isinstance(parameter, str):
        return False
    return parameter.startswith("var_keyword ") or (parameter.startswith("keyword_only ") and "=" in parameter)


@pytest.mark.parametrize("section", ["names", "metric_names"])
def test_names(section):
    assert not set(STORED[section]) - set(now(section))


@pytest.mark.parametrize("section", ["functions", "classes", "metrics"])
def test_entries(section):
    """The signatures of functions, the members of classes, and what `describe_metrics` says in the words of 0.1."""
    assert STORED[section]
    assert changes(section) == {}


def test_every_public_name_is_a_function_a_class_or_the_version():
    assert sorted([*STORED["functions"], *STORED["classes"], "__version__"]) == STORED["names"]


def test_metrics_are_described_in_words():
    for spec in surface.fm.describe_metrics():
        for name in surface.METRIC_TEXTS:
            assert getattr(spec, name), (spec.name, name)
        assert "\n" not in spec.summary


def test_the_exchange_that_0_1_named_stays_readable():
    """`spec.exchange` equals "none", "score" or "group", whatever the engine calls its exchanges."""
    found = surface.exchanges()
    assert {name: found[name] for name in STORED["exchanges"]} == STORED["exchanges"]


def test_commands():
    pytest.importorskip("typer")
    pytest.importorskip("rich")
    assert changes("commands") == {}


def test_spark():
    pytest.importorskip("pyspark")
    assert changes("spark") == {}
