"""`fastmetrics.spark.evaluate` and window functions of Spark SQL in the same session, two worker threads."""

import os
import sys
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from bench import workloads
from bench.timing import format_count

PARTITIONS = 8  # of shuffles, for both
FILES = 8

GAUC = """
    with ranked as (
        select user_id, click,
               rank() over (partition by user_id order by pctr)
               + (count(*) over (partition by user_id, pctr) - 1) / 2.0D as mid_rank
        from clicks
    ), users as (
        select count(*) as n, sum(cast(click as bigint)) as p,
               sum(case when click = 1 then mid_rank else 0.0D end) as rank_sum
        from ranked group by user_id
    )
    select sum(n * (rank_sum - p * (p + 1) / 2.0D) / (cast(p as double) * (n - p))) / sum(n)
    from users where p > 0 and p < n
"""
AUC = """
    with ranked as (
        select click, rank() over (order by pctr) + (count(*) over (partition by pctr) - 1) / 2.0D as mid_rank
        from clicks
    ), total as (
        select count(*) as n, sum(cast(click as bigint)) as p,
               sum(case when click = 1 then mid_rank else 0.0D end) as rank_sum
        from ranked
    )
    select (rank_sum - p * (p + 1) / 2.0D) / (cast(p as double) * (n - p)) from total
"""


@pytest.fixture(scope="module")
def spark_rows(rows):
    return 2 * rows


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    pyspark = pytest.importorskip("pyspark")
    folder = tmp_path_factory.mktemp("spark")
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        builder = pyspark.sql.SparkSession.builder.master("local[2]").appName("fastmetrics bench")
        for key, value in {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": "4g",
            "spark.local.dir": str(folder),
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.sql.catalogImplementation": "in-memory",
            "spark.sql.shuffle.partitions": str(PARTITIONS),
        }.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("ERROR")
        yield session
        session.stop()


@pytest.fixture(scope="module")
def df(session, spark_rows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("spark_log")
    data = workloads.clicks(spark_rows)
    users = workloads.user_ids(workloads.user_numbers(spark_rows))
    table = pa.table({"user_id": users, "click": data.labels.astype(np.int8), "pctr": data.probabilities})
    for number in range(FILES):
        part = table.slice(number * spark_rows // FILES, spark_rows // FILES)
        pyarrow.parquet.write_table(part, folder / f"part-{number}.parquet")
    df = session.read.parquet(str(folder))
    df.createOrReplaceTempView("clicks")
    return df


def ours(df, metrics):
    import fastmetrics.spark

    report = fastmetrics.spark.evaluate(df, metrics, label="click", score="pctr", group="user_id")
    return [report[metric] for metric in metrics]


def in_sql(session, queries):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [float(session.sql(query).first()[0]) for query in queries]


def test_against_window_functions(timing, session, df, spark_rows):
    timing.compare(
        f"`spark.evaluate` of gauc and auc, {format_count(spark_rows)} rows, local[2]",
        lambda: ours(df, ["gauc", "auc"]), "Spark SQL window functions", lambda: in_sql(session, [GAUC, AUC]),
        within=1e-9, rounds=3, ours_rounds=3,
    )  # fmt: skip
