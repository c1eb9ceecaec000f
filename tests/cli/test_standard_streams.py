"""Closed standard streams, full disks and readers that stop: of every command no result is lost without an error."""

import os
import shlex
import subprocess
import sys
from contextlib import ExitStack, chdir, contextmanager
from types import SimpleNamespace
from unittest.mock import patch

import pytest

from support.cases import each_case
from support.command_line import environment
from support.files.command_files import write_command_files

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("pyarrow")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX descriptors")

LOG = "log.csv --label click --score old"
# Words with which each command prints a result.
COMMANDS = {
    "evaluate": f"{LOG} -m auc",
    "compare": f"{LOG} --score new -m auc --ci-method delong",
    "trec": "qrels.txt run.txt",
    "coco": "instances.json detections.json",
    "voc": "voc results",
    "bleu": "reference.txt -i system.txt",
    "chrf": "reference.txt -i system.txt",
    "nist": "reference.txt -i system.txt",
    "ter": "reference.txt -i system.txt",
    "rouge": "reference.txt -i system.txt",
    "meteor": "--modules exact reference.txt -i system.txt",
    "demo": "--rows 100",
    "sample-log": "sample.parquet --rows 100 --json --quiet",
    "doctor": "",
    "selfcheck": "--json",
    "list": "",
}
SELFCHECK = "python -m fastmetrics.selfcheck"
EVERY_COMMAND = [f"{command} {words}" for command, words in COMMANDS.items()]
EVERY_COMMAND.append(f"{SELFCHECK} --json")
CALLS = [*EVERY_COMMAND, *(f"{command} --help" for command in COMMANDS), "--version", "--help", ""]
CALLS += [f"evaluate {LOG} -m auc --json", f"evaluate {LOG} -m auc --format csv", "list --json", "doctor --json"]
CALLS += ["coco instances.json detections.json --format csv", "bleu reference.txt -i system.txt --format csv"]
CALLS.append(f"{SELFCHECK} --help")
NOT_WRITTEN = "error: the result was not written to standard output: "
PASSED = SimpleNamespace(failures={}, families=[], to_dict=lambda: {"passed": True})


@pytest.fixture
def folder(tmp_path):
    return write_command_files(tmp_path)


def test_all_commands_are_called():
    from typer.main import get_command

    from fastmetrics.cli.app import app

    assert set(COMMANDS) == set(get_command(app).commands)


@contextmanager
def descriptors(changes):
    """The standard streams of this process on other descriptors; None is a closed one. As Python starts with them."""
    saved = [os.dup(descriptor) for descriptor in range(3)]
    with pytest.MonkeyPatch.context() as change, ExitStack() as streams:
        try:
            for descriptor, target in changes.items():
                os.close(descriptor)
                if target is not None:
                    os.dup2(target, descriptor)
            for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
                mode = "w" if descriptor else "r"
                closed = changes[descriptor] is None
                stream = None if closed else streams.enter_context(
                    open(descriptor, mode, encoding="utf-8", closefd=False)
                )  # fmt: skip
                change.setattr(sys, name, stream)
                change.setattr(sys, f"__{name}__", stream)
            yield
        finally:
            for descriptor, own in enumerate(saved):
                os.dup2(own, descriptor)
                os.close(own)


def run_words(words):
    """The exit code of a command, or of `python -m fastmetrics.selfcheck`."""
    if words.startswith(SELFCHECK):
        from fastmetrics.selfcheck import __main__ as selfcheck

        with patch.object(selfcheck, "run_selfcheck", lambda *_: PASSED), patch("sys.argv", shlex.split(words)[2:]):
            return selfcheck.main()
    from fastmetrics.cli import main

    with patch("fastmetrics.selfcheck.checks.run_selfcheck", lambda *_: PASSED):
        return main(shlex.split(words))


def call(words, folder, changes):
    """The exit code of a command with standard streams as given, and what it wrote to those of them that are files."""
    with (
        open(folder / "out", "wb+") as out,
        open(folder / "errors", "wb+") as errors,
        open(folder / "empty", "wb+") as empty,
        chdir(folder),
        descriptors({0: empty.fileno(), 1: out.fileno(), 2: errors.fileno(), **changes}),
    ):
        code = run_words(words)
    return code, (folder / "out").read_text(), (folder / "errors").read_text()


