"""Replicates of score statistics: each is the state of the log in which units' rows are repeated by their weights."""

import math

import numpy as np
import pytest
from curve_cases import KINDS, scores_of
from hypothesis import given, settings
from hypothesis import strategies as st

from fastmetrics._core import score_replicates, weighted
from fastmetrics._core.blocks import Block, BlockStore, Room
from fastmetrics._core.by_group import HASH
from fastmetrics._core.lots import MOST_LOTS, draw, make_lots
from fastmetrics._core.ordered_rows import OrderedRows
from fastmetrics._core.pairs import PairCounts, PairsWon
from fastmetrics._core.registry import known_specs, parse
from fastmetrics._core.rows import SLICE, WEIGHT, View, label_name, score_name
from fastmetrics._core.score_replicates import ABREAST, FallingRows, LaneTotals, LaneWeights, replicate_scores
from fastmetrics._core.score_runs import ScoreWork
from fastmetrics._core.statistic import Statistic
from fastmetrics._kernels import scorereplicates as kernels
from oracles import curves, replicates

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
METRICS = ["auc", "ap", "ks", "eer", "eer(method=mean)", "eer(method=max)", "eer(method=convex_hull)"]
SCORES = [-math.inf, -2.0, -0.0, 0.0, 0.25, 1.0, math.inf]


def hashes_of(units):
    return np.asarray(units, np.uint64) * MULTIPLIER


def store_of(labels, scores, units, row_weights=None, slices=None, room=None, block_rows=1 << 17):
    """Rows as the exchange by units keeps them."""
    columns = {label_name(0): np.asarray(labels, np.uint8), score_name(0): np.asarray(scores), HASH: hashes_of(units)}
    if row_weights is not None:
        columns[WEIGHT] = np.asarray(row_weights, np.float64)
    if slices is not None:
        columns[SLICE] = np.asarray(slices, np.uint16)
    store = BlockStore(1, room)
    for start in range(0, len(labels), block_rows):
        own = {name: np.ascontiguousarray(values[start : start + block_rows]) for name, values in columns.items()}
        rows = len(own[HASH])
        held = store.reserve(sum(values.nbytes for values in own.values()))
        store.add(Block(own, np.array([0, rows], np.int32)), held)
    return store


def statistics_of(metrics):
    return list(dict.fromkeys(statistic for metric in metrics for statistic in parse(metric).statistics()))


def replicate(store, lots, n, metrics=METRICS, weighted=False, n_slices=0, n_threads=1, seed=3):
    work = ScoreWork(store, View(0, 0), weighted, statistics_of(metrics), n_threads)
    return replicate_scores(work, lots, seed, n, n_slices)


def value_of(metric, state):
    return parse(metric).finalise(state).value


def value_of_rows(metric, labels, scores, row_weights=None):
    """What the metric is of rows as they are; NaN where there are none."""
    (statistic,) = parse(metric).statistics()
    if not len(labels):
        return value_of(metric, statistic.empty())
    rows = OrderedRows(np.asarray(labels, np.uint8), np.asarray(scores), row_weights, 1)
    return value_of(metric, rows.sweep(statistic)[0])


def same(one, other):
    return one == other or (math.isnan(one) and math.isnan(other))


def check(labels, scores, units, n, metrics=METRICS, row_weights=None, dtype=np.float64, chosen=None, **options):
    """All replicates (or the chosen ones) against the rows repeated."""
    labels, scores = np.asarray(labels, np.uint8), np.asarray(scores, dtype)
    lots = make_lots([hashes_of(units)])
    store = store_of(labels, scores, units, row_weights, **options)
    found = replicate(store, lots, n, metrics, row_weights is not None)
    store.close()
    numbers = lots.numbers(hashes_of(units))
    for number in range(n) if chosen is None else chosen:
        repeats = draw(lots, 3, number, number + 1)[numbers, 0]
        again = np.repeat(labels, repeats), np.repeat(scores, repeats)
        again_weights = None if row_weights is None else np.repeat(row_weights, repeats)
        for metric in metrics:
            (statistic,) = parse(metric).statistics()
            got = value_of(metric, found[statistic, None][number])
            assert same(got, value_of_rows(metric, *again, again_weights)), (metric, number)


rows_with_ties = st.lists(
    st.tuples(
        st.integers(0, 1), st.sampled_from(SCORES), st.integers(0, 6), st.sampled_from([0.5, 1.0, 3.0, 2.0**-40])
    ),
    min_size=1,
    max_size=40,
)


def test_metrics_by_score_are_all_looked_at():
    names = {spec.name for spec in known_specs().values() if spec.exchange == "score"}
    assert names == {parse(metric).spec.name for metric in METRICS}


