"""How far the probabilities of a row may be from the sum 1: rounded to six digits, in 16 bits, in many classes."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import roc_auc_score

import fastmetrics as fm
from fastmetrics._core.columns.array_types import machine_epsilon, sum_tolerance
from support.cases import assert_raises, each_case
from support.peers import pandas


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


def narrowed(rows):
    """Float32 with the digits of bfloat16, cut off."""
    return (rows.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)


ROUNDED = {
    "six digits": lambda rows: rows.round(6),
    "float16": lambda rows: rows.astype(np.float16),
    "float16 in float64": lambda rows: rows.astype(np.float16).astype(np.float64),
    "bfloat16 in float32": narrowed,
    "bfloat16 in float64": lambda rows: narrowed(rows).astype(np.float64),
}


@each_case("n_classes", [3, 300])
@each_case("convert", ROUNDED.values(), ids=ROUNDED)
def test_reports_note_sums_that_are_not_1(tmp_path, convert, n_classes):
    rows, labels = rows_of(n_classes)
    rows = convert(rows)
    farthest = np.abs(rows.sum(axis=1, dtype=np.float64) - 1).max()
    names = {"label": "y", "probabilities": "p"}
    log = pa.table({"y": labels, "p": pa.array(list(rows))})
    pq.write_table(log.slice(0, 150), tmp_path / "1.parquet")
    pq.write_table(log.slice(150), tmp_path / "2.parquet")
    state = fm.Accumulator(["log_loss"], **names)
    other = fm.Accumulator(["log_loss"], **names)
    state.update(log.slice(0, 7))
    other.update(log.slice(7))
    state.merge(fm.Accumulator.from_bytes(other.to_bytes()))
    reports = [fm.evaluate(own, ["log_loss"], **names) for own in (log, log[::-1], str(tmp_path))] + [state.result()]
    for report in reports:
        assert report.results[0].coverage["sum_distance"] == pytest.approx(farthest, rel=1e-6)
        assert f"probabilities of rows sum to 1 only within {farthest:.2g}" in str(report)
        assert report["log_loss"] == reports[0]["log_loss"]
    models = {"label": "y", "probabilities": ["p", "q"], "unit": "row"}
    compared = fm.compare(log.append_column("q", log["p"]), ["log_loss"], **models)
    assert f"p: probabilities of rows sum to 1 only within {farthest:.2g}" in str(compared)


def test_float32_as_models_write_it_has_no_note():
    rows, labels = rows_of(10)
    for own in (rows, rows.astype(np.float32)):
        report = fm.evaluate({"y": labels, "p": own}, ["log_loss"], label="y", probabilities="p")
        assert "sum_distance" not in report.results[0].coverage


@each_case("row", [[0.5, 0.25, 0.125, 0.0625], [0.5, 0.5, 0.0078125 * 2, 0.0], [0.0, 0.0, 0.0, 0.0]])
@each_case("dtype", [np.float32, np.float64])
def test_sums_beyond_the_digits_of_16_bits_are_errors_wherever_they_stand(dtype, row):
    good = [0.25, 0.25, 0.25, 0.25390625]
    log = {"y": [0, 1, 2], "p": np.array([good, row, good], dtype)}
    assert_raises(ValueError, "at row 1", fm.evaluate, log, ["log_loss"], label="y", probabilities="p")
    report = fm.evaluate(log, ["log_loss"], label="y", probabilities="p", on_invalid="drop")
    assert report.dropped == {"probabilities that do not sum to 1": 1}


def test_a_coarse_row_allows_nothing_for_rows_of_more_digits():
    coarse, fine = [0.5, 0.25, 0.2578125], [0.5, 0.2, 0.307]
    log = {"y": [0, 1], "p": [coarse, fine]}
    assert_raises(ValueError, "at row 1", fm.evaluate, log, ["log_loss"], label="y", probabilities="p")


def test_columns_of_bfloat16_are_read_everywhere():
    bfloat16 = pytest.importorskip("ml_dtypes").bfloat16
    rows, labels = rows_of(4)
    narrow = rows.astype(bfloat16)
    wide = narrow.astype(np.float32)
    for data, known in (({"p": narrow}, {"p": wide}), ({"p": list(narrow)}, {"p": list(wide)})):
        found, expected = (
            fm.evaluate({"y": labels, **own}, ["log_loss"], label="y", probabilities="p") for own in (data, known)
        )
        assert found["log_loss"] == expected["log_loss"]
    for make in (dict, pandas().DataFrame):
        logs = (make({"y": labels > 1, "s": own[:, 0]}) for own in (narrow, wide))
        found, expected = (fm.evaluate(log, ["auc"], label="y", score="s") for log in logs)
        assert found["auc"] == expected["auc"]


def test_metrics_that_order_classes_take_any_scores():
    generator = np.random.default_rng(5)
    raw, labels = generator.normal(0, 3, (200, 4)), generator.integers(0, 4, 200)
    names = {"label": "y", "probabilities": "p"}
    report = fm.evaluate({"y": labels, "p": raw}, ["top_k_accuracy@2", "ap"], **names)
    assert report["top_k_accuracy@2"] == fm.top_k_accuracy_score(labels, raw, k=2)
    assert report["ap"] == fm.average_precision_score(labels, raw)
    state = fm.Accumulator(["ap"], **names)
    state.update({"y": labels, "p": raw})
    assert fm.Accumulator.from_bytes(state.to_bytes()).result()["ap"] == report["ap"]
    for metric in ("log_loss", "brier", "ece", "auc"):
        for metrics in ([metric], ["ap", metric], [metric, "top_k_accuracy@1"]):
            error = "probabilities must lie between 0 and 1"
            assert_raises(ValueError, error, fm.evaluate, {"y": labels, "p": raw}, metrics, **names)
