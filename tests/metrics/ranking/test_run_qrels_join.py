"""Joins of a run with its qrels against lookups in dicts: tables in any order, both kinds of ids, dicts of dicts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmetrics._kernels.exchange import hash_partition
from fastmetrics.metrics.ranking.lists import ids
from fastmetrics.metrics.ranking.runs import join as join_module
from fastmetrics.metrics.ranking.runs import join_dicts
from fastmetrics.metrics.ranking.runs.join import group_by_query
from support.cases import assert_raises, each_case

MASK = (1 << 64) - 1


def columns_of(name, nested, order=None, unsigned=False):
    """A dict of dicts as columns: rows in the order of the dicts, or in another one."""
    rows = [(query, item, value) for query, items in nested.items() for item, value in items.items()]
    rows = rows if order is None else [rows[place] for place in order]
    queries, items, values = zip(*rows, strict=True)
    make = (lambda column: np.array(column, np.uint64)) if unsigned else list
    return ids.as_query_ids(make(queries), "query"), ids.as_ids(make(items), "item"), np.array(values, np.float64), name


def join_columns(run, qrels, *, missing="zero", n_threads=2):
    rows, judged_rows = (group_by_query(*columns, n_threads) for columns in (run, qrels))
    return join_module.join_run(rows, judged_rows, missing=missing, n_threads=n_threads)


def expected(run, qrels, missing="zero"):
    """{query: ({item: (score, grade)}, sorted unretrieved grades)} by plain lookups."""
    found = {}
    for query, truth in qrels.items():
        if query in run or missing == "zero":
            items = run.get(query, {})
            lists = {item: (float(score), float(truth.get(item, -1))) for item, score in items.items()}
            found[query] = lists, sorted(float(grade) for item, grade in truth.items() if item not in items)
    return found


def collected(join):
    """The result of a join in the form of `expected`."""
    names, items = join.queries.to_list(), join.items().to_list()
    assert len(names) == len(join.offsets) - 1 == len(join.unretrieved_offsets) - 1
    assert len(items) == len(join.scores) == len(join.grades) == join.offsets[-1]
    assert len(join.unretrieved) == join.unretrieved_offsets[-1]
    found = {}
    for number, query in enumerate(names):
        rows = range(join.offsets[number], join.offsets[number + 1])
        rest = join.unretrieved[join.unretrieved_offsets[number] : join.unretrieved_offsets[number + 1]]
        lists = {items[row]: (float(join.scores[row]), float(join.grades[row])) for row in rows}
        assert len(lists) == len(rows)
        found[query] = lists, sorted(rest.tolist())
    return found


# Texts of equal length and beginning: compared word by word, they differ in the last word or in a middle one.
ALIKE = ["x" * 15 + "y", "x" * 9 + "y" + "x" * 6, "x" * 39 + "y", "x" * 20 + "y" + "x" * 19, "x" * 8 + "y" + "x" * 31]
TEXTS = st.one_of(
    st.sampled_from(["", "a", "ab", "d1", "d10", "éé", "x" * 8, "x" * 9, "x" * 16, "x" * 17, "x" * 40, *ALIKE]),
    st.text(max_size=20),
)
NUMBERS = st.one_of(st.integers(-3, 12), st.sampled_from([2**63 - 1, -(2**63), 2**32, 1 << 62]), st.integers(0, 2**40))
SCORES = st.sampled_from([0.0, 0.5, 1.0, -1.0, 2, True, float("inf"), 3.25])
# Some are not exact as float32.
GRADES = st.one_of(st.sampled_from([0, 1, 2, 3, -1, 0.5]), st.sampled_from([0, 1, 0.1, 2**24 + 1, 1e300]))


@st.composite
def nested_pairs(draw):
    """A run and qrels that share some queries and items; no query without an item (a table has no row for it)."""
    key = draw(st.sampled_from([TEXTS, NUMBERS]))
    queries = draw(st.lists(key, min_size=1, max_size=6, unique=True))
    items = draw(st.lists(key, min_size=1, max_size=12, unique=True))

    def part(values):
        chosen = draw(st.lists(st.sampled_from(queries), min_size=1, unique=True))
        lists = st.dictionaries(st.sampled_from(items), values, min_size=1, max_size=12)
        return {query: draw(lists) for query in chosen}

    return part(SCORES), part(GRADES)


@given(
    pair=nested_pairs(), data=st.data(), n_threads=st.sampled_from([1, 3]), missing=st.sampled_from(["zero", "drop"])
)
def test_join_of_tables_equals_lookups(pair, data, n_threads, missing):
    run, qrels = pair
    want = expected(run, qrels, missing)
    n_run, n_judged = sum(map(len, run.values())), sum(map(len, qrels.values()))
    orders = data.draw(st.permutations(range(n_run))), data.draw(st.permutations(range(n_judged)))
    for order, judged_order in ((None, None), orders):
        got = join_columns(
            columns_of("run", run, order), columns_of("qrels", qrels, judged_order), missing=missing,
            n_threads=n_threads,
        )  # fmt: skip
        assert collected(got) == want
        assert set(got.coverage.unjudged.to_list()) == run.keys() - qrels.keys()
        assert set(got.coverage.missing.to_list()) == qrels.keys() - run.keys()
        assert got.coverage.matched == len(run.keys() & qrels.keys())


@given(pair=nested_pairs(), missing=st.sampled_from(["zero", "drop"]))
def test_join_of_dicts_equals_lookups(pair, missing):
    run, qrels = pair
    got = join_dicts.join_dicts(run, qrels, missing=missing)
    assert collected(got) == expected(run, qrels, missing)
    assert set(got.coverage.unjudged.to_list()) == run.keys() - qrels.keys()
    assert set(got.coverage.missing.to_list()) == qrels.keys() - run.keys()


def test_rows_of_a_query_keep_their_order():
    queries = ids.as_ids(["a", "b", "a", "b", "a"], "q")
    got = group_by_query(queries, ids.as_ids(list("vwxyz"), "i"), np.arange(5.0), "run")
    assert got.queries.to_list() == ["a", "b"]
    assert got.item.to_list() == ["v", "x", "z", "w", "y"]
    assert (got.order.tolist(), got.offsets.tolist()) == ([0, 2, 4, 1, 3], [0, 3, 5])


def test_columns_sorted_by_query_are_not_moved():
    scores = np.arange(4.0)
    item = ids.as_ids(np.arange(4), "i")
    got = group_by_query(ids.as_ids(np.array([7, 7, 3, 3]), "q"), item, scores, "run")
    assert got.order is None
    assert got.values is scores
    assert got.item is item


def test_many_chunks_of_rows_and_lists():
    rng = np.random.default_rng(5)
    run = {query: dict.fromkeys(rng.choice(10**6, 60_000, replace=False).tolist(), 1.0) for query in range(4)}
    qrels = {query: {item: item % 4 for item in list(run[query])[::7]} | {-5: 3} for query in range(4)}
    for n_threads in (1, 2, 5):
        got = join_columns(columns_of("run", run), columns_of("qrels", qrels), n_threads=n_threads)
        assert collected(got) == expected(run, qrels)


@pytest.mark.parametrize(
    "rows", [join_module.ROWS_PER_CHUNK - 1, join_module.ROWS_PER_CHUNK, join_module.ROWS_PER_CHUNK + 1]
)
def test_a_query_that_begins_where_a_chunk_does(rows):
    for queries in (np.repeat([5, 6], rows), np.repeat(["x" * 15 + "y", "x" * 16], rows)):
        got = group_by_query(
            ids.as_ids(queries, "q"), ids.as_ids(np.arange(2 * rows), "i"), np.zeros(2 * rows), "run", 2
        )
        assert got.offsets.tolist() == [0, rows, 2 * rows]
        assert got.order is None


@pytest.mark.parametrize("name", ALIKE)
def test_neighbors_that_are_nearly_the_same_query(name):
    queries = [name, name, "x" * len(name), name]
    got = group_by_query(ids.as_ids(queries, "q"), ids.as_ids(list("abcd"), "i"), np.zeros(4), "run")
    assert got.queries.to_list() == [name, "x" * len(name)]
    assert got.item.to_list() == ["a", "b", "d", "c"]


@pytest.mark.parametrize("convert", [list, np.array, lambda column: np.array(column, object)])
def test_text_in_every_container(convert):
    run = {"q1": {"a": 1, "longer than sixteen bytes": 2}, "q2": {"é": 3, "": 4}}
    rows = [(query, item, score) for query, items in run.items() for item, score in items.items()]
    queries, items, scores = zip(*rows, strict=True)
    columns = (
        ids.as_query_ids(convert(queries), "q"), ids.as_ids(convert(items), "i"), np.array(scores, float), "run"
    )  # fmt: skip
    qrels = {"q1": {"longer than sixteen bytes": 2, "other": 1}, "q2": {"": 1}}
    assert collected(join_columns(columns, columns_of("qrels", qrels))) == expected(run, qrels)


def test_arrow_columns_are_read_in_place_and_dictionaries_by_their_codes():
    pa = pytest.importorskip("pyarrow")
    queries = pa.array(["b", "b", "a", "b"])
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        column = ids.as_ids(queries.cast(kind), "q")
        assert column.to_list() == ["b", "b", "a", "b"]
    # A dictionary may hold a value twice: codes differ and the query is the same.
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 2, 1, 2], pa.int8()), pa.array(["b", "a", "b"]))
    for column in (queries, coded, pa.chunked_array([coded, coded.slice(2)]), queries.dictionary_encode()):
        read = ids.as_query_ids(column, "q")
        got = group_by_query(read, ids.as_ids(np.arange(len(column)), "i"), np.zeros(len(column)), "run")
        assert got.queries.to_list() == ["b", "a"]
        assert np.diff(got.offsets).tolist() == ([3, 1] if len(column) == 4 else [4, 2])


# ------------------------------------------------------------------------------------------------- hash collisions


def text_hashes(words):
    """The hashes of byte_spans.pxd, for texts of eight bytes."""
    state = words ^ np.uint64(8 * 0x9E3779B97F4A7C15 & MASK)
    state *= np.uint64(0xD6E8FEB86659FD93)
    state ^= state >> np.uint64(32)
    state *= np.uint64(0xC2B2AE3D27D4EB4F)
    return state ^ state >> np.uint64(29)


def colliding_texts():
    """Pairs of texts with the same upper half of their hash and the same slot in a small table."""
    numbers = np.arange(10_000_000, 11_500_000)
    hashes = text_hashes(np.char.encode(numbers.astype(str), "ascii").view(np.uint64))
    keys = (hashes & np.uint64(0xFFFFFFFF00000000)) | (hashes & np.uint64(15))
    order = np.argsort(keys, kind="stable")
    same = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    return [(str(numbers[order[place]]), str(numbers[order[place + 1]])) for place in same]


def colliding_integers():
    hashes = (np.uint64(77) << np.uint64(32)) + np.arange(4, dtype=np.uint64) * np.uint64(1 << 16)
    out = np.empty(4, np.uint64)
    hash_partition.unhash_keys(hashes, out)
    return out.view(np.int64).tolist()


def check_collision(first, second):
    for run, qrels in (
        ({"q": {first: 2.0, second: 1.0}}, {"q": {second: 3, first: 1}}),
        ({"q": {first: 2.0}}, {"q": {second: 3}}),
        ({"q": {second: 2.0}}, {"q": {second: 2, first: 3}}),
    ):
        got = join_columns(columns_of("run", run), columns_of("qrels", qrels))
        assert collected(got) == expected(run, qrels)
    run, qrels = {first: {1: 1.0}, second: {2: 2.0}}, {second: {2: 1}, first: {3: 1}}
    assert collected(join_columns(columns_of("run", run), columns_of("qrels", qrels))) == expected(run, qrels)
    assert collected(join_columns(columns_of("run", run), columns_of("qrels", {second: {1: 1}}))) == expected(
        run, {second: {1: 1}}
    )


def test_equal_hashes_of_texts_are_not_equal_texts():
    pairs = colliding_texts()
    assert pairs
    for first, second in pairs:
        assert first != second
        check_collision(first, second)


def test_equal_hashes_of_integers_are_not_equal_integers():
    first, second, *_ = colliding_integers()
    check_collision(first, second)


# ------------------------------------------------------------------------------------------------------- bad input


@each_case(
    ("side", "rows", "message"),
    [
        ("run", [("q1", "a"), ("q2", "d1"), ("q1", "b"), ("q2", "d2"), ("q2", "d1")],
         "run has item 'd1' twice in query 'q2', at rows 1 and 4"),
        ("qrels", [(4, 8), (3, 9), (3, 8), (3, 9), (4, 8)], "qrels has item 9 twice in query 3, at rows 1 and 3"),
        ("run", [(1, 5), (1, 6), (1, 5), (1, 6), (1, 5)], "run has item 5 twice in query 1, at rows 0 and 2"),
        ("run", [("q", "a"), ("q", "b"), ("q", "a"), ("q", "b")], "run has item 'a' twice .* at rows 0 and 2"),
        ("qrels", [(1, 5), (1, 6), (1, 5), (1, 6)], "qrels has item 5 twice in query 1, at rows 0 and 2"),
        ("qrels", [("q", "b"), ("q", "a"), ("q", "b"), ("q", "a")], "qrels has item 'b' twice .* at rows 0 and 2"),
        ("qrels", [("q", "new"), ("q", "new")], "qrels has item 'new' twice in query 'q', at rows 0 and 1"),
    ],
)  # fmt: skip
def test_item_twice_is_named_with_its_rows(side, rows, message):
    queries, items = zip(*rows, strict=True)
    twice = ids.as_ids(list(queries), "q"), ids.as_ids(list(items), "i"), np.zeros(len(rows))
    once = {query: {items[0]: 1} for query in queries}
    if side == "run":
        run, qrels = (*twice, "run"), columns_of("qrels", once)
    else:
        run, qrels = columns_of("run", once), (*twice, "qrels")
    assert_raises(ValueError, message, join_columns, run, qrels)


def test_first_repetition_by_row_is_named_whatever_the_threads():
    queries = np.repeat(np.arange(40), 5000)
    items = np.tile(np.arange(5000), 40)
    items[150_007] = items[150_003]
    items[90_009] = items[90_001]
    run = ids.as_ids(queries, "q"), ids.as_ids(items, "i"), np.zeros(200_000), "run"
    qrels = columns_of("qrels", {query: {1: 1} for query in range(40)})
    for n_threads in (1, 4):
        message = "item 1 twice in query 18, at rows 90001 and 90009"
        assert_raises(ValueError, message, join_columns, run, qrels, n_threads=n_threads)


@pytest.mark.parametrize("where", ["queries", "items"])
def test_integers_and_strings_are_not_joined(where):
    run, qrels = {"q": {"1": 0.5}}, {"q": {"1": 1}}
    qrels = {1: {"1": 1}} if where == "queries" else {"q": {1: 1}}
    wanted = f"{where} of run and qrels are strings and integers"
    assert_raises(TypeError, wanted, join_columns, columns_of("run", run), columns_of("qrels", qrels))
    assert_raises(TypeError, wanted, join_dicts.join_dicts, run, qrels)


def test_unsigned_ids_of_64_bits():
    large = 2**64 - 1
    run, qrels = {large: {large: 1.0, 5: 2.0}}, {large: {large: 3}}
    got = join_columns(columns_of("run", run, unsigned=True), columns_of("qrels", qrels, unsigned=True))
    assert collected(got) == expected(run, qrels)
    small = {5: {5: 1.0}}
    negative = {-1: {-1: 3}}  # the bits of 2**64 - 1
    got = join_columns(columns_of("run", run, unsigned=True), columns_of("qrels", negative))
    assert collected(got) == expected(run, negative)
    got = join_columns(columns_of("run", run, unsigned=True), columns_of("qrels", small))
    assert collected(got) == expected(run, small)
    got = join_columns(columns_of("run", small, unsigned=True), columns_of("qrels", small))
    assert collected(got) == expected(small, small)


def join_tables(run, qrels, **options):
    return join_columns(columns_of("run", run), columns_of("qrels", qrels), **options)


@pytest.mark.parametrize("join", [join_tables, join_dicts.join_dicts])
def test_missing_queries_can_be_an_error(join):
    run, qrels = {"a": {"d": 1.0}}, {name: {"d": 1} for name in "abcdefgh"}
    assert_raises(
        ValueError, r"run has no row of 7 queries \('b', 'c', 'd', 'e', 'f', ...\) of qrels",
        join, run, qrels, missing="raise",
    )


@each_case(
    ("run", "qrels", "error", "message"),
    [
        ({"q": {"a": float("nan")}}, {"q": {"a": 1}}, ValueError, "run has score NaN for item 'a' of query 'q'"),
        ({"q": {"a": np.float32("nan")}}, {"q": {"a": 1}}, ValueError, "run has score NaN for item 'a' of query 'q'"),
        ({"q": {"a": None}}, {"q": {"a": 1}}, TypeError, "run has score None for item 'a' of query 'q'"),
        ({"q": {"a": "1"}}, {"q": {"a": 1}}, TypeError, "run has score '1' for item 'a' of query 'q'"),
        ({"q": {"a": 2**60}}, {"q": {"a": 1}}, ValueError, "no exact float64"),
        ({"q": {"a": np.int64(2**60)}}, {"q": {"a": 1}}, ValueError, "no exact float64"),
        ({"q": {"a": 10**400}}, {"q": {"a": 1}}, ValueError, "run has score 1000"),
        ({"q": {"a": 1j}}, {"q": {"a": 1}}, TypeError, "run has score 1j"),
        ({"q": {"a": 1.0}}, {"q": {"b": 1, "a": float("inf")}}, ValueError, "qrels has relevance inf for item 'a'"),
        ({"q": {"a": 1.0}}, {"q": {"a": float("nan")}}, ValueError, "qrels has relevance NaN for item 'a'"),
        ({"q": {"a": 1.0}}, {"q": ["a"]}, TypeError, r"qrels\['q'\] must be a dict of items; found list"),
        ({}, {"q": {"a": 1}}, ValueError, "run is empty"),
        ({"q": {"a": 1}}, {}, ValueError, "qrels is empty"),
        ([], {"q": {"a": 1}}, TypeError, "run must be a dict of dicts"),
    ],
)  # fmt: skip
def test_bad_dicts_are_named(run, qrels, error, message):
    assert_raises(error, message, join_dicts.join_dicts, run, qrels)


def test_numbers_of_every_kind():
    scores = [1, 2.5, True, np.float32(0.5), np.float64(3), np.int64(4), np.uint8(5), np.bool_(True), float("-inf")]
    run = {"q": {f"d{place}": score for place, score in enumerate(scores)}, "empty": {}}
    qrels = {"q": {"d0": np.int32(2), "d3": True, "x": np.float16(0.5)}, "empty": {"d": 1}}
    assert collected(join_dicts.join_dicts(run, qrels)) == expected(run, qrels)


def test_one_object_as_the_score_of_many():
    score = 0.25
    run = {"q": {f"d{place}": score for place in range(300)} | {"last": 1.0}}
    qrels = {"q": {"d3": 3, "d299": 1, "last": 2, "x": 1}}
    assert collected(join_dicts.join_dicts(run, qrels)) == expected(run, qrels)


def test_items_of_dicts_that_are_not_texts():
    assert join_dicts.join_dicts({1: {np.int64(3): 0.5, 4: 1.0}}, {1: {3: 1}}).items().to_list() == [3, 4]
    mixed = join_dicts.join_dicts({1: {"a": 0.5, 4: 1.0}}, {1: {"a": 1}})
    assert_raises(TypeError, "items of run has 4 at row 1", mixed.items)
