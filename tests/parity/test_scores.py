"""Scores and probabilities against labels: curves, areas, losses, calibration, with every option of scikit-learn's."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.cases import each_case
from support.parity import strategies
from support.parity.cases import CURVES, LABEL_RANKING, present
from support.parity.differences import check

CURVE_FUNCTIONS = ["det_curve", "precision_recall_curve", "roc_curve"]
AREAS = ["average_precision_score", "roc_auc_score"]
LOSSES = ["brier_score_loss", "d2_brier_score", "d2_log_loss_score", "log_loss"]
TAKES_POS_LABEL = [
    *CURVE_FUNCTIONS,
    "average_precision_score",
    "brier_score_loss",
    "d2_brier_score",
    "calibration_curve",
]
SCORE_KINDS = ["float64", "float64", "float32", "float16", "int64", "int8", "uint8", "bool", "list", "ints"]


def as_score_kind(values, kind):
    """Scores near 0 as one of the kinds; integers come from eight levels."""
    if kind == "list":
        return values.tolist()
    if kind == "ints":
        return np.round(values * 8).astype(int).tolist()
    if kind == "bool":
        return values > 0.5
    if kind.startswith("float"):
        return values.astype(kind)
    return np.round(values * 8).astype(kind)


@st.composite
def scores(draw, size):
    """Scores of many kinds: constants, ties, none, negative ones, -0.0 beside 0.0."""
    levels = draw(st.sampled_from([None, 1, 3, 10]))
    values = strategies.floats_between(draw, 0.0, 1.0, size, levels)
    if draw(st.integers(0, 7)) == 0:
        values[:] = values[0]
    kind = draw(st.sampled_from(SCORE_KINDS))
    if kind in ("float64", "float32", "list", "int64") and draw(st.booleans()):
        values = np.round(values - 0.5, 2) * 4
        values[:1] = -0.0
    return as_score_kind(values, kind)


def as_array(weight):
    """Lists of weights have no .dtype, which the peer asks for where it averages over columns."""
    return None if weight is None else np.asarray(weight)


def maybe(draw, options, **choices):
    """Each option given or not."""
    for option, choice in choices.items():
        if draw(st.booleans()):
            options[option] = draw(choice)
    return options


def positive(draw, name, options, pool):
    """pos_label where the labels ask for one, and sometimes where they do not."""
    if name in TAKES_POS_LABEL and (pool not in ([0, 1], [-1, 1], [False, True]) or draw(st.integers(0, 3)) == 0):
        wrong = [] if draw(st.integers(0, 7)) else [5, "q"]
        options["pos_label"] = draw(st.sampled_from([*pool, pool[-1], *wrong]))


@pytest.mark.parametrize("name", present([*CURVE_FUNCTIONS, *AREAS]))
@given(data=st.data())
def test_curves_and_areas_of_two_classes(name, data):
    draw = data.draw
    size = draw(st.sampled_from(strategies.SIZES))
    y_true, pool = draw(strategies.binary_labels(size))
    options = {}
    positive(draw, name, options, pool)
    if name in CURVE_FUNCTIONS:
        maybe(draw, options, drop_intermediate=st.booleans())
    elif name == "roc_auc_score":
        maybe(draw, options, max_fpr=st.sampled_from([None, 1, 1.0, 0.5, 0.1, 0.01]))
        maybe(draw, options, multi_class=st.sampled_from(["raise", "ovr", "ovo"]), labels=st.just([0, 1, 2]))
    if name in AREAS:
        maybe(draw, options, average=st.sampled_from(["macro", "micro", "samples", "weighted", None]))
    maybe(draw, options, sample_weight=strategies.weights(size))
    check(name, y_true, draw(scores(size)), **options)


@pytest.mark.parametrize("name", present(AREAS))
@given(data=st.data())
def test_areas_of_several_labels(name, data):
    draw = data.draw
    size, n_labels = draw(st.sampled_from([2, 3, 6, 40])), draw(st.sampled_from([2, 3, 5]))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    y_true = (rng.random((size, n_labels)) < draw(st.sampled_from([0.1, 0.5, 0.5]))).astype(np.int64)
    if draw(st.integers(0, 4)):
        y_true[0], y_true[-1] = 1, 0
    y_true = y_true.astype(draw(st.sampled_from(["int64", "int8", "bool", "float64"])))
    values = np.round(rng.random((size, n_labels)), draw(st.sampled_from([1, 2, 9])))
    y_score = values.astype(draw(st.sampled_from(["float64", "float32"])))
    options = maybe(draw, {}, average=st.sampled_from(["macro", "micro", "samples", "weighted", None]))
    if name == "roc_auc_score":
        maybe(draw, options, max_fpr=st.sampled_from([None, 1.0, 0.3]))
    maybe(draw, options, sample_weight=strategies.weights(size).map(as_array))
    if name == "average_precision_score" and draw(st.integers(0, 9)) == 0:
        options["pos_label"] = 0
    check(name, y_true, y_score, **options)


def class_shares(draw, size, n_classes, kind):
    """Rows that sum to 1: of eighths, so that they do so exactly, or of any real numbers."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    if draw(st.booleans()):
        shares = rng.multinomial(8, [1 / n_classes] * n_classes, size) / 8
    else:
        shares = rng.dirichlet([1.0] * n_classes, size)
    return shares.tolist() if kind == "list" else shares.astype(kind)


