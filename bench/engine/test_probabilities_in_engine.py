"""Probabilities of ten classes, a list column in a Parquet file, against scikit-learn on arrays."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn import metrics

import fastmetrics as fm

ROWS = 2_000_000
CLASSES = 10
SEED = 20240519


@pytest.fixture(scope="module")
def columns(rows):
    random = np.random.default_rng(SEED)
    n = min(ROWS, rows)
    labels = random.integers(0, CLASSES, n)
    matrix = random.random((n, CLASSES))
    matrix[np.arange(n), labels] += 1.0
    matrix /= matrix.sum(axis=1, keepdims=True)
    return labels, matrix


@pytest.fixture(scope="module")
def path(columns, tmp_path_factory):
    labels, matrix = columns
    lists = pa.FixedSizeListArray.from_arrays(pa.array(matrix.reshape(-1)), CLASSES)
    path = tmp_path_factory.mktemp("probabilities") / "log.parquet"
    pq.write_table(pa.table({"y": labels, "probs": lists}), path, row_group_size=1 << 18)
    return path


CASES = {
    "log loss": (["logloss"], lambda *columns: [metrics.log_loss(*columns)]),
    "log loss, Brier score and top-3 accuracy": (
        ["logloss", "brier", "top_k_accuracy@3"],
        lambda *columns: [
            metrics.log_loss(*columns),
            metrics.brier_score_loss(*columns),
            metrics.top_k_accuracy_score(*columns, k=3),
        ],
    ),
    "AUC, one class against the rest": (["auc"], lambda *own: [metrics.roc_auc_score(*own, multi_class="ovr")]),
    "AUC, pairs of classes": (
        ["auc(multi_class=ovo)"], lambda *own: [metrics.roc_auc_score(*own, multi_class="ovo")],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_probabilities(timing, columns, path, case):
    names, peer = CASES[case]

    def ours():
        report = fm.evaluate(path, names, label="y", probabilities="probs")
        return [report[name] for name in names]

    title = f"`evaluate`: {case}, 2M rows of 10 classes, lists in Parquet"
    timing.compare(title, ours, "scikit-learn on arrays", lambda: peer(*columns), within=1e-12)