@settings(max_examples=40)
@given(rows_with_ties, st.sampled_from([np.float32, np.float64]))
def test_every_replicate_is_the_log_with_rows_repeated(rows, dtype):
    labels, scores, units, _ = zip(*rows, strict=True)
    check(labels, scores, units, ABREAST + 3, dtype=dtype, chosen=(0, 1, ABREAST - 1, ABREAST + 2))


@settings(max_examples=25)
@given(rows_with_ties)
def test_rows_with_weights_are_repeated_with_them(rows):
    labels, scores, units, row_weights = zip(*rows, strict=True)
    check(labels, scores, units, 5, row_weights=np.array(row_weights))


@given(rows_with_ties)
def test_values_are_those_of_the_oracle(rows):
    labels, scores, units, _ = zip(*rows, strict=True)
    lots = make_lots([hashes_of(units)])
    found = replicate(store_of(labels, np.array(scores), units), lots, 4)
    numbers = lots.numbers(hashes_of(units))
    for number in range(4):
        repeats = draw(lots, 3, number, number + 1)[numbers, 0].tolist()
        again = replicates.repeated(labels, repeats), replicates.repeated(scores, repeats)
        for metric, oracle in (("auc", curves.auc), ("ks", curves.ks)):
            (statistic,) = parse(metric).statistics()
            exact = oracle(*again)
            expected = math.nan if exact is None else float(exact)
            assert same(value_of(metric, found[statistic, None][number]), expected)
        state = found[parse("eer").statistics()[0], None][number]
        rate = curves.equal_error_rate(*again, "interpolate") if again[0] else None
        assert same(value_of("eer", state), math.nan if rate is None else float(rate.value))


@pytest.mark.parametrize("kind", KINDS)
def test_many_rows_of_every_kind(kind):
    """Several blocks and buckets; ties longer than bytes can count."""
    generator = np.random.default_rng(5)
    rows = 90_000
    labels = generator.random(rows) < 0.3
    units = generator.integers(0, 2000, rows)
    check(labels, scores_of(kind, rows), units, 66, METRICS[:4], chosen=(0, 65), block_rows=20_000, dtype=np.float32)


def test_more_units_than_lots_and_few_positives():
    generator = np.random.default_rng(6)
    rows = 60_000
    labels = generator.random(rows) < 0.01
    check(labels, generator.random(rows), np.arange(rows), 3, METRICS[:4])
    assert make_lots([hashes_of(np.arange(rows))]).keys.shape[0] == MOST_LOTS


def test_states_are_those_of_the_statistics():
    generator = np.random.default_rng(7)
    rows = 3000
    labels, scores = generator.integers(0, 2, rows).astype(np.uint8), generator.integers(0, 500, rows) / 7
    units = generator.integers(0, 100, rows)
    lots = make_lots([hashes_of(units)])
    found = replicate(store_of(labels, scores, units), lots, 2)
    for number in range(2):
        repeats = draw(lots, 3, number, number + 1)[lots.numbers(hashes_of(units)), 0]
        again = OrderedRows(np.repeat(labels, repeats), np.repeat(scores, repeats), None, 1)
        for metric in ("auc", "ap", "ks", "eer(method=convex_hull)"):
            (statistic,) = parse(metric).statistics()
            assert found[statistic, None][number] == again.sweep(statistic)[0]
        (crossing,) = again.sweep(parse("eer").statistics()[0])
        state = found[parse("eer").statistics()[0], None][number]
        assert state.before[:2] == crossing.before[:2]
        assert state.after[:2] == crossing.after[:2]
        assert (state.rows, state.sizes) == (crossing.rows, crossing.sizes)


def many_rows(seed=8, rows=50_000):
    generator = np.random.default_rng(seed)
    labels = (generator.random(rows) < 0.4).astype(np.uint8)
    scores = np.where(generator.random(rows) < 0.5, 0.5, np.round(generator.standard_normal(rows), 3) + labels)
    slices = np.minimum(generator.geometric(0.4, rows) - 1, 4)
    return labels, scores, generator.integers(0, 300, rows), slices


@pytest.mark.parametrize("options", [{"n_threads": 2}, {"spilled": 1 << 17}, {"spilled": 1 << 20, "n_threads": 2}])
@pytest.mark.parametrize("n_slices", [0, 6])
def test_neither_threads_nor_memory_nor_order_matter(monkeypatch, options, n_slices):
    labels, scores, units, slices = many_rows()
    lots = make_lots([hashes_of(units)])
    expected = replicate(store_of(labels, scores, units, None, slices), lots, 70, n_slices=n_slices)
    order = np.random.default_rng(1).permutation(len(labels))
    room = Room(options["spilled"], None, 1) if "spilled" in options else None
    store = store_of(labels[order], scores[order], units[order], None, slices[order], room, 9000)
    monkeypatch.setattr(score_replicates, "MOST_PIECE_ROWS", 5000)
    monkeypatch.setattr(score_replicates, "KEPT_BYTES", 0)
    found = replicate(store, lots, 70, n_slices=n_slices, n_threads=options.get("n_threads", 1))
    store.close()
    assert found == expected


