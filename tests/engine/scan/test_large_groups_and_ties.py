"""A user or a tie that does not fit into memory: rare code paths are used, and reports are the same to the bit."""

import math

import numpy as np
import pyarrow as pa
import pytest

from fastmetrics._core.exchange import group_reduction
from fastmetrics._core.registry import parse
from support.cases import assert_raises, each_case
from support.registry_cases import BINARY
from support.states.spilled_logs import (
    EXCHANGED,
    KEYS,
    MEMORY,
    METRICS,
    counted,
    evaluate,
    log_of,
    moved,
    repeated,
    small_batches,
)

pytestmark = pytest.mark.usefixtures("scaled")
ROWS = {"float64": 10_000, "float32": 17_500}  # the least rows, in round numbers, of which one tie exceeds the memory
LOG = log_of(ROWS["float64"], seed=21)
LOGS = {"float64": LOG, "float32": log_of(ROWS["float32"], seed=22, dtype="float32")}
FEWER = {name: column[:5000] for name, column in LOG.items()}
LARGE_USER = 5
WEIGHTED = [*EXCHANGED, "gauc(weight=weights)"]
OF_SCORES = [name for name in BINARY if name in EXCHANGED and parse(name).spec.exchange == "range"] + ["gauc"]


def assert_same(data, *paths, metrics=EXCHANGED, never=(), threads=(1, 2), **options):
    """The report without a limit; it equals that under the smallest limit, which uses the given code paths."""
    expected = evaluate(data, metrics, **options)
    for n_threads in threads:
        with counted() as calls:
            assert evaluate(data, metrics, memory_limit=MEMORY, n_threads=n_threads, **options) == expected
        for path in ("spilled", *paths):
            assert calls[path] > 0, path
        for path in never:
            assert calls[path] == 0, path
    return expected


def with_keys(log, kind):
    return {**log, "group": KEYS[kind](log["group"])}


