"""Losses of probabilities with any labels, several columns and sets of labels: against scikit-learn and exact sums."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from oracles import probability
from oracles.sums import rounded
from support import strategies
from support.cases import assert_raises, assert_undefined, each_case
from support.peers import check_parity, scikit_learn

LOSSES = ["log_loss", "brier_score_loss", "d2_log_loss_score", "d2_brier_score"]
LOGARITHMIC = ("log_loss", "d2_log_loss_score")





@each_case("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("name", LOSSES)
def test_narrow_types_are_computed_in_float64(name, dtype):
    """scikit-learn computes in the input type, so only its few digits agree. fastmetrics computes in float64."""
    generator = np.random.default_rng(5)
    y_proba = generator.dirichlet([1, 1, 1], 200).astype(dtype)
    y_true = generator.integers(0, 3, 200)
    for arguments in ((y_true, y_proba), (y_true == 1, y_proba[:, 1]), (y_true == 1, y_proba[:, 1:2])):
        check_parity(name, *arguments)
    if name == "brier_score_loss":
        expected = rounded(probability.multiclass_brier(y_true, y_proba.astype(float)))
        assert fm.brier_score_loss(y_true, y_proba) == expected


@each_case("n_threads", [1, 2, 3])
@pytest.mark.parametrize("name", [*LOSSES, "clipped_rows"])
def test_many_rows_of_many_classes(name, n_threads):
    """Several blocks of a matrix, or more classes than a chunk has values: the same bits for any order and threads."""
    for rows, n_classes in ((120_001, 3), (600, 1500)):
        generator = np.random.default_rng(rows)
        y_proba = generator.dirichlet(np.full(n_classes, 0.05), rows)
        codes = np.r_[np.arange(n_classes), generator.integers(0, n_classes, rows)][:rows]
        options = {"labels": np.arange(n_classes)}
        for weights in (None, generator.random(rows)):
            order = generator.permutation(rows)
            function = getattr(fm, name)
            value = function(codes, y_proba, sample_weight=weights, **options)
            reordered_weights = None if weights is None else weights[order]
            assert (
                function(codes[order], y_proba[order], sample_weight=reordered_weights, n_threads=n_threads, **options)
                == value
            )
            assert function(codes, np.asfortranarray(y_proba), sample_weight=weights, **options) == value
            if n_threads == 1 and name != "clipped_rows":
                reference = getattr(scikit_learn(), name)(codes, y_proba, sample_weight=weights, **options)
                assert math.isclose(value, reference, rel_tol=1e-11)


class TestOneLabel:
    """With one label only, the class of the probabilities is unknown: an error in both libraries."""

    @each_case("label", [0, 1, -1, 5, "ham", True])
    @pytest.mark.parametrize("name", [*LOGARITHMIC, "clipped_rows"])
    def test_is_an_error(self, name, label):
        for y_true in ([label] * 3, np.array([label] * 3)):
            assert_raises(
                ValueError, "y_true has one label only", getattr(fm, name), y_true, np.array([0.1, 0.2, 0.3])
            )

    @each_case(
        ("label", "labels"), [(0, [0, 1]), (1, [0, 1]), ("a", ["a", "b"]), (-1, [-1, 1]), (7, [3, 7])]
    )
    def test_is_valid_if_labels_names_the_other(self, label, labels):
        check_parity("log_loss", [label] * 3, [0.1, 0.2, 0.3], labels=labels)
        # The null loss is clipped at 4.4e-16, so D2 is a large negative number with few correct digits.
        check_parity("d2_log_loss_score", [label] * 3, [0.1, 0.2, 0.3], labels=labels, near=(1e-6, 0.0))
        assert fm.d2_log_loss_score([label] * 3, [float(label == labels[1])] * 3, labels=labels) == 0.0

    def test_is_valid_if_only_weights_remove_the_other(self):
        for weights in ([1, 0, 2], [0, 3, 0]):
            check_parity("log_loss", [0, 1, 0], [0.1, 0.2, 0.3], sample_weight=weights)

    @each_case("label", [0, 1, -1, 5, 0.0, True])
    def test_is_valid_for_the_brier_score(self, label):
        check_parity("brier_score_loss", [label] * 3, [0.1, 0.2, 0.3])

    @each_case("labels", [[1], ["a"], [0, 1, 2], [0, 0, 1], [1, 1]])
    def test_labels_without_the_other_class_are_an_error(self, labels):
        assert_raises(ValueError, "labels", fm.log_loss, [labels[0]] * 3, [0.1, 0.2, 0.3], labels=labels)


class TestSkill:
    @given(strategies.labeled_probabilities())
    def test_d2_brier_is_rounded_once(self, case):
        y_true, y_proba = case
        # Squares are products of doubles; everything after them is exact. (`x ** 2` may round otherwise than `x * x`.)
        errors = [p - y for y, p in zip(y_true.tolist(), y_proba.tolist(), strict=True)]
        squares = sum(probability.Fraction(error * error) for error in errors)
        n, positives = len(y_true), int(y_true.sum())
        expected = 1 - squares * n / (positives * (n - positives))
        assert fm.d2_brier_score(y_true, y_proba) == rounded(expected)
        assert fm.d2_brier_score.__wrapped__(y_true, y_proba) == rounded(expected)

    @given(strategies.labeled_probabilities(), st.data())
    def test_against_the_definition(self, case, data):
        y_true, y_proba = case
        y_proba = y_proba.astype(np.float64)
        weights = data.draw(strategies.integer_weights(len(y_true)))
        weights[:2] += 1.0
        columns = [[1.0 - p, p] for p in y_proba.tolist()]
        for case_weights in (None, weights):
            value = fm.d2_log_loss_score(y_true, y_proba, sample_weight=case_weights)
            expected = probability.d2_log_loss(y_true, columns, probability.EPSILON["float64"], case_weights)
            assert math.isclose(value, expected, rel_tol=1e-13, abs_tol=1e-13)
            value = fm.d2_brier_score(y_true, y_proba, sample_weight=case_weights)
            expected = probability.d2_brier(y_true, columns, case_weights)
            assert math.isclose(value, expected, rel_tol=1e-13, abs_tol=1e-13)

    @given(strategies.labeled_probabilities())
    def test_d2_log_loss_is_one_minus_normalized_entropy(self, case):
        y_true, y_proba = case
        value = fm.d2_log_loss_score(y_true, y_proba)
        assert math.isclose(value, 1 - fm.normalized_entropy(y_true, y_proba), rel_tol=1e-14, abs_tol=1e-15)

    @pytest.mark.parametrize("name", ["d2_log_loss_score", "d2_brier_score"])
    def test_of_less_than_two_rows_is_undefined(self, name):
        for arguments in (([1], [0.5]), ([], []), ([[1]], [[0.5]])):
            assert_undefined("fewer than two rows", getattr(fm, name), *arguments)
        assert_raises(ValueError, "y_true has 1 rows but y_proba has 2", getattr(fm, name), [1], [0.1, 0.2])

    def test_of_one_class_is_undefined(self):
        """scikit-learn has the same values, with a warning of NumPy."""
        arguments = [1, 1], [0.5, 0.5]
        for weights in (None, [1, 2]):
            with pytest.warns(fm.UndefinedMetricWarning, match="one class"):
                assert fm.d2_brier_score(*arguments, sample_weight=weights) == -math.inf
            assert_undefined("one class", fm.d2_brier_score, [0, 0], [0.0, 0.0], sample_weight=weights)
        with pytest.warns(fm.UndefinedMetricWarning, match="one class"):
            assert fm.d2_brier_score(np.array([1, 1]), np.array([0.5, 0.5])) == -math.inf
        with pytest.warns(RuntimeWarning):
            assert scikit_learn().d2_brier_score(*arguments) == -math.inf


class TestWarnings:
    def test_labels_out_of_order(self):
        for name in LOGARITHMIC:
            with pytest.warns(UserWarning, match="labels .* are not sorted") as caught:
                value = getattr(fm, name)([1, 0, 1], [0.9, 0.1, 0.8], labels=[1, 0])
            assert [one.filename for one in caught] == [__file__]
            assert value == getattr(fm, name)([1, 0, 1], [0.9, 0.1, 0.8], labels=[0, 1])

    @pytest.mark.parametrize("name", LOSSES)
    def test_rows_that_do_not_sum_to_one(self, name):
        y_proba = np.full((200_000, 2), 0.5)
        y_proba[[70_000, 199_999], 0] = 0.75
        y_true = np.arange(200_000) % 2
        for n_threads in (1, 3):
            with pytest.warns(UserWarning, match=r"y_proba sums to 1\.25 at row 70000") as caught:
                getattr(fm, name)(y_true, y_proba, n_threads=n_threads)
            assert [one.filename for one in caught] == [__file__]

    @each_case("dtype", ["float64", "float32", "float16"])
    @pytest.mark.parametrize("name", LOSSES)
    def test_tolerance_of_row_sums_depends_on_the_type(self, name, dtype):
        """It is the square root of the type's epsilon, as in scikit-learn. One column never warns."""
        for fraction in (0.5, 0.9, 1.1, 2.0):
            y_proba = np.full((2, 2), 0.5, dtype)
            y_proba[0, 0] += fraction * probability.EPSILON[dtype] ** 0.5
            check_parity(name, [0, 1], y_proba)
        getattr(fm, name)([0, 1], y_proba[:, 0])