def test_a_slice_is_a_log_of_its_own():
    labels, scores, units, slices = many_rows()
    lots = make_lots([hashes_of(units)])
    found = replicate(store_of(labels, scores, units, None, slices), lots, 65, n_slices=6)
    assert {number for _, number in found} == set(range(5))  # slice 5 has no rows
    for number in range(5):
        own = slices == number
        alone = replicate(store_of(labels[own], scores[own], units[own]), lots, 65)
        for statistic in statistics_of(METRICS):
            assert found[statistic, number] == alone[statistic, None]


@pytest.mark.parametrize("limit", [None, 1])
def test_weights_of_rows_spilled_and_sliced(limit):
    labels, scores, units, slices = (column[:1500] for column in many_rows())
    row_weights = np.random.default_rng(2).random(1500)
    room = None if limit is None else Room(limit, None, 1)
    lots = make_lots([hashes_of(units)])
    store = store_of(labels, scores, units, row_weights, slices, room, 500)
    found = replicate(store, lots, 2, METRICS, True, 5)
    store.close()
    for number in range(2):
        repeats = draw(lots, 3, number, number + 1)[lots.numbers(hashes_of(units)), 0] * (slices == 1)
        again = np.repeat(labels, repeats), np.repeat(scores, repeats), np.repeat(row_weights, repeats)
        for metric in METRICS:
            (statistic,) = parse(metric).statistics()
            assert value_of(metric, found[statistic, 1][number]) == value_of_rows(metric, *again)


class PairsOneByOne(Statistic):
    """Pairs won, by somebody who does not know how to walk side by side."""

    __slots__ = ()
    needs_place = True
    needs_positives = True
    empty, of_steps, merge = PairsWon.empty, PairsWon.of_steps, PairsWon.merge


@pytest.mark.parametrize("limit", [None, 1 << 17])
def test_what_cannot_be_walked_is_made_one_by_one(limit):
    labels, scores, units, _ = many_rows()
    lots = make_lots([hashes_of(units)])
    store = store_of(labels, scores, units, room=None if limit is None else Room(limit, None, 1))
    work = ScoreWork(store, View(0, 0), False, [PairsOneByOne(), PairsWon()], 1)
    found = replicate_scores(work, lots, 3, 3)
    store.close()
    assert found[PairsOneByOne(), None] == found[PairsWon(), None]


def test_too_many_rows_for_products_of_62_bits_are_taken_one_by_one(monkeypatch):
    labels, scores, units, _ = (column[:2000] for column in many_rows())
    lots = make_lots([hashes_of(units)])
    metrics = ["auc", "ap", "ks", "eer"]
    expected = replicate(store_of(labels, scores, units), lots, 3, metrics)
    monkeypatch.setattr(score_replicates, "SHORT_ROWS", 100)
    found = replicate(store_of(labels, scores, units), lots, 3, metrics)
    for metric in metrics:
        (statistic,) = parse(metric).statistics()
        for one, other in zip(found[statistic, None], expected[statistic, None], strict=True):
            assert value_of(metric, one) == value_of(metric, other)


def test_too_many_rows_are_told(monkeypatch):
    labels, scores, units, _ = (column[:100] for column in many_rows())
    lots = make_lots([hashes_of(units)])
    monkeypatch.setattr(score_replicates, "MOST_BUCKET_ROWS", 100)
    with pytest.raises(OverflowError, match="100 rows have neighbouring scores"):
        replicate(store_of(labels, scores, units), lots, 1)
    monkeypatch.setattr(score_replicates, "MOST_ROWS", 100)
    with pytest.raises(OverflowError, match="100 rows are more than"):
        replicate(store_of(labels, scores, units), lots, 1)


def test_units_that_nobody_counted_are_told():
    labels, scores, units, _ = (column[:100] for column in many_rows())
    with pytest.raises(ValueError, match="units that are in no lot"):
        replicate(store_of(labels, scores, units), make_lots([hashes_of(units[:3])]), 1)


# The kernels: loops for wide registers against plain ones, and numbers of any size.


def random_codes(generator, rows, n_lots, tie_rows, positives):
    """Codes and segments of rows whose ties have about so many rows."""
    ends = generator.random(rows) < 1 / tie_rows
    ends[-1] = True
    ties = np.concatenate(([0], np.cumsum(ends)[:-1]))
    is_positive = generator.random(rows) < positives
    order = np.lexsort((is_positive, ties))
    is_positive = is_positive[order]
    codes = generator.integers(0, n_lots, rows)
    codes |= np.where(is_positive, kernels.POSITIVE, 0) | np.where(ends, 1 << 15, 0)
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


