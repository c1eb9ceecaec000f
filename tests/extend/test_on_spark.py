"""The worked examples on Spark: the bits of one machine. Executors do not have the examples' modules."""

import pyarrow as pa
import pyarrow.parquet
import pytest

import fastmetrics as fm
from support.cases import assert_raises, each_case
from support.extend.worked_examples import ALL_COLUMNS, COLUMNS, NAMES, contents, evaluate, load_example, make_log

pytest.importorskip("pyspark")

from fastmetrics import spark as fastmetrics_spark

ROWS = 3000
GINI = "exposure_gini(group=user, item=days)@5"


@pytest.fixture(scope="module")
def log(worked_examples):
    return {**make_log(ROWS), "days": make_log(ROWS)["days"].astype(int)}


@pytest.fixture(scope="module")
def frame(spark, log, tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "log.parquet"
    pa.parquet.write_table(pa.table(log), path, row_group_size=700)
    return spark.read.parquet(str(path)).repartition(3)


@each_case(
    "options",
    [
        {"by": "hour"},
        {"weight": "weight"},
        {"ci": 0.9, "replicates": 10, "unit": "user"},
    ],
)
def test_examples_have_the_bits_of_one_machine(options, frame, log):
    found = fastmetrics_spark.evaluate(frame, list(NAMES), **ALL_COLUMNS, **options)
    assert contents(found) == contents(evaluate(log, **options))


def test_a_table_of_keys(frame, log):
    load_example("exposure_gini")
    metrics = [GINI, *NAMES]
    found = fastmetrics_spark.evaluate(frame, metrics, **ALL_COLUMNS)
    assert contents(found) == contents(evaluate(log, tuple(metrics)))


def test_keys_that_are_texts(spark, log):
    load_example("exposure_gini")
    names = [f"item {number:05d}" for number in range(log["days"].max() + 1)]
    texts = pa.table({**log, "days": [names[day] for day in log["days"]]})
    found = fastmetrics_spark.evaluate(spark.createDataFrame(texts).repartition(3), [GINI], score="score")
    expected = fm.evaluate(log, [GINI], score="score")
    assert contents(found) == contents(expected)


def test_metrics_of_different_columns_kinds_and_groups(frame, log):
    metrics = ["auc", "rmse(label=days, score=revenue)", "ari(label=hour, score=user)"]
    metrics += ["gauc(group=user)", "gauc(group=[user, hour])"]
    found = fastmetrics_spark.evaluate(frame, metrics, label="bought", score="score")
    assert contents(found) == contents(fm.evaluate(log, metrics, label="bought", score="score"))


def test_bad_input_is_named(frame, log):
    """On the driver before anything runs, or by the task that finds the row."""
    load_example("exposure_gini")
    evaluate_frame = fastmetrics_spark.evaluate
    assert_raises(
        ValueError, "metric cvr reads a column of role 'conversion': name it", evaluate_frame, frame, ["cvr"],
        roles={"click": "click"},
    )  # fmt: skip
    assert_raises(
        ValueError, "no metric asked for reads a column of role 'cost'", evaluate_frame, frame, ["cvr"],
        roles={"click": "click", "conversion": "bought", "cost": "days"},
    )  # fmt: skip
    assert_raises(
        ValueError, "propensity column 'revenue' has .* at row .*must be greater than 0", evaluate_frame, frame,
        ["snips"], propensity="revenue", roles=COLUMNS["snips"]["roles"],
    )  # fmt: skip
    assert_raises(
        TypeError, "item column 'revenue' has Arrow type double: keys of this role", evaluate_frame, frame,
        ["exposure_gini@5"], score="score", group="user", item="revenue",
    )  # fmt: skip
