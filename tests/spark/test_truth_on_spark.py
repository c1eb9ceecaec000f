"""Lists that are joined with a truth table, both DataFrames: bit for bit the report of `fastmetrics.evaluate`."""

import pytest

import fastmetrics as fm
from support.cases import assert_raises
from support.ranking.truth_tables import COLUMNS, METRICS, TRUTH, random_tables

pytestmark = pytest.mark.usefixtures("few_ranges")

QUESTION = fm.Evaluation(METRICS, truth_columns=TRUTH, by="country", weight="weight", ci=0.9, **COLUMNS)


def test_reports_and_comparisons(spark):
    import fastmetrics.spark

    log, truth = random_tables(3, texts=True)
    frames = [spark.createDataFrame(table).repartition(3) for table in (log, truth)]
    found = fastmetrics.spark.evaluate(frames[0], QUESTION, truth=frames[1])
    assert found == QUESTION.run(log, truth=truth)
    where = QUESTION.replace(where="country <> 'nl'", by=None)
    assert fastmetrics.spark.evaluate(frames[0], where, truth=frames[1]) == where.run(log, truth=truth)
    options = COLUMNS | {"label": "grade", "baseline": "rest", "by": "country"}
    expected = fm.compare(log, METRICS, truth=truth, **options)
    assert fastmetrics.spark.compare(frames[0], METRICS, truth=frames[1], **options) == expected


def test_errors(spark):
    import fastmetrics.spark

    log, truth = random_tables(3)
    frame = spark.createDataFrame(log)
    assert_raises(ValueError, "truth is missing", fastmetrics.spark.evaluate, frame, QUESTION)
    assert_raises(TypeError, "truth must be a Spark", fastmetrics.spark.evaluate, frame, QUESTION, truth=truth)
    bad = spark.createDataFrame(truth).selectExpr("user", "item", "cast(NULL as int) as grade")
    words = r"truth: label column 'grade' has a null at row 0.*within Spark partition"
    assert_raises(ValueError, words, fastmetrics.spark.evaluate, frame, QUESTION, truth=bad)
