"""`fastmetrics.spark.evaluate` in real local sessions: bit for bit the report of `fastmetrics.evaluate`."""

import json
import math
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import fastmetrics as fm
from support import spark_sessions
from support.cases import assert_raises, each_case
from support.registry_cases import GRADED, JOINT_METRICS, REAL, of_different_work, taking_row_weights

pytestmark = pytest.mark.usefixtures("few_ranges")

ROWS = 20_000
METRICS = JOINT_METRICS
OF_DIFFERENT_WORK = of_different_work(METRICS)
ONE_OF_EACH_EXCHANGE = ["logloss", "auc", "ks", "gauc", "ndcg@5"]
COLUMNS = {"label": "click", "score": "pctr", "group": "user_id"}
NO_GROUP = {"group": None}
SETS = [["channel"], ["day", "channel"], ["stars"], ["stars", "day"]]


def make_log(rows=ROWS, seed=5):
    random = np.random.default_rng(seed)
    users = (500 * random.random(rows) ** 3).astype(np.int64)
    pctr = random.beta(1, 9, rows)
    return {
        "click": (random.random(rows) < pctr).astype(np.int8),
        "buy": (random.random(rows) < 0.3).astype(np.int32),
        "pctr": pctr,
        "coarse": (pctr * 20).round().astype(np.float32) / np.float32(20),
        "user_id": users * 7919 - 1000,
        "user": np.array([f"user number {user}" for user in users]),
        "channel": random.choice(["app", "web", "tv"], rows),
        "day": random.integers(1, 3, rows),
        "w": random.random(rows) * 3,
        "constant": np.full(rows, 0.25),
        "nobody": np.zeros(rows, np.int64),
        "watched": 0.5 + np.round(random.gamma(1.0, 9.0, rows), 2).astype(np.float32),
        "expected": 0.25 + np.round(random.gamma(2.0, 5.0, rows), 1),
        "steady": np.full(rows, 9, np.int16),
        "stars": np.where(random.random(rows) < 0.05, random.integers(1, 4, rows), 0).astype(np.float32),
        "of_user": 0.5 + users % 3,
        "household": users // 4,
    }


@pytest.fixture(scope="module")
def log():
    return make_log()


@pytest.fixture(scope="module")
def path(log, tmp_path_factory):
    path = tmp_path_factory.mktemp("log") / "clicks.parquet"
    pa.parquet.write_table(pa.table(log), path, row_group_size=3000)
    return path


@pytest.fixture(scope="module")
def df(spark, path):
    return spark.read.parquet(str(path)).repartition(3).cache()


def evaluate(df, metrics=METRICS, **options):
    import fastmetrics.spark

    return fastmetrics.spark.evaluate(df, metrics, **{**COLUMNS, **options})


def name_case(value):
    """The name of a case in the names of tests."""
    has_sets = isinstance(value, dict) and isinstance(value.get("by"), list) and isinstance(value["by"][0], list)
    return "-".join([*value, *["sets"] * has_sets])


def use_all_targets(monkeypatch):
    from fastmetrics.spark import passes

    monkeypatch.setattr(passes, "TARGETS", 64)


def test_every_metric_of_all_targets(df, log, monkeypatch):
    use_all_targets(monkeypatch)
    assert evaluate(df) == fm.evaluate(log, METRICS, **COLUMNS)


def test_every_metric_in_little_memory(df, log):
    assert evaluate(df, n_partitions=5, memory_limit="1MiB") == fm.evaluate(log, METRICS, **COLUMNS)


