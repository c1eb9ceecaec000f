"""Log loss, Brier, normalized entropy, COPC and calibration error against exact sums and against scikit-learn."""

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._kernels.probability import losses
from oracles import probability
from oracles.calibration import copc
from oracles.sums import exact_sum, rounded
from support import strategies
from support.cases import assert_raises, assert_undefined, each_case
from support.peers import pandas, polars, scikit_learn
from support.probability_cases import ROUNDINGS, is_close, weights_with_two_positive

EPS = probability.EPSILON
STRATEGIES = ["uniform", "quantile"]
# A logarithm has an error of at most one unit in the last place, as have the few roundings after an exact sum.


@given(strategies.labeled_probabilities(), st.sampled_from(["auto", 1e-15, 1e-7, 0.01, 0.25]), st.data())
def test_log_loss(case, eps, data):
    y_true, y_proba = case
    number = EPS[y_proba.dtype.name] if eps == "auto" else eps
    for weights in (None, weights_with_two_positive(data, len(y_true))):
        for normalize in (True, False):
            expected = probability.log_loss(y_true, y_proba, number, weights, normalize)
            value = fm.log_loss(y_true, y_proba, sample_weight=weights, normalize=normalize, eps=eps)
            assert is_close(value, expected)


@pytest.mark.parametrize(
    ("dtype", "one_row"),
    [("float64", 36.04365338911715), ("float32", 15.942385152878742), ("float16", 6.931471805599453)],
)
def test_the_clip_is_the_machine_epsilon_of_the_type(dtype, one_row):
    assert is_close(fm.log_loss([1, 0], np.array([0.0, 1.0], dtype=dtype)), one_row)
    assert is_close(fm.log_loss([1, 0], np.array([0.0, 0.5], dtype=dtype)), (one_row + math.log(2)) / 2)


def test_the_clip_of_float16_in_every_container():
    """float16 input is widened, but keeps its own epsilon."""
    y_proba = np.array([0.0, 0.5], dtype=np.float16)
    expected = fm.log_loss([1, 0], y_proba)
    for container in (pa.array, lambda column: pa.chunked_array([column]), lambda column: pandas().Series(column)):
        assert fm.log_loss([1, 0], container(y_proba)) == expected
    assert fm.log_loss([1, 0], y_proba.astype(y_proba.dtype.newbyteorder())) == expected


def test_large_weights_keep_terms_finite():
    """Weighted terms stay finite up to weights of 1e300; larger weights are an error."""
    value = fm.log_loss([1, 0], [0.0, 1.0], sample_weight=[1e300, 1e300])
    assert is_close(value, fm.log_loss([1, 0], [0.0, 1.0]))
    assert_raises(
        ValueError, r"sample_weight has 1e\+308 at row 1", fm.log_loss, [1, 0], [0.0, 1.0], sample_weight=[1.0, 1e308]
    )


def test_a_base_rate_next_to_one():
    value = fm.normalized_entropy([1, 0], [0.5, 0.5], sample_weight=[1e20, 1.0])
    assert math.isfinite(value)
    assert value > 0


RATES = [1e-300, 1e-6, 0.01, 0.25, 0.5, 1 - 2.0**-53]


@given(strategies.labeled_probabilities(), st.sampled_from(RATES))
def test_sampling_rate_equals_corrected_probabilities(case, rate):
    """The result equals that of corrected probabilities of any type. The clip comes after the correction."""
    y_true, y_proba = case
    eps = EPS[y_proba.dtype.name]
    corrected_probabilities = np.array([probability.corrected(p, rate) for p in y_proba.tolist()])
    assert fm.log_loss(y_true, y_proba, sampling_rate=rate) == fm.log_loss(y_true, corrected_probabilities, eps=eps)
    assert fm.brier_score_loss(y_true, y_proba, sampling_rate=rate) == fm.brier_score_loss(
        y_true, corrected_probabilities
    )
    clipped = fm.clipped_rows(y_true, y_proba, sampling_rate=rate)
    assert clipped == fm.clipped_rows(y_true, corrected_probabilities, eps=eps)
    value = fm.normalized_entropy(y_true, y_proba, sampling_rate=rate)
    assert value == fm.normalized_entropy(y_true, corrected_probabilities, eps=eps)
    for n_bins in (3, 15):
        for strategy in STRATEGIES:
            options = {"n_bins": n_bins, "strategy": strategy}
            value = fm.expected_calibration_error(y_true, y_proba, sampling_rate=rate, **options)
            assert value == fm.expected_calibration_error(y_true, corrected_probabilities, **options)
    if corrected_probabilities.any():
        assert fm.copc(y_true, y_proba, sampling_rate=rate) == fm.copc(y_true, corrected_probabilities)
        assert fm.pcoc(y_true, y_proba, sampling_rate=rate) == fm.pcoc(y_true, corrected_probabilities)


