"""Sets of labels: macro F1 and the mean F1 of rows, from a Parquet file of two columns of lists."""

import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from sklearn.metrics import f1_score

import fastmetrics as fm
from bench.workloads import SEED

LABELS = 100
PER_ROW = 3
METRICS = ["f1(average=macro)", "f1(average=samples)"]


def label_sets(rows):
    """True labels and predicted ones, of which seven in ten are true; a row may have a label twice."""
    random = np.random.default_rng(SEED + 80)
    true = random.integers(0, LABELS, (rows, PER_ROW))
    return true, np.where(random.random((rows, PER_ROW)) < 0.7, true, random.integers(0, LABELS, (rows, PER_ROW)))


def lists(numbers, kind):
    values = pa.array(numbers.reshape(-1))
    if kind == "text":
        names = pa.array([f"label number {number}" for number in range(LABELS)])
        values = names.take(values)
    return pa.ListArray.from_arrays(pa.array(np.arange(0, len(values) + 1, PER_ROW, dtype=np.int32)), values)


def indicators(numbers):
    """A sparse matrix with a column for each label, as MultiLabelBinarizer makes it."""
    rows = np.repeat(np.arange(numbers.shape[0]), PER_ROW)
    matrix = sparse.csr_matrix((np.ones(numbers.size, np.int64), (rows, numbers.reshape(-1))), (len(numbers), LABELS))
    matrix.data[:] = 1
    return matrix


@pytest.mark.parametrize("kind", ["int64", "text"])
def test_sets_of_labels(timing, rows, tmp_path, kind):
    rows = min(rows, 2_000_000)
    true, predicted = label_sets(rows)
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table({"y": lists(true, kind), "p": lists(predicted, kind)}), path, row_group_size=1 << 17)

    def ours():
        return fm.evaluate(path, METRICS, label="y", prediction="p")

    def theirs():
        matrices = indicators(true), indicators(predicted)
        return [f1_score(*matrices, average=average) for average in ("macro", "samples")]

    for own, other in zip(ours(), theirs(), strict=True):
        assert math.isclose(own.value, other, rel_tol=1e-12)
    timing.compare(
        f"macro and samples F1, {{rows}} sets of {PER_ROW} {kind} labels, Parquet", ours,
        "scikit-learn on arrays, with sparse indicators", theirs, within=None, rounds=3,
    )  # fmt: skip
