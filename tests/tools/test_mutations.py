"""The mutations fit the code: each text occurs once in its file, and the tests that must fail exist."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tool():
    return runpy.run_path(str(ROOT / "tools" / "mutations" / "mutation_list.py"))


def test_every_mutation_fits(tool):
    mutations = tool["read_mutations"]()
    assert len(mutations) >= 40
    assert tool["misfits"](mutations, ROOT) == []


def test_a_mutation_that_does_not_fit_is_named(tool):
    own = tool["read_mutations"]()[0]._replace(old="no such text", tests=("tests/missing.py",))
    text, test = tool["misfits"]([own], ROOT)
    assert f"mutation {own.name}: the text occurs 0 times in {own.path}" == text
    assert "tests/missing.py" in test
