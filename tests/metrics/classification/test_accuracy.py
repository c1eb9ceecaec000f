"""Accuracy, balanced accuracy, MCC, kappa, top-k accuracy: equal to the definitions, to 1e-12 to scikit-learn."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics.metrics.classification import label_counts as counting
from oracles import classification as oracle
from support import label_containers
from support.cases import assert_raises, each_case
from support.peers import check_parity, peer, scikit_learn

SHARES = ["accuracy_score", "zero_one_loss", "hamming_loss"]
POWERS = {None: 0, "linear": 1, "quadratic": 2}



def recorded(function, *arguments, **options):
    """The result of a call and the categories of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*arguments, **options)
    return result, {warning.category.__name__ for warning in caught}


def as_list(weights):
    return None if weights is None else weights.tolist()





class TestAgainstTheDefinitions:
    @given(label_containers.pairs(), st.data())
    def test_accuracy_and_losses(self, case, data):
        first, second, true, pred = case
        weights = data.draw(label_containers.weights(len(true)))
        accuracy = oracle.accuracy(true.tolist(), pred.tolist(), as_list(weights))
        total = len(true) if weights is None else sum(map(Fraction, weights.tolist()))
        assert fm.accuracy_score(first, second, sample_weight=weights) == float(accuracy)
        assert fm.zero_one_loss(first, second, sample_weight=weights) == float(1 - accuracy)
        assert fm.hamming_loss(first, second, sample_weight=weights) == float(1 - accuracy)
        assert fm.accuracy_score(first, second, sample_weight=weights, normalize=False) == float(accuracy * total)
        assert fm.zero_one_loss(first, second, sample_weight=weights, normalize=False) == float((1 - accuracy) * total)

    @given(label_containers.pairs(), st.data())
    def test_balanced_accuracy(self, case, data):
        first, second, true, pred = case
        weights = data.draw(label_containers.weights(len(true)))
        recalls = oracle.recalls(true.tolist(), pred.tolist(), as_list(weights))
        expected = math.fsum(map(float, recalls)) / len(recalls)
        found, _ = recorded(fm.balanced_accuracy_score, first, second, sample_weight=weights)
        assert found == expected
        assert math.isclose(found, sum(recalls) / len(recalls), rel_tol=1e-15)
        adjusted, kinds = recorded(fm.balanced_accuracy_score, first, second, sample_weight=weights, adjusted=True)
        if len(recalls) == 1:
            assert math.isnan(adjusted)
            assert "UndefinedMetricWarning" in kinds
        else:
            chance = Fraction(1, len(recalls))
            exact = (sum(recalls) / len(recalls) - chance) / (1 - chance)
            assert math.isclose(adjusted, exact, rel_tol=1e-13, abs_tol=1e-15)

    @given(label_containers.pairs(), st.data())
    def test_matthews(self, case, data):
        first, second, true, pred = case
        weights = data.draw(label_containers.weights(len(true)))
        found, _ = recorded(fm.matthews_corrcoef, first, second, sample_weight=weights)
        assert found == oracle.matthews(true.tolist(), pred.tolist(), as_list(weights))

    @given(label_containers.pairs(), st.sampled_from([None, "linear", "quadratic"]), st.booleans(), st.data())
    def test_kappa(self, case, costs, has_labels, data):
        first, second, true, pred = case
        weights = data.draw(label_containers.weights(len(true)))
        labels = None
        if has_labels:
            unknown = "nowhere" if isinstance(true.tolist()[0], str) else 99
            kept = data.draw(st.permutations(sorted({*true.tolist(), *pred.tolist(), unknown})))
            labels = [*kept[: data.draw(st.integers(0, len(kept)))]]
            labels += [] if set(labels) & set(true.tolist()) else [true.tolist()[0]]
        options = {"labels": labels, "weights": costs, "sample_weight": weights}
        expected = oracle.kappa(true.tolist(), pred.tolist(), labels, POWERS[costs], as_list(weights))
        found, kinds = recorded(fm.cohen_kappa_score, first, second, replace_undefined_by=-0.5, **options)
        assert found == (-0.5 if expected is None else float(expected))
        assert ("UndefinedMetricWarning" in kinds) == (expected is None)

    @given(st.data())
    def test_indicators(self, data):
        rows, columns = data.draw(st.integers(1, 8)), data.draw(st.integers(2, 5))
        row = st.lists(st.integers(0, 1), min_size=columns, max_size=columns)
        true, pred = (np.array(data.draw(st.lists(row, min_size=rows, max_size=rows))) for _ in range(2))
        weights = data.draw(label_containers.weights(rows))
        expected = float(oracle.hamming(true.tolist(), pred.tolist(), as_list(weights)))
        assert fm.hamming_loss(true, pred, sample_weight=weights) == expected

    @given(st.integers(2, 6), st.integers(1, 7), st.data())
    def test_top_k(self, n_classes, k, data):
        n_classes = max(n_classes, 3)
        rows = data.draw(st.integers(n_classes, 20))
        labels = [*range(n_classes), *data.draw(st.lists(st.integers(0, n_classes - 1), min_size=rows - n_classes))]
        score = st.sampled_from([0.0, -0.0, 1.0, 0.5, -3.0, 1e300, 5e-324])
        row = st.lists(score, min_size=n_classes, max_size=n_classes)
        scores = data.draw(st.lists(row, min_size=len(labels), max_size=len(labels)))
        weights = data.draw(label_containers.weights(len(labels)))
        counted = [Fraction(1)] * len(labels) if weights is None else list(map(Fraction, weights.tolist()))
        hits = sum(w for w, s, c in zip(counted, scores, labels, strict=True) if oracle.in_top(s, c, k))
        options = {"k": k, "sample_weight": weights}
        assert recorded(fm.top_k_accuracy_score, labels, scores, **options)[0] == float(hits / sum(counted))
        assert recorded(fm.top_k_accuracy_score, labels, scores, normalize=False, **options)[0] == float(hits)


