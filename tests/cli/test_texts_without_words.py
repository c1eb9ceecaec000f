"""The commands say once that ROUGE finds no word in a text, and what it says to type works."""

import json

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


@each_case("command", ["evaluate", "compare"])
def test_logs(command, tmp_path):
    pytest.importorskip("pyarrow")
    rows = [{"reference": text, "old": "a cat", "new": text} for text in ("a cat", TEXT, TEXT)]
    (tmp_path / "log.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    columns = ["--label", "reference", "--score", "old", "--score", "new"]
    columns += [] if command == "evaluate" else ["--unit", "row", "--replicates", "20"]
    done = run(command, "log.jsonl", *columns, "--metrics", "rouge1,rouge2", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    said = unwrapped(done.stdout)
    assert said.count("finds no word in a text of 2 rows") == 2
    assert "rouge1(tokenizer=unicode)" in said
    done = run(command, "log.jsonl", *columns, "--metrics", "rouge1(tokenizer=unicode)", folder=tmp_path)
    assert done.returncode == 0
    assert "finds no word" not in done.stdout
