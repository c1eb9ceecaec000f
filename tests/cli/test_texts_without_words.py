"""The command says once that ROUGE finds no word in a text, and what it says to type works."""

import pytest

from support.cases import each_case
from support.command_line import run

pytest.importorskip("typer")
pytest.importorskip("rich")

TEXT = "今天天气很好"
SAID = "ROUGE finds no word in a text"


def unwrapped(text: str) -> str:
    return " ".join(text.split())


@each_case("words", [[], ["-sl"], ["-f", "json"], ["-b"], ["--stem"]])
def test_rouge(words, tmp_path):
    (tmp_path / "ref.txt").write_text(f"a cat\n{TEXT}\n{TEXT}\n", encoding="utf-8")
    done = run("rouge", "ref.txt", "-i", "ref.txt", *words, folder=tmp_path)
    assert done.returncode == 0
    assert done.stderr.count("warning:") == 1
    said = unwrapped(done.stderr)
    assert f"warning: ref.txt: {SAID} of row 1," in said
    assert "--tokenizer unicode" in said
    done = run("rouge", "ref.txt", "-i", "ref.txt", *words, "--tokenizer", "unicode", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