class TestLargeUser:
    @each_case("kind", ["int64", "short text", "long text", "any text"])
    @each_case("share", [0.6, 1.0])
    def test_one(self, kind, share):
        log = repeated(FEWER, "group", share, LARGE_USER)
        report = assert_same(with_keys(log, kind), "large partition", "large group", metrics=METRICS)
        assert report == evaluate(log)

    @pytest.mark.parametrize("kind", ["int64", "long text"])
    def test_two(self, kind):
        log = repeated(repeated(FEWER, "group", 0.5, LARGE_USER), "group", 0.5, 77)
        with counted() as calls:
            evaluate(with_keys(log, kind), memory_limit=MEMORY)
        assert calls["large group"] >= 2
        assert assert_same(with_keys(log, kind), "large partition", "large group") == evaluate(log, EXCHANGED)

    @each_case("kind", ["int64", "any text"])
    @each_case("batch_rows", [131_072, 90])
    def test_in_a_log_sorted_by_user(self, kind, batch_rows, monkeypatch):
        """The rows of the large user are in few of many blocks, and in none of the first ones."""
        small_batches(monkeypatch, batch_rows)
        for share in (0.1, 0.5):
            log = repeated(FEWER, "group", share, LARGE_USER)
            log = moved(log, np.argsort(log["group"], kind="stable"))
            assert assert_same(with_keys(log, kind), "large partition", threads=(1,)) == evaluate(log, EXCHANGED)

    def test_large_users_that_no_sample_contains(self, monkeypatch):
        """A few users, each in other blocks: a sample of very many blocks can miss users."""
        small_batches(monkeypatch, 90)
        monkeypatch.setattr(group_reduction, "SAMPLED_BLOCKS", 2)
        log = {**FEWER, "group": np.repeat([3, 1, 2, 9], 1250)}
        expected = assert_same(log, "large partition", "large group", threads=(1,))
        (result,) = evaluate(log, ["gauc"], memory_limit=MEMORY)
        assert result.coverage["groups"] == 4
        assert expected["gauc"] == result.value

    @each_case("weight", [None, "weight"])
    @each_case("kind", ["int64", "any text"])
    def test_with_several_slices(self, kind, weight):
        log = with_keys(repeated(FEWER, "group", 0.6, LARGE_USER), kind)
        log["hour"] = np.where(FEWER["prob"] < 0.01, 17, FEWER["hour"])  # one slice has few of its rows
        assert_same(log, "large group", metrics=WEIGHTED if weight else EXCHANGED, by=["hour", "city"], weight=weight)

    @pytest.mark.parametrize("weight", ["weight", "real"])
    def test_with_weights(self, weight):
        assert_same(repeated(FEWER, "group", 0.6, LARGE_USER), "large group", metrics=WEIGHTED, weight=weight)

    def test_with_several_scores_and_labels(self):
        log = {**repeated(FEWER, "group", 0.6, LARGE_USER), "other": FEWER["prob"].astype(np.float32)[::-1].copy()}
        log["buy"] = np.roll(FEWER["label"], 7)
        assert_same(log, "large group", score=["other", "prob"], label=["label", "buy"], by="hour")

    @pytest.mark.parametrize("scores", ["constant", "mostly one", "two"])
    def test_whose_scores_are_ties(self, scores):
        chosen = {"constant": 1.1, "mostly one": 0.9, "two": 1.1}[scores]
        log = repeated(repeated(LOG, "group", 0.7, LARGE_USER), "prob", chosen, 0.25)
        if scores == "two":
            log = repeated(log, "prob", 0.5, 0.75)
        paths = ("large group", "large bucket", "large tie")
        assert_same(log, *paths, threads=(2,))
        assert_same(log, *paths, metrics=WEIGHTED, weight="weight", by="hour", threads=(1,))

    @each_case("kind", ["int64", "uint64", "short text", "long text"])
    @each_case("label_of_large_user", [0, 1])
    def test_of_one_class(self, kind, label_of_large_user):
        log = repeated(FEWER, "group", 0.5, LARGE_USER)
        log["label"] = np.where(log["group"] == LARGE_USER, label_of_large_user, log["label"]).astype(np.int8)
        keyed = with_keys(log, kind)
        assert_same(keyed, "large group", metrics=EXCHANGED, by="hour", threads=(1,))
        # All others have both classes, so the large user is named.
        others = np.flatnonzero(log["group"] != LARGE_USER)
        log["group"][others] = others % 60 + 1000
        log["label"][others] = others // 60 % 2
        keyed = with_keys(log, kind)
        rows = int(np.count_nonzero(log["group"] == LARGE_USER))
        name = keyed["group"][int(np.argmax(log["group"] == LARGE_USER))]
        name = name.as_py() if isinstance(name, pa.Scalar) else int(name)
        counts = [0, 0]
        counts[label_of_large_user] = rows
        for limit in (None, MEMORY):
            with counted() as calls, pytest.raises(ValueError, match="has one class only") as refusal:
                evaluate(keyed, ["gauc(single_class=raise)"], memory_limit=limit)
            assert str(refusal.value).startswith(
                f"group {name!r} has one class only ({counts[0]} negative rows, {counts[1]} positive)"
            )
            assert bool(calls["large group"]) == (limit is not None)


ULPS = np.nextafter(0.5, 1.0) - 0.5