class TestLikeScikitLearn:

    def test_indicators_are_compared_by_value(self):
        """[1, 2] and [2, 1] have the same labels but are different rows, as in scikit-learn."""
        for name in SHARES:
            check_parity(name, [[1, 2], [1, 1]], [[2, 1], [1, 1]])
            check_parity(name, [[0, 2], [2, 0]], [[0, 1], [1, 0]])

    def test_one_label(self):
        for name in ("balanced_accuracy_score", "matthews_corrcoef", "cohen_kappa_score"):
            check_parity(name, [2, 2], [2, 2])
            check_parity(name, ["a"], ["a"], sample_weight=[0.5])
        check_parity("cohen_kappa_score", [1, 1, 2], [2, 2, 2], labels=[1])
        for value in (0, 0.0, -1, 1.0, math.nan):
            check_parity("cohen_kappa_score", [1, 1], [1, 1], replace_undefined_by=value)

    def test_classes_missing_in_y_true(self):
        check_parity("balanced_accuracy_score", [1, 2, 2], [1, 3, 2])
        check_parity("balanced_accuracy_score", [1, 2, 2], [1, 3, 2], adjusted=True)
        check_parity("balanced_accuracy_score", [1, 2, 2], [1, 1, 2], sample_weight=[0, 1, 1])


