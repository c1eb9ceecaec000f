"""AUC and average precision of two labels, several classes and multilabel targets: averages of binary problems."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core.columns.row_blocks import SERIAL_ROWS
from oracles import curves
from support import strategies
from support.cases import assert_raises, assert_undefined, each_case, without_warnings
from support.curve_cases import ordering_infinities
from support.peers import check_parity, pandas, peer, polars, scikit_learn

average_precision_score = ordering_infinities(fm.average_precision_score)
roc_auc_score = ordering_infinities(fm.roc_auc_score)

AVERAGES = ["macro", "weighted", "micro", "samples", None]
NAMES = np.array(["d", "b", "c", "a"])
FUNCTIONS = ["roc_auc_score", "average_precision_score"]



@st.composite
def multilabel_cases(draw):
    """(truth, scores) as matrices of n rows and k labels."""
    rows, n_labels = draw(st.integers(1, 30)), draw(st.integers(2, 4))
    scores = draw(st.lists(st.integers(0, draw(st.sampled_from([1, 3, 1000]))), min_size=rows * n_labels,
                           max_size=rows * n_labels))  # fmt: skip
    truth = draw(st.lists(st.integers(0, 1), min_size=rows * n_labels, max_size=rows * n_labels))
    order = draw(st.sampled_from("CF"))
    dtype = draw(st.sampled_from(strategies.SCORE_DTYPES))
    shape = rows, n_labels
    return (
        np.array(truth, draw(st.sampled_from(["int64", "bool", "uint8", "float64"]))).reshape(shape),
        np.array(np.array(scores, dtype).reshape(shape) / 8, order=order),
    )


@st.composite
def multiclass_cases(draw):
    """(codes, probabilities): one class per row, and probabilities that add up to 1."""
    truth, scores = draw(multilabel_cases().filter(lambda case: case[0].shape[1] > 2))
    rows, n_classes = truth.shape
    codes = draw(st.lists(st.integers(0, n_classes - 1), min_size=rows, max_size=rows))
    probabilities = scores.astype(np.float64) + 0.125
    return np.array(codes), probabilities / probabilities.sum(axis=1, keepdims=True)


def binary_values(name, truth, scores, weights=None):
    """The binary function of every column."""
    function = getattr(fm, name)
    return [without_warnings(function, truth[:, k], scores[:, k], sample_weight=weights) for k in range(truth.shape[1])]


class TestMultilabel:

    @given(multilabel_cases())
    def test_every_label_equals_the_binary_problem(self, case):
        truth, scores = case
        for name in FUNCTIONS:
            values = without_warnings(getattr(fm, name), truth, scores, average=None)
            expected = binary_values(name, truth, scores)
            assert values.dtype == np.float64
            np.testing.assert_array_equal(values, expected)

    @given(multilabel_cases())
    def test_the_definitions_of_the_averages(self, case):
        truth, scores = case
        rows = [(own.astype(int).tolist(), row.tolist()) for own, row in zip(truth, scores, strict=True)]
        columns = [(truth[:, k].astype(int).tolist(), scores[:, k].tolist()) for k in range(truth.shape[1])]
        together = truth.astype(int).ravel().tolist(), scores.ravel().tolist()
        for name, oracle, undefined in (
            ("roc_auc_score", curves.auc, None),
            ("average_precision_score", curves.average_precision, 0),
        ):
            averages = {
                "macro": curves.mean([oracle(*own) for own in columns], undefined),
                "micro": curves.mean([oracle(*together)], undefined),
                "samples": curves.mean([oracle(*own) for own in rows], undefined),
                "weighted": curves.mean([oracle(*own) for own in columns], undefined, [sum(own) for own, _ in columns]),
            }
            for average, expected in averages.items():
                value = without_warnings(getattr(fm, name), truth, scores, average=average)
                assert type(value) is float
                np.testing.assert_allclose(value, math.nan if expected is None else float(expected), rtol=1e-15)

    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_sparse_matrices_equal_dense_ones(self, name):
        generator = np.random.default_rng(0)
        truth, scores = (generator.random((50, 4)) < 0.3).astype(int), generator.random((50, 4))
        for average in AVERAGES:
            expected = without_warnings(getattr(fm, name), truth, scores, average=average)
            for kind in ("csr_array", "csc_array", "coo_matrix"):
                sparse = getattr(peer("scipy.sparse"), kind)(truth)
                np.testing.assert_array_equal(
                    without_warnings(getattr(fm, name), sparse, scores, average=average), expected
                )

    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_labels_of_minus_one_and_one(self, name):
        generator = np.random.default_rng(1)
        truth, scores = generator.integers(0, 2, (30, 3)), generator.random((30, 3))
        for average in AVERAGES:
            value = without_warnings(getattr(fm, name), 2 * truth - 1, scores, average=average)
            np.testing.assert_array_equal(value, without_warnings(getattr(fm, name), truth, scores, average=average))

    def test_a_label_without_positive_rows(self):
        truth, scores = np.array([[0, 1], [0, 0], [0, 1]]), np.array([[0.1, 0.2], [0.2, 0.1], [0.3, 0.4]])
        with pytest.warns(fm.UndefinedMetricWarning, match=r"roc_auc_score.*column 0.*no positive row"):
            np.testing.assert_array_equal(fm.roc_auc_score(truth, scores, average=None), [math.nan, 1.0])
        with pytest.warns(fm.UndefinedMetricWarning, match="column 0"):
            assert fm.roc_auc_score(truth, scores, average="weighted") == 1.0
        with pytest.warns(UserWarning, match=r"average_precision_score.*column 0.*no positive row"):
            assert fm.average_precision_score(truth, scores) == 0.5
        assert fm.roc_auc_score(0 * truth, scores, average="weighted") == 0.0
        with pytest.warns(fm.UndefinedMetricWarning, match="for 2 rows, first for row 1: there is no positive row"):
            fm.roc_auc_score([[0, 1], [0, 0], [1, 0], [1, 1]], np.ones((4, 2)), average="samples")


class TestClasses:
    @given(multiclass_cases(), st.booleans(), st.sampled_from(["macro", "weighted", "micro", None]))
    def test_one_against_the_rest(self, case, as_text, average):
        codes, probabilities = case
        labels = NAMES[codes] if as_text else codes
        classes = np.sort(NAMES[: probabilities.shape[1]]) if as_text else np.arange(probabilities.shape[1])
        truth = np.searchsorted(classes, labels)[:, None] == np.arange(probabilities.shape[1])
        expected = without_warnings(fm.roc_auc_score, truth, probabilities, average=average)
        for known in [classes] + [None] * (len(np.unique(codes)) == probabilities.shape[1]):
            options = {"average": average, "multi_class": "ovr", "labels": known}
            value = without_warnings(fm.roc_auc_score, labels, probabilities, **options)
            np.testing.assert_array_equal(value, expected)

    @given(multiclass_cases(), st.sampled_from(["macro", "weighted"]))
    def test_one_against_one(self, case, average):
        codes, probabilities = case
        if len(np.unique(codes)) < 2:
            return
        classes = np.arange(probabilities.shape[1])
        value = fm.roc_auc_score(codes, probabilities, average=average, multi_class="ovo", labels=classes)
        pairs, weights = [], []
        for one, two in itertools.combinations(np.unique(codes).tolist(), 2):
            own = (codes == one) | (codes == two)
            pairs.append(sum(curves.auc((codes[own] == k).astype(int), probabilities[own, k]) for k in (one, two)) / 2)
            weights.append(int(own.sum()))
        expected = curves.mean(pairs, None, weights if average == "weighted" else None)
        assert math.isclose(value, expected, rel_tol=1e-15)
        assert type(value) is np.float64

    @given(multiclass_cases(), st.sampled_from(["ovr", "ovo"]), st.randoms(use_true_random=False))
    def test_the_order_of_rows_and_the_layout_do_not_matter(self, case, multi_class, randomness):
        codes, probabilities = case
        options = {"multi_class": multi_class, "labels": np.arange(probabilities.shape[1])}
        expected = without_warnings(fm.roc_auc_score, codes, probabilities, **options)
        order = list(range(len(codes)))
        randomness.shuffle(order)
        for layout in (np.ascontiguousarray, np.asfortranarray, lambda matrix: np.repeat(matrix, 2, axis=1)[:, ::2]):
            value = without_warnings(fm.roc_auc_score, codes[order], layout(probabilities[order]), **options)
            np.testing.assert_array_equal(value, expected)

    def test_containers(self):
        codes = np.array([0, 1, 2, 1, 0])
        probabilities = np.array([[6, 1, 1], [1, 5, 2], [2, 1, 5], [3, 3, 2], [3, 4, 1]]) / 8
        expected = fm.roc_auc_score(codes, probabilities, multi_class="ovr")
        for wrap in (
            lambda matrix: matrix.tolist(),
            lambda matrix: pandas().DataFrame(matrix),
            lambda matrix: polars().DataFrame(matrix),
        ):
            assert fm.roc_auc_score(codes.tolist(), wrap(probabilities), multi_class="ovr") == expected
        text = np.array(["x", "y", "z"])[codes]
        for labels in (text, text.tolist(), text.astype(object), pandas().Series(text), pandas().Categorical(text)):
            assert fm.roc_auc_score(labels, probabilities, multi_class="ovr") == expected


class TestTwoLabels:
    """For AUC the greater of two labels is positive; for average precision, `pos_label` is."""

    @each_case(
        "pair", [("no", "yes"), (2, 5), (-1, 0), (False, True), (0.0, 1.0), (-1.0, 1.0), (1, 2), ("", "a")]
    )
    @given(strategies.labeled_scores(), st.sampled_from([None, 1.0, "integer"]))
    def test_any_pair(self, pair, case, weights):
        y_true, y_score = case
        if weights is not None:
            weights = np.arange(1.0, len(y_true) + 1) if weights == "integer" else np.ones(len(y_true))
        expected = roc_auc_score(y_true, y_score, sample_weight=weights)
        precision = average_precision_score(y_true, y_score, sample_weight=weights)
        named = np.array(pair)[y_true.astype(int)]
        shapes = [y_score, y_score[:, None]]
        objects = named.astype(object) if named.dtype.kind == "U" else named
        for labels in (named, named.tolist(), objects, named[:, None]):
            for scores in shapes:
                assert roc_auc_score(labels, scores, sample_weight=weights) == expected
                value = average_precision_score(labels, scores, sample_weight=weights, pos_label=pair[1])
                assert value == precision

    def test_one_label_is_undefined(self):
        for labels in (["a", "a"], [7, 7], [True, True]):
            assert_undefined("", fm.roc_auc_score, labels, [0.1, 0.2])

    @pytest.mark.parametrize("labels", [["a", "a"], [0, 0], [5, 5]])
    def test_average_precision_without_positives_is_zero(self, labels):
        with pytest.warns(UserWarning, match="no positive row"):
            assert fm.average_precision_score(labels, [0.1, 0.2]) == 0.0
        with pytest.warns(UserWarning, match="no positive row"):
            assert fm.average_precision_score(labels, [0.1, 0.2], pos_label="b") == 0.0


SCORES = np.array([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.25, 0.25, 0.5], [0.5, 0.5, 0.0]])
INVALID = [
    # arguments, options, message, type of error
    (([0, 1, 2, 1], SCORES), {}, "multi_class must be", ValueError),
    (([0, 1, 2, 1], SCORES), {"multi_class": "ovr", "max_fpr": 0.5}, "max_fpr", ValueError),
    (([0, 1, 2, 1], SCORES[:, 0]), {"multi_class": "ovr"}, "y_score must have a column for each of 3", ValueError),
    (([[0, 1], [1, 0]], 0.5), {}, "y_score must have a column for each of 2 labels; found shape", ValueError),
    (([0, 1, 2, 1], SCORES[:, :2]), {"multi_class": "ovr"}, r"add up to 1.*row 0", ValueError),
    (([0, 1, 2, 1], 2 * SCORES), {"multi_class": "ovo"}, r"add up to 1.*2\.0 at row 0", ValueError),
    (([0, 1, 2, 1], SCORES * [[1], [1], [1], [math.nan]]), {"multi_class": "ovo"}, "NaN at row 3", ValueError),
    (([0, 1, 2, 1], SCORES), {"multi_class": "ovo", "average": "micro"}, "average must be", ValueError),
    (([0, 1, 2, 1], SCORES), {"multi_class": "ovr", "average": "samples"}, "average must be", ValueError),
    (([0, 1, 2, 1], SCORES), {"multi_class": "ovo", "average": None}, "average=None", NotImplementedError),
    (([0, 1, 2, 1], SCORES), {"multi_class": "ovo", "sample_weight": [1, 1, 1, 1]}, "sample_weight", ValueError),
    (([0, 1, 2, 1], SCORES), {"multi_class": "ovr", "labels": [0, 2, 1]}, "labels must be sorted", ValueError),
    (([0, 1, 2, 1], SCORES), {"multi_class": "ovr", "labels": [0, 1, 1, 2]}, "labels must be distinct", ValueError),
    (([0, 1, 2, 1], SCORES), {"multi_class": "ovr", "labels": [0, 1]}, "labels has 2 classes.*3 columns", ValueError),
    (([0, 1, 2, 1], SCORES), {"multi_class": "ovr", "labels": [1, 2, 3]}, "y_true.*0.* at row 0.*among", ValueError),
    (([0, 1, 2, 3], SCORES), {"multi_class": "ovr"}, "a column for each of 4 classes.*found 3", ValueError),
    (([0, 1, 2], SCORES), {"multi_class": "ovr"}, "3 rows but y_score has 4", ValueError),
    (([0, 1, 1, 1], SCORES), {"multi_class": "ovr"}, "a column for each of 2 classes.*found 3", ValueError),
    (([0, 1, 1, 1], SCORES[:, :2]), {}, "y_score must be one column", ValueError),
    ((["a", 1, "b", "a"], SCORES[:, 0]), {}, "y_true", (ValueError, TypeError)),
    (([0.5, 1, 0, 1], SCORES[:, 0]), {}, "continuous", ValueError),
    (([[0, 1], [1, 0], [1, 1], [0, 0]], SCORES), {}, "a column for each of 2 labels", ValueError),
    (([[0, 1], [1, 0], [1, 1], [0, 0]], SCORES[:, 0]), {}, "a column for each of 2 labels", ValueError),
    (([[0, 1], [1, 0], [1, 1]], SCORES[:, :2]), {}, "3 rows but y_score has 4", ValueError),
    (([[0, 2], [2, 0], [2, 2], [0, 0]], SCORES[:, :2]), {}, r"y_true has 2 at row 0", ValueError),
    (([[0, 1], [2, 0], [2, 2], [0, 0]], SCORES[:, :2]), {}, "multiclass-multioutput", ValueError),
    (([[0, 1], [1, 0]], [[0.1, 0.2], [math.nan, 1]]), {}, "NaN at row 1", ValueError),
    (([[0, 1], [1, 0]], [[0.1, 0.2], [math.nan, 1]]), {"average": "micro"}, "NaN at row 1", ValueError),
    (([[0, 1], [1, 0]], [[0.1, 0.2], [math.nan, 1]]), {"average": "samples"}, "NaN at row 1", ValueError),
    (([], []), {}, "empty", ValueError),
]  # fmt: skip


@each_case(("arguments", "options", "message", "kind"), INVALID)
def test_errors(arguments, options, message, kind):
    assert_raises(kind, message, fm.roc_auc_score, *arguments, **options)
    check_parity("roc_auc_score", *arguments, **options)


@each_case(
    ("arguments", "options", "message"),
    [
        (([0, 1, 2, 1], SCORES), {"pos_label": 2}, "pos_label must be 1"),
        (([[0, 1], [1, 0]], SCORES[:2, :2]), {"pos_label": 0}, "pos_label must be 1"),
        (([0, 1, 0, 1], SCORES[:, 0]), {"pos_label": 7}, r"pos_label must be one of.*\[0, 1\].*7"),
        ((["a", "b", "a", "b"], SCORES[:, 0]), {}, r"pos_label must be one of.*'a', 'b'.*1"),
        (([0, 1, 0, 1], SCORES[:, 0]), {"pos_label": None}, "pos_label must be"),
        (([0, 1, 0, 1], SCORES[:, 0]), {"pos_label": [1]}, "pos_label must be"),
        (([0, 1, 2, 1], SCORES[:, :2]), {}, "a column for each of 3 labels"),
        (([0, 1, 0, 1], SCORES[:, :2]), {}, "y_score must be one column"),
        (([0.5, 1, 0, 1], SCORES[:, 0]), {}, "continuous"),
    ],
)
def test_errors_of_average_precision(arguments, options, message):
    assert_raises(ValueError, message, fm.average_precision_score, *arguments, **options)
    check_parity("average_precision_score", *arguments, **options)


@each_case("n_threads", [1, 3])
@each_case("rows", [SERIAL_ROWS - 5, SERIAL_ROWS + 5])
def test_many_rows(rows, n_threads):
    """Short problems run in parallel, long ones with all threads; both give the numbers of single columns."""
    generator = np.random.default_rng(rows)
    scores = np.round(generator.random((rows, 10)), 3)
    truth = (generator.random((rows, 10)) < scores).astype(np.int8)
    for name in FUNCTIONS:
        expected = binary_values(name, truth, scores)
        for matrix in (scores, np.asfortranarray(scores)):
            value = getattr(fm, name)(truth, matrix, average=None, n_threads=n_threads)
            np.testing.assert_array_equal(value, expected)
    codes = generator.integers(0, 3, rows)
    probabilities = scores[:, :3] + 0.1
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    for multi_class in ("ovr", "ovo"):
        value = fm.roc_auc_score(codes, probabilities, multi_class=multi_class, n_threads=n_threads)
        expected = scikit_learn().roc_auc_score(codes, probabilities, multi_class=multi_class)
        assert math.isclose(value, expected, rel_tol=1e-12)


def test_weights_near_the_largest_float():
    truth, scores = np.array([[0, 1], [1, 0], [1, 1], [0, 0]]), SCORES[:, :2]
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    for name in FUNCTIONS:
        for average in ("weighted", "samples", "micro"):
            expected = without_warnings(getattr(fm, name), truth, scores, average=average, sample_weight=weights)
            for exponent in (-900, 990):
                value = without_warnings(
                    getattr(fm, name), truth, scores, average=average, sample_weight=np.ldexp(weights, exponent)
                )
                np.testing.assert_array_equal(value, expected)
