"""Label ranking measures against their definitions, for all sizes, ties, orders and numbers of threads."""

import math
import warnings
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core.columns.row_blocks import BLOCK_ROWS
from fastmetrics._kernels.ranking import label_ranking as kernel
from oracles.ranking import label_ranking as oracle
from support.cases import assert_raises, each_case

MEASURES = {
    "label_ranking_average_precision_score": oracle.average_precision,
    "label_ranking_loss": oracle.ranking_loss,
    "coverage_error": oracle.coverage,
}
NAMES = list(MEASURES)


def expected(name, labels, scores, weights=None):
    rows = list(zip(np.asarray(labels).tolist(), np.asarray(scores).tolist(), strict=True))
    value = oracle.mean(MEASURES[name], rows, None if weights is None else np.asarray(weights).tolist())
    return math.nan if value is None else float(value)


def near(value, reference):
    """The value of a row is rounded twice and each of its ratios once; the sum over rows is exact."""
    return math.isclose(value, reference, rel_tol=4e-16, abs_tol=4e-16)


@st.composite
def rows_of_labels(draw, sizes=(1, 2, 3, 5, 15), widths=(2, 3, 5, 9, 31, 63, 64, 65, 66)):
    """(labels, scores): ties, infinities and -0.0; rows where all labels are relevant, or none."""
    rows, n_labels = draw(st.sampled_from(sizes)), draw(st.sampled_from(widths))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    density = draw(st.sampled_from([0.0, 0.1, 0.5, 0.9, 0.97, 1.0]))
    kind = draw(st.sampled_from(["uint8", "int64", "bool", "float64"]))
    labels = (rng.random((rows, n_labels)) < density).astype(kind)
    levels = draw(st.sampled_from([1, 2, 10, 10**6]))
    scores = rng.integers(-levels, levels + 1, (rows, n_labels)) / levels
    if draw(st.integers(0, 3)) == 0:
        scores[rng.random((rows, n_labels)) < 0.2] = np.inf
        scores[rng.random((rows, n_labels)) < 0.2] = -np.inf
    scores[rng.random((rows, n_labels)) < 0.1] = -0.0
    return labels, scores.astype(draw(st.sampled_from(["float64", "float32"])))


@pytest.mark.parametrize("name", NAMES)
@given(rows_of_labels())
def test_the_definition(name, case):
    labels, scores = case
    own = partial(getattr(fm, name), allow_infinite=True)
    value = own(labels, scores)
    assert near(value, expected(name, labels, scores))
    # Lists, and labels that are not 0 and 1, take the general path, which has the same bits.
    assert own(labels.tolist(), scores.tolist()) == value
    assert own(labels.astype(np.int8) * 3, scores, n_threads=2) == value


@pytest.mark.parametrize("name", NAMES)
@given(rows_of_labels(widths=(2, 7, 65)), st.data())
def test_weights(name, case, data):
    labels, scores = case
    rows = len(labels)
    weights = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0, 0.1]), min_size=rows, max_size=rows)))
    weights[0] = 0.3
    own = partial(getattr(fm, name), allow_infinite=True)
    value = own(labels, scores, sample_weight=weights)
    assert math.isclose(value, expected(name, labels, scores, weights), rel_tol=1e-15, abs_tol=4e-16)
    # A row of weight zero is absent, and a weight repeats a row, but for the rounding of weight times value.
    kept = weights > 0
    assert own(labels[kept], scores[kept], sample_weight=weights[kept]) == value
    times = data.draw(st.lists(st.integers(0, 3), min_size=rows, max_size=rows))
    times[0] = 1
    repeated = np.repeat(labels, times, axis=0), np.repeat(scores, times, axis=0)
    assert near(own(*repeated), own(labels, scores, sample_weight=times))


LONG = [kernel.MOST_COMPARED_LABELS - 1, kernel.MOST_COMPARED_LABELS, kernel.MOST_COMPARED_LABELS + 1, 200, 299]


