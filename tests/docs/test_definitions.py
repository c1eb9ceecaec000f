"""docs/definitions.md defines every function, names its sources, and its examples run.

Its lines of functions and metrics are generated: tests/architecture/test_generated.py compares them with the code.
"""

import doctest
import inspect
import re
import warnings
from pathlib import Path

import pytest

import fastmetrics as fm

DEFINITIONS = Path(__file__).resolve().parents[2] / "docs" / "definitions.md"
KNOWN_FROM = re.compile(r"(run: [\w-]+ [\d.]+(, [\w-]+ [\d.]+)*|source)(; source( for the others)?)?")

pytestmark = pytest.mark.skipif(not DEFINITIONS.is_file(), reason="no docs beside the tests")


@pytest.fixture(scope="module")
def page():
    return DEFINITIONS.read_text(encoding="utf-8")


def test_every_function_is_defined(page):
    """The generated lines are there, outside of which no line looks like them."""
    lines = dict(re.findall(r"^- `(\w+)\(.*?\)`: (.*)$", page, flags=re.MULTILINE))
    names = {name for name, module in fm.PLACES.items() if ".metrics." in module}
    assert lines.keys() == {name for name in names if inspect.isfunction(inspect.unwrap(getattr(fm, name)))}
    assert [name for name, line in lines.items() if len(line) < 20] == []


def test_every_claim_about_other_libraries_has_a_source(page):
    rows = [row for row in page.splitlines() if row.startswith("| ") and row.count("|") == 4]
    of_peers, inside = [], False
    for row in rows:
        if row.startswith("| --- "):
            continue
        if row.endswith(("| known from |", "| others |", "| why |")):
            inside = row.endswith("| known from |")
        elif inside:
            of_peers.append(row)
    assert len(of_peers) > 20
    for row in of_peers:
        assert KNOWN_FROM.fullmatch(row.strip("| ").rpartition(" | ")[2]), row


def test_examples_run(page):
    test = doctest.DocTestParser().get_doctest(page, {}, "definitions.md", str(DEFINITIONS), 0)
    assert len(test.examples) > 10
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        runner.run(test)
    assert runner.summarize(verbose=False).failed == 0


def test_links_are_valid(page):
    headings = {
        re.sub(r"[^\w -]", "", line.lstrip("# ")).lower().replace(" ", "-")
        for line in page.splitlines()
        if line.startswith("#")
    }
    for target in re.findall(r"\]\(#([^)]+)\)", page):
        assert target in headings, target
