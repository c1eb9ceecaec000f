"""docs/significance.md as a reader pastes it, and that it tells of every test there is."""

import doctest
import re
import warnings
from pathlib import Path

import pytest

import fastmetrics as fm

PAGE = Path(__file__).resolve().parents[1] / "docs" / "significance.md"

pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="no docs beside the tests")


@pytest.fixture(scope="module")
def text():
    return PAGE.read_text(encoding="utf-8")


def test_everything_on_the_page_happens(text):
    pytest.importorskip("scipy")
    test = doctest.DocTestParser().get_doctest(text, {}, "significance.md", str(PAGE), 0)
    assert len(test.examples) > 20
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runner = doctest.DocTestRunner()
        runner.run(test)
    assert runner.summarize(verbose=False).failed == 0


def test_every_block_is_run(text):
    """What is not written as a session would be looked at by nobody."""
    for block in re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL):
        assert block.startswith(">>> ")
        assert block.endswith("\n\n")


def test_every_test_is_told_of(text):
    names = {name for name in fm.NAMES["metrics.significance"] if name.islower()}
    names |= {"evaluate", "compare", "compare_runs", "compare_texts"} & set(fm.__all__)
    assert {name for name in names if f"`{name}" not in text} == set()


def test_links_lead_somewhere(text):
    for path, anchor in re.findall(r"\]\(([\w.]+)(#[\w-]+)?\)", text):
        linked = PAGE.parent / path
        assert linked.is_file(), path
        if anchor:
            headings = re.findall(r"^#+ (.*)$", linked.read_text(encoding="utf-8"), flags=re.MULTILINE)
            assert anchor[1:] in [heading.lower().replace(" ", "-") for heading in headings], anchor
