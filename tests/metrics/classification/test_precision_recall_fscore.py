"""Precision, recall, F, specificity, G-mean and likelihood ratios, for many kinds of labels, containers and options."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core.columns.validation import OptionError
from oracles import averages as oracle
from support.cases import assert_raises, each_case, without_warnings
from support.peers import check_parity, scikit_learn

MULTILABEL_FUNCTIONS = ["precision_score", "recall_score", "f1_score", "fbeta_score", "jaccard_score"]
KINDS = {
    "binary": [0, 1],
    "signed": [-1, 1],
    "multiclass": [-3, 0, 2, 5, 10**12],
    "bool": [False, True],
    "text": ["a", "b", "ccc", ""],
    "float": [0.0, 1.0, 2.0],
    "one class": [1],
}


@st.composite
def columns(draw, kinds=tuple(KINDS)):
    """(kind, y_true, y_pred), with one label per row, as lists."""
    kind = draw(st.sampled_from(kinds))
    n_rows = draw(st.integers(1, 12))
    labels = st.sampled_from(KINDS[kind])
    y_true, y_pred = (draw(st.lists(labels, min_size=n_rows, max_size=n_rows)) for _ in range(2))
    return kind, y_true, y_pred


@st.composite
def label_sets(draw):
    n_rows, n_labels = draw(st.integers(1, 8)), draw(st.integers(2, 5))
    row = st.lists(st.integers(0, 1), min_size=n_labels, max_size=n_labels)
    return tuple(np.array(draw(st.lists(row, min_size=n_rows, max_size=n_rows))) for _ in range(2))



def weights_of(n_rows, exact=True):
    """None, or weights whose sums are exact in floats, so that scikit-learn's sums are exact too."""
    value = st.sampled_from([0.0, 0.5, 1.0, 1.0, 3.0, 0.125]) if exact else st.floats(1e-3, 1e3)
    weights = st.lists(value, min_size=n_rows, max_size=n_rows).filter(any)
    return st.none() | weights | weights.map(np.array)



Y_TRUE, Y_PRED = [0, 1, 1, 0, 1], [0, 1, 0, 1, 1]
SPECIAL_CASES = [
    # (name, y_true, y_pred, options): special cases of scikit-learn that random tests rarely find.
    # An F that equals precision or recall gives no warning.
    ("fbeta_score", [0, 1], [0, 0], {"beta": 0}),
    ("fbeta_score", [0, 0], [0, 1], {"beta": math.inf}),
    ("precision_recall_fscore_support", [0, 1, 2], [0, 0, 0], {"beta": 0, "warn_for": ["f-score"]}),
    # Warnings for a part of the scores.
    *[
        ("precision_recall_fscore_support", y_true, y_pred, {"warn_for": warn_for})
        for y_true, y_pred in (([0, 1], [0, 0]), ([0, 0], [0, 1]), ([0, 1, 1], [0, 1, 1]))
        for warn_for in ((), ["precision"], ["recall"], ["f-score"])
    ],
    ("precision_recall_fscore_support", [0], [0], {"average": "binary", "warn_for": ["f-score"]}),
    ("precision_recall_fscore_support", [0], [0], {"average": "binary", "warn_for": ["recall"]}),
    # Zeros without the label to report; a warning for a label that is ignored, but not for None.
    ("f1_score", [0, 0], [0, 0], {"pos_label": 5}),
    ("f1_score", [0, 0], [0, 0], {"pos_label": None}),
    *[("recall_score", [0, 1], [0, 1], {"pos_label": label, "average": "macro"}) for label in (None, 1, True, 0, "a")],
    *[("jaccard_score", [0, 1], [0, 1], {"pos_label": label, "average": None}) for label in (None, 1, True, 0, "a")],
    # Likelihood ratios of labels that do not occur, and without positive rows.
    *[("class_likelihood_ratios", Y_TRUE, Y_PRED, {"labels": labels}) for labels in ([7, 1], [1, 7], [0, 7])],
    *[
        ("class_likelihood_ratios", [0, 0, 0], y_pred, {"replace_undefined_by": 1.0, "labels": [0, 1]})
        for y_pred in ([0, 0, 1], [0, 0, 0], [1, 1, 1])
    ],
]


