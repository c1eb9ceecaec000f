"""Labels against labels: every function and option of scikit-learn's, on labels of every kind."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.cases import each_case
from support.parity import strategies
from support.parity.cases import LABELS, SET_WISE, present
from support.parity.differences import check

NAN = float("nan")
TWO_CLASSES = st.sampled_from([[0, 1], [-1, 1], ["a", "b"], [False, True], [3, 7]])
AVERAGES = ["macro", "micro", "weighted", None]
ZERO_DIVISION = ["warn", 0, 1, 0.0, 1.0, NAN, np.nan]


def average_of(pool, draw):
    """Mostly one that suits the labels, always one that scikit-learn knows."""
    if len(pool) == 2 and draw(st.booleans()):
        return "binary"
    return draw(st.sampled_from(AVERAGES * 3 + ["binary", "samples"]))


def set_wise_options(draw, name, pool):
    """average, pos_label, labels, zero_division and beta, each given or not."""
    options = {}
    average = average_of(pool, draw)
    if average != "binary" or name == "precision_recall_fscore_support" or draw(st.booleans()):
        options["average"] = average
    if average == "binary":
        other = [] if draw(st.integers(0, 5)) else ["q", 9, None]
        options["pos_label"] = draw(st.sampled_from([*pool, *other]))
    elif draw(st.integers(0, 9)) == 0:
        options["pos_label"] = pool[0]
    if draw(st.booleans()):
        options["labels"] = draw(strategies.subset_of_labels(pool))
    if draw(st.booleans()):
        known = ZERO_DIVISION if name != "jaccard_score" else ["warn", 0, 1]
        options["zero_division"] = draw(st.sampled_from(known))
    if name == "fbeta_score" or (name == "precision_recall_fscore_support" and draw(st.booleans())):
        options["beta"] = draw(st.sampled_from([0, 0.5, 1, 1.0, 2, 2.5, float("inf"), np.float32(0.5), np.int64(3)]))
    if name == "precision_recall_fscore_support" and draw(st.integers(0, 4)) == 0:
        options["warn_for"] = draw(st.sampled_from([(), ("precision",), ["recall"], {"f-score", "recall"}]))
    return options


def replacements(name, draw):
    if name == "cohen_kappa_score":
        return draw(st.sampled_from([0.0, 1, -1.0, 0.5, NAN]))
    return draw(st.sampled_from([np.nan, 1.0, 1, {"LR+": 3.0, "LR-": 0.5}, {"LR+": float("inf"), "LR-": 0}]))


def options_for(draw, name, pool, size):
    """Every option of the function, each given or not."""
    if name in SET_WISE:
        return set_wise_options(draw, name, pool)
    choices = {
        "accuracy_score": {"normalize": st.booleans()},
        "zero_one_loss": {"normalize": st.booleans()},
        "balanced_accuracy_score": {"adjusted": st.booleans()},
        "confusion_matrix": {
            "labels": strategies.subset_of_labels(pool),
            "normalize": st.sampled_from(["true", "pred", "all", None]),
        },
        "multilabel_confusion_matrix": {
            "labels": strategies.subset_of_labels(pool),
            "samplewise": st.sampled_from([False, False, True]),
        },
        "cohen_kappa_score": {
            "labels": strategies.subset_of_labels(pool),
            "weights": st.sampled_from([None, "linear", "quadratic"]),
        },
        "class_likelihood_ratios": {"labels": strategies.subset_of_labels(pool)},
        "classification_report": {
            "labels": strategies.subset_of_labels(pool),
            "digits": st.sampled_from([0, 2, 3, 5]),
            "output_dict": st.booleans(),
            "zero_division": st.sampled_from(ZERO_DIVISION),
            "target_names": st.sampled_from([None, ["one", "two"], ["x", "a longer name", "z"], ("p", "q")]),
        },
    }.get(name, {})
    given = {option: draw(choice) for option, choice in choices.items() if draw(st.booleans())}
    if name in ("cohen_kappa_score", "class_likelihood_ratios") and draw(st.booleans()):
        given["replace_undefined_by"] = replacements(name, draw)
    return given


@pytest.mark.parametrize("name", present(LABELS))
@given(data=st.data())
def test_labels_of_any_kind_with_any_option(name, data):
    pools = TWO_CLASSES if name == "class_likelihood_ratios" and data.draw(st.integers(0, 7)) else strategies.ANY_POOL
    y_true, y_pred, pool = data.draw(strategies.label_pairs(pools))
    options = options_for(data.draw, name, pool, len(y_true))
    weight = data.draw(strategies.weights(len(y_true)))
    if weight is not None or data.draw(st.integers(0, 9)) == 0:
        options["sample_weight"] = weight
    check(name, y_true, y_pred, **options)


@pytest.mark.parametrize("name", present(LABELS))
@each_case("n_classes", [2, 20])
def test_many_rows_with_real_weights(name, n_classes):
    rng = np.random.default_rng(n_classes)
    y_true = rng.integers(0, n_classes, 5000)
    y_pred = np.where(rng.random(5000) < 0.6, y_true, rng.integers(0, n_classes, 5000))
    options = {"average": "weighted"} if name in SET_WISE else {}
    if name == "fbeta_score":
        options["beta"] = 0.5
    names = np.array([f"class {number}" for number in range(n_classes)])
    if name == "classification_report":
        options["output_dict"] = True  # the text shows supports to their last digit
    for weight in (None, rng.random(5000), rng.integers(0, 5, 5000)):
        check(name, y_true, y_pred, sample_weight=weight, **options)
        check(name, names[y_true], names[y_pred], sample_weight=weight, **options)


# ----------------------------------------------------------------------------------------------------- multilabel

MULTILABEL = [
    "accuracy_score", "classification_report", "hamming_loss", "multilabel_confusion_matrix", "zero_one_loss",
    *SET_WISE,
]  # fmt: skip
INDICATORS = ["int64", "int8", "uint8", "bool", "float64", "float32", "lists"]
SPARSE = ["csr_matrix", "csr_array", "csc_array", "coo_matrix", "lil_matrix", "dok_array"]


def as_indicator(dense, kind):
    if kind == "lists":
        return dense.tolist()
    if kind in INDICATORS:
        return dense.astype(kind)
    return getattr(pytest.importorskip("scipy.sparse"), kind)(dense)


@st.composite
def indicators(draw):
    """Two matrices of 0 and 1, dense or sparse, and their shape; empty rows and columns included."""
    size, n_labels = draw(st.sampled_from([1, 2, 3, 5, 20])), draw(st.sampled_from([2, 2, 3, 5]))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    density = draw(st.sampled_from([0.0, 0.2, 0.5, 0.5, 1.0]))
    matrices = []
    for _ in range(2):
        dense = (rng.random((size, n_labels)) < density).astype(np.int64)
        matrices.append(as_indicator(dense, draw(st.sampled_from([*INDICATORS, *SPARSE]))))
        density = draw(st.sampled_from([0.0, 0.5, 0.5, density]))
    return *matrices, (size, n_labels)


def multilabel_options(draw, name, n_labels):
    choices = {}
    columns = list(range(n_labels))
    chosen = st.one_of(st.permutations(columns), st.just([0]), st.just(columns[1:]), st.just([0, n_labels]))
    if name in SET_WISE:
        choices["average"] = st.sampled_from(["micro", "macro", "weighted", "samples", "samples", None, "binary"])
    if name in [*SET_WISE, "classification_report"]:
        choices["zero_division"] = st.sampled_from(["warn", 0, 1] if name == "jaccard_score" else ZERO_DIVISION)
    if name in [*SET_WISE, "classification_report", "multilabel_confusion_matrix"]:
        choices["labels"] = chosen
    if name == "multilabel_confusion_matrix":
        choices["samplewise"] = st.booleans()
    if name in ("accuracy_score", "zero_one_loss"):
        choices["normalize"] = st.booleans()
    if name == "classification_report":
        choices |= {"digits": st.sampled_from([0, 3]), "output_dict": st.booleans()}
    options = {option: draw(choice) for option, choice in choices.items() if draw(st.booleans())}
    if name in SET_WISE and "average" not in options:
        options["average"] = "macro"
    if name == "fbeta_score":
        options["beta"] = draw(st.sampled_from([0, 0.5, 2, float("inf")]))
    return options


@pytest.mark.parametrize("name", present(MULTILABEL))
@given(data=st.data())
def test_indicators_of_several_labels(name, data):
    y_true, y_pred, (size, n_labels) = data.draw(indicators())
    options = multilabel_options(data.draw, name, n_labels)
    weight = data.draw(strategies.weights(size))
    if weight is not None:
        options["sample_weight"] = weight
    check(name, y_true, y_pred, **options)


@pytest.mark.parametrize("name", present(sorted(set(LABELS) - set(MULTILABEL))))
@each_case("kind", ["int64", "csr_array"])
def test_indicators_where_they_have_no_meaning(name, kind):
    dense = np.array([[0, 1], [1, 1], [1, 0]])
    check(name, as_indicator(dense, kind), as_indicator(dense[::-1], kind))