@st.composite
def class_scores(draw, kinds=("float64", "float64", "float32", "list")):
    """(y_true, shares of the classes, all classes in order): y_true may lack classes."""
    classes = draw(st.sampled_from([[0, 1, 2], [0, 1, 2], [1, 5, 9, 11], ["a", "b", "c"], [-2, 0, 7]]))
    size = draw(st.sampled_from([1, 2, 3, 5, 8, 40]))
    own = draw(st.sampled_from([classes, classes, classes[1:], classes[:1]]))
    values = strategies.draw_values(draw, own, size)
    if own is classes and size >= len(classes) and draw(st.integers(0, 9)):
        values[: len(classes)] = classes
    y_true = strategies.convert_to_kind(values, draw(st.sampled_from(strategies.kinds_of(classes))))
    return y_true, class_shares(draw, size, len(classes), draw(st.sampled_from(kinds))), classes


@pytest.mark.parametrize("name", present(AREAS))
@given(data=st.data())
def test_areas_of_several_classes(name, data):
    draw = data.draw
    y_true, y_score, classes = draw(class_scores())
    if name == "average_precision_score":
        y_score = np.asarray(y_score)
        options = maybe(draw, {}, average=st.sampled_from(["macro", "micro", "samples", "weighted", None]))
    else:
        options = {"multi_class": draw(st.sampled_from(["ovr", "ovr", "ovo", "raise"]))}
        allowed = ["macro", "weighted"] + (["micro", None] if options["multi_class"] == "ovr" else [])
        maybe(draw, options, average=st.sampled_from([*allowed, *allowed, "samples", "micro", None]))
        wrong = [classes[:2], classes[::-1], [*classes, classes[0]]]
        maybe(draw, options, labels=st.sampled_from([classes, classes, np.array(classes), *wrong]))
    if options.get("multi_class") != "ovo" or draw(st.integers(0, 9)) == 0:
        maybe(draw, options, sample_weight=strategies.weights(len(y_true)).map(as_array))
    check(name, y_true, y_score, **options)


@pytest.mark.parametrize("name", present(["auc"]))
@given(data=st.data())
def test_area_below_points(name, data):
    draw = data.draw
    size = draw(st.sampled_from([1, 2, 3, 7, 100]))
    x, y = (strategies.floats_between(draw, -2.0, 3.0, size, draw(st.sampled_from([None, 3]))) for _ in range(2))
    x = draw(st.sampled_from([np.sort(x), np.sort(x), np.sort(x)[::-1], x]))
    kinds = st.sampled_from(["float64", "float64", "float32", "int64", "list"])
    x, y = (v.tolist() if kind == "list" else v.astype(kind) for v, kind in ((x, draw(kinds)), (y, draw(kinds))))
    check(name, x, y)


# ------------------------------------------------------------------------------------------------------- top k


@pytest.mark.parametrize("name", present(["top_k_accuracy_score"]))
@given(data=st.data())
def test_top_k(name, data):
    draw = data.draw
    if draw(st.integers(0, 2)) == 0:
        size = draw(st.sampled_from(strategies.SIZES))
        y_true, classes = draw(strategies.binary_labels(size))
        y_score = draw(scores(size))
    else:
        y_true, _, classes = draw(class_scores())
        size = len(y_true)
        rng = np.random.default_rng(draw(st.integers(0, 2**16)))
        y_score = np.round(rng.normal(size=(size, len(classes))), draw(st.sampled_from([0, 1, 9])))
        y_score = y_score.astype(draw(st.sampled_from(["float64", "float32", "int64"])))
    in_order = sorted(classes)
    options = maybe(
        draw,
        {},
        k=st.sampled_from([1, 1, 2, 3, 4, 9, np.int64(2)]),
        normalize=st.booleans(),
        labels=st.sampled_from([classes, in_order, np.array(in_order), classes[:1], [*classes, classes[0]]]),
        sample_weight=strategies.weights(size),
    )
    check(name, y_true, y_score, **options)


