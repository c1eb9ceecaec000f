"""Functions of ranked lists against the oracles: forms of input, ties, cutoffs, empty lists, weights."""

import itertools
import math
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from oracles.ranking import ranking_lists
from support.cases import assert_raises, each_case
from support.peers import pytrec_eval
from support.ranking import ranked_arrays
from support.ranking.ranking_functions import FUNCTIONS

TIES = ("average", "optimistic", "pessimistic", "stable", "docid")
EMPTY = ("zero", "skip", "one", "nan", "raise")


class Case(NamedTuple):
    """Rows of several lists, and one weight for every list; `arguments` and `keywords` for the functions."""

    grades: list[float]
    scores: list[float]
    lists: list[int]
    items: list
    weights: list[float] | None
    arguments: tuple
    keywords: dict


def shaped(form, rows, draw):
    """The rows in an order that the form of input allows."""
    if form == "groups":
        return draw(st.permutations(rows))
    return sorted(rows, key=lambda row: row[2])


@st.composite
def cases(draw):
    form = draw(st.sampled_from(["groups", "texts", "offsets", "matrix"]))
    n_lists = draw(st.integers(1, 4))
    width = draw(st.integers(2, 6))  # of a matrix
    sizes = [width if form == "matrix" else draw(st.integers(0 if form == "offsets" else 1, 6)) for _ in range(n_lists)]
    if not any(sizes):
        sizes[0] = 1
    levels = draw(st.sampled_from([1, 2, 3, 9]))
    grade_type = draw(st.sampled_from(["int64", "uint8", "bool", "float32", "float64"]))
    pool = draw(st.sampled_from([[0], [0, 1], [1]] if grade_type == "bool" else [[0], [0, 1], [0, 1, 2, 4], [1], [3]]))
    if grade_type.startswith("f"):
        pool = [grade / 2 for grade in pool] if draw(st.booleans()) else pool
    rows = [
        (draw(st.sampled_from(pool)), float(draw(st.integers(1, levels))), own)
        for own, size in enumerate(sizes)
        for _ in range(size)
    ]
    rows = shaped("groups" if form == "texts" else form, rows, draw)
    grades, scores, lists = (list(column) for column in zip(*rows, strict=True))
    numbers = draw(st.permutations(range(len(rows))))
    items = {
        "text": [str(number) for number in numbers],
        "negative": [number - len(rows) // 2 for number in numbers],
        "unsigned": [2**63 - 2 + number for number in numbers],
    }[draw(st.sampled_from(["text", "negative", "unsigned"]))]
    weights = None
    if draw(st.booleans()):
        weights = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=n_lists, max_size=n_lists))
        if not any(weights[own] for own in lists):
            weights = [1.0] * n_lists
    y_true = np.array(grades, grade_type)
    y_score = np.array(scores, draw(st.sampled_from(["float32", "float64", "int64"])))
    keywords = {} if weights is None else {"sample_weight": np.array(weights)}
    if form in ("groups", "texts"):
        names = np.array([f"list {own}" if form == "texts" else 7 * own - 3 for own in lists])
        if weights is not None:
            keywords["sample_weight"] = np.array([weights[own] for own in lists])
        return Case(grades, scores, lists, items, weights, (y_true, y_score, names), keywords)
    if form == "offsets":
        keywords["offsets"] = np.cumsum([0, *sizes])
        return Case(grades, scores, lists, items, weights, (y_true, y_score), keywords)
    shape = (n_lists, width)
    return Case(grades, scores, lists, items, weights, (y_true.reshape(shape), y_score.reshape(shape)), keywords)


def items_of(case):
    """Ids of rows as an array of y_true's shape."""
    has_large = any(isinstance(item, int) and item >= 2**63 for item in case.items)
    return np.array(case.items, np.uint64 if has_large else None).reshape(case.arguments[0].shape)


def values_of(case, measure, ties, **options):
    """The oracle's value of every list, also of lists without rows."""
    n_lists = max(case.lists) + 1 if case.weights is None else len(case.weights)
    if "offsets" in case.keywords:
        n_lists = len(case.keywords["offsets"]) - 1
    found = []
    for own in range(n_lists):
        rows = [row for row, of_row in enumerate(case.lists) if of_row == own]
        items = [case.items[row] for row in rows]
        columns = [case.scores[row] for row in rows], [case.grades[row] for row in rows]
        found.append(ranking_lists.measure(measure, *columns, ties=ties, items=items, **options))
    return found


def assert_value(value, expected):
    if expected is None:
        assert math.isnan(value)
    else:
        assert math.isclose(value, expected, rel_tol=1e-12, abs_tol=1e-15)


