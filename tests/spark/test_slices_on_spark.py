"""Slices of a DataFrame: nulls, intervals, grouping sets and least rows, equal to those of `fastmetrics.evaluate`."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import fastmetrics as fm
from support.cases import assert_raises

pytestmark = pytest.mark.spark
ROWS = 900
COLUMNS = {"label": "click", "score": "pctr", "group": "user"}


@pytest.fixture(scope="module")
def log():
    random = np.random.default_rng(4)
    price = np.round(random.normal(5, 3, ROWS), 1)
    return pa.table(
        {
            "click": (random.random(ROWS) < 0.3).astype(np.int8),
            "pctr": np.round(random.random(ROWS), 3),
            "user": random.integers(0, 40, ROWS),
            "channel": pa.array([None if own == 2 else f"c{own}" for own in random.integers(0, 4, ROWS)]),
            "price": pa.array([None if row % 11 == 0 else own for row, own in enumerate(price)]),
        }
    )


@pytest.fixture(scope="module")
def df(spark, log, tmp_path_factory):
    path = tmp_path_factory.mktemp("slices") / "log.parquet"
    pa.parquet.write_table(log, path, row_group_size=200)
    return spark.read.parquet(str(path)).repartition(3).cache()


def test_nulls_intervals_sets_and_least_rows(df, log):
    import fastmetrics.spark

    options = {"by": [["channel"], ["cut(price, [0, 5])", "channel"]], "min_rows": 30, **COLUMNS}
    found = fastmetrics.spark.evaluate(df, ["auc", "gauc", "logloss"], **options)
    expected = fm.evaluate(log, ["auc", "gauc", "logloss"], **options)
    assert found == expected
    assert [(own.rows, own.positives) for own in found] == [(own.rows, own.positives) for own in expected]
    assert {"channel": None} in found.slices()
    assert found.small_slices["slices"] > 0
    assert found["auc"] == expected["auc"]


def test_quantiles_take_edges(df):
    import fastmetrics.spark

    assert_raises(
        ValueError, r"'qcut\(price, 4\)' needs all rows.*cut\(price",
        fastmetrics.spark.evaluate, df, ["auc"], by="qcut(price, 4)", **COLUMNS,
    )