@pytest.mark.parametrize("name", NAMES)
@each_case("n_relevant", [1, 2, *LONG])
@each_case("dtype", ["float64", "float32"])
@each_case("levels", [1, 3, 2**20])
def test_long_rows(name, n_relevant, dtype, levels):
    """With more relevant labels than the limit, scores are sorted instead of compared."""
    rng = np.random.default_rng(n_relevant)
    labels = np.zeros((3, 300), np.uint8)
    for row in labels:
        row[rng.permutation(300)[:n_relevant]] = 1
    scores = rng.integers(-levels, levels, labels.shape).astype(dtype)
    scores[1, ::7] = np.inf
    scores[2, ::3] = -0.0
    assert near(getattr(fm, name)(labels, scores, allow_infinite=True), expected(name, labels, scores))


def test_sum_of_many_ratios():
    rng = np.random.default_rng(0)
    labels, scores = (rng.random((1, 6000)) < 0.6).astype(np.int8), rng.random((1, 6000))
    reference = oracle.average_precision(labels[0].tolist(), scores[0].tolist())
    value = fm.label_ranking_average_precision_score(labels, scores)
    assert abs(Fraction(value) - reference) < Fraction(1, 2**52)


@pytest.fixture(scope="module")
def many_rows():
    """Several blocks; the last one is not full."""
    rng = np.random.default_rng(5)
    rows = 3 * BLOCK_ROWS // 7 + 5
    return (rng.random((rows, 7)) < 0.4).astype(np.int64), np.round(rng.normal(size=(rows, 7)), 1), rng.random(rows)


