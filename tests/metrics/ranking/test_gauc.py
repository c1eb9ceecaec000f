"""AUC of every group and GAUC against counting the pairs inside each group."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from oracles import curves
from oracles.ranking import gauc
from support import strategies
from support.cases import assert_raises, assert_undefined, each_case
from support.peers import scikit_learn

WEIGHTS = ["impressions", "uniform", "positives", "pairs"]
# One rounding for the term of each group, one for the sum, one for the quotient.
ROUNDINGS = 1e-15


def lists(*arrays):
    return [array.tolist() for array in arrays]


def assert_gauc(case, expected, **options):
    """`expected` is None if GAUC is undefined: NaN with a warning."""
    if expected is None:
        assert_undefined("", fm.gauc_score, *case, **options)
    else:
        assert math.isclose(fm.gauc_score(*case, **options), float(expected), rel_tol=ROUNDINGS), options


@each_case("single_class", ["skip", "half", "nan"])
@each_case("weight", WEIGHTS)
@given(case=strategies.grouped_scores())
def test_gauc(weight, single_class, case):
    options = {"weight": weight, "single_class": single_class}
    assert_gauc(case, gauc.gauc(*lists(*case), **options), **options)


@given(strategies.grouped_scores())
def test_gauc_weighted_by_pairs_is_exact(case):
    """Every pair inside a group counts the same, so the value is a quotient of two integers."""
    expected = gauc.gauc(*lists(*case), weight="pairs")
    if expected is not None:
        assert fm.gauc_score(*case, weight="pairs") == float(expected)


@given(strategies.grouped_scores())
def test_single_class_raise(case):
    try:
        expected = gauc.gauc(*lists(*case), single_class="raise")
    except gauc.SingleClassGroupError:
        assert_raises(ValueError, r"group.*one class", fm.gauc_score, *case, single_class="raise")
        return
    assert_gauc(case, expected, single_class="raise")


@each_case("weight", [*WEIGHTS, "weights"])
@given(case=strategies.grouped_scores(), data=st.data())
def test_gauc_with_sample_weights(weight, case, data):
    weights = data.draw(strategies.integer_weights(len(case[0])))
    expected = gauc.gauc(*lists(*case), weight=weight, weights=weights.tolist())
    assert_gauc(case, expected, weight=weight, sample_weight=weights)


def assert_table(case, weights):
    table = fm.auc_by_group(*case, sample_weight=weights)
    expected = gauc.auc_by_group(*lists(*case), None if weights is None else weights.tolist())
    assert table.group.tolist() == [row.group for row in expected]
    assert table.n.tolist() == [row.n for row in expected]
    assert table.n_positives.tolist() == [row.n_positives for row in expected]
    for value, row in zip(table.auc.tolist(), expected, strict=True):
        assert math.isnan(value) if row.auc is None else value == float(row.auc)
    assert len(table) == len(expected)


@given(strategies.grouped_scores())
def test_auc_by_group(case):
    assert_table(case, None)


@given(strategies.grouped_scores(), st.data())
def test_auc_by_group_with_weights(case, data):
    assert_table(case, data.draw(strategies.integer_weights(len(case[0]))))


def test_auc_by_group_with_weights_is_rounded_once():
    """Sums of weights are exact doubles, but their product is not."""
    y_true = np.array([0, 1, 0, 1, 0, 0])
    y_score = np.array([1.0, 1.0, 1.0, -1.0, -1.0, 1.0])
    weights = np.array([1.0, 2.0**31, 1000.0, 2.0**31, 2.0, 1.0])
    assert_table((y_true, y_score, np.zeros(6, np.int64)), weights)


def test_the_group_table():
    table = fm.auc_by_group([1, 0, 1, 1], [0.9, 0.1, 0.4, 0.3], [7, 7, -2, 7])
    assert (table.group.tolist(), table.group.dtype, table.n.tolist()) == ([-2, 7], np.int64, [1, 3])
    assert table.n_positives.tolist() == [1, 2]
    assert math.isnan(table.auc[0])
    assert table.auc[1] == 1.0
    assert (table.auc.dtype, table.n.dtype, table.n_positives.dtype) == (np.float64, np.int64, np.int64)
    arrow = table.to_arrow()
    assert arrow.column_names == ["group", "auc", "n", "n_positives"]
    assert arrow["n"].to_pylist() == [1, 3]



def test_constant_scores_are_a_half():
    assert fm.gauc_score([1, 0, 1, 0], [0.3] * 4, [1, 1, 2, 2]) == 0.5


def test_one_group_is_auc():
    log = strategies.click_log(5000, seed=2)
    y_true, y_score = log["label"], log["prob"]
    groups, auc = np.zeros(5000, dtype=np.int32), fm.roc_auc_score(y_true, y_score)
    for weight in WEIGHTS:
        assert math.isclose(fm.gauc_score(y_true, y_score, groups, weight=weight), auc, rel_tol=ROUNDINGS)
    assert fm.gauc_score(y_true, y_score, groups, weight="pairs") == auc


def test_every_row_its_own_group_is_nan():
    assert_undefined("", fm.gauc_score, [1, 0, 1], [0.1, 0.2, 0.3], [1, 2, 3])


def group_rows(log):
    """(group, exact AUC or None, n, n_positives) by sorting, for sizes with too many pairs to count."""
    order = np.argsort(log["group"], kind="stable")
    starts = np.flatnonzero(np.diff(log["group"][order], prepend=log["group"][order[0]] - 1))
    for rows in np.split(order, starts[1:]):
        y_true, y_score = log["label"][rows].tolist(), log["score"][rows].tolist()
        yield log["group"][rows[0]], curves.auc_by_ranks(y_true, y_score), len(rows), sum(y_true)


@each_case("dtype", strategies.SCORE_DTYPES)
@each_case("users", [3, 1000, 150_000])
def test_many_rows(users, dtype):
    log = strategies.click_log(150_001, users=users, seed=users, dtype=dtype)
    expected = list(group_rows(log))
    used = [row for row in expected if row[1] is not None]
    exact = sum((n * auc for _, auc, n, _ in used), Fraction(0)) / sum(n for _, _, n, _ in used)
    aucs = [math.nan if row[1] is None else float(row[1]) for row in expected]
    for n_threads in (1, 2, 3):
        table = fm.auc_by_group(log["label"], log["score"], log["group"], n_threads=n_threads)
        assert table.group.tolist() == [row[0] for row in expected]
        np.testing.assert_array_equal(table.auc, aucs)
        np.testing.assert_array_equal(table.n, [row[2] for row in expected])
        np.testing.assert_array_equal(table.n_positives, [row[3] for row in expected])
        value = fm.gauc_score(log["label"], log["score"], log["group"], n_threads=n_threads)
        assert math.isclose(value, exact, rel_tol=ROUNDINGS)


@pytest.mark.parametrize("options", [{"weight": "clicks"}, {"single_class": "zero"}], ids=str)
def test_unknown_options_name_the_allowed_ones(options):
    (name,) = options
    assert_raises(ValueError, rf"{name}.*(impressions|skip)", fm.gauc_score, [0, 1], [0.1, 0.2], [1, 1], **options)


def test_without_sample_weights_every_row_weighs_one():
    log = strategies.click_log(1000, seed=1)
    case = log["label"], log["score"], log["group"]
    assert fm.gauc_score(*case, weight="weights") == fm.gauc_score(*case, weight="impressions")


class TestRealData:
    def test_microsoft_web_visits(self, visits):
        """Reference: scikit-learn 1.9.1 per user (see the data's README)."""
        case = visits["label"], visits["score"], visits["user_id"]
        assert math.isclose(fm.gauc_score(*case), 0.9642351182117777, rel_tol=1e-14)
        assert math.isclose(fm.gauc_score(*case, weight="uniform"), 0.9642085405188081, rel_tol=1e-14)
        table = fm.auc_by_group(*case)
        assert len(table) == 3453
        assert (table.n.sum(), table.n_positives.sum()) == (980_067, 6_153)

    def test_some_users_against_scikit_learn(self, visits):
        table = fm.auc_by_group(visits["label"], visits["score"], visits["user_id"])
        for index in range(0, len(table), 500):
            rows = visits["user_id"] == table.group[index]
            expected = scikit_learn().roc_auc_score(visits["label"][rows], visits["score"][rows])
            assert math.isclose(table.auc[index], expected, rel_tol=1e-13)


FAR_APART = [5e-324, 1e-310, 2.0**-64, 0.1, 1.0, 2.0**63, 2.0**64, 1e300]


@each_case("dtype", [np.float32, np.float64])
@given(data=st.data())
def test_auc_by_group_with_weights_far_apart(dtype, data):
    """Groups whose weights fit 128 bits beside groups whose weights do not; also many ties and long groups."""
    random = np.random.default_rng(data.draw(st.integers(0, 1 << 32)))
    n = data.draw(st.integers(1, 90))
    pool = data.draw(st.lists(st.sampled_from([*FAR_APART, *random.random(4).tolist()]), min_size=1, max_size=4))
    case = (random.random(n) < 0.4).astype(np.uint8), random.integers(0, 9, n).astype(dtype), random.integers(0, 3, n)
    assert_table(case, random.choice([0.0, *pool] if data.draw(st.booleans()) else pool, n).clip(0))


def test_auc_by_group_whose_pairs_fill_every_word():
    """Twice the pairs of the two classes have every number of bits from 105 to 256: also all bits of a word."""
    powers = [(negative, total - negative) for total in range(151) for negative in {total // 2, min(total, 70)}]
    powers = [(negative, positive) for negative, positive in powers if positive <= 75]
    n = len(powers)
    label = np.tile(np.array([0, 1, 0, 1], np.uint8), n)
    score = np.tile([0.25, 0.5, 0.5, 0.75], n)
    weights = np.array([[2.0**negative, 2.0**positive, 1.0, 1.0] for negative, positive in powers]).ravel()
    assert_table((label, score, np.repeat(np.arange(n), 4)), weights)