@given(strategies.labeled_probabilities(), st.sampled_from(RATES))
def test_the_correction_of_a_row(case, rate):
    """The correction never raises p, keeps 0 and 1, and is close to the exact quotient."""
    _, y_proba = case
    out = np.empty(len(y_proba))
    assert losses.correct_probabilities(y_proba, rate, out)
    for p, q in zip(y_proba.tolist(), out.tolist(), strict=True):
        assert q == probability.corrected(p, rate)
        assert 0.0 <= q <= p
        assert p not in (0.0, 1.0) or q == p
        exact = Fraction(p) / (Fraction(p) + (1 - Fraction(p)) / Fraction(rate))
        # 1 - p is rounded where p is small; a quotient below the normal doubles has fewer digits.
        assert math.isclose(q, float(exact), rel_tol=1e-15, abs_tol=1e-307)


def test_the_direction_of_the_correction():
    """A model trained on a tenth of the negatives predicts too much: its 0.5 is 1 / 11 in the full data."""
    assert is_close(fm.copc([1] + [0] * 10, [0.5] * 11, sampling_rate=0.1), 1)
    generator = np.random.default_rng(1)
    truth = generator.beta(1, 20, 200_000)
    clicks = generator.random(200_000) < truth
    sampled = truth / (truth + (1 - truth) * 0.1)  # the predictions of a perfect model of the sampled log
    assert fm.copc(clicks, sampled) < 0.2
    assert 0.95 < fm.copc(clicks, sampled, sampling_rate=0.1) < 1.05
    assert fm.log_loss(clicks, sampled, sampling_rate=0.1) < fm.log_loss(clicks, sampled)


@each_case("rate", [1, 1.0, np.float32(1), None])
def test_a_rate_of_one_corrects_nothing(rate):
    log = strategies.click_log(1000, seed=3, levels=None)
    for name in WITH_SAMPLING_RATE:
        function = getattr(fm, name)
        value = function(log["label"], log["prob"], sampling_rate=rate)
        assert repr(value) == repr(function(log["label"], log["prob"]))


WITH_SAMPLING_RATE = [
    "brier_score_loss", "calibration_curve", "clipped_rows", "copc", "expected_calibration_error", "log_loss",
    "normalized_entropy", "pcoc",
]  # fmt: skip


@each_case("rate", [0, -0.1, 1.5, math.nan, True, "0.1", [0.1], 0j])
def test_a_bad_sampling_rate_is_named(rate):
    for name in WITH_SAMPLING_RATE:
        for kind in (ValueError, TypeError):
            assert_raises(kind, "sampling_rate", getattr(fm, name), [0, 1], [0.2, 0.3], sampling_rate=rate)


def test_a_sampling_rate_is_for_one_column():
    for function in (fm.log_loss, fm.brier_score_loss, fm.clipped_rows):
        assert_raises(
            ValueError, "sampling_rate is for one column", function, [0, 1], [[0.2, 0.8], [0.5, 0.5]], sampling_rate=0.5
        )
        assert function([0, 1], [[0.2], [0.5]], sampling_rate=0.5) == function([0, 1], [0.2, 0.5], sampling_rate=0.5)


METRICS_OF_FUNCTIONS = {
    "logloss": "log_loss", "ne": "normalized_entropy", "brier": "brier_score_loss", "copc": "copc", "pcoc": "pcoc",
    "ece": "expected_calibration_error",
}  # fmt: skip


@pytest.mark.parametrize("metric", METRICS_OF_FUNCTIONS)
def test_the_registered_metrics_take_a_sampling_rate(metric):
    log = strategies.click_log(3000, seed=6, levels=None)
    text = f"{metric}(sampling_rate=0.1)"
    report = fm.evaluate(log, [text, metric], label="label", score="prob")
    function = getattr(fm, METRICS_OF_FUNCTIONS[metric])
    assert report[text] == function(log["label"], log["prob"], sampling_rate=0.1)
    assert report[metric] == function(log["label"], log["prob"])
    corrected, plain = report.results
    assert "|sampling_rate:0.1|" in corrected.signature
    assert "sampling_rate" not in plain.signature
    assert_raises(
        ValueError, "sampling_rate", fm.evaluate, log, [f"{metric}(sampling_rate=2)"], label="label", score="prob"
    )


