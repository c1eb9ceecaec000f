"""Metrics of probabilities of several classes: the bits of the functions, in every entry point of the engine."""

import datetime
import functools
import math
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from oracles.calibration import top_label
from support.cases import each_case
from support.states.state_bytes_parts import code_of, put_together, set_value, take_apart

ROWS = 1000
N_CLASSES = 4
NAMES = np.array(["ant", "bee", "cat", "никто"])
FUNCTIONS = {
    "logloss": (fm.log_loss, {}),
    "logloss(eps=0.01)": (fm.log_loss, {"eps": 0.01}),
    "brier": (fm.brier_score_loss, {}),
    "brier(scale_by_half=True)": (fm.brier_score_loss, {"scale_by_half": True}),
    "top_k_accuracy@1": (fm.top_k_accuracy_score, {"k": 1}),
    "top_k_accuracy@3": (fm.top_k_accuracy_score, {"k": 3}),
    "auc": (fm.roc_auc_score, {"multi_class": "ovr"}),
    "auc(average=weighted)": (fm.roc_auc_score, {"multi_class": "ovr", "average": "weighted"}),
    "auc(average=micro)": (fm.roc_auc_score, {"multi_class": "ovr", "average": "micro"}),
    "auc(multi_class=ovo)": (fm.roc_auc_score, {"multi_class": "ovo"}),
    "auc(multi_class=ovo, average=weighted)": (fm.roc_auc_score, {"multi_class": "ovo", "average": "weighted"}),
    "ap": (fm.average_precision_score, {}),
    "ap(average=weighted)": (fm.average_precision_score, {"average": "weighted"}),
    "ap(average=micro)": (fm.average_precision_score, {"average": "micro"}),
}
METRICS = [*FUNCTIONS, "ece", "ece(n_bins=4)"]
DAY = np.datetime64("2024-02-28")
# From class numbers to labels of a type, and the labels as a metric string names them.
LABELS = {
    "numbers": (lambda numbers: numbers, None),
    "whole floats": (lambda numbers: numbers.astype(np.float32), None),
    "other numbers": (lambda numbers: (numbers * 5 - 7).astype(np.int16), [-7, -2, 3, 8]),
    "far numbers": (lambda numbers: numbers.astype(np.int64) << 60, [0, 1 << 60, 2 << 60, 3 << 60]),
    "texts": (lambda numbers: NAMES[numbers], NAMES.tolist()),
    "dictionary": (lambda numbers: pa.array(NAMES[numbers]).dictionary_encode(), NAMES.tolist()),
    "dates": (lambda numbers: DAY + numbers, [f"{DAY + number}" for number in range(N_CLASSES)]),
}


def raises(error, words):
    return pytest.raises(error, match=re.escape(words))


def make_log(rows=ROWS, seed=0, n_classes=N_CLASSES):
    """Labels, the probabilities of two models with ties, a unit, a weight and a slice."""
    generator = np.random.default_rng(seed)
    label = np.minimum(generator.geometric(0.4, rows) - 1, n_classes - 1)
    models = []
    for trust in (1.0, 0.3):
        chances = generator.dirichlet(np.ones(n_classes), rows)
        chances[np.arange(rows), label] += trust
        models.append(generator.multinomial(64, chances / (1 + trust)) / 64)
    user = generator.integers(0, 40, rows)
    weight = generator.gamma(0.5, 1.0, rows) * (generator.random(rows) < 0.9)
    return {"y": label, "probs": models[0], "worse": models[1], "user": user, "w": weight, "day": user % 3}


def columns_of(matrix, prefix="p"):
    return {f"{prefix}_{number}": np.ascontiguousarray(column) for number, column in enumerate(matrix.T)}


def table_of(log, kind=pa.list_):
    """The log with lists in place of matrices."""
    n = log["probs"].shape[1]
    types = {"list": pa.list_(pa.float64()), "large": pa.large_list(pa.float64()), "fixed": pa.list_(pa.float64(), n)}
    arrow_type = types.get(kind, types["list"])
    return pa.table({
        name: pa.array(column.tolist(), arrow_type) if getattr(column, "ndim", 1) == 2 else column
        for name, column in log.items()
    })  # fmt: skip