@pytest.mark.parametrize(("name", "y_true", "y_pred", "options"), SPECIAL_CASES)
def test_special_cases_equal_scikit_learn(name, y_true, y_pred, options):
    check_parity(name, y_true, y_pred, **options)


WRONG_REPLACEMENTS = [2.0, "nan", None, {}, {"LR+": 1.0}, {"LR+": 0.5, "LR-": 0.5}, {"LR+": 1.0, "LR-": 1.5}]


@each_case("value", WRONG_REPLACEMENTS, ids=repr)
def test_wrong_replacements(value):
    check_both_raise(
        "replace_undefined_by must", "class_likelihood_ratios", [0, 1, 1], [0, 1, 0], replace_undefined_by=value
    )


# ------------------------------------------------------------------------------------------ bad options and bad input

BAD_CALLS = [
    {"average": "mean"},
    {"average": "multiclass"},
    {"average": 1},
    {"average": "samples"},
    {"pos_label": 2},
    {"pos_label": None},
    {"pos_label": "1"},
    {"pos_label": [1]},
    {"pos_label": b"1"},
    {"zero_division": "nan"},
    {"zero_division": 2},
    {"zero_division": None},
    {"zero_division": 0.5},
    {"labels": 1},
    {"labels": "01"},
    {"labels": 1, "average": None},
    {"sample_weight": [1, 1]},
    {"sample_weight": [[1], [1], [1], [1], [1]]},
    {"sample_weight": [1, math.nan, 1, 1, 1]},
    {"sample_weight": [0, 0, 0, 0, 0]},
    {"sample_weight": "1"},
]
BAD_TARGETS = [
    ([0, 1, 2], [0, 1, 1]),
    ([0, 1], [0, 1, 1]),
    ([], []),
    ([0, 1, 1], [0.1, 0.9, 0.8]),
    ([0, 1, 1], ["0", "1", "1"]),
    ([0, 1, 1], [0, 1, math.nan]),
    ([0, 1, 1], [[0, 1], [1, 0], [1, 1]]),
    ([[0, 1], [1, 0]], [[0, 1], [1, 0]]),
    ([[0, 1], [1, 0]], [[0, 1, 1], [1, 0, 1]]),
    ([[0, 2], [1, 0]], [[0, 1], [1, 0]]),
    (1, 1),
    (None, [1]),
]



def check_both_raise(message, name, *arguments, **options):
    """Both libraries raise; code that catches scikit-learn's error catches ours, which says what is wrong."""
    check_parity(name, *arguments, **options)
    assert_raises((ValueError, TypeError), message, getattr(fm, name), *arguments, **options)


@pytest.mark.parametrize("name", [*MULTILABEL_FUNCTIONS, "precision_recall_fscore_support"])
@each_case("bad", BAD_CALLS, ids=repr)
def test_bad_options(name, bad):
    needed = {"beta": 2.0} if name == "fbeta_score" else {}
    words = "|".join([*bad, "counts per row"])
    check_both_raise(words, name, Y_TRUE, Y_PRED, **{"average": "binary", **needed, **bad})


@pytest.mark.parametrize("name", [*MULTILABEL_FUNCTIONS, "precision_recall_fscore_support"])
@each_case("targets", BAD_TARGETS, ids=repr)
def test_bad_targets(name, targets):
    needed = {"beta": 2.0} if name == "fbeta_score" else {}
    check_both_raise(".", name, *targets, average="binary", **needed)


@each_case("beta", [-1, -0.1, "1", None, math.nan, [1]], ids=repr)
@pytest.mark.parametrize("name", ["fbeta_score", "precision_recall_fscore_support"])
def test_bad_beta(name, beta):
    check_both_raise("beta must", name, Y_TRUE, Y_PRED, beta=beta)


def test_beta_is_needed():
    assert_raises(TypeError, "beta", fm.fbeta_score, Y_TRUE, Y_PRED)


def test_bad_warn_for():
    check_both_raise("warn_for must", "precision_recall_fscore_support", Y_TRUE, Y_PRED, warn_for="precision")


def test_a_label_missing_from_label_sets():
    for labels in ([0, 2], [-1]):
        for average in ("macro", "samples"):
            eyes = np.eye(2, dtype=int), np.eye(2, dtype=int)
            check_both_raise("labels", "f1_score", *eyes, labels=labels, average=average)



# --------------------------------------------------------------------------------------- exactly the definitions

