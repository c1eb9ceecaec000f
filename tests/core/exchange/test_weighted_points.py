"""Points of curves of weighted rows, and sums of precisions: kernels of 128 bits beside Python's integers."""

import math
from fractions import Fraction

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from fastmetrics._core import exact
from fastmetrics._core.exchange import weighted_sweep
from fastmetrics._core.exchange.range_exchange import ordered_keys
from fastmetrics._core.exchange.runs import NO_ROWS, ClassTotals, Cut, RangePosition, weighted_precision
from fastmetrics._core.exchange.weighted_ranges import merge_spans, scale_of, span_of, split_classes
from fastmetrics._core.exchange.weighted_sweep import MOST_LIMBS, WeightedRates, WeightedRuns
from fastmetrics._kernels.sweep import weighted_sweep as kernel
from support.cases import each_case

WEIGHTS = {
    "usual": st.floats(0.01, 10),
    "whole": st.integers(1, 2**53).map(float),
    "far apart": st.builds(math.ldexp, st.integers(1, 2**53 - 1).map(float), st.integers(-30, 20)),
    "tiny": st.integers(1, 2**50).map(lambda n: n * 5e-324),
    "huge": st.floats(1e299, 1e300),
    "too far apart": st.sampled_from([1e-300, 1.0, 0.1, 1e300]),
}


def runs_of(rows, cut=Cut.SCORES):
    return WeightedRuns(rows.scale, cut, lambda: rows)


def totals_of(rows):
    return ClassTotals(*rows.counts, *rows.class_weights())


def make_rows(weights, seed, n_scores, dtype=np.float64, above=()):
    """Weighted rows of a range, and its position below some weights (negative, positive)."""
    random = np.random.default_rng(seed)
    weights = np.array(weights, np.float64)
    positive = random.random(weights.shape[0]) < 0.5
    scores = random.integers(0, n_scores, weights.shape[0]).astype(dtype) / 7
    rows = split_classes(positive, ordered_keys(scores), weights)
    if above:
        span = merge_spans(span_of(weights), span_of(np.array(above)))
        rows.scale = scale_of(span)
        higher = ClassTotals(1, 1, *(exact.to_fixed(weight) for weight in above))
    else:
        higher = NO_ROWS
    return rows, RangePosition(totals_of(rows).plus(higher), higher)


def expected_points(rows, position):
    """By fractions: score, and the three sums of weights."""
    unit = Fraction(1, 1 << exact.EXPONENT)
    all_keys = rows.keys.tolist()
    by_class = [dict.fromkeys(all_keys, Fraction(0)) for _ in range(2)]
    for sums, (keys, weights) in zip(by_class, rows.classes, strict=True):
        for key, weight in zip(keys.tolist(), weights.tolist(), strict=True):
            sums[key] += Fraction(weight)
    down_to = [position.above.negative_weight * unit, position.above.positive_weight * unit]
    points = []
    for key in sorted(by_class[0], reverse=True):
        down_to = [so_far + sums[key] for so_far, sums in zip(down_to, by_class, strict=True)]
        below = position.totals.positive_weight * unit - down_to[1]
        points.append((*map(to_double, (*down_to, below)), by_class[1][key] > 0))
    return points


def to_double(value):
    """The nearest double."""
    return exact.divide(value.numerator, value.denominator)


def found_points(points):
    return list(zip(*(column.tolist() for column in points[1:]), strict=True))


@st.composite
def cases(draw):
    kind = draw(st.sampled_from(sorted(WEIGHTS)))
    weights = draw(st.lists(WEIGHTS[kind], min_size=1, max_size=30))
    above = draw(st.sampled_from([(), tuple(draw(st.tuples(WEIGHTS[kind], WEIGHTS[kind])))]))
    return weights, draw(st.integers(0, 99)), draw(st.sampled_from([1, 3, 1000])), above


@given(cases(), st.sampled_from([np.float32, np.float64]))
@example(([1.0, 2.0**-52], 1, 1000, ()), np.float64)
def test_points_are_exact_sums_rounded_once(case, dtype):
    weights, seed, n_scores, above = case
    rows, position = make_rows(weights, seed, n_scores, dtype, above)
    points = runs_of(rows).weighted_points(position)
    assert found_points(points) == expected_points(rows, position)
    assert (np.diff(points.scores) < 0).all()


