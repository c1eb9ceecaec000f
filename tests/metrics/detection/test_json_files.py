"""COCO's JSON files: the reader returns the same as the json module for any file."""

import json
import math
import os
import re
import struct
import threading
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fastmetrics.metrics.detection.coco import json_files
from support.cases import assert_raises, each_case

FIELDS = list(json_files.ANNOTATION)
SPACE = st.sampled_from(["", "", "", " ", "\n", "\t \r\n"])
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(0, 1000).map(repr),
    st.floats(0, 1, width=32).map(repr),
    st.integers(-(10**21), 10**21).map(str),
    st.integers(0, 100).map(str),
    st.from_regex(r"\A-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?\Z"),
)
UNUSUAL_NUMBERS = st.sampled_from(["-0", "-0.0", "-0e9", "01", "1.", ".5", "+1", "-", "1e", "1e+", "NaN", "-Infinity"])
INTEGERS = st.integers(0, 10**6).map(str)
TEXTS = st.one_of(
    st.text(max_size=20).map(json.dumps),
    st.text(max_size=20).map(lambda text: json.dumps(text, ensure_ascii=False)),
    st.sampled_from(
        ['"' + "x" * 40 + '"', '"\\u00e9"', '"\\ud800"', '"\\ud83d\\ude00"', '"\\u12g4"', '"\\x"', '"a\nb"', '"é']
    ),
)


@st.composite
def joined(draw: Any, texts: Any, opening: str, closing: str) -> str:
    space = draw(SPACE)
    return opening + space + f"{space},{draw(SPACE)}".join(texts) + draw(SPACE) + closing


@st.composite
def pairs(draw: Any, keys: Any, values: Any) -> str:
    return f'{draw(keys)}{draw(SPACE)}:{draw(SPACE)}{draw(values)}'


def arrays(values: Any, most: int = 5) -> Any:
    return st.lists(values, max_size=most).flatmap(lambda texts: joined(texts, "[", "]"))


def objects(values: Any) -> Any:
    return st.lists(pairs(TEXTS, values), max_size=4).flatmap(lambda texts: joined(texts, "{", "}"))


ANYTHING = st.recursive(
    st.one_of(NUMBERS, UNUSUAL_NUMBERS, TEXTS, st.sampled_from(["true", "false", "null", "tru", ""])),
    lambda values: st.one_of(arrays(values), objects(values)),
    max_leaves=8,
)
BOXES = st.lists(NUMBERS, min_size=4, max_size=4).flatmap(lambda texts: joined(texts, "[", "]"))
VALUES = {json_files.INTEGER: INTEGERS, json_files.NUMBER: NUMBERS, json_files.BOX: BOXES}
POLYGONS = arrays(arrays(NUMBERS), 2)
RUNS = st.builds(lambda text: json.dumps({"size": [3, 4], "counts": text}), st.text(max_size=60))


@st.composite
def rows(draw: Any, unusual: bool) -> str:
    """An object in COCO's form; an unusual one may have any values."""
    texts = []
    for name in draw(st.permutations(FIELDS)):
        if draw(st.integers(0, 3)) == 0:
            continue
        value = VALUES.get(json_files.ANNOTATION[name], st.one_of(POLYGONS, RUNS))
        if unusual and draw(st.integers(0, 15)) == 0:
            value = ANYTHING
        texts.append(draw(pairs(st.just(json.dumps(name)), value)))
    if draw(st.booleans()):
        texts.append(draw(pairs(TEXTS if unusual else st.just('"file_name"'), ANYTHING if unusual else RUNS)))
    return draw(joined(texts, "{", "}"))


@st.composite
def documents(draw: Any, unusual: bool) -> str:
    many = draw(joined(draw(st.lists(rows(unusual), max_size=4)), "[", "]"))
    if draw(st.booleans()):
        return draw(SPACE) + many + draw(SPACE)
    images = draw(joined(draw(st.lists(rows(unusual), max_size=2)), "[", "]"))
    members = [f'"annotations": {many}', f'"images":{images}']
    if draw(st.booleans()):
        members.insert(draw(st.integers(0, 2)), draw(pairs(st.just('"categories"'), ANYTHING if unusual else POLYGONS)))
    if unusual and draw(st.booleans()):
        members.append(f'"annotations": {draw(ANYTHING)}')
    return draw(SPACE) + draw(joined(members, "{", "}")) + draw(SPACE)


def bits(value: Any) -> Any:
    """The bits of a float, so that -0.0 is not equal to 0.0."""
    return struct.pack("d", value) if isinstance(value, float) else value


def as_dicts(records: json_files.JsonRecords) -> list[dict[str, Any]]:
    """The objects as dicts, with the fields that were read."""
    read: list[dict[str, Any]] = [{} for _ in range(len(records))]
    for name, kind in records.fields.items():
        values = records.values(name) if kind == json_files.SPAN else records.column(name).tolist()
        for row, present, value in zip(read, records.has(name).tolist(), values, strict=True):
            if present:
                row[name] = [bits(number) for number in value] if kind == json_files.BOX else bits(value)
    return read


def expected_dicts(rows: list[dict[str, Any]], fields: dict[str, int]) -> list[dict[str, Any]]:
    """The objects that json read, with these fields and their types."""
    rows_with_fields = []
    for row in rows:
        converted = {}
        for name, kind in fields.items():
            if name not in row:
                continue
            value = row[name]
            if kind == json_files.NUMBER:
                value = bits(float(value))
            elif kind == json_files.BOX:
                value = [bits(float(number)) for number in value]
            elif kind == json_files.INTEGER:
                assert type(value) is int
            converted[name] = value
        rows_with_fields.append(converted)
    return rows_with_fields


