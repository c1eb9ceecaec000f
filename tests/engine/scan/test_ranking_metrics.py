"""Ranked lists in every entry point: every metric of grades in the registry has the same value to the last bit.

It does not depend on row order, threads, batches, files, spilled blocks, large groups, slices, accumulators, or
partitions that another engine moves. The tests of the functions define the values.
"""

import math
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core.registry import parse
from fastmetrics.metrics.ranking.lists import list_measures, list_tables
from oracles.ranking import ranking_lists as oracle
from support.cases import assert_raises, each_case
from support.registry_cases import GRADED
from support.states.accumulators import merged, same
from support.states.spilled_logs import (
    KEYS,
    MEMORY,
    counted,
    log_of,
    moved,
    repeated,
    slice_rows,
    small_batches,
)
from support.states.toy_engine import distributed_report, split_rows

pytestmark = pytest.mark.usefixtures("scaled")
COLUMNS = {"label": "grade", "score": "score", "group": "user"}
ROWS = 4000
LARGE_USER = 5
# Names of the oracle's options.
OPTIONS_OF_ORACLE = {"p": "p", "max_grade": "max_grade", "relevance_level": "level"}


def weights_of(users):
    """One weight per user; some are zero."""
    return ((users + 3) % 5).astype(np.float64) * 0.75


def log_with_grades(rows=ROWS, users=None, seed=4, dtype="float64", n_grades=4):
    """Half of the scores are rounded, which makes ties; most grades are zero; some users have no relevant row."""
    log = log_of(rows, users, seed, dtype)
    generator = np.random.default_rng(seed)
    chosen = generator.random(rows) < 0.1 + 0.4 * log["prob"]
    return {
        "grade": np.where(chosen, generator.integers(1, n_grades, rows), 0).astype(np.float64),
        "click": log["label"],
        "score": log["prob"],
        "other": np.round(log["prob"], 1).astype(np.float32),
        "user": log["group"],
        "hour": log["hour"],
        "city": log["city"],
        "w": weights_of(log["group"]),
    }


# Means over groups; quantiles have tests of their own (tests/engine/test_group_stat.py).
MEANS = [metric for metric in GRADED if "stat=" not in metric]
LOG = log_with_grades()
LONG = repeated(log_with_grades(5000, seed=9), "user", 0.5, LARGE_USER)
LONG["w"] = weights_of(LONG["user"])


def evaluate(log, metrics=GRADED, **options):
    return fm.evaluate(log, metrics, **{**COLUMNS, **options})



OPTIONS = {
    "plain": {},
    "slices": {"by": ["hour", "city"]},
    "weights of users": {"weight": "w"},
    "weighted slices": {"weight": "w", "by": "hour"},
    "several": {"label": ["grade", "click"], "score": ["score", "other"]},
    "classes": {"label": "click", "metrics": [*GRADED, "gauc", "auc", "logloss"], "by": "hour"},
    "numbers": {"metrics": ["mse", *GRADED, "mae"]},
    "text keys": {"group": "name", "by": "hour", "score": "other"},
}


def options_of(name, log):
    """Options, and the log with the columns that they name."""
    return dict(OPTIONS[name]), {**log, "name": KEYS["any text"](log["user"])}


@pytest.fixture(scope="module")
def expected():
    found = {}
    for name in OPTIONS:
        options, log = options_of(name, LOG)
        found[name] = evaluate(log, **options)
    return found