@pytest.mark.parametrize("name", FUNCTIONS)
@given(case=cases(), data=st.data())
def test_functions_are_the_oracles(name, case, data):
    function = FUNCTIONS[name]
    options = {option: data.draw(st.sampled_from(values)) for option, values in function.options.items()}
    level = data.draw(st.sampled_from([1, 1, 2, 0.5]))
    ties = data.draw(st.sampled_from(TIES))
    empty = data.draw(st.sampled_from(EMPTY)) if function.has_empty else "zero"
    cutoffs, k = [None], {}
    if function.cutoff:
        cutoff = st.integers(1, 8)
        k = {"k": data.draw(st.one_of(cutoff, st.lists(cutoff, min_size=1, max_size=4)))}
        if not function.needs_cutoff and data.draw(st.booleans()):
            k = {}
        cutoffs = k.get("k") if isinstance(k.get("k"), list) else [k.get("k")]
    keywords = case.keywords | k | options | {"ties": ties, "relevance_level": level}
    keywords |= {"empty": empty} if function.has_empty else {}
    if ties == "docid":
        keywords["items"] = items_of(case)
    own = [{"k": cutoff} if function.cutoff else {} for cutoff in cutoffs]
    values = [values_of(case, function.measure, ties, level=level, **cutoff, **options) for cutoff in own]
    weights = case.weights
    present = [value for column in values for at, value in enumerate(column) if weights is None or weights[at]]
    if empty == "raise" and None in present:
        assert_raises(ValueError, "no relevant row", getattr(fm, name), *case.arguments, **keywords)
        return
    expected = [ranking_lists.mean(column, weights, empty) for column in values]
    warned = pytest.warns(fm.UndefinedMetricWarning) if None in expected else nullcontext()
    with warned:
        found = getattr(fm, name)(*case.arguments, **keywords)
    if isinstance(k.get("k"), list):
        assert isinstance(found, np.ndarray)
        assert found.shape == (len(cutoffs),)
    else:
        assert isinstance(found, float)
        found = [found]
    for value, wanted in zip(found, expected, strict=True):
        assert_value(value, wanted)


@given(case=cases(), data=st.data())
def test_ideal_lists_of_k_ones(case, data):
    k = data.draw(st.integers(1, 8))
    for name, measure in (("ndcg_score", "ndcg"), ("ideal_dcg", "idcg")):
        value = getattr(fm, name)(*case.arguments, **case.keywords, k=k, ideal="k")
        values = values_of(case, measure, "average", k=k, ideal="k")
        assert_value(value, ranking_lists.mean(values, case.weights))


@given(case=cases(), data=st.data())
def test_micro_hit_rate(case, data):
    """average="micro": expected hits of all lists over relevant rows of all lists."""
    cutoffs = data.draw(st.lists(st.integers(1, 8), min_size=1, max_size=3))
    ties = data.draw(st.sampled_from(TIES))
    items = {"items": items_of(case)} if ties == "docid" else {}
    relevant = [
        sum(1 for grade, of_row in zip(case.grades, case.lists, strict=True) if of_row == own and grade >= 1)
        for own in range(len(values_of(case, "idcg", "stable")))
    ]
    weights = case.weights or [1.0] * len(relevant)
    total = sum(weight * r for weight, r in zip(weights, relevant, strict=True))
    with nullcontext() if total else pytest.warns(fm.UndefinedMetricWarning):
        found = fm.hit_rate(*case.arguments, **case.keywords, **items, k=cutoffs, average="micro", ties=ties)
    for value, k in zip(found, cutoffs, strict=True):
        recalls = values_of(case, "recall", ties, k=k)
        hits = sum(w * r * (own or 0) for w, r, own in zip(weights, relevant, recalls, strict=True))
        assert_value(value, hits / total if total else None)


@given(cases())
def test_ignored_ties_put_the_later_row_first(case):
    for name, measure in (("ndcg_score", "ndcg"), ("dcg_score", "dcg")):
        found = getattr(fm, name)(*case.arguments, **case.keywords, k=2, ignore_ties=True)
        values = values_of(case._replace(items=list(range(len(case.lists)))), measure, "docid", k=2)
        assert_value(found, ranking_lists.mean(values, case.weights))