METRICS = {
    "precision_score": oracle.precision,
    "recall_score": oracle.recall,
    "specificity_score": oracle.specificity,
    "jaccard_score": oracle.jaccard,
    "f1_score": lambda cells: oracle.fbeta(cells, 1),
}



def as_float(ratio, zero):
    return zero if ratio is None else float(ratio)


@given(columns(), st.sampled_from(list(METRICS)), st.sampled_from([0, 1]))
def test_ratios_are_rounded_once(case, name, zero):
    _, y_true, y_pred = case
    labels = sorted({*y_true, *y_pred})
    parts = [oracle.cells_of_label(y_true, y_pred, label) for label in labels]
    function, metric = getattr(fm, name), METRICS[name]
    values = function(y_true, y_pred, average=None, zero_division=zero)
    assert values.tolist() == [as_float(metric(part), zero) for part in parts]
    assert function(y_true, y_pred, average="micro", zero_division=zero) == as_float(metric(oracle.added(parts)), zero)
    for average in ("macro", "weighted"):
        expected = oracle.averaged(parts, metric, average, zero)
        assert function(y_true, y_pred, average=average, zero_division=zero) == pytest.approx(expected, rel=1e-15)
    if len(labels) <= 2:
        value = function(y_true, y_pred, pos_label=labels[-1], zero_division=zero)
        assert value == as_float(metric(parts[-1]), zero)


@given(columns(), st.sampled_from([0, 0.5, 1, 2, 4]), st.data())
def test_fbeta_is_rounded_once_where_beta_squared_is_exact(case, beta, data):
    _, y_true, y_pred = case
    weights = data.draw(weights_of(len(y_true)))
    labels = sorted({*y_true, *y_pred})
    expected = [oracle.fbeta(oracle.cells_of_label(y_true, y_pred, label, weights), beta) for label in labels]
    values = without_warnings(fm.fbeta_score, y_true, y_pred, beta=beta, average=None, sample_weight=weights)
    assert values.tolist() == [as_float(value, 0) for value in expected]


@given(label_sets(), st.sampled_from(list(METRICS)), st.sampled_from([0, 1, math.nan]), st.data())
def test_samples_average_of_label_sets(case, name, zero, data):
    """Also with weights: rows of weight zero have no effect and give no warning."""
    if name == "jaccard_score" and zero != zero:
        return
    y_true, y_pred = case
    weights = data.draw(weights_of(len(y_true)))
    everything = range(y_true.shape[1])
    parts = [oracle.cells_of_row(true, pred, everything) for true, pred in zip(*case, strict=True)]
    ratios = [METRICS[name](part) for part in parts]
    row_weights = None if weights is None else [Fraction(weight) for weight in weights]
    if row_weights is not None:
        kept = [row for row, weight in enumerate(row_weights) if weight]
        ratios, row_weights = [ratios[row] for row in kept], [row_weights[row] for row in kept]
    expected = oracle.mean(ratios, row_weights, zero)
    function = getattr(fm, name)
    value = function(y_true, y_pred, average="samples", zero_division=zero, sample_weight=weights)
    assert value == pytest.approx(expected, rel=1e-15, nan_ok=True)
    if None not in ratios:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            function(y_true, y_pred, average="samples", sample_weight=weights)


@given(columns(), st.sampled_from([0, 0.5, 1, 2, math.inf]), st.sampled_from([0, 1]))
def test_f_of_means(case, beta, zero):
    _, y_true, y_pred = case
    parts = [oracle.cells_of_label(y_true, y_pred, label) for label in sorted({*y_true, *y_pred})]
    chosen = {"beta": beta, "average": "macro", "macro": "f_of_means", "zero_division": zero}
    value = fm.fbeta_score(y_true, y_pred, **chosen)
    if beta == math.inf:
        assert value == fm.recall_score(y_true, y_pred, average="macro", zero_division=zero)
    else:
        assert value == pytest.approx(oracle.f_of_means(parts, beta, zero), rel=1e-14)
    precision, recall, fscore, support = fm.precision_recall_fscore_support(y_true, y_pred, **chosen)
    assert (fscore, support) == (value, None)
    plain = fm.precision_recall_fscore_support(y_true, y_pred, average="macro", zero_division=zero)
    assert (precision, recall) == plain[:2]
    if beta == 1:
        del chosen["beta"]
        assert fm.f1_score(y_true, y_pred, **chosen) == value


