"""docs/text.md as a reader pastes it: Python first, then what is typed on the command line, in one fresh folder."""

import doctest
import io
import re
import sys
import warnings
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace

import pytest

import fastmetrics as fm

PAGE = Path(__file__).resolve().parents[1] / "docs" / "text.md"

pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="no docs beside the tests")


def typed(text):
    """(command, what it prints) of the console blocks."""
    for block in re.findall(r"^```console\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, printed = part.partition("\n")
            yield command, printed


def run(words, given):
    from fastmetrics.cli import main

    kept, sys.stdin = sys.stdin, SimpleNamespace(buffer=given, isatty=lambda: False)
    try:
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as errors:
            code = main(words)
    finally:
        sys.stdin = kept
    return code, out.getvalue(), errors.getvalue()


def test_everything_on_the_page_happens(tmp_path):
    text = PAGE.read_text(encoding="utf-8")
    test = doctest.DocTestParser().get_doctest(text, {}, "text.md", str(PAGE), 0)
    assert len(test.examples) > 30
    with chdir(tmp_path), warnings.catch_warnings():
        warnings.simplefilter("error")
        runner = doctest.DocTestRunner()
        runner.run(test)
        assert runner.summarize(verbose=False).failed == 0
        pytest.importorskip("typer")
        pytest.importorskip("rich")
        commands = list(typed(text))
        assert len(commands) >= 6
        for command, printed in commands:
            program, *words = command.split()
            assert program == "fastmetrics"
            given = io.BytesIO()
            if "<" in words:
                at = words.index("<")
                given = io.BytesIO(Path(words[at + 1]).read_bytes())
                words = words[:at]
            code, out, errors = run(words, given)
            assert (code, errors) == (0, ""), command
            assert out == printed, command


def test_every_function_is_told_of():
    text = PAGE.read_text(encoding="utf-8")
    functions = {name for name in fm.NAMES["metrics.text"] if name.islower()}
    assert {name for name in functions if f"`{name}" not in text} == set()


def test_links_lead_somewhere():
    for path, anchor in re.findall(r"\]\(([\w.]+)(#[\w-]+)?\)", PAGE.read_text(encoding="utf-8")):
        linked = PAGE.parent / path
        assert linked.is_file(), path
        if anchor:
            headings = re.findall(r"^#+ (.*)$", linked.read_text(encoding="utf-8"), flags=re.MULTILINE)
            assert anchor[1:] in [heading.lower().replace(" ", "-") for heading in headings], anchor
