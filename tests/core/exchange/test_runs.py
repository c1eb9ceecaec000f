"""Runs of rows without weights, at every cut: what is read from them equals slow definitions in Python's integers."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmetrics._core.exact import EXPONENT
from fastmetrics._core.exchange import runs as runs_module
from fastmetrics._core.exchange.blocks import Block
from fastmetrics._core.exchange.range_exchange import KEY, ScoreBuckets, ordered_keys, scores_of_keys
from fastmetrics._core.exchange.runs import NO_ROWS, ClassTotals, CurvePoint, Cut, RangePosition, SortedRuns
from fastmetrics._core.exchange.threshold_sweep import SweepBuilder
from fastmetrics._core.exchange.weighted_sweep import WeightedTie
from fastmetrics._kernels.sweep import runs as kernels
from support.cases import each_case

rows_of_range = st.lists(st.tuples(st.integers(0, 1), st.integers(-6, 6)), min_size=1, max_size=60)


def sorted_classes(rows, dtype=np.float64):
    """Keys of the negatives and of the positives, each ascending, and their totals."""
    by_class = [np.array(sorted(score for label, score in rows if label == own), dtype) for own in (0, 1)]
    return [ordered_keys(scores) for scores in by_class], ClassTotals(*map(len, by_class))


def ties_of(rows):
    """(score, negatives, positives) of every score, descending."""
    scores = sorted({score for _, score in rows}, reverse=True)
    return [(score, rows.count((0, score)), rows.count((1, score))) for score in scores]


def all_runs(rows, above=NO_ROWS, below=NO_ROWS, dtype=np.float64):
    """The runs of a range by every path: of sorted classes, and of buckets with either class as the pivot."""
    by_class, totals = sorted_classes(rows, dtype)
    position = RangePosition(above.plus(totals).plus(below), above)
    keys = np.concatenate(by_class)
    for cut in Cut:
        yield cut, SortedRuns(keys, totals, position, cut), position
    middle = int(np.median(keys.astype(np.float64)))
    parts = [[own[own <= middle], own[own > middle]] for own in by_class]
    parts = [parts[label][bucket] for bucket in (0, 1) for label in (0, 1)]
    offsets = np.cumsum([0, *map(len, parts)]).astype(np.int32)
    buckets = ScoreBuckets([Block({KEY: np.concatenate(parts)}, offsets)])
    for pivot in (0, 1):
        for cut, runs in SweepBuilder(buckets, pivot, [(0, 2)]).runs(0, 2, position).items():
            if cut is not Cut.POSITIVES or pivot == 1:
                yield cut, runs, position


@given(rows_of_range, st.sampled_from([np.float32, np.float64]))
def test_runs_have_all_rows_and_end_where_the_cut_says(rows, dtype):
    ties = ties_of(rows)
    ends = np.cumsum([tie[1:] for tie in ties], axis=0).tolist()
    for cut, runs, _ in all_runs(rows, dtype=dtype):
        assert runs.totals == ClassTotals(*ends[-1])
        assert runs.lowest_score() == ties[-1][0]
        found = list(zip(np.cumsum(runs.negatives).tolist(), np.cumsum(runs.positives).tolist(), strict=True))
        assert found[-1] == tuple(ends[-1])
        classes = [(bool(n), bool(p)) for n, p in zip(runs.negatives.tolist(), runs.positives.tolist(), strict=True)]
        wanted = {Cut.CLASSES: [(True, True)], Cut.POSITIVES: [(True, True), (False, True)]}.get(cut)
        for number, of_run in enumerate(classes):
            before = found[number - 1] if number else (0, 0)
            scores = [tie for tie, end in zip(ties, ends, strict=True) if before < tuple(end) <= found[number]]
            if wanted is None or of_run in wanted:
                assert len(scores) == 1
                assert runs.scores[number] == scores[0][0]


@given(rows_of_range, st.tuples(st.integers(0, 50), st.integers(0, 50)), st.tuples(st.integers(0, 50)))
def test_what_runs_offer_equals_the_definitions(rows, above, below):
    ties, above, below = ties_of(rows), ClassTotals(*above), ClassTotals(*below * 2)
    for cut, runs, position in all_runs(rows, above, below):
        all_negatives, all_positives = position.totals.rows
        fps = tps = 0
        differences, pairs, points, terms = [0], 0, [CurvePoint(0, 0, math.inf)], 0
        for score, negatives, positives in ties:
            fps, tps = fps + negatives, tps + positives
            differences.append(tps * all_negatives - fps * all_positives)
            pairs += positives * (2 * (runs.totals.negatives - fps) + negatives)
            points.append(CurvePoint(fps, tps, score))
            if positives:
                precision = (above.positives + tps) / (above.positives + tps + above.negatives + fps)
                terms += int(Fraction(positives * precision) * 2**EXPONENT)
        assert runs.extremes(position.totals.rows) == (max(differences), min(differences))
        assert runs.pairs() == pairs
        expected = [point for point in points[1:] if cut is Cut.SCORES]
        if cut is Cut.POSITIVES:
            expected = [own for before, own in pairwise(points) if own.tps > before.tps]
        if cut is not Cut.CLASSES:
            found = zip(*(column.tolist() for column in runs.points(position)), strict=True)
            expected = [(own.score, own.fps + above.negatives, own.tps + above.positives) for own in expected]
            assert list(found) == expected
            assert runs.precisions(position) == terms
            assert runs.upper_hull() == runs_module.upper_corners(points)


@given(rows_of_range)
def test_the_crossing_is_between_two_neighboring_points(rows):
    ties = ties_of(rows)
    if len({label for label, _ in rows}) < 2:
        return
    points = [CurvePoint(0, 0, None)]
    for score, negatives, positives in ties:
        points.append(CurvePoint(points[-1].fps + negatives, points[-1].tps + positives, score))
    for cut, runs, position in all_runs(rows):
        if cut is Cut.SCORES:
            gaps = [runs_module.rate_gap(*point[:2], position.totals.rows) >= 0 for point in points]
            assert runs.crossing(position) == (points[gaps.index(True) - 1], points[gaps.index(True)])


@given(rows_of_range)
def test_products_beyond_64_bits_are_exact(rows):
    huge = ClassTotals(3**20, 5**15)
    for _, runs, position in all_runs(rows, huge, huge):
        assert runs.is_large
        assert runs.negatives.dtype == runs.positives.dtype == object
        totals = position.totals.rows
        found = np.cumsum(runs.positives) * totals[0] - np.cumsum(runs.negatives) * totals[1]
        assert runs.extremes(totals) == (max(0, *found), min(0, *found))


def test_a_weighted_tie_has_one_run():
    totals = ClassTotals(2, 1, 3 << EXPONENT, 5 << EXPONENT)
    position = RangePosition(totals.plus(totals), totals)
    runs = WeightedTie(0.25, totals, Cut.SCORES)
    assert runs.lowest_score() == 0.25
    assert runs.pairs() == 15 << 2 * EXPONENT
    assert [column.tolist() for column in runs.points(position)] == [[0.25], [6.0], [10.0]]
    assert runs.extremes((1, 2)) == (0, -1 << EXPONENT)
    assert runs.upper_hull() == [CurvePoint(0, 0, math.inf), CurvePoint(*totals[2:], 0.25)]
    assert runs.precisions(position) == int(Fraction(5 * (10 / 16)) * 2**EXPONENT)


def test_many_ties_and_long_runs_of_buckets():
    generator = np.random.default_rng(4)
    for n_scores, share in ((20, 0.5), (5000, 0.02), (100_000, 0.3)):
        labels = generator.random(20_000) < share
        rows = list(zip(labels.astype(int).tolist(), generator.integers(0, n_scores, 20_000).tolist(), strict=True))
        found = [(runs.extremes(position.totals.rows), runs.pairs()) for _, runs, position in all_runs(rows)]
        assert len(set(found)) == 1


@each_case(
    "call",
    [
        lambda: kernels.extremes(np.zeros(2, np.int64), np.zeros(3, np.int64), 1, 1),
        lambda: kernels.pairs(np.zeros(2, np.int64), np.zeros(3, np.int64), 1),
        lambda: kernels.precisions(np.zeros(2, np.int64), np.zeros(2, np.int64), 1, 1, np.zeros(3, np.int64)),
        lambda: kernels.upper_hull(*np.zeros((5, 2), np.int64)),
        lambda: kernels.wide_extremes(*np.zeros((3, 2, 3), np.uint64)),
        lambda: kernels.wide_extremes(np.zeros((2, 4), np.uint64), *np.zeros((2, 2, 2), np.uint64)),
        lambda: kernels.runs_of_weights(np.zeros((2, 2), np.uint64), 0, 0, *np.zeros((2, 1, 4), np.uint64)[:, 0]),
        lambda: kernels.runs_of_sorted(np.zeros(3, np.uint64), 1, 0, np.zeros(2, np.uint64), *np.zeros((2, 2), int)),
    ],
)
def test_kernels_refuse_arrays_that_do_not_fit(call):
    with pytest.raises((ValueError, TypeError), match=r"must|there|dimensions"):
        call()


def test_scores_of_keys_are_the_scores_of_runs():
    keys, totals = sorted_classes([(0, -1), (1, 3)], np.float32)
    runs = SortedRuns(np.concatenate(keys), totals, RangePosition(totals, NO_ROWS), Cut.SCORES)
    assert runs.scores.tolist() == scores_of_keys(runs.made[0]).tolist() == [3.0, -1.0]
