"""Group keys: compared exactly, for every type and container, and for keys that share many bits."""

import numpy as np
import pyarrow as pa
import pytest

from support import strategies
from support.cases import each_case
from support.function_cases import GROUPED, call, every_value
from support.peers import pandas, polars


def log_of(rows, **options):
    return strategies.click_log(rows, seed=rows, **options)


@each_case("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_integer_types(dtype):
    log = log_of(3000)
    expected = every_value(log, GROUPED)
    keys = log["group"].astype(dtype)
    for container in (np.asarray, pa.array, polars().Series, pandas().Series):
        assert every_value({**log, "group": container(keys)}, GROUPED) == expected, container


@each_case("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
@each_case("layout", ["byte-swapped", "strided", "reversed"])
def test_integer_layouts(layout, dtype):
    log = log_of(3000)
    changes = {
        "byte-swapped": lambda keys: keys.astype(keys.dtype.newbyteorder()),
        "strided": lambda keys: np.repeat(keys, 2)[::2],
        "reversed": lambda keys: keys[::-1].copy()[::-1],
    }
    keys = changes[layout](log["group"].astype(dtype))
    assert every_value({**log, "group": keys}, GROUPED) == every_value(log, GROUPED)


@pytest.mark.parametrize("layout", ["byte-swapped", "strided", "reversed"])
def test_fixed_width_text_layouts(layout):
    log = log_of(3000)
    changes = {
        "byte-swapped": lambda keys: keys.astype(keys.dtype.newbyteorder()),
        "strided": lambda keys: np.repeat(keys, 2)[::2],
        "reversed": lambda keys: keys[::-1].copy()[::-1],
    }
    keys = np.array([f"é{key}" for key in log["group"]])
    assert every_value({**log, "group": changes[layout](keys)}, GROUPED) == every_value({**log, "group": keys}, GROUPED)


STRING_CONTAINERS = {
    "numpy U": np.array,
    "numpy object": lambda keys: np.array(keys, dtype=object),
    "numpy StringDType": lambda keys: np.array(keys, dtype=np.dtypes.StringDType()),
    "list": list,
    "tuple": tuple,
    "arrow string": pa.array,
    "arrow large_string": lambda keys: pa.array(keys, pa.large_string()),
    "arrow string_view": lambda keys: pa.array(keys, pa.string_view()),
    "arrow dictionary": lambda keys: pa.array(keys).dictionary_encode(),
    "arrow dictionary int8": lambda keys: (
        pa.array(keys).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string()))
    ),
    "arrow chunked": lambda keys: pa.chunked_array([keys[:5], keys[5:5], keys[5:]]),
    "arrow chunked dictionary": lambda keys: pa.chunked_array(
        [pa.array(keys[:9]).dictionary_encode(), pa.array(keys[9:]).dictionary_encode()]
    ),
    "arrow slice": lambda keys: pa.array(["other", *keys, "end"]).slice(1, len(keys)),
    "arrow view slice": lambda keys: pa.array(["other", *keys, "end"], pa.string_view()).slice(1, len(keys)),
    "pandas": lambda keys: pandas().Series(keys),
    "pandas object": lambda keys: pandas().Series(keys, dtype=object),
    "pandas categorical": lambda keys: pandas().Series(pandas().Categorical(keys)),
    "polars": lambda keys: polars().Series(keys),
    "polars categorical": lambda keys: polars().Series(keys, dtype=polars().Categorical),
}


@each_case("container", STRING_CONTAINERS)
def test_string_containers(container):
    log = log_of(3000)
    names = sorted({int(key) for key in log["group"]})
    # Zero-padded, so that strings and integers have the same order.
    keys = [f"user-{key:08d}" for key in log["group"]]
    table = call("auc_by_group", {**log, "group": STRING_CONTAINERS[container](keys)})
    assert list(table.group) == [f"user-{key:08d}" for key in names]
    reference = call("auc_by_group", log)
    np.testing.assert_array_equal(table.auc, reference.auc)
    np.testing.assert_array_equal(table.n, reference.n)
    assert every_value({**log, "group": STRING_CONTAINERS[container](keys)}, ["gauc_score"]) == every_value(
        log, ["gauc_score"]
    )


