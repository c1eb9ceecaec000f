"""JSON lines whose keys have values of several kinds: no matter where they are not read, else errors that name both."""

import json
import re

import pytest

import fastmetrics as fm
from support.cases import assert_raises, each_case
from support.command_line import assert_is_a_message, run

LABELS = [1, 0, 1, 0, 1, 0, 1, 0]
SCORES = [0.9, 0.1, 0.8, 0.3, 0.2, 0.4, 0.7, 0.6]
AUC = 0.8125
# Values of the key x in eight rows, and the misfit: its place, row, kind and the type of the first values.
KINDS = {
    "number, text": ([1, 2, 3, 4, "a", "b", "c", "d"], "x", 4, "a text", "int64"),
    "text, number": (["a", 1] * 4, "x", 1, "a number", "string"),
    "number, list": ([1] * 4 + [[1]] * 4, "x", 4, "a list", "int64"),
    "number, object": ([1] * 4 + [{"a": 1}] * 4, "x", 4, "an object", "int64"),
    "null, number, text": ([None] * 4 + [1, 1, "a", "b"], "x", 6, "a text", "int64"),
    "object, list": ([{"a": 1}, [1]] * 4, "x", 1, "a list", "struct<a: int64>"),
    "boolean, number": ([True, 1] * 4, "x", 1, "a number", "bool"),
    "a field": ([{"a": 1}] * 4 + [{"a": "t"}] * 4, "x.a", 4, "a text", "int64"),
    "items": ([[1]] * 4 + [["t"]] * 4, "x[0]", 4, "a text", "int64"),
    "items of one list": ([[1, "a", None]] * 8, "x[1]", 0, "a text", "int64"),
    "a field of items": ([[{"a": 1}], [{"a": "t"}]] * 4, "x[0].a", 1, "a text", "int64"),
}


def write(path, values, key="x"):
    rows = ({"y": LABELS[i % 8], "s": SCORES[i % 8], key: value} for i, value in enumerate(values))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


@each_case("kinds", KINDS)
def test_a_key_that_is_not_read_may_have_values_of_several_kinds(kinds, tmp_path):
    path = write(tmp_path / "log.jsonl", KINDS[kinds][0])
    assert fm.evaluate(path, "auc", label="y", score="s")["auc"] == AUC
    again = write(tmp_path / "again.jsonl", KINDS[kinds][0])
    assert fm.evaluate([path, again], "auc", label="y", score="s", where="s > 0")["auc"] == AUC
    state = fm.Accumulator(["auc"], label="y", score="s")
    state.update(path)
    assert state.result()["auc"] == AUC


@each_case("kinds", KINDS)
def test_of_a_key_that_is_read_the_row_and_both_kinds_are_named(kinds, tmp_path):
    values, place, row, kind, first_type = KINDS[kinds]
    path = write(tmp_path / "log.jsonl", values)
    with pytest.raises(ValueError, match=f" at row {row}, {kind}, but its type is {re.escape(first_type)},") as caught:
        fm.evaluate(path, "gauc", label="y", score="s", group="x")
    assert f"column {place!r} has " in str(caught.value)
    assert "double" not in str(caught.value)  # it would not read these values


def test_kinds_may_change_behind_the_first_block(tmp_path):
    path = write(tmp_path / "log.jsonl", [1] * 200_000 + ["a", [1], {"z": 1}])
    assert 0.8 < fm.evaluate(path, "auc", label="y", score="s")["auc"] < 0.82
    with pytest.raises(ValueError, match="'x' has \"a\" at row 200,000, a text, but its type is int64"):
        fm.evaluate(path, "gauc", label="y", score="s", group="x")


def test_a_type_that_an_error_proposes_reads_the_file(tmp_path):
    path = write(tmp_path / "log.jsonl", [1] * 200_000 + ["a"])
    later = write(tmp_path / "later.jsonl", [1] * 200_000 + [1.5], key="s2")
    assert_raises(ValueError, "double", fm.evaluate, later, "auc", label="y", score="s2")
    hint = {"column_types": {"s2": "double"}}
    assert fm.evaluate(later, "auc", label="y", score="s2", format_options=hint).rows == 200_001
    with pytest.raises(ValueError, match="row 200,000") as caught:
        fm.evaluate(path, "auc", label="y", score="x", format_options={"column_types": {"x": "double"}})
    assert "column_types" not in str(caught.value)