@each_case(
    "options",
    [
        {"weight": "w", "by": ["channel", "day"]},
        {"label": ["click", "buy"], "score": ["pctr", "coarse"], "by": "channel"},
        {"score": "coarse", "weight": "w", "by": "day", "group": "user"},
        {"score": "constant", "group": "nobody"},
        {"group": ["user_id", "day"], "by": "channel"},
        {"group": ["user", "day", "of_user"], "n_partitions": 5},
        {"group": "of_user"},
        {"by": SETS, "weight": "w"},
        {"by": SETS, "score": ["pctr", "coarse"], "memory_limit": "1MiB"},
    ],
    ids=lambda options: name_case(options) or "defaults",
)
def test_metrics_are_those_of_one_machine(df, log, options):
    of_one_machine = {key: value for key, value in options.items() if key not in ("n_partitions", "memory_limit")}
    metrics = taking_row_weights(OF_DIFFERENT_WORK, options.get("weight"))
    assert evaluate(df, metrics, **options) == fm.evaluate(log, metrics, **{**COLUMNS, **of_one_machine})


def test_aliases_of_metrics(df):
    report = evaluate(df, ["roc_auc_score", "Precision@5", "log_loss"])
    assert report == evaluate(df, ["auc", "p@5", "logloss"])
    assert report["ROC_AUC"] == report["auc"]


@pytest.mark.parametrize(
    ("metrics", "options"),
    [
        (["gauc", "ndcg@5", "logloss"], {}),
        (["gauc", "auc"], {"group": "user", "by": "day", "ci_method": "normal"}),
        (["gauc", "ctr"], {"unit": "household", "n_partitions": 5}),
        (["gauc(stat=p10)", "ndcg(stat=below, at=0.5)@5"], {"unit": "household", "by": "day"}),
        (["gauc", "auc"], {"group": ["user_id", "day"], "unit": ["household", "day"]}),
        (["auc", "ks", "logloss"], {"group": None, "unit": "user", "score": ["pctr", "coarse"], "by": "channel"}),
        (["auc", "logloss"], {"unit": "household", "weight": "of_user", "memory_limit": "1MiB"}),
        (["auc"], {"group": None, "ci_method": "delong", "replicates": None, "seed": None, "by": "day"}),
        (["median_ae", "d2_pinball", "xauc"], {"label": "watched", "score": "expected", "unit": "household"}),
        (["ari", "nmi"], {"label": "channel", "score": "day", "group": None, "unit": "household"}),
        (["gauc", "auc", "logloss"], {"unit": "household", "by": SETS[:2]}),
        (["auc", "ks", "mse"], {"group": None, "unit": "user", "weight": "of_user", "by": SETS[:2]}),
        (["median_ae", "d2_pinball"], {"label": "watched", "score": "expected", "unit": "household", "by": SETS[:2]}),
        (["ari", "nmi"], {"label": "channel", "score": "day", "group": None, "unit": "household", "by": [["of_user"]]}),
        (["auc"], {"group": None, "ci_method": "delong", "replicates": None, "seed": None, "by": SETS[:2]}),
    ],
    ids=lambda value: name_case(value),
)
def test_intervals_are_those_of_one_machine(df, log, metrics, options):
    options = {"ci": 0.9, "replicates": 30, "seed": 3} | options
    of_one_machine = {key: value for key, value in options.items() if key not in ("n_partitions", "memory_limit")}
    expected = fm.evaluate(log, metrics, **{**COLUMNS, **of_one_machine})
    assert all(result.interval is not None for result in expected)
    report = evaluate(df, metrics, **options)
    assert report == expected
    assert report.to_arrow().equals(expected.to_arrow())
    assert report.to_metrics() == expected.to_metrics()


@each_case(
    ("metrics", "options"),
    [
        (["gauc", "ndcg@5", "logloss", "ks", "eer"], {}),
        (["gauc", "auc"], {"group": ["user_id", "day"], "unit": ["household", "day"], "ci_method": "linearized"}),
        (["auc", "ap", "mse"], {"group": None, "unit": "user", "weight": "of_user", "by": SETS[:2], "n_partitions": 5}),
        (["auc", "ne"], {"unit": "household", "score": ["pctr", "coarse"], "by": "channel", "memory_limit": "1MiB"}),
        (["rmse", "xauc"], {"label": "watched", "score": "expected", "unit": "household"}),
    ],
)
def test_linearized_intervals_are_those_of_one_machine(df, log, metrics, options):
    of_one_machine = {key: value for key, value in options.items() if key not in ("n_partitions", "memory_limit")}
    expected = fm.evaluate(log, metrics, **{**COLUMNS, **of_one_machine}, ci=0.9)
    assert all(result.interval is not None for result in expected)
    report = evaluate(df, metrics, **options, ci=0.9)
    assert report == expected
    assert report.to_arrow().equals(expected.to_arrow())


