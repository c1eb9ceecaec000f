"""docs/detection.md as a reader pastes it: Python first, then the command line, in one fresh folder."""

import doctest
import io
import re
import warnings
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

import fastmetrics as fm

PAGE = Path(__file__).resolve().parents[1] / "docs" / "detection.md"

pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="no docs beside the tests")


def typed(text):
    """(command, what it prints) of the console blocks."""
    for block in re.findall(r"^```console\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, printed = part.partition("\n")
            yield command, printed


def run(words):
    from fastmetrics.cli import main

    with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as errors:
        code = main(words)
    return code, out.getvalue(), errors.getvalue()


def test_everything_on_the_page_happens(tmp_path):
    text = PAGE.read_text(encoding="utf-8")
    test = doctest.DocTestParser().get_doctest(text, {}, "detection.md", str(PAGE), 0)
    assert len(test.examples) > 30
    with chdir(tmp_path), warnings.catch_warnings():
        warnings.simplefilter("error")
        runner = doctest.DocTestRunner()
        runner.run(test)
        assert runner.summarize(verbose=False).failed == 0
        pytest.importorskip("typer")
        pytest.importorskip("rich")
        commands = list(typed(text))
        assert len(commands) >= 3
        for command, printed in commands:
            program, *words = command.split()
            assert program == "fastmetrics"
            code, out, errors = run(words)
            assert (code, errors) == (0, ""), command
            assert out == printed, command


def test_every_function_is_told_of():
    text = PAGE.read_text(encoding="utf-8")
    names = {name for name in fm.NAMES["metrics.detection"] if name.islower() or name.startswith("COCO")}
    assert {name for name in names if f"`{name}" not in text} == set()


def test_links_lead_somewhere():
    for path, anchor in re.findall(r"\]\(([\w.]+)(#[\w-]+)?\)", PAGE.read_text(encoding="utf-8")):
        linked = PAGE.parent / path
        assert linked.is_file(), path
        if anchor:
            headings = re.findall(r"^#+ (.*)$", linked.read_text(encoding="utf-8"), flags=re.MULTILINE)
            assert anchor[1:] in [heading.lower().replace(" ", "-") for heading in headings], anchor
