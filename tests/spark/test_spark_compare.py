"""`fastmetrics.spark.compare` in a real local session: bit for bit the comparison of `fastmetrics.compare`."""

import numpy as np
import pyarrow as pa
import pytest

import fastmetrics as fm
from fastmetrics import Task
from support.cases import assert_raises, each_case

pytestmark = pytest.mark.usefixtures("few_ranges")

ROWS = 4_000
METRICS = ["auc", "gauc", "logloss", "ndcg@5", "ne"]
MODELS = {"label": "click", "score": ["old", "new", "flat"]}
USERS = {"group": "user", "replicates": 30}


@pytest.fixture(scope="module")
def log():
    random = np.random.default_rng(17)
    user = (300 * random.random(ROWS) ** 2).astype(np.int64)
    old = random.beta(1, 4, ROWS)
    return {
        "click": (random.random(ROWS) < old).astype(np.int8),
        "buy": (random.random(ROWS) < 0.3).astype(np.int32),
        "old": old,
        "new": (old * 20).round().astype(np.float32) / np.float32(32) + np.float32(0.125),
        "flat": np.full(ROWS, 0.25),
        "user": user,
        "household": user // 3,
        "channel": random.choice(["app", "web", "tv"], ROWS),
        "day": random.integers(1, 4, ROWS),
        "w": (user % 3).astype(float),
        "kind": random.choice(["a", "b", "c"], ROWS),
        "first": random.choice(["a", "b", "c"], ROWS),
        "second": random.choice(["a", "b", "c"], ROWS),
    }


@pytest.fixture(scope="module")
def df(spark, log):
    return spark.createDataFrame(pa.table(log)).repartition(3).cache()


def compare_both(df, log, metrics, **options):
    import fastmetrics.spark

    on_spark = {name: options.pop(name) for name in ("n_partitions", "memory_limit") if name in options}
    return fastmetrics.spark.compare(df, metrics, **options, **on_spark), fm.compare(log, metrics, **options)


@each_case(
    "options",
    [
        {**MODELS, **USERS},
        {**MODELS, **USERS, "by": ["channel", "day"], "min_rows": 400},
        {**MODELS, **USERS, "by": [["channel"], ["day", "channel"]], "weight": "w"},
        {**MODELS, **USERS, "unit": "household", "baseline": "new", "ci": 0.9, "ci_method": "normal"},
        {**MODELS, **USERS, "label": ["click", "buy"], "correction": "benjamini-hochberg", "n_partitions": 5},
        {**MODELS, **USERS, "where": "day > 1", "memory_limit": "1MiB", "seed": 2**63},
        {**MODELS, "group": "user", "by": [["channel"], ["day", "channel"]], "weight": "w"},
        {**MODELS, "group": "user", "unit": "household", "label": ["click", "buy"], "baseline": "new", "ci": 0.9},
        {**MODELS, "group": "user", "ci_method": "linearized", "n_partitions": 5},
    ],
)
def test_the_comparison_is_that_of_the_rows(df, log, options):
    found, expected = compare_both(df, log, METRICS, **options)
    assert found == expected
    assert found.evaluation == expected.evaluation


@each_case(
    ("metrics", "options"),
    [
        ("logloss,brier", {**MODELS, "unit": "day", "by": "channel"}),
        ("accuracy,f1(average=macro)", {"label": "kind", "prediction": ["first", "second"], "unit": "user"}),
        ("ari,purity", {"label": "kind", "score": ["first", "second"], "unit": "user"}),
        ("bleu,ter", {"label": "kind", "score": ["first", "second"], "unit": "day", "by": "channel"}),
    ],
)
def test_units_of_rows_without_groups(df, log, metrics, options):
    found, expected = compare_both(df, log, metrics, **options, replicates=20)
    assert found == expected
    found, expected = compare_both(df, log, metrics, **options)
    assert found == expected


def test_units_of_the_same_sample_are_compared(spark):
    """More than 16,384 units: partial sums of a unit come from several sources."""
    rng = np.random.default_rng(0)
    log = {
        "user": rng.permutation(np.arange(36_000) // 2),
        "click": rng.integers(0, 2, 36_000),
        "old": rng.random(36_000),
        "new": rng.random(36_000),
        "channel": rng.choice(["app", "web"], 36_000),
    }
    df = spark.createDataFrame(pa.table(log)).repartition(3)
    options = {"label": "click", "score": ["old", "new"], "unit": "user", "by": "channel"}
    found, expected = compare_both(df, log, "brier,logloss,auc", **options)
    assert found == expected
    assert 1_500 < found["brier"].won + found["brier"].lost < 3_000


def test_tasks(df, log):
    tasks = {"clicks": Task(label="click"), "sales": Task(label="buy", where="click = 1", metrics="logloss,gauc")}
    found, expected = compare_both(df, log, "auc,gauc", score=["old", "new"], tasks=tasks, by="channel", **USERS)
    assert found == expected
    assert {one.task for one in found.differences} == {"clicks", "sales"}


def test_a_question_is_asked_again(df, log):
    import fastmetrics.spark

    comparison = fm.compare(log, METRICS, **MODELS, **USERS)
    assert fastmetrics.spark.compare(df, comparison.evaluation) == comparison
    question = fm.Evaluation(METRICS, label="click", score=["old", "new"], **USERS)
    assert fastmetrics.spark.compare(df, question) == fm.compare(log, question)


@each_case(
    ("metrics", "options", "error", "words"),
    [
        ("auc", {"label": "click", "score": ["old"]}, ValueError, "score must name two different columns"),
        ("auc", {**MODELS, "baseline": "older"}, ValueError, "baseline must be one of the columns of score"),
        ("auc", {**MODELS, "ci": None}, ValueError, "ci must be a number"),
        ("auc", {**MODELS, "prediction": ["first", "second"]}, ValueError, "not by both"),
        ("auc", {**MODELS, "correction": "tukey"}, ValueError, "correction must be one of"),
        ("auk", MODELS, ValueError, "unknown metric 'auk'"),
    ],
)
def test_errors_are_those_of_compare(df, log, metrics, options, error, words):
    import fastmetrics.spark

    assert_raises(error, words, fastmetrics.spark.compare, df, metrics, **options)
    assert_raises(error, words, fm.compare, log, metrics, **options)


@each_case(
    ("options", "words"),
    [
        ({}, "rows of batches and partitions have no places in a log, so spark.compare cannot resample them"),
        ({"unit": "row"}, "name a column whose values are the units, unit="),
        ({"ci_method": "delong"}, "spark.compare has no ci_method='delong', which reads the rows of both models"),
        ({**USERS, "by": "qcut(old, 4)"}, r"'qcut\(old, 4\)' needs all rows .* which spark.compare does not have"),
    ],
)
def test_what_spark_cannot_do(df, options, words):
    import fastmetrics.spark

    assert_raises(ValueError, words, fastmetrics.spark.compare, df, "auc", **MODELS, **options)


def test_other_data_is_refused(log):
    import fastmetrics.spark

    words = "data must be a Spark DataFrame; found dict. For other data use fastmetrics.compare"
    assert_raises(TypeError, words, fastmetrics.spark.compare, log, "auc", **MODELS)
