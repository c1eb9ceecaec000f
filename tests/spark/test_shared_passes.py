"""Tasks and metrics share the passes over a DataFrame, and have the values of one machine."""


import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import fastmetrics as fm
from fastmetrics import Task
from support.cases import assert_raises, each_case

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("few_ranges")]

ROWS = 3000
BY_CHANNEL_AND_DAY = [["channel"], ["channel", "day"]]
# Click-through rate, conversion rate of the clicked rows, and both together.
CLICKS_AND_SALES = {
    "ctr": Task(label="click", score="p_ctr"),
    "cvr": Task(label="sale", score="p_cvr", where="click = 1"),
    "ctcvr": Task(label="click * sale", score="p_ctr * p_cvr"),
}


@pytest.fixture(scope="module")
def log():
    random = np.random.default_rng(11)
    p_ctr, p_cvr = random.random((2, ROWS))
    clicked = random.random(ROWS) < p_ctr
    text = random.choice(["1", "2", "x"], ROWS)
    return pa.table({
        "click": clicked.astype(np.int8),
        "sale": np.where(clicked, random.random(ROWS) < p_cvr, 0).astype(np.int8),
        "p_ctr": np.round(p_ctr, 3),
        "p_cvr": np.round(p_cvr, 3),
        "user": random.integers(0, 60, ROWS),
        "item": pa.array([None if own == 3 else f"item {own}" for own in random.integers(0, 40, ROWS)]),
        "channel": random.choice(["app", "web"], ROWS),
        "day": random.integers(1, 4, ROWS),
        "text": text,
        "w": random.integers(0, 3, ROWS),
    })


