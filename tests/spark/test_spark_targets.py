"""Labels of several kinds on Spark: texts, partitions, classes with their probabilities, and sets of labels."""


import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import fastmetrics as fm
from support import partition_logs, text_logs
from support.registry_cases import PARTITION, TEXT

pytestmark = pytest.mark.usefixtures("few_ranges")


def assert_same_bits(spark, folder, log, metrics, options):
    """The report of three partitions is that of `evaluate`."""
    import fastmetrics.spark

    pa.parquet.write_table(log, folder / "log.parquet")
    found = fastmetrics.spark.evaluate(spark.read.parquet(str(folder)).repartition(3), metrics, **options)
    expected = fm.evaluate(log, metrics, **options)
    assert found == expected
    assert [result.value.hex() for result in found] == [result.value.hex() for result in expected]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"label": ["several", "reference"], "score": ["worse", "hypothesis"], "by": "channel"},
    ],
)
def test_texts(spark, tmp_path, options):
    columns = text_logs.text_columns(500)
    several = text_logs.more_references(columns["reference"])
    log = pa.table(columns | {"several": several, "channel": np.arange(500) % 3})
    assert_same_bits(spark, tmp_path, log, TEXT, options)


@pytest.mark.parametrize(
    "options",
    [
        {"label": "class"},
        {"label": ["class", "day"], "score": ["cluster", "rough"], "by": "channel", "on_invalid": "drop"},
    ],
)
def test_partitions(spark, tmp_path, options):
    columns = partition_logs.partition_columns(700)
    days = pa.array(np.arange(700, dtype=np.int32) % 9, mask=np.arange(700) % 90 == 1).cast(pa.date32())
    log = pa.table(columns | {"day": days, "channel": np.arange(700) % 3})
    assert_same_bits(spark, tmp_path, log, PARTITION, options)


def test_probabilities_of_several_classes(spark, tmp_path):
    """Lists, or columns; classes that only some partitions have; ranges of every class: the report of `evaluate`."""
    import fastmetrics.spark

    random = np.random.default_rng(8)
    kinds, label = np.array(["ant", "bee", "cat"]), np.sort(random.integers(0, 3, 400))
    chances = random.multinomial(32, [0.5, 0.25, 0.25], 400) / 32
    log = {"y": kinds[label], "probs": chances.tolist(), **{f"p_{own}": chances[:, own].copy() for own in range(3)}}
    log |= {"w": random.random(400), "day": label % 2, "user": random.integers(0, 9, 400)}
    names = [
        f"{name}(labels=[ant, bee, cat]{more})"
        for name, more in (("logloss", ""), ("auc", ""), ("auc", ", multi_class=ovo"), ("ap", ", average=micro"))
    ]
    pa.parquet.write_table(pa.table(log), tmp_path / "log.parquet")
    df = spark.read.parquet(str(tmp_path)).repartition(5)
    for own in (
        {"probabilities": "probs", "weight": "w", "by": "day"},
        {"probabilities": [["p_0", "p_1", "p_2"], ["probs"]], "ci": 0.9, "unit": "user", "replicates": 10},
    ):
        options = {"label": "y"} | own
        assert fastmetrics.spark.evaluate(df, names, **options).results == fm.evaluate(log, names, **options).results
    with pytest.raises(ValueError, match="name the labels"):
        fastmetrics.spark.evaluate(df, "auc", label="y", probabilities="probs")


def test_rounded_probabilities_are_noted_and_scores_of_classes_read(spark, tmp_path):
    import fastmetrics.spark

    random = np.random.default_rng(9)
    log = {"y": random.integers(0, 3, 90), "p": random.dirichlet(np.ones(3), 90).round(6).tolist()}
    log["raw"] = random.normal(0, 2, (90, 3)).tolist()
    pa.parquet.write_table(pa.table(log), tmp_path / "log.parquet")
    df = spark.read.parquet(str(tmp_path)).repartition(4)
    for metrics, names in ((["logloss", "auc"], "p"), (["ap", "top_k_accuracy@2"], "raw")):
        found = fastmetrics.spark.evaluate(df, metrics, label="y", probabilities=names)
        assert found.results == fm.evaluate(log, metrics, label="y", probabilities=names).results
        assert ("sum_distance" in found.results[0].coverage) == (names == "p")