@pytest.mark.parametrize("name", OPTIONS)
class TestEveryEntryPoint:
    def test_metrics_together_equal_single_metrics(self, name, expected):
        options, log = options_of(name, LOG)
        for metric in options.pop("metrics", GRADED):
            alone = evaluate(log, [metric], **options)
            assert [result for result in expected[name] if result.metric == repr(parse(metric))] == list(alone)

    def test_rows_threads_batches_and_files(self, name, expected, tmp_path):
        options, log = options_of(name, LOG)
        table = pa.table(moved(log, np.random.default_rng(3).permutation(ROWS)))
        for number, start in enumerate((0, 1500, 1501)):
            length = (1500, 1, ROWS)[number]
            pa.parquet.write_table(table.slice(start, length), tmp_path / f"{number}.parquet", row_group_size=300)
        for n_threads in (1, 2, 5):
            for data in (log, table, tmp_path):
                same(evaluate(data, **options, n_threads=n_threads), expected[name])
        for size in (7, 1000):
            same(evaluate(table.to_reader(max_chunksize=size), **options), expected[name])

    def test_accumulators(self, name, expected):
        options, log = options_of(name, LOG)
        metrics = options.pop("metrics", GRADED)
        whole = merged(lambda: fm.Accumulator(metrics, **{**COLUMNS, **options}), log, 800)
        same(whole.result(), expected[name])
        assert fm.Accumulator.from_bytes(whole.to_bytes()).to_bytes() == whole.to_bytes()

    @each_case("n_sources", [1, 4])
    def test_rows_that_an_engine_moves(self, name, expected, n_sources):
        options, log = options_of(name, LOG)
        metrics, sources = options.pop("metrics", GRADED), split_rows(log, n_sources)
        same(distributed_report(metrics, {**COLUMNS, **options}, sources), expected[name])

    def test_spilled_with_a_large_user(self, name, monkeypatch):
        options, log = options_of(name, LONG)
        whole = evaluate(log, **options)
        small_batches(monkeypatch, 400)
        for n_threads in (1, 2):
            with counted() as calls:
                same(evaluate(log, **options, memory_limit=MEMORY, n_threads=n_threads), whole)
            for path in ("spilled", "large partition", "large list"):
                assert calls[path] > 0, path

    def test_spilled(self, name):
        options, log = options_of(name, log_with_grades(18_750, seed=3))
        whole = evaluate(log, **options)
        with counted() as calls:
            same(evaluate(log, **options, memory_limit="256KiB"), whole)
        assert calls["spilled"] > 0
        assert calls["repartitioned"] > 0


@pytest.mark.parametrize("weight", [None, "w"])
def test_many_slices_most_of_which_have_nothing_relevant(weight):
    """A large user's list in a slice may have no row in memory, and thresholds without a positive."""
    log = {name: column[:3750] for name, column in LONG.items()}
    log["minute"] = np.arange(3750) % 101
    log["grade"] = np.where(log["minute"] % 5 == 0, log["grade"], 0)
    with counted() as calls:
        found = evaluate(log, by="minute", memory_limit=MEMORY, n_threads=2, weight=weight)
    assert calls["large list"] > 0
    same(found, evaluate(log, by="minute", weight=weight))


@each_case("kept", [1, 2, 70, 300])
def test_discounts_of_ranks_that_are_not_kept(kept, monkeypatch):
    """The discounts of far ranks are computed when they are needed, to the bit as those that are kept."""
    log = {**LONG, "user": LONG["user"] % 7}
    metrics = ["ndcg", "dcg", "idcg", "ndcg(gain=exp2, ideal=k)", "ndcg(ideal=k)@100", "dcg@500"]
    metrics.append("ndcg(ties=optimistic)")
    whole = [evaluate({**log, **ties}, metrics) for ties in ({}, {"score": np.round(log["score"], 1)})]
    monkeypatch.setattr(list_measures, "MOST_STORED_WEIGHTS", kept)
    monkeypatch.setattr(list_tables, "BINARY_LOGARITHM", list_measures.Discounts(2.0))
    for limit in (None, MEMORY):
        for ties, expected in zip(({}, {"score": np.round(log["score"], 1)}), whole, strict=True):
            same(evaluate({**log, **ties}, metrics, memory_limit=limit), expected)


def test_discounts_for_several_threads():
    """A thread gets discounts for the ranks it asked for, whatever other threads ask for at the same time."""
    short = []
    for _ in range(20):
        discounts = list_measures.Discounts(2.0)

        def ask(number, discounts=discounts):
            wanted = range(number, 20_000, 1500)
            short.extend(ranks for ranks in wanted if discounts.up_to(ranks).n_ranks < ranks)

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(ask, (1, 700, 19_000, 300)))
    assert not short


@each_case("kind", KEYS)
def test_keys_of_any_kind(kind, expected):
    same(evaluate({**LOG, "user": KEYS[kind](LOG["user"])}), expected["plain"])
    large = {**LONG, "user": KEYS[kind](LONG["user"])}
    with counted() as calls:
        same(evaluate(large, memory_limit=MEMORY), evaluate(LONG))
    assert calls["large list"] > 0


@each_case("dtype", ["f2", "f4", ">f8", "i1", "u1", "i4", "u8", "?"])
def test_grades_of_any_type(dtype):
    typed = LOG["grade"].astype(dtype)
    same(evaluate({**LOG, "grade": typed}), evaluate({**LOG, "grade": typed.astype(np.float64)}))


