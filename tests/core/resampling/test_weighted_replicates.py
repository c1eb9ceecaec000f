"""Batches of replicates of weighted rows: the states of the repeated rows, whatever the weights and ties."""

import numpy as np
import pytest

from fastmetrics._core.exact import EXPONENT, integer_sum
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.exchange.weighted_ranges import MOST_LIMBS, scale_of, span_of
from fastmetrics._core.registry import parse
from fastmetrics._core.resampling import weighted_batch
from fastmetrics._core.resampling.range_replicates import MAX_WEIGHT
from fastmetrics._core.resampling.replicate_batch import REPLICATES_PER_BATCH
from fastmetrics._core.resampling.resampling_units import find_unit_buckets
from fastmetrics._kernels.resampling import score_replicates
from fastmetrics._kernels.resampling import weighted_replicates as kernels
from support.cases import each_case
from support.states.replicate_cases import hashes_of, replicate, store_of, value_of

METRICS = ["auc", "ap", "ks", "eer", "eer(method=max)"]
ROWS = 500


def widest(generator, n):
    """Weights so far apart that their sums just fit 128 bits: many quotients are left to Python's integers."""
    exponents = np.where(generator.random(n) < 0.95, 108, generator.integers(1, 108, n))
    exponents[0] = 0
    return np.ldexp(1 + generator.random(n) * (exponents > 60), exponents - 60)


WEIGHTS = {
    "ones": lambda generator, n: np.ones(n),
    "integers": lambda generator, n: generator.integers(1, 50, n).astype(np.float64),
    "float32": lambda generator, n: generator.random(n, np.float32).astype(np.float64) + 2.0**-20,
    "float64": lambda generator, n: generator.uniform(0.1, 3.1, n),
    "great": lambda generator, n: generator.uniform(0.1, 3.1, n) * 2.0**900,
    "widest": widest,
}


def scale_with_weights(row_weights):
    span = span_of(row_weights)
    return scale_of(span._replace(rows=MAX_WEIGHT * span.rows))


def both_ways(monkeypatch, labels, scores, units, row_weights, limit=None, n=REPLICATES_PER_BATCH + 2):
    """The replicates swept together, and those swept one by one."""
    unit_buckets = find_unit_buckets([hashes_of(units)])
    found = []
    for most_limbs in (MOST_LIMBS, 0):
        monkeypatch.setattr(weighted_batch, "MOST_LIMBS", most_limbs)
        budget = None if limit is None else MemoryBudget(limit, None, 1)
        store = store_of(labels, scores, units, row_weights, budget=budget, block_rows=200)
        found.append(replicate(store, unit_buckets, n, METRICS, True))
        store.close()
    return found


def check_equal(together, one_by_one):
    for metric in METRICS:
        (statistic,) = parse(metric).statistics()
        states = zip(together[statistic, None], one_by_one[statistic, None], strict=True)
        for number, (state, expected) in enumerate(states):
            values = value_of(metric, state), value_of(metric, expected)
            assert np.array_equal(*values, equal_nan=True), (metric, number)
            if metric in ("auc", "ap", "ks") and expected != statistic.empty():
                assert state == expected, (metric, number)


