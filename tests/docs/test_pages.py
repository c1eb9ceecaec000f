"""All code of README.md and of the guides runs in a new folder; links lead somewhere."""

import inspect
import re
import subprocess
import sys
import warnings
from contextlib import chdir
from pathlib import Path

import pytest
from sklearn import calibration, metrics

import fastmetrics as fm
from support import pages
from support.registry_cases import own_metrics

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(not (ROOT / "docs").is_dir(), reason="no docs beside the tests")

# The least number of values that the code of a page states, and of commands that it runs.
GUIDES = {
    "README.md": (3, 2), "docs/cli.md": (0, 1), "docs/clustering.md": (10, 1), "docs/comparing_logs.md": (6, 1),
    "docs/ctr.md": (20, 7), "docs/detection.md": (30, 4), "docs/distributed.md": (0, 0),
    "docs/extending.md": (12, 1), "docs/expressions.md": (1, 2), "docs/inputs.md": (0, 0),
    "docs/jobs.md": (0, 1),
    "docs/ranking.md": (18, 1), "docs/recommendation.md": (15, 0), "docs/reports.md": (11, 5),
    "docs/significance.md": (59, 1), "docs/sklearn.md": (9, 0), "docs/spark.md": (0, 1), "docs/text.md": (30, 6),
    "docs/trec.md": (5, 6),
    "docs/training.md": (2, 0), "docs/tutorial.md": (12, 5), "docs/types.md": (2, 0),
}  # fmt: skip
NEEDED = {"docs/inputs.md": ("deltalake",)}
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


def page(name):
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", GUIDES)
def test_code_runs(name, tmp_path, monkeypatch):
    for package in ("scipy", "typer", "rich", "matplotlib", *NEEDED.get(name, ())):
        pytest.importorskip(package)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.syspath_prepend(tmp_path)  # where --plugin finds modules
    with chdir(tmp_path), own_metrics():
        counts = pages.run_page(page(name), name)
    values, commands = GUIDES[name]
    assert counts["values"] >= values
    assert counts["commands"] >= commands


@pytest.mark.parametrize(
    ("change", "outcome"),
    [
        (("", ""), "2 passed"),
        (("columns.price - columns.cost\n", "(columns.price - columns.cost).sum()\n"), "2 failed"),
        (("columns.cost\n", "columns.cost.mean()\n"), "1 failed, 1 passed"),
    ],
)
def test_the_test_of_a_metric_of_ones_own_runs(change, outcome, tmp_path):
    """The files of docs/extending.md, as a user copies them; with a sum or a mean the test fails."""
    for block in pages.BLOCKS.finditer(page("docs/extending.md")):
        if (block["mark"] or "").startswith("file "):
            path = tmp_path / block["mark"].removeprefix("file ")
            path.write_text(block["code"].replace(*change) if path.name == "margin.py" else block["code"], "utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tmp_path, "--rootdir", tmp_path]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert outcome in done.stdout, done.stdout + done.stderr


def test_code_for_spark_runs(spark, tmp_path, capsys):
    """`getOrCreate` returns the tests' session. Java does not change its folder, so the path of the log is absolute."""
    found = [own["code"] for own in pages.BLOCKS.finditer(page("docs/spark.md")) if own["mark"] == "spark"]
    block = "\n".join(found)
    with chdir(tmp_path):
        pages.run_command("fastmetrics sample-log clicks.parquet --rows 50000")
    assert '"clicks.parquet"' in block
    namespace = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pyspark's own dependencies warn
        exec(block.replace('"clicks.parquet"', repr(str(tmp_path / "clicks.parquet"))), namespace)
    assert namespace["spark"] is spark
    printed = capsys.readouterr().out
    assert "gauc" in printed
    assert "feed" in printed
    assert namespace["comparison"]["gauc"].won


def test_functions_of_both_libraries_are_those_listed():
    """A new function of scikit-learn's name with other parameters is no drop-in function, and needs no row."""
    text = page("docs/sklearn.md").partition("## Functions that both have")[2].partition("## ")[0]
    listed = re.findall(r"`(\w+)`", "".join(row for row in text.splitlines(True) if row.startswith("|")))
    peers = (metrics, metrics.cluster, calibration)
    both = [name for name in fm.__all__ if name.islower() and any(hasattr(peer, name) for peer in peers)]
    assert set(listed) <= set(both)
    assert len(listed) == len(set(listed))

    def parameters(function):
        return list(inspect.signature(function).parameters)

    for name in set(both) - set(listed):
        theirs = parameters(next(getattr(peer, name) for peer in peers if hasattr(peer, name)))
        assert parameters(getattr(fm, name))[: len(theirs)] != theirs, f"add {name} to docs/sklearn.md"


@pytest.mark.parametrize("name", sorted(path.relative_to(ROOT).as_posix() for path in PAGES))
def test_links_lead_somewhere(name):
    for path, anchor in re.findall(r"\]\((?!https?:)([^)#\s]*)#?([^)\s]*)\)", page(name)):
        linked = (ROOT / name).parent / path if path else ROOT / name
        assert linked.exists(), path
        if anchor:
            headings = re.findall(r"^#+ (.*)$", linked.read_text(encoding="utf-8"), flags=re.MULTILINE)
            slugs = [re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings]
            assert anchor in slugs, f"{path}#{anchor}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("```python\n1 + 1  # 3\n```\n", "1 \\+ 1"),
        ("```python\n>>> 1 + 1\n3\n\n```\n", "Got:\n    2"),
        ("```console\n$ fastmetrics --version\nwrong\n```\n", "--version"),
        ("```bash\nfastmetrics list  # exit code 3\n```\n", "list"),
    ],
)
def test_wrong_page_is_found(text, found):
    pytest.importorskip("typer")
    with pytest.raises(AssertionError, match=found):
        pages.run_page(text, "page")