def expected_values(label, matrix, weights=None):
    values = {}
    for metric, (function, options) in FUNCTIONS.items():
        if weights is None or "ovo" not in metric:
            values[metric] = function(label, matrix, sample_weight=weights, **options) if weights is not None else (
                function(label, matrix, **options)
            )  # fmt: skip
    return values


def with_labels(metric, labels):
    """The metric string with the labels of the classes."""
    name, _, cutoff = metric.partition("@")
    base, _, inside = name.rstrip(")").partition("(")
    parts = [inside] * bool(inside) + [f"labels={labels!r}"] * (labels is not None)
    return base + f"({', '.join(parts)})" * bool(parts) + f"@{cutoff}" * bool(cutoff)


@functools.cache
def values_of_the_log():
    """The values without and with weights, by definition."""
    log = make_log()
    kept = log["w"] > 0
    plain = expected_values(log["y"], log["probs"]) | {
        "ece": top_label.ece(log["y"], log["probs"]), "ece(n_bins=4)": top_label.ece(log["y"], log["probs"], 4),
    }  # fmt: skip
    weighted = expected_values(log["y"][kept], log["probs"][kept], log["w"][kept])
    weighted["ece"] = top_label.ece(log["y"][kept], log["probs"][kept], weights=log["w"][kept])
    return plain, weighted


@each_case("kind", LABELS)
def test_values_are_those_of_the_functions(kind):
    log = make_log()
    make, labels = LABELS[kind]
    data = {**log, **columns_of(log["probs"]), "y": make(log["y"])}
    metrics = {metric: with_labels(metric, labels) for metric in METRICS}
    plain, weighted = values_of_the_log()
    for probabilities in ("probs", [f"p_{number}" for number in range(N_CLASSES)]):
        options = {"label": "y", "probabilities": probabilities}
        report = fm.evaluate(data, list(metrics.values()), **options)
        assert {metric: report[metrics[metric]] for metric in plain} == plain, (kind, probabilities)
        assert all(result.coverage["rows"] == ROWS for result in report.results)
        report = fm.evaluate(data, list(metrics.values()), **options, weight="w")
        assert {metric: report[metrics[metric]] for metric in weighted} == weighted, (kind, probabilities)
    assert "|of:probabilities|" in report.results[0].signature


def test_values_are_those_of_scikit_learn():
    log = make_log()
    report = fm.evaluate(log, METRICS, label="y", probabilities="probs")
    indicators = log["y"][:, None] == np.arange(N_CLASSES)
    for metric, wanted in (
        ("logloss", sklearn.metrics.log_loss(log["y"], log["probs"])),
        ("brier", sklearn.metrics.brier_score_loss(log["y"], log["probs"])),
        ("top_k_accuracy@3", sklearn.metrics.top_k_accuracy_score(log["y"], log["probs"], k=3)),
        ("auc", sklearn.metrics.roc_auc_score(log["y"], log["probs"], multi_class="ovr")),
        ("auc(multi_class=ovo)", sklearn.metrics.roc_auc_score(log["y"], log["probs"], multi_class="ovo")),
        ("ap", sklearn.metrics.average_precision_score(indicators, log["probs"])),
        ("ap(average=micro)", sklearn.metrics.average_precision_score(indicators, log["probs"], average="micro")),
    ):
        assert math.isclose(report[metric], wanted, rel_tol=1e-12), metric


@each_case("dtype", ["float16", "float32", "float64"])
def test_types_of_probabilities(dtype):
    log = make_log(300)
    matrix = log["probs"].astype(dtype)
    matrix[0] = [1, 0, 0, 0]
    label = np.where(np.arange(300) == 0, 1, log["y"])  # its probability is clipped by the epsilon of the type
    lists = pa.FixedSizeListArray.from_arrays(pa.array(matrix.reshape(-1)), N_CLASSES)
    for data in ({"y": label, "probs": matrix}, pa.table({"y": label, "probs": lists})):
        report = fm.evaluate(data, ["logloss", "brier"], label="y", probabilities="probs")
        assert report["logloss"] == fm.log_loss(label, matrix)
        assert report["brier"] == fm.brier_score_loss(label, matrix)
        assert report.result("logloss").coverage["rows_clipped"] == fm.clipped_rows(label, matrix)