def test_classes_are_grades(expected):
    """Labels that a plan reads as classes, and labels that it reads as numbers, give the same lists."""
    signless = [result for result in evaluate(LOG, [*GRADED, "gauc"], label="click") if result.metric != "gauc"]
    assert signless == list(evaluate(LOG, label="click"))


@pytest.mark.parametrize("name", ["plain", "slices", "several", "text keys"])
def test_invalid_rows_are_left_out(name):
    options, log = options_of(name, LOG)
    generator = np.random.default_rng(8)
    bad = {column: generator.random(ROWS) < 0.05 for column in ("grade", "score", "user")}
    holes = {column: pa.array(log[column], mask=bad[column]) for column in ("grade", "user")}
    holes["score"] = np.where(bad["score"], math.nan, log["score"])
    lost = bad["grade"] | bad["score"] & ("score" in str(options.get("score", "score")))
    lost |= bad["user"] & ("group" not in options)
    report = evaluate(pa.table({**log, **holes}), **options, on_invalid="drop")
    assert list(report) == list(evaluate(slice_rows(log, ~lost), **options))
    assert sum(report.dropped.values()) == lost.sum()
    assert_raises(
        ValueError, "column 'grade' has a null at row",
        evaluate, pa.table({**log, "grade": holes["grade"]}), **options,
    )


@pytest.mark.parametrize(
    ("metric", "greatest"),
    [("err", 4), ("err(max_grade=3)@5", 3), ("ndcg(gain=exp2)", 1000), ("dcg(gain=exp2)@3", 1000)],
)
def test_grades_that_are_too_great(metric, greatest):
    """The greatest allowed grade is accepted; for a greater one, every entry point names the first row."""
    log = {**LOG, "grade": np.where(LOG["grade"] > 0, greatest, 0).astype(np.float64)}
    assert math.isfinite(evaluate(log, [metric, "mrr"])[metric])
    log["grade"][[1717, 3000]] = greatest + 0.5
    message = f"label column 'grade' has {greatest}.5 at row 1717: grades may be at most {greatest} for {metric}"
    message = f"^{re.escape(message)}$"
    for data in (log, pa.table(log).to_reader(max_chunksize=100)):
        assert_raises(ValueError, message, evaluate, data, ["mrr", metric, "cg"], by="hour")
    evaluate(log, ["mrr"])
    state = fm.Accumulator([metric], **COLUMNS)
    assert_raises(ValueError, message, state.update, log)
    assert state.rows == 0


def test_classes_that_are_too_great():
    assert_raises(
        ValueError, r"'click' has 1 at row \d+: grades may be at most 0\.5 for err",
        evaluate, LOG, ["gauc", "err(max_grade=0.5)"], label="click",
    )


class TestWeights:
    def test_they_are_those_of_users(self):
        """The value of a user is weighted by the user's weight, for any number of rows; weight zero leaves it out."""
        counts = np.array([0, 1, 2, 4])[LOG["user"] % 4]  # multiplied by these, no value is rounded
        report = evaluate({**LOG, "w": counts.astype(np.float64)}, weight="w")
        parts = []
        for copies in range(4):
            part = slice_rows(LOG, counts > copies)
            parts.append({**part, "user": part["user"] + 1_000_000 * copies})
        names = ("grade", "score", "user")
        expected = evaluate({name: np.concatenate([part[name] for part in parts]) for name in names})
        for metric in GRADED:
            assert report[metric] == expected[metric], metric

    @each_case("limit", [None, MEMORY])
    @each_case("by", [None, "hour"])
    def test_rows_of_a_user_that_differ_are_refused(self, limit, by):
        log = {**LONG, "w": np.ones(5000)}
        log["w"][int(np.flatnonzero(LONG["user"] == LARGE_USER)[17])] = 2.5
        message = r"^group 5 has weights 1\.0 and 2\.5: metrics of ranked lists weigh whole groups"
        for metric in GRADED[:2]:
            for n_threads in (1, 2):
                assert_raises(
                    ValueError, message,
                    evaluate, log, [metric], weight="w", memory_limit=limit, n_threads=n_threads, by=by,
                )
        state = fm.Accumulator(GRADED, **COLUMNS, weight="w", by=by)
        state.update(log)
        assert_raises(ValueError, message, state.result)


