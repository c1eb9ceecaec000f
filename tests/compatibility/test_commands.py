"""The output and the exit codes of the commands are those of version 0.1, but for run time and version."""

import re

import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")

import fastmetrics as fm
from compatibility import commands
from compatibility.encoding import ADDED, read
from compatibility.run_cases import ADDED_TO_ALL_TREC

STORED = read("commands.json")
NUM_REL = "num_rel               \tall\t{}"
OF_TERMINALS = ["FORCE_COLOR", "NO_COLOR", "GITHUB_ACTIONS", "PY_COLORS", "TTY_COMPATIBLE"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("inputs")
    commands.write_inputs(path)
    return path


@pytest.mark.parametrize("name", commands.COMMANDS)
def test_output(name, folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", commands.COLUMNS)
    for variable in OF_TERMINALS:
        monkeypatch.delenv(variable, raising=False)
    done = commands.run(name, folder)
    assert done.code == STORED[name]["code"]
    output, expected = done.output, STORED[name]["output"]
    if name == "evaluate":  # every default metric, also those added since, whose names may be wider
        added = set(fm.list_metrics()) - set(read("surface.json")["metric_names"])
        output, expected = re.sub(" +", " ", output), [re.sub(" +", " ", line) for line in expected]
        output = "".join(line for line in output.splitlines(True) if line.split(" ")[0] not in added)
    if name == "trec judged":  # measures of trec_eval that were added since
        output = "".join(line for line in output.splitlines(True) if not line.startswith(ADDED_TO_ALL_TREC))
    if name == "trec complete":  # trec_eval counts all relevances above 0 in this sum, whatever -l is
        expected = [NUM_REL.format(70) if line == NUM_REL.format(54) else line for line in expected]
    if name == "evaluate slices":
        output = without_column(output, "positives")
    if name == "evaluate JSON":
        output = re.sub(rf',\n {{6}}"({"|".join(ADDED)})": \d+', "", output)
    assert output.split("\n") == expected


def without_column(text, title):
    """A table of text without a column, which was added since."""
    lines = text.split("\n")
    number = next(number for number, line in enumerate(lines) if title in line.split())
    start = lines[number].index(title)
    stop = start + len(title)
    stop += len(lines[number][stop:]) - len(lines[number][stop:].lstrip())
    end = next(end for end in range(number, len(lines)) if not lines[end])
    lines[number:end] = [line[:start] + line[stop:] for line in lines[number:end]]
    return "\n".join(lines)


def test_every_stored_output_is_used():
    assert STORED.keys() == commands.COMMANDS.keys()


def test_every_exit_code_is_stored():
    """0 done, 1 error, 2 wrong usage, 3 a gate failed."""
    assert {own["code"] for own in STORED.values()} == {0, 1, 2, 3}
