"""Rows of a range of scores that come from several partitions: slices have the same number for the same values."""

import numpy as np
import pytest

from fastmetrics._core.columns.row_blocks import SLICE, score_name
from fastmetrics.engine.input import grouping_sets
from fastmetrics.engine.partitions.range_rows import RangeRows, ScoreRangeShard, code_names
from fastmetrics.engine.plan.column_names import ColumnNames
from support.cases import assert_raises

SETS = (("channel",), ("day", "channel"))


def range_rows(sets=SETS):
    by = ("channel", "day") if sets else ()
    return RangeRows(ColumnNames((), (), None, None, by=by, grouping_sets=sets), None)


def shard(values, codes):
    """A shard of rows whose codes stand for these values."""
    rows, values = len(codes[0]), [[(one,) for one in own] for own in values]
    columns = {score_name(0): np.arange(rows) / rows}
    columns |= zip(code_names(range_rows().slices), (np.array(own, np.uint16) for own in codes), strict=True)
    return ScoreRangeShard(0, 0, values, columns)


def slices_of_rows(rows):
    """The values of every row's slice, set by set."""
    found = {}
    for slice_pass, values in rows.passes():
        if slice_pass.set_number is not None:
            numbers = np.concatenate([reader.load()[SLICE] for reader in rows.store.block_readers([SLICE])])
            found[slice_pass.set_number] = [values[number][1:] for number in numbers.tolist()]
    return found


def test_partitions_code_values_differently():
    rows = range_rows()
    rows.add(shard([["app", "web"], [1, None]], [[0, 1, 1], [0, 0, 1]]))
    rows.add(shard([["tv", "web", "app"], [None, 1]], [[2, 0, 1], [1, 0, 0]]))
    channels, days = ["app", "web", "web", "app", "tv", "web"], [1, 1, None, 1, None, None]
    expected = {0: [(own,) for own in channels], 1: list(zip(days, channels, strict=True))}
    assert slices_of_rows(rows) == expected
    assert [slice_pass.all_rows for slice_pass, _ in rows.passes()] == [True, False]
    assert len(rows.slices) == len(set(expected[0])) + len(set(expected[1]))


def test_partitions_have_too_many_slices_together(monkeypatch):
    monkeypatch.setattr(grouping_sets, "MAX_SLICES", 3)
    rows = range_rows()
    rows.add(shard([["app", "web"], [1, 2]], [[0, 1, 1], [0, 0, 1]]))
    assert_raises(ValueError, "more than 3 slices of one set together", rows.add, shard([["app"], [2]], [[0], [0]]))
    one = range_rows()
    one.add(shard([["app", "web"], [1]], [[0, 1], [0, 0]]))
    assert_raises(
        ValueError, "more than 3 slices of one set together", one.add, shard([["tv", "radio"], [1]], [[0, 1], [0, 0]])
    )


@pytest.mark.parametrize("sets", [(), SETS])
def test_passes_over_no_rows(sets):
    assert [own.slice_counts() for own, _ in range_rows(sets).passes()] == ([(0,), ()] if sets else [(0,)])