def test_intervals_of_more_units_than_buckets(spark, tmp_path):
    log = {"click": np.tile([0, 1, 0], 20_000), "pctr": np.random.default_rng(0).random(60_000)}
    log["user"] = np.repeat(np.arange(20_000), 3)
    pa.parquet.write_table(pa.table(log), tmp_path / "log.parquet")
    df = spark.read.parquet(str(tmp_path / "log.parquet")).repartition(3)
    options = {"label": "click", "score": "pctr", "group": "user", "ci": 0.95}
    import fastmetrics.spark

    for replicates in (None, 20):
        options["replicates"] = replicates
        found = fastmetrics.spark.evaluate(df, ["gauc", "auc", "logloss"], **options)
        assert found == fm.evaluate(log, ["gauc", "auc", "logloss"], **options)


def test_rows_of_a_dataframe_cannot_be_units(df):
    for options in ({"unit": "row"}, {"group": None}):
        assert_raises(ValueError, r"unit=\.\.\.", evaluate, df, ["logloss"], ci=0.9, **options)
    assert_raises(ValueError, "DataFrame", evaluate, df, ["logloss"], ci=0.9, unit="nowhere")


def test_groups_that_are_in_several_units(df):
    assert_raises(ValueError, "rows of several values of", evaluate, df, ["gauc"], ci=0.9, unit="channel")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weight": "w", "by": ["channel", "day"]},
        {"label": ["watched", "steady"], "score": ["expected", "steady"], "by": "day"},
    ],
)
def test_labels_that_are_numbers(df, log, options):
    import fastmetrics.spark

    options = {"label": "watched", "score": "expected"} | options
    found = fastmetrics.spark.evaluate(df, REAL, **options)
    expected = fm.evaluate(log, REAL, **options)
    assert found == expected
    assert [result.value.hex() for result in found] == [result.value.hex() for result in expected]
    assert all(math.isfinite(result.value) or result.reason for result in found)
    assert any(math.isfinite(result.value) for result in found)


@each_case(
    "options",
    [
        {},
        {"group": "user", "by": ["channel", "day"], "n_partitions": 5},
        {"label": ["stars", "click"], "score": ["pctr", "coarse"], "by": "day", "memory_limit": "1MiB"},
        {"weight": "of_user", "group": "user"},
    ],
)
def test_labels_that_are_grades(df, log, options):
    import fastmetrics.spark

    options = {"label": "stars", "score": "coarse", "group": "user_id"} | options
    found = fastmetrics.spark.evaluate(df, GRADED, **options)
    here = {name: value for name, value in options.items() if name not in ("n_partitions", "memory_limit")}
    expected = fm.evaluate(log, GRADED, **here)
    assert found == expected
    assert [result.value.hex() for result in found] == [result.value.hex() for result in expected]
    assert any(result.coverage["groups_without_relevant"] for result in found)


def test_errors_of_texts_name_their_place(spark, df):
    import fastmetrics.spark

    assert_raises(
        TypeError, r"label column 'click' has Arrow type int8: texts are needed.*within Spark",
        fastmetrics.spark.evaluate, df, "bleu", label="click", score="channel",
    )
    assert_raises(ValueError, r"label: .*'reference'", fastmetrics.spark.evaluate, df, "bleu", score="channel")
    holes = spark.createDataFrame([("a", ["b", None]), ("c", [])], "hypothesis string, reference array<string>")
    assert_raises(ValueError, r"'reference' has no text at row \d", fastmetrics.spark.evaluate, holes, "bleu")
    assert fastmetrics.spark.evaluate(holes, "bleu", on_invalid="drop").dropped == {"no reference": 1}


