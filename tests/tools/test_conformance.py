"""Tests of other libraries with our functions. `pytest -m conformance` runs all that can be fetched."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools/conformance/run.py"
RESULTS = TOOL.with_name("results.json")
FETCHED = ("sklearn", "sacrebleu", "faster_coco_eval")  # their packages have the tests

pytestmark = pytest.mark.skipif(not TOOL.is_file(), reason="no tools beside the tests")


def run(*arguments, folder=None):
    command = [sys.executable, str(TOOL), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder)


@pytest.mark.peers
def test_a_part_of_scikit_learns_tests_passes(tmp_path):
    pytest.importorskip("sklearn")
    done = run("sklearn", "--here", "--only", "sklearn/metrics/tests/test_regression.py", folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert int(done.stdout.splitlines()[-1].split()[0]) >= 20


THEIR_TESTS = '''
import pytest
import pytrec_eval


def value(score):
    evaluator = pytrec_eval.RelevanceEvaluator({"q": {"a": 1, "b": 0}}, {"map"})
    return evaluator.evaluate({"q": {"a": score, "b": 0.5}})["q"]["map"]


def test_right():
    assert value(1.0) == 1.0


def test_wrong():
    assert value(0.0) == 1.0


def test_skipped():
    value(0.0)
    pytest.skip("a reason")


def test_of_something_else():
    pass
'''


@pytest.mark.peers
def test_outcomes_are_counted(tmp_path):
    pytest.importorskip("pytrec_eval")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/pytrec_eval_tests.py").write_text(THEIR_TESTS)
    done = run("trec_eval", "--here", "--source", tmp_path, folder=tmp_path)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert any(line.startswith("failed: tests/pytrec_eval_tests.py::test_wrong | assert 0.5 == 1.0") for line in lines)
    assert "skipped: 1 | a reason" in lines
    assert lines[-1].startswith("1 passed, 1 failed (0 explained), 1 skipped; 1 tests call nothing that was replaced")
    assert run("trec_eval", "--here", "--source", tmp_path, "-k", "right", folder=tmp_path).returncode == 0


def test_nothing_that_ran_is_a_failure(tmp_path):
    pytest.importorskip("pytrec_eval")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/pytrec_eval_tests.py").write_text("def test_of_something_else():\n    pass\n")
    assert run("trec_eval", "--here", "--source", tmp_path, folder=tmp_path).returncode == 1


def test_every_stored_failure_is_explained():
    results = json.loads(RESULTS.read_text(encoding="utf-8"))
    assert {"sklearn", "sacrebleu", "trec_eval", "pycocotools"} <= results.keys()
    for name, result in results.items():
        assert result["passed"] > 0, name
        assert sum(result["failures"].values()) == result["failed"], name
        assert not [reason for reason in result["failures"] if reason.startswith("not explained")], name


@pytest.mark.conformance
@pytest.mark.parametrize("name", FETCHED)
def test_all_tests_of_a_library(name, tmp_path):
    done = run(name, folder=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
