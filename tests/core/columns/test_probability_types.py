"""How far the probabilities of a row may be from the sum 1: rounded to six digits, in 16 bits, in many classes."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

import fastmetrics as fm
from fastmetrics._core.columns.probability_types import machine_epsilon, sum_tolerance
from support.cases import assert_raises, each_case


def rows_of(n_classes, n_rows=400, seed=0):
    generator = np.random.default_rng(seed)
    return generator.dirichlet(np.ones(n_classes), n_rows), generator.integers(0, n_classes, n_rows)


def columns_of(matrix):
    return {f"p{number}": matrix[:, number] for number in range(matrix.shape[1])}


@each_case("eps, n_classes, expected", [(2.0**-52, 2, 1.01e-6), (2.0**-52, 1000, 5.0001e-4), (2.0**-10, 5, 0.03125001)])
def test_the_tolerance_follows_from_type_and_classes(eps, n_classes, expected):
    assert sum_tolerance(eps, n_classes) == pytest.approx(expected, rel=1e-6)


@each_case("n_classes", [3, 5, 20])
@each_case("convert", [lambda rows: rows.round(6), lambda rows: rows.astype(np.float16)], ids=["six digits", "float16"])
def test_rows_that_are_rounded_are_used_as_they_are(convert, n_classes):
    rows, labels = rows_of(n_classes)
    rows = convert(rows)
    assert (rows.sum(axis=1, dtype=np.float64) != 1).any()
    own = rows[np.arange(len(labels)), labels].astype(np.float64)
    expected = -np.log(np.maximum(own, np.finfo(rows.dtype).eps)).mean()
    by_list = fm.evaluate({"y": labels, "p": list(rows)}, "log_loss,auc", label="y", probabilities="p")
    data = {"y": labels, **columns_of(rows)}
    by_column = fm.evaluate(data, "log_loss,auc", label="y", probabilities=list(columns_of(rows)))
    for report in (by_list, by_column):
        assert report["log_loss"] == pytest.approx(expected, rel=1e-9)
    every = np.arange(n_classes)
    found = fm.roc_auc_score(labels, rows, multi_class="ovr", labels=every)
    exact = rows.astype(np.float64) / rows.sum(axis=1, dtype=np.float64, keepdims=True)

    assert found == pytest.approx(roc_auc_score(labels, exact, multi_class="ovr", labels=every), abs=0.02)


def test_rows_of_other_sums_are_dropped_where_asked():
    rows, labels = rows_of(4)
    rows[[3, 70]] *= 0.5
    kept = np.delete(np.arange(400), [3, 70])
    expected = fm.log_loss(labels[kept], rows[kept])
    lists = {"y": labels, "p": list(rows)}
    error = r"sums? to 0\.5.* at row 3.*on_invalid='drop'"
    for data, names in ((lists, "p"), ({"y": labels, **columns_of(rows)}, list(columns_of(rows)))):
        assert_raises(ValueError, error, fm.evaluate, data, "log_loss", label="y", probabilities=names)
        report = fm.evaluate(data, "log_loss", label="y", probabilities=names, on_invalid="drop")
        assert report["log_loss"] == expected
        assert report.dropped == {"probabilities that do not sum to 1": 2}
    state = fm.Accumulator(["log_loss"], label="y", probabilities="p", on_invalid="drop")
    for part in (slice(0, 50), slice(50, 400)):
        state.update({name: column[part] for name, column in lists.items()})
    assert state.result()["log_loss"] == expected


def test_bfloat16_is_read_exactly_and_keeps_its_epsilon():
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    rows, labels = rows_of(5)
    narrow = rows.astype(bfloat16)
    assert machine_epsilon(narrow, narrow) == 2.0**-7
    wide = narrow.astype(np.float32)
    assert fm.roc_auc_score(labels > 2, narrow[:, 0]) == fm.roc_auc_score(labels > 2, wide[:, 0])
    assert 0.4 < fm.roc_auc_score(labels, narrow, multi_class="ovr") < 0.6
    assert fm.top_k_accuracy_score(labels, narrow, k=2) == fm.top_k_accuracy_score(labels, wide, k=2)