@pytest.mark.parametrize("most", [1, 6, 40, 255])
@pytest.mark.parametrize("tie_rows", [1, 3, 50, 5000])
@pytest.mark.parametrize("positives", [0.0, 0.01, 0.5, 1.0])
def test_wide_and_plain_loops_give_the_same(most, tie_rows, positives):
    generator = np.random.default_rng([most, tie_rows])
    codes, segments = random_codes(generator, 9000, 50, tie_rows, positives)
    weights = generator.integers(0, most + 1, (50, ABREAST)).astype(np.uint8)
    weights[:, 5] = 0
    weights[:, 6] = most
    counts = np.zeros((50, 2), np.int64)
    is_positive = (codes & kernels.POSITIVE) > 0
    np.add.at(counts, (codes & kernels.LOT_BITS, is_positive.astype(int)), 1)
    totals = np.zeros((2, ABREAST), np.int64)
    kernels.total_lanes(weights, counts, totals)
    assert (totals == (weights.T.astype(np.int64) @ counts).T).all()
    found = []
    for plain in (False, True):
        pairs, extremes, precisions = (np.zeros((n, ABREAST), np.int64) for n in (4, 3, 5))
        crossing = np.zeros((7, ABREAST), np.int64)
        for _ in range(2):  # a second bucket goes on where the first ended
            kernels.pairs_walk(codes, segments, len(segments), weights, most, pairs, plain)
            kernels.extremes_walk(codes, segments, len(segments), weights, most, 2 * totals, extremes, plain)
            kernels.precisions_walk(codes, weights, most, precisions, plain)
            kernels.crossing_walk(codes, weights, most, 2 * totals, crossing, plain)
        assert (pairs[:2] == 2 * totals).all()
        assert (precisions[:2] == 2 * totals).all()
        found.append([pairs, extremes, *map(sum_of_words, precisions[2:].T.tolist()), crossing])
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other)


def sum_of_words(words):
    return (words[0] << 64) + (words[1] << 32) + words[2]


def test_pairs_beyond_64_bits():
    generator = np.random.default_rng(9)
    lanes = PairsWon().lanes(None)
    expected = [PairCounts(0, 0, 0)] * ABREAST
    for _ in range(6):
        own = generator.integers(0, 1 << 50, (2, ABREAST))
        lanes.tie(np.empty(0), own)
        ties = [PairCounts(n, p, n * p) for n, p in own.T.tolist()]
        expected = [PairsWon().merge(tie, above, None) for tie, above in zip(ties, expected, strict=True)]
    assert lanes.states(ABREAST) == expected
    codes, segments = random_codes(generator, 500, 1, 3, 0.5)
    weights = LaneWeights(np.full((1, ABREAST), 255, np.uint8), 255, ABREAST)
    lanes.walk(FallingRows(codes, segments), weights)
    alone = PairsWon().lanes(None)
    alone.walk(FallingRows(codes, segments), weights)
    merged = [PairsWon().merge(low, high, None) for low, high in zip(alone.states(ABREAST), expected, strict=True)]
    assert lanes.states(ABREAST) == merged


@pytest.mark.parametrize("metric", ["ks", "ap", "eer"])
def test_ties_of_very_many_rows(metric):
    """As counts, up to what the lanes may have."""
    generator = np.random.default_rng(10)
    ties = generator.integers(0, 1 << 28, (5, 2, ABREAST))
    totals = LaneTotals(lambda: np.empty((0, 2), np.int64), LaneWeights(np.empty((0, ABREAST), np.uint8), 1, ABREAST))
    totals.known = ties.sum(0)
    (statistic,) = parse(metric).statistics()
    lanes = statistic.lanes(totals)
    for own in ties:
        lanes.tie(np.empty(0), own)
    for lane, state in enumerate(lanes.states(ABREAST)):
        # The weighted statistic counts in Python's integers.
        scores, labels = np.repeat([5.0, 4.0, 3.0, 2.0, 1.0], 2), np.tile(np.array([0, 1], np.uint8), 5)
        found = OrderedRows(labels, scores, ties[:, :, lane].ravel().astype(np.float64), 1)
        assert value_of(metric, state) == value_of(metric, found.sweep(statistic)[0])


def test_the_scale_holds_rows_that_come_most_often():
    span = weighted.WeightSpan(-3, 2, 10)
    scale = weighted.scale_of(span._replace(rows=score_replicates.MOST_WEIGHT * 10))
    assert scale.n_limbs * 32 >= (255 * 10 * 2**5 * 2).bit_length()