@given(cases(), st.booleans(), st.integers(0, 2))
def test_rates_are_quotients_of_the_points(case, error_rates, n_more):
    rows, position = make_rows(*case[:3], above=case[3])
    n_above = position.above.negatives + position.above.positives
    statistic = WeightedRates(rows.keys.shape[0] + n_above, error_rates, n_more)
    (found,) = statistic.find(runs_of(rows), position)
    points = expected_points(rows, position)
    totals = [Fraction(weight, 1 << exact.EXPONENT) for weight in position.totals[2:]]
    all_negatives, all_positives = map(to_double, totals)
    expected = []
    for fps, tps, below, has_positive in reversed(points):
        with np.errstate(all="ignore"):
            if error_rates:
                rates = np.float64(fps) / all_negatives, np.float64(below) / all_positives
            else:
                rates = np.float64(tps) / (tps + fps), np.float64(tps) / all_positives
        expected.append((*rates, has_positive))
    assert np.array_equal(found_points(found), expected, equal_nan=True)
    assert (np.diff(found.scores) > 0).all()
    assert np.shares_memory(found.scores, statistic.columns.scores[: rows.keys.shape[0]])  # rows above come behind
    columns, has_positive = statistic.join([found])
    assert all(column.shape[0] - n_more in (len(points), statistic.n_rows) for column in columns)
    assert has_positive.shape[0] + n_more == columns[0].shape[0]


@given(cases())
def test_sums_of_precisions_are_those_of_integers(case):
    rows, position = make_rows(*case[:3], above=case[3])
    above = position.above
    by_fractions = 0
    unit, shift = 1 << exact.EXPONENT, exact.tiny_total_shift(position.totals.positive_weight)
    sums = [above.negative_weight, above.positive_weight]
    keys = sorted(set(rows.keys.tolist()), reverse=True)
    for key in keys:
        tied = [int(sum(map(Fraction, weights[own == key].tolist())) * unit) for own, weights in rows.classes]
        sums = [so_far + weight for so_far, weight in zip(sums, tied, strict=True)]
        if tied[1]:
            by_fractions += weighted_precision(*(weight << shift for weight in (tied[1], sums[1], sums[0])))
    assert runs_of(rows, Cut.POSITIVES).precisions(position) == by_fractions


def test_uncertain_quotients_are_left_to_integers():
    """P / (P + N) within 2**-100 of the middle between two doubles: the kernel gives it back, and does not guess."""
    middle = Fraction((1 << 53) + 1, 1 << 54)  # needs 54 bits
    whole = (1 << 114) - 1
    part = round(middle * whole)
    words = [value for number in (part - 1, whole - part) for value in (number & (2**64 - 1), number >> 64)]
    above = np.array([words[2:], words[:2]], np.uint64)
    ordered = np.array([[5, np.array(-1.0).view(np.uint64)]], np.uint64)
    state, uncertain = exact.new_states(), np.zeros((1, 6), np.uint64)
    assert kernel.sum_precisions(ordered, 0, above, state, uncertain) == 1
    assert uncertain.tolist() == [[1, 0, part & (2**64 - 1), part >> 64, *words[2:]]]
    assert exact.to_integer(state) == 0
    assert kernel.sum_precisions(ordered, 0, above, state, uncertain[:0]) == -1


def test_quotients_of_sums_beyond_two_doubles_are_left_to_integers():
    """A sum of 118 bits is known to 52 bits only: no quotient by it is certain."""
    rng = np.random.default_rng(1)
    for bits in (117, 118, 119, 125):
        for _ in range(20):
            part, rest = (int(rng.integers(2**62, 2**63)) << bits - 63 | int(rng.integers(2**40)) for _ in range(2))
            words = [[number & (2**64 - 1), number >> 64] for number in (rest, part)]
            ordered = np.array([[5, np.array(-1.0).view(np.uint64)]], np.uint64)
            state, uncertain = exact.new_states(), np.zeros((1, 6), np.uint64)
            found = kernel.sum_precisions(ordered, 0, np.array(words, np.uint64), state, uncertain)
            precision = exact.divide(part + 1, part + 1 + rest)
            assert exact.to_integer(state) == (0 if found else exact.to_fixed(precision))
            assert found or (part + 1 + rest).bit_length() <= 117


