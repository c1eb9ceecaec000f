"""What statistics have to know of the ranges of several sources, and slices that sources number differently."""

import pickle

import numpy as np
import pyarrow as pa
import pytest

import fastmetrics as fm
from fastmetrics._core.columns.row_blocks import SLICE, score_name, slice_columns
from fastmetrics._core.exchange import range_reduction
from fastmetrics._core.exchange.block_store import BlockStore
from fastmetrics._core.exchange.blocks import Block
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.resampling.resampling_units import find_unit_buckets
from fastmetrics.distributed import decisions
from fastmetrics.distributed.moved_rows import code_names
from fastmetrics.distributed.score_ranges import ScoreRange
from fastmetrics.distributed.unit_replicates import check_unit_hashes
from fastmetrics.engine.input import grouping_sets
from fastmetrics.engine.input.grouping_sets import GroupingSets
from fastmetrics.extend import ScoreRangeStatistic, metric
from support.cases import assert_raises, each_case
from support.registry_cases import own_metrics
from support.states.toy_engine import run

SETS = (("channel",), ("day", "channel"))


class DistinctScores(ScoreRangeStatistic):
    """The number of distinct scores above every range, and in all."""

    def summary(self, columns):
        assert (np.diff(columns.score) <= 0).all()
        return len(columns.starts)

    def state(self, columns, above, total):
        return [(above or 0, len(columns.starts), total)]

    def merge(self, higher, lower):
        return higher + lower


def test_scores_that_several_sources_have_are_counted_once():
    scores = np.round(np.random.default_rng(1).random(3000), 2)
    with own_metrics():

        @metric("distinct", exchange="range", statistics=DistinctScores(), default=False)
        def distinct(parameters, state):
            "The number of distinct scores."
            ranges = sorted(state)
            assert [above for above, _, _ in ranges] == np.cumsum([0, *(own for _, own, _ in ranges[:-1])]).tolist()
            assert {total for _, _, total in ranges} == {len(np.unique(scores))}
            return float(sum(own for _, own, _ in ranges))

        question = fm.Evaluation("distinct", label="click", score="pctr")
        log = pa.table({"click": np.arange(3000) % 2, "pctr": scores})
        assert run(question, [[log[:700]], [log[700:]]])["distinct"] == question.run(log)["distinct"] == 101


@each_case("spills", [False, True])
@each_case("weight", [None, "weight"])
@each_case("scores", ["spread", "tied", "float32"])
def test_scores_move_in_the_buckets_that_are_reduced(scores, weight, spills, monkeypatch, tmp_path):
    """No target orders its rows by bucket once more, and of one bucket rows come from several sources."""
    random = np.random.default_rng(2)
    kinds = {"spread": random.random(3000), "tied": np.where(np.arange(3000) % 4, 0.5, random.random(3000))}
    kinds["float32"] = kinds["spread"].astype(np.float32)
    log = pa.table({"click": random.integers(0, 2, 3000), "pctr": kinds[scores], "weight": random.random(3000)})
    question = fm.Evaluation(["auc", "ap", "ks", "eer"], label="click", score="pctr", weight=weight)
    expected = question.run(log)
    monkeypatch.setattr(decisions, "ROWS_PER_BUCKET", 100)
    monkeypatch.setattr(range_reduction, "fill_buckets", None)
    options = {}
    if spills:
        monkeypatch.setattr(MemoryBudget, "try_reserve", lambda budget, n_bytes: False)
        options = {"memory_limit": "1MiB", "spill_dir": str(tmp_path)}
    sources = [[log[:700]], [log[700:701]], [log[701:]]]
    for targets in (1, 2, 40):
        assert run(question, sources, targets, **options) == expected
    cuts = decisions.find_cuts([(log["pctr"].to_numpy(), 3000)], 2)
    assert 25 <= len(cuts.at) < 40


def test_cells_and_keys_are_small_decisions():
    scores = np.random.default_rng(3).random(1 << 14)
    for own in (scores, np.where(np.arange(1 << 14) % 100, 0.5 + scores * 1e-9, scores)):
        cuts = decisions.find_cuts([(own, 10**10)], 2)
        assert len(pickle.dumps(cuts)) < 20_000
        assert decisions.MOST_BUCKETS - 50 < cuts.splitter().n_buckets <= decisions.MOST_BUCKETS


def score_range(sets=SETS):
    return ScoreRange(BlockStore(1, None), GroupingSets(("channel", "day") if sets else (), sets))


def add(rows, values, codes):
    """Rows of a source whose codes stand for these values."""
    codes = [np.array(own, np.uint16) for own in codes]
    renumbered = rows.slices.renumber_codes([[(one,) for one in own] for own in values], codes)
    n = len(codes[0])
    columns = {score_name(0): np.arange(n) / n} | slice_columns(renumbered)
    assert [name for name in columns if name in code_names(rows.slices)] == code_names(rows.slices)
    rows.store.add(Block(columns, np.array([0, n], np.int32)), True)


def slices_of_rows(rows):
    """The values of every row's slice, set by set."""
    found = {}
    for slice_pass, values in rows.passes():
        if slice_pass.set_number is not None:
            numbers = np.concatenate([reader.load()[SLICE] for reader in rows.store.block_readers([SLICE])])
            found[slice_pass.set_number] = [values[number][1:] for number in numbers.tolist()]
    return found


def test_sources_code_values_differently():
    rows = score_range()
    add(rows, [["app", "web"], [1, None]], [[0, 1, 1], [0, 0, 1]])
    add(rows, [["tv", "web", "app"], [None, 1]], [[2, 0, 1], [1, 0, 0]])
    channels, days = ["app", "web", "web", "app", "tv", "web"], [1, 1, None, 1, None, None]
    expected = {0: [(own,) for own in channels], 1: list(zip(days, channels, strict=True))}
    assert slices_of_rows(rows) == expected
    assert [slice_pass.all_rows for slice_pass, _ in rows.passes()] == [True, False]
    assert len(rows.slices) == len(set(expected[0])) + len(set(expected[1]))


def test_sources_have_too_many_slices_together(monkeypatch):
    monkeypatch.setattr(grouping_sets, "MAX_SLICES", 3)
    rows = score_range()
    add(rows, [["app", "web"], [1, 2]], [[0, 1, 1], [0, 0, 1]])
    assert_raises(ValueError, "more than 3 slices of one set together", add, rows, [["app"], [2]], [[0], [0]])
    log = {"click": [1, 0], "pctr": [0.5, 0.5], "day": [1, 2]}
    question = fm.Evaluation("auc", label="click", score="pctr", by="day")
    other = log | {"day": [3, 4]}
    assert_raises(ValueError, "by=.* makes more than 3 slices together", run, question, [[log], [other]])


@pytest.mark.parametrize("sets", [(), SETS])
def test_passes_over_no_rows(sets):
    assert [own.slice_counts() for own, _ in score_range(sets).passes()] == ([(0,), ()] if sets else [(0,)])


def test_units_that_were_not_counted_are_refused():
    """The driver counts the units first: a unit that was not counted has no weight."""
    counted = find_unit_buckets([np.array([3, 5, 8], np.uint64)])
    check_unit_hashes([np.array([5, 3], np.uint64)], counted)
    assert_raises(
        ValueError, "the rows changed between two steps",
        check_unit_hashes, [np.array([5], np.uint64), np.array([8, 4], np.uint64)], counted,
    )
