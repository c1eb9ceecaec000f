"""From the README to a number of an own CSV, in five commands: `tools/newcomer.py` runs all of them in a new clone.

`.ci/run` runs the last one in its clone, in which the README's main command was run. Here the commands are those of
the README, and the last one gives what the transcript shows.
"""

import re
import shutil
import sys
from contextlib import chdir
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "tests" / "docs" / "newcomer"

pytestmark = pytest.mark.skipif(not (ROOT / "tools").is_dir(), reason="no tools beside the tests")


@pytest.fixture
def newcomer(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    import newcomer

    yield newcomer
    del sys.modules["newcomer"]


@pytest.fixture
def steps(newcomer):
    return newcomer.read_transcript((FOLDER / "transcript.txt").read_text(encoding="utf-8"))


def readme_block(name):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.search(rf"<!-- {name} -->\n```bash\n(.*?)\n```", text)[1]


def test_five_commands_are_those_of_the_readme(steps):
    commands = [step.command for step in steps]
    assert len(commands) == 5
    assert commands[0].startswith("git clone https://")
    assert " && ".join(commands[1:4]) == readme_block("main-command")
    assert commands[4] == readme_block("own-log-command")


def test_last_command_prints_what_the_transcript_shows(newcomer, steps, tmp_path, monkeypatch, capsys):
    pytest.importorskip("typer")
    from fastmetrics.cli import main

    shutil.copy(FOLDER / "mine.csv", tmp_path)
    monkeypatch.setattr(sys, "argv", ["fastmetrics"])
    with chdir(tmp_path):
        assert main(steps[-1].command.split()[1:]) == 0
    printed = capsys.readouterr().out.strip()
    assert newcomer.SECONDS.sub("#", printed) == newcomer.SECONDS.sub("#", steps[-1].printed)


@pytest.mark.skipif(sys.platform == "win32", reason="commands of bash")
@pytest.mark.parametrize(
    ("command", "printed", "wrong"),
    [
        ("echo 3 rows, 0.5 s", "3 rows, 0.25 s", None),
        ("echo 3 rows", "4 rows", "it printed\n3 rows\n\nand not\n4 rows"),
        ("echo anything", "", None),
        ("echo no >&2; exit 3", "", "exit code 3\nno\n"),
    ],
)
def test_a_step_that_differs_is_told(newcomer, tmp_path, command, printed, wrong):
    assert newcomer.run(newcomer.Step(command, printed), tmp_path) == wrong
