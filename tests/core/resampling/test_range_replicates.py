"""Replicates of score statistics: the states of a log in which every row occurs as often as its unit's weight."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fastmetrics._core.columns.row_blocks import Output
from fastmetrics._core.exchange import range_exchange, weighted_ranges
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.exchange.range_reduction import RangeReduction
from fastmetrics._core.exchange.runs import (
    NO_ROWS,
    ClassTotals,
    CountedRuns,
    Cut,
    RangePosition,
    RangeStatistic,
    rate_gap,
)
from fastmetrics._core.exchange.sorted_rows import OrderedRows
from fastmetrics._core.registry import list_metrics, parse
from fastmetrics._core.resampling import range_replicates, replicate_batch
from fastmetrics._core.resampling.range_replicates import replicate_scores
from fastmetrics._core.resampling.replicate_batch import (
    REPLICATES_PER_BATCH,
    CountedRange,
    DescendingRange,
    DescendingRows,
    ReplicateBatch,
    ReplicateBatchWeights,
    TiedRange,
    totals_of_counts,
)
from fastmetrics._core.resampling.resampling_units import MAX_UNIT_BUCKETS, draw_weights, find_unit_buckets
from fastmetrics._core.score_statistics.pair_counts import PairCounts, PairsWon
from fastmetrics._kernels.resampling import score_replicates as kernels
from fastmetrics.metrics.curves.rate_crossing import Crossing
from oracles import curves, replicates
from support.cases import assert_raises, each_case
from support.curve_cases import KINDS, make_scores
from support.states.replicate_cases import hashes_of, replicate, statistics_of, store_of, value_of

# Of rows in the order of scores; for other orders see tests/metrics/regression/test_ordered_statistics.py.
RANGE_METRICS = [spec for spec in list_metrics().values() if spec.exchange == "range" and spec.target == "binary"]
EXAMPLES = [spec.example for spec in RANGE_METRICS]
METRICS = [*EXAMPLES, *(variant for spec in RANGE_METRICS for variant in spec.variants)]
# Statistics that compute a batch in one sweep, and two that are computed replicate by replicate, which takes long.
OF_BATCHES = ["ap", "auc", "ks", "eer", "eer(method=mean)", "eer(method=max)", "eer(method=convex_hull)", "lift"]
SCORES = [-math.inf, -2.0, -0.0, 0.0, 0.25, 1.0, math.inf]


def value_of_rows(metric, labels, scores, row_weights=None):
    """The metric of the rows; NaN without rows."""
    (statistic,) = parse(metric).statistics()
    if not len(labels):
        return value_of(metric, statistic.empty())
    rows = OrderedRows(np.asarray(labels, np.uint8), np.asarray(scores), row_weights, 1)
    return value_of(metric, rows.sweep(statistic)[0])


def same(one, other):
    return one == other or (math.isnan(one) and math.isnan(other))


def check(labels, scores, units, n, metrics=METRICS, row_weights=None, dtype=np.float64, selected=None, **options):
    """Compare all replicates, or the selected ones, with the repeated rows."""
    labels, scores = np.asarray(labels, np.uint8), np.asarray(scores, dtype)
    unit_buckets = find_unit_buckets([hashes_of(units)])
    store = store_of(labels, scores, units, row_weights, **options)
    found = replicate(store, unit_buckets, n, metrics, row_weights is not None)
    store.close()
    numbers = unit_buckets.bucket_of(hashes_of(units))
    for number in range(n) if selected is None else selected:
        repeats = draw_weights(unit_buckets, 3, number, number + 1)[numbers, 0]
        repeated_rows = np.repeat(labels, repeats), np.repeat(scores, repeats)
        repeated_weights = None if row_weights is None else np.repeat(row_weights, repeats)
        for metric in metrics:
            (statistic,) = parse(metric).statistics()
            value = value_of(metric, found[statistic, None][number])
            assert same(value, value_of_rows(metric, *repeated_rows, repeated_weights)), (metric, number)


rows_with_ties = st.lists(
    st.tuples(
        st.integers(0, 1), st.sampled_from(SCORES), st.integers(0, 6), st.sampled_from([0.5, 1.0, 3.0, 2.0**-40])
    ),
    min_size=1,
    max_size=40,
)


def test_all_metrics_of_the_range_exchange_are_tested():
    assert {"auc", "ap", "ks", "eer", "eer(method=mean)", "eer(method=max)", "eer(method=convex_hull)"} <= {*METRICS}


@given(rows_with_ties, st.sampled_from([np.float32, np.float64]))
def test_a_replicate_is_the_log_with_repeated_rows(rows, dtype):
    labels, scores, units, _ = zip(*rows, strict=True)
    selected = (0, 1, REPLICATES_PER_BATCH - 1, REPLICATES_PER_BATCH + 2)
    check(labels, scores, units, REPLICATES_PER_BATCH + 3, dtype=dtype, selected=selected)


@given(rows_with_ties)
def test_weighted_rows_are_repeated_with_their_weights(rows):
    labels, scores, units, row_weights = zip(*rows, strict=True)
    check(labels, scores, units, 5, row_weights=np.array(row_weights))


def test_weighted_crossings_of_hard_rows_equal_those_of_repeated_rows():
    """Ties across classes, weights from 2**-1074 to 2**900, and several buckets."""
    generator = np.random.default_rng(8)
    for highest in (1, 40, 900):
        row_weights = np.ldexp(1 + generator.random(3000), generator.integers(-highest, highest, 3000))
        row_weights[:3] = 5e-324
        scores = generator.integers(0, 700, 3000) / 7
        labels = generator.random(3000) < scores / 100
        units = generator.integers(0, 40, 3000)
        metrics = ["eer", "eer(method=mean)", "eer(method=max)"]
        last = REPLICATES_PER_BATCH
        check(labels, scores, units, last + 1, metrics, row_weights, selected=(0, 1, last - 1, last))


@given(rows_with_ties)
def test_values_equal_the_oracle(rows):
    labels, scores, units, _ = zip(*rows, strict=True)
    unit_buckets = find_unit_buckets([hashes_of(units)])
    found = replicate(store_of(labels, np.array(scores), units), unit_buckets, 4, METRICS)
    numbers = unit_buckets.bucket_of(hashes_of(units))
    for number in range(4):
        repeats = draw_weights(unit_buckets, 3, number, number + 1)[numbers, 0].tolist()
        repeated_rows = replicates.repeated(labels, repeats), replicates.repeated(scores, repeats)
        for metric, oracle in (("auc", curves.auc), ("ks", curves.ks)):
            (statistic,) = parse(metric).statistics()
            exact = oracle(*repeated_rows)
            expected = math.nan if exact is None else float(exact)
            assert same(value_of(metric, found[statistic, None][number]), expected)
        state = found[parse("eer").statistics()[0], None][number]
        rate = curves.equal_error_rate(*repeated_rows, "interpolate") if repeated_rows[0] else None
        assert same(value_of("eer", state), math.nan if rate is None else float(rate.value))


@each_case("kind", KINDS)
def test_many_rows_of_every_kind(kind, monkeypatch):
    """Several blocks and buckets, and ties with more rows than a byte can count."""
    monkeypatch.setattr(range_exchange, "ROWS_PER_BUCKET", 5_000)
    generator = np.random.default_rng(5)
    rows = 10_000
    labels = generator.random(rows) < 0.3
    units = generator.integers(0, 2000, rows)
    options = {"selected": (0, 65), "block_rows": 2_500, "dtype": np.float32}
    check(labels, make_scores(kind, rows), units, 66, EXAMPLES, **options)


def test_more_units_than_unit_buckets_and_few_positives():
    generator = np.random.default_rng(6)
    rows = 60_000
    labels = generator.random(rows) < 0.01
    check(labels, generator.random(rows), np.arange(rows), 3, EXAMPLES)
    assert find_unit_buckets([hashes_of(np.arange(rows))]).keys.shape[0] == MAX_UNIT_BUCKETS


def test_states_equal_those_of_the_statistics():
    generator = np.random.default_rng(7)
    rows = 3000
    labels, scores = generator.integers(0, 2, rows).astype(np.uint8), generator.integers(0, 500, rows) / 7
    units = generator.integers(0, 100, rows)
    unit_buckets = find_unit_buckets([hashes_of(units)])
    found = replicate(store_of(labels, scores, units), unit_buckets, 2, METRICS)
    for number in range(2):
        repeats = draw_weights(unit_buckets, 3, number, number + 1)[unit_buckets.bucket_of(hashes_of(units)), 0]
        repeated_rows = OrderedRows(np.repeat(labels, repeats), np.repeat(scores, repeats), None, 1)
        for metric in ("auc", "ap", "ks", "eer(method=convex_hull)"):
            (statistic,) = parse(metric).statistics()
            assert found[statistic, None][number] == repeated_rows.sweep(statistic)[0]
        (crossing,) = repeated_rows.sweep(parse("eer").statistics()[0])
        state = found[parse("eer").statistics()[0], None][number]
        assert state.before[:2] == crossing.before[:2]
        assert state.after[:2] == crossing.after[:2]
        assert state.totals == crossing.totals


def many_rows(seed=8, rows=50_000):
    generator = np.random.default_rng(seed)
    labels = (generator.random(rows) < 0.4).astype(np.uint8)
    scores = np.where(generator.random(rows) < 0.5, 0.5, np.round(generator.standard_normal(rows), 3) + labels)
    slices = np.minimum(generator.geometric(0.4, rows) - 1, 4)
    return labels, scores, generator.integers(0, 300, rows), slices


def without_scores(found):
    """States without the scores of crossings, which are known only of ties that are too large to be loaded."""

    def plain(state):
        if not isinstance(state, Crossing):
            return state
        before, after = (None if point is None else point._replace(score=None) for point in state[2:])
        return Crossing(state.totals, None, before, after)

    return {key: [plain(state) for state in states] for key, states in found.items()}


@each_case(("metrics", "n"), [(METRICS, 3), (OF_BATCHES, 66)], ids=["all", "two batches"])
@each_case("n_slices", [0, 6])
def test_results_do_not_depend_on_threads_memory_or_row_order(monkeypatch, n_slices, metrics, n):
    labels, scores, units, slices = many_rows(rows=6_000)
    unit_buckets = find_unit_buckets([hashes_of(units)])
    expected = without_scores(
        replicate(store_of(labels, scores, units, None, slices), unit_buckets, n, metrics, n_slices=n_slices)
    )
    order = np.random.default_rng(1).permutation(len(labels))
    monkeypatch.setattr(range_replicates, "MAX_SORTED_ROWS", 600)
    monkeypatch.setattr(range_replicates, "FEW_ROWS", 500)
    monkeypatch.setattr(range_replicates, "CACHED_BYTES", 0)
    for limit, n_threads in ((None, 2), (1 << 14, 1), (1 << 17, 2)):
        budget = None if limit is None else MemoryBudget(limit, None, 1)
        store = store_of(labels[order], scores[order], units[order], None, slices[order], budget, 1100)
        found = replicate(store, unit_buckets, n, metrics, n_slices=n_slices, n_threads=n_threads)
        store.close()
        assert without_scores(found) == expected, (limit, n_threads)


@each_case(("metrics", "n"), [(METRICS, 3), (OF_BATCHES, 65)], ids=["all", "two batches"])
def test_a_slice_equals_a_log_of_its_rows(metrics, n):
    labels, scores, units, slices = many_rows(rows=6_000)
    unit_buckets = find_unit_buckets([hashes_of(units)])
    found = replicate(store_of(labels, scores, units, None, slices), unit_buckets, n, metrics, n_slices=6)
    assert {number for _, number in found} == set(range(5))  # slice 5 has no rows
    for number in range(5):
        mask = slices == number
        expected = replicate(store_of(labels[mask], scores[mask], units[mask]), unit_buckets, n, metrics)
        for statistic in statistics_of(metrics):
            assert found[statistic, number] == expected[statistic, None]


@pytest.mark.parametrize("limit", [None, 1])
def test_weights_of_rows_spilled_and_sliced(limit):
    labels, scores, units, slices = (column[:600] for column in many_rows())
    row_weights = np.random.default_rng(2).random(600)
    budget = None if limit is None else MemoryBudget(limit, None, 1)
    unit_buckets = find_unit_buckets([hashes_of(units)])
    store = store_of(labels, scores, units, row_weights, slices, budget, 200)
    found = replicate(store, unit_buckets, 2, METRICS, True, 5)
    store.close()
    for number in range(2):
        weights = draw_weights(unit_buckets, 3, number, number + 1)[:, 0]
        repeats = weights[unit_buckets.bucket_of(hashes_of(units))] * (slices == 1)
        repeated_rows = np.repeat(labels, repeats), np.repeat(scores, repeats), np.repeat(row_weights, repeats)
        for metric in METRICS:
            (statistic,) = parse(metric).statistics()
            assert value_of(metric, found[statistic, 1][number]) == value_of_rows(metric, *repeated_rows)


class PairsOfArrays(RangeStatistic):
    """Pairs won, from the arrays of the runs."""

    __slots__ = ()
    merge = PairsWon.merge

    def find(self, runs, position):
        negatives, positives = runs.negatives.astype(object), runs.positives.astype(object)
        below = negatives.sum() - np.cumsum(negatives)
        return PairCounts(*runs.totals.rows, int((positives * (2 * below + negatives)).sum()))


@pytest.mark.parametrize("limit", [None, 1 << 17])
def test_a_statistic_may_read_the_runs_of_every_replicate(limit):
    labels, scores, units, _ = many_rows()
    unit_buckets = find_unit_buckets([hashes_of(units)])
    store = store_of(labels, scores, units, budget=None if limit is None else MemoryBudget(limit, None, 1))
    reduction = RangeReduction(store, Output(0, 0), False, [PairsOfArrays(), PairsWon()], 1)
    found = replicate_scores(reduction, unit_buckets, 3, 3)
    store.close()
    assert found[PairsOfArrays(), None] == found[PairsWon(), None]


def test_products_beyond_62_bits_are_computed_replicate_by_replicate(monkeypatch):
    labels, scores, units, _ = (column[:2000] for column in many_rows())
    unit_buckets = find_unit_buckets([hashes_of(units)])
    metrics = ["auc", "ap", "ks", "eer"]
    expected = replicate(store_of(labels, scores, units), unit_buckets, 3, metrics)
    monkeypatch.setattr(replicate_batch, "SMALL_ROWS", 100)
    found = replicate(store_of(labels, scores, units), unit_buckets, 3, metrics)
    for metric in metrics:
        (statistic,) = parse(metric).statistics()
        for one, other in zip(found[statistic, None], expected[statistic, None], strict=True):
            assert value_of(metric, one) == value_of(metric, other)


def test_too_many_rows_raise_an_error(monkeypatch):
    labels, scores, units, _ = (column[:100] for column in many_rows())
    unit_buckets = find_unit_buckets([hashes_of(units)])
    monkeypatch.setattr(range_replicates, "MAX_BUCKET_ROWS", 100)
    assert_raises(
        OverflowError, "100 rows have neighboring scores",
        replicate, store_of(labels, scores, units), unit_buckets, 1, METRICS,
    )
    monkeypatch.setattr(range_replicates, "MAX_ROWS", 100)
    assert_raises(
        OverflowError, "100 rows are more than", replicate, store_of(labels, scores, units), unit_buckets, 1, METRICS
    )


def test_unknown_units_raise_an_error():
    labels, scores, units, _ = (column[:100] for column in many_rows())
    assert_raises(
        ValueError, "some units are in no unit bucket",
        replicate, store_of(labels, scores, units), find_unit_buckets([hashes_of(units[:3])]), 1, METRICS,
    )


# Ranges of a batch: loops for wide registers against the runs of each replicate, and large numbers.


def random_codes(generator, rows, n_unit_buckets, tie_rows, positives):
    """Codes and segments of rows whose ties have about tie_rows rows."""
    ends = generator.random(rows) < 1 / tie_rows
    ends[-1] = True
    ties = np.concatenate(([0], np.cumsum(ends)[:-1]))
    is_positive = generator.random(rows) < positives
    is_positive = is_positive[np.lexsort((is_positive, ties))]
    codes = generator.integers(0, n_unit_buckets, rows)
    codes |= np.where(is_positive, kernels.POSITIVE_FLAG, 0) | np.where(ends, 1 << 15, 0)
    starts = np.flatnonzero(np.concatenate(([True], ends[:-1])))
    segments = []
    for start, stop in zip(starts, np.append(starts[1:], rows), strict=True):
        if is_positive[start] != is_positive[stop - 1]:
            segments.append(start - stop)
        elif segments and segments[-1] > 0:
            segments[-1] += stop - start
        else:
            segments.append(stop - start)
    return codes.astype(np.uint16), np.array(segments, np.int32)


def bucket_of(codes, segments, lowest):
    """Rows of a bucket whose keys are above `lowest`."""
    tie = np.cumsum(codes >> 15) - (codes >> 15)
    return DescendingRows(codes, segments, sort_keys=lambda: (lowest + 1 + tie[-1] - tie).astype(np.uint64))


@each_case("most", [1, 6, 40, 255])
@each_case("tie_rows", [1, 3, 50, 5000])
@each_case("positives", [0.0, 0.01, 0.5, 1.0])
def test_a_range_equals_the_runs_of_each_replicate(most, tie_rows, positives):
    generator = np.random.default_rng([most, tie_rows])
    rows = 9000 if tie_rows > 1000 else 2500
    buckets = [bucket_of(*random_codes(generator, rows, 50, tie_rows, positives), start) for start in (1 << 20, 0)]
    table = generator.integers(0, most + 1, (50, REPLICATES_PER_BATCH)).astype(np.uint8)
    table[:, 5] = 0
    table[:, 6] = most
    weights, descending = ReplicateBatchWeights(table, most, REPLICATES_PER_BATCH), DescendingRange(buckets)
    codes = np.concatenate([bucket.codes for bucket in buckets])
    times = table[codes & kernels.UNIT_BUCKET_MASK].astype(np.int64)
    is_positive = (codes & kernels.POSITIVE_FLAG) > 0
    totals = totals_of_counts(descending.counts, weights)
    by_class = (times[own].sum(0).tolist() for own in (~is_positive, is_positive))
    assert totals == [ClassTotals(*own) for own in zip(*by_class, strict=True)]
    for above, below in ((NO_ROWS, NO_ROWS), (ClassTotals(70, 900), ClassTotals(400, 10))):
        positions = [RangePosition(above.plus(own).plus(below), above) for own in totals]
        of_range = CountedRange(descending, weights, positions)
        for number, position in enumerate(positions):
            if totals[number] == NO_ROWS:
                continue
            runs = of_range.runs(number, position, Cut.SCORES)
            masses = position.totals.rows
            assert runs.extremes(masses) == CountedRuns.extremes(runs, masses)
            assert runs.pairs() == CountedRuns.pairs(runs)
            assert runs.precisions(position) == CountedRuns.precisions(runs, position)
            end = above.plus(totals[number]).rows
            if rate_gap(*above.rows, masses) < 0 <= rate_gap(*end, masses):
                crossing, expected = runs.crossing(position), CountedRuns.crossing(runs, position)
                assert [point[:2] for point in crossing] == [point[:2] for point in expected]


def test_pairs_beyond_64_bits():
    generator = np.random.default_rng(9)
    statistic = PairsWon()
    weights = ReplicateBatchWeights(np.full((1, REPLICATES_PER_BATCH), 255, np.uint8), 255, REPLICATES_PER_BATCH)
    nothing = [NO_ROWS] * REPLICATES_PER_BATCH
    batch = ReplicateBatch([statistic], weights, nothing)
    expected = [PairCounts(0, 0, 0)] * REPLICATES_PER_BATCH
    for _ in range(6):
        tied_counts = generator.integers(0, 1 << 50, (2, REPLICATES_PER_BATCH)).T.tolist()
        batch.add(TiedRange(np.zeros(1, np.uint64), [ClassTotals(*own) for own in tied_counts], False))
        ties = [PairCounts(n, p, n * p) for n, p in tied_counts]
        expected = [statistic.merge(above, tie, None) for tie, above in zip(ties, expected, strict=True)]
    assert batch.states_of(0) == expected
    rows = DescendingRange([DescendingRows(*random_codes(generator, 500, 1, 3, 0.5))])
    batch.add(CountedRange(rows, weights, batch.positions()))
    only_below = ReplicateBatch([statistic], weights, nothing)
    only_below.add(CountedRange(rows, weights, only_below.positions()))
    below = only_below.states_of(0)
    merged = [statistic.merge(high, low, None) for low, high in zip(below, expected, strict=True)]
    assert batch.states_of(0) == merged


@pytest.mark.parametrize("metric", ["ks", "ap", "eer"])
def test_ties_of_very_many_rows(metric):
    """Ties as counts, as large as a batch allows."""
    ties = np.random.default_rng(10).integers(0, 1 << 28, (5, 2, REPLICATES_PER_BATCH))
    weights = ReplicateBatchWeights(np.empty((0, REPLICATES_PER_BATCH), np.uint8), 1, REPLICATES_PER_BATCH)
    (statistic,) = parse(metric).statistics()
    batch = ReplicateBatch([statistic], weights, [ClassTotals(*own) for own in ties.sum(0).T.tolist()])
    for number, tied_counts in enumerate(ties):
        totals = [ClassTotals(*own) for own in tied_counts.T.tolist()]
        batch.add(TiedRange(np.array([9 - number], np.uint64), totals, False))
    for number, state in enumerate(batch.states_of(0)):
        # The weighted statistic counts in Python integers.
        scores, labels = np.repeat([5.0, 4.0, 3.0, 2.0, 1.0], 2), np.tile(np.array([0, 1], np.uint8), 5)
        rows = OrderedRows(labels, scores, ties[:, :, number].ravel().astype(np.float64), 1)
        assert value_of(metric, state) == value_of(metric, rows.sweep(statistic)[0])


def test_the_scale_fits_rows_with_the_greatest_weight():
    span = weighted_ranges.WeightSpan(-3, 2, 10)
    scale = weighted_ranges.scale_of(span._replace(rows=range_replicates.MAX_WEIGHT * 10))
    assert scale.n_limbs * 32 >= (255 * 10 * 2**5 * 2).bit_length()
