"""Errors of accumulators name column and row; afterwards the accumulator is unchanged."""


import numpy as np
import pyarrow as pa
import pytest

import fastmetrics as fm
from fastmetrics.engine.input import grouping_sets
from fastmetrics.engine.partial import waiting_rows
from fastmetrics.engine.partial.part_state import PartState
from support import strategies
from support.cases import assert_raises, each_case
from support.registry_cases import BINARY, JOINT_METRICS
from support.states.accumulators import (
    COLUMNS,
    WEIGHTED,
    evaluate,
    filled,
    new,
    outcome,
    pieces,
    same,
    small_log,
    updated,
)


@pytest.fixture(scope="module")
def log():
    return small_log()


WEIGHTED_BINARY = [metric for metric in BINARY if metric in WEIGHTED]
GOOD = {"label": [0, 1, 1, 0], "prob": [0.1, 0.5, 0.9, 0.5], "group": [1, 2, 1, 2], "w": [1.0, 2.0, 0.0, 1.0],
        "by": ["a", "b", "a", "b"]}  # fmt: skip
BAD = {
    "NaN score": ("prob", [0.1, 0.5, float("nan"), 0.5], r"'prob' has NaN at row 2\b"),
    "null score": ("prob", [0.1, 0.5, 0.5, None], r"'prob' has a null at row 3\b"),
    "probability": ("prob", [0.1, 1.5, 0.5, 0.5], r"'prob' has 1.5 at row 1\b"),
    "label": ("label", [0, 1, 7, 1], r"'label' has 7 at row 2\b"),
    "null label": ("label", [0, None, 1, 1], r"'label' has a null at row 1\b"),
    "mixed labels": ("label", [0, 1, -1, 1], r"'label' has -1 at row 2\b"),
    "labels of another kind": ("label", [1, -1, 1, -1], r"'label' has -1 at row 1 and 0 in earlier batches"),
    "negative weight": ("w", [1.0, -2.0, 1.0, 1.0], r"'w' has -2.0 at row 1\b"),
    "infinite weight": ("w", [1.0, 2.0, float("inf"), 1.0], r"'w' has inf at row 2\b"),
    "null key": ("group", [1, 2, None, 2], r"'group' has a null at row 2\b"),
    "text scores": ("prob", ["0.1", "0.2", "0.3", "0.4"], r"'prob'"),
    "text keys": ("group", ["1", "2", "3", "4"], r"'group' has Arrow type string, but int64 in earlier batches"),
    "unsigned keys": ("group", np.array([1, 2, 3, 2**63], np.uint64), r"'group' has Arrow type uint64, but int64"),
    "keys with a fraction": ("group", [1.0, 2.5, 3.0, 4.0], r"'group' .* but int64 .* does not hold 2.5 at row 1;"),
    "slices of another type": ("by", [1, 2, 3, 4], r"'by' has Arrow type int64, but string in earlier batches"),
    "slices that are numbers": ("by", [0.5, 1.5, 2.5, 3.5], r"'by'"),
    "lengths": ("by", ["a"], r"columns of different lengths"),
}
OPTIONS = {"weight": "w", "by": "by"}


@pytest.mark.parametrize("case", BAD.values(), ids=list(BAD))
class TestRefusedRows:
    def state(self):
        return new(WEIGHTED_BINARY, **OPTIONS)

    def test_nothing_has_changed(self, case):
        column, values, message = case
        state = self.state()
        state.update(GOOD)
        before = state.to_bytes()
        # The batch has a slice of its own: if it were registered, the state would change.
        bad = {**GOOD, "by": ["new", "b", "a", "newer"], column: values}
        assert_raises((ValueError, TypeError), message, state.update, bad)
        assert state.to_bytes() == before
        state.update(GOOD)
        doubled = {name: [*own, *own] for name, own in GOOD.items()}
        same(state.result(), evaluate(doubled, WEIGHTED_BINARY, **OPTIONS))

    def test_nothing_has_changed_in_an_empty_state(self, case):
        column, values, _ = case
        state = self.state()
        try:
            state.update({**GOOD, column: values})
        except (ValueError, TypeError):
            assert state.to_bytes() == self.state().to_bytes()
            assert state.rows == 0
            state.update(GOOD)
            same(state.result(), evaluate(GOOD, WEIGHTED_BINARY, **OPTIONS))


