"""Metrics of scores at a threshold: exactly the definitions, for any order of rows, type and batches."""

import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core import exact
from fastmetrics._kernels.classification import fixed_threshold
from oracles import averages as oracle
from support import strategies
from support.cases import assert_raises, each_case

DEFINITIONS = {
    "accuracy": oracle.accuracy,
    "precision": oracle.precision,
    "recall": oracle.recall,
    "f1": lambda cells: oracle.fbeta(cells, 1),
    "fbeta(beta=0.5)": lambda cells: oracle.fbeta(cells, 0.5),
    "fbeta(beta=0.3)": lambda cells: oracle.fbeta(cells, 0.3),
    "fbeta(beta=0)": oracle.precision,
    "specificity": oracle.specificity,
    "gmean": oracle.gmean,
    "balanced_accuracy": oracle.balanced_accuracy,
    "mcc": oracle.mcc,
    "kappa": oracle.kappa,
    "jaccard": oracle.jaccard,
}
METRICS = list(DEFINITIONS)
FUNCTIONS = {
    "accuracy": fm.accuracy_score,
    "balanced_accuracy": fm.balanced_accuracy_score,
    "mcc": fm.matthews_corrcoef,
    "kappa": fm.cohen_kappa_score,
    "precision": fm.precision_score,
    "recall": fm.recall_score,
    "f1": fm.f1_score,
    "specificity": fm.specificity_score,
    "gmean": fm.geometric_mean_score,
    "jaccard": fm.jaccard_score,
}
COLUMNS = {"label": "label", "score": "score"}


def with_threshold(metric, threshold):
    """The metric string with another threshold."""
    return f"{metric[:-1]}, threshold={threshold!r})" if "(" in metric else f"{metric}(threshold={threshold!r})"


def evaluate(log, metrics=METRICS, threshold=0.5, **options):
    return fm.evaluate(log, [with_threshold(metric, threshold) for metric in metrics], **{**COLUMNS, **options})



def expected_cells(labels, scores, threshold, weights=None):
    """Cells from comparisons of Python floats, which represent every float32 exactly."""
    return oracle.cells(labels, [score >= threshold for score in scores.tolist()], weights)


def check_definitions(report, cells):
    for metric, result in zip(METRICS, report, strict=True):
        expected = DEFINITIONS[metric](cells)
        if expected is None:
            assert math.isnan(result.value), metric
            assert result.reason
        else:
            # The roots of the oracle are rounded once more than the definition, like ours.
            assert result.value == float(expected), metric
            assert result.reason is None


@st.composite
def scored(draw):
    y_true, scores = draw(strategies.labeled_scores(min_size=1, both_classes=False))
    finite = np.clip(scores, -1e30, 1e30)
    near = [float(np.nextafter(score, other)) for score in finite[:3] for other in (-np.inf, np.inf)]
    return y_true, scores, float(draw(st.sampled_from([*finite.tolist(), *near, 0.5, 0.0, -0.0, 0.1, 1e30])))


@given(scored())
def test_metrics_equal_their_definitions(case):
    y_true, scores, threshold = case
    report = evaluate({"label": y_true, "score": scores}, threshold=threshold)
    check_definitions(report, expected_cells(y_true, scores, threshold))


@given(scored(), st.data())
def test_metrics_equal_their_definitions_with_weights(case, data):
    y_true, scores, threshold = case
    weights = data.draw(strategies.real_weights(len(y_true)))
    log = {"label": y_true, "score": scores, "w": weights}
    cells = expected_cells(y_true, scores, threshold, weights.tolist())
    report = evaluate(log, threshold=threshold, weight="w")
    check_definitions(report, cells)
    present = weights > 0
    for result in report:
        assert result.coverage == {
            "rows": int(present.sum()),
            "positives": int(y_true[present].sum()),
            "predicted_positives": int((scores[present].astype(np.float64) >= threshold).sum()),
        }