AWKWARD_STRINGS = {
    "common prefix": ["x" * 40 + suffix for suffix in ("", "a", "b", "ab", "ba")],
    "prefixes of each other": ["a" * length for length in range(40)],
    "around eight bytes": ["a" * 7, "a" * 8, "a" * 9, "a" * 15, "a" * 16, "a" * 17, "a" * 12, "a" * 13],
    "empty": ["", "a"],
    "spaces": ["", " ", "  ", "a", "a ", " a"],
    "not ascii": ["é", "e\u0301", "ß", "ss", "日本", "日本語", "🙂", "🙂🙂", "Ж"],
    "nul bytes": ["a\x00b", "a\x00c", "a", "ab", "\x00", "\x00\x00x"],
    "swapped words": ["abcdefgh12345678", "12345678abcdefgh", "abcdefgh12345679", "abcdefgi12345678"],
    "numbers": ["1", "01", "1.0", "-1", "10"],
    "case": ["user", "User", "USER"],
    "long": ["k" * 100_000, "k" * 99_999 + "l", "l" + "k" * 99_999],
}


@each_case(
    "container", ["numpy object", "arrow string", "arrow string_view", "list", "tuple", "arrow dictionary"]
)
@each_case("awkward", AWKWARD_STRINGS)
def test_awkward_strings(awkward, container):
    names = AWKWARD_STRINGS[awkward]
    picks = np.concatenate([np.arange(len(names)), np.random.default_rng(1).integers(0, len(names), 200)])
    log = log_of(len(picks))
    keys = [names[pick] for pick in picks]
    table = call("auc_by_group", {**log, "group": STRING_CONTAINERS[container](keys)})
    # UTF-8 bytes and code points have the same order.
    assert list(table.group) == sorted(names)
    expected = call("auc_by_group", {**log, "group": picks})
    order = np.argsort([names[pick] for pick in expected.group.tolist()])
    np.testing.assert_array_equal(table.auc, expected.auc[order])
    np.testing.assert_array_equal(table.n, expected.n[order])


@pytest.mark.parametrize("dtype", ["U", "StringDType"])
def test_awkward_strings_of_numpy(dtype):
    """NumPy's U type drops trailing NULs; all other strings must stay different."""
    names = ["", "a", "b", "é", "日本", "🙂", "a\x00b", "a" * 50]
    keys = np.array(names * 3, dtype=dtype if dtype == "U" else np.dtypes.StringDType())
    table = call("auc_by_group", {**log_of(len(keys)), "group": keys})
    assert list(table.group) == sorted(names)
    assert table.n.tolist() == [3] * len(names)


INTEGER_KEYS = {
    "zero and minus one": [0, -1, 1],
    "extremes": [-(2**63), 2**63 - 1, 0, -1],
    "high bits": [key << 48 for key in range(200)],
    "low bits": list(range(200)),
    "top bit": [0, -(2**63)],
    "multiples of 2**32": [key << 32 for key in range(100)],
    "same low 32 bits": [(key << 32) | 7 for key in range(100)],
    "large stride": [key * 0x9E3779B97F4A7C15 % 2**63 for key in range(200)],
    "powers of two": [1 << bit for bit in range(63)],
    "all equal": [42],
}


@each_case("kind", INTEGER_KEYS)
def test_awkward_integers(kind):
    names = sorted(INTEGER_KEYS[kind])
    picks = np.concatenate([np.arange(len(names)), np.random.default_rng(2).integers(0, len(names), 3000)])
    log = log_of(len(picks))
    table = call("auc_by_group", {**log, "group": np.array(names, dtype=np.int64)[picks]})
    expected = call("auc_by_group", {**log, "group": picks})
    assert table.group.tolist() == names
    np.testing.assert_array_equal(table.auc, expected.auc)
    np.testing.assert_array_equal(table.n, expected.n)


def test_unsigned_keys_beyond_the_signed_range():
    names = np.array([0, 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1], dtype=np.uint64)
    picks = np.tile(np.arange(len(names)), 20)
    table = call("auc_by_group", {**log_of(len(picks)), "group": names[picks]})
    assert (table.group.dtype, table.group.tolist()) == (np.uint64, names.tolist())
    assert table.n.tolist() == [20] * len(names)


def test_many_string_groups():
    """More keys than the first size of any hash table."""
    log = log_of(100_000, users=60_000)
    expected = call("auc_by_group", log)
    table = call("auc_by_group", {**log, "group": pa.array([f"{key:07d}" for key in log["group"]])})
    assert [int(key) for key in table.group] == expected.group.tolist()
    np.testing.assert_array_equal(table.auc, expected.auc)
