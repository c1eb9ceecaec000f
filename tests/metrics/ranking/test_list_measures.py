"""All measures of lists in memory, computed by the kernels, against the oracles."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fastmetrics.metrics.ranking.lists import list_measures
from fastmetrics.metrics.ranking.lists.list_measures import Lists, Measure, MeasureTable
from oracles.ranking import ranking_lists
from support.cases import each_case
from support.ranking import ranked_arrays

CUTOFFS = (None, 1, 2, 3, 5, 9)
GAINS = ("linear", "exp2", "binary")


def wanted():
    """(name, options) as the oracles take them."""
    for k in CUTOFFS:
        for gain in GAINS:
            yield from ((name, {"k": k, "gain": gain}) for name in ("dcg", "idcg", "cg", "ndcg"))
            yield "rbp", {"k": k, "gain": gain, "p": 0.8}
        yield from (("map", {"k": k, "normalize": normalize}) for normalize in ("min", "relevant", "k", "hits"))
        yield from ((name, {"k": k}) for name in ("mrr", "mind_mrr", "auc"))
        yield "err", {"k": k, "max_grade": 4}
        if k is not None:
            yield from ((name, {"k": k, "gain": gain, "ideal": "k"}) for name in ("ndcg", "idcg") for gain in GAINS)
            yield from ((name, {"k": k}) for name in ("hr", "p", "recall", "f1"))
            yield from ((name, {"k": k, "short_list": "n"}) for name in ("p", "f1"))
    for level in (1, 2):
        yield from ((name, {"level": level}) for name in ("rprec", "bpref", "mrr", "mind_mrr", "map"))
        yield from ((name, {"level": level, "k": 4}) for name in ("hr", "p", "recall", "f1", "auc"))
        yield "ndcg", {"level": level, "k": 3, "gain": "binary"}
        yield "rbp", {"level": level, "k": 3, "gain": "binary", "p": 0.5}


def measure_of(name, level=1, **options):
    number = options.pop("p", None) or options.pop("max_grade", 0.0)
    return Measure.of(name, options.pop("k", None), relevance_level=level, number=number, **options)


WANTED = list(wanted())
TABLE = MeasureTable([measure_of(name, **options) for name, options in WANTED])


@st.composite
def one_list(draw):
    """(scores, grades, grades of items that were not retrieved)."""
    size = draw(st.integers(0, 7))
    pool = draw(st.sampled_from([[0], [0, 1], [-1, 0, 1], [-1, 0, 1, 2, 4], [1], [0.0, 0.5, 1.5, 3.0], [-1]]))
    levels = [0.0, -0.0, math.inf, 1.5, -3.0, -math.inf, 7.0, 8.0, 9.0][: draw(st.sampled_from([1, 2, 4, 9]))]
    scores = draw(st.lists(st.sampled_from(levels), min_size=size, max_size=size))
    grades = draw(st.lists(st.sampled_from(pool), min_size=size, max_size=size))
    unretrieved = draw(st.lists(st.sampled_from([0.0, 1.0, 2.0, 3.0] if max(pool) > 0 else [0.0]), max_size=3))
    return scores, grades, unretrieved


def offsets_of(parts):
    return np.cumsum([0, *map(len, parts)]).astype(np.int64)


def joined(parts, dtype):
    return np.array([value for part in parts for value in part], dtype)


def assert_oracle(found, lists, ties, items=None, bounds=None):
    for place, (scores, grades, unretrieved) in enumerate(lists):
        own = None if items is None else items[bounds[place] : bounds[place + 1]]
        for (name, options), value in zip(WANTED, found.values[:, place], strict=True):
            expected = ranking_lists.measure(name, scores, grades, unretrieved, ties=ties, items=own, **options)
            if expected is None:
                assert math.isnan(value), (name, options)
            else:
                assert math.isclose(value, expected, rel_tol=1e-13, abs_tol=1e-16), (name, options)


@each_case("ties", ["average", "optimistic", "pessimistic", "stable"])
@settings(max_examples=15)
@given(
    lists=st.lists(one_list(), min_size=1, max_size=4),
    score_type=st.sampled_from([np.float32, np.float64]),
    grade_type=st.sampled_from([np.uint8, np.int64, np.float32, np.float64]),
)
def test_all_measures_are_the_oracles(ties, lists, score_type, grade_type):
    bounds = offsets_of([scores for scores, _, _ in lists])
    grades = joined([grades for _, grades, _ in lists], float)
    if not np.array_equal(grades.astype(grade_type, casting="unsafe", copy=True), grades):
        grade_type = np.float64
    rows = Lists(
        joined([scores for scores, _, _ in lists], score_type),
        grades.astype(grade_type),
        bounds,
        np.append(joined([rest for _, _, rest in lists], float), 7.0),
        offsets_of([rest for _, _, rest in lists]),
    )
    assert_oracle(list_measures.measure_lists(rows, TABLE, ties), lists, ties)


@pytest.mark.parametrize("texts", [False, True])
@settings(max_examples=20)
@given(lists=st.lists(one_list(), min_size=1, max_size=4), data=st.data())
def test_the_greater_item_is_first(texts, lists, data):
    bounds = offsets_of([scores for scores, _, _ in lists])
    rows = int(bounds[-1])
    if texts:
        alphabet = st.text("a\x7fé日\U0001f600", max_size=3)
        items = data.draw(st.lists(alphabet, min_size=rows, max_size=rows, unique=True))
        encoded = [item.encode() for item in items]
        stops = np.cumsum([len(item) for item in encoded], dtype=np.int64) if rows else np.zeros(1, np.int64)
        starts = stops - ([len(item) for item in encoded] if rows else 0)
        order = (np.frombuffer(b"".join(encoded) + b"\0", np.uint8), starts, stops)
    else:
        items = data.draw(st.lists(st.integers(0, 2**64 - 1), min_size=rows, max_size=rows, unique=True))
        order = ~np.array(items or [0], np.uint64)
    found = list_measures.measure_lists(
        Lists(
            joined([scores for scores, _, _ in lists], float),
            joined([grades for _, grades, _ in lists], float),
            bounds,
            np.append(joined([rest for _, _, rest in lists], float), 7.0),
            offsets_of([rest for _, _, rest in lists]),
            order,
        ),
        TABLE,
        "docid",
    )
    assert_oracle(found, lists, "docid", items, bounds)


@given(st.lists(one_list(), min_size=2, max_size=4))
def test_lists_are_independent(lists):
    """The values of a list have the same bits whatever list comes before it."""

    def measured(chosen):
        rows = Lists(
            joined([scores for scores, _, _ in chosen], float),
            joined([grades for _, grades, _ in chosen], float),
            offsets_of([scores for scores, _, _ in chosen]),
            np.append(joined([rest for _, _, rest in chosen], float), 7.0),
            offsets_of([rest for _, _, rest in chosen]),
        )
        return list_measures.measure_lists(rows, TABLE).values

    together = measured(lists)
    for place, own in enumerate(lists):
        assert np.array_equal(together[:, [place]], measured([own]), equal_nan=True)


LONG_CUTOFFS = (1, 10, 63, 64, 65, 500, 10_000)


def long_table(names):
    """Measures at some cutoffs; (name, k, options) of each, and their table."""
    rows = []
    for name in names:
        for k in LONG_CUTOFFS if name not in ("bpref", "rprec") else LONG_CUTOFFS[-1:]:
            if name == "map":
                rows += [(name, k, {"normalize": normalize}) for normalize in list_measures.NORMALIZE]
            elif name == "err":
                rows.append((name, k, {"number": 1.0}))
            else:
                rows.append((name, k, {"number": 0.8, "gain": "binary"} if name == "rbp" else {}))
    table = [Measure.of(name, None if name in ("bpref", "rprec") else k, **options) for name, k, options in rows]
    return rows, MeasureTable(table)


def long_lists(seed, dtype, binary):
    """Lists of sizes around the limits of the kernels' methods, with few and many ties and relevant rows."""
    generator = np.random.default_rng(seed)
    for n in (1, 13, 24, 25, 63, 64, 65, 66, 96, 130, 300, 2047, 2048, 2049, 2100):
        for share in (0.03, 0.5, 1.0):
            for levels in (1, 5, 10**9):
                if binary and levels < 10 and n > 300:
                    continue
                scores = generator.integers(0, levels, n).astype(dtype) / 8
                # Scores that differ in their last bits alone, too.
                scores += np.where(generator.random(n) < 0.1, np.spacing(scores), 0).astype(dtype)
                relevant = generator.random(n) < share
                grade = 1.0 if binary else generator.choice([1.0, 1.0, 2.0, 3.5, 40.0, 5.0], n)
                yield scores, np.where(relevant, grade, 0.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_long_lists_sum_gains(dtype):
    lists = list(long_lists(1, dtype, binary=False))
    bounds = offsets_of([scores for scores, _ in lists])
    rows = Lists(np.concatenate([s for s, _ in lists]), np.concatenate([g for _, g in lists]), bounds)
    names, table = long_table(ranked_arrays.LINEAR)
    found = list_measures.measure_lists(rows, table).values
    for place, (scores, grades) in enumerate(lists):
        for (name, k, _), value in zip(names, found[:, place], strict=True):
            if not (grades >= 1).any() and name not in ("dcg", "cg"):
                assert math.isnan(value)
            else:
                expected = ranked_arrays.linear(name, scores, grades, k) if grades.any() else 0.0
                assert math.isclose(value, expected, rel_tol=1e-12, abs_tol=1e-15), (name, k, len(scores))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_long_lists_count_hits(dtype):
    lists = [(s, g) for s, g in long_lists(2, dtype, binary=True) if g.any()]
    bounds = offsets_of([scores for scores, _ in lists])
    rows = Lists(np.concatenate([s for s, _ in lists]), np.concatenate([g for _, g in lists]), bounds)
    names, table = long_table(ranked_arrays.OF_HITS)
    found = list_measures.measure_lists(rows, table).values
    for place, (scores, grades) in enumerate(lists):
        for (name, k, options), value in zip(names, found[:, place], strict=True):
            if name == "auc" and grades.all():
                assert math.isnan(value)
            else:
                options = {key: own for key, own in options.items() if key == "normalize"}
                expected = ranked_arrays.of_hits(name, scores, grades, k, **options)
                assert math.isclose(value, expected, rel_tol=1e-11, abs_tol=1e-14), (name, k, options, len(scores))


# Kernels rank short lists with many relevant rows by another method, which does not support bpref.
OF_SHORT = [(name, own) for name, own in WANTED if name != "bpref" and own.get("k") in (None, 1, 9)]
SHORT_TABLE = MeasureTable([measure_of(name, **own) for name, own in OF_SHORT])
SUMS_TABLE = MeasureTable([measure_of(name, **own) for name, own in OF_SHORT if name != "err"])
SHORT_SIZES = [8, 9, 10, 17, 63, 64, 65, 127, 128, 129, 130]


def short_list(generator, n, levels, grades, dtype):
    """A list with scores of so many levels; with 0 levels only two rows tie."""
    scores = (generator.integers(0, levels, n) if levels else generator.permutation(n)) / 8
    if levels:
        scores += np.where(generator.random(n) < 0.2, np.spacing(scores), 0)
    else:
        scores[:2] = scores[0]
    return scores.astype(dtype), generator.choice(grades, n).astype(float)


@each_case("ties", ["optimistic", "pessimistic", "stable", "docid"])
@settings(max_examples=10)
@given(
    n=st.sampled_from(SHORT_SIZES),
    seed=st.integers(0, 2**32),
    levels=st.sampled_from([0, 1, 3, 30, 10**6]),
    grades=st.sampled_from([(1,), (0, 1), (0, 1, 2, 4), (-1, 0, 1, 2), (0, 0.5, 3, 4, 1)]),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_short_lists_of_many_relevant_rows(ties, n, seed, levels, grades, dtype):
    generator = np.random.default_rng(seed)
    scores, y_true = short_list(generator, n, levels, grades, dtype)
    items = generator.permutation(n)
    unretrieved = [1.0, 3.0, 0.0]
    rows = Lists(scores, y_true, np.array([0, n]), np.array(unretrieved), np.array([0, 3]), n - items.astype(np.uint64))
    values = list_measures.measure_lists(rows, SHORT_TABLE, ties).values[:, 0]
    columns = scores.tolist(), y_true.tolist(), unretrieved
    for (name, own), value in zip(OF_SHORT, values, strict=True):
        expected = ranking_lists.measure(name, *columns, ties=ties, items=items.tolist(), **own)
        if expected is None:
            assert math.isnan(value), (name, own)
        else:
            assert math.isclose(value, expected, rel_tol=1e-12, abs_tol=1e-16), (name, own)


@given(
    n=st.sampled_from(SHORT_SIZES),
    seed=st.integers(0, 2**32),
    levels=st.sampled_from([0, 1, 3, 30, 10**6]),
    grades=st.sampled_from([(1,), (0, 1), (0, 1, 2, 4), (-1, 0, 1, 2), (0, 0.1, 0.7, 3.3, 1)]),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_both_methods_of_ranking_short_lists_agree(n, seed, levels, grades, dtype):
    """Each method also has the same bits for any order of rows."""
    generator = np.random.default_rng(seed)
    scores, y_true = short_list(generator, n, levels, grades, dtype)
    order = generator.permutation(n)

    def measured(table, rows):
        return list_measures.measure_lists(Lists(scores[rows], y_true[rows], np.array([0, n])), table).values[:, 0]

    found = measured(SHORT_TABLE, np.arange(n))
    assert np.array_equal(found, measured(SHORT_TABLE, order), equal_nan=True)
    # With ERR kernels sort the grades of a tie; without it sums must not depend on their order either.
    found = measured(SUMS_TABLE, np.arange(n))
    assert np.array_equal(found, measured(SUMS_TABLE, order), equal_nan=True)
    found = measured(SHORT_TABLE, np.arange(n))
    both = zip(WANTED, measured(TABLE, order), strict=True)
    of_all = [value for (name, own), value in both if (name, own) in OF_SHORT]
    assert np.allclose(found, of_all, rtol=1e-14, atol=0, equal_nan=True)


@given(
    n=st.sampled_from([1, 5, *SHORT_SIZES]),
    seed=st.integers(0, 2**32),
    levels=st.sampled_from([0, 1, 3, 30]),
    grades=st.sampled_from([(0,), (1,), (0, 1), (0, 2.5), (-1, 0, 1, 2)]),
    short=st.booleans(),
)
def test_counts(n, seed, levels, grades, short):
    scores, y_true = short_list(np.random.default_rng(seed), n, levels, grades, np.float64)
    rows = Lists(scores, y_true, np.array([0, n]), np.array([1.0, 3.0, 0.0]), np.array([0, 3]))
    counts = list_measures.measure_lists(rows, SHORT_TABLE if short else TABLE).counts[0]
    positive = y_true > 0
    assert counts[list_measures.ROWS] == n
    assert counts[list_measures.POSITIVES] == positive.sum()
    assert counts[list_measures.JUDGED] == (y_true >= 0).sum()
    assert counts[list_measures.IDEAL] == positive.sum() + 2
    assert counts[list_measures.MISSING] == 3
    # Pairs of a row with a gain and any other row.
    assert counts[list_measures.PAIRS] == positive.sum() * (n - 1)
    assert counts[list_measures.TIED_PAIRS] == (scores[positive][:, None] == scores).sum() - positive.sum()
