"""The README's examples, as a new user would paste them: one after the other, in a fresh folder with a sample log."""

import ast
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import spark_sessions

import fastmetrics as fm

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


def test_numbers_in_comments():
    """An expression with a number behind it has that value; what reads the log is left out."""
    text = README.read_text(encoding="utf-8")
    checked = 0
    blocks = re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    for block in (block for block in blocks if re.search(r"# [\d.]+$", block, flags=re.MULTILINE)):
        names = {"fm": fm}
        for node in ast.parse(block).body:
            code = ast.unparse(node)
            number = re.search(r"# ([\d.]+)$", block.splitlines()[node.end_lineno - 1])
            if number:
                assert eval(code, names) == float(number[1]), code
                checked += 1
            elif "# " in block and isinstance(node, ast.Assign) and not re.search(r"parquet|\blog\[|order", code):
                exec(code, names)
    assert checked == 21


def test_families_name_every_function():
    text = README.read_text(encoding="utf-8")
    (table,) = re.findall(r"^\| family \| functions \|\n(.*?)\n\n", text, flags=re.MULTILINE | re.DOTALL)
    names = re.findall(r"`(\w+)`", table)
    public = {name: getattr(fm, name) for name in fm.__all__}
    metrics = {name for name, it in public.items() if getattr(it, "__module__", "").startswith("fastmetrics.metrics.")}
    classes = {"COCO", "COCOeval", "ScoreOrder"}
    assert sorted(names) == sorted(name for name in metrics if inspect.isfunction(public[name]) or name in classes)
    (imported,) = re.findall(r"^from fastmetrics import (.*)$", text, flags=re.MULTILINE)
    assert set(imported.split(", ")) <= set(names)


def test_logs_larger_than_memory_and_scoring_jobs(folder):
    blocks = examples("example")
    assert len(blocks) == 11
    printed = paste("\n".join(blocks), folder)
    metrics = ("ndcg(gain=exp2)@10", "f1(threshold=0.1)", "EqualErrorRate", "BestThreshold", "gauc", "BLEU = ", "trade")
    for word in (*metrics, "channel", "feed", "pctr", "p_true"):
        assert word in printed
    assert "adjusted p" in printed
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