@each_case("ties", TIES)
@pytest.mark.parametrize("name", [name for name, function in FUNCTIONS.items() if function.has_empty])
def test_lists_of_weight_zero_are_absent(name, ties):
    """Also a list without a relevant row, for policies that make the result NaN or an error."""
    y_true, y_score = np.array([1, 0, 0, 0, 1, 0, 1]), np.array([1.0, 2.0, 1.0, 1.0, 1.0, 3.0, 1.0])
    offsets = [0, 2, 4, 7]
    more = {"k": [1, 2]} if FUNCTIONS[name].cutoff else {}
    items = {"items": np.arange(7)} if ties == "docid" else {}
    others = np.r_[0:2, 4:7]
    fewer = {key: value[others] for key, value in items.items()}
    expected = getattr(fm, name)(y_true[others], y_score[others], offsets=[0, 2, 5], ties=ties, **fewer, **more)
    function = getattr(fm, name)
    more |= {"ties": ties} | items
    for empty in EMPTY:
        weighted = function(y_true, y_score, offsets=offsets, sample_weight=[2.0, 0.0, 2.0], empty=empty, **more)
        assert np.array_equal(weighted, expected)
        groups, weights = np.repeat([0, 1, 2], [2, 2, 3]), np.repeat([2.0, 0.0, 2.0], [2, 2, 3])
        assert np.array_equal(function(y_true, y_score, groups, sample_weight=weights, empty=empty, **more), expected)


CUTOFFS = [1, 10, 64, 65, 700, 5000]
OF_LONG_GROUPS = {
    "cumulative_gain": {}, "dcg_score": {}, "ndcg_score": {}, "mind_mrr": {}, "precision_at_k": {},
    "rank_biased_precision": {}, "recall_at_k": {}, "auc_at_k": {}, "mean_reciprocal_rank": {}, "hit_rate": {},
    "expected_reciprocal_rank": {"max_grade": 1}, "r_precision": {}, "bpref": {},
    "mean_average_precision": {"normalize": "relevant"}, "average_precision_at_k": {"normalize": "hits"},
}  # fmt: skip


def test_long_groups_are_the_arrays():
    """Thousands of rows in a group: few ties, many, all; few relevant rows, half of them, all."""
    generator = np.random.default_rng(11)
    parts = []
    for n in (1, 2, 63, 64, 65, 500, 2100):
        for share in (0.02, 0.5, 1.0):
            for levels in (1, 40, 10**6):
                if levels == 1 and share == 0.5 and n == 2100:
                    n = 1000
                relevant = generator.random(n) < share
                relevant[0] = True
                parts.append((generator.integers(0, levels, n).astype(np.float32), relevant.astype(float)))
    scores, grades = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    sizes = [len(own) for own, _ in parts]
    order = generator.permutation(len(scores))
    groups = np.repeat(np.arange(len(parts)), sizes)[order]
    for name, more in OF_LONG_GROUPS.items():
        measure = FUNCTIONS[name].measure
        ks = CUTOFFS if FUNCTIONS[name].cutoff else [5000]
        options = {**more, "k": ks} if FUNCTIONS[name].cutoff else more
        found = np.atleast_1d(getattr(fm, name)(grades[order], scores[order], groups, **options))
        of_offsets = np.atleast_1d(getattr(fm, name)(grades, scores, offsets=np.cumsum([0, *sizes]), **options))
        wide = np.atleast_1d(getattr(fm, name)(grades[order], scores[order].astype(np.float64), groups, **options))
        assert wide.tolist() == found.tolist()
        for value, other, k in zip(found, of_offsets, ks, strict=True):
            values = []
            for own, rel in parts:
                if measure in ranked_arrays.LINEAR:
                    values.append(ranked_arrays.linear(measure, own, rel, k))
                elif measure == "auc" and rel.all():
                    values.append(0.0)
                else:
                    own_options = {option: own for option, own in more.items() if option == "normalize"}
                    values.append(ranked_arrays.of_hits(measure, own, rel, k, **own_options))
            assert math.isclose(value, math.fsum(values) / len(values), rel_tol=1e-11), ("groups", name, k)
            assert math.isclose(other, math.fsum(values) / len(values), rel_tol=1e-11), ("offsets", name, k)




@pytest.fixture(scope="module")
def learning_to_rank(data_folder):
    """LightGBM's example: (grades, scores of some features, query sizes)."""
    folder = data_folder / "ltr_lightgbm"
    if not (folder / "rank.train").is_file():
        pytest.skip(f"no {folder}/rank.train")
    grades, features = [], []
    for line in (folder / "rank.train").read_text().splitlines():
        label, *pairs = line.split()
        grades.append(int(label))
        features.append({int(number): float(value) for number, value in (pair.split(":") for pair in pairs)})
    sizes = [int(line) for line in (folder / "rank.train.query").read_text().split()]
    columns = {feature: np.array([row.get(feature, 0.0) for row in features]) for feature in (1, 10, 100, 200, 299)}
    return np.array(grades), columns, np.array(sizes)



