"""The README's examples, as a new user would paste them: one after the other, in a fresh folder with a sample log."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import spark_sessions

README = Path(__file__).resolve().parents[1] / "README.md"
ROWS = "50000"

pytestmark = pytest.mark.skipif(not README.is_file(), reason="no README beside the tests")


def examples(mark):
    """The Python blocks after a line with the mark."""
    text = README.read_text(encoding="utf-8")
    return re.findall(rf"^<!-- {re.escape(mark)} -->\n```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fresh")
    sample = ["sample-log", "clicks.parquet", "--rows", ROWS, "--row-group-rows", "20000"]
    subprocess.run([sys.executable, "-m", "fastmetrics", *sample], cwd=folder, check=True, capture_output=True)
    return folder


def paste(code, folder, **environment):
    """What the code prints, in an interpreter of its own; every warning is an error."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=folder, env=os.environ | environment, capture_output=True,
        text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_logs_larger_than_memory_and_scoring_jobs(folder):
    blocks = examples("example")
    assert len(blocks) == 3
    printed = paste("\n".join(blocks), folder)
    for column in ("channel", "feed", "pctr", "p_true", "gauc"):
        assert column in printed
    low, high = map(float, re.findall(r"\((0\.\d+), (0\.\d+)\)", printed)[-1])
    assert low < high
    assert sorted(path.name for path in folder.iterdir()) == ["clicks.parquet"]


def test_spark(folder, tmp_path):
    spark_sessions.require_spark()
    (block,) = examples("example: spark")
    # pyspark warns of its own dependencies; a session's leavings go where the test's do.
    options = {"PYTHONWARNINGS": "ignore", "SPARK_LOCAL_DIRS": str(tmp_path)}
    java = f"-Djava.io.tmpdir={tmp_path} -XX:-UsePerfData"
    code = f"import warnings; warnings.simplefilter('ignore')\n{block}\nspark.stop()"
    printed = paste(code, folder, **spark_sessions.environment(), **options, JAVA_TOOL_OPTIONS=java)
    assert "gauc" in printed
    assert "feed" in printed