@pytest.fixture(scope="module")
def df(spark, log, tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "log.parquet"
    pa.parquet.write_table(log, path)
    return spark.read.parquet(str(path)).repartition(3).cache()


ONE_SHUFFLE = ["summarize_rows", "summarize_targets"]


def same_as_on_one_machine(df, log, metrics, **options):
    import fastmetrics.spark

    found, expected = fastmetrics.spark.evaluate(df, metrics, **options), fm.evaluate(log, metrics, **options)
    assert found == expected
    assert found.to_arrow().equals(expected.to_arrow())
    assert [own.rows for own in found] == [own.rows for own in expected]
    return found


@each_case(
    "options",
    [
        {},
        {"by": BY_CHANNEL_AND_DAY, "min_rows": 100},
        {"weight": "w", "n_partitions": 2},
        {"where": "day < 3"},
        {"ci": 0.9, "replicates": 20},
    ],
    ids=lambda options: "-".join(options) or "plain",
)
def test_clicks_and_sales_share_one_pass(df, log, steps, options):
    import fastmetrics.spark

    metrics = ["auc", "gauc", "logloss"]
    columns = {"tasks": CLICKS_AND_SALES, "group": "user", **options}
    n_partitions = columns.pop("n_partitions", None)
    found = fastmetrics.spark.evaluate(df, metrics, n_partitions=n_partitions, **columns)
    assert found == fm.evaluate(log, metrics, **columns)
    assert steps == ONE_SHUFFLE
    steps.clear()
    assert found.tasks["cvr"].filtered == fm.evaluate(log, metrics, **columns).tasks["cvr"].filtered > 0


def test_filters_of_every_task(df, log, steps):
    """Spark leaves out the rows that no task reads, and every task counts those that are not its own."""
    late_rows = Task(where="day = 3")
    tasks = {"app": Task(where="channel = 'app' and day = 1"), "late": late_rows, "same": late_rows}
    found = same_as_on_one_machine(df, log, ["auc", "logloss"], tasks=tasks, label="click", score="p_ctr")
    assert steps == ONE_SHUFFLE
    assert {name: found.tasks[name].filtered for name in tasks} == {
        "app": ROWS - len(log.filter((pa.compute.field("channel") == "app") & (pa.compute.field("day") == 1))),
        "late": (late := ROWS - len(log.filter(pa.compute.field("day") == 3))),
        "same": late,
    }


def test_several_groups_share_one_shuffle(df, log, steps):
    metrics = ["ks", "auc", "gauc", "gauc(group=channel)", "ndcg(group=user)@3", "rmse(label=w, score=p_cvr)"]
    tasks = {"all": Task(), "late": Task(where="day = 3")}
    same_as_on_one_machine(df, log, metrics, label="click", score="p_ctr", group="user", tasks=tasks)
    assert steps == [*ONE_SHUFFLE, "summarize_targets"]  # ks needs the totals of ranges


def test_keys_of_filtered_rows_are_not_computed_for_other_rows(df, log, steps):
    """The key of the other rows would be an error."""
    numbers = {"group": "cast(text as int)", "where": "text <> 'x' and cast(day as int) < 4"}
    tasks = {
        "numbers": Task(metrics=["gauc", "logloss"], **numbers),
        "all": Task(metrics=["logloss"]),
        "again": Task(metrics=["gauc"], score="p_cvr", **numbers),
    }
    same_as_on_one_machine(df, log, None, label="click", score="p_ctr", tasks=tasks)
    assert steps == ONE_SHUFFLE


def test_computed_columns_are_not_computed_for_rows_of_others(df, log, steps):
    tasks = {"all": Task(), "numbers": Task(score="cast(text as int) / 2", where="text <> 'x'")}
    same_as_on_one_machine(df, log, ["auc"], label="click", score="p_ctr", tasks=tasks)
    assert steps == ONE_SHUFFLE


@each_case("metrics", [["ks", "logloss"], ["ap", "gauc"]], ids="-".join)
def test_rows_without_a_unit_are_left_out_of_both_passes(df, log, metrics):
    options = {"label": "click", "score": "p_ctr", "group": "user", "unit": "item", "ci": 0.9, "replicates": 20}
    if "gauc" in metrics:
        options |= {"unit": ["user", "item"], "group": ["user", "item"]}
    found = same_as_on_one_machine(df, log, metrics, on_invalid="drop", **options)
    assert found.dropped
    assert all(own.interval is not None for own in found)


def test_rows_are_computed_once(spark, log, tmp_path):
    """Every row of the DataFrame is read by one pass; counting its filter's rows is another."""
    calls = tmp_path / "calls"
    calls.touch()
    schema = pa.schema({"click": pa.int64(), "sale": pa.int64(), "p_ctr": pa.float64(), "p_cvr": pa.float64()})
    path = str(calls)

    def read(batches):
        for batch in batches:
            with open(path, "ab") as file:
                file.write(b"x")
            values = np.arange(batch.num_rows)
            click, sale = values % 2, values % 2 * (values % 3 == 0)
            yield pa.RecordBatch.from_arrays(
                [pa.array(own) for own in (click, sale, values % 7 / 7, values % 5 / 5)], schema=schema
            )

    import warnings

    import fastmetrics.spark

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        rows = spark.range(300).repartition(1).mapInArrow(read, "click long, sale long, p_ctr double, p_cvr double")
    report = fastmetrics.spark.evaluate(rows, ["logloss", "rmse"], tasks=CLICKS_AND_SALES)
    assert report.value("logloss", task="cvr") > 0
    assert calls.stat().st_size == 1


def test_errors_name_the_task(df):
    import fastmetrics.spark

    columns = {"label": "click", "score": "p_ctr"}
    for task, words in [
        (Task(label="day"), r"^task 'bad': label column 'day' has [23] at row \d+.*within Spark partition"),
        (Task(where="day > 9"), rf"^task 'bad': no row is left of {ROWS} read: where='day > 9' leaves out {ROWS}"),
        (Task(score="cast(text as int)"), r"^task 'bad': score column 'cast\(text as int\)' has a value"),
        (Task(score="p_ctrr"), r"^task 'bad': .*'p_ctrr'"),
        (Task(group="item", metrics=["gauc"]), r"^task 'bad': group column 'item' has a null at row \d+"),
    ]:
        assert_raises(
            ValueError, words, fastmetrics.spark.evaluate, df, "auc", tasks={"good": Task(), "bad": task}, **columns
        )
