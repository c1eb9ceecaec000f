"""README.md is short, its commands are where .ci/run looks for them, and its numbers are those of the benchmarks."""

import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics

import fastmetrics as fm

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
MOST_WORDS = 900
MOST_BENCHMARKS = 12

pytestmark = pytest.mark.skipif(not README.is_file(), reason="no README beside the tests")

# A benchmark says what was measured. What somebody wished to measure is not for readers.
TARGETS = re.compile(
    r"\b(?:with a|our|internal|speed) targets?\b|\| (?:target|met) \||\bat (?:least|most) [\d.,]+ ?x\b", re.IGNORECASE
)


def test_short():
    assert len(README.read_text(encoding="utf-8").split()) <= MOST_WORDS


@pytest.mark.parametrize("name", ["main-command", "test-command"])
def test_commands_follow_their_marks(name):
    (command,) = re.findall(rf"^<!-- {name} -->\n```bash\n(.+)\n```$", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert command.startswith("python3 -m venv .venv && .venv/bin/pip install ")


def test_benchmarks_are_those_that_were_measured():
    render = ROOT / "bench" / "render.py"
    if not render.is_file():
        pytest.skip("no benchmarks beside the tests")
    written = runpy.run_path(str(render))["rendered"]()
    assert {path.relative_to(ROOT).as_posix() for path in written} == {
        "README.md", "docs/benchmarks.md", "docs/speed.svg"
    }  # fmt: skip
    for path, text in written.items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run python -m bench.render"
    assert len(re.findall(r"^\|`", written[README], flags=re.MULTILINE)) <= MOST_BENCHMARKS


def test_no_page_names_a_target():
    pages = [README, ROOT / "CHANGELOG.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "fastmetrics").rglob("*.py")]
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in pages
        if path.is_file()
        for match in TARGETS.finditer(path.read_text(encoding="utf-8"))
    ]
    assert found == []
    for text in ("### With a target", "| ratio | target | met |", "88.6x | at least 70x | yes"):
        assert TARGETS.search(text)


def test_order_matters_for_floating_point_sums():
    """What the README says of scikit-learn's log_loss and of ours."""
    random = np.random.default_rng(0)
    labels, scores = random.integers(0, 2, 100_000), random.random(100_000)
    orders = [random.permutation(100_000) for _ in range(5)]
    assert len({fm.log_loss(labels[order], scores[order]) for order in orders}) == 1
    assert len({metrics.log_loss(labels[order], scores[order]) for order in orders}) > 1