def test_errors_of_partitions_name_their_place(spark, df):
    import fastmetrics.spark

    assert_raises(ValueError, r"score: .*'cluster'", fastmetrics.spark.evaluate, df, "ari", label="channel")
    holes = spark.createDataFrame([("a", 1), (None, 2), ("b", 3)], "label string, cluster int")
    assert_raises(
        ValueError, r"'label' has a null at row \d+; .*within Spark", fastmetrics.spark.evaluate, holes, "ari"
    )
    assert fastmetrics.spark.evaluate(holes, "ari", on_invalid="drop").dropped == {"null or NaN label": 1}
    lists = spark.createDataFrame([("a", [1])], "label string, cluster array<int>")
    assert_raises(
        TypeError, r"score column 'cluster' has Arrow type list.*: labels are", fastmetrics.spark.evaluate, lists, "ari"
    )


def test_errors_of_grades_and_of_weights_name_their_place(df):
    import fastmetrics.spark

    options = {"score": "coarse", "group": "user_id"}
    assert_raises(
        ValueError, r"'watched' has .* at row \d+: grades may be at most 4 for err \(rows are",
        fastmetrics.spark.evaluate, df, ["ndcg", "err"], label="watched", **options,
    )
    assert_raises(
        ValueError, r"^group -?\d+ has weights .*: metrics of ranked lists weigh whole groups",
        fastmetrics.spark.evaluate, df, ["ndcg"], label="stars", weight="w", **options,
    )


def test_metrics_without_an_exchange_need_no_group(df, log):
    expected = fm.evaluate(log, ["logloss", "ctr"], label="click", score="pctr")
    assert evaluate(df, ["logloss", "ctr"], group=None) == expected


@pytest.mark.parametrize("options", [{}, {"by": "channel"}, {"by": SETS}, {"weight": "w", "score": ["pctr", "coarse"]}])
def test_ranges_are_resolved_in_one_shuffle(df, log, options, steps):
    assert evaluate(df, ["auc"], group=None, **options) == fm.evaluate(log, ["auc"], **(COLUMNS | options | NO_GROUP))
    assert steps == ["summarize_rows", "summarize_targets"]


def test_one_class_is_undefined_with_its_reason(spark):
    rows = [{"click": 0, "pctr": 0.5, "user_id": 1}, {"click": 0, "pctr": 0.25, "user_id": 2}]
    log = {name: [row[name] for row in rows] for name in rows[0]}
    report = evaluate(spark.createDataFrame(rows))
    assert report == fm.evaluate(log, METRICS, **COLUMNS)
    assert report.result("auc").reason


def test_a_single_row_and_more_partitions_than_rows(spark):
    rows = [{"click": 1, "pctr": 0.5, "user_id": 1}]
    log = {name: [row[name] for row in rows] for name in rows[0]}
    assert evaluate(spark.createDataFrame(rows), n_partitions=7) == fm.evaluate(log, METRICS, **COLUMNS)


def test_column_names_may_have_dots_spaces_and_backticks(df, log):
    names = {"click": "the label.x", "pctr": "p`ctr", "user_id": "user id"}
    renamed = df.withColumnsRenamed(names)
    expected = fm.evaluate(
        {names.get(name, name): column for name, column in log.items()}, ["auc", "gauc"],
        label="the label.x", score="p`ctr", group="user id",
    )  # fmt: skip
    assert evaluate(renamed, ["auc", "gauc"], label="the label.x", score="p`ctr", group="user id") == expected


@pytest.fixture(scope="module")
def holes(log):
    """Nulls and NaN in every column that is read, in different rows."""
    columns = {name: pa.array(log[name]) for name in ("click", "pctr", "coarse", "user_id", "channel")}
    for place, name in enumerate(columns):
        values = columns[name].to_pylist()
        values[place * 7 :: 1000] = [None] * len(values[place * 7 :: 1000])
        columns[name] = pa.array(values, columns[name].type)
    scores = columns["pctr"].to_pylist()
    scores[99] = float("nan")
    return pa.table(columns | {"pctr": pa.array(scores)})