@pytest.mark.parametrize("name", NAMES)
class TestManyRows:
    def test_any_order_and_any_threads(self, name, many_rows):
        labels, scores, weights = many_rows
        own = partial(getattr(fm, name), allow_infinite=True)
        for weight in (None, weights):
            value = own(labels, scores, sample_weight=weight, n_threads=1)
            order = np.random.default_rng(1).permutation(len(labels))
            by_label = np.random.default_rng(2).permutation(7)
            moved = None if weight is None else weight[order]
            for n_threads in (None, 2, 5):
                assert own(labels[order], scores[order], sample_weight=moved, n_threads=n_threads) == value
            assert own(labels[:, by_label], scores[:, by_label], sample_weight=weight) == value

    def test_every_row_counts(self, name, many_rows):
        """Rows of the last block and at the edge of two blocks have the right value."""
        labels, scores, _ = many_rows
        for row in (BLOCK_ROWS // 7 - 1, BLOCK_ROWS // 7, len(labels) - 1):
            alone = np.zeros(len(labels))
            alone[row] = 0.25
            value = getattr(fm, name)(labels, scores, sample_weight=alone)
            assert near(value, expected(name, labels[row : row + 1], scores[row : row + 1]))

    def test_one_label_that_is_not_0_or_1(self, name, many_rows):
        labels, scores, _ = many_rows
        moved = labels.copy()
        moved[-3, 2] = 2
        assert_raises(ValueError, "y_true must have a column for each label", getattr(fm, name), moved, scores)
        moved = labels * -1
        assert getattr(fm, name)(moved, scores) == getattr(fm, name)(labels, scores)

    def test_a_score_that_is_nan(self, name, many_rows):
        labels, scores, _ = many_rows
        for row in (0, len(labels) - 2):
            moved = scores.copy()
            moved[row, 6] = np.nan
            assert_raises(ValueError, f"y_score has NaN at row {row}", getattr(fm, name), labels, moved)
            with pytest.raises(ValueError, match="y_score has NaN at row 1"):
                getattr(fm, name)(labels[:2], np.stack([scores[0], np.full(7, np.nan)]))


@pytest.mark.parametrize("name", NAMES)
class TestEdges:
    def test_no_row_weighs_anything(self, name):
        with pytest.warns(fm.UndefinedMetricWarning, match=f"{name} is undefined: no row weighs anything") as caught:
            value = getattr(fm, name)([[0, 1], [1, 0]], [[0.1, 0.2], [0.3, 0.4]], sample_weight=[0, 0])
        assert math.isnan(value)
        assert caught[0].filename == __file__

    def test_arrow_tables(self, name):
        pa = pytest.importorskip("pyarrow")
        labels, scores = [[0, 1, 1], [1, 0, 0]], [[0.3, 0.1, 0.2], [0.5, 0.1, 0.9]]
        value = getattr(fm, name)(labels, scores)
        tables = [pa.table(dict(zip("abc", np.array(rows).T, strict=True))) for rows in (labels, scores)]
        assert getattr(fm, name)(*tables) == value
        assert getattr(fm, name)(tables[0].to_batches()[0], tables[1]) == value
        holes = pa.table({"a": [0.1, None], "b": [0.5, 0.5], "c": [0.1, 0.2]})
        assert_raises(ValueError, "y_score has a null at row 1", getattr(fm, name), tables[0], holes)

    def test_threads_that_are_none(self, name):
        for wrong in (0, -2, 1.5, True, "two"):
            assert_raises(ValueError, "n_threads", getattr(fm, name), [[0, 1]], [[0.1, 0.2]], n_threads=wrong)

    def test_the_fast_path_for_small_input_equals_the_general_path(self, name):
        """The result is the same for every memory layout."""
        rng = np.random.default_rng(3)
        labels, scores = (rng.random((6, 5)) < 0.5).astype(np.int64), rng.random((6, 5))
        own = getattr(fm, name)
        value = own.__wrapped__(labels, scores)
        assert own(labels, scores) == value
        for layout in (np.asfortranarray, lambda v: v[::-1][::-1], lambda v: v.astype(v.dtype.newbyteorder())):
            assert own(layout(labels), layout(scores)) == value
        assert own(labels[::-1], scores[::-1]) == value
        assert own(labels[:, ::-1], scores[:, ::-1]) == value
        for wrong in (scores[:5], scores[:, :4], scores[0]):
            assert_raises(ValueError, "y_score", own, labels, wrong)


def test_the_fast_path_for_small_input_is_taken():
    labels, scores = np.array([[0, 1], [1, 0]]), np.array([[0.5, 0.2], [0.9, 0.1]])
    assert kernel.mean_of_short(labels, scores, kernel.COVERAGE) == 1.5
    for unusual in (labels * 2, labels[:, :1], labels.tolist(), labels[0], labels.astype(np.float16)):
        assert kernel.mean_of_short(unusual, scores, kernel.COVERAGE) is None
    assert kernel.mean_of_short(labels, scores.astype(np.int64), kernel.COVERAGE) is None
    assert kernel.mean_of_short(np.zeros((2, 0)), np.zeros((2, 0)), kernel.COVERAGE) is None


def test_the_worst_rank_of_a_tie():
    """One relevant label, tied with two others: rank 3, precision 1/3, both pairs lost."""
    labels, scores = [[1, 0, 0, 0]], [[0.5, 0.5, 0.5, 0.1]]
    assert fm.label_ranking_average_precision_score(labels, scores) == 1 / 3
    assert fm.label_ranking_loss(labels, scores) == 2 / 3
    assert fm.coverage_error(labels, scores) == 3.0


def test_rows_without_a_pair_to_rank_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels, scores = [[0, 0], [1, 1]], [[0.5, 0.1], [0.5, 0.1]]
        assert fm.label_ranking_average_precision_score(labels, scores) == 1.0
        assert fm.label_ranking_loss(labels, scores) == 0.0
        assert fm.coverage_error(labels, scores) == 1.0
        assert fm.label_ranking_average_precision_score([[0], [1]], [[0.5], [0.5]]) == 1.0


def test_infinite_scores_are_asked_for():
    for name in NAMES:
        own = getattr(fm, name)
        for bad in (np.inf, -np.inf):
            scores = [[0.5, 0.25], [0.5, bad]]
            for truth, columns in (([[0, 1], [1, 0]], scores), (np.array([[0, 1], [1, 0]]), np.array(scores))):
                assert_raises(ValueError, f"y_score has {bad} at row 1", own, truth, columns)
            finite = own([[0, 1], [1, 0]], [[0.5, 0.25], [0.5, np.sign(bad)]])
            assert own([[0, 1], [1, 0]], scores, allow_infinite=True) == finite
