"""docs/api.md has every parameter, attribute and method of the names that it describes."""

import inspect
import re
from pathlib import Path

import pytest

import fastmetrics as fm
from fastmetrics import extend, testing

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "api.md"
RESULTS = (fm.Report, fm.Result, fm.Comparison, fm.Difference, fm.SignificanceResult)

pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="no docs beside the tests")


def words_of(name):
    """Every name in code in the first column of the tables of a section."""
    section = PAGE.read_text(encoding="utf-8").partition(f"\n### {name}\n")[2].partition("\n### ")[0]
    cells = re.findall(r"^\| (`.*?)(?: \||\()", section, re.MULTILINE)
    return set(re.findall(r"\w+", " ".join(cells)))


@pytest.mark.parametrize("function", [fm.evaluate, fm.compare, fm.Accumulator, fm.Evaluation, fm.Task, extend.metric])
def test_every_parameter_is_there(function):
    parameters = set(inspect.signature(function).parameters) - {"self"}
    assert len(parameters) > 5
    assert parameters - words_of(function.__name__) == set()


@pytest.mark.parametrize("result", RESULTS)
def test_every_attribute_and_method_is_there(result):
    members = {name for name in dir(result) if not name.startswith("_") and not hasattr(tuple, name)}
    assert len(members) > 8
    assert members - words_of(result.__name__) == set()


@pytest.mark.parametrize("module", [extend, testing])
def test_every_name_of_a_module_has_a_section(module):
    page = PAGE.read_text(encoding="utf-8")
    missing = [name for name in module.__all__ if f"\n### {name}\n" not in page and f"| `{name}`" not in page]
    assert missing == []


def test_the_readme_links_to_it():
    assert "[API reference](docs/api.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