class TestPolicies:
    """Policies for users who have no relevant row."""

    def test_coverage(self, expected):
        users, places = np.unique(LOG["user"], return_inverse=True)
        empty = int((np.bincount(places, LOG["grade"]) == 0).sum())
        assert 0 < empty < len(users)
        for metric in ("ndcg", "mrr"):
            coverage = expected["plain"].result(metric).coverage
            assert coverage["rows"] == ROWS
            assert coverage["groups"] == coverage["groups_used"] == len(users)
            assert coverage["groups_without_relevant"] == empty
            assert coverage["rows_per_group"] == ROWS / len(users)
            assert 0 < coverage["tied_pairs"] < 1
            (skipped,) = evaluate(LOG, [f"{metric}(empty=skip)"])
            assert skipped.coverage["groups_used"] == len(users) - empty
            assert skipped.coverage["groups_left_out"] == {"no relevant row": empty}
            assert f"{empty} groups" in str(fm.evaluate(LOG, [f"{metric}(empty=skip)"], **COLUMNS))
            assert f"{empty} groups without a relevant row" in str(fm.evaluate(LOG, [metric], **COLUMNS))

    @pytest.mark.parametrize("limit", [None, MEMORY])
    def test_values(self, limit):
        policies = [f"mrr(empty={empty})" for empty in ("zero", "skip", "one")]
        zero, skip, one = (evaluate(LONG, [own], memory_limit=limit).results[0].value for own in policies)
        assert zero < skip < one
        (result,) = evaluate(LONG, ["mrr(empty=nan)"], memory_limit=limit)
        assert math.isnan(result.value)
        assert "no relevant row" in result.reason
        assert_raises(
            ValueError, r"^group \d+ has no relevant row \(\d+ rows\), and empty='raise'",
            evaluate, LONG, ["mrr(empty=raise)"], memory_limit=limit,
        )

    def test_nobody_has_a_relevant_row(self):
        for log in ({**LOG, "grade": np.zeros(ROWS)}, {**LOG, "user": np.arange(ROWS), "grade": np.zeros(ROWS)}):
            for result in evaluate(log):
                assert result.value == 0 or result.reason


def oracle_options(metric):
    """The oracle's name of a metric, and its options."""
    own = parse(metric)
    given = {OPTIONS_OF_ORACLE.get(name, name): value for name, value in own.arguments.items()}
    return own.spec.base_name, given | ({"k": own.k} if own.k else {})


@given(
    st.integers(1, 16), st.integers(0, 2**32 - 1), st.sampled_from([1, 3, 9]), st.sampled_from(["f4", "f8"]),
    st.sampled_from([2, 3, 5]), st.booleans(), st.sampled_from(MEANS or [None]),
)  # fmt: skip
def test_any_small_log_by_definition(rows, seed, n_users, dtype, n_scores, weighted, metric):
    generator = np.random.default_rng(seed)
    log = {
        "grade": generator.choice([0.0, 0.0, 1.0, 2.0, 3.0], rows),
        "score": generator.choice([0.5, -1.5, 0.25, 7.0, 1e-3], rows)[: rows].astype(dtype),
        "user": generator.integers(0, n_users, rows),
    }
    tied = generator.random(rows) < 0.3
    log["score"][tied] = generator.integers(0, n_scores, int(tied.sum()))
    name, options = oracle_options(metric)
    if name not in oracle.MEASURES:
        return
    policy, ties = options.pop("empty", "zero"), options.pop("ties", "average")
    options.pop("average", None)
    values = oracle.measure_groups(
        name, log["grade"].tolist(), log["score"].tolist(), log["user"].tolist(), ties=ties, **options
    )
    users = np.unique(log["user"])
    weights = generator.choice([0.5, 1.0, 3.0], len(users)) if weighted else None
    if weights is not None:
        log["w"] = weights[np.searchsorted(users, log["user"])]
    wanted = oracle.mean(values, weights, policy)
    (result,) = evaluate(log, [metric], weight="w" if weighted else None)
    if wanted is None:
        assert math.isnan(result.value)
    else:
        assert result.value == pytest.approx(float(wanted), rel=1e-12, abs=1e-12)


def test_these_tests_can_fail():
    """Reports differ if logs differ in one grade: that of the first row of a user without a relevant row."""
    users, places, counts = np.unique(LOG["user"], return_inverse=True, return_counts=True)
    rows = np.flatnonzero(LOG["user"] == users[(np.bincount(places, LOG["grade"]) == 0) & (counts > 2)][0])
    changed = {**LOG, "grade": LOG["grade"].copy()}
    changed["grade"][rows[LOG["score"][rows].argmax()]] = 3
    for mine, theirs in zip(evaluate(LOG, MEANS), evaluate(changed, MEANS), strict=True):
        assert mine.value != theirs.value, mine.metric