def test_invalid_rows_are_dropped_from_all(spark, holes, tmp_path):
    pa.parquet.write_table(holes, tmp_path / "holes.parquet")
    df = spark.read.parquet(str(tmp_path / "holes.parquet")).repartition(2)
    options = {"score": ["pctr", "coarse"], "by": "channel", "on_invalid": "drop"}
    report = evaluate(df, ["auc", "gauc", "logloss"], **options)
    assert report == fm.evaluate(holes, ["auc", "gauc", "logloss"], **{**COLUMNS, **options})
    assert report.dropped


def test_tasks_have_rows_of_their_own(spark, holes, tmp_path):
    pa.parquet.write_table(holes, tmp_path / "holes.parquet")
    df = spark.read.parquet(str(tmp_path / "holes.parquet")).repartition(2)
    tasks = {"fine": fm.Task(score="pctr"), "coarse": fm.Task(score="coarse", metrics=["auc", "logloss"])}
    options = {"score": None, "by": "channel", "on_invalid": "drop", "tasks": tasks}
    report = evaluate(df, ["auc", "gauc"], **options)
    assert report == fm.evaluate(holes, ["auc", "gauc"], **{**COLUMNS, **options})
    assert report.tasks["fine"].dropped != report.tasks["coarse"].dropped
    message = r"task 'fine': label column 'click' has a null at row .*Spark partition"
    assert_raises(ValueError, message, evaluate, df, ["auc"], score=None, tasks=tasks)


def test_slices_of_weightless_rows(spark):
    """A slice whose rows weigh nothing, everywhere or in some ranges only."""
    random = np.random.default_rng(8)
    rows = 4000
    log = {"click": random.integers(0, 2, rows), "pctr": random.random(rows), "user_id": random.integers(0, 50, rows)}
    log["channel"] = random.choice(["a", "b", "nothing"], rows)
    weightless = (log["channel"] == "nothing") | ((log["channel"] == "b") & (log["pctr"] < 0.6))
    log["w"] = np.where(weightless, 0.0, random.random(rows))
    df = spark.createDataFrame(pa.table(log).to_pylist()).repartition(3)
    options = {"weight": "w", "by": "channel"}
    for metrics in (["auc"], ["auc", "ks", "gauc", "logloss"]):
        expected = fm.evaluate(log, metrics, **{**COLUMNS, **options})
        assert evaluate(df, metrics, n_partitions=4, **options) == expected


def test_an_executor_without_its_spill_folder_says_so(df):
    assert_raises(
        OSError, "no-such-folder",
        evaluate, df, ["auc"], memory_limit="1MiB", spill_dir="/no-such-folder", n_partitions=1,
    )


def test_errors_of_the_data_are_those_of_fastmetrics(spark, df, holes, tmp_path):
    from pyspark.sql import functions

    pa.parquet.write_table(holes, tmp_path / "holes.parquet")
    assert_raises(
        ValueError, r"a null at row \d+.*Spark partition \d+",
        evaluate, spark.read.parquet(str(tmp_path / "holes.parquet")), ["auc"],
    )
    assert_raises(ValueError, r"label column 'day' has 2 at row \d+", evaluate, df, ["auc"], label="day")
    for kind in (TypeError, ValueError):
        assert_raises(
            kind, r"label column 'channel' has '\w+' at row 0: .*Spark partition \d+",
            evaluate, df, ["auc"], label="channel",
        )
    assert_raises(
        ValueError, r"'day' has 2 at row \d+: .*\(auc\) and of numbers \(rmse\).* partition \d",
        evaluate, df, ["auc", "rmse"], label="day",
    )
    endless = df.withColumn("endless", functions.lit(math.inf))
    for columns in ({"label": "endless"}, {"score": "endless", "by": "channel"}):
        assert_raises(
            ValueError, r"column 'endless' has inf at row 0: finite numbers.* partition \d",
            evaluate, endless, ["rmse"], group=None, **columns,
        )
    assert_raises(ValueError, "did you mean 'click'", evaluate, df, ["auc"], label="clicks")
    assert_raises(ValueError, "group=", evaluate, df, ["gauc"], group=None)
    assert_raises(ValueError, "unknown metric", evaluate, df, ["acu"])
    assert_raises(TypeError, r"fastmetrics\.evaluate", evaluate, {"click": [1], "pctr": [0.5]}, ["auc"])
    assert_raises(ValueError, "no rows", evaluate, df.limit(0), ["auc"])


