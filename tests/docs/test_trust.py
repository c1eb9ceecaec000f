"""docs/trust.md names tests that exist, and shows the stored counts of other libraries' tests."""

import json
import re
from pathlib import Path

import pytest

from support.pages import collected_names

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/trust.md"

pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="no docs beside the tests")

NAMED = re.compile(r"`(tests/[\w/]+\.py)(?:::(\w+))?`")


def page():
    return PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize(("path", "name"), sorted(set(NAMED.findall(page()))) if PAGE.is_file() else [])
def test_named_tests_exist(path, name):
    assert (ROOT / path).name.startswith("test_")
    names = collected_names(ROOT / path)
    assert names
    assert not name or name in names


def test_every_promise_has_a_test():
    rows = page().partition("| promise | test |")[2].partition("\n\n")[0].splitlines()[2:]
    assert len(rows) > 25
    assert not [row for row in rows if not NAMED.search(row)]


def test_a_test_that_is_not_there_is_seen():
    names = collected_names(Path(__file__))
    assert "test_named_tests_exist" in names
    assert "collected_names" not in names
    assert "test_new_seeds" not in collected_names(ROOT / "tests/fuzz/test_fuzz.py")


def test_all_counts_are_shown():
    results = json.loads((ROOT / "tools/conformance/results.json").read_text(encoding="utf-8"))
    text = page()
    for name, own in results.items():
        counts = " | ".join(f"{own[kind]:,}" for kind in ("passed", "failed", "skipped"))
        assert re.search(rf"\| `{name}` \| {re.escape(own['library'])} \| .* \| {re.escape(counts)} \|", text), name
        for reason in own["failures"]:
            assert reason in text
