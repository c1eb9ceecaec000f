"""Archives that are no state: other sections, headers or arrays than a state has, and nothing read from them."""

import io
import json
import warnings
import zipfile

import numpy as np

import fastmetrics as fm
from fastmetrics.engine.partial.files.containers import StateError
from support.cases import assert_raises, each_case
from support.states.accumulator_states import make
from support.states.state_bytes_parts import (
    HEADER,
    ROWS,
    array_sections,
    nested,
    seal,
    sections_of,
    shapes_of,
    take_apart,
)

GOOD = make("long text").to_bytes()


def refuse(data, what="damaged"):
    assert_raises(StateError, what, fm.Accumulator.from_bytes, data)


@each_case(
    "text",
    [
        b"", b"null", b"3", b"[]", b"{}", b'"text"', b'{"library": ', b"\xff\xfe", b"[" * 100_000,
        b'{"format": 8, "library": null}', b'{"format": "7", "library": "1"}',
    ],
    ids=lambda text: repr(text[:20]),
)  # fmt: skip
def test_text_that_is_not_a_header(text):
    refuse(seal(sections_of(GOOD) | {HEADER: text}), "damaged: (state.json|it does not name)")


@each_case(
    ("kind", "shape"),
    [
        ("object", [1]), ("|O", [1]), ("<U4", [1]), ("|V8", [1]), ("<i8,<i8", [1]), ("no type", [1]), (None, [1]),
        (3, [1]), ([], [1]), ("int64", [-1]), ("int64", [1.0]), ("int64", ["1"]), ("int64", None), ("int64", [10**20]),
        ("int64", [2**62, 4]), ("int64", [0, 2**70]), ("int64", [2**32, 2**32]), ("int64", [1] * 100),
        ("complex128", [1]), ("bool", [8]), ("../x", [1]),
    ],
    ids=str,
)  # fmt: skip
def test_impossible_arrays(kind, shape):
    parts = take_apart(GOOD)
    shapes = shapes_of(parts.arrays)
    shapes[parts.header["slices"]] = [kind, shape]
    header = json.dumps(nested(parts.header) | {"arrays": shapes}).encode()
    refuse(seal(sections_of(GOOD) | {HEADER: header}))


def array_bytes(array, **options):
    out = io.BytesIO()
    np.lib.format.write_array(out, array, options.pop("version", (1, 0)))
    return out.getvalue()


@each_case(
    "content",
    [
        b"", b"\x93NUMPY", array_bytes(np.array(["a"], object)), array_bytes(np.zeros((2, 2), np.int64)),
        array_bytes(np.zeros(3)), array_bytes(np.zeros(3, np.int64), version=(2, 0)),
        array_bytes(np.zeros(3, np.int64))[:-8], array_bytes(np.zeros(3, np.int64))[:-3], GOOD,
        array_bytes(np.zeros(3, np.int64)).replace(b"(3,)", b"(9,)"), array_bytes(np.zeros(3, "M8[s]")),
    ],
    ids=lambda content: repr(content[:40]),
)  # fmt: skip
def test_sections_that_are_no_arrays(content):
    refuse(seal(sections_of(GOOD) | {"arrays/int64.npy": content}))


def test_arrays_of_other_lengths():
    parts = take_apart(GOOD)
    for arrays, message in ((parts.arrays[:-1], "too short|missing"), ([*parts.arrays, np.arange(1)], "longer than")):
        refuse(seal(sections_of(GOOD) | array_sections(arrays)), message)


def test_archives_that_no_state_is():
    sections = sections_of(GOOD)
    first, *others = sections
    refuse(seal({name: sections[name] for name in (*others, first)}), "no state of an Accumulator")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in sections.items():
            archive.writestr(name, content)
    refuse(out.getvalue(), "section state.json is compressed")
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in (*sections, ROWS):
            archive.writestr(name, sections[name])
    refuse(out.getvalue(), "a section is there twice")


def test_a_field_twice():
    sections = sections_of(GOOD)
    text = sections[HEADER].replace(b'"filtered": 0', b'"filtered": 1, "filtered": 0')
    refuse(seal(sections | {HEADER: text}), "a field of state.json is there twice: rows")


def test_states_keep_which_models_are_equal():
    log = {"y": [0, 1, 1], "a": [0.1, 0.5, 0.9], "b": [0.1, 0.5, 0.9], "c": [0.1, 0.5, 0.8]}
    accumulator = fm.Accumulator("auc", label="y", score=["a", "b", "c"])
    accumulator.update(log)
    restored = fm.Accumulator.from_bytes(accumulator.to_bytes())
    for own in (accumulator, restored):
        (part,) = own._state.states[0].parts
        assert part.counts.differing == (False, False, True)
        assert [part.counts.is_equal(model) for model in range(3)] == [True, True, False]
    other = fm.Accumulator("auc", label="y", score=["a", "b", "c"])
    other.update(log | {"b": [0.1, 0.5, 0.8]})
    restored.merge(fm.Accumulator.from_bytes(other.to_bytes()))
    (part,) = restored._state.states[0].parts
    assert part.counts.differing == (False, True, True)