@each_case("kind", ["list", "large", "fixed"])
def test_lists_of_files(kind, tmp_path):
    log = make_log()
    table = table_of(log, kind)
    options = {"label": "y", "probabilities": [["probs"], ["worse"]], "by": "day", "weight": "w"}
    metrics = [metric for metric in METRICS if "ovo" not in metric]
    report = fm.evaluate(table, metrics, **options)
    for model in ("probs", "worse"):
        rows = (log["day"] == 1) & (log["w"] > 0)
        wanted = expected_values(log["y"][rows], log[model][rows], log["w"][rows])
        assert {metric: report.value(metric, slice={"day": 1}, score=model) for metric in wanted} == wanted
    pq.write_table(table, tmp_path / "log.parquet", row_group_size=300)
    for threads in (1, 3):
        assert fm.evaluate(tmp_path / "log.parquet", metrics, **options, n_threads=threads).results == report.results


def test_a_memory_limit_changes_nothing():
    log = make_log(30_000)  # about 50 bytes each
    metrics = ["logloss", "auc", "auc(multi_class=ovo)", "ap", "ap(average=micro)"]
    for weight in (None, "w"):
        options = {"label": "y", "probabilities": "probs", "by": "day", "weight": weight}
        whole = fm.evaluate(log, metrics, **options)
        assert fm.evaluate(log, metrics, **options, memory_limit="1MiB").results == whole.results, weight


def test_states_of_lists_know_the_number_of_classes():
    log, wider = make_log(100), make_log(100, n_classes=5)
    options = {"label": "y", "probabilities": "probs"}
    state = fm.Accumulator(["logloss", "auc"], **options)
    state.update(table_of(log))
    before = state.to_bytes()
    with raises(ValueError, "'probs' has rows of 4 entries and rows of 5 entries"):
        state.update(table_of(wider))
    assert state.to_bytes() == before
    other = fm.Accumulator(["logloss", "auc"], **options)
    other.update(table_of(wider))
    with raises(ValueError, "different numbers of classes do not merge: 4 here, 5 there"):
        state.merge(fm.Accumulator.from_bytes(other.to_bytes()))
    with raises(ValueError, "'probs' has 5 entries at row 100, but 4 at row 0"):
        fm.evaluate(pa.concat_tables([table_of(log), table_of(wider)]), ["auc"], **options)


def test_intervals_are_those_of_repeated_rows():
    log = make_log(400)
    options = {"label": "y", "probabilities": "probs", "unit": "user", "ci": 0.9, "replicates": 20, "by": "day"}
    report = fm.evaluate(log, METRICS, **options)
    again = fm.evaluate(table_of({name: column[::-1] for name, column in log.items()}), METRICS, **options, n_threads=3)
    assert again.results == report.results
    for own in report.results:  # replicates that are all alike have no interval
        low, high = own.interval or (0, 1)
        assert low < high
        assert own.interval or "do not differ" in own.coverage["interval"]
    # A weight of one for every row is no weight.
    ones = {**log, "w": np.ones(400)}
    weighted = fm.evaluate(ones, METRICS, **options, weight="w")
    for result, plain in zip(weighted.results, report.results, strict=True):
        assert (result.interval is None) == (plain.interval is None)
        np.testing.assert_allclose(result.interval or (), plain.interval or (), rtol=1e-12)


def test_compare_two_models():
    log = make_log()
    log |= columns_of(log["worse"])
    columns = [f"p_{number}" for number in range(N_CLASSES)]
    metrics = ["logloss", "auc", "top_k_accuracy@2"]
    options = {"label": "y", "unit": "user", "replicates": 50}
    comparison = fm.compare(log, metrics, probabilities=["probs", columns], **options)
    for metric in metrics:
        one = comparison[metric]
        values = [fm.evaluate(log, metric, label="y", probabilities=own)[metric] for own in ("probs", columns)]
        assert one.difference == values[1] - values[0]
    assert comparison["logloss"].n_units == 40
    turned = fm.compare(log, metrics, probabilities=["probs", columns], baseline=columns, **options)
    assert turned["auc"].difference == -comparison["auc"].difference
    with raises(ValueError, "baseline must be one of the columns of probabilities"):
        fm.compare(log, metrics, probabilities=["probs", columns], baseline="w", **options)
    with raises(ValueError, "by score or by probabilities"):
        fm.compare(log, metrics, score=["p_0", "p_1"], probabilities=["probs", columns], **options)


