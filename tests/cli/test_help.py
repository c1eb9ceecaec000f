"""Help pages of all commands: examples that run, no types of Python, no words of the engine."""

import glob
import re
import shlex
import shutil
import subprocess

import pytest

from fastmetrics.selfcheck.checks import all_checks
from support.cases import each_case
from support.command_line import run, run_subprocess
from support.files.example_files import write_example_files
from support.text_logs import has_wordnet

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("pyarrow")

LEAST_EXAMPLES = 1
ENGINE_WORDS = r"\b(exchange|target|partition|hash|range exchange|registry|scan|spec)s?\b"
LARGE = ("--rows", "--users")  # numbers that are made smaller


def names_of_commands():
    from typer.main import get_command

    from fastmetrics.cli.app import app

    return sorted(get_command(app).commands)


COMMANDS = names_of_commands()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_example_files(tmp_path_factory.mktemp("examples"))


def help_of(command, folder):
    with pytest.MonkeyPatch.context() as change:
        change.setenv("COLUMNS", "400")
        done = run(*command, "--help", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def examples_of(command, folder):
    text = help_of([command], folder).partition("Examples")[2]
    return [line.strip() for line in text.splitlines() if line.strip()]


def words_of(line):
    """The words of a command, what it reads, where its output goes, and the words of the command that reads that."""
    tokens = shlex.shlex(line, posix=True, punctuation_chars="<>|")
    tokens.whitespace_split = True
    words, parts = [], {"<": [], ">": [], "|": []}
    target = words
    for token in tokens:
        target = parts.get(token, target)
        if token not in parts:
            target.append(token)
    return words, "".join(parts["<"]), "".join(parts[">"]), parts["|"]


def smaller(words):
    return [
        "1000" if place and words[place - 1] in LARGE and len(word) > 4 else word for place, word in enumerate(words)
    ]


@each_case("command", COMMANDS)
def test_examples_run(folder, command, monkeypatch):
    checks, skipped = all_checks()
    monkeypatch.setattr("fastmetrics.selfcheck.checks.all_checks", lambda: (checks[:3], skipped))
    lines = examples_of(command, folder)
    assert len(lines) >= LEAST_EXAMPLES
    for line in lines:
        (program, name, *words), read, output, pipe = words_of(line)
        assert (program, name) == ("fastmetrics", command)
        if name in ("sample-log", "demo") and "clicks.parquet" in words:
            words += ["--force"] if name == "sample-log" and "--force" not in words else []
            words = [word.replace("clicks.parquet", f"{name}.parquet") for word in words]
        if "*.run" in words:
            place = words.index("*.run")
            words[place : place + 1] = sorted(glob.glob("*.run", root_dir=folder))
        text = (folder / read).read_bytes() if read else None
        if "--plugin" in words:  # it would stay registered
            done = run_subprocess(name, *words, folder=folder)
        else:
            done = run(name, *smaller(words), folder=folder, standard_input=text)
        if name == "meteor" and "--modules" not in words and not has_wordnet():
            assert done.returncode != 0
            assert "wordnet" in done.stderr.lower()
            continue
        assert done.returncode in ((0, 3) if "--fail-if" in words else (0,)), (line, done.stderr)
        assert done.stdout or name == "sample-log"
        if output:
            (folder / output).write_text(done.stdout)
        if pipe and shutil.which("jq"):
            subprocess.run(pipe, input=done.stdout, text=True, check=True, capture_output=True)


def test_the_first_page_has_examples_that_run(folder):
    text = help_of([], folder).partition("Examples")[2]
    for line in filter(str.strip, text.splitlines()):
        words = smaller(words_of(line.strip())[0][1:])
        words += ["--rows", "1000"] if words[0] == "demo" else []
        assert run(*words, folder=folder).returncode == 0, line


@each_case("command", [[], *([name] for name in COMMANDS)])
def test_no_types_and_no_words_of_the_engine(folder, command):
    text = help_of(command, folder)
    assert not re.search(r"<(bool|str|int|float|path|file|list)\b", text)
    about = text.partition("Examples")[0]
    assert re.findall(ENGINE_WORDS, about) == []
    assert "[/" not in text, "markup that is shown"


@each_case("command", COMMANDS)
def test_codes_and_common_options_are_in_the_help(folder, command):
    text = help_of([command], folder)
    assert "Exit codes: 0 done, 1 error, 2 wrong usage" in text
    options = ["--json", "--quiet", "--help"] + ["--output"] * (command != "sample-log")
    assert all(option in text for option in options)
    gates = "3 a gate of --fail-if failed" in text
    assert gates == ("--fail-if" in text)


def test_gates_say_what_they_look_at(folder):
    for command in ("evaluate", "compare"):
        text = " ".join(re.sub("[│ ]+", " ", help_of([command], folder)).split())
        assert "A gate looks at all rows only, and where it ends with 'in any slice' at slices too" in text


def test_examples_are_read_as_a_shell_does():
    line = "fastmetrics bleu a 'b < c' < d > e | jq '.x | .y'"
    assert words_of(line) == (["fastmetrics", "bleu", "a", "b < c"], "d", "e", ["jq", ".x | .y"])
