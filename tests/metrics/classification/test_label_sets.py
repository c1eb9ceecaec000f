"""Sets of labels in evaluate: the bits of the functions on indicator matrices, in every entry point."""

import datetime
import json
import math

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import MultiLabelBinarizer

import fastmetrics as fm
from fastmetrics._core.columns.label_columns import as_class_labels
from fastmetrics._core.columns.row_blocks import NonNumericRows
from fastmetrics.metrics.classification.class_table import ClassTableCounts, SetColumns, match_sets
from support.cases import assert_raises, each_case

ROWS = 1500
TAGS = ["b", "ä", "a", "", "никто", "B", "tag with spaces", "z"]
ZERO = {"zero_division": 0}
FUNCTIONS = {
    "accuracy": (fm.accuracy_score, {}),
    "hamming": (fm.hamming_loss, {}),
    "f1(average=macro, macro=f_of_means)": (fm.f1_score, {"average": "macro", "macro": "f_of_means", **ZERO}),
    "fbeta(average=samples, beta=0.5)": (fm.fbeta_score, {"average": "samples", "beta": 0.5, **ZERO}),
    "precision(average=samples, zero_division=1)": (fm.precision_score, {"average": "samples", "zero_division": 1}),
    "recall(average=samples, zero_division=nan)": (fm.recall_score, {"average": "samples", "zero_division": math.nan}),
    **{
        f"{name}(average={average})": (function, {"average": average, **ZERO})
        for name, function in (
            ("precision", fm.precision_score),
            ("recall", fm.recall_score),
            ("f1", fm.f1_score),
            ("specificity", fm.specificity_score),
            ("jaccard", fm.jaccard_score),
        )
        for average in ("micro", "macro", "weighted", "samples")
    },
}  # fmt: skip
METRICS = list(FUNCTIONS)
NAMES = {"label": "y", "prediction": "p"}
DAY = datetime.date(2024, 2, 28)
# From numbers of labels to labels of a type, in the same order but for texts.
LABELS = {
    "int64": (int, pa.int64()),
    "int8": (lambda number: number - 3, pa.int8()),
    "far apart": (lambda number: number * (1 << 59) - (1 << 61), pa.int64()),
    "whole floats": (float, pa.float32()),
    "text": (TAGS.__getitem__, pa.string()),
    "large text": (TAGS.__getitem__, pa.large_string()),
    "dates": (lambda number: DAY + datetime.timedelta(number), pa.date32()),
}


def make_sets(generator, rows=ROWS, most=5):
    return [generator.integers(0, len(TAGS), size).tolist() for size in generator.integers(0, most, rows)]


def make_log(rows=ROWS, seed=0):
    generator = np.random.default_rng(seed)
    label = make_sets(generator, rows)
    others = make_sets(generator, rows)
    guess = [own if generator.random() < 0.3 else other for own, other in zip(label, others, strict=True)]
    user = generator.integers(0, 40, rows)
    # Products of such weights and ratios are exact, so the functions round as the engine does.
    weight = 2.0 ** generator.integers(-3, 4, rows) * (generator.random(rows) < 0.9)
    return {"y": label, "p": guess, "q": make_sets(generator, rows), "user": user, "w": weight, "day": user % 3}


def indicators(*columns):
    binarizer = MultiLabelBinarizer().fit([row for column in columns for row in column])
    return [binarizer.transform(column) for column in columns]


def select(column, mask):
    return [row for row, kept in zip(column, mask, strict=True) if kept]


def function_values(y, p, weights=None):
    y, p = indicators(y, p)
    return {name: function(y, p, sample_weight=weights, **options) for name, (function, options) in FUNCTIONS.items()}


def values(report, **choice):
    return {metric: report.value(metric, **choice) for metric in METRICS}