def test_a_metric_takes_what_its_string_names():
    log = make_log() | {"click": np.arange(ROWS) % 2, "score": np.arange(ROWS) / ROWS, "guess": np.arange(ROWS) % 4}
    log |= columns_of(log["probs"])
    names = [
        "logloss(label=y, probabilities=probs)", "logloss(label=y, probabilities=[p_0, p_1, p_2, p_3])",
        "auc(label=y, multi_class=ovo)", "auc(label=click)", "accuracy(label=y, prediction=guess)",
        "top_k_accuracy(label=y)@2",
    ]  # fmt: skip
    report = fm.evaluate(log, names, score="score", probabilities="worse")
    assert report[names[0]] == report[names[1]] == fm.log_loss(log["y"], log["probs"])
    assert report[names[2]] == fm.roc_auc_score(log["y"], log["worse"], multi_class="ovo")
    assert report[names[3]] == fm.roc_auc_score(log["click"], log["score"])
    assert report[names[4]] == fm.accuracy_score(log["y"], log["guess"])
    both = fm.evaluate(log, ["logloss", "accuracy"], label="y", prediction="guess", probabilities="probs")
    assert both["logloss"] == fm.log_loss(log["y"], log["probs"])
    assert both["accuracy"] == fm.accuracy_score(log["y"], log["guess"])
    assert {spec.name for spec in fm.list_metrics(target="probabilities").values()} == {
        "logloss", "brier", "ece", "auc", "ap", "top_k_accuracy@k",
    }  # fmt: skip


@pytest.mark.filterwarnings("ignore::fastmetrics.UndefinedMetricWarning")
def test_undefined_values_have_a_reason():
    log = make_log(200)
    without = {name: column[log["y"] != 2] for name, column in log.items()}
    kept = [metric for metric in METRICS if metric != "logloss(eps=0.01)"]
    report = fm.evaluate(without, kept, label="y", probabilities="probs")
    for metric in ("auc", "ap"):
        assert math.isnan(report[metric])
        assert report.result(metric).reason == "class 2: there is no positive row"
    for metric in kept:
        assert metric in ("auc", "ap") or math.isfinite(report[metric]), metric
    labels = [0, 1, 2, 3]
    arrays = without["y"], without["probs"]
    for metric, options in (
        ("auc(multi_class=ovo)", {"multi_class": "ovo"}),
        ("auc(average=weighted)", {"multi_class": "ovr", "average": "weighted"}),
        ("auc(average=micro)", {"multi_class": "ovr", "average": "micro"}),
    ):
        assert report[metric] == fm.roc_auc_score(*arrays, labels=labels, **options), metric
    assert report["logloss"] == fm.log_loss(*arrays, labels=labels)
    one = {name: column[log["y"] == 0] for name, column in log.items()}
    report = fm.evaluate(one, METRICS, label="y", probabilities="probs")
    assert report.result("auc(multi_class=ovo)").reason == "all rows are of one class"
    assert report.result("auc(multi_class=ovo)").coverage["rows"] == len(one["y"])
    assert "there is no negative row" in report.result("auc").reason
    assert report.result("auc(average=weighted)").reason == "class 0: there is no negative row"


@given(st.integers(1, 40), st.integers(2, 6), st.integers(0, 1 << 30), st.sampled_from([0, 1, 3]))
def test_any_shape(rows, n_classes, seed, levels):
    generator = np.random.default_rng(seed)
    label = generator.integers(0, n_classes, rows)
    label[: min(rows, n_classes)] = np.arange(min(rows, n_classes))
    matrix = generator.multinomial(4 * levels or 1, np.full(n_classes, 1 / n_classes), rows) / (4 * levels or 1)
    if rows < n_classes or n_classes == 2:
        return
    report = fm.evaluate({"y": label, "p": matrix}, list(FUNCTIONS), label="y", probabilities="p")
    for metric, (function, options) in FUNCTIONS.items():
        if "top_k" not in metric or options["k"] < n_classes:
            assert report[metric] == function(label, matrix, **options), metric