@given(strategies.labeled_probabilities(), st.sampled_from(["auto", 1e-7, 0.1, 0.3]), st.data())
def test_clipped_rows(case, eps, data):
    y_true, y_proba = case
    number = EPS[y_proba.dtype.name] if eps == "auto" else eps
    outcomes = [p if y else 1.0 - p for y, p in zip(y_true.tolist(), y_proba.tolist(), strict=True)]
    expected = probability.rows_clipped(outcomes, number)
    assert fm.clipped_rows(y_true, y_proba, eps=eps) == expected
    columns = np.column_stack([1.0 - y_proba.astype(float), y_proba])
    assert fm.clipped_rows(y_true, columns, eps=number) == expected
    weights = weights_with_two_positive(data, len(y_true))
    present = [outcome for outcome, weight in zip(outcomes, weights, strict=True) if weight]
    assert fm.clipped_rows(y_true, y_proba, eps=eps, sample_weight=weights) == probability.rows_clipped(present, number)
    log = {"y": y_true, "p": y_proba}
    (result,) = fm.evaluate(log, ["logloss" if eps == "auto" else f"logloss(eps={eps})"], label="y", score="p")
    assert result.coverage["rows_clipped"] == expected


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=30))
def test_means_are_rounded_once(values):
    """The quotient of a whole number and a count, in C, beside Python's integers."""
    runs = [[5e-324] * (i + 1) + values[: i + 1] for i in range(len(values))] + [[5e-324] * n for n in range(1, 9)]
    starts = np.cumsum([0, *map(len, runs)])
    out = np.empty(len(runs))
    losses.run_means(np.concatenate(runs), starts, out)
    assert out.tolist() == [rounded(exact_sum(run) / len(run)) for run in runs]


@each_case(
    "values",
    [
        [1.0, 2.0**-53, 0.0, 0.0],
        [1.0, 2.0**-53, 2.0**-80, 0.0],
        [1.0, 2.0**-53, 2.0**-300, 0.0],
        [1.0, 2.0**-53, 2.0**-1074, 0.0],
        [1.0, 2.0**-52, 2.0**-53, 0.0],
        [5e-324] * 3 + [0.0] * 3,
        [5e-324] * 3 + [0.0] * 2,
        # Subnormal means a hair above a half, which a rounding to 53 bits would take away.
        [math.ldexp(2**40 + 32769, -1074)] + [math.ldexp(2**40, -1074)] * 65536,
    ],
    ids=lambda values: f"{len(values)} from {values[0]}",
)
def test_means_next_to_a_half(values):
    out = np.empty(1)
    losses.run_means(np.array(values), np.array([0, len(values)]), out)
    assert out[0] == rounded(exact_sum(values) / len(values))


def test_the_documented_clip_example():
    """DEFINITIONS: the same predictions give 18.37 / 8.32 / 3.81 in float64 / float32 / float16."""
    y_true, y_proba = [1, 0], [0.0, 0.5]
    values = [fm.log_loss(y_true, np.array(y_proba, dtype=dtype)) for dtype in ("float64", "float32", "float16")]
    assert [round(value, 2) for value in values] == [18.37, 8.32, 3.81]


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_log_loss_of_many_rows(n_threads):
    log = strategies.click_log(200_003, seed=1, levels=None)
    y_true, y_proba = log["label"], log["prob"]
    terms = [-math.log(p if y else 1.0 - p) for y, p in zip(y_true.tolist(), y_proba.tolist(), strict=True)]
    assert is_close(fm.log_loss(y_true, y_proba, n_threads=n_threads), math.fsum(terms) / len(terms))