def test_the_third_batch_of_a_reader_is_bad():
    rows = 3 * 20_000
    log = strategies.click_log(rows, seed=8)
    log["by"] = np.where(np.arange(rows) < 20_000, "old", "new")
    first = {name: column[:20_000] for name, column in log.items()}
    for metrics, options in ((JOINT_METRICS, {}), (["auc", "logloss"], {"approximate": True, "group": None})):
        state = updated(new(metrics, by="by", **options), first)
        before = state.to_bytes()
        broken = {**log, "prob": log["prob"].copy()}
        broken["prob"][rows - 7] = np.nan
        assert_raises(
            ValueError, rf"'prob' has NaN at row {rows - 7}\b",
            state.update, pa.table(broken).to_reader(max_chunksize=20_000),
        )
        assert state.to_bytes() == before
        assert {result.slice.get("by") for result in state.result()} == {None, "old"}
        state.update(log)
        both = {name: np.concatenate((first[name], column)) for name, column in log.items()}
        report, expected = state.result(), evaluate(both, metrics, by="by")
        assert len(report) == len(expected)
        assert options or report == expected


@each_case("column", ["label", "prob", "group", "w", "by"])
def test_a_missing_column(column):
    state = updated(new(WEIGHTED, **OPTIONS), GOOD)
    before = state.to_bytes()
    assert_raises(
        ValueError, rf"no column '{column}'",
        state.update, {name: values for name, values in GOOD.items() if name != column},
    )
    assert state.to_bytes() == before


def test_objects_that_are_not_data():
    state = new()
    for data in (None, 3, np.zeros((3, 3)), object()):
        assert_raises(TypeError, "data must be", state.update, data)
    with pytest.raises(FileNotFoundError):
        state.update("no such file.parquet")
    assert state.to_bytes() == new().to_bytes()


