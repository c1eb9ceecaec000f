"""Labels against labels."""

from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn import metrics

import fastmetrics as fm
from bench.race import at_least
from bench.workloads import SEED

CLASSES = 100
NAMED_CLASSES = 20
STRING_ROWS = 1_000_000


def predictions(labels, n_classes, random):
    """Right in 70 % of rows, else any class."""
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
    ("name", "fixture", "what", "target"),
    [
        ("confusion_matrix", "binary", "int8 binary labels", 40),
        ("confusion_matrix", "hundred", "int64 labels of 100 classes", 20),
        ("accuracy_score", "binary", "int8 binary labels", 15),
        ("accuracy_score", "hundred", "int64 labels of 100 classes", 15),
    ],
)
def test_counts(race, request, name, fixture, what, target):
    columns = request.getfixturevalue(fixture)
    ours, theirs = partial(getattr(fm, name), *columns), partial(getattr(metrics, name), *columns)
    race.against(f"`{name}`, {{rows}} {what}", ours, "scikit-learn", theirs, within=0.0, target=at_least(target))


KINDS = {
    "NumPy": lambda columns: columns,
    "object": lambda columns: [column.astype(object) for column in columns],
    "pandas": lambda columns: [pd.Series(column) for column in columns],
    "Arrow": lambda columns: [pa.array(column) for column in columns],
}


@pytest.mark.parametrize("kind", KINDS)
def test_string_labels(race, kind):
    """scikit-learn gets what it takes: Arrow arrays as NumPy ones."""
    random = np.random.default_rng(SEED + 12)
    names = np.array([f"category_{number:02d}" for number in range(NAMED_CLASSES)])
    labels = (NAMED_CLASSES * random.random(STRING_ROWS) ** 2).astype(np.int64)
    text = [names[labels], names[predictions(labels, NAMED_CLASSES, random)]]
    columns = KINDS[kind](text)
    for_peer = text if kind == "Arrow" else columns
    race.against(
        f"`precision_recall_fscore_support`, 1M string labels of 20 classes ({kind})",
        partial(fm.precision_recall_fscore_support, *columns), "scikit-learn",
        partial(metrics.precision_recall_fscore_support, *for_peer), within=1e-15, target=at_least(5),
    )  # fmt: skip
