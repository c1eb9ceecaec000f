"""Reliability diagrams: bins and means against their definition, exactly, and against scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from oracles import probability
from oracles.sums import rounded
from support import strategies
from support.cases import assert_raises, each_case
from support.peers import peer

STRATEGIES = ["uniform", "quantile"]


def scikit_learn_curve(*arguments, **options):
    return peer("sklearn.calibration").calibration_curve(*arguments, **options)


def assert_same_bits(ours, theirs):
    assert len(ours) == len(theirs) == 2
    for mine, other in zip(ours, theirs, strict=True):
        assert type(mine) is np.ndarray
        assert (mine.dtype, mine.shape) == (np.float64, other.shape)
        assert mine.tobytes() == other.tobytes()


def assert_same_points(ours, theirs):
    for mine, other in zip(ours, theirs, strict=True):
        assert type(mine) is type(other)
        assert (mine.dtype, mine.shape) == (other.dtype, other.shape)
        np.testing.assert_allclose(mine, other, rtol=1e-12, atol=0.0)


@pytest.mark.parametrize("n_threads", [None, 1])
@given(strategies.labeled_probabilities(min_size=1, both_classes=False), st.integers(1, 70))
def test_uniform_bins_exactly(n_threads, case, n_bins):
    y_true, y_prob = case
    expected = probability.calibration_curve(y_true.tolist(), y_prob.tolist(), probability.equal_edges(n_bins))
    value = fm.calibration_curve(y_true, y_prob, n_bins=n_bins, n_threads=n_threads)
    assert [column.tolist() for column in value] == [list(map(rounded, column)) for column in expected]


@given(strategies.labeled_probabilities(min_size=1, both_classes=False), st.integers(1, 40))
def test_quantile_bins_exactly(case, n_bins):
    y_true, y_prob = case
    # A float32 quantile is interpolated in float64, as NumPy does for float64 quantiles of it.
    edges = probability.quantile_edges(y_prob.tolist(), n_bins)
    expected = probability.calibration_curve(y_true.tolist(), y_prob.tolist(), edges)
    value = fm.calibration_curve(y_true, y_prob, n_bins=n_bins, strategy="quantile")
    assert [column.tolist() for column in value] == [list(map(rounded, column)) for column in expected]



@each_case("n_bins", [1, 2, 3, 5, 7, 10, 49, 64, 65, 100, 977])
def test_probabilities_at_the_edges(n_bins):
    """At k / n, at k * (1 / n), where the two differ, and one double to either side of each."""
    edges = np.concatenate([np.arange(n_bins + 1) / n_bins, np.linspace(0.0, 1.0, n_bins + 1)])
    y_prob = np.clip(np.concatenate([edges, np.nextafter(edges, 0.0), np.nextafter(edges, 1.0)]), 0.0, 1.0)
    y_true = np.random.default_rng(n_bins).integers(0, 2, len(y_prob))
    theirs = scikit_learn_curve(y_true, y_prob, n_bins=n_bins)
    for n_threads in (None, 1):
        assert_same_points(fm.calibration_curve(y_true, y_prob, n_bins=n_bins, n_threads=n_threads), theirs)


def test_edges_are_numpy_s():
    for n_bins in range(1, 3000):
        assert probability.equal_edges(n_bins) == np.linspace(0.0, 1.0, n_bins + 1)[1:-1].tolist()


@each_case("strategy", STRATEGIES)
@each_case("n_bins", [10_000, 10_001, 50_000, 2_000_000])
def test_very_many_bins(n_bins, strategy):
    log = strategies.click_log(3000, seed=2, levels=None)
    y_true, y_prob = log["label"], log["prob"]
    theirs = scikit_learn_curve(y_true, y_prob, n_bins=n_bins, strategy=strategy)
    assert_same_points(fm.calibration_curve(y_true, y_prob, n_bins=n_bins, strategy=strategy), theirs)



@each_case("rows", [1, 2, 15, 16, 17, 100, 2047, 2048, 2049, 65_536, 65_537])
def test_short_calls_have_the_bits_of_long_ones(rows):
    log = strategies.click_log(rows, seed=rows)
    for dtype in strategies.SCORE_DTYPES:
        y_prob = log["prob"].astype(dtype)
        for n_bins in (1, 5, 64):
            for label_dtype in strategies.LABEL_DTYPES:
                y_true = log["label"].astype(label_dtype)
                short = fm.calibration_curve(y_true, y_prob, n_bins=n_bins)
                assert_same_bits(short, fm.calibration_curve.__wrapped__(y_true, y_prob, n_bins=n_bins))


def test_a_sampling_rate_moves_rows_to_other_bins():
    log = strategies.click_log(500, seed=8)
    corrected_probabilities = [probability.corrected(p, 0.1) for p in log["prob"].tolist()]
    edges_of = {
        "uniform": probability.equal_edges(5),
        "quantile": probability.quantile_edges(corrected_probabilities, 5),
    }
    for strategy, edges in edges_of.items():
        expected = probability.calibration_curve(log["label"].tolist(), corrected_probabilities, edges)
        value = fm.calibration_curve(log["label"], log["prob"], strategy=strategy, sampling_rate=0.1)
        assert [column.tolist() for column in value] == [list(map(rounded, column)) for column in expected]


def test_bins_without_rows_are_left_out():
    prob_true, prob_pred = fm.calibration_curve([0, 1, 1], [0.05, 0.9, 1.0], n_bins=10)
    assert prob_true.tolist() == [0.0, 1.0, 1.0]
    assert prob_pred.tolist() == [0.05, 0.9, 1.0]
    assert len(fm.calibration_curve(np.array([0, 1]), np.array([0.5, 0.5]))[0]) == 1


@each_case("pos_label", [5, "yes", 0.5, np.nan, "0"])
def test_an_absent_pos_label_makes_all_rows_negative(pos_label):
    arguments = [0, 1, 1, 0], [0.1, 0.9, 0.8, 0.3]
    theirs = scikit_learn_curve(*arguments, pos_label=pos_label)
    assert_same_points(fm.calibration_curve(*arguments, pos_label=pos_label), theirs)


@each_case(
    ("arguments", "options", "message"),
    [
        (([0, 1, 2], [0.1, 0.2, 0.3]), {"pos_label": 1}, "more than two labels"),
        (([0, 1, 2], [0.1, 0.2, 0.3]), {}, "y_true has labels 0, 1, 2"),
        ((["a", "b"], [0.1, 0.2]), {}, "pos_label"),
        (([3, 4], [0.1, 0.2]), {}, "y_true has labels 3, 4"),
        (([0, 1], [0.1, 1.5]), {}, "y_prob has 1.5 at row 1"),
        (([0, 1], [-0.1, 0.5]), {"strategy": "quantile"}, "y_prob has -0.1 at row 0"),
        (([0, 1], [0.1, np.nan]), {}, "y_prob has NaN at row 1"),
        (([0, 1], [0.1, np.nan]), {"strategy": "quantile"}, "y_prob has NaN at row 1"),
        (([0, 1], [0.1, 2.0]), {"sampling_rate": 0.5}, "y_prob has 2.0 at row 1"),
        (([0, 1], [0.1]), {}, "y_true has 2 rows but y_prob has 1"),
        (([], []), {}, "empty"),
        (([[0, 1], [1, 0]], [0.1, 0.2]), {}, "y_true must have one dimension"),
        (([0, 1], [[0.1, 0.9], [0.2, 0.8]]), {}, "y_prob must have one dimension"),
        (([0, 1], [0.1, 0.2]), {"n_bins": 0}, "n_bins"),
        (([0, 1], [0.1, 0.2]), {"n_bins": 2.0}, "n_bins"),
        (([0, 1], [0.1, 0.2]), {"n_bins": True}, "n_bins"),
        (([0, 1], [0.1, 0.2]), {"strategy": "kmeans"}, "strategy"),
        (([0, 1], [0.1, 0.2]), {"pos_label": [1]}, "pos_label"),
        (([0, 1], [0.1, 0.2]), {"sampling_rate": 0}, "sampling_rate"),
        (("01", [0.1, 0.2]), {}, "y_true"),
        (([0, 1], 0.5), {}, "y_prob"),
    ],
    ids=str,
)
def test_errors(arguments, options, message):
    """The errors of scikit-learn, and NaN, which scikit-learn puts into the last bin."""
    for kind in (list, lambda values: np.array(values) if isinstance(values, list) else values):
        converted = [kind(values) if isinstance(values, list) else values for values in arguments]
        assert_raises(ValueError, message.replace(".", r"\."), fm.calibration_curve, *converted, **options)


def test_a_matrix_of_one_column_is_a_column():
    y_true, y_prob = np.array([0, 1, 1, 0]), np.array([0.1, 0.9, 0.8, 0.3])
    assert_same_bits(
        fm.calibration_curve(y_true.reshape(-1, 1), y_prob.reshape(-1, 1)), fm.calibration_curve(y_true, y_prob)
    )
