"""Weighted AUC and KS by score range: exact integers, equal for any cut into ranges and any order of the rows."""

from __future__ import annotations

import functools
import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fastmetrics._core.exact import EXPONENT
from fastmetrics._core.exchange import range_exchange, weighted_ranges
from fastmetrics._core.exchange.runs import NO_ROWS, ClassTotals, Cut, RangePosition
from fastmetrics._core.exchange.weighted_sweep import WeightedRuns
from fastmetrics.metrics.curves.ks import Extremes, finalize_extremes
from oracles import curves
from oracles import weighted as oracle
from support import strategies
from support.cases import assert_raises, each_case
from support.peers import scikit_learn

LARGEST_SUBNORMAL = 2.225073858507201e-308
HARD_WEIGHTS = [5e-324, 1e-323, LARGEST_SUBNORMAL, 2.2250738585072014e-308, 1e-300, 1.0, 0.1, 1 / 3, 2.0**53, 1e300]
FULL_MANTISSA = math.nextafter(1.0, 0.0)

any_weight = st.one_of(
    st.integers(1, 9).map(float),
    st.floats(1e-3, 1e3),
    st.floats(5e-324, 1e300),
    st.floats(5e-324, LARGEST_SUBNORMAL),
    st.sampled_from(HARD_WEIGHTS),
    st.builds(math.ldexp, st.sampled_from([1.0, 1.5, FULL_MANTISSA]), st.integers(-1000, 900)),
)


@st.composite
def weighted_rows(draw, max_size=40, both_classes=False):
    """Labels, scores (float32 or float64) and positive weights, drawn from small pools: many ties."""
    random = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    size = draw(st.integers(2, max_size))
    share = draw(st.sampled_from([0.1, 0.3, 0.5, 0.7, 0.9] if both_classes else [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0]))
    labels = (random.random(size) < share).astype(np.uint8)
    if both_classes:
        labels[:2] = 0, 1
    dtype = draw(st.sampled_from(strategies.SCORE_DTYPES))
    scores = np.array(draw(st.lists(strategies.any_score(dtype), min_size=1, max_size=12)), dtype)
    if draw(st.booleans()):
        scores = np.append(scores, random.random(30).astype(dtype))
    weights = np.array(draw(st.lists(any_weight, min_size=1, max_size=8)))
    if draw(st.booleans()):
        weights = np.append(weights, 1.0 - random.random(30))
    return labels, random.choice(scores, size), random.choice(weights, size)


def as_rows(labels, scores, weights, scale=None):
    rows = weighted_ranges.split_classes(labels == 1, range_exchange.ordered_keys(scores), weights)
    if scale is not None:
        rows.scale = scale
    return rows


def oracle_rows(scores, weights):
    return [(float(score), Fraction(float(weight))) for score, weight in zip(scores, weights, strict=True)]


def oracle_classes(labels, scores, weights):
    return [oracle_rows(scores[labels == label], weights[labels == label]) for label in (0, 1)]


def scale_of_all(weights):
    return weighted_ranges.scale_of(weighted_ranges.span_of(weights))


def in_unit(number, times=1):
    """A rational number as an integer in the fixed unit."""
    scaled = number * 2 ** (times * EXPONENT)
    assert scaled.denominator == 1
    return int(scaled)


def class_weights(labels, scores, weights):
    return tuple(in_unit(sum((w for _, w in rows), Fraction(0))) for rows in oracle_classes(labels, scores, weights))


def ranges(labels, scores, weights, cuts):
    """The rows between the cuts, in score order. A cut is the least score of the range above it."""
    bounds = [-math.inf, *sorted(set(cuts) - {-math.inf})]
    number = np.searchsorted(bounds, scores.astype(np.float64), "right") - 1
    return [(labels[number == i], scores[number == i], weights[number == i]) for i in range(len(bounds))]


def count_all(labels, scores, weights):
    return weighted_ranges.weighted_pairs(as_rows(labels, scores, weights))


def extremes_of(rows, totals):
    """The state of KS of some rows; `totals` are the weights of all rows."""
    runs = WeightedRuns(rows.scale, Cut.CLASSES, lambda: rows)
    return Extremes().find(runs, RangePosition(ClassTotals(1, 1, *totals), NO_ROWS))