def test_two_classes():
    log = make_log(n_classes=2)
    report = fm.evaluate(log, METRICS, label="y", probabilities="probs")
    assert report["logloss"] == fm.log_loss(log["y"], log["probs"])
    assert report["brier"] == fm.brier_score_loss(log["y"], log["probs"])
    areas = [fm.roc_auc_score(log["y"] == number, log["probs"][:, number]) for number in (0, 1)]
    assert report["auc"] == math.fsum(areas) / 2
    assert report["top_k_accuracy@1"] == fm.accuracy_score(log["y"], log["probs"][:, 1] >= log["probs"][:, 0])


def one_row(column, row, value):
    changed = list(column)
    changed[row] = value
    return changed


@each_case(
    ("change", "error", "words"),
    [
        ({"probs": (7, [0.5, 0.5, 0.5, 0.0])}, ValueError, "column 'probs' sums to 1.5 at row 7"),
        ({"probs": (7, [1.5, -0.5, 0.0, 0.0])}, ValueError, "'probs' has 1.5 at row 7 (entry 0 of its list)"),
        ({"probs": (7, [0.5, 0.5])}, ValueError, "'probs' has 2 entries at row 7, but 4 at row 0"),
        ({"probs": (7, None)}, ValueError, "'probs' has a null at row 7"),
        ({"probs": (7, [0.5, None, 0.5, 0.0])}, ValueError, "'probs' has a null or NaN in its list at row 7"),
        ({"probs": (7, [0.5, math.nan, 0.5, 0.0])}, ValueError, "'probs' has a null or NaN in its list at row 7"),
        ({"y": (7, 4)}, ValueError, "'y' has 4 at row 7: labels are the numbers of the 4 classes, 0 to 3"),
        ({"y": (7, None)}, ValueError, "'y' has a null at row 7"),
    ],
)
def test_bad_rows(change, error, words):
    log = make_log(20)
    data = {"y": log["y"].tolist(), "probs": log["probs"].tolist()}
    for name, (row, value) in change.items():
        data[name] = one_row(data[name], row, value)
    for metric in ("logloss", "auc"):
        with raises(error, words):
            fm.evaluate(data, metric, label="y", probabilities="probs")
    if "null" in words:
        report = fm.evaluate(data, "logloss", label="y", probabilities="probs", on_invalid="drop")
        kept = np.arange(20) != 7
        assert report["logloss"] == fm.log_loss(log["y"][kept], log["probs"][kept], labels=[0, 1, 2, 3])
        assert sum(report.dropped.values()) == 1