@each_case("kind", WEIGHTS)
@each_case("tie_rows", [1, 3, 200])
@each_case("positives", [0.0, 0.02, 0.5, 1.0])
def test_batches_equal_replicates_one_by_one(kind, tie_rows, positives, monkeypatch):
    generator = np.random.default_rng([tie_rows, len(kind)])
    row_weights = WEIGHTS[kind](generator, ROWS)
    assert scale_with_weights(row_weights).n_limbs <= MOST_LIMBS
    labels = generator.random(ROWS) < positives
    scores = generator.permutation(np.arange(ROWS) // tie_rows) / 7 + 0.25 * (tie_rows > 1) * labels.round()
    check_equal(*both_ways(monkeypatch, labels, scores, generator.integers(0, 80, ROWS), row_weights))


@each_case("kind", ["float64", "widest"])
def test_spilled_rows_and_large_ties(kind, monkeypatch):
    """Buckets that are too large to be loaded: ties are added block by block."""
    generator = np.random.default_rng(3)
    labels = generator.random(ROWS) < 0.3
    scores = np.where(generator.random(ROWS) < 0.5, 0.5, generator.integers(0, 40, ROWS) / 40)
    row_weights = WEIGHTS[kind](generator, ROWS)
    check_equal(*both_ways(monkeypatch, labels, scores, generator.integers(0, 80, ROWS), row_weights, limit=1))


def test_quotients_that_the_kernel_leaves_are_all_added(monkeypatch):
    """More of them than the kernel can keep: it stops, and continues behind them."""
    generator = np.random.default_rng(4)
    row_weights = WEIGHTS["widest"](generator, ROWS)
    labels = np.arange(ROWS) % 2
    assert scale_with_weights(row_weights).n_limbs == MOST_LIMBS
    left = []
    sweep = kernels.sweep_precisions

    def noting_uncertain(*arguments):
        found = sweep(*arguments)
        left.append(found[1])
        return found

    monkeypatch.setattr(kernels, "sweep_precisions", noting_uncertain)
    check_equal(*both_ways(monkeypatch, labels, generator.random(ROWS), np.arange(ROWS), row_weights))
    assert max(left) > 128
    assert len(left) > 10


def test_precisions_of_tiny_weights_are_computed_one_by_one(monkeypatch):
    generator = np.random.default_rng(5)
    row_weights = np.ldexp(1 + generator.random(ROWS), -560)
    labels, units = generator.random(ROWS) < 0.3, generator.integers(0, 80, ROWS)
    monkeypatch.setattr(kernels, "sweep_precisions", None)
    check_equal(*both_ways(monkeypatch, labels, generator.random(ROWS), units, row_weights, n=2))


@each_case("kind", WEIGHTS)
def test_sums_of_rows(kind):
    generator = np.random.default_rng(7)
    n = 2 * 8192 + 70
    row_weights = WEIGHTS[kind](generator, n)
    if kind == "widest":
        row_weights = np.ldexp(1.0, generator.integers(0, 100, n))
    scale = scale_with_weights(row_weights)
    table = generator.integers(0, 256, (50, REPLICATES_PER_BATCH)).astype(np.uint8)
    table[:, 3], table[:, 4] = 0, 255
    numbers, labels = generator.integers(0, 50, n), generator.integers(0, 2, n)
    codes = (numbers | labels * score_replicates.POSITIVE_FLAG).astype(np.uint16)
    sums = np.zeros((2, 2, REPLICATES_PER_BATCH), np.uint64)
    kernels.add_rows(codes, row_weights, *scale, table, sums)
    for replicate_number in (0, 3, 4, 63):
        times = table[numbers, replicate_number]
        for label in (0, 1):
            low, high = sums[label, :, replicate_number].tolist()
            repeated = np.repeat(row_weights, times * (labels == label))
            assert low + (high << 64) << scale.unit + EXPONENT == integer_sum(repeated)


def arguments(rows=3, **changed):
    defaults = {
        "codes": np.zeros(rows, np.uint16), "row_weights": np.ones(rows), "unit_exponent": 0, "n_limbs": 1,
        "weights": np.ones((1, REPLICATES_PER_BATCH), np.uint8),
        "above": np.zeros((2, 2, REPLICATES_PER_BATCH), np.uint64),
    }  # fmt: skip
    return list((defaults | changed).values())


@each_case(
    "changed",
    [
        {"codes": np.zeros(2, np.uint16)},
        {"codes": np.array([0, 1, 0], np.uint16)},
        {"n_limbs": 0},
        {"n_limbs": 5},
        {"weights": np.ones((1, 63), np.uint8)},
        {"above": np.zeros((2, 1, REPLICATES_PER_BATCH), np.uint64)},
        {"above": np.zeros((2, 2, 63), np.uint64)},
    ],
)
def test_kernels_refuse_arrays_that_do_not_fit(changed):
    with pytest.raises(ValueError, match=r"must have|need|no unit bucket"):
        kernels.add_rows(*arguments(**changed))
    with pytest.raises(ValueError, match=r"must have|need|no unit bucket"):
        kernels.sweep_pairs(*arguments(**changed), np.zeros((REPLICATES_PER_BATCH, 4), np.uint64))


def test_kernels_refuse_states_that_do_not_fit():
    sums = np.zeros((2, 2, REPLICATES_PER_BATCH), np.uint64)
    short = np.zeros((REPLICATES_PER_BATCH, 3), np.uint64)
    rows = arguments()
    calls = [
        lambda: kernels.sweep_pairs(*rows, short),
        lambda: kernels.sweep_extremes(*rows, short),
        lambda: kernels.sweep_crossing(*rows[:-1], sums, sums.copy(), short),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="words for every replicate"):
            call()
    terms = np.zeros((REPLICATES_PER_BATCH, kernels.TERMS_PER_REPLICATE))
    states = np.zeros((REPLICATES_PER_BATCH, 72), np.int64)
    uncertain = np.zeros((REPLICATES_PER_BATCH - 1, kernels.UNCERTAIN_SIZE), np.uint64)
    codes, row_weights, *others = rows
    for problem, changed in (
        ("seven words", (terms, states, uncertain)),
        ("terms for every replicate", (terms[:, 1:].copy(), states, uncertain)),
        ("exact sum", (terms, states[:, 1:].copy(), uncertain)),
    ):
        with pytest.raises(ValueError, match=problem):
            kernels.sweep_precisions(codes, row_weights, 0, *others, *changed)