def compare(read: Any, expected: Any, fields: dict[str, int] = json_files.DETECTION) -> int:
    """Assert that both are equal. Return the number of arrays that the kernel has read."""
    if isinstance(read, json_files.JsonRecords):
        assert as_dicts(read) == expected_dicts(expected, fields)
        return 1
    if isinstance(read, dict) and isinstance(expected, dict):
        assert read.keys() == expected.keys()
        return sum(compare(read[key], expected[key], json_files.ARRAYS.get(key, {})) for key in read)
    assert repr(read) == repr(expected)
    return 0


def read_by_json(text: bytes) -> tuple[Any, str]:
    """The content of a file, or the message of the json module."""
    try:
        return json.loads(text.decode("utf-8")), ""
    except ValueError as error:
        return None, f"is no JSON file: {error}"
    except RecursionError:
        return None, "is nested too deeply"


def check(path: Any, text: bytes) -> int:
    path.write_bytes(text)
    expected, message = read_by_json(text)
    if not message:
        return compare(json_files.read_json(path, "detections"), expected)
    assert_raises(ValueError, re.escape(f"detections: {path} {message}"), json_files.read_json, path, "detections")
    return 0


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("files") / "some.json"


@given(text=documents(unusual=False))
def test_ordinary_files(path, text):
    check(path, text.encode())


@given(text=documents(unusual=True))
@example(text='[{"score": 0.5, "score": 0.25}]')
@example(text='[{"sc\\u006fre": 0.5}]')
@example(text='[{"bbox": []}]')
@example(text='[{"image_id": 1.0}, {"image_id": "one"}]')
@example(text='[{"image_id": true}]')
@example(text='[{"score": 1e400, "x": ' + "9" * 400 + "}]")
@example(text='[{"score": 1e-320}, {"score": 123456789012345678901234567890.5}]')
@example(text='[{"image_id": 9223372036854775808}]')
@example(text="[")
@example(text="")
@example(text="[]")
@example(text="{}")
@example(text="[{}]")
@example(text="[[]]")
@example(text="\ufeff[]")
@example(text="[] x")
@example(text='{"annotations": {}, "images": 3}')
@example(text='{"annotations": [], "annotations": 3}')
def test_unusual_files(path, text):
    check(path, text.encode("utf-8", "surrogatepass"))


@given(text=documents(unusual=False), data=st.data())
def test_broken_files(path, text, data):
    """Files that are cut short or have a byte replaced: read if they are still JSON, else json's message is raised."""
    raw = bytearray(text.encode())
    position = data.draw(st.integers(0, len(raw)))
    if data.draw(st.booleans()):
        del raw[position:]
    else:
        replacements = st.binary(max_size=1) | st.sampled_from([b'"', b"\\", b",", b"}", b"\0"])
        raw[position : position + 1] = data.draw(replacements)
    check(path, bytes(raw))


def test_kernel_reads_ordinary_files(path):
    annotation = {
        "id": 1, "image_id": 2, "category_id": 3, "bbox": [1, 2.5, 3e2, 4], "area": 5.25, "iscrowd": 0,
        "segmentation": [[1.0, 2, 3, 4, 5, 6]], "other": ["\n", {"é": None, "b": [True, False, {}]}],
    }  # fmt: skip
    images = [{"id": 2, "height": 4, "width": 6, "file_name": "a.jpg"}]
    document = {"info": {}, "images": images, "annotations": [annotation] * 3, "categories": [{"id": 3, "name": "x"}]}
    for indent in (None, 2):
        assert check(path, json.dumps(document, indent=indent).encode()) == 2
    detection = {"image_id": 2, "category_id": 3, "bbox": [1, 2, 3, 4], "score": 0.1234567890123456}
    assert check(path, json.dumps([detection] * 3, ensure_ascii=False).encode()) == 1


def test_more_rows_than_one_call_reads(path, monkeypatch):
    """More rows, and more numbers for Python's float(), than the arrays of one call hold."""
    rows = [{"image_id": row, "score": math.pi * 10.0 ** -(row % 320)} for row in range(700)]
    # The longest rows come first, so the estimated number of rows is too low.
    rows[:3] = [{"image_id": 1, "score": 0.5, "other": "x" * 1000}] * 3
    text = json.dumps(rows).encode()
    monkeypatch.setattr(json_files, "FIRST_ROWS", 3)
    monkeypatch.setattr(json_files, "MAX_HARD_NUMBERS", 65)
    assert check(path, text) == 1


@each_case("depth", [60, 62, 63, 64, 65, 66, 100_000])
def test_nesting_depth(path, depth):
    check(path, f'[{{"other": {"[" * depth}{"]" * depth}}}]'.encode())


def test_bytes_that_are_not_utf8(path):
    for invalid in (b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf5\x80\x80\x80"):
        check(path, b'[{"other": "' + invalid + b'"}]')
        check(path, b'{"info": "' + invalid + b'", "images": []}')


def test_pipe(tmp_path):
    """A file without a known length."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    text = json.dumps([{"image_id": row} for row in range(40_000)]).encode()
    writer = threading.Thread(target=pipe.write_bytes, args=(text,))
    writer.start()
    read = json_files.read_json(pipe, "detections")
    writer.join()
    assert read.column("image_id").tolist() == list(range(40_000))