@each_case("kind", LABELS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_values_are_those_of_the_functions(kind):
    log = make_log()
    label_of, arrow_type = LABELS[kind]
    columns = {name: [[label_of(number) for number in row] for row in log[name]] for name in "yp"}
    arrays = {name: pa.array(column, pa.list_(arrow_type)) for name, column in columns.items()}
    for weight in (None, "w"):
        report = fm.evaluate(pa.table({**arrays, "w": log["w"]}), METRICS, **NAMES, weight=weight)
        kept = log["w"] > 0 if weight else np.ones(ROWS, bool)
        expected = function_values(*(select(columns[name], kept) for name in "yp"), log["w"][kept] if weight else None)
        assert values(report) == expected, (kind, weight)


def test_any_weights_are_summed_exactly():
    log = make_log()
    weights = np.random.default_rng(3).gamma(0.5, 1.0, ROWS) + 1e-9
    report = fm.evaluate(log | {"w": weights}, METRICS, **NAMES, weight="w")
    for metric, expected in function_values(log["y"], log["p"], weights).items():
        assert math.isclose(report[metric], expected, rel_tol=1e-14), metric


def test_values_are_those_of_scikit_learn():
    log = make_log()
    report = fm.evaluate(log, METRICS, **NAMES)
    y, p = indicators(log["y"], log["p"])
    for metric, function, options in (
        ("accuracy", sklearn.metrics.accuracy_score, {}),
        ("hamming", sklearn.metrics.hamming_loss, {}),
        ("f1(average=samples)", sklearn.metrics.f1_score, {"average": "samples", **ZERO}),
        ("f1(average=micro)", sklearn.metrics.f1_score, {"average": "micro"}),
        ("jaccard(average=samples)", sklearn.metrics.jaccard_score, {"average": "samples", **ZERO}),
        ("recall(average=weighted)", sklearn.metrics.recall_score, {"average": "weighted"}),
    ):
        assert math.isclose(report[metric], function(y, p, **options), rel_tol=1e-12), metric


def test_hand_worked():
    """Labels 1, 2, 3, 4. Rows: {1, 2} and {2, 3}; {} and {}; {1} and {1, 1}; {4} and {}."""
    log = {"y": [[1, 2], [], [1], [4]], "p": [[2, 3], [], [1, 1], []]}
    names = ["f1(average=samples)", "f1(average=samples, zero_division=1)", "hamming", "accuracy", "f1(average=micro)"]
    report = fm.evaluate(log, [*names, "hamming(labels=[1, 2, 9])", "hamming(labels=[4])"], **NAMES)
    assert report["f1(average=samples)"] == (0.5 + 0 + 1 + 0) / 4
    assert report["f1(average=samples, zero_division=1)"] == (0.5 + 1 + 1 + 0) / 4
    assert report["hamming"] == (2 + 0 + 0 + 1) / (4 * 4)
    assert report["accuracy"] == 0.5
    assert report["f1(average=micro)"] == 4 / 7
    assert report["hamming(labels=[1, 2, 9])"] == 1 / (4 * 3)
    assert report["hamming(labels=[4])"] == report["hamming_loss(labels=[4])"] == 1 / 4


def test_hamming_of_classes_is_the_share_of_wrong_rows():
    log = {"y": [1, 2, 3, 1], "p": [1, 2, 1, 2]}
    report = fm.evaluate(log, ["hamming", "hamming(labels=[1])"], **NAMES)
    assert report["hamming"] == fm.hamming_loss(log["y"], log["p"]) == 0.5
    assert "labels= is for sets" in report.result("hamming(labels=[1])").reason


@each_case(
    ("metric", "reason"),
    [
        *((name, f"{name} is of single classes") for name in ("kappa", "mcc", "balanced_accuracy", "gmean")),
        ("f1", "average=binary is for two classes, and rows have sets of labels: write average=samples"),
        ("f1(average=samples, labels=[1])", "average=samples is of all labels"),
    ],
)
def test_metrics_of_single_classes_are_undefined(metric, reason):
    result = fm.evaluate(make_log(20), metric, **NAMES).result(metric)
    assert math.isnan(result.value)
    assert reason in result.reason


def test_metrics_of_sets_are_undefined_for_single_classes():
    result = fm.evaluate({"y": [1, 2], "p": [1, 1]}, "f1(average=samples)", **NAMES).result("f1(average=samples)")
    assert "mean over rows with sets of labels, and these rows have one class each" in result.reason


def test_empty_sets_alone():
    report = fm.evaluate({"y": [[], []], "p": [[], []]}, ["hamming", "accuracy", "f1(average=samples)"], **NAMES)
    assert report.result("hamming").reason == "no row has a label"
    assert report["accuracy"] == 1
    assert report["f1(average=samples)"] == 0
    report = fm.evaluate({"y": [["a"], []], "p": [[], []]}, "recall(average=samples)", **NAMES)
    assert report["recall(average=samples)"] == 0


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_lists_of_files(tmp_path):
    log = make_log()
    options = {"label": "y", "prediction": ["p", "q"], "weight": "w", "by": "day"}
    for kind in ("int64", "text"):
        label_of, arrow_type = LABELS[kind]
        arrays = {
            name: pa.array([[label_of(number) for number in row] for row in log[name]], pa.large_list(arrow_type))
            for name in "ypq"
        }
        table = pa.table({**arrays, "w": log["w"], "day": log["day"]})
        whole = fm.evaluate(table, METRICS, **options)
        pq.write_table(table, tmp_path / "log.parquet", row_group_size=400)
        pq.write_table(table, tmp_path / "few.parquet", row_group_size=30, use_dictionary=False)
        for path, threads in (("log.parquet", 1), ("log.parquet", 3), ("few.parquet", 2)):
            assert fm.evaluate(tmp_path / path, METRICS, **options, n_threads=threads).results == whole.results


def test_rows_of_a_slice_of_a_table_are_read_alone():
    table = pa.table({name: make_log()[name] for name in "yp"})
    part = table.slice(500, 100)
    assert values(fm.evaluate(part, METRICS, **NAMES)) == function_values(*(part[name].to_pylist() for name in "yp"))


def test_fixed_size_lists_dictionaries_and_views_are_read():
    labels = [["a", "b"], ["b", "c"], ["c", "a"]]
    guesses = [["a", "b"], ["b", "a"], ["b", "b"]]
    expected = function_values(labels, guesses)
    dictionary = pa.list_(pa.dictionary(pa.int32(), pa.string()))
    for kind in (pa.list_(pa.string(), 2), pa.large_list(pa.large_string()), pa.list_(pa.string_view()), dictionary):
        table = pa.table({"y": pa.array(labels, pa.list_(pa.string())).cast(kind) if kind is not dictionary else
                          pa.array(labels, kind), "p": pa.array(guesses, pa.list_(pa.string()))})  # fmt: skip
        assert values(fm.evaluate(table, METRICS, **NAMES)) == expected, kind
    sets = {"y": [set(row) for row in labels], "p": np.array([*map(np.array, guesses), None], object)[:-1]}
    assert values(fm.evaluate(sets, METRICS, **NAMES)) == expected


def test_empty_lists_fit_lists_of_any_type():
    accumulator = fm.Accumulator("f1(average=micro)", **NAMES)
    accumulator.update({"y": [[], []], "p": [[], []]})
    accumulator.update({"y": [["a"], ["b"]], "p": [["a"], []]})
    assert accumulator.result()["f1(average=micro)"] == 2 / 3
    message = "column 'p' has Arrow type list of number, but list of text in earlier batches"
    assert_raises(TypeError, message, accumulator.update, {"y": [[1]], "p": [[1]]})


def test_classes_and_sets_do_not_mix():
    message = "labels of column 'y' are of type list of integer, and those of column 'p' are of type integer"
    assert_raises(ValueError, message, fm.evaluate, {"y": [[1], [2]], "p": [1, 2]}, "accuracy", **NAMES)
    classes, sets = fm.Accumulator("accuracy", **NAMES), fm.Accumulator("accuracy", **NAMES)
    classes.update({"y": [1], "p": [1]})
    sets.update({"y": [[1]], "p": [[1]]})
    assert_raises(TypeError, "list of number", classes.merge, sets)
    tables = [next(iter(own._state.parts[0].additive.sums.values())) for own in (classes, sets)]
    assert_raises(ValueError, "one class in a row cannot be combined with sets of labels", tables[0].merge, tables[1])


def test_missing_labels_inside_of_sets():
    log = {"y": [[1, 2], [1, None], [2], None], "p": [[1], [1], [2], [3]]}
    for row, name, what in ((1, "y", "a null or NaN in its list"), (3, "y", "a null")):
        rows = {key: [*column[:1], column[row]] for key, column in log.items()}
        assert_raises(ValueError, f"label column '{name}' has {what} at row 1; on_invalid", fm.evaluate, rows,
                      "accuracy", **NAMES)  # fmt: skip
    report = fm.evaluate(log, "accuracy", **NAMES, on_invalid="drop")
    assert report.dropped == {"null or NaN label": 2}
    assert report["accuracy"] == 0.5
    fractions = pa.table({"y": [[1.0, 2.0], [], [2.0, 2.5]], "p": [[1.0], [1.0], [2.0]]})
    assert_raises(ValueError, "label column 'y' has 2.5 at row 2: labels of classes have no fractions", fm.evaluate,
                  fractions, "accuracy", **NAMES)  # fmt: skip
    message = "column 'y' are of type list of text, and those of column 'p' are of type list of integer"
    assert_raises(ValueError, message, fm.evaluate, {"y": [["a"]], "p": [[1]]}, "accuracy", **NAMES)
    assert_raises(TypeError, "has Arrow type list", fm.evaluate, {"y": [[[1]]], "p": [[[1]]]}, "accuracy", **NAMES)
    assert_raises(ValueError, "must be one-dimensional", fm.evaluate, {"y": [[1]], "p": [[1]]}, "ari", label="y",
                  score="p")  # fmt: skip


def test_intervals_are_those_of_repeated_rows():
    log = make_log(300)
    names = ["accuracy", "hamming", "f1(average=macro)", "f1(average=samples)"]
    options = {**NAMES, "unit": "user", "ci": 0.9, "replicates": 30}
    plain = fm.evaluate(log, names, **options)
    ones = fm.evaluate(log | {"w": np.ones(300)}, names, weight="w", **options)
    weighted = fm.evaluate(log, names, weight="w", by="day", **options)
    order = np.random.default_rng(1).permutation(300)
    moved = {name: [column[row] for row in order] for name, column in log.items()}
    again = fm.evaluate(moved, names, weight="w", by="day", **options)
    for name in names:
        low, high = plain.result(name).interval
        assert low < plain[name] < high
        assert plain.result(name).interval == ones.result(name).interval
    assert [result.interval for result in weighted] == [result.interval for result in again]
    alone = fm.evaluate({name: select(column, log["day"] == 1) for name, column in log.items()}, names, **options)
    sliced = fm.evaluate(log, names, by="day", **options)
    # The units of a slice alone are others, so only the values agree.
    assert [sliced.value(name, slice={"day": 1}) for name in names] == [alone[name] for name in names]


def test_replicates_are_tables_of_repeated_rows():
    """The replicate in which every unit occurs once is the table itself; that of no units has no rows."""
    log, statistic = make_log(200), ClassTableCounts()
    columns = [as_class_labels(pa.array(log[name]), name, int) for name in "yp"]
    counted = statistic.count_rows(NonNumericRows(*columns, weights=log["w"] + 1))
    numbering, table, repeated = statistic.empty(), statistic.empty(), statistic.empty()
    rows, origins = statistic.number_rows(numbering, counted)
    statistic.add(table, counted)
    once = statistic.from_cells(numbering, rows, np.ones(len(rows), np.int64))
    for expected, found in zip(table.arrays(), once.arrays(), strict=True):
        np.testing.assert_array_equal(expected, found)
    times = np.arange(200) % 3
    statistic.add(repeated, counted[np.repeat(np.arange(200), times)])
    used = times[origins] > 0
    found = statistic.from_cells(numbering, rows[used], times[origins][used])
    for expected, own in zip(repeated.arrays(), found.arrays(), strict=True):
        np.testing.assert_array_equal(expected, own)


def test_models_are_compared():
    log = make_log()
    names = ["f1(average=samples)", "hamming", "f1(average=macro)"]
    comparison = fm.compare(log, names, label="y", prediction=["p", "q"], unit="user", replicates=50)
    y, p, q = indicators(log["y"], log["p"], log["q"])
    assert comparison["hamming"].baseline_value == fm.hamming_loss(y, p)
    assert comparison["hamming"].other_value == fm.hamming_loss(y, q)
    assert comparison["f1(average=samples)"].other_value == fm.f1_score(y, q, average="samples", zero_division=0)
    assert comparison["f1(average=samples)"].pvalue < 0.05


def test_reports_show_each_label():
    log = make_log()
    report = fm.evaluate(log, "accuracy", label="y", prediction=["p", "q"])
    assert report.confusion_matrices == ()
    table, other = report.label_tables
    assert (table.label, table.prediction, other.prediction) == ("y", "p", "q")
    y, p = indicators(log["y"], log["p"])
    precisions, recalls, fs, support = fm.precision_recall_fscore_support(y, p, zero_division=math.nan)
    rows = table.by_class()
    for name, expected in (("precision", precisions), ("recall", recalls), ("f1", fs), ("rows", support)):
        np.testing.assert_array_equal([getattr(row, name) for row in rows], expected)
    assert table.labels == tuple(range(len(TAGS)))
    printed = str(report)
    assert "p, by label" in printed
    assert "confusion matrix" not in printed
    assert f"{int(support[1]):,}" in printed
    assert report.to_html().count("by label") >= 2
    stored = json.loads(json.dumps(report.to_dict()))["label_tables"]
    assert stored[0]["by_class"][1]["f1"] == fs[1]
    assert stored[0]["true"] == support.tolist()


def test_many_labels_count_against_the_memory_limit():
    generator = np.random.default_rng(0)
    log = {name: pa.array(generator.integers(0, 1 << 40, (20_000, 4)).tolist()) for name in "yp"}
    assert fm.evaluate(log, "accuracy", **NAMES)["accuracy"] == 0
    assert_raises(ValueError, "more than half of memory_limit", fm.evaluate, log, "accuracy", **NAMES,
                  memory_limit="2MiB")  # fmt: skip


def test_long_sets_are_matched_by_hash():
    """Small rows compare all labels, long ones use a hash table, and a chunk may be one row."""
    generator = np.random.default_rng(1)
    sizes = [0, 1, 11, 12, 13, 24, 25, 500, 90_000, 3]
    label = [generator.integers(0, 3 * size + 1, size).tolist() for size in sizes]
    guess = [generator.integers(0, 3 * size + 1, size).tolist() for size in reversed(sizes)]
    report = fm.evaluate({"y": label, "p": guess}, METRICS, **NAMES)
    pairs = [(set(own), set(other)) for own, other in zip(label, guess, strict=True)]
    expected = [len(a & b) / len(a | b) if a | b else 0 for a, b in pairs]
    assert report["jaccard(average=samples)"] == math.fsum(expected) / len(sizes)
    both = sum(len(a & b) for a, b in pairs)
    assert report["precision(average=micro)"] == both / sum(len(b) for _, b in pairs)


SETS = st.lists(st.lists(st.integers(-3, 40) | st.integers(-(2**63), 2**63 - 1), max_size=40), max_size=12)


@given(SETS, SETS)
def test_matched_sets(label, guess):
    """Every label once, with its sides; the sizes of the sets of each row."""
    rows = min(len(label), len(guess))
    columns = []
    for own in (label[:rows], guess[:rows]):
        ends = np.cumsum([0, *map(len, own)], dtype=np.int64)
        flat = np.array([number for row in own for number in row], np.int64)
        columns.append(SetColumns(flat, ends[:-1].copy(), ends[1:].copy()))
    seen = 0
    for sets in match_sets(*columns):
        starts = np.cumsum([0, *sets.labels_per_row()])
        assert sets.rows.start == seen
        seen = sets.rows.stop
        for row, start, stop in zip(range(sets.rows.start, seen), starts[:-1], starts[1:], strict=True):
            true, predicted = set(label[row]), set(guess[row])
            found = dict(zip(sets.labels[start:stop].tolist(), sets.sides[start:stop].tolist(), strict=True))
            assert len(found) == stop - start
            assert found == {number: (number in true) + 2 * (number in predicted) for number in true | predicted}
            assert sets.both[row - sets.rows.start] == len(true & predicted)
            assert sets.sizes[row - sets.rows.start] == (len(true) << 32) + len(predicted)
    assert seen == rows


def test_rows_without_sets_are_dropped_from_files(tmp_path):
    """Lists of texts come from Parquet as dictionaries; rows are dropped from them as from others."""
    label = [["a", "b"], None, ["b"], ["a", None], []] * 30
    guess = [["b"], ["b"], ["b"], ["a"], None] * 30
    pq.write_table(pa.table({"y": label, "p": guess}), tmp_path / "log.parquet", row_group_size=40)
    report = fm.evaluate(tmp_path / "log.parquet", METRICS, **NAMES, on_invalid="drop")
    assert values(report) == function_values([["a", "b"], ["b"]] * 30, [["b"], ["b"]] * 30)
    assert report.dropped == {"null or NaN label": 60, "null or NaN prediction": 30}


def test_rows_beyond_the_labels_are_refused():
    labels, starts, stops = np.arange(3), np.array([0, 2]), np.array([2, 4])
    columns = SetColumns(labels, starts, np.minimum(stops, 3)), SetColumns(labels, starts, stops)
    assert_raises(ValueError, "not among the labels", list, match_sets(*columns))