@each_case("weighted", [False, True])
@each_case("dtype", ["float32", "float64"])
@each_case("n_classes", [2, 3, 7])
def test_multiclass_log_loss(n_classes, dtype, weighted):
    generator = np.random.default_rng(n_classes)
    y_proba = generator.dirichlet(np.ones(n_classes), 300).astype(dtype)
    y_proba[:n_classes] = np.eye(n_classes)[::-1]
    y_true = generator.integers(0, n_classes, 300)
    weights = generator.random(300) if weighted else None
    expected = probability.multiclass_log_loss(y_true, y_proba, EPS[dtype], weights)
    assert is_close(fm.log_loss(y_true, y_proba, sample_weight=weights), expected)
    total = fm.log_loss(y_true, y_proba, normalize=False, sample_weight=weights)
    assert is_close(total, probability.multiclass_log_loss(y_true, y_proba, EPS[dtype], weights, normalize=False))


@each_case("library", ["pandas", "polars", "list"])
@pytest.mark.parametrize("function", [fm.log_loss, fm.brier_score_loss])
def test_multiclass_probabilities_in_frames(function, library):
    y_proba = np.random.default_rng(1).dirichlet([1, 1, 1], 20)
    y_true = np.arange(20) % 3
    frames = {
        "pandas": lambda: pandas().DataFrame(y_proba),
        "polars": lambda: polars().DataFrame(y_proba, schema=["a", "b", "c"]),
        "list": y_proba.tolist,
    }
    assert function(y_true, frames[library]()) == function(y_true, y_proba)


@pytest.mark.parametrize("function", [fm.log_loss, fm.brier_score_loss])
def test_a_wrong_number_of_columns_names_the_argument(function):
    argument = "y_proba"
    assert_raises(ValueError, rf"{argument}.*2 columns.*3 classes", function, [0, 1, 2], np.full((3, 2), 0.5))


@given(strategies.labeled_probabilities(min_size=1, both_classes=False))
def test_brier(case):
    y_true, y_proba = case
    differences = [p - y for y, p in zip(y_true.tolist(), y_proba.tolist(), strict=True)]
    squares = exact_sum(difference * difference for difference in differences)
    assert fm.brier_score_loss(y_true, y_proba) == rounded(squares / len(differences))
    assert is_close(fm.brier_score_loss(y_true, y_proba), probability.brier(y_true, y_proba))


@given(strategies.labeled_probabilities(), st.data())
def test_weighted_brier(case, data):
    y_true, y_proba = case
    weights = weights_with_two_positive(data, len(y_true))
    assert is_close(
        fm.brier_score_loss(y_true, y_proba, sample_weight=weights), probability.brier(y_true, y_proba, weights)
    )


@given(strategies.labeled_probabilities())
def test_brier_scale_and_pos_label(case):
    y_true, y_proba = case
    value = fm.brier_score_loss(y_true, y_proba)
    assert fm.brier_score_loss(y_true, y_proba, scale_by_half=True) == value
    assert fm.brier_score_loss(y_true, y_proba, scale_by_half=False) == 2 * value
    assert fm.brier_score_loss(1 - y_true, y_proba, pos_label=0) == value
    assert fm.brier_score_loss(y_true, y_proba, pos_label=1) == value


@each_case("scale_by_half", ["auto", True, False])
@each_case("n_classes", [2, 3])
def test_multiclass_brier(n_classes, scale_by_half):
    generator = np.random.default_rng(n_classes)
    y_proba = generator.dirichlet(np.ones(n_classes), 100)
    y_true = generator.integers(0, n_classes, 100)
    for sample_weight in (None, generator.random(100)):
        options = {"sample_weight": sample_weight, "scale_by_half": scale_by_half}
        value = fm.brier_score_loss(y_true, y_proba, **options)
        halved = scale_by_half is True or (scale_by_half == "auto" and n_classes == 2)
        expected = probability.multiclass_brier(y_true, y_proba, sample_weight) / (2 if halved else 1)
        assert is_close(value, expected, 4 * ROUNDINGS)


@given(strategies.labeled_probabilities())
def test_normalized_entropy(case):
    y_true, y_proba = case
    expected = probability.normalized_entropy(y_true, y_proba, EPS[y_proba.dtype.name])
    assert is_close(fm.normalized_entropy(y_true, y_proba), expected, 2 * ROUNDINGS)


@given(strategies.labeled_probabilities(), st.data())
def test_weighted_normalized_entropy(case, data):
    y_true, y_proba = case
    weights = weights_with_two_positive(data, len(y_true))
    expected = probability.normalized_entropy(y_true, y_proba, EPS[y_proba.dtype.name], weights=weights)
    # A base rate near 1 loses the digits of 1 - rate once, in the entropy.
    assert is_close(fm.normalized_entropy(y_true, y_proba, sample_weight=weights), expected, 1e-9)