class TestExact:

    def test_products_beyond_64_bits(self):
        """Squares of counts in MCC exceed int64 at four billion rows, and the precision of a double at far fewer."""
        rows = 3_000_001
        true = np.zeros(rows, np.int8)
        pred = np.zeros(rows, np.int8)
        true[:3] = pred[1:4] = 1
        found = fm.matthews_corrcoef(true, pred)
        correct, total = rows - 2, rows
        covariance = correct * total - (rows - 3) ** 2 - 9
        assert found == covariance / (total**2 - (rows - 3) ** 2 - 9)

    def test_kappa_of_distances_beyond_64_bits(self):
        """A squared distance of labels times rows squared."""
        true, pred = np.random.default_rng(0).integers(0, 3000, (2, 6000))
        theirs = scikit_learn().cohen_kappa_score(true, pred, weights="quadratic")
        assert math.isclose(fm.cohen_kappa_score(true, pred, weights="quadratic"), theirs, rel_tol=1e-9, abs_tol=1e-12)
        weighted = fm.cohen_kappa_score(true, pred, weights="quadratic", sample_weight=np.full(6000, 0.125))
        assert weighted == fm.cohen_kappa_score(true, pred, weights="quadratic")

    def test_weights_of_every_size(self):
        weights = np.array([1e300, 1.0, 1e-300, 2.0**-1074])
        assert fm.accuracy_score([0, 1, 1, 0], [1, 1, 1, 0], sample_weight=weights, normalize=False) == 1.0
        assert fm.accuracy_score([0, 0, 1, 1], [1, 1, 1, 0], sample_weight=weights, normalize=False) == 1e-300
        assert fm.accuracy_score([0, 0, 0, 1], [1, 1, 1, 1], sample_weight=weights, normalize=False) == 2.0**-1074

    @each_case("rows", [1, 3, 65_535, 65_536, 65_537, 300_000])
    def test_text_of_two_widths(self, rows):
        codes, others = np.random.default_rng(rows).integers(0, len(label_containers.WORDS), (2, rows))
        true, pred = label_containers.words(codes), label_containers.words(others)
        expected = float(np.mean(codes == others))
        for first, second in ((true, pred), (true.astype("U40"), pred), (true, pred.astype(object))):
            assert fm.accuracy_score(first, second) == expected
        assert fm.accuracy_score(pa.array(true), pred) == expected