def test_uncertain_quotients_are_added(monkeypatch):
    rows, position = make_rows([0.1, 0.7, 0.2, 0.9, 0.3], 1, 1000)
    expected = runs_of(rows, Cut.POSITIVES).precisions(position)
    original = kernel.sum_precisions
    units = [int(Fraction(weight) / Fraction(2) ** rows.scale.unit) for weight in (0.5, 1.5, 2.0)]
    words = [word for number in units for word in (number & (2**64 - 1), number >> 64)]

    def with_one_uncertain(*arguments):
        arguments[-1][0] = words
        return original(*arguments) + 1

    monkeypatch.setattr(weighted_sweep.weighted_sweep, "sum_precisions", with_one_uncertain)
    terms = weighted_precision(*(exact.to_fixed(weight) for weight in (0.5, 1.5, 2.0)))
    assert runs_of(rows, Cut.POSITIVES).precisions(position) == expected + terms
    monkeypatch.setattr(weighted_sweep.weighted_sweep, "sum_precisions", lambda *arguments: -1)
    assert runs_of(rows, Cut.POSITIVES).precisions(position) == expected


KEYS = {
    "spread": lambda random, n: random.integers(0, 2**63, n, np.uint64),
    "tied": lambda random, n: random.integers(0, 20, n, np.uint64) << np.uint64(40),
    "one": lambda random, n: np.full(n, 2**63, np.uint64),
    "in few cells": lambda random, n: np.append(random.integers(0, 5000, n - 1, np.uint64), np.uint64(2**63)),
    "descending": lambda random, n: np.arange(n, dtype=np.uint64)[::-1],
    "extremes": lambda random, n: np.where(random.random(n) < 0.5, np.uint64(0), np.uint64(2**64 - 1)),
}


@each_case("keys", KEYS)
def test_rows_are_ordered_for_any_keys(keys):
    random = np.random.default_rng(3)
    for n in (1, 2, 3, 100, 3000):
        all_keys = np.ascontiguousarray(KEYS[keys](random, n))
        weights = random.random(n) + 0.1
        positive = random.random(n) < 0.3
        rows = split_classes(positive, all_keys, weights)
        ordered, signed = rows.ordered()[:, 0], rows.ordered()[:, 1].view(np.float64)
        assert (ordered == np.sort(all_keys)).all()
        wanted = sorted(zip(all_keys.tolist(), np.where(positive, -weights, weights).tolist(), strict=True))
        assert sorted(zip(ordered.tolist(), signed.tolist(), strict=True)) == wanted


def test_wide_weights_take_the_kernel_and_wider_ones_do_not():
    narrow, _ = make_rows([1.0, 2.0**-60], 0, 5)
    wide, _ = make_rows([1.0, 2.0**-200], 0, 5)
    assert narrow.scale.n_limbs <= MOST_LIMBS < wide.scale.n_limbs


def test_sums_just_above_the_middle_of_two_doubles_are_rounded_up():
    """One unit far below decides: for sums of one word and a little, of two words, and of almost all bits."""
    for exponent in (54, 63, 64, 65, 80, 116, 117, 118, 123):
        half = 2.0 ** (exponent - 53)
        for weights in ([2.0**exponent, half, 1.0], [2.0**exponent, half], [2.0**exponent, 3 * half, 1.0]):
            weights = np.array(weights)
            rows = split_classes(np.ones(weights.shape[0], bool), np.zeros(weights.shape[0], np.uint64), weights)
            scale = scale_of(merge_spans(span_of(weights), span_of(np.array([1.0]))))
            assert scale.n_limbs <= MOST_LIMBS
            rows.scale = scale
            points = runs_of(rows).weighted_points(RangePosition(totals_of(rows), NO_ROWS))
            assert points.tps.tolist() == [to_double(sum(map(Fraction, weights.tolist())))]
