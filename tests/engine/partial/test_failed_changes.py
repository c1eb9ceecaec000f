"""Updates and merges of accumulators that fail, or that would count rows twice, leave them as they were."""

import functools
import pickle

import numpy as np

import fastmetrics as fm
from fastmetrics._core.tables.cell_table import CellTable
from fastmetrics.engine.input import grouping_sets
from fastmetrics.engine.partial.additive_states import AdditiveStates
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.partial.row_counts import RowCounts
from fastmetrics.engine.partial.slice_counts import SliceCounts
from support.cases import assert_raises, each_case
from support.states.accumulators import evaluate, filled, new, pieces, same, small_log, updated

GOOD = {"label": [0, 1, 1, 0], "prob": [0.1, 0.5, 0.9, 0.5], "group": [1, 2, 1, 2]}


class TestRowsOfOneSource:
    """A state that shares rows with another one is refused: they would count twice."""

    def assert_refused(self, state, other):
        before = state.to_bytes(), other.to_bytes()
        message = "both states have rows of source [0-9a-f]{32}, which would count twice"
        assert_raises(ValueError, message, state.merge, other)
        assert (state.to_bytes(), other.to_bytes()) == before

    def test_copies_in_any_form(self):
        state = updated(new(), GOOD)
        self.assert_refused(state, state)
        for other in (state.copy(), pickle.loads(pickle.dumps(state)), fm.Accumulator.from_bytes(state.to_bytes())):
            self.assert_refused(state, other)
            other.update(GOOD)
            self.assert_refused(state, other)

    def test_states_that_were_merged_before(self):
        first, second, third = (updated(new(), GOOD) for _ in range(3))
        first.merge(second)
        self.assert_refused(first, second)
        self.assert_refused(second, first)
        second.update(GOOD)
        self.assert_refused(first, second)
        self.assert_refused(third.merge(first), fm.Accumulator.from_bytes(first.to_bytes()))

    def test_states_without_rows_have_no_source(self):
        empty = new()
        empty.update({name: [] for name in GOOD})
        same(empty.merge(empty).merge(empty.copy()).merge(updated(new(), GOOD)).result(), evaluate(GOOD))


class TestChangesThatFail:
    """An update or a merge is complete, or leaves the accumulator as it was."""

    LABELS = fm.Evaluation("ari", label="y", score="p")

    def state(self, **options):
        return fm.Accumulator(self.LABELS, memory_limit="1MiB", **options)

    def test_labels_beyond_the_limit(self):
        few = {"y": ["a", "b", "b"], "p": ["c", "c", "d"]}
        many = [f"a label of some length {number}" for number in range(12_000)]
        state, other = updated(self.state(), few), fm.Accumulator(self.LABELS)
        other.update({"y": many, "p": many})
        before, expected = state.to_bytes(), state.result()
        for change, what in ((state.update, {"y": many, "p": many}), (state.merge, other)):
            assert_raises(ValueError, "the different labels take more than half", change, what)
            assert (state.rows, state.to_bytes(), state.result()) == (3, before, expected)
        assert not state._state.marks, "the rows of a mark are not held"
        state.update(few)
        assert state.result() == fm.evaluate({name: own * 2 for name, own in few.items()}, self.LABELS)

    @each_case("limit", [f"{size}KiB" for size in range(1_200, 4_000, 200)])
    def test_labels_of_a_new_slice_beyond_the_limit(self, limit):
        """Wherever the limit is met: the slice is forgotten with its tables, and bytes have neither."""
        few = {"y": ["a", "b", "b"], "p": ["c", "c", "d"], "by": [1, 1, 1]}
        state = updated(fm.Accumulator(self.LABELS.replace(by="by"), memory_limit=limit), few)
        many = [f"a label of some length {number}" for number in range(8_000)]
        before = state.to_bytes()
        try:
            state.update({"y": many, "p": many, "by": [2] * 8_000})
        except ValueError:
            assert state.to_bytes() == before
            assert fm.Accumulator.from_bytes(before).result() == state.result()

    def test_slices_of_one_task_are_too_many_to_merge(self, monkeypatch):
        monkeypatch.setattr(grouping_sets, "MAX_SLICES", 5)
        tasks = {name: fm.Task(label="y", score="p", metrics=name) for name in ("ctr", "auc")}
        question = fm.Evaluation(["ctr"], label="y", score="p", by="by", tasks=tasks)
        rows = {"y": [0, 1, 1, 0], "p": [0.1, 0.2, 0.3, 0.4]}
        first, second = (updated(fm.Accumulator(question), rows | {"by": [*range(own, own + 4)]}) for own in (0, 4))
        before, expected = first.to_bytes(), first.result()
        assert_raises(ValueError, "task 'ctr': by=.* makes more than 5 slices", first.merge, second)
        assert (first.to_bytes(), first.result()) == (before, expected)

    @each_case("at", [*range(12)])
    @each_case("change", ["update", "merge"])
    def test_an_interrupt_at_any_time(self, monkeypatch, at, change):
        """Whatever is called when it comes: after it, rows and results are those of before, or of after."""
        columns = {"label": "label", "score": "prob", "group": "group", "by": "by"}
        log = small_log()
        first, second = pieces(log, len(log["label"]) // 2)[:2]
        state, other = (filled(own, ["auc", "gauc", "logloss", "ctr"], **columns) for own in (first, second))
        before = state.to_bytes()
        calls = [0]

        def interrupt(own, *arguments, inner, **options):
            calls[0] += 1
            if calls[0] == at:
                raise KeyboardInterrupt
            return inner(own, *arguments, **options)

        for owner, name in (
            (PartState, "adopt_rows"), (PartState, "merge_update"), (RowCounts, "merge"), (RowCounts, "record"),
            (AdditiveStates, "merged_with"), (SliceCounts, "merge"), (PartState, "exchange_update"),
        ):  # fmt: skip
            inner = getattr(owner, name)
            monkeypatch.setattr(owner, name, functools.partialmethod(interrupt, inner=inner))
        try:
            state.update(second) if change == "update" else state.merge(other)
        except KeyboardInterrupt:
            monkeypatch.undo()
            assert state.to_bytes() == before
            state.update(second)
        monkeypatch.undo()
        both = {name: np.concatenate((first[name], second[name])) for name in first}
        same(state.result(), evaluate(both, ["auc", "gauc", "logloss", "ctr"], **columns))

    def test_tables_that_were_half_merged_are_refused(self, monkeypatch):
        rows = {"y": ["a", "b"], "p": ["c", "c"]}
        state, good = updated(self.state(), rows), updated(self.state(), rows)

        def fail(*arguments):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(CellTable, "add_cells", fail)
        assert_raises(OSError, "No space left", state.update, rows)
        monkeypatch.undo()
        for act in (
            state.result, state.to_bytes, state.flush, state.copy, lambda: state.update(rows),
            lambda: state.merge(good), lambda: good.merge(state),
        ):  # fmt: skip
            assert_raises(RuntimeError, "it has some of them: begin again, or from the state that was saved last", act)
        assert good.rows == 2
