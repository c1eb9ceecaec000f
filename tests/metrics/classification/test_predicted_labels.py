"""Metrics of predicted labels: the bits of the functions, for labels of any type, in every entry point."""

import datetime
import math
import pickle

import numpy as np
import pyarrow as pa
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics.metrics.classification.class_table import ClassTable
from support.cases import assert_raises, each_case

ROWS = 3000
FUNCTIONS = {
    "accuracy": (fm.accuracy_score, {}),
    "balanced_accuracy": (fm.balanced_accuracy_score, {}),
    "balanced_accuracy(adjusted=True)": (fm.balanced_accuracy_score, {"adjusted": True}),
    "kappa": (fm.cohen_kappa_score, {}),
    "kappa(weights=linear)": (fm.cohen_kappa_score, {"weights": "linear"}),
    "kappa(weights=quadratic)": (fm.cohen_kappa_score, {"weights": "quadratic"}),
    "mcc": (fm.matthews_corrcoef, {}),
    "gmean(correction=0.5)": (fm.geometric_mean_score, {"correction": 0.5}),
    "f1(average=macro, macro=f_of_means)": (fm.f1_score, {"average": "macro", "macro": "f_of_means"}),
    "fbeta(average=macro, beta=0.5)": (fm.fbeta_score, {"average": "macro", "beta": 0.5}),
    **{
        f"{name}(average={average})": (function, {"average": average})
        for name, function in (
            ("precision", fm.precision_score),
            ("recall", fm.recall_score),
            ("f1", fm.f1_score),
            ("specificity", fm.specificity_score),
            ("jaccard", fm.jaccard_score),
        )
        for average in ("micro", "macro", "weighted")
    },
}  # fmt: skip
METRICS = list(FUNCTIONS)
DAY = np.datetime64("2024-02-28")
# From class numbers to labels of a type.
LABELS = {
    "int64": lambda numbers: numbers.astype(np.int64),
    "negative int8": lambda numbers: (numbers - 3).astype(np.int8),
    "far apart": lambda numbers: numbers.astype(np.int64) * (1 << 59) - (1 << 61),
    "uint64": lambda numbers: numbers.astype(np.uint64),
    "whole floats": lambda numbers: numbers.astype(np.float32),
    "text": lambda numbers: np.array(["b", "ä", "a", "", "никто", "B"])[numbers],
    "dictionary": lambda numbers: pa.array(np.array(["b", "ä", "a", "", "никто", "B"])[numbers]).dictionary_encode(),
    "dates": lambda numbers: DAY + numbers,
}


def make_log(rows=ROWS, classes=5, seed=0):
    generator = np.random.default_rng(seed)
    label = np.minimum(generator.geometric(0.4, rows) - 1, classes - 1)
    guess = np.where(generator.random(rows) < 0.7, label, generator.integers(0, classes + 1, rows))
    other = np.where(generator.random(rows) < 0.5, label, generator.integers(0, classes, rows))
    user = generator.integers(0, 60, rows)
    weight = generator.gamma(0.5, 1.0, rows) * (generator.random(rows) < 0.9)
    return {"y": label, "p": guess, "q": other, "user": user, "w": weight, "day": user % 3}


def values(report, **choice):
    return {metric: report.value(metric, **choice) for metric in METRICS}


def function_values(y, p, weights=None, ignored=()):
    return {
        metric: function(y, p, sample_weight=weights, **options)
        for metric, (function, options) in FUNCTIONS.items()
        if metric not in ignored
    }