def extremes_all(labels, scores, weights):
    totals = class_weights(labels, scores, weights)
    return extremes_of(as_rows(labels, scores, weights), totals)


def from_the_top(extremes, weights, totals):
    """Extremes of a difference that is counted from the lowest score, as those of one from the greatest score."""
    end = weights[1] * totals[0] - weights[0] * totals[1]
    greatest, least = extremes
    return end - least, end - greatest


# ------------------------------------------------------------------------------------------------- spans and scales


@given(st.lists(any_weight, max_size=30), st.data())
def test_span_covers_every_weight(values, data):
    cut = data.draw(st.integers(0, len(values)))
    span = weighted_ranges.merge_spans(
        *(weighted_ranges.span_of(np.array(part)) for part in (values[:cut], values[cut:]))
    )
    assert span == weighted_ranges.span_of(np.array(values))
    assert span.rows == len(values)
    unit = Fraction(2) ** span.lowest
    assert all((Fraction(value) / unit).denominator == 1 and value < Fraction(2) ** span.highest for value in values)
    if values:
        assert any((Fraction(value) / unit).numerator % 2 for value in values), "lowest is not tight"
        scale = weighted_ranges.scale_of(span)
        twice_all = 2 * sum(map(Fraction, values), Fraction(0)) / Fraction(2) ** scale.unit
        assert twice_all < 2 ** (32 * scale.n_limbs)


def test_usual_weights_need_few_limbs():
    random = np.random.default_rng(1)
    assert scale_of_all(np.ones(1000)) == weighted_ranges.WeightScale(0, 1)
    assert scale_of_all(random.integers(1, 100, 40_000).astype(np.float64)).n_limbs == 1
    assert scale_of_all(random.random(40_000).astype(np.float32).astype(np.float64)).n_limbs <= 3
    assert scale_of_all(random.random(40_000)).n_limbs <= 3
    assert scale_of_all(random.exponential(size=40_000)).n_limbs <= 4
    assert scale_of_all(np.array(HARD_WEIGHTS)).n_limbs == 65


