"""The table state: counts of keys are those of a dictionary, in memory, spilled, merged, and read from bytes."""

import gc
import itertools
import os
import pickle
import re
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastmetrics._core.columns.group_keys import as_keys
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.tables import key_table, stored_keys
from fastmetrics._core.tables.key_table import KeyTable, count_keys
from fastmetrics._kernels.exchange.key_counts import N_SHARDS, KeyHashTable
from support.cases import assert_raises, each_case

SMALL_LIMIT = 1 << 20
INT64 = st.integers(-(1 << 63), (1 << 63) - 1)
TEXTS = st.text(max_size=5) | st.text("ab\0é", min_size=11, max_size=14) | st.just("x" * 300)
PAIRS = st.lists(st.tuples(INT64 | st.integers(-2, 2), st.integers(-2, 2)), min_size=1, max_size=60)
MIXED = st.lists(st.tuples(st.integers(-2, 300), TEXTS), min_size=1, max_size=60)


def as_records(tuples, second):
    return np.array(tuples, [("first", np.int64), ("second", second)])


COLUMNS = st.one_of(
    PAIRS.map(lambda pairs: as_records(pairs, np.int64)),
    MIXED.map(lambda pairs: as_records(pairs, object)),
    st.lists(st.floats(allow_nan=False, width=32), min_size=1, max_size=60).map(lambda values: np.array(values) + 0.0),
    st.lists(st.datetimes(), min_size=1, max_size=60).map(lambda values: np.array(values, "M8[us]")),
    st.lists(INT64 | st.integers(-3, 3), min_size=1, max_size=60).map(lambda values: np.array(values, np.int64)),
    st.lists(st.integers(0, (1 << 64) - 1), min_size=1, max_size=60).map(lambda values: np.array(values, np.uint64)),
    st.lists(TEXTS, min_size=1, max_size=60),
)


def count(values, counts, n_counts):
    """The counts of each key, by a dictionary."""
    found = defaultdict(lambda: [0] * n_counts)
    for key, own in zip(values, counts, strict=True):
        found[key] = [total + count for total, count in zip(found[key], own, strict=True)]
    return dict(found)


def content(table):
    """The same of a table; both ways to read it have to agree."""
    found = dict(zip(table.keys().tolist(), table.counts().tolist(), strict=True))
    by_part = {}
    for part in table.parts():
        own = dict(zip(part.keys().tolist(), part.counts().tolist(), strict=True))
        assert not own.keys() & by_part.keys()
        by_part |= own
    assert by_part == found
    assert len(table) == len(found)
    return found


def joined(columns):
    return list(itertools.chain.from_iterable(columns))


def as_list(values):
    return values if isinstance(values, list) else values.tolist()


def same_arrays(table, other):
    return all(
        np.array_equal(one, two) and one.dtype == two.dtype
        for one, two in zip(table.arrays(), other.arrays(), strict=True)
    )


@pytest.fixture
def small_tables(monkeypatch):
    """Tables that spill after a few keys, and parts that are cut again."""
    monkeypatch.setattr(key_table, "SMALL_SHARD", 1)
    monkeypatch.setattr(MemoryBudget, "has_space_for", lambda budget, n_bytes: n_bytes < 3000)
    monkeypatch.setattr(MemoryBudget, "bytes_per_range", 1200)