class TestErrors:
    PROBA = (0.1, 0.9, 0.8, 0.3)

    @each_case(
        ("y_true", "options", "message"),
        [
            (["a", "b", "c", "a"], {}, "3 classes"),
            ([0, 1, 2, 0], {}, "3 classes"),
            ([0, 1.5, 1.5, 0], {}, "classes: integers"),
            ([0, 1.5, 0.25, 0], {}, "fractions"),
            ([0, 1, math.nan, 0], {}, "y_true has NaN at row 2"),
            ([0, 1, math.inf, 0], {}, "y_true has inf at row 2"),
            (["a", 1, "a", 1], {}, "y_true has 1 at row 1 beside text"),
            (np.array(["a", None, "b", "a"], object), {}, "y_true has None at row 1 beside text"),
            ([b"a", b"b", b"a", b"b"], {}, "bytes"),
            ([0, 1, 2, 0], {"labels": [0, 1]}, "y_true has .*2.* at row 2, which is not among labels"),
            (["a", "b", "b", "a"], {"labels": [0, 1]}, "not among labels"),
            ([0, 1, 1, 0], {"labels": ["a", "b"]}, "not among labels"),
            ([0, 1, 1, 0], {"labels": [0, 1, 2]}, "labels has 3 classes"),
            ([0, 1, 1, 0], {"labels": 3}, "labels"),
            ([0, 1, 1, 0], {"labels": "01"}, "labels"),
            ([0, 1, 1, 0], {"normalize": 1}, "normalize"),
            ([0, 1, 1, 0], {"sample_weight": [0, 0, 0, 0]}, "sample_weight is zero at every row"),
            ([0, 1, 1, 0], {"sample_weight": [1, 1]}, "sample_weight has 2"),
            ([0, 1, 1, 0], {"sample_weight": 2.0}, "sample_weight"),
            ([0, 1, 1, 0], {"sample_weight": [[1], [1], [1], [1]]}, "sample_weight"),
            ([0, 1, 1], {}, "y_true has 3 rows but y_proba has 4"),
            ([[0, 1, 1, 0]], {}, "y_true has 1 rows"),
            ([[1, 0, 1], [0, 1, 0], [1, 1, 1], [0, 0, 0]], {}, "y_true has 3"),
            ([[1, 0], [0, 2], [1, 1], [0, 0]], {}, "multiclass-multioutput"),
            ([[1, 0], [0, 1], [1, 1], [0, 0]], {"labels": [0, 1]}, "labels must not be given"),
            ("abab", {}, "y_true"),
            (1, {}, "y_true"),
        ],
        ids=str,
    )
    def test_of_log_loss(self, y_true, options, message):
        assert_raises((ValueError, TypeError), message, fm.log_loss, y_true, self.PROBA, **options)
        check_parity("log_loss", y_true, self.PROBA, **options)

    def test_of_a_matrix_of_other_numbers(self):
        """scikit-learn reads a matrix of 1 and 2 as sets of labels and multiplies by 2. Here it is an error."""
        for name in LOSSES:
            assert_raises(
                ValueError, "other values than 0 and 1", getattr(fm, name), [[1, 2], [2, 1]], [[0.1, 0.9], [0.5, 0.5]]
            )

    @each_case(
        ("y_true", "options", "message"),
        [
            (["a", "b", "b", "a"], {}, "pos_label is not given"),
            ([0, 1, 2, 0], {}, "3 labels"),
            ([0, 1, 2, 0], {"pos_label": 1}, "3 labels"),
            (["a", "b", "c", "a"], {"pos_label": "a"}, "3 labels"),
            ([0, 1.5, 1.5, 0], {}, "classes: integers"),
            ([0, 1.5, 1.5, 0], {"pos_label": 1.5}, "classes: integers"),
            ([0, 1, 1, 0], {"pos_label": [1]}, "pos_label"),
            ([0, 1, 1, 0], {"scale_by_half": 1}, "scale_by_half"),
            ([0, 1, 1, 0], {"scale_by_half": "half"}, "scale_by_half"),
            ([0, 1, 1, 0], {"labels": 3}, "labels"),
            ([0, 1, 1, 0], {"sample_weight": [0, 0, 0, 0]}, "sample_weight is zero at every row"),
            ([[1, 0], [0, 1], [1, 1], [0, 0]], {}, "y_true"),
        ],
        ids=str,
    )
    def test_of_brier_score_loss(self, y_true, options, message):
        assert_raises((ValueError, TypeError), message, fm.brier_score_loss, y_true, self.PROBA, **options)
        check_parity("brier_score_loss", y_true, self.PROBA, **options)

    @pytest.mark.parametrize("name", LOSSES)
    @each_case(
        ("y_proba", "message"),
        [
            ([[0.5, 0.5], [0.5, 1.5]], "y_proba has 1.5 at row 1"),
            ([[0.5, 0.5], [math.nan, 0.5]], "y_proba has NaN at row 1"),
            ([[-0.5, 0.5], [math.nan, 0.5]], "y_proba has -0.5 at row 0"),
            ([[0.5, 0.5], [0.5, -1e-300]], "y_proba has -1e-300 at row 1"),
            ([[0.2, 0.3, 0.5], [0.2, 0.3, 0.5]], "3 columns"),
            (np.full((2, 2, 2), 0.5), "one or two dimensions"),
            (np.zeros((2, 0)), "empty"),
            ([[0.5, 0.5]], "y_true has 2 rows but y_proba has 1"),
            ([[0.5, 0.5], [0.5]], "y_proba"),
            (0.5, "y_proba"),
            (None, "y_proba"),
            ("01", "y_proba"),
        ],
        ids=str,
    )
    def test_of_probabilities(self, name, y_proba, message):
        assert_raises(ValueError, message, getattr(fm, name), [0, 1], y_proba)

    @each_case("pos_label", [3, "a", np.nan, 0.5])
    def test_an_absent_pos_label_makes_all_rows_negative(self, pos_label):
        check_parity("brier_score_loss", [0, 1, 1, 0], self.PROBA, pos_label=pos_label)
        check_parity("brier_score_loss", ["b", "c", "b", "c"], self.PROBA, pos_label=pos_label)

    def test_the_first_bad_row_of_a_matrix_is_named_with_any_threads(self):
        y_proba = np.full((500_000, 2), 0.5)
        y_proba[[140_000, 400_000], 1] = 1.5
        for name in LOSSES:
            for n_threads in (1, 3):
                with pytest.raises(ValueError, match=r"y_proba has 1\.5 at row 140000:"):
                    getattr(fm, name)(np.arange(500_000) % 2, y_proba, n_threads=n_threads)