# ---------------------------------------------------------------------------------------------- probabilities


def probabilities(draw, size):
    """In [0, 1], with ties, 0 and 1 among them."""
    values = strategies.floats_between(draw, 0.0, 1.0, size, draw(st.sampled_from([None, 2, 10])))
    if draw(st.integers(0, 7)) == 0:
        values[:] = values[0]
    kind = draw(st.sampled_from(["float64", "float64", "float64", "float32", "float16", "list", "int64"]))
    if kind == "list":
        return values.tolist()
    return np.round(values).astype(kind) if kind == "int64" else values.astype(kind)


@pytest.mark.parametrize("name", present(LOSSES))
@given(data=st.data())
def test_losses_of_two_classes(name, data):
    draw = data.draw
    size = draw(st.sampled_from(strategies.SIZES))
    y_true, pool = draw(strategies.binary_labels(size))
    y_proba = probabilities(draw, size)
    shape = draw(st.sampled_from(["row", "row", "row", "column", "both"]))
    if shape == "column":
        y_proba = np.asarray(y_proba).reshape(-1, 1)
    elif shape == "both":
        y_proba = np.asarray(y_proba, dtype=np.float64)
        y_proba = np.column_stack([1 - y_proba, y_proba])
    options = {}
    positive(draw, name, options, pool)
    if name == "log_loss":
        maybe(draw, options, normalize=st.booleans())
    if name == "brier_score_loss":
        maybe(draw, options, scale_by_half=st.sampled_from([True, False, "auto"]))
    if draw(st.integers(0, 2)) == 0 or len(set(np.asarray(y_true).tolist())) < 2:
        options["labels"] = draw(st.sampled_from([sorted(pool), np.array(sorted(pool)), pool[:1], pool[::-1]]))
    maybe(draw, options, sample_weight=strategies.weights(size))
    check(name, y_true, y_proba, **options)


@pytest.mark.parametrize("name", present(LOSSES))
@given(data=st.data())
def test_losses_of_several_classes(name, data):
    draw = data.draw
    y_true, y_proba, classes = draw(class_scores())
    if draw(st.integers(0, 9)) == 0:
        y_proba = np.asarray(y_proba) * 0.9
    options = {}
    if draw(st.booleans()):
        others = [classes[:2], classes[::-1], [*classes, classes[-1]], np.array(classes), tuple(classes)]
        options["labels"] = draw(st.sampled_from([classes, classes, classes, *others]))
    if name == "log_loss":
        maybe(draw, options, normalize=st.booleans())
    if name == "brier_score_loss":
        maybe(draw, options, scale_by_half=st.sampled_from([True, False, "auto"]))
    maybe(draw, options, sample_weight=strategies.weights(len(y_true)))
    check(name, y_true, y_proba, **options)


@pytest.mark.parametrize("name", present(LOSSES))
@each_case("kind", ["int64", "bool", "float64", "list"])
def test_losses_of_indicators(name, kind):
    """y_true as a matrix of 0 and 1 beside a column of probabilities per label."""
    y_true = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]])
    y_proba = np.array([[0.5, 0.25, 0.25], [0.125, 0.75, 0.125], [0.5, 0.5, 0.0], [0.25, 0.5, 0.25]])
    y_true = y_true.tolist() if kind == "list" else y_true.astype(kind)
    check(name, y_true, y_proba)
    check(name, y_true, y_proba, sample_weight=[1, 2, 1, 0.5])
    check(name, y_true, y_proba, labels=[0, 1, 2])
    check(name, y_true[:3], y_proba[:3])
    check(name, y_true, y_proba[:, :2])


@pytest.mark.parametrize("name", present(["calibration_curve"]))
@given(data=st.data())
def test_calibration_curve(name, data):
    draw = data.draw
    size = draw(st.sampled_from(strategies.SIZES))
    y_true, pool = draw(strategies.binary_labels(size))
    options = {}
    positive(draw, name, options, pool)
    maybe(draw, options, n_bins=st.sampled_from([1, 2, 5, 10, 33]), strategy=st.sampled_from(["uniform", "quantile"]))
    check(name, y_true, probabilities(draw, size), **options)