@contextmanager
def refusing(kind):
    """A descriptor that refuses what is written to it, and the reason."""
    if kind == "closed":
        yield None, "it is closed"
    elif kind == "full":
        if not os.path.exists("/dev/full"):
            pytest.skip("needs /dev/full")
        with open("/dev/full", "wb") as full:
            yield full.fileno(), "No space left on device"
    else:
        ours, theirs = os.pipe()
        os.close(ours)
        yield theirs, "its reader stopped reading"
        os.close(theirs)


@each_case("words", CALLS)
@pytest.mark.parametrize("kind", ["closed", "full", "broken"])
def test_a_result_that_cannot_be_written_is_an_error(folder, kind, words):
    with refusing(kind) as (target, reason):
        code, _, errors = call(words, folder, {1: target})
    assert (code, errors.splitlines()[-1]) == (1, NOT_WRITTEN + reason)
    assert errors.count("error:") == 1
    assert "Traceback" not in errors


@each_case("words", CALLS)
@pytest.mark.parametrize("kind", ["closed", "full", "broken"])
def test_messages_that_cannot_be_written_change_no_result(folder, kind, words):
    with refusing(kind) as (target, _):
        code, out, _ = call(words, folder, {2: target})
    assert code == 0
    assert out
    with refusing(kind) as (target, _):
        assert call(words, folder, {1: target, 2: target})[0] == 1


@each_case("words", EVERY_COMMAND)
def test_closed_standard_input_is_no_part_of_a_result(folder, words):
    code, out, errors = call(words, folder, {0: None})
    assert (code, errors) == (0, "")
    assert out


@each_case("words", ["evaluate - --label click --score old", "bleu reference.txt", "bleu reference.txt -i -"])
def test_closed_standard_input_that_is_read_is_wrong_usage(folder, words):
    code, out, errors = call(words, folder, {0: None})
    assert (code, out) == (2, "")
    assert "standard input is closed" in errors or "no system output" in errors


@each_case("kind", ["closed", "full", "broken"])
def test_wrong_usage_and_errors_keep_their_codes(folder, kind):
    wrong = {"evaluate nowhere --label click --score old": 1}
    wrong |= dict.fromkeys(["wrong", "bleu --wrong", f"{SELFCHECK} --wrong"], 2)
    for words, wanted in wrong.items():
        with refusing(kind) as (target, _):
            assert call(words, folder, {1: target})[0] == wanted
            assert call(words, folder, {2: target})[0] == wanted
            assert call(words, folder, {0: None, 1: target, 2: target})[0] == wanted


@each_case("kind", ["closed", "full", "broken"])
def test_gates_of_a_result_that_cannot_be_written(folder, kind):
    words = "compare log.csv --label click --score new --score old -m auc --ci-method delong --fail-if 'auc drops 0.1'"
    assert call(words, folder, {})[0] == 3
    with refusing(kind) as (target, _):
        assert call(words, folder, {2: target})[0] == 3
        assert call(words, folder, {1: target})[0] == 1


def test_files_are_written_whatever_the_streams_are(folder):
    words = f"evaluate {LOG} -m auc --quiet -o report.json"
    assert call(words, folder, {0: None, 1: None, 2: None})[0] == 0
    assert (folder / "report.json").read_text().startswith("{")


@each_case(
    ("words", "redirection", "wanted"),
    [
        ("list", ">&-", 1), ("list", "2>&-", 0), ("list", "<&-", 0), ("--version", ">&-", 1), ("--version", "2>&-", 0),
        (f"evaluate {LOG} -m auc", ">&-", 1), (f"evaluate {LOG} -m auc", ">&- 2>&- <&-", 1),
        (f"evaluate {LOG} -m auc", "2>&-", 0),
    ],
)  # fmt: skip
def test_a_shell_closes_them(folder, words, redirection, wanted):
    line = f'"{sys.executable}" -m fastmetrics {words} {redirection}'
    done = subprocess.run(
        ["sh", "-c", line], cwd=folder, env=environment(), capture_output=True, encoding="utf-8", timeout=120
    )
    assert done.returncode == wanted
    assert "Traceback" not in done.stderr
    if wanted == 1 and "2>" not in redirection:
        assert done.stderr == f"{NOT_WRITTEN}it is closed\n"
    if wanted == 0:
        assert done.stdout