def test_predicted_labels_of_any_type(spark, tmp_path):
    """Classes that only some partitions have, weights, slices and several models: the report of `evaluate`."""
    import fastmetrics.spark

    random = np.random.default_rng(8)
    kinds = np.array(["ant", "bee", "cat", "никто"])
    label = np.sort(random.integers(0, 4, 400))
    log = {"y": kinds[label], "p": kinds[random.integers(0, 4, 400)], "q": kinds[np.roll(label, 40)]}
    log |= {"w": random.random(400), "day": label % 2, "user": random.integers(0, 9, 400)}
    names = ["accuracy", "f1(average=macro)", "kappa(weights=linear)", "recall(average=macro, labels=[bee])"]
    options = {"label": "y", "prediction": ["p", "q"], "weight": "w", "by": "day"}
    pa.parquet.write_table(pa.table(log), tmp_path / "log.parquet")
    df = spark.read.parquet(str(tmp_path)).repartition(5)
    intervals = {"ci": 0.9, "unit": "user", "replicates": 10}
    for own in (options, options | intervals):
        assert fastmetrics.spark.evaluate(df, names, **own).results == fm.evaluate(log, names, **own).results


def test_sets_of_labels(spark, tmp_path):
    """Columns of lists, some of them empty: the report of `evaluate`."""
    import fastmetrics.spark

    random = np.random.default_rng(9)
    kinds = np.array(["ant", "bee", "cat", "никто"])
    log = {name: [kinds[random.random(4) < 0.4].tolist() for _ in range(300)] for name in "ypq"}
    log |= {"w": random.random(300), "day": np.arange(300) % 2, "user": random.integers(0, 9, 300)}
    names = ["accuracy", "hamming", "f1(average=samples)", "f1(average=macro)", "jaccard(average=micro)"]
    options = {"label": "y", "prediction": ["p", "q"], "weight": "w", "by": "day"}
    pa.parquet.write_table(pa.table(log), tmp_path / "log.parquet")
    df = spark.read.parquet(str(tmp_path)).repartition(5)
    intervals = {"ci": 0.9, "unit": "user", "replicates": 10}
    for own in (options, options | intervals):
        found, expected = fastmetrics.spark.evaluate(df, names, **own), fm.evaluate(log, names, **own)
        assert found.results == expected.results
        assert found.label_tables == expected.label_tables
    scored = {"tags": [[0, 2], [1]], "s": [[0.5, 0.25, 0.75], [0.5, 0.5, 0.0]]}
    df = spark.createDataFrame(list(zip(*scored.values(), strict=True)), "tags array<int>, s array<double>")
    found = fastmetrics.spark.evaluate(df, "lrap", label="tags", score="s")["lrap"]
    assert found == fm.label_ranking_average_precision_score([[1, 0, 1], [0, 1, 0]], scored["s"])


@pytest.mark.parametrize("weight", [None, "w"])
def test_more_classes_than_the_memory_of_a_task(spark, tmp_path, weight):
    """Pairs of classes spill in the tasks: the report of `evaluate`."""
    import fastmetrics.spark

    random = np.random.default_rng(10)
    label, prediction = random.integers(0, 2000, (2, 40_000))
    right = random.random(40_000) < 0.4
    log = {"y": label, "p": np.where(right, label, prediction), "w": random.random(40_000)}
    pa.parquet.write_table(pa.table(log), tmp_path / "log.parquet")
    options = {"label": "y", "prediction": "p", "weight": weight}
    names = ["accuracy", "f1(average=macro)", "kappa(weights=linear)"]
    df = spark.read.parquet(str(tmp_path)).repartition(3)
    found = fastmetrics.spark.evaluate(df, names, **options, memory_limit="1MiB")
    assert found.results == fm.evaluate(log, names, **options).results
