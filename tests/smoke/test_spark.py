"""`fastmetrics.spark.evaluate` once, in a local session with two worker threads; skipped without Spark."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fastmetrics as fm

pytestmark = [pytest.mark.smoke, pytest.mark.spark]

LOG = {
    "click": [0, 0, 1, 1, 0, 1],
    "pctr": [0.1, 0.4, 0.35, 0.8, 0.2, 0.9],
    "user": ["ann", "ann", "ann", "ann", "bob", "bob"],
    "day": [1, 2, 1, 2, 1, 2],
}
COLUMNS = {"label": "click", "score": "pctr", "group": "user"}
METRICS = ["accuracy", "auc", "gauc"]  # one for each exchange: of nothing, of ranges of scores, of groups


def test_evaluate_on_spark(spark, tmp_path):
    import fastmetrics.spark

    pq.write_table(pa.table(LOG), tmp_path / "log.parquet")
    frame = spark.read.parquet(str(tmp_path / "log.parquet")).repartition(2)
    report = fastmetrics.spark.evaluate(frame, METRICS, **COLUMNS, by="day")
    # 5 of 6 rows on their side of 1/2; 8 of 9 pairs in order; 3 of ann's 4 pairs and bob's one, weighted by rows.
    assert [report.value(metric, slice={}) for metric in METRICS] == [5 / 6, 8 / 9, (4 * 3 / 4 + 2 * 1) / 6]
    assert report.results == fm.evaluate(LOG, METRICS, **COLUMNS, by="day").results