class TestLargeTie:
    @each_case("dtype", ["float64", "float32"])
    @each_case("weight", [None, "weight", "real"])
    def test_constant(self, dtype, weight):
        log = {**LOGS[dtype], "prob": np.full(ROWS[dtype], 0.3, dtype)}
        metrics = METRICS if weight is None else WEIGHTED
        report = assert_same(log, "large bucket", "large tie", metrics=metrics, weight=weight)
        assert (report["auc"], report["ks"]) == (0.5, 0.0)

    @each_case("dtype", ["float64", "float32"])
    @each_case("weight", [None, "real"])
    @each_case("place", [-1.0, 0.05, 2.0])
    def test_most_rows(self, dtype, weight, place):
        """Below all other scores, among them, and above them."""
        log = repeated(LOGS[dtype], "prob", 0.95, place)
        assert_same(log, "large bucket", "large tie", metrics=OF_SCORES, weight=weight)

    @pytest.mark.parametrize("apart", [ULPS, 0.1])
    def test_two(self, apart):
        log = LOGS["float32"]
        log = repeated({**log, "prob": np.full(len(log["prob"]), 0.5)}, "prob", 0.4, 0.5 + apart)
        with counted() as calls:
            evaluate(log, ["auc"], memory_limit=MEMORY)
        assert calls["large tie"] == 2
        assert_same(log, "large bucket", "large tie", metrics=METRICS)

    @each_case("n_values", [3, 17, 600])
    @each_case("dtype", ROWS)
    def test_neighboring_floats(self, n_values, dtype):
        """All scores within a few units in the last place; also around zero, where they are subnormal."""
        # A third of the rows exceeds the memory.
        log = LOGS["float32"]
        steps = np.random.default_rng(3).integers(0, n_values, len(log["prob"]))
        kind = np.int64 if dtype == "float64" else np.int32
        for start in (0.5, 0.0):
            scores = (np.array(start, dtype).view(kind) + steps.astype(kind)).view(dtype)
            assert len(np.unique(scores)) == n_values
            paths = ["large bucket"] if n_values == 3 else []
            assert_same({**log, "prob": scores}, *paths, metrics=["auc", "ks", "gauc"], threads=(1,))

    @pytest.mark.parametrize("dtype", ROWS)
    def test_zeros_of_both_signs_and_infinities(self, dtype):
        log, rows, generator = LOGS[dtype], ROWS[dtype], np.random.default_rng(4)
        zeros = np.where(generator.random(rows) < 0.5, -0.0, 0.0).astype(dtype)
        plain = assert_same({**log, "prob": np.zeros(rows, dtype)}, "large tie", metrics=OF_SCORES)
        assert assert_same({**log, "prob": zeros}, "large tie", metrics=OF_SCORES) == plain
        values = np.array([-0.0, 0.0, np.inf, -np.inf, np.finfo(dtype).max, np.finfo(dtype).smallest_subnormal], dtype)
        scores = values[generator.integers(0, len(values), rows)]
        assert_same({**log, "prob": scores}, "large bucket", metrics=OF_SCORES)
        half = {**log, "prob": np.where(scores > 0, np.inf, -np.inf).astype(dtype)}
        assert_same(half, "large bucket", "large tie", metrics=OF_SCORES)

    def test_sorted_scores(self):
        """The sample has rows of all parts of the log, so no bucket has to be cut again."""
        for order in (np.argsort(LOG["prob"]), np.argsort(-LOG["prob"])):
            log = moved(LOG, order)
            found = assert_same(log, metrics=["auc", "ks"], never=("large bucket",))
            assert found == evaluate(LOG, ["auc", "ks"])

    def test_many_small_blocks(self, monkeypatch):
        small_batches(monkeypatch, 250)
        log = repeated(LOG, "prob", 0.8, 0.125)
        assert_same(log, "large bucket", "large tie", threads=(2,))
        assert_same(moved(log, np.argsort(log["prob"])), "large bucket", "large tie", threads=(2,))

    def test_with_slices(self):
        """A tie that is large in one slice and absent in another."""
        tied = (LOG["hour"] == 1) | ((LOG["hour"] == 2) & (LOG["weight"] > 1))
        log = {**LOG, "prob": np.where(tied, 0.5, LOG["prob"])}
        assert_same(log, "large bucket", "large tie", by="hour")
        assert_same(log, "large bucket", "large tie", metrics=WEIGHTED, by="hour", weight="weight", threads=(1,))

    def test_one_class(self):
        rows = len(LOG["prob"])
        for label in (0, 1):
            log = {**LOG, "prob": np.full(rows, 0.5), "label": np.full(rows, label)}
            assert math.isnan(assert_same(log, "large bucket", "large tie")["auc"])

    def test_nan_is_refused(self):
        log = {**LOG, "prob": LOG["prob"].copy()}
        rows = len(log["prob"])
        log["prob"][[rows - 5, rows - 3]] = np.nan
        assert_raises(ValueError, rf"prob.*NaN.*row {rows - 5}\b", evaluate, log, EXCHANGED, memory_limit=MEMORY)
