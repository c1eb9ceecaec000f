"""Tables of counts without the rows of one entry."""

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics._core.registry import parse
from fastmetrics._core.resampling.cell_entries import CellEntries, bounded_by_cells, n_table_entries
from fastmetrics._core.resampling.table_replicates import CellsOfRows
from support.states.toy_engine import run


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
    assert n_table_entries(100, 0) == 100
    assert n_table_entries(10_000, 0) == 2048
    assert n_table_entries(10_000, 30) == 512
    assert n_table_entries(10_000, 10_000) == 256
    assert bounded_by_cells(2048, 10) == 2048
    assert bounded_by_cells(2048, 100_000) == 512
    assert bounded_by_cells(100, 10**9) == 100


def test_parts_merge_to_the_entries_of_all_rows():
    """Labels are texts, which have other integers in every part, and when they are sent."""
    log = make_table(3000)
    halves = [{name: column[rows] for name, column in log.items()} for rows in (slice(0, 900), slice(900, 3000))]
    for columns, metrics in (
        ({"prediction": "guess"}, ["accuracy", "f1(average=macro)"]),
        ({"prediction": "guess", "weight": "weight"}, ["accuracy"]),
        ({"score": "guess"}, ["nmi", "ari"]),
        ({"label": "labels", "prediction": "guesses"}, ["f1(average=macro)", "jaccard(average=samples)"]),
    ):
        question = fm.Evaluation(metrics, **({"label": "label", "unit": "user", "ci": 0.95, "by": "part"} | columns))
        assert run(question, [[half] for half in halves], 2) == question.run(log)


@pytest.mark.parametrize("n_cells", [1, 1 << 18, 1 << 30])
def test_entries_are_joined_as_if_they_had_been_fewer(n_cells):
    rng = np.random.default_rng(3)
    rows, buckets = rng.integers(0, 4, (20_000, 2)), rng.integers(0, 10_000, 20_000)
    (statistic,) = parse("ari").statistics()
    cells, numbers = CellsOfRows.find(rows)
    found = [
        CellEntries.of_rows(statistic, statistic.empty(), cells, numbers, buckets * n // 10_000, n)
        for n in (2048, bounded_by_cells(2048, n_cells))
    ]
    assert found[0].joined(n_cells).counts.tolist() == found[1].counts.tolist()


def make_table(rows):
    rng = np.random.default_rng(5)
    words = np.array(["pear", "apple", "fig", "kiwi"])
    label = rng.integers(0, 4, rows)
    guess = np.where(rng.random(rows) < 0.6, label, rng.integers(0, 4, rows))
    sets = [[words[np.flatnonzero(own)].tolist() for own in rng.random((rows, 4)) < 0.5] for _ in range(2)]
    return {
        "label": words[label], "guess": words[guess], "user": rng.integers(0, rows // 5, rows),
        "part": rng.integers(0, 2, rows), "weight": 0.5 + label / 4, "labels": sets[0], "guesses": sets[1],
    }  # fmt: skip


@pytest.mark.parametrize("by", [None, "part"])
def test_units_that_share_entries_have_about_the_same_error(by):
    log = make_table(30_000)
    for columns, metric in (({"prediction": "guess"}, "accuracy"), ({"score": "guess"}, "nmi")):
        one = fm.evaluate(log, metric, label="label", unit="user", ci=0.95, by=by, **columns)
        other = fm.evaluate(log, metric, label="label", unit="user", ci=0.95, by=by, replicates=400, **columns)
        for linearized, resampled in zip(one, other, strict=True):
            assert "linearized" in linearized.signature
            assert linearized.standard_error == pytest.approx(resampled.standard_error, rel=0.15)
