"""Every command once: a value in its output that must be equal. Two run in a process of their own."""

import io
import json
import re
import subprocess
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from math import log2
from unittest.mock import patch

import pyarrow.parquet as pq
import pytest

import fastmetrics as fm
from fastmetrics.selfcheck.checks import all_checks
from support.files.command_files import write_command_files

from .cases import near

pytest.importorskip("typer")
pytest.importorskip("rich")

pytestmark = pytest.mark.smoke

@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("FORCE_COLOR", "GITHUB_ACTIONS", "PY_COLORS", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    return write_command_files(tmp_path)


def run(words, folder):
    """What the command line prints in this process."""
    from fastmetrics.cli import main

    with chdir(folder), redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as errors:
        code = main(words.split())
    assert (code, errors.getvalue()) == (0, "")
    return out.getvalue()


def run_process(words, folder):
    """What `python -m fastmetrics` prints."""
    command = [sys.executable, "-m", "fastmetrics", *words.split()]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL, timeout=120, check=True
    )
    assert done.stderr == ""
    return done.stdout


def score(words, folder, name="score"):
    (system,) = json.loads(run(f"{words} reference.txt -i system.txt --format json", folder))["systems"]
    return system[name]


def evaluated(folder):
    document = json.loads(run("evaluate log.csv --label click --score old --metrics auc,ctr --json", folder))
    return {result["metric"]: result["value"] for result in document["results"]}


def compared(folder):
    words = "compare log.csv --label click --score old --score new --metric auc --ci-method delong --json"
    return json.loads(run(words, folder))["differences"][0]["difference"]


def detected(folder):
    (system,) = json.loads(run("coco instances.json detections.json --json", folder))["systems"]
    return system["values"]["map"]


def demonstrated(folder):
    """The AUC that the demo shows, with five digits, less the one of the log that it keeps."""
    shown = re.search(r"^ auc +(\S+)", run("demo --rows 1000 --keep demo.parquet --quiet", folder), flags=re.MULTILINE)
    return round(float(shown[1]) - fm.evaluate(folder / "demo.parquet", "auc", label="click", score="pctr")["auc"], 5)


def sampled(folder):
    """Rows of a log, whether its users are as many as wanted or fewer, and whether the same seed writes it again."""
    for name in ("one.parquet", "other.parquet"):
        run(f"sample-log {name} --rows 100 --users 7 --seed 3 --quiet", folder)
    one, other = (pq.read_table(folder / name) for name in ("one.parquet", "other.parquet"))
    return one.num_rows, len(set(one["user_id"].to_pylist())) <= 7, one.equals(other)


def listed(folder):
    """Whether the names are those of the package."""
    metrics = json.loads(run("list --json", folder))["metrics"]
    return [one["name"] for one in metrics] == [spec.name for spec in fm.list_metrics().values()]


def examined(folder):
    """Whether the limit of memory is that of `evaluate`, of which the least is 64 MiB."""
    return json.loads(run("doctor --json", folder))["memory_limit"] >= 64 << 20


def checked(folder):
    """Whether the first of all checks pass, and how many ran."""
    first, skipped = all_checks()
    with patch("fastmetrics.selfcheck.checks.all_checks", lambda: (first[:3], skipped)):
        document = json.loads(run("selfcheck --json", folder))
    return document["passed"], sum(family["checks"] for family in document["families"])


CASES = {
    "evaluate": (evaluated, {"auc": 3 / 4, "ctr": 1 / 2}),
    "compare": (compared, 1 / 4),
    "bleu": (lambda folder: score("bleu", folder), near(100 * (5 / 6 * 3 / 5 * 1 / 4 * 1 / 6) ** (1 / 4))),
    # 15 letters match, of 17 and of 16; recall weighs 2^2 times as much.
    "chrf": (lambda folder: score("chrf --char-order 1", folder), near(100 * 5 * 15 / (17 + 4 * 16))),
    # Five of six words match; "the" is two of the words of the reference, the others are one each.
    "nist": (lambda folder: score("nist --max-order 1", folder), near((2 * log2(6 / 2) + 3 * log2(6 / 1)) / 6)),
    "ter": (lambda folder: score("ter", folder), near(100 * 1 / 6)),
    "rouge": (lambda folder: score("rouge", folder, "rouge2"), near(3 / 5)),
    # Five words match in two chunks.
    "meteor": (lambda folder: score("meteor --modules exact", folder), near(5 / 6 * (1 - 0.5 * (2 / 5) ** 3))),
    "trec": (lambda folder: run("trec qrels.txt run.txt -m map", folder).split(), ["map", "all", "0.7500"]),
    # Precision is 1 up to a recall of 1/2, at 51 of 101 levels.
    "coco": (detected, near(51 / 101)),
    "voc": (lambda folder: json.loads(run("voc voc results --json", folder))["map"], 1 / 2),
    "demo": (demonstrated, 0),
    "sample-log": (sampled, (100, True, True)),
    "list": (listed, True),
    "doctor": (examined, True),
    "selfcheck": (checked, (True, 3)),
}


@pytest.mark.parametrize("command", CASES)
def test_value(command, folder):
    call, expected = CASES[command]
    assert call(folder) == expected


def test_version_in_a_process(folder):
    assert run_process("--version", folder) == f"fastmetrics {fm.__version__}\n"


def test_command_in_a_process(folder):
    assert run_process("ter reference.txt -i system.txt --score-only --width 4", folder) == "16.6667\n"


def commands(folder):
    """The commands that the help lists."""
    return re.findall(r"^│ ([a-z][a-z-]*) ", run("--help", folder), flags=re.MULTILINE)


def test_help_of_every_command(folder):
    found = commands(folder)
    assert found
    for command in found:
        assert f" fastmetrics {command}" in run(f"{command} --help", folder)


def test_every_command_has_a_case(folder):
    missing = sorted(set(commands(folder)) - set(CASES))
    assert not missing, f"add a call and its value to CASES for {missing}"