def test_the_two_macro_f_differ():
    """Precision 1 and 1/3, recall 1/3 and 1: each F is 1/2, the F of the means is 2/3."""
    y_true, y_pred = [0, 0, 0, 1], [0, 1, 1, 1]
    assert fm.f1_score(y_true, y_pred, average="macro") == 0.5
    assert fm.f1_score(y_true, y_pred, average="macro", macro="f_of_means") == pytest.approx(2 / 3, rel=1e-15)


@each_case("average", ["binary", "micro", "weighted", None])
def test_f_of_means_is_a_macro_average(average):
    for function, needed in (
        (fm.f1_score, {}),
        (fm.fbeta_score, {"beta": 2}),
        (fm.precision_recall_fscore_support, {}),
    ):
        assert_raises(
            OptionError, "f_of_means", function, Y_TRUE, Y_PRED, average=average, macro="f_of_means", **needed
        )
        assert_raises(OptionError, "macro must", function, Y_TRUE, Y_PRED, average="macro", macro="f", **needed)


def test_f_of_means_warns_about_0_over_0():
    with pytest.warns(fm.UndefinedMetricWarning, match="precision is undefined for label 1"):
        assert fm.f1_score([0, 1], [0, 0], average="macro", macro="f_of_means") == pytest.approx(1 / 3)


# ------------------------------------------------------------------------------- specificity and the geometric mean


@given(columns(("binary", "bool", "signed")), st.data())
def test_specificity_is_the_recall_of_the_other_label(case, data):
    _, y_true, y_pred = case
    labels = sorted({*y_true, *y_pred})
    weights = data.draw(weights_of(len(y_true)))
    if len(labels) == 2:
        value = without_warnings(fm.specificity_score, y_true, y_pred, pos_label=labels[0], sample_weight=weights)
        assert value == without_warnings(fm.recall_score, y_true, y_pred, pos_label=labels[1], sample_weight=weights)


@given(columns(), st.data())
def test_geometric_mean_of_recalls(case, data):
    _, y_true, y_pred = case
    weights = data.draw(weights_of(len(y_true)))
    correction = data.draw(st.sampled_from([0.0, 0.001, 1]))
    cells = [oracle.cells_of_label(y_true, y_pred, label, weights) for label in sorted({*y_true, *y_pred})]
    recalls = [oracle.recall(part) for part in cells]
    for zero in (0, 1, math.nan):
        known = [value if value is not None else zero for value in recalls if value is not None or zero == zero]
        expected = oracle.geometric_mean([Fraction(value) or Fraction(correction) for value in known])
        value = fm.geometric_mean_score(
            y_true, y_pred, sample_weight=weights, correction=correction, zero_division=zero
        )
        assert type(value) is float
        assert value == pytest.approx(expected, rel=1e-14)


@given(columns(), st.sampled_from(["micro", "macro", "weighted", None]))
def test_other_geometric_means_are_of_recall_and_specificity(case, average):
    _, y_true, y_pred = case
    recall, specificity = (
        without_warnings(function, y_true, y_pred, average=average)
        for function in (fm.recall_score, fm.specificity_score)
    )
    value = without_warnings(fm.geometric_mean_score, y_true, y_pred, average=average)
    assert type(value) is type(recall)
    np.testing.assert_allclose(value, np.sqrt(recall * specificity), rtol=1e-15)


@given(columns(("binary", "signed")))
def test_geometric_mean_of_two_classes_is_that_of_tpr_and_tnr(case):
    _, y_true, y_pred = case
    expected = oracle.gmean(oracle.cells_of_label(y_true, y_pred, 1))
    if expected is not None:
        assert fm.geometric_mean_score(y_true, y_pred) == expected
        assert fm.geometric_mean_score(y_true, y_pred, average="binary") == expected


@pytest.mark.parametrize("n_classes", [3, 500, 5000])
def test_a_product_of_many_recalls_does_not_underflow(n_classes):
    """Every class has two rows and one right: the product is 2**-n_classes, its root 1/2."""
    y_true = np.repeat(np.arange(n_classes), 2)
    y_pred = y_true.copy()
    y_pred[1::2] = (y_pred[1::2] + 1) % n_classes
    assert fm.geometric_mean_score(y_true, y_pred) == 0.5
    assert fm.geometric_mean_score(y_true, y_pred, sample_weight=np.full(2 * n_classes, 0.1)) == 0.5