def count(labels, scores, threshold):
    counts = np.zeros(4, np.int64)
    fixed_threshold.count_cells(labels, scores, threshold, counts)
    return counts.tolist()


@each_case("dtype", strategies.SCORE_DTYPES)
@each_case("rows", [0, *strategies.EDGE_SIZES, 1023, 1024, 1025, 4097, 2**20 - 1, 2**20, 2**20 + 3])
def test_cells_of_any_length(rows, dtype):
    generator = np.random.default_rng(rows)
    labels = generator.integers(0, 2, rows, dtype=np.uint8)
    scores = generator.integers(0, 4, rows).astype(dtype)
    weights = generator.integers(1, 10, rows) / 8
    for threshold in (-1.0, 1.5, 2.0, 4.0):
        numbers = 2 * labels + (scores >= threshold)
        assert count(labels, scores, threshold) == np.bincount(numbers, minlength=4).tolist()
        states = exact.new_states(4)
        fixed_threshold.weigh_cells(labels, scores, weights, threshold, states)
        expected = np.bincount(numbers, weights, minlength=4)  # eighths: no rounding
        assert [exact.to_float(state) for state in states] == expected.tolist()


def test_a_float32_score_is_compared_by_its_exact_value():
    """The float32 next to 0.7 is below 0.7 and does not reach it; the one next to 0.1 is above 0.1."""
    labels = np.ones(1, np.uint8)
    assert count(labels, np.array([0.7], np.float32), 0.7) == [0, 0, 1, 0]
    assert count(labels, np.array([0.7]), 0.7) == [0, 0, 0, 1]
    assert count(labels, np.array([0.1], np.float32), 0.1) == [0, 0, 0, 1]
    assert count(labels, np.array([0.1], np.float32), float(np.float32(0.1))) == [0, 0, 0, 1]


@each_case("threshold", [1e39, -1e39, 1e-46, -1e-46, 5e-324, 3.4028234663852886e38, 3.5e38])
def test_thresholds_between_float32_values(threshold):
    """Thresholds above the largest float32 and near 0. Infinite scores stay infinite."""
    scores = np.array([-np.inf, -3.4028235e38, -1e-45, -0.0, 0.0, 1e-45, 3.4028235e38, np.inf], np.float32)
    labels = np.ones(8, np.uint8)
    n_reaching = int((scores.astype(np.float64) >= threshold).sum())
    assert count(labels, scores, threshold) == [0, 0, 8 - n_reaching, n_reaching]


@each_case("threshold", [0.05, 0.5, 1, 2.5])
def test_metrics_equal_the_functions_on_real_visits(visits, threshold):
    log = {"label": visits["label"], "score": visits["score"]}
    predictions = (visits["score"].astype(np.float64) >= threshold).astype(np.int8)
    report = evaluate(log, threshold=threshold)
    for metric, result in zip(METRICS, report, strict=True):
        if metric in FUNCTIONS and result.reason is None:
            assert FUNCTIONS[metric](visits["label"], predictions) == result.value
    assert not all(result.reason for result in report)





def test_one_statistic_serves_all_metrics_of_a_threshold():
    """All eleven metrics share one statistic; another threshold needs another one."""
    specs = {spec.name: spec for spec in fm.list_metrics().values() if "threshold" in spec.parameters}
    assert len(specs) == 11
    statistics = {spec.statistics(**spec.parameters) for spec in specs.values()}
    assert len(statistics) == 1
    (shared,) = statistics
    assert specs["mcc"].statistics(threshold=1) != shared
    assert specs["mcc"].statistics(threshold=1) == specs["fbeta"].statistics(threshold=1.0, beta=3)