def numbered_keys(kind, n):
    """Different keys as a NumPy array; those of several columns are records."""
    return as_keys({
        "integers": lambda: np.arange(n) * 7919 - n,
        "unsigned": lambda: np.arange(n).astype(np.uint64) + np.uint64(1 << 63),
        "short texts": lambda: [f"{number}" for number in range(n)],
        "long texts": lambda: [f"the item with number {number}" for number in range(n)],
        "pairs": lambda: {"user": np.arange(n) // 7, "item": np.arange(n) % 7},
        "texts and numbers": lambda: {"user": [f"u{number // 7}" for number in range(n)], "item": np.arange(n) % 7},
        "fixed width": lambda: np.array([f"item number {number}" for number in range(n)]),
    }[kind]()).to_numpy()


KINDS = ["integers", "unsigned", "short texts", "long texts", "pairs", "texts and numbers", "fixed width"]


# ------------------------------------------------------------------------------------------------------ counting


@given(COLUMNS, st.integers(1, 3), st.data())
def test_equals_a_dictionary(values, n_counts, data):
    counts = data.draw(st.lists(
        st.lists(st.integers(0, 1 << 40), min_size=n_counts, max_size=n_counts),
        min_size=len(values), max_size=len(values),
    ))  # fmt: skip
    table = KeyTable(n_counts)
    table.add(as_keys(values), np.array(counts, np.int64))
    assert content(table) == count(as_list(values), counts, n_counts)


@given(st.lists(TEXTS, min_size=1, max_size=60))
def test_rows_without_counts_count_one(values):
    table = count_keys(as_keys(values))
    assert content(table) == {key: [n] for key, n in Counter(values).items()}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("few_keys", [0, 2], ids=["in order", "in threads"])
def test_many_rows(kind, n_threads, few_keys, monkeypatch):
    """Enough rows for several blocks, which are ordered, or counted by threads; the table is that of any order."""
    monkeypatch.setattr(key_table, "FEW_KEYS", few_keys)
    monkeypatch.setattr(key_table, "ORDERED_ROWS", 1 << 14)
    monkeypatch.setattr(key_table, "TASK_ROWS", 1 << 12)
    random = np.random.default_rng(5)
    rows = random.integers(0, 5000, 50_000)
    counts = random.integers(0, 9, (50_000, 2))
    keys = numbered_keys(kind, 5000)[rows]
    table = count_keys(as_keys(keys), counts, n_counts=2, n_threads=n_threads)
    expected = np.zeros((5000, 2), np.int64)
    np.add.at(expected, rows, counts)
    names = numbered_keys(kind, 5000).tolist()
    assert content(table) == {
        name: own for name, own, n in zip(names, expected.tolist(), np.bincount(rows), strict=True) if n
    }
    order = random.permutation(50_000)
    assert same_arrays(table, count_keys(as_keys(keys[order]), counts[order], n_counts=2))


KEYS_OF_EACH_KIND = {
    "numbers": np.arange(20_000) * 7919,
    "pairs": as_records([(i, i % 7) for i in range(20_000)], np.int64),
    "short texts": [str(i) for i in range(20_000)],
    "long texts": [f"a text of more than twelve bytes {i}" for i in range(20_000)],
}  # fmt: skip


@each_case("values", KEYS_OF_EACH_KIND.values())
def test_rows_are_ordered_by_the_shards_of_the_counter(values):
    """Threads add the rows of different shards, so no row may belong to another one."""
    keys, table = as_keys(values), KeyTable()
    counter = table.open_counter(stored_keys.stored_type(keys.dtype))
    ordered = key_table.RowsByShard(keys, None)
    ordered.fill(range(keys.rows), 1)
    for shard in range(N_SHARDS):
        table.add_ordered(counter, ordered, shard)
        sizes = [counter.size(number) for number in range(N_SHARDS)]
        assert [size > 0 for size in sizes] == [number <= shard for number in range(N_SHARDS)]
    assert sum(sizes) == keys.rows


@each_case("values", KEYS_OF_EACH_KIND.values())
def test_a_part_of_a_shard_uses_all_shards_of_its_table(values):
    """Every level cuts keys by bits of its own: otherwise a part that does not fit would never become smaller."""
    table = count_keys(as_keys(values))
    for level in (1, 2):
        part, counter = KeyTable(level=level), table.counter
        part.add_entries(counter.entries(0), counter.text(0), table.dtype)
        sizes = [part.counter.size(number) for number in range(N_SHARDS)]
        assert sum(sizes) == counter.size(0)
        assert max(sizes) < sum(sizes) / 8


def test_texts_whose_hashes_are_equal():
    """Equal hashes are not equal keys: texts are compared. The order of both does not depend on that of the rows."""
    texts = np.array([b"the first of two texts", b"another text, as long"], object)
    tables = []
    for order in ([0, 1, 0], [1, 0, 0]):
        keys = as_keys([text.decode() for text in texts[order]])
        keys.hash_block = lambda start, stop, scratch, keys=keys: (
            type(keys).hash_block(keys, start, stop, scratch), scratch.hashes.fill(7)
        )  # fmt: skip
        tables.append(KeyTable())
        tables[-1].add(keys)
        assert content(tables[-1]) == {texts[0].decode(): [2], texts[1].decode(): [1]}
    assert same_arrays(*tables)


def test_the_seeds_do_not_change_a_table(change_table_seeds):
    values = numbered_keys("long texts", 3000)
    table = count_keys(as_keys(values))
    change_table_seeds(1)
    assert same_arrays(table, count_keys(as_keys(values[::-1])))


def test_count_values():
    table = count_keys(as_keys([1, 1, 1, 2, 2, 3, 3, 4]))
    values, n_keys = table.count_values()
    assert (values.tolist(), n_keys.tolist()) == ([1, 2, 3], [1, 2, 1])


def test_an_empty_table():
    table = KeyTable(2)
    assert len(table) == 0
    assert list(table.parts()) == []
    assert (table.keys().shape, table.counts().shape, table.n_bytes) == ((0,), (0, 2), 0)
    assert [array.shape for array in table.count_values()] == [(0,), (0,)]
    table.merge(KeyTable(2))
    assert same_arrays(table, pickle.loads(pickle.dumps(table)))


# ------------------------------------------------------------------------------------------------------ merging


@given(st.lists(st.lists(TEXTS, min_size=1, max_size=20), min_size=1, max_size=5), st.randoms())
def test_merging_in_any_order(columns, random):
    tables = [count_keys(as_keys(values)) for values in columns]
    order = random.sample(range(len(tables)), len(tables))
    merged = KeyTable()
    for number in order:
        merged.merge(tables[number], n_threads=random.choice([1, 2]))
    assert content(merged) == {key: [n] for key, n in Counter(joined(columns)).items()}
    assert same_arrays(merged, count_keys(as_keys(joined(columns))))


def test_merging_a_table_with_itself():
    table = count_keys(as_keys(numbered_keys("long texts", 500)))
    table.merge(table)
    assert set(table.counts()[:, 0].tolist()) == {2}


@each_case("n_counts, keys, message", [
    (2, as_keys([1]), "tables of 1 and of 2 counts cannot be merged"),
    (1, as_keys(["a"]), "the keys of one table must be of one type; found int64 and texts"),
    (1, as_keys(np.array([1], np.uint64)), "found int64 and uint64"),
])  # fmt: skip
def test_tables_that_do_not_fit(n_counts, keys, message):
    other = KeyTable(n_counts)
    other.add(keys, np.ones((1, n_counts), np.int64))
    assert_raises(ValueError, message, lambda: count_keys(as_keys([1])).merge(other))


# ------------------------------------------------------------------------------------------------------ overflow


def test_counts_that_overflow():
    most = (1 << 63) - 1
    table = KeyTable()
    table.add(as_keys([5, 5]), np.array([most - 1, 1]))
    assert content(table) == {5: [most]}
    with pytest.raises(OverflowError, match="a count of a key is more than 2\\*\\*63 - 1"):
        table.add(as_keys([5]))
    with pytest.raises(OverflowError, match="more than"):
        table.merge(count_keys(as_keys([5])))


@each_case("counts, message", [
    (np.array([1.0]), "counts must be int64 of shape (1, 1); found float64 (1,)"),
    (np.array([1, 2]), "counts must be int64 of shape (1, 1); found int64 (2,)"),
    (np.array([-1]), "counts must not be negative"),
])  # fmt: skip
def test_bad_counts(counts, message):
    assert_raises(ValueError, re.escape(message), lambda: KeyTable().add(as_keys([7]), counts))


# ------------------------------------------------------------------------------------------------------ spilling


@pytest.mark.parametrize("kind", KINDS)
def test_spilled(kind, tmp_path, small_tables):
    """Tables that spill hold what a dictionary holds, also after they were read, and leave no file behind."""
    budget = MemoryBudget(SMALL_LIMIT, str(tmp_path), 2)
    table, expected = KeyTable(2, budget), defaultdict(lambda: [0, 0])
    random = np.random.default_rng(3)
    names = numbered_keys(kind, 1500)
    for _ in range(2):
        rows = random.integers(0, 1500, 1500)
        counts = random.integers(0, 5, (1500, 2))
        table.add(as_keys(names[rows]), counts)
        for name, own in zip(names[rows].tolist(), counts.tolist(), strict=True):
            expected[name] = [total + count for total, count in zip(expected[name], own, strict=True)]
        assert table.spilled
        assert content(table) == expected
    assert sum(map(len, table.runs)) > N_SHARDS
    values, n_keys = table.count_values(1, n_threads=3)
    assert dict(zip(values.tolist(), n_keys.tolist(), strict=True)) == Counter(own[1] for own in expected.values())
    in_memory = KeyTable(2)
    in_memory.merge(pickle.loads(pickle.dumps(table)))
    assert content(in_memory) == expected
    assert same_arrays(table, in_memory)
    assert os.listdir(tmp_path) == []
    table.close()
    assert budget.reserved_bytes == 0


@settings(deadline=None, max_examples=30)
@given(st.lists(st.lists(TEXTS, min_size=1, max_size=60), min_size=1, max_size=4), st.booleans())
def test_spilled_tables_merge(columns, spill_first):
    tables = []
    for values in columns:
        tables.append(KeyTable(1, MemoryBudget(SMALL_LIMIT, None, 1)))
        tables[-1].add(as_keys(values))
        if spill_first:
            for number in range(N_SHARDS):
                tables[-1].spill(number, keep_memory=True)
    merged = KeyTable(1, MemoryBudget(SMALL_LIMIT, None, 1))
    for table in tables:
        merged.merge(table)
        merged.merge(table)
    assert content(merged) == {key: [2 * n] for key, n in Counter(joined(columns)).items()}


def test_memory_stays_within_the_limit(tmp_path):
    """Of twenty times the keys that fit, with a real limit: the table never has more than its share."""
    budget = MemoryBudget(SMALL_LIMIT, str(tmp_path), 1)
    table = KeyTable(1, budget)
    for start in range(0, 400_000, 10_000):
        table.add(as_keys(np.arange(start, start + 10_000)))
        assert budget.reserved_bytes <= SMALL_LIMIT // 2
        assert table.n_bytes <= SMALL_LIMIT // 2
    assert table.spilled
    assert len(table) == 400_000
    assert table.n_bytes == 0  # what was in memory is in the file as well, to be read by parts
    assert budget.reserved_bytes == 0
    assert [array.tolist() for array in table.count_values()] == [[1], [400_000]]


def test_a_full_disk_is_an_error(monkeypatch, small_tables, tmp_path):
    table = KeyTable(1, MemoryBudget(SMALL_LIMIT, str(tmp_path / "missing"), 1))
    with pytest.raises(OSError, match="there is no such folder"):
        table.add(as_keys(np.arange(5000)))


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_files_are_closed(small_tables, tmp_path):
    def n_open():
        return sum(str(tmp_path) in os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")
                   if os.path.islink(f"/proc/self/fd/{name}"))  # fmt: skip

    table = KeyTable(1, MemoryBudget(SMALL_LIMIT, str(tmp_path), 1))
    table.add(as_keys(np.arange(5000)))
    assert len(table) == 5000
    assert n_open() == 1
    del table
    gc.collect()
    assert n_open() == 0


# ------------------------------------------------------------------------------------------------------ bytes


def restored(table):
    """The table that its arrays fill."""
    other = KeyTable(table.n_counts)
    other.load_arrays(*table.arrays())
    return other


@given(COLUMNS)
def test_arrays_come_back(values):
    table = count_keys(as_keys(values))
    assert content(restored(table)) == content(table)
    assert same_arrays(restored(table), table)
    assert same_arrays(pickle.loads(pickle.dumps(table)), table)
    for array, (dtype, *shape) in zip(table.arrays(), table.layout(), strict=True):
        assert array.dtype == dtype
        assert all(length in (None, found) for length, found in zip(shape, array.shape, strict=True))


def changed(arrays, number, change):
    arrays = [array.copy() for array in arrays]
    arrays[number] = change(arrays[number])
    return arrays


def as_bytes(text):
    return np.frombuffer(text.encode(), np.uint8)


TEXT_ARRAYS = count_keys(as_keys(["éé", "éa"])).arrays()
INTEGER_ARRAYS = count_keys(as_keys([1, 2, 2])).arrays()


@each_case("arrays, message", [
    (changed(INTEGER_ARRAYS, 0, lambda kind: kind + 1), "its keys are of no known type"),
    (changed(INTEGER_ARRAYS, 0, lambda kind: as_bytes("[[null, 7]]")), "its keys are of no known type"),
    (changed(INTEGER_ARRAYS, 0, lambda kind: as_bytes('[[null, "<U9"]]')), "its keys are of no known type"),
    (changed(INTEGER_ARRAYS, 0, lambda kind: as_bytes('[["a", "<i8"], ["a", "<i8"]]')), "keys are of no known type"),
    (changed(INTEGER_ARRAYS, 0, lambda kind: as_bytes('[["a", "<i8"], ["b", "<i8"]]')), "its keys have another type"),
    (changed(INTEGER_ARRAYS, 0, lambda kind: kind[:0]), "its keys have no type"),
    (changed(INTEGER_ARRAYS, 0, lambda kind: TEXT_ARRAYS[0]), "its keys have another type"),
    (changed(INTEGER_ARRAYS, 1, lambda keys: keys * 0), "a key is there twice"),
    (changed(INTEGER_ARRAYS, 1, lambda keys: keys[:1]), "its keys and counts differ in number"),
    (changed(INTEGER_ARRAYS, 2, lambda text: np.zeros(3, np.uint8)), "its keys have another type"),
    (changed(INTEGER_ARRAYS, 4, lambda counts: -counts), "a count is negative"),
    (changed(TEXT_ARRAYS, 0, lambda kind: as_bytes('[["a", "<i8"], ["b", "|O"], ["c", "|O"]]')), "a text is not valid"),
    (changed(TEXT_ARRAYS, 1, lambda keys: np.zeros((2, 1), np.int64)), "its keys have another type"),
    (changed(TEXT_ARRAYS, 2, lambda text: text[:-1]), "the offsets of texts do not match their bytes"),
    (changed(TEXT_ARRAYS, 2, lambda text: text * 0 + 255), "a text is not valid"),
    (changed(TEXT_ARRAYS, 3, lambda offsets: np.array([0, 1, 7])), "a text is not valid"),
    (changed(TEXT_ARRAYS, 3, lambda offsets: offsets[::-1].copy()), "the offsets of texts do not match their bytes"),
    (changed(TEXT_ARRAYS, 3, lambda offsets: offsets - 1), "the offsets of texts do not match their bytes"),
])  # fmt: skip
def test_corrupted_arrays(arrays, message):
    assert_raises(ValueError, message, lambda: KeyTable().load_arrays(*arrays))


def test_arrays_without_offsets():
    arrays = changed(TEXT_ARRAYS, 3, lambda offsets: offsets[:0])
    assert_raises(ValueError, "its keys and counts differ in number", lambda: KeyTable().load_arrays(*arrays))


# ------------------------------------------------------------------------------------------------------ the kernel


def test_the_counter_checks_its_arguments():
    counter = KeyHashTable(2, 1)
    none, one = np.empty(0, np.uint64), np.ones(1, np.uint64)
    wide = KeyHashTable(1, 3)
    for call in (
        lambda: KeyHashTable(0, 1),
        lambda: KeyHashTable(1, 1, 64),
        lambda: KeyHashTable(1, 4),
        lambda: counter.add_rows(one, none, none, np.ones((1, 1), np.int64), 0),
        lambda: counter.add_rows(one, none, none, np.ones((2, 2), np.int64), 0),
        lambda: wide.add_rows(one, none, none, None, 0),
        lambda: counter.add_entries(np.ones((1, 2), np.uint64), np.empty(0, np.uint8), 0),
        lambda: counter.add_shard(wide, 0, 0),
        lambda: counter.sort_shard(0, np.empty((2, 5), np.int64), np.empty((0, 3), np.uint64), np.empty(0, np.uint8)),
    ):
        with pytest.raises(ValueError, match=r"must|different"):
            call()
    with pytest.raises(IndexError):
        counter.size(N_SHARDS)
