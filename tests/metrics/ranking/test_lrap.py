"""Label ranking in evaluate: the bits of the functions on indicator matrices, in every entry point."""

import json
import math
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fastmetrics as fm
from support.cases import assert_raises, each_case

ROWS, LABELS = 900, 7
NAMES = ["ant", "ä", "bee", "", "cat", "никто", "z"]
FUNCTIONS = {
    "lrap": fm.label_ranking_average_precision_score,
    "ranking_loss": fm.label_ranking_loss,
    "coverage_error": fm.coverage_error,
}
METRICS = list(FUNCTIONS)
COLUMNS = {"label": "tags", "score": "scores"}


def make_log(rows=ROWS, labels=LABELS):
    generator = np.random.default_rng(4)
    truth = (generator.random((rows, labels)) < 0.3).astype(int)
    scores = generator.integers(0, 9, (rows, labels)) / 8
    worse = np.where(generator.random((rows, labels)) < 0.02, -np.inf, generator.normal(size=(rows, labels)))
    weights = generator.gamma(0.5, 1.0, rows) * (generator.random(rows) < 0.9)
    tags = [np.flatnonzero(row).tolist() for row in truth]
    log = {"tags": tags, "scores": list(scores), "worse": list(worse), "w": weights, "day": np.arange(rows) % 3}
    return log, truth, {"scores": scores, "worse": worse}


def function_values(truth, scores, weights=None):
    return [function(truth, scores, sample_weight=weights, allow_infinite=True) for function in FUNCTIONS.values()]


def values(report, **choice):
    return [report.value(metric, **choice) for metric in METRICS]


@each_case("dtype", [np.float64, np.float32, np.float16, np.int32])
def test_values_are_those_of_the_functions(dtype):
    log, truth, matrices = make_log()
    scores = (8 * matrices["scores"]).astype(dtype)
    for weight in (None, "w"):
        report = fm.evaluate(log | {"scores": list(scores)}, METRICS, **COLUMNS, weight=weight)
        assert values(report) == function_values(truth, scores, log["w"] if weight else None)
    assert report["label_ranking_average_precision_score"] == report["lrap"]


def test_many_labels():
    """More relevant labels than are compared one by one, and blocks of a few rows."""
    log, truth, matrices = make_log(300, 1000)
    report = fm.evaluate(log | {"scores": matrices["worse"]}, METRICS, **COLUMNS)
    assert values(report) == function_values(truth, matrices["worse"])


@each_case("kind", ["text", "dictionary", "numbers"])
def test_labels_have_names(kind):
    log, truth, matrices = make_log()
    names = NAMES if kind != "numbers" else [7 * number - 20 for number in range(LABELS)]
    tags = pa.array([[names[number] for number in row] * 2 for row in log["tags"]])
    if kind == "dictionary":
        tags = tags.cast(pa.list_(pa.string()))
        tags = pa.ListArray.from_arrays(tags.offsets, tags.values.dictionary_encode())
    listed = ", ".join(map(repr, names))
    metrics = [f"{metric}(labels=[{listed}])" for metric in METRICS]
    report = fm.evaluate(pa.table({"tags": tags, "scores": log["scores"]}), metrics, **COLUMNS)
    assert [result.value for result in report] == function_values(truth, matrices["scores"])


def test_models_are_compared():
    log, truth, matrices = make_log()
    comparison = fm.compare(log, "lrap", label="tags", score=["scores", "worse"], unit="day", replicates=20)
    ends = comparison["lrap"].baseline_value, comparison["lrap"].other_value
    assert ends == tuple(FUNCTIONS["lrap"](truth, scores, allow_infinite=True) for scores in matrices.values())


def test_metrics_of_sets_share_a_call():
    log, truth, matrices = make_log()
    log |= {"guess": [[0]] * ROWS}
    names = ["lrap", "hamming(prediction=guess)"]
    report = fm.evaluate(log, names, **COLUMNS)
    assert report["lrap"] == FUNCTIONS["lrap"](truth, matrices["scores"])
    assert report[names[1]] == fm.hamming_loss(truth, np.eye(LABELS, dtype=int)[[0] * ROWS])


def test_the_command_line(tmp_path):
    log, truth, matrices = make_log(60)
    pq.write_table(pa.table(log), tmp_path / "log.parquet")
    command = [sys.executable, "-m", "fastmetrics", "evaluate", "log.parquet", "--label", "tags", "--score", "scores"]
    done = subprocess.run([*command, "--metrics", "lrap,ranking_loss,coverage_error", "--json"], cwd=tmp_path,
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = [result["value"] for result in json.loads(done.stdout)["results"]]
    assert found == function_values(truth, matrices["scores"])


def test_bad_input():
    good = {"tags": [[0], [1, 2]], "scores": [[0.5, 1.0, 2.0], [1.0, 2.0, 3.0]]}
    for changes, error, message in (
        ({"tags": [[0], [3]]}, ValueError, "'tags' has a label without a score at row 1: labels are 0 to 2"),
        ({"tags": [["a"], []]}, ValueError, "labels of type text: name them in the order of the scores"),
        ({"tags": [0, 1]}, TypeError, "label column 'tags' has Arrow type int64: lists of labels are needed"),
        ({"scores": [[1.0, 2.0, 3.0], [1.0]]}, ValueError, "score column 'scores' has 1 entries at row 1, but 3"),
        ({"scores": [1.0, 2.0]}, TypeError, "score column 'scores' has Arrow type double: lists of numbers"),
        ({"scores": [[1.0, 2.0, 3.0], [1.0, math.nan, 3.0]]}, ValueError, "a null or NaN in its list at row 1"),
        ({"tags": [[0], [None]]}, ValueError, "'tags' has a null or NaN in its list at row 1"),
    ):
        assert_raises(error, message, fm.evaluate, good | changes, "lrap", **COLUMNS)
    assert_raises(ValueError, "has 3 scores in a row, and labels=.a, b. are 2", fm.evaluate,
                  good | {"tags": [["a"], ["b"]]}, "lrap(labels=[a, b])", **COLUMNS)  # fmt: skip
    dropped = fm.evaluate(good | {"tags": [[0], None]}, "lrap", **COLUMNS, on_invalid="drop")
    assert dropped.dropped == {"null or NaN label": 1}
    empty = fm.evaluate(good | {"w": [0.0, 0.0]}, "lrap", **COLUMNS, weight="w")
    assert empty.result("lrap").reason == "no rows"
    nothing = fm.evaluate({"tags": [[], []], "scores": [[1.0, 2.0], [2.0, 1.0]]}, METRICS, **COLUMNS)
    assert values(nothing) == [1, 0, 0]


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_of_a_slice_of_a_table_are_read_alone(weighted):
    log, truth, matrices = make_log()
    part, rows = pa.table(log).slice(100, 50), slice(100, 150)
    report = fm.evaluate(part, METRICS, **COLUMNS, weight="w" if weighted else None)
    weights = log["w"][rows] if weighted else None
    assert values(report) == function_values(truth[rows], matrices["scores"][rows], weights)