class TestErrors:
    @pytest.mark.parametrize("name", [*SHARES, "balanced_accuracy_score", "matthews_corrcoef", "cohen_kappa_score"])
    @each_case(
        ("true", "pred", "message"),
        [
            ([], [], "is empty"),
            ([0, 1], [0], "y_true has 2 rows but y_pred has 1"),
            ([0.5, 1], [0, 1], "continuous"),
            ([0, 1], [0, math.nan], "y_pred has NaN at row 1"),
            (["a"], [1], "all be numbers or all be text"),
            ([[1, 2], [3, 4]], [[1, 2], [3, 4]], "multiclass-multioutput"),
            ([[1, 0]], [1], "of one kind"),
        ],
    )
    def test_invalid_columns(self, name, true, pred, message):
        if name == "cohen_kappa_score":
            message = message.replace("y_true", "y1").replace("y_pred", "y2")
        assert_raises(ValueError, message, getattr(fm, name), true, pred)
        check_parity(name, true, pred)

    @pytest.mark.parametrize("name", [*SHARES, "balanced_accuracy_score", "cohen_kappa_score", "confusion_matrix"])
    def test_a_fraction_late_in_a_long_column(self, name, monkeypatch):
        monkeypatch.setattr(counting, "CHUNK_ROWS", 10_000)
        whole = np.zeros(70_000)
        for place in (1, 9_999, 65_000, 69_999):
            for value, message in ((0.5, "continuous"), (math.nan, f"has NaN at row {place}"), (1e30, "continuous")):
                column = whole.copy()
                column[place] = value
                for pair in ((column, whole), (whole, column), (column, column)):
                    assert_raises(ValueError, message, getattr(fm, name), *pair)

    @pytest.mark.parametrize("name", ["balanced_accuracy_score", "matthews_corrcoef", "cohen_kappa_score"])
    def test_indicators_for_metrics_of_one_label_per_row(self, name):
        for indicators in ([[1, 0], [0, 1]], peer("scipy.sparse").csr_matrix([[1, 0], [0, 1]])):
            assert_raises(ValueError, "must have one label per row", getattr(fm, name), indicators, indicators)

    @pytest.mark.parametrize(
        ("name", "options", "message"),
        [
            ("accuracy_score", {"normalize": 1}, "normalize must be True or False"),
            ("zero_one_loss", {"normalize": "x"}, "normalize must be True or False"),
            ("balanced_accuracy_score", {"adjusted": None}, "adjusted must be True or False"),
            ("cohen_kappa_score", {"weights": "cubic"}, "weights must be one of 'linear', 'quadratic'"),
            ("cohen_kappa_score", {"replace_undefined_by": 2}, "replace_undefined_by must be a number"),
            ("cohen_kappa_score", {"replace_undefined_by": "x"}, "replace_undefined_by must be a number"),
            ("cohen_kappa_score", {"labels": [7]}, "labels must contain a label that occurs in y_true"),
            ("cohen_kappa_score", {"labels": []}, "labels is empty"),
            ("hamming_loss", {"sample_weight": [1, -1]}, "sample_weight has -1.0 at row 1"),
            ("matthews_corrcoef", {"sample_weight": [0, 0]}, "zero at every row"),
        ],
    )
    def test_bad_options(self, name, options, message):
        assert_raises(ValueError, message, getattr(fm, name), [0, 1], [1, 1], **options)

    @each_case(
        ("true", "score", "options", "error", "message"),
        [
            ([], [], {}, ValueError, "y_true is empty"),
            ([0, 1, 2], [[1, 2, 3]] * 2, {}, ValueError, "y_true has 3 rows but y_score has 2"),
            ([0, 1, 2], [[1, 2, math.nan]] * 3, {}, ValueError, "y_score has NaN at row 0"),
            ([0, 1, 2], [[1, 2, 3], [1, math.inf, 3], [1, 2, 3]], {}, ValueError, "y_score has inf at row 1"),
            ([0, 1], [0.5, math.nan], {"k": 1}, ValueError, "y_score has NaN at row 1"),
            ([0, 1, 2], [1, 2, 3], {}, ValueError, "y_score must have a column per class"),
            ([0, 1, 1], [[1, 2]] * 3, {}, ValueError, "y_score has 2 columns but y_true has 2 classes"),
            ([0, 1, 2], [[1, 2, 3, 4]] * 3, {}, ValueError, "y_true has 3 classes but y_score is for 4"),
            ([1, 1], [1, 2], {}, ValueError, "y_true has 1 classes but y_score is for 2"),
            ([0, 1, 2], [[1, 2, 3]] * 3, {"labels": [0, 1, 3]}, ValueError, "y_true has 2 at row 2"),
            ([0, 1, 2], [[1, 2, 3]] * 3, {"labels": [0, 1, 1]}, ValueError, "labels must be sorted and unique"),
            ([0, 1, 2], [[1, 2, 3]] * 3, {"labels": [2, 1, 0]}, ValueError, "labels must be sorted and unique"),
            ([0, 1, 2], [[1, 2, 3]] * 3, {"labels": [0, 1, 2, 3]}, ValueError, "labels has 4 classes"),
            ([0, 1, 2], [[1, 2, 3]] * 3, {"k": 0}, ValueError, "k must be an integer of at least 1"),
            ([0, 1, 2], [[1, 2, 3]] * 3, {"k": 1.0}, TypeError, "k must be an integer of at least 1"),
            ([0, 1, 2], [[1, 2, 3]] * 3, {"sample_weight": [1]}, ValueError, "sample_weight has 1"),
            ([0, 1, 2], [[1, 2, 3]] * 3, {"sample_weight": [0, 0, 0]}, ValueError, "zero at every row"),
            ([0, 1, 2], [[1, 2, 3]] * 3, {"normalize": 2}, ValueError, "normalize must be True or False"),
            ([0.5, 1], [0, 1], {}, ValueError, "continuous"),
            ([[1, 0]], [[1, 2]], {}, ValueError, "multilabel-indicator"),
            ([0, 1, 2], "abc", {}, ValueError, "y_score must be an array"),
        ],
    )  # fmt: skip
    def test_top_k(self, true, score, options, error, message):
        assert_raises(error, message, recorded, fm.top_k_accuracy_score, true, score, **options)
        check_parity("top_k_accuracy_score", true, score, **options)
