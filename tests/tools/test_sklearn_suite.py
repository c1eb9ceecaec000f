"""scikit-learn's own tests with our functions: a part that is quick. `python tools/sklearn_suite.py` runs all."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[2] / "tools/sklearn_suite.py"


@pytest.mark.peers
def test_a_part_of_their_tests_passes():
    pytest.importorskip("sklearn")
    command = [sys.executable, str(TOOL), "--only", "metrics/tests/test_regression.py", "--least", "100"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    passed = int(done.stdout.splitlines()[-1].split()[0])
    assert passed >= 20