def test_wrong_columns_and_labels():
    log = make_log(50)
    data = {"name": NAMES[log["y"]], **log, **columns_of(log["probs"], "of_x")}
    named = {f"p_{name}": column for name, column in zip(reversed(NAMES), reversed(log["probs"].T), strict=True)}
    for options, error, words in (
        ({"probabilities": "probs"}, TypeError, "label is missing"),
        ({"label": "name"}, TypeError, "score is missing"),
        ({"label": "name", "probabilities": "probs"}, ValueError, "logloss(labels=[ant, bee, cat, 'никто'])"),
        ({"label": "name", "probabilities": list(named)}, ValueError, "logloss(labels=['никто', cat, bee, ant])"),
        ({"label": "y", "probabilities": "w"}, TypeError, "'w' has Arrow type double: lists of numbers are needed"),
        ({"label": "y", "probabilities": "name"}, ValueError, "'name' has 'bee' at row 0: numbers are needed"),
        ({"label": "y", "probabilities": "none"}, ValueError, "none"),
        ({"label": "y", "probabilities": ["of_x_0", "of_x_0"]}, ValueError, "must be different columns"),
        ({"label": "y", "probabilities": []}, ValueError, "empty"),
        ({"label": "y", "probabilities": 2.5}, TypeError, "probabilities must be"),
        ({"label": "y", "probabilities": ["of_x_0", "of_x_1"]}, ValueError, "sum to"),
        ({"label": "w", "probabilities": "probs"}, ValueError, "labels of classes have no fractions"),
    ):
        with raises(error, words):
            fm.evaluate(data | named, "logloss", **options)
    for metric, words in (
        ("logloss(labels=[ant, bee, cat])", "there are 4 probabilities at row 0"),
        ("logloss(labels=[ant, bee, cat, dog])", "the classes are labels=[ant, bee, cat, dog]"),
        ("logloss(labels=[ant, ant, bee, cat])", "labels must be different"),
        ("logloss(labels=[ant])", "at least two"),
        ("auc(average=micro, multi_class=ovo)", "average=micro is for multi_class=ovr"),
        ("auc(multi_class=raise)", "multi_class of metric 'auc' must be one of"),
        ("logloss(sampling_rate=0.5, labels=[a, b])", "are of different columns"),
    ):
        with raises(ValueError, words):
            fm.evaluate(data, metric, label="name", probabilities="probs")
    with raises(ValueError, "models have probabilities of different numbers of classes: 'probs': 4, 'other': 2"):
        half = np.full((50, 2), 0.5)
        fm.evaluate({**log, "other": half}, "logloss", label="y", probabilities=[["probs"], ["other"]])
    with raises(ValueError, "no metric asked for reads a column of role 'probabilities'"):
        fm.evaluate(data, "auc(label=y, score=w)", probabilities="probs")
    with raises(ValueError, "has no certified interval"):
        fm.Accumulator("auc", label="y", probabilities="probs", approximate=True)


def test_labels_of_other_types_are_named():
    matrix = np.full((2, 2), 0.5)
    days = [datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)]
    for label, labels in (
        ([True, False], "[False, True]"),
        (days, "['2024-01-01', '2024-01-02']"),
        (["x", "y"], "[x, y]"),
        ([b"x", b"y"], "[x, y]"),
    ):
        report = fm.evaluate({"y": label, "p": matrix}, f"logloss(labels={labels})", label="y", probabilities="p")
        assert report.results[0].value == math.log(2), label
    with raises(ValueError, "are not of type date32"):
        fm.evaluate({"y": days, "p": matrix}, "logloss(labels=[a, b])", label="y", probabilities="p")


def test_curves_and_reports():
    log = make_log(300) | {"click": np.arange(300) % 2, "score": np.arange(300) / 300}
    report = fm.evaluate(log, METRICS, label="y", probabilities="probs", curves=True)
    assert "probabilities probs" in str(report)
    assert report.missing_pictures
    assert report.to_html().count("top_k_accuracy@3") >= 1
    mixed = fm.evaluate(
        log, ["auc(label=click)", "logloss(label=y, labels=[0, 1, 2, 3])"], score="score", probabilities="probs",
        curves=True,
    )  # fmt: skip
    assert "roc" in mixed.pictures


@pytest.mark.parametrize("metric", ["logloss", "auc"])
def test_weights_of_zero_are_absent(metric):
    log = make_log(100)
    zero = {**log, "w": np.zeros(100)}
    result = fm.evaluate(zero, metric, label="y", probabilities="probs", weight="w").results[0]
    assert math.isnan(result.value)
    assert result.reason == "every weight is zero"


def test_damaged_states_are_refused():
    log = make_log(50)
    state = fm.Accumulator(["logloss", "auc"], label="y", probabilities="probs")
    state.update(table_of(log))

    def damage(name, value):
        return lambda header, sections: set_value(sections, name, 0, value)

    def set_classes(n):
        return lambda header, sections: header.update(n_classes=n)

    for change, words in (
        (damage("label 0", 4), "a label is of no class"),
        (damage("label 0", -1), "a label is of no class"),
        (damage("score 0.1", code_of(1.5)), "a probability is out of range"),
        (damage("score 0.3", code_of(math.nan)), "a score is NaN"),
        (set_classes(3), "it has columns"),
        (set_classes(None), "its number of classes is missing"),
        (set_classes(-4), "its field 'n_classes' is not count"),
    ):
        header, arrays, sections = take_apart(state.to_bytes())
        change(header, sections)
        with raises(ValueError, words):
            fm.Accumulator.from_bytes(put_together(header, arrays, sections))