def test_options_of_the_geometric_mean():
    for wrong in ({"correction": -0.1}, {"correction": 1.5}, {"correction": "1"}, {"average": "mean"}):
        assert_raises(OptionError, next(iter(wrong)), fm.geometric_mean_score, Y_TRUE, Y_PRED, **wrong)
    with pytest.warns(fm.UndefinedMetricWarning, match="recall is undefined for label 2: no true row"):
        assert fm.geometric_mean_score([0, 1], [0, 2]) == 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # The default ignores pos_label: with two classes the result is the same for both.
        fm.geometric_mean_score(Y_TRUE, Y_PRED, pos_label=0)


# ------------------------------------------------------------------------------------------------- order, warnings



@pytest.mark.parametrize("rows", [200, 10_000])
def test_the_samples_average_does_not_depend_on_order(rows):
    """The longer column is added in the kernel."""
    generator = np.random.default_rng(0)
    y_true, y_pred = (generator.integers(0, 2, (rows, 7)) for _ in range(2))
    weights = generator.random(rows)
    orders = [generator.permutation(rows) for _ in range(5)]
    for options in ({}, {"sample_weight": weights}):
        value = fm.f1_score(y_true, y_pred, average="samples", zero_division=1, **options)
        for order in orders:
            moved = {name: column[order] for name, column in options.items()}
            assert value == fm.f1_score(y_true[order], y_pred[order], average="samples", zero_division=1, **moved)
        expected = scikit_learn().f1_score(y_true, y_pred, average="samples", zero_division=1, **options)
        assert value == pytest.approx(expected, rel=1e-13)


CALLS_THAT_WARN = [
    lambda: fm.precision_score([0, 1], [0, 0]),
    lambda: fm.precision_score([0, 1], [0, 0], average=None),
    lambda: fm.recall_score([0, 0], [0, 1]),
    lambda: fm.f1_score([0, 0], [0, 0]),
    lambda: fm.fbeta_score([0, 0], [0, 0], beta=2),
    lambda: fm.f1_score([0, 1], [0, 0], average="macro", macro="f_of_means"),
    lambda: fm.fbeta_score([0, 1], [0, 0], beta=2, average="macro", macro="f_of_means"),
    lambda: fm.precision_recall_fscore_support([0, 1], [0, 0]),
    lambda: fm.f1_score([0, 1], [0, 1], average="macro", pos_label=0),
    lambda: fm.jaccard_score([0, 0], [0, 0]),
    lambda: fm.jaccard_score([0, 1], [0, 1], average="macro", pos_label=0),
    lambda: fm.specificity_score([1, 1], [1, 1]),
    lambda: fm.geometric_mean_score([0, 0], [0, 1]),
    lambda: fm.geometric_mean_score([0, 0], [0, 1], average="binary"),
    lambda: fm.class_likelihood_ratios([0, 1], [0, 1]),
    lambda: fm.classification_report([0, 1], [0, 0]),
    lambda: fm.classification_report([0, 1], [0, 0], labels=[0, 1], target_names=["a"]),
    lambda: fm.classification_report(np.eye(2, dtype=int), np.eye(2, dtype=int)[:, [0, 0]]),
]


@each_case("warning_call", CALLS_THAT_WARN)
def test_warnings_point_to_the_caller(warning_call):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        warning_call()
    assert seen
    line = warning_call.__code__.co_firstlineno
    assert {(warning.filename, warning.lineno) for warning in seen} == {(__file__, line)}


def test_warnings_name_the_labels_but_not_all():
    with pytest.warns(fm.UndefinedMetricWarning, match=r"for label 1, 2, 3, 4, 5, \.\.\.: no predicted row"):
        fm.precision_score(list(range(9)), [0] * 9, average="macro")
    with pytest.warns(fm.UndefinedMetricWarning, match="for row 1: no true label"):
        fm.recall_score([[0, 1], [0, 0]], [[0, 1], [0, 1]], average="samples")
    with pytest.warns(fm.UndefinedMetricWarning, match="for label b: no true row"):
        fm.recall_score(["a", "a"], ["a", "b"], average=None)
