"""Confusion matrix, accuracy, and precision, recall and F-score."""

from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn import metrics

import fastmetrics as fm
from bench.workloads import SEED

CLASSES = 100
NAMED_CLASSES = 20
STRING_ROWS = 1_000_000


def predictions(labels, n_classes, random):
    """Predictions that are correct in 70 % of rows; other rows have a random class."""
    wrong = random.random(labels.shape[0]) < 0.3
    return np.where(wrong, random.integers(0, n_classes, labels.shape[0]), labels).astype(labels.dtype)


@pytest.fixture(scope="module")
def binary(clicks):
    random = np.random.default_rng(SEED + 10)
    labels = clicks.labels.astype(np.int8)
    return labels, predictions(labels, 2, random)


@pytest.fixture(scope="module")
def hundred(rows):
    random = np.random.default_rng(SEED + 11)
    labels = (CLASSES * random.random(rows) ** 2).astype(np.int64)
    return labels, predictions(labels, CLASSES, random)


@pytest.mark.parametrize(
    ("name", "fixture", "labels"),
    [
        ("confusion_matrix", "binary", "int8 binary labels"),
        ("confusion_matrix", "hundred", "int64 labels of 100 classes"),
        ("accuracy_score", "binary", "int8 binary labels"),
        ("accuracy_score", "hundred", "int64 labels of 100 classes"),
    ],
)
def test_counts(timing, request, name, fixture, labels):
    columns = request.getfixturevalue(fixture)
    ours, theirs = partial(getattr(fm, name), *columns), partial(getattr(metrics, name), *columns)
    timing.compare(f"`{name}`, {{rows}} {labels}", ours, "scikit-learn", theirs, within=0.0)


def test_evaluate_many_classes(timing, hundred, tmp_path_factory):
    """Three metrics of a Parquet file, against scikit-learn on arrays."""
    labels, predicted = hundred
    path = tmp_path_factory.mktemp("classes") / "log.parquet"
    pq.write_table(pa.table({"y": labels, "pred": predicted}), path)
    names = ["accuracy", "f1(average=macro)", "kappa"]

    def ours():
        report = fm.evaluate(path, names, label="y", prediction="pred")
        return [report[name] for name in names]

    def theirs():
        return [
            metrics.accuracy_score(labels, predicted),
            metrics.f1_score(labels, predicted, average="macro"),
            metrics.cohen_kappa_score(labels, predicted),
        ]

    title = "`evaluate`: accuracy, macro F and kappa, {rows} rows of 100 classes, Parquet"
    timing.compare(title, ours, "scikit-learn on arrays", theirs, within=1e-12)


KINDS = {
    "NumPy": lambda columns: columns,
    "object": lambda columns: [column.astype(object) for column in columns],
    "pandas": lambda columns: [pd.Series(column) for column in columns],
    "Arrow": lambda columns: [pa.array(column) for column in columns],
}


@pytest.mark.parametrize("kind", KINDS)
def test_string_labels(timing, kind):
    """scikit-learn does not accept Arrow arrays; it gets NumPy arrays instead."""
    random = np.random.default_rng(SEED + 12)
    names = np.array([f"category_{number:02d}" for number in range(NAMED_CLASSES)])
    labels = (NAMED_CLASSES * random.random(STRING_ROWS) ** 2).astype(np.int64)
    text = [names[labels], names[predictions(labels, NAMED_CLASSES, random)]]
    columns = KINDS[kind](text)
    for_peer = text if kind == "Arrow" else columns
    timing.compare(
        f"`precision_recall_fscore_support`, 1M string labels of 20 classes ({kind})",
        partial(fm.precision_recall_fscore_support, *columns), "scikit-learn",
        partial(metrics.precision_recall_fscore_support, *for_peer), within=1e-15,
    )  # fmt: skip