def test_a_scale_too_small_for_the_totals_is_an_error():
    rows = as_rows(np.array([0, 1]), np.array([0.1, 0.2]), np.ones(2), weighted_ranges.WeightScale(0, 1))
    one = 1 << EXPONENT
    for total in (one // 2, one << 64):
        assert_raises(ValueError, "scale", extremes_of, rows, (total, one))


# ----------------------------------------------------------------------------------------------- one range is exact


@given(weighted_rows())
def test_pairs_equal_the_definition(case):
    labels, scores, weights = case
    state = count_all(*case)
    assert state.rows == (np.count_nonzero(labels == 0), np.count_nonzero(labels == 1))
    assert state.weights == class_weights(*case)
    assert state.wins == in_unit(oracle.doubled_wins(*oracle_classes(*case)), 2)
    expected = curves.auc(labels.tolist(), scores.tolist(), weights.tolist())
    if expected is not None:
        assert weighted_ranges.weighted_auc(state) == float(expected)


@given(weighted_rows())
def test_extremes_equal_the_definition(case):
    labels, scores, weights = case
    state = extremes_all(*case)
    negatives, positives = oracle_classes(*case)
    totals = [sum((w for _, w in rows), Fraction(0)) for rows in (negatives, positives)]
    expected = from_the_top(oracle.extremes(negatives, positives, *totals), totals, totals)
    assert state.totals == (len(negatives), len(positives), *class_weights(*case))
    assert state.found == tuple(in_unit(value, 2) for value in expected)
    value = oracle.ks(labels.tolist(), scores.tolist(), weights.tolist())
    if value is not None:
        assert finalize_extremes({}, state).value == float(value)


@given(weighted_rows(), st.randoms(use_true_random=False))
def test_order_does_not_matter(case, random):
    order = list(range(len(case[0])))
    random.shuffle(order)
    shuffled = [column[order] for column in case]
    assert count_all(*shuffled) == count_all(*case)
    assert extremes_all(*shuffled) == extremes_all(*case)


@given(weighted_rows(both_classes=True))
def test_float32_scores_equal_their_doubles(case):
    labels, scores, weights = case
    scores = np.array(np.clip(scores, -1e30, 1e30), np.float32)
    assert range_exchange.ordered_keys(scores).dtype == np.uint32
    for count in (count_all, extremes_all):
        assert count(labels, scores, weights) == count(labels, scores.astype(np.float64), weights)


@given(weighted_rows(both_classes=True))
def test_a_larger_scale_gives_the_same(case):
    weights = case[2]
    wide = as_rows(*case, weighted_ranges.scale_of(weighted_ranges.span_of(np.append(weights, [5e-324, 1e300]))))
    assert weighted_ranges.weighted_pairs(wide) == count_all(*case)
    assert extremes_of(wide, class_weights(*case)) == extremes_all(*case)


# ----------------------------------------------------------------------------------------------------- ranges merge


@st.composite
def rows_and_cuts(draw, max_size=60):
    labels, scores, weights = draw(weighted_rows(max_size))
    cuts = draw(st.lists(st.one_of(st.sampled_from(scores.tolist()), st.floats(allow_nan=False)), max_size=8))
    return labels, scores, weights, cuts


@given(rows_and_cuts())
def test_merged_pairs_equal_the_whole(case):
    *rows, cuts = case
    parts = [count_all(*part) for part in ranges(*rows, cuts)]
    whole = count_all(*rows)
    merge, empty = weighted_ranges.merge_pairs, weighted_ranges.WeightedPairs((0, 0), (0, 0), 0)
    assert functools.reduce(lambda lower, higher: merge(higher, lower), parts, empty) == whole
    assert functools.reduce(merge, reversed(parts), empty) == whole


@given(rows_and_cuts())
def test_merged_extremes_equal_the_whole(case):
    *rows, cuts = case
    totals = class_weights(*rows)
    scale = scale_of_all(rows[2])
    parts = [extremes_of(as_rows(*part, scale), totals) for part in ranges(*rows, cuts)]
    whole, statistic, all_rows = extremes_all(*rows), Extremes(), ClassTotals(1, 1, *totals)
    merged = statistic.empty()
    for part in parts:
        merged = statistic.merge(part, merged, all_rows)
    assert merged == whole
    merged = statistic.empty()
    for part in reversed(parts):
        merged = statistic.merge(merged, part, all_rows)
    assert merged == whole


@given(rows_and_cuts())
def test_extremes_of_one_range_of_several(case):
    """Extremes inside a range use the weights of all ranges."""
    *rows, cuts = case
    totals = class_weights(*rows)
    scale = scale_of_all(rows[2])
    for part in ranges(*rows, cuts):
        state = extremes_of(as_rows(*part, scale), totals)
        fractions = [Fraction(total, 2**EXPONENT) for total in totals]
        weights = [sum((w for _, w in own), Fraction(0)) for own in oracle_classes(*part)]
        expected = from_the_top(oracle.extremes(*oracle_classes(*part), *fractions), weights, fractions)
        assert state.found == tuple(in_unit(value, 2) for value in expected)


# --------------------------------------------------------------------------------------------- sizes, carries, peers


def slow_state(labels, scores, weights):
    """Weights, wins, greatest and least difference from the top, by one pass over sorted Python integers."""
    unit = 2**EXPONENT
    ties = {}
    for label, score, weight in zip(labels.tolist(), scores.tolist(), weights.tolist(), strict=True):
        numerator, denominator = weight.as_integer_ratio()
        ties.setdefault(score, [0, 0])[label] += numerator * (unit // denominator)
    negative = sum(tie[0] for tie in ties.values())
    positive = sum(tie[1] for tie in ties.values())
    below = above = wins = greatest = least = 0
    for score in sorted(ties):
        tied_negative, tied_positive = ties[score]
        wins += (2 * below + tied_negative) * tied_positive
        below += tied_negative
        above += tied_positive
        difference = above * negative - below * positive
        greatest, least = max(greatest, difference), min(least, difference)
    return (negative, positive), wins, (-least, -greatest)


def assert_slow_state(labels, scores, weights):
    totals, wins, found = slow_state(labels, scores, weights)
    pairs = count_all(labels, scores, weights)
    extremes = extremes_of(as_rows(labels, scores, weights), totals)
    assert pairs.weights == extremes.totals[2:] == totals
    assert pairs.wins == wins
    assert extremes.found == found
    return pairs, extremes


WEIGHTS = {
    "ones": lambda random, n: np.ones(n),
    "integers": lambda random, n: random.integers(1, 1000, n).astype(np.float64),
    "uniform": lambda random, n: 1.0 - random.random(n),
    "full mantissas": lambda random, n: np.full(n, FULL_MANTISSA),
    "four limbs": lambda random, n: np.ldexp(1.0 + random.random(n), random.integers(0, 50, n)),
    "five limbs": lambda random, n: np.ldexp(1.0 + random.random(n), random.integers(0, 80, n)),
    "all exponents": lambda random, n: np.ldexp(1.0 + random.random(n), random.integers(-1074, 996, n)),
    "subnormals": lambda random, n: random.integers(1, 1 << 51, n) * 5e-324,
}


@each_case("kind", WEIGHTS)
@each_case("share", [0.05, 0.5, 0.95])
@each_case("levels", [7, 500, 1 << 40])
def test_thousands_of_rows(kind, share, levels):
    random = np.random.default_rng(7)
    n = 3000
    labels = (random.random(n) < share).astype(np.uint8)
    scores = random.integers(0, levels, n) + 3.0 * labels
    assert_slow_state(labels, scores, WEIGHTS[kind](random, n))
    assert_slow_state(labels, scores.astype(np.float32), WEIGHTS[kind](random, n))


@each_case("rare_rows", [1, 2, 63, 64, 65])
def test_scores_far_apart_and_crowded(rare_rows):
    """Tables with few ties: most cells empty, many ties in one cell, keys at both ends of the type."""
    random = np.random.default_rng(rare_rows)
    crowd = np.nextafter(1.0, 2.0) + np.arange(200) * 2.0**-52
    scores = np.concatenate([crowd, crowd, [-np.inf, np.inf, 0.0, -0.0, 5e-324, -1e300, 1e300]])
    random.shuffle(scores)
    labels = np.zeros(len(scores), np.uint8)
    labels[random.permutation(len(scores))[:rare_rows]] = 1
    for flip in (labels, 1 - labels):
        assert_slow_state(flip, scores, 1.0 - random.random(len(scores)))


@each_case("n", [65_535, 65_536, 65_537, 200_000])
@each_case("weight", [FULL_MANTISSA, 2.0**32 - 1])
def test_long_runs_carry(n, weight):
    """Many rows in one slot: below all others, tied with them, and above all others."""
    labels = np.zeros(n + 2, np.uint8)
    labels[:2] = 1
    for level in (0.0, 1.0, 2.0):
        scores = np.full(n + 2, level)
        scores[:2] = 1.0
        assert_slow_state(labels, scores, np.full(n + 2, weight))


def test_many_products_carry():
    """More ties than products that can be added without a carry."""
    n = 140_000
    labels = (np.arange(n) % 2).astype(np.uint8)
    assert_slow_state(labels, np.arange(n).astype(np.float64), np.full(n, 2.0**32 - 1))


def test_equal_to_scikit_learn():
    random = np.random.default_rng(11)
    for levels in (20, 1 << 30):
        labels = (random.random(5000) < 0.3).astype(np.uint8)
        scores = random.integers(0, levels, 5000) / levels + 0.1 * labels
        weights = 1.0 - random.random(5000)
        pairs, extremes = assert_slow_state(labels, scores, weights)
        expected = scikit_learn().roc_auc_score(labels, scores, sample_weight=weights)
        assert math.isclose(weighted_ranges.weighted_auc(pairs), expected, rel_tol=1e-12)
        false, true, _ = scikit_learn().roc_curve(labels, scores, sample_weight=weights, drop_intermediate=False)
        assert math.isclose(finalize_extremes({}, extremes).value, np.abs(true - false).max(), rel_tol=1e-12)


def test_read_only_inputs():
    random = np.random.default_rng(3)
    rows = as_rows(np.arange(9) % 2, random.random(9), 1.0 - random.random(9))
    columns = rows.keys, rows.weights
    copies = [column.copy() for column in columns]
    for column in columns:
        column.flags.writeable = False
    state = weighted_ranges.weighted_pairs(rows)
    extremes_of(rows, state.weights)
    assert all(np.array_equal(column, copy) for column, copy in zip(columns, copies, strict=True))
