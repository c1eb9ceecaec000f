"""`fastmetrics.spark.evaluate` once, in a local session with two worker threads; skipped without Spark."""

import os
import shutil
import sys
import warnings
from importlib.util import find_spec

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


def require_spark():
    """Skip where Spark cannot run; where it must run (FASTMETRICS_REQUIRE_SPARK=1), fail."""
    missing = [] if find_spec("pyspark") else ["pyspark is not installed"]
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        missing.append("there is no Java")
    if missing and os.environ.get("FASTMETRICS_REQUIRE_SPARK") == "1":
        pytest.fail("; ".join(missing))
    if missing:
        pytest.skip("; ".join(missing))


@pytest.fixture
def spark(tmp_path, monkeypatch):
    require_spark()
    for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        monkeypatch.setenv(name, sys.executable)
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(tmp_path / "warehouse"),
        "spark.local.dir": str(tmp_path),
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={tmp_path} -XX:-UsePerfData -XX:TieredStopAtLevel=1",
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pyspark's own, about newer versions of its dependencies
        from pyspark import SparkContext
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").appName("fastmetrics smoke tests")
        for key, value in settings.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
    yield session
    gateway = SparkContext._gateway
    session.stop()
    process = getattr(gateway, "proc", None)
    gateway.shutdown()
    SparkContext._gateway = SparkContext._jvm = None
    if process is not None:
        process.stdin.close()
        process.wait(60)


def test_evaluate_on_spark(spark, tmp_path):
    import fastmetrics.spark

    pq.write_table(pa.table(LOG), tmp_path / "log.parquet")
    frame = spark.read.parquet(str(tmp_path / "log.parquet")).repartition(2)
    report = fastmetrics.spark.evaluate(frame, METRICS, **COLUMNS, by="day")
    # 5 of 6 rows on their side of 1/2; 8 of 9 pairs in order; 3 of ann's 4 pairs and bob's one, weighted by rows.
    assert [report.value(metric, slice={}) for metric in METRICS] == [5 / 6, 8 / 9, (4 * 3 / 4 + 2 * 1) / 6]
    assert report.results == fm.evaluate(LOG, METRICS, **COLUMNS, by="day").results