def test_a_changing_dataframe_is_an_error(spark, tmp_path):
    calls = str(tmp_path / "calls")

    def grow(batches):
        """More rows every time it is computed."""
        for batch in batches:
            with open(calls, "ab") as file:
                file.write(b"x")
                rows = 100 + file.tell()
            yield pa.RecordBatch.from_pydict({"click": [0, 1] * rows, "pctr": [0.25, 0.5] * rows}, schema)
            del batch

    schema = pa.schema({"click": pa.int64(), "pctr": pa.float64()})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        df = spark.range(1).mapInArrow(grow, "click long, pctr double")
    assert_raises(ValueError, "not the same each time", evaluate, df, ["ks", "logloss"], group=None)


def test_no_rows_reach_the_driver(df, monkeypatch):
    """Only a few states of every partition come back, no columns."""
    from fastmetrics.distributed import DistributedPlan

    sizes, decide = [], DistributedPlan.decide
    monkeypatch.setattr(
        DistributedPlan, "decide", lambda plan, found: sizes.extend(map(len, found)) or decide(plan, found)
    )
    evaluate(df, ["auc", "gauc", "logloss"], n_partitions=2)
    assert len(sizes) == 3 + 2
    assert max(sizes) < 8 * 3000  # a sample of the scores of a partition


CONNECT = """
    import json, sys, warnings
    warnings.simplefilter("ignore")
    from pyspark.sql import SparkSession
    import fastmetrics as fm
    import fastmetrics.spark

    session = SparkSession.builder.remote(sys.argv[2]).getOrCreate()
    try:
        columns = {"label": ["click", "buy"], "score": ["pctr", "coarse"], "group": "user", "by": "channel"}
        df = session.read.parquet(sys.argv[1])
        metrics = sys.argv[3:]
        same = fastmetrics.spark.evaluate(df, metrics, **columns) == fm.evaluate(sys.argv[1], metrics, **columns)
        try:
            fastmetrics.spark.evaluate(df, ["auc"], label="day", score="pctr")
        except ValueError as error:
            text = str(error)
        print(json.dumps({"session": type(session).__module__, "same": same, "error": text}))
    finally:
        session.stop()
"""


def test_a_spark_connect_session(spark, path, tmp_path):
    """A process can have classic sessions or those of Spark Connect: this is another process, beside the same Java."""
    pytest.importorskip("grpc")
    script = tmp_path / "connect.py"
    script.write_text(textwrap.dedent(CONNECT))
    done = subprocess.run(
        [sys.executable, script, path, spark_sessions.connect_address(spark), *ONE_OF_EACH_EXCHANGE], cwd=tmp_path,
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.strip().splitlines()[-1])
    assert "connect" in found["session"]
    assert found["same"]
    assert "label column 'day' has 2" in found["error"]


@each_case(
    "metrics",
    [
        lambda: "auc, logloss",
        lambda: (name for name in ("auc", "logloss")),
        lambda: [fm.roc_auc_score, fm.Metric.logloss()],
    ],
)
def test_every_list_of_metrics_is_read(spark, metrics):
    frame = spark.createDataFrame([(1, 0.25), (0, 0.5), (1, 0.75)], ["y", "p"])
    report = evaluate(frame, metrics(), label="y", score="p", **NO_GROUP)
    assert [result.metric for result in report] == ["auc", "logloss"]