@each_case("kind", LABELS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_values_are_those_of_the_functions(kind):
    log = make_log()
    columns = {name: LABELS[kind](log[name]) for name in "yp"}
    plain = function_values(log["y"], log["p"])
    if kind in ("text", "dictionary"):  # the order of the classes is that of their texts
        names = np.array(["b", "ä", "a", "", "никто", "B"])
        plain = function_values(names[log["y"]], names[log["p"]])
    for weight in (None, "w"):
        report = fm.evaluate({**columns, "w": log["w"]}, METRICS, label="y", prediction="p", weight=weight)
        if weight is not None:
            kept = log["w"] > 0
            numbers = [np.asarray(LABELS["text" if kind == "dictionary" else kind](log[name])) for name in "yp"]
            if kind == "dates":
                numbers = [log["y"], log["p"]]
            plain = function_values(*(column[kept] for column in numbers), log["w"][kept])
        assert values(report) == plain, (kind, weight)


def test_values_are_those_of_scikit_learn():
    log = make_log()
    report = fm.evaluate(log, METRICS, label="y", prediction="p")
    for metric, function, options in (
        ("accuracy", sklearn.metrics.accuracy_score, {}),
        ("kappa(weights=linear)", sklearn.metrics.cohen_kappa_score, {"weights": "linear"}),
        ("mcc", sklearn.metrics.matthews_corrcoef, {}),
        ("f1(average=macro)", sklearn.metrics.f1_score, {"average": "macro"}),
        ("precision(average=weighted)", sklearn.metrics.precision_score, {"average": "weighted", "zero_division": 0}),
    ):
        assert math.isclose(report[metric], function(log["y"], log["p"], **options), rel_tol=1e-12), metric


def test_two_classes_are_those_of_a_threshold():
    log = make_log()
    binary = {"y": log["y"] > 1, "p": log["p"] > 1, "s": (log["p"] > 1).astype(float), "w": log["w"]}
    names = ["accuracy", "precision", "recall", "f1", "fbeta(beta=0.5)", "specificity", "kappa", "mcc", "jaccard"]
    for weight in (None, "w"):
        of_labels = fm.evaluate(binary, names, label="y", prediction="p", weight=weight)
        of_scores = fm.evaluate(binary, names, label="y", score="s", weight=weight)
        for name in names:
            assert math.isclose(of_labels[name], of_scores[name], rel_tol=1e-14), (name, weight)
    assert "|of:predictions" in of_labels.result("f1").signature
    assert "|of:predictions" not in of_scores.result("f1").signature


def test_one_class_has_its_name():
    log = make_log()
    text = {"y": LABELS["text"](log["y"]), "p": LABELS["text"](log["p"])}
    recalls = fm.recall_score(text["y"], text["p"], average=None, labels=["a", "b"])
    for label, recall in zip("ab", recalls, strict=True):
        metric = f"recall(average=macro, labels=[{label}])"
        assert fm.evaluate(text, metric, label="y", prediction="p")[metric] == recall
    binary = {name: np.where(column == "a", "yes", "no") for name, column in text.items()}
    report = fm.evaluate(binary, ["f1(pos_label=yes)", "f1"], label="y", prediction="p")
    assert report["f1(pos_label=yes)"] == fm.f1_score(binary["y"], binary["p"], pos_label="yes")
    assert "'no' and 'yes'" in report.result("f1").reason
    assert "there are 6" in fm.evaluate(text, "f1", label="y", prediction="p").result("f1").reason


def test_a_metric_takes_what_its_string_names():
    log = make_log() | {"click": np.arange(ROWS) % 2, "prob": np.arange(ROWS) / ROWS}
    of_labels = ["accuracy(label=y, prediction=q)", "f1(label=y, average=macro)"]
    names = [*of_labels, "accuracy(label=click)", "auc(label=click)"]
    report = fm.evaluate(log, names, score="prob", prediction="p")
    assert report["accuracy(label=y, prediction=q)"] == fm.accuracy_score(log["y"], log["q"])
    assert report["f1(label=y, average=macro)"] == fm.f1_score(log["y"], log["p"], average="macro")
    assert report["accuracy(label=click)"] == fm.accuracy_score(log["click"], log["prob"] >= 0.5)
    assert report["auc(label=click)"] == fm.roc_auc_score(log["click"], log["prob"])
    # The string of a default is needed to tell the forms apart, and only then.
    both = fm.evaluate({"b": [0, 1, 1], "s": [0.1, 0.2, 0.9], "p": [0, 0, 1]}, "f1(average=binary)", label="b",
                       score="s", prediction="p")  # fmt: skip
    assert [result.metric for result in both] == ["f1(average=binary)"]
    assert both["f1(average=binary)"] == fm.f1_score([0, 1, 1], [0, 0, 1])
    alone = fm.evaluate({"b": [0, 1, 1], "p": [0, 0, 1]}, "f1(average=binary)", label="b", prediction="p")
    assert alone["f1"] == alone["f1(average=binary)"] == alone["f1_score"]


def test_intervals_are_those_of_repeated_rows():
    """A replicate of weighted rows is the table of its rows, each as often as its unit."""
    log = make_log(400)
    names = ["accuracy", "kappa", "f1(average=macro)"]
    options = {"label": "y", "prediction": "p", "unit": "user", "ci": 0.9, "replicates": 40}
    plain = fm.evaluate(log, names, **options)
    ones = fm.evaluate(log | {"w": np.ones(400)}, names, weight="w", **options)
    for name in names:
        assert plain.result(name).interval == ones.result(name).interval
    weighted = fm.evaluate(log, names, weight="w", **options)
    order = np.random.default_rng(1).permutation(400)
    moved = fm.evaluate({name: column[order] for name, column in log.items()}, names, weight="w", **options)
    assert [result.interval for result in weighted] == [result.interval for result in moved]


def test_models_are_compared():
    log = make_log()
    comparison = fm.compare(
        log, ["accuracy", "f1(average=macro)"], label="y", prediction=["p", "q"], unit="user", replicates=50
    )
    assert comparison["accuracy"].baseline_value == fm.accuracy_score(log["y"], log["p"])
    assert comparison["accuracy"].other_value == fm.accuracy_score(log["y"], log["q"])
    assert comparison["f1(average=macro)"].pvalue < 0.05
    assert "confusion matrix" in str(comparison.notes)
    with pytest.raises(ValueError, match="by score or by prediction"):
        fm.compare(log, "accuracy", label="y", score=["p", "q"], prediction=["p", "q"])


def test_reports_show_the_confusion_matrix_and_each_class():
    log = make_log(classes=3)
    text = {"y": LABELS["text"](log["y"]), "p": LABELS["text"](log["p"]), "q": LABELS["text"](log["q"])}
    report = fm.evaluate(text, "accuracy", label="y", prediction=["p", "q"], n_threads=2)
    matrix, other = report.confusion_matrices
    assert (matrix.label, matrix.prediction, other.prediction) == ("y", "p", "q")
    assert matrix.classes == ("", "a", "b", "ä")
    np.testing.assert_array_equal(matrix.counts, fm.confusion_matrix(text["y"], text["p"]))
    precisions, recalls, fs, support = fm.precision_recall_fscore_support(text["y"], text["p"], zero_division=math.nan)
    rows = matrix.by_class()
    for name, expected in (("precision", precisions), ("recall", recalls), ("f1", fs), ("rows", support)):
        np.testing.assert_array_equal([getattr(row, name) for row in rows], expected)
    printed = str(report)
    assert "confusion matrix: rows are labels (y), columns are predictions (q)" in printed
    assert "p, by class" in printed
    assert f"{int(support[1]):,}" in printed
    page = report.to_html()
    assert "Classes" in page
    assert page.count("confusion matrix: rows are labels") >= 2
    assert report.to_dict()["confusion_matrices"][0]["counts"][1][1] == matrix.counts[1][1]
    assert pickle.loads(pickle.dumps(report)) == report
    weighted = fm.evaluate(log, "accuracy", label="y", prediction="p", weight="w").confusion_matrices[0]
    kept = log["w"] > 0
    np.testing.assert_array_equal(
        weighted.counts, fm.confusion_matrix(log["y"][kept], log["p"][kept], sample_weight=log["w"][kept])
    )
    many = np.arange(40)
    printed = str(fm.evaluate({"y": many, "p": many}, "kappa", label="y", prediction="p"))
    assert "20 of 40 classes with the lowest f1" in printed
    assert fm.evaluate(log | {"s": log["w"]}, "rmse", label="y", score="s").confusion_matrices == ()


def test_labels_of_another_type_are_refused():
    numbers, text = [0, 1, 2], ["a", "b", "c"]
    for log, message in (
        ({"y": numbers, "p": text}, "column 'y' are of type integer, and those of column 'p' are of type text"),
        ({"y": text, "p": numbers}, "column 'y' are of type text, and those of column 'p' are of type integer"),
        ({"y": numbers, "p": [0, 1.5, 2]}, "prediction column 'p' has 1.5 at row 1: labels of classes have no frac"),
        ({"y": numbers, "p": [0, 1, None]}, "prediction column 'p' has a null at row 2"),
        ({"y": [datetime.date(2024, 1, day) for day in (1, 2, 3)], "p": numbers}, "column 'y' are of type date32"),
    ):
        assert_raises(ValueError, message, fm.evaluate, log, "accuracy", label="y", prediction="p")
    assert_raises(TypeError, "prediction is missing", fm.evaluate, {"y": numbers}, "f1(average=macro)", label="y")
    log, metric = {"y": numbers, "p": numbers}, "f1(threshold=0.5, average=macro)"
    assert_raises(ValueError, "are of different columns", fm.evaluate, log, metric, label="y", prediction="p")
    assert_raises(
        ValueError, "no metric asked for reads", fm.evaluate, {"y": [0, 1], "p": [0, 1]}, "auc", label="y", score="p",
        prediction="p",
    )  # fmt: skip


def test_no_rows_and_one_class():
    report = fm.evaluate({"y": [1, 2], "p": [1, 2], "w": [0.0, 0.0]}, METRICS, label="y", prediction="p", weight="w")
    assert {result.reason for result in report} == {"no rows"}
    one = fm.evaluate({"y": [3, 3], "p": [3, 3]}, ["accuracy", "kappa", "mcc"], label="y", prediction="p")
    assert one["accuracy"] == 1.0
    assert [result.reason is None for result in one] == [True, False, False]


PAIRS = st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 300), st.floats(1e-300, 1e300)), max_size=40)


@given(PAIRS, PAIRS)
def test_tables_add_up(first, second):
    """Cells and exact weights of a table are those of its parts, in any order, and survive bytes."""
    tables = []
    for rows in (first + second, second + first, first, second):
        table = ClassTable()
        if rows:
            labels, predictions, weights = map(np.array, zip(*rows, strict=True))
            table.set_form("class")
            table.codes[0].add_types("integer", "integer")
            table.cells.add(labels, predictions, None, weights)
        tables.append(table)
    whole, moved, part, other = tables
    part.merge(other)
    copy = ClassTable()
    copy.load_arrays(*whole.arrays())
    for table in (moved, part, copy):
        for expected, found in zip(whole.arrays(), table.arrays(), strict=True):
            np.testing.assert_array_equal(expected, found)


def test_many_classes_grow_the_table():
    generator = np.random.default_rng(3)
    labels, predictions = generator.integers(0, 3000, (2, 100_000))
    log = {"y": labels, "p": predictions}
    report = fm.evaluate(log, ["accuracy", "f1(average=macro)"], label="y", prediction="p")
    assert report["accuracy"] == fm.accuracy_score(labels, predictions)
    assert report["f1(average=macro)"] == fm.f1_score(labels, predictions, average="macro")
