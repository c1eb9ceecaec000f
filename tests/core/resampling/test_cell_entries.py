"""Tables of counts without the rows of one entry."""

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics._core.registry import parse
from fastmetrics._core.resampling.cell_entries import CellEntries, CellsOfRows, n_table_entries


def test_cells_are_numbered_in_ascending_order():
    found = CellsOfRows.find(np.array([[2, 0], [1, 5], [2, 0], [1, 4]]))
    assert found.cells.tolist() == [[1, 4], [1, 5], [2, 0]]
    assert found.numbers.tolist() == [2, 1, 2, 0]


def test_states_are_those_of_the_rows_without_an_entry():
    rng = np.random.default_rng(2)
    rows, entries = rng.integers(0, 4, (200, 2)), rng.integers(0, 9, 200)
    (statistic,) = parse("ari").statistics()
    cells, numbers = CellsOfRows.find(rows)
    own = CellEntries.of_rows(statistic, statistic.empty(), cells, numbers, entries, 12)
    assert own.used().tolist() == [True] * 9 + [False] * 3
    some = own.of_some(np.array([3, 11, 0]))
    for entry, without, alone in zip([3, 11, 0], some.states(), some.of_entries().states(), strict=True):
        for state, mask in ((without, entries != entry), (alone, entries == entry)):
            found = np.stack(state.cells.cells()[:3], axis=1).tolist()
            expected, times = np.unique(rows[mask], axis=0, return_counts=True)
            assert sorted(found) == np.column_stack([expected, times]).tolist()


def test_many_cells_and_many_slices_have_fewer_entries():
    assert n_table_entries(100, 0, 10) == 100
    assert n_table_entries(10_000, 0, 10) == 2048
    assert n_table_entries(10_000, 30, 10) == 546
    assert n_table_entries(10_000, 0, 10**9) == 256


@pytest.mark.parametrize("by", [None, "part"])
def test_units_that_share_entries_have_about_the_same_error(by):
    rng = np.random.default_rng(5)
    rows = 30_000
    label = rng.integers(0, 4, rows)
    log = {"label": label, "guess": np.where(rng.random(rows) < 0.6, label, rng.integers(0, 4, rows))}
    log |= {"user": rng.integers(0, 6000, rows), "part": rng.integers(0, 2, rows)}
    for columns, metric in (({"prediction": "guess"}, "accuracy"), ({"score": "guess"}, "nmi")):
        one = fm.evaluate(log, metric, label="label", unit="user", ci=0.95, by=by, **columns)
        other = fm.evaluate(log, metric, label="label", unit="user", ci=0.95, by=by, replicates=400, **columns)
        for linearized, resampled in zip(one, other, strict=True):
            assert "linearized" in linearized.signature
            assert linearized.standard_error == pytest.approx(resampled.standard_error, rel=0.15)