# Functions and options that equal trec_eval's measures if all judged items are retrieved.
OF_TREC = {
    "map": ("mean_average_precision", {}),
    "map_cut_10": ("average_precision_at_k", {"k": 10, "normalize": "relevant"}),
    "ndcg": ("ndcg_score", {}),
    "ndcg_cut_10": ("ndcg_score", {"k": 10}),
    "P_5": ("precision_at_k", {"k": 5}),
    "recall_15": ("recall_at_k", {"k": 15}),
    "success_5": ("hit_rate", {"k": 5}),
    "recip_rank": ("mean_reciprocal_rank", {}),
    "Rprec": ("r_precision", {}),
    "bpref": ("bpref", {}),
}


def of_trec_eval(run, qrels, level):
    names = {"map", "map_cut", "ndcg", "ndcg_cut", "P", "recall", "success", "recip_rank", "Rprec", "bpref"}
    return pytrec_eval().RelevanceEvaluator(qrels, names, relevance_level=level).evaluate(run)


def test_graded_queries_are_trec_eval_s(learning_to_rank):
    grades, columns, sizes = learning_to_rank
    offsets = np.cumsum([0, *sizes])
    items = np.array([f"d{(row * 7919) % 10007}" for row in range(len(grades))])
    for feature, level in ((10, 1), (100, 2)):
        scores = columns[feature].astype(np.float32)
        run, qrels = {}, {}
        for query, (start, stop) in enumerate(itertools.pairwise(offsets)):
            own = items[start:stop].tolist()
            run[str(query)] = dict(zip(own, scores[start:stop].tolist(), strict=True))
            qrels[str(query)] = dict(zip(own, grades[start:stop].tolist(), strict=True))
        expected = of_trec_eval(run, qrels, level)
        for name, (function, options) in OF_TREC.items():
            own = {} if name.startswith("ndcg") else {"relevance_level": level}
            values = [values[name] for values in expected.values()]
            found = getattr(fm, function)(grades, scores, offsets=offsets, ties="docid", items=items, **options, **own)
            assert math.isclose(found, math.fsum(values) / len(values), rel_tol=1e-13), name
            for query, (start, stop) in enumerate(itertools.pairwise(offsets)):
                part = slice(start, stop)
                # A list of one row is no matrix for NDCG.
                rows, form = (part, {"offsets": [0, 1]}) if stop - start == 1 else ((None, part), {})
                one = getattr(fm, function)(
                    grades[rows], scores[rows], ties="docid", items=items[rows], **form, **options, **own
                )
                assert math.isclose(one, expected[str(query)][name], rel_tol=1e-13, abs_tol=1e-15), (name, query)


def test_visits_are_trec_eval_s(visits):
    """Users are topics. Rows are in the shuffled order of the log. The peer compares scores as 32-bit floats."""
    chosen = visits["user_id"] % 8 == 0
    users, items, labels, scores = (visits[name][chosen] for name in ("user_id", "item_id", "label", "score"))
    scores, texts = scores.astype(np.float32), items.astype(str)
    run, qrels = {}, {}
    for user, item, label, score in zip(users.tolist(), texts.tolist(), labels.tolist(), scores.tolist(), strict=True):
        run.setdefault(str(user), {})[item] = score
        qrels.setdefault(str(user), {})[item] = label
    expected = of_trec_eval(run, qrels, 1)
    for name, (function, options) in OF_TREC.items():
        values = [values[name] for values in expected.values()]
        found = getattr(fm, function)(labels, scores, users, ties="docid", items=texts, **options)
        assert math.isclose(found, math.fsum(values) / len(values), rel_tol=1e-13), name


@pytest.mark.parametrize("function", [fm.dcg_score, fm.ndcg_score])
def test_a_matrix_of_one_column_has_no_order(function):
    """As in scikit-learn. Lists with groups or offsets may have one row."""
    for grades in ([[1], [0]], [[2.5]], [[0]], [[True]]):
        scores = [[0.5]] * len(grades)
        assert_raises(ValueError, "a list of 1 row has one order only", function, grades, scores)
    assert fm.mean_average_precision([[1], [0]], [[0.5], [0.5]]) == 0.5
    assert function([3, 1], [0.5, 0.5], ["ann", "bob"]) == function([3, 1], [0.5, 0.5], offsets=[0, 1, 2])