@each_case("error", [MemoryError, KeyboardInterrupt])
@each_case("n_threads", [1, 3])
def test_rows_are_not_repeated_after_a_failed_flush(log, monkeypatch, error, n_threads):
    monkeypatch.setattr(waiting_rows, "BLOCK_ROWS", 50)
    state = filled(log, by="by", n_threads=n_threads)
    exchange_block = PartState.exchange_block
    calls = []

    def fail_late(*arguments):
        calls.append(arguments)
        if len(calls) == 5:
            raise error
        return exchange_block(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(PartState, "exchange_block", fail_late)
        with pytest.raises(error):
            state.result()
    assert len(calls) >= 5
    same(state.result(), evaluate(log, by="by"))
    assert fm.Accumulator.from_bytes(state.to_bytes()).result() == state.result()


class TestLabels:
    zero_one = {"label": [0, 1, 1], "prob": [0.1, 0.2, 0.3], "group": [1, 1, 1]}  # noqa: RUF012
    signed = {"label": [1, -1, 1], "prob": [0.1, 0.2, 0.3], "group": [1, 1, 1]}  # noqa: RUF012
    ones = {"label": [1, 1], "prob": [0.1, 0.2], "group": [1, 1]}  # noqa: RUF012

    def test_ones_go_with_both(self):
        for other in (self.zero_one, self.signed):
            for batches in ((self.ones, other), (other, self.ones)):
                state, merged = new(BINARY), new(BINARY)
                for batch in batches:
                    state.update(batch)
                    merged.merge(filled(batch, BINARY))
                both = {name: [*batches[0][name], *batches[1][name]] for name in self.ones}
                same(state.result(), evaluate(both, BINARY))
                same(merged.result(), evaluate(both, BINARY))

    def test_batches_do_not_mix(self):
        state = filled(self.zero_one, BINARY)
        before = state.to_bytes()
        assert_raises(ValueError, r"'label' has -1 at row 1 and 0 in earlier batches", state.update, self.signed)
        assert state.to_bytes() == before
        state = filled(self.signed, BINARY)
        before = state.to_bytes()
        bad = {"label": [1, 1, 0], "prob": [0.1, 0.2, 0.3], "group": [1, 1, 1]}
        assert_raises(ValueError, r"'label' has 0 at row 2 and -1 in earlier batches", state.update, bad)
        assert state.to_bytes() == before
        assert_raises(
            ValueError, r"'label' has 0 at row 2 and -1 in earlier batches",
            updated(new(BINARY, on_invalid="drop"), self.signed).update, {**bad, "prob": [0.1, None, 0.3]},
        )

    def test_a_zero_of_zero_weight_is_a_zero(self):
        """The row is absent, but all labels of a column have to be of one kind."""
        state = updated(new(WEIGHTED_BINARY, weight="w"), {**self.signed, "w": [1.0, 1.0, 1.0]})
        assert_raises(
            ValueError, r"'label' has 0 and -1 in earlier batches",
            state.update, {"label": [0, 1], "prob": [0.1, 0.2], "group": [1, 1], "w": [0.0, 1.0]},
        )

    def test_states_do_not_mix(self):
        one, other = filled(self.zero_one, BINARY), filled(self.signed, BINARY)
        before = one.to_bytes(), other.to_bytes()
        for into, merged in ((one, other), (other, one)):
            assert_raises(ValueError, r"'label' has -1 in one of the states and 0 in the other", into.merge, merged)
        assert (one.to_bytes(), other.to_bytes()) == before


class TestTypes:
    @each_case(
        ("column", "first", "second"),
        [
            ("group", "int32", "int64"),
            ("group", "uint8", "int64"),
            ("group", "string", "large_string"),
            ("group", "dictionary", "string"),
            ("group", "string", "string_view"),
            ("by", "int8", "uint32"),
            ("by", "dictionary", "large_string"),
            ("label", "bool", "float32"),
            ("label", "int8", "uint64"),
        ],
    )
    def test_types_of_one_kind_follow_each_other(self, column, first, second):
        halves = self.halves(column, first, second)
        state, merged = new(by="by"), new(by="by")
        for half in halves:
            state.update(half)
            merged.merge(fm.Accumulator.from_bytes(updated(new(by="by"), half).to_bytes()))
        kind = second if second != "string_view" else "large_string"
        both = pa.concat_tables([self.cast(half, column, kind) for half in halves])
        same(state.result(), evaluate(both, by="by"))
        same(merged.result(), evaluate(both, by="by"))

    @each_case(
        ("column", "first", "second"),
        [
            ("group", "int64", "string"),
            ("group", "dictionary", "int32"),
            ("by", "int64", "string"),
            ("by", "bool", "int64"),
            ("by", "date32", "timestamp"),
        ],
    )
    def test_other_types_are_refused(self, column, first, second):
        for one, other in (self.halves(column, first, second), self.halves(column, second, first)):
            state, part = new(by="by"), new(by="by")
            state.update(one)
            part.update(other)
            before = state.to_bytes(), part.to_bytes()
            assert_raises(
                TypeError, rf"column '{column}' has Arrow type \w+.*, but \w+.* in earlier batches",
                state.update, other,
            )
            assert_raises(TypeError, r"different column types do not merge", state.merge, part)
            assert (state.to_bytes(), part.to_bytes()) == before

    def test_a_batch_without_a_valid_row_has_no_types(self):
        """Arrow infers no type for a column of None only."""
        log = strategies.click_log(20, seed=1)
        nothing = {"label": [0, 1], "prob": [None, None], "group": [None, None]}
        text = {**log, "group": log["group"].astype(str)}
        for batches in ((nothing, text), (text, nothing)):
            state = new(on_invalid="drop")
            for batch in batches:
                state.update(batch)
            report = fm.Accumulator.from_bytes(state.to_bytes()).result()
            assert report.rows == 22
            assert sum(report.dropped.values()) == 2
            assert [own.value.hex() for own in report] == [own.value.hex() for own in evaluate(text)]

    def halves(self, column, first, second):
        log = strategies.click_log(40, seed=9)
        log["by"] = log["group"] % 2
        return [
            self.cast(pa.table(half), column, kind) for half, kind in zip(pieces(log, 20), (first, second), strict=True)
        ]

    @staticmethod
    def cast(table, column, kind):
        values = table[column].combine_chunks()
        if kind == "dictionary":
            values = values.cast(pa.string()).dictionary_encode()
        elif kind == "timestamp":
            values = values.cast(pa.timestamp("us"))
        elif kind in ("bool", "date32"):
            values = values.cast(pa.int32()).cast(kind)
        else:
            values = values.cast(kind if kind != "string_view" else pa.string_view())
        return table.set_column(table.schema.get_field_index(column), column, values)


class TestMerging:
    def test_only_accumulators_merge(self, log):
        state = filled(log)
        for other in (None, state.to_bytes(), state.result(), fm.Accumulator, {}):
            assert_raises(TypeError, "merges with another one; found", state.merge, other)

    @each_case(
        ("what", "options"),
        [
            ("metrics", {"metrics": ["auc"]}),
            ("metrics", {"metrics": ["ks", "auc", "ece(n_bins=3)"]}),
            ("metrics", {"metrics": ["auc", "ks", "ece(n_bins=4)"]}),
            ("label", {"label": "y"}),
            ("label", {"label": ["label", "y"]}),
            ("score", {"score": "score"}),
            ("group", {"group": None}),
            ("weight", {"weight": "w"}),
            ("by", {"by": "by"}),
            ("on_invalid", {"on_invalid": "drop"}),
            ("approximate", {"approximate": True}),
        ],
    )
    def test_other_options_do_not(self, what, options):
        options = dict(options)
        one = new(["auc", "ks", "ece(n_bins=3)"])
        other = new(options.pop("metrics", ["auc", "ks", "ece(n_bins=3)"]), **options)
        for into, merged in ((one, other), (other, one)):
            before = into.to_bytes(), merged.to_bytes()
            words = rf"states of different questions do not merge: {what} is .* here, .* there"
            assert_raises(ValueError, words, into.merge, merged)
            assert (into.to_bytes(), merged.to_bytes()) == before

    def test_equivalent_metric_strings_and_threads_do_not_matter(self, log):
        state = new([" ece( n_bins = 15 ) ", "auc"], n_threads=1)
        state.merge(filled(log, ["ece", "auc"], n_threads=2))
        same(state.result(), evaluate(log, ["ece", "auc"]))

    def test_exact_states_of_different_state_size_merge(self, log):
        same(new(["auc"], state_size="1MiB").merge(filled(log, ["auc"])).result(), evaluate(log, ["auc"]))

    def test_too_many_slices(self, monkeypatch):
        monkeypatch.setattr(grouping_sets, "MAX_SLICES", 5)
        log = strategies.click_log(4, seed=1)
        one, other = (filled({**log, "by": np.arange(first, first + 4)}, by="by") for first in (0, 3))
        before = one.to_bytes(), other.to_bytes()
        assert_raises(ValueError, "makes more than 5 slices", one.merge, other)
        assert_raises(ValueError, r"makes more than 5 slices.*row 2\b", one.update, {**log, "by": [0, 10, 11, 12]})
        assert (one.to_bytes(), other.to_bytes()) == before
        assert len(one.result()) == len(JOINT_METRICS) * 5


class TestConstructor:
    @each_case(
        ("error", "message", "options"),
        [
            (ValueError, "unknown metric 'aucc'; did you mean 'auc'", {"metrics": ["aucc"]}),
            (ValueError, "metrics is empty", {"metrics": []}),
            (ValueError, "metric .* is computed inside groups; say which column has their keys", {"group": None}),
            (TypeError, "label must be", {"label": 3.5}),
            (ValueError, "score is an empty list", {"score": []}),
            (TypeError, "group must be the name", {"group": 3.5}),
            (TypeError, "weight must be the name", {"weight": ["w"]}),
            (TypeError, "by must be", {"by": 3.5}),
            (ValueError, "on_invalid must be one of", {"on_invalid": "ignore"}),
            (ValueError, "n_threads must be", {"n_threads": 0}),
            (ValueError, "state_size must be at least 4096 bytes; found 4095", {"state_size": 4095}),
            (ValueError, "state_size must be at least 4096 bytes; found '1KiB'", {"state_size": "1KiB"}),
            (ValueError, "state_size must be a number of bytes", {"state_size": "large"}),
            (TypeError, "state_size must be a number of bytes", {"state_size": None}),
            (TypeError, "state_size must be a number of bytes", {"state_size": 1e6}),
        ],
        ids=str,
    )
    def test_wrong_options(self, error, message, options):
        options = {"metrics": JOINT_METRICS, **COLUMNS, **options}
        assert_raises(error, message, fm.Accumulator, options.pop("metrics"), **options)

    def test_state_sizes(self):
        for size in (65536, "64KiB", "65536", np.int64(65536)):
            assert new(["auc"], approximate=True, state_size=size).evaluation.state_size == 65536

    def test_no_rows(self):
        for state in (new(), new().copy(), fm.Accumulator.from_bytes(new().to_bytes()), new().merge(new())):
            assert state.rows == 0
            assert_raises(ValueError, "data has no rows", state.result)

    def test_all_rows_dropped(self):
        nothing = {"label": [0, 1], "prob": [None, 0.5], "group": [1, None]}
        state = updated(new(on_invalid="drop"), pa.table(nothing))
        assert state.rows == 2
        assert outcome(state.result) == outcome(lambda: evaluate(nothing, on_invalid="drop"))
        assert "no row is left of 2 read" in outcome(fm.Accumulator.from_bytes(state.to_bytes()).result)

    def test_all_weights_zero(self):
        for by in (None, "by"):
            rows = {**GOOD, "w": [0.0] * 4}
            state = updated(new(WEIGHTED, weight="w", by=by), rows)
            again = fm.Accumulator.from_bytes(state.to_bytes())
            same(again.result(), evaluate(rows, WEIGHTED, weight="w", by=by))
            state.update(GOOD)
            both = {name: [*rows[name], *GOOD[name]] for name in GOOD}
            same(state.merge(new(WEIGHTED, weight="w", by=by)).result(), evaluate(both, WEIGHTED, weight="w", by=by))

    def test_repr(self, log):
        assert repr(new(["auc", "gauc(weight='pairs')"])) == "Accumulator(auc, gauc(weight=pairs); 0 rows)"
        state = updated(new("auc", approximate=True), {name: np.tile(column, 3) for name, column in log.items()})
        assert repr(state) == "Accumulator(auc; approximate, 1,800 rows)"

    def test_rows_count_the_dropped_ones_too(self):
        state = new(["auc"], on_invalid="drop")
        state.update({"label": [1, 0, 1], "prob": [0.5, None, 0.1], "group": [1, 1, 1]})
        assert state.rows == state.result().rows == 3

    def test_a_doctest_is_there(self):
        assert ">>> " in fm.Accumulator.__doc__