UNDEFINED = {
    "no positive": ([0, 0], [0.1, 0.9], {"recall", "gmean", "balanced_accuracy", "mcc"}),
    "no negative": ([1, 1], [0.1, 0.9], {"specificity", "gmean", "balanced_accuracy", "mcc"}),
    "none predicted positive": ([0, 1], [0.1, 0.2], {"precision", "mcc", "fbeta(beta=0)"}),
    "none predicted negative": ([0, 1], [0.8, 0.9], {"mcc"}),
    "all negative": (
        [0, 0],
        [0.1, 0.2],
        {"precision", "recall", "gmean", "balanced_accuracy", "mcc", "kappa", "jaccard", "f1"}
        | {metric for metric in METRICS if metric.startswith("fbeta")},
    ),
    "all positive": ([1, 1], [0.8, 0.9], {"specificity", "gmean", "balanced_accuracy", "mcc", "kappa"}),
}


@each_case("case", UNDEFINED)
def test_undefined_is_nan_with_its_reason(case):
    labels, scores, undefined = UNDEFINED[case]
    report = evaluate({"label": labels, "score": scores})
    found = {metric for metric, result in zip(METRICS, report, strict=True) if math.isnan(result.value)}
    assert found == undefined
    for result in report:
        assert (result.reason is not None) == math.isnan(result.value)
        assert result.coverage["rows"] == 2


def test_reasons_name_the_empty_margin():
    report = evaluate({"label": [0, 0], "score": [0.1, 0.9]})
    reasons = {metric: result.reason for metric, result in zip(METRICS, report, strict=True)}
    assert reasons["recall"] == reasons["gmean"] == reasons["mcc"] == "there is no positive row"
    for result in evaluate({"label": [0, 1], "score": [0.1, 0.2]}, ["precision", "fbeta(beta=0)"]):
        assert result.reason == "no row is predicted positive"
    (result,) = evaluate({"label": [1, 1], "score": [0.7, 0.8]}, ["kappa"])
    assert result.reason == "all rows are of one class and predicted to be of it"
    for result in evaluate({"label": [0, 1], "score": [0.1, 0.9], "w": [0.0, 0.0]}, weight="w"):
        assert result.reason == "every weight is zero"


def test_the_default_threshold_is_one_half_and_inclusive():
    log = {"label": [1, 1, 0], "score": [0.5, math.nextafter(0.5, 0), 0.1]}
    (result,) = fm.evaluate(log, ["recall"], **COLUMNS)
    assert result.value == 0.5
    assert "|threshold:0.5|" in result.signature


NOT_FINITE = ["'a'", "None", "True", "1e999", "-1e999", "[1]", f"{10**400}"]


@each_case(
    ("wrong", "message"),
    [
        *[(f"{name}={value}", f"{name} must be a finite") for name in ("threshold", "beta") for value in NOT_FINITE],
        ("beta=-1", "beta must not be negative"),
    ],
)
def test_parameters_out_of_range(wrong, message):
    log = {"label": [0, 1], "score": [0.1, 0.9]}
    assert_raises(ValueError, message, fm.evaluate, log, [f"fbeta({wrong})"], **COLUMNS)


def test_scores_need_not_be_probabilities_but_must_be_numbers():
    (result,) = fm.evaluate({"label": [0, 1], "score": [-math.inf, 7.0]}, ["accuracy(threshold=3)"], **COLUMNS)
    assert result.value == 1.0
    assert_raises(
        ValueError, "NaN at row 1", fm.evaluate, {"label": [0, 1], "score": [0.1, math.nan]}, ["accuracy"], **COLUMNS
    )


def test_sums_of_weights_are_exact():
    """No float can represent the sum of 1e300 and 1 in one cell; the quotient is correct nevertheless."""
    log = {"label": [1, 1, 1, 0], "score": [0.9, 0.9, 0.1, 0.9], "w": [1e300, 1.0, 1e-300, 2.5]}
    (recall, precision) = evaluate(log, ["recall", "precision"], weight="w")
    hit, missed, wrong = Fraction(1e300) + 1, Fraction(1e-300), Fraction(2.5)
    assert recall.value == float(hit / (hit + missed))
    assert precision.value == float(hit / (hit + wrong))