@given(strategies.labeled_probabilities(both_classes=False), st.sampled_from([0.5, 0.03, 0.9]))
def test_normalized_entropy_of_a_given_base_rate(case, base_rate):
    y_true, y_proba = case
    expected = probability.normalized_entropy(y_true, y_proba, EPS[y_proba.dtype.name], base_rate)
    assert is_close(fm.normalized_entropy(y_true, y_proba, base_rate=base_rate), expected, 2 * ROUNDINGS)


@pytest.mark.parametrize("label", [0, 1])
def test_normalized_entropy_of_one_class_is_nan_with_a_warning(label):
    assert_undefined("", fm.normalized_entropy, [label] * 3, [0.1, 0.2, 0.3])


@each_case(
    ("function", "name", "value"),
    [
        *[(fm.normalized_entropy, "base_rate", value) for value in (0.0, 1.0, -0.1, 1.5, math.nan, "observed")],
        *[(fm.log_loss, "eps", value) for value in (-1e-3, 0.5, 1.0, math.nan, "small")],
    ],
)
def test_a_bad_option_is_named(function, name, value):
    assert_raises((ValueError, TypeError), name, function, [0, 1], [0.2, 0.3], **{name: value})


class TestRealData:
    @pytest.mark.parametrize("campaign", ["bts_men", "bts_women"])
    def test_open_bandit_impressions(self, data_folder, campaign):
        path = data_folder / "obd" / f"{campaign}.csv.gz"
        y_true, y_proba = np.loadtxt(path, delimiter=",", skiprows=1, usecols=(4, 5), unpack=True)
        assert is_close(fm.log_loss(y_true, y_proba), scikit_learn().log_loss(y_true, y_proba), 1e-12)
        assert is_close(fm.brier_score_loss(y_true, y_proba), scikit_learn().brier_score_loss(y_true, y_proba), 1e-12)
        assert fm.copc(y_true, y_proba) == float(copc.copc(y_true, y_proba))
        for strategy in STRATEGIES:
            expected = probability.ece(y_true.tolist(), y_proba.tolist(), strategy=strategy)
            value = fm.expected_calibration_error(y_true, y_proba, strategy=strategy)
            assert math.isclose(value, float(expected), rel_tol=1e-12)


def test_eps_must_be_a_normal_number():
    least = 2.2250738585072014e-308
    assert fm.log_loss([1, 0], [0.0, 1.0], eps=least) == pytest.approx(-math.log(least), rel=1e-15)
    assert_raises(ValueError, "eps", fm.log_loss, [1, 0], [0.0, 1.0], eps=1e-320)


def test_log_loss_accepts_both_names_of_its_probabilities():
    for function in (fm.log_loss, fm.d2_log_loss_score):
        with pytest.warns(FutureWarning, match="older name") as caught:
            value = function([1, 0], y_pred=[0.9, 0.2])
        assert caught[0].filename == __file__
        assert function([1, 0], y_proba=[0.9, 0.2]) == value
        assert_raises(ValueError, "y_proba", function, [1, 0])
        assert_raises(ValueError, "two names", function, [1, 0], [0.9, 0.2], y_pred=[0.9, 0.2])


def test_every_value_of_scale_by_half():
    y_proba = [[0.8, 0.2], [0.3, 0.7]]
    expected = fm.brier_score_loss([0, 1], y_proba)
    assert fm.brier_score_loss([0, 1], y_proba, scale_by_half=True) == expected
    assert fm.brier_score_loss([0, 1], y_proba, scale_by_half=np.bool_(True)) == expected
    assert fm.brier_score_loss([0, 1], y_proba, scale_by_half=np.False_) == 2 * expected
    for half in (1, 0, "half", None, [True]):
        for kind in (ValueError, TypeError):
            assert_raises(kind, "scale_by_half", fm.brier_score_loss, [0, 1], y_proba, scale_by_half=half)


def test_the_first_bad_row_is_named_whatever_the_threads_do():
    y_proba = np.full(500_000, 0.5)
    y_proba[[10, 131_082, 400_000]] = 1.5
    y_true = np.arange(500_000) % 2
    for _ in range(10):
        assert_raises(ValueError, r"has 1\.5 at row 10:", fm.log_loss, y_true, y_proba, n_threads=3)