@pytest.mark.parametrize("name", present(["log_loss", "d2_log_loss_score"]))
def test_the_old_name_of_probabilities(name):
    y_true, y_proba = [0, 1, 1, 0], [0.1, 0.7, 0.4, 0.3]
    check(name, y_true, y_pred=y_proba)
    check(name, y_true, y_proba, y_pred=y_proba)
    check(name, y_true)


@pytest.mark.parametrize("name", present(CURVES))
@each_case("infinite", [[float("inf"), 1.0, 2.0, 0.0], [0.5, float("-inf"), float("inf"), 0.5]])
def test_infinite_scores(name, infinite):
    check(name, [1, 0, 1, 0], infinite)


# ------------------------------------------------------------------------------------------------ rankings of labels

INDICATORS = ["int64", "int64", "int8", "uint8", "bool", "float64", "float32", "float16", "list", "tuple", "object"]
SPARSE = ["csr_matrix", "csr_array", "csc_array", "coo_matrix", "lil_matrix", "dok_array"]


def as_sets(dense, kind):
    if kind in ("list", "tuple"):
        return dense.tolist() if kind == "list" else tuple(map(tuple, dense.tolist()))
    if kind in SPARSE:
        return getattr(pytest.importorskip("scipy.sparse"), kind)(dense)
    return dense.astype(kind)


@pytest.mark.parametrize("name", present(LABEL_RANKING))
@given(data=st.data())
def test_rankings_of_labels(name, data):
    """Sets of labels of every kind; rows without a relevant label, or with all; one label; others than 0 and 1."""
    draw = data.draw
    size, n_labels = draw(st.sampled_from([1, 2, 3, 6, 40])), draw(st.sampled_from([1, 2, 2, 3, 5, 20, 130]))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    dense = (rng.random((size, n_labels)) < draw(st.sampled_from([0.0, 0.2, 0.5, 0.5, 1.0]))).astype(np.int64)
    values = draw(st.sampled_from([(0, 1)] * 6 + [(0, 3), (-1, 1), (1, 2), (0, -1), (0, 0.5)]))
    kind = draw(st.sampled_from([*INDICATORS, *SPARSE]))
    if values != (0, 1) and kind not in ("uint8", "bool", "float16"):
        dense = np.where(dense, values[1], values[0])
    if draw(st.integers(0, 9)) == 0:
        dense[0, 0] = 2
    y_true = as_sets(dense, kind)
    shared = draw(st.sampled_from([None, None, 1, 3]))
    y_score = strategies.floats_between(draw, -1.0, 1.0, size * n_labels, shared).reshape(size, n_labels)
    kind = draw(st.sampled_from([kind for kind in SCORE_KINDS if kind not in ("bool", "uint8")]))
    options = maybe(draw, {}, sample_weight=strategies.weights(size))
    check(name, y_true, as_score_kind(y_score, kind), **options)


@pytest.mark.parametrize("name", present(LABEL_RANKING))
def test_rankings_of_what_is_no_set_of_labels(name):
    scores = np.array([[0.1, 0.2], [0.3, 0.1]])
    ragged, real, texts = [[0, 1], [1]], [[0.5, 1], [0, 1]], [["a", "b"], ["b", "a"]]
    for y_true in ([0, 1], [[0], [1]], [[0], [2]], [[0, 1, 2], [1, 1, 0]], ragged, real, texts):
        check(name, y_true, scores)
        check(name, y_true, np.asarray(scores)[:, :1])
        check(name, y_true, [0.1, 0.2])
    labels = np.array([[0, 1], [1, 0]])
    for y_score in (scores[0], scores[:, :1], scores[:1], scores[:, ::-1], scores.T, scores[None], [[0.1], [0.2, 0.3]]):
        check(name, labels, y_score)
    check(name, np.zeros((0, 2)), np.zeros((0, 2)))
    check(name, np.zeros((2, 0)), np.zeros((2, 0)))
    for beyond in ([[2**53, 0.0], [1.0, 2.0]], np.array([[1, 2], [3, 4]], np.longdouble)):
        check(name, labels, beyond)


@pytest.mark.parametrize("kind", SPARSE)
@pytest.mark.parametrize("name", present(LABEL_RANKING))
def test_rankings_of_one_sparse_label(name, kind):
    columns = [[1], [0], [1, 0], [2, 2, 0], [1, 1], [1, 2], [3, 1, 2], [-1, 1], [0, 1, 2], [0.5, 1.5], [math.nan, 1]]
    for column in columns:
        check(name, as_sets(np.array(column)[:, None], kind), np.linspace(0, 1, len(column))[:, None])