def test_fields_are_read_beside_others_of_several_kinds(tmp_path):
    values = [{"v": score, "o": 1, "deep": {"w": score, "o": "t"}} for score in SCORES]
    for value in values[4:]:
        value["o"] = "a"
        value["deep"]["o"] = [value["o"]]
    path = write(tmp_path / "log.jsonl", values)
    for score in ("x.v", "x.deep.w", "x.v + x.deep.w"):
        assert fm.evaluate(path, "auc", label="y", score=score)["auc"] == AUC
    assert fm.evaluate(path, "auc", label="y", score=["x.v", "x.deep.w"]).result("auc", score="x.deep.w").value == AUC
    assert_raises(ValueError, r"column 'x\.o' has \"a\"", fm.evaluate, path, "auc", label="y", score="x.o")


@each_case("value", [[], {}, [[]], [[[[1]]]], {"a": {"b": {}}}, "x" * 3_000_000], ids=lambda value: str(value)[:20])
def test_values_that_are_not_read_may_be_anything(value, tmp_path):
    path = write(tmp_path / "log.jsonl", [value, None] * 4)
    assert fm.evaluate(path, "auc", label="y", score="s")["auc"] == AUC


def test_the_command_line_names_row_and_kinds(tmp_path):
    pytest.importorskip("typer")
    path = write(tmp_path / "log.jsonl", KINDS["number, text"][0])
    options = ["evaluate", path, "--label", "y", "-m", "auc"]
    assert run(*options, "--score", "s", folder=tmp_path).returncode == 0
    assert_is_a_message(run(*options, "--score", "x", folder=tmp_path), "column 'x' has \"a\" at row 4, a text")


def write_more(path, more, rows):
    """Twenty objects, some of which have more keys."""
    lines = [json.dumps({"y": n % 2, "s": n / 20, "m": {"v": n / 20}}) for n in range(20)]
    for row in rows:
        lines[row] = f"{lines[row][:-1]}, {more}}}"
    path.write_text("\n".join(lines))
    return path


@each_case("rows", [range(20), range(12, 20)])
def test_a_key_that_is_not_read_may_be_there_twice(rows, tmp_path):
    path = write_more(tmp_path / "log.jsonl", '"x": 1, "x": "b"', rows)
    assert fm.evaluate(path, "auc", label="y", score="s").rows == 20


@each_case(
    "more, score, key", [('"s": 0.5', "s", "s"), ('"s": "text"', "s", "s"), ('"m": {"v": 1, "v": 2}', "m.v", "m")]
)
def test_a_key_that_is_read_is_there_once(more, score, key, tmp_path):
    path = write_more(tmp_path / "log.jsonl", more, [12])
    error = rf"row 12 has the key '[{key}v]' twice"
    assert_raises(ValueError, error, fm.evaluate, path, "auc", label="y", score=score)


def test_fields_that_are_not_read_may_have_other_kinds_in_every_file(tmp_path):
    for name, scores, other in (("a", [1, 0, 1, 0], 5), ("b", [0.5, 0.25, 0.75, 0.5], "text")):
        rows = [{"y": n % 2, "m": {"s": score, "z": other}} for n, score in enumerate(scores)]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert fm.evaluate(str(tmp_path), "auc", label="y", score="m.s")["auc"] == 0.5 / 16
    error = r"column 'm.z' is string in .*b.jsonl but int64 in those before it, such as .*a.jsonl"
    assert_raises(ValueError, error, fm.evaluate, str(tmp_path), "auc", label="y", score="m.s", by="m.z")
    assert_raises(
        ValueError,
        "no column 'x' in the fields of column 'm'",
        fm.evaluate,
        str(tmp_path),
        "auc",
        label="y",
        score="m.x",
    )
