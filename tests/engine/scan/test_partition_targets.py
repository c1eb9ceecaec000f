"""Metrics of partitions in every entry point: labels of any type, states that are sent and merged."""

import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core import registry
from fastmetrics._core.tables.key_table import KeyTable
from fastmetrics.engine.plan.metric_plan import make_plan
from support import partition_logs
from support.cases import assert_raises, each_case
from support.states.accumulators import merged, pieces, updated, with_other_source
from support.states.spilled_logs import MEMORY
from support.states.state_bytes_parts import put_together, take_apart
from support.states.toy_engine import distributed_report

ROWS = 600
METRICS = partition_logs.partition_metrics()
COLUMNS = {"label": "class", "score": "cluster"}
OPTIONS = [
    {},
    {"by": "day"},
    {"label": ["class", "kind"], "score": ["cluster", "rough"], "by": ["day", "city"]},
]


@pytest.fixture(scope="module")
def log():
    random = np.random.default_rng(4)
    return partition_logs.partition_columns(ROWS, seed=4) | {
        "kind": random.integers(0, 5, ROWS) * 2.0,
        "day": random.integers(0, 3, ROWS),
        "city": random.choice(["köln", "ulm"], ROWS),
    }


def evaluate(log, metrics=METRICS, **options):
    return fm.evaluate(log, metrics, **{**COLUMNS, **options})


def new(metrics=METRICS, **options):
    return fm.Accumulator(metrics, **{**COLUMNS, **options})


def content(report):
    """The content of a report without run time and names of columns."""
    keep = ("metric", "value", "signature", "coverage", "slice", "reason")
    results = json.loads(report.to_json())["results"]
    return [{name: result[name] for name in keep if name in result} for result in results]



def values_of(metric, log, label="class", score="cluster"):
    """The value of the metric's public function."""
    request = registry.parse(metric)
    return float(request.spec.function(log[label], log[score], **request.arguments))


class TestValues:
    @pytest.mark.parametrize("metric", METRICS)
    def test_the_bits_of_the_function(self, log, metric):
        report = evaluate(log, [metric], **OPTIONS[2])
        assert len(report.results) == 4 * 7
        for result in report:
            chosen = np.ones(ROWS, bool)
            for name, value in result.slice.items():
                chosen &= log[name] == value
            subset = {name: column[chosen] for name, column in log.items()}
            expected = values_of(metric, subset, result.label, result.score)
            assert result.value == expected or (math.isnan(expected) and math.isnan(result.value) and result.reason)
            assert result.coverage["rows"] == chosen.sum()
            assert result.coverage["classes"] == len(set(subset[result.label].tolist()))
            assert result.coverage["clusters"] == len(set(subset[result.score].tolist()))

    def test_metrics_together_equal_single_metrics(self, log):
        together = evaluate(log)
        for metric in METRICS:
            assert [*evaluate(log, [metric])] == [result for result in together if result.metric == metric]

    def test_the_names_of_columns(self, log):
        named = {"label": log["class"], "cluster": log["cluster"]}
        assert content(fm.evaluate(named, METRICS)) == content(evaluate(log))
        assert_raises(ValueError, "score: no column 'cluster' in data", fm.evaluate, {"label": [1]}, METRICS)

    def test_signatures(self, log):
        signatures = [result.signature for result in evaluate(log, ["nmi(average_method=max)", "purity"])]
        assert signatures == [f"nmi|average_method:max|v:{fm.__version__}", f"purity|v:{fm.__version__}"]

    def test_a_pair_for_every_row(self):
        """More labels than a table of all pairs could hold."""
        rows = 50_000
        random = np.random.default_rng(0)
        log = {"class": random.permutation(rows), "cluster": random.permutation(rows).astype(str)}
        report = evaluate(log, ["ari", "rand", "purity"])
        assert report.results[0].coverage == {"rows": rows, "classes": rows, "clusters": rows}
        assert [result.value for result in report] == [1.0, 1.0, 1.0]

    def test_parameters(self):
        for metric, message in (
            ("nmi(average_method=mean)", "average_method of metric 'nmi' must be one of"),
            ("ami(average_method=1)", "average_method of metric 'ami' must be one of"),
            ("v_measure(beta=-1)", "beta"),
            ("v_measure(beta=x)", "beta"),
            ("purity(beta=1)", "no parameter 'beta'"),
        ):
            assert_raises(ValueError, message, make_plan, metric)


def as_text(values):
    return np.array([f"label {value} of some length"[: 8 + 9 * value] for value in values.tolist()])


NUMBERS = pa.int8(), pa.uint32(), pa.int64()
OF_32_BITS = pa.date32(), pa.time32("s")
OF_64_BITS = pa.timestamp("us", "UTC"), pa.duration("ns"), pa.date64(), pa.time64("us")
OF_INTEGERS = {
    **{str(kind): lambda codes, kind=kind: pa.array(codes).cast(kind) for kind in NUMBERS},
    "uint64": lambda codes: pa.array(codes.astype(np.uint64) + np.uint64(2**64 - 9)),
    **{str(kind): lambda codes, kind=kind: pa.array(codes.astype(np.int32)).cast(kind) for kind in OF_32_BITS},
    **{str(kind): lambda codes, kind=kind: pa.array(codes * 86_400_000).cast(kind) for kind in OF_64_BITS},
    "halffloat": lambda codes: pa.array(codes.astype(np.float16) / 2),
    "float": lambda codes: pa.array(codes.astype(np.float32) / 3),
    "double": lambda codes: pa.array(codes / 3),
    "decimal": lambda codes: pa.array(codes).cast(pa.decimal128(30, 4)),
    "dictionary of integers": lambda codes: pa.array(codes * 7).dictionary_encode(),
    "strings": lambda codes: pa.array(as_text(codes)),
    "large": lambda codes: pa.array(as_text(codes)).cast(pa.large_string()),
    "view": lambda codes: pa.array(as_text(codes)).cast(pa.string_view()),
    "dictionary": lambda codes: pa.array(as_text(codes)).dictionary_encode(),
    "binary": lambda codes: pa.array(as_text(codes)).cast(pa.binary()),
    "fixed": lambda codes: pa.array([bytes([code]) * 3 for code in codes.tolist()], pa.binary(3)),
    "objects": lambda codes: as_text(codes).astype(object),
    "NumPy's text": as_text,
    "pandas' categories": lambda codes: pd.Series(as_text(codes)).astype("category"),
    "polars": lambda codes: pl.Series(as_text(codes).tolist()),
    "one dictionary, much of it unused": lambda codes: pa.DictionaryArray.from_arrays(
        pa.array(codes * 1000), pa.array([f"name {place}" for place in range(9000)])
    ),
    "a dictionary with equal values": lambda codes: pa.DictionaryArray.from_arrays(
        pa.array(codes + 8 * (np.arange(len(codes)) % 2)), pa.array([str(place % 8) for place in range(16)])
    ),
}


class TestColumns:
    @each_case("kind", OF_INTEGERS)
    def test_any_type_of_label(self, kind):
        codes = np.random.default_rng(1).integers(0, 8, 300)
        others = (codes + np.arange(300) % 3) // 2
        days = np.arange(300) % 2
        expected = content(evaluate({"class": codes, "cluster": others, "day": days}, by="day"))
        make = OF_INTEGERS[kind]
        for label, score in ((make(codes), others), (as_text(codes), make(others)), (make(codes), make(others))):
            log = {"class": label, "cluster": score, "day": days}
            assert content(evaluate(log, by="day")) == expected
            assert content(evaluate(pa.table(log).to_reader(max_chunksize=17), by="day", n_threads=2)) == expected

    def test_booleans(self):
        codes = np.random.default_rng(1).integers(0, 2, 99)
        expected = content(evaluate({"class": codes, "cluster": codes[::-1]}))
        assert content(evaluate({"class": codes > 0, "cluster": codes[::-1].astype(str)})) == expected

    def test_equal_labels_are_one_label(self):
        found = evaluate({"class": [0.0, -0.0, 1.0, 2.0**53], "cluster": ["", "\0", "a", "a\0"]}, ["purity"])
        assert found.results[0].coverage == {"rows": 4, "classes": 3, "clusters": 4}
        found = evaluate({"class": [2**53, 2**53 + 1, -1], "cluster": ["é", "e\u0301", "E"]}, ["purity"])
        assert found.results[0].coverage == {"rows": 3, "classes": 3, "clusters": 3}
        both = {"class": np.array([2**64 - 1, 0], np.uint64), "cluster": np.array([-1, 0])}
        assert evaluate(both, ["purity"]).results[0].coverage == {"rows": 2, "classes": 2, "clusters": 2}

    @given(st.lists(st.tuples(st.text(max_size=3), st.integers(-(2**63), 2**63 - 1)), min_size=1, max_size=40))
    def test_any_labels(self, rows):
        labels, clusters = ([*column] for column in zip(*rows, strict=True))
        found = evaluate(pa.table({"class": labels, "cluster": pa.array(clusters, pa.int64())}), ["purity"])
        largest = {}
        for pair in rows:
            largest[pair[1]] = max(largest.get(pair[1], 0), rows.count(pair))
        assert found["purity"] == sum(largest.values()) / len(rows)

    @each_case("n_threads", [1, 3])
    @pytest.mark.parametrize("name", ["a.parquet", "a.arrow", "a.csv"])
    def test_files(self, log, tmp_path, name, n_threads):
        table = pa.table(log)
        if name == "a.parquet":
            pa.parquet.write_table(table, tmp_path / name, row_group_size=100)
        elif name == "a.arrow":
            pa.feather.write_feather(table, tmp_path / name)
        else:
            pa.csv.write_csv(table, tmp_path / name)
        expected = content(evaluate(log, **OPTIONS[2]))
        assert content(evaluate(tmp_path / name, **OPTIONS[2], n_threads=n_threads)) == expected

    def test_frames(self, log):
        expected = content(evaluate(log))
        assert content(evaluate(pd.DataFrame(log))) == expected
        assert content(evaluate(pl.DataFrame(log))) == expected
        coded = pl.DataFrame(log).with_columns(pl.col("class").cast(pl.Categorical))
        assert content(evaluate(coded)) == expected

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            (pa.array([[1], [2]]), r"Arrow type list<.*>: labels are integers"),
            (pa.array([{"a": 1}, {"a": 2}]), r"Arrow type struct<.*>: labels are integers"),
            (pa.array([pa.MonthDayNano([1, 1, 1])] * 2), r"month_day_nano.*: labels are integers"),
        ],
    )
    def test_values_that_are_not_labels(self, values, message):
        assert_raises(
            TypeError, f"score column 'cluster' has .*{message}",
            evaluate, pa.table({"class": [1, 2], "cluster": values}),
        )

    def test_infinities(self):
        values = [1.0, 2.0, math.inf]
        assert_raises(
            ValueError, "label column 'class' has inf at row 2: finite numbers are needed",
            evaluate, {"class": values, "cluster": [1, 2, 3]},
        )
        assert_raises(
            ValueError, "label column 'class' has inf at row 3",
            evaluate, {"class": [None, *values], "cluster": [1, 2, 3, 4]}, on_invalid="drop",
        )


class TestOrderFree:
    @pytest.mark.parametrize("options", OPTIONS)
    def test_any_order_batches_and_threads(self, log, options):
        expected = content(evaluate(log, **options))
        for seed, size, n_threads in ((0, 7, 1), (1, 64, 2), (2, 599, 5)):
            order = np.random.default_rng(seed).permutation(ROWS)
            moved = pa.table({name: column[order] for name, column in log.items()})
            assert content(evaluate(moved.to_reader(max_chunksize=size), **options, n_threads=n_threads)) == expected


class TestInvalid:
    @each_case("column", ["class", "cluster"])
    @each_case(
        "kind", ["text", "dictionary", "null in a dictionary", "integers", "NaN", "coded NaN", "date"]
    )
    def test_nulls(self, log, column, kind):
        role = "label" if column == "class" else "score"
        codes = np.random.default_rng(1).integers(0, 4, ROWS)
        missing = np.arange(ROWS) % 50 == 7
        arrays = {
            "text": pa.array(as_text(codes), mask=missing),
            "dictionary": pa.array(as_text(codes), mask=missing).dictionary_encode(),
            "null in a dictionary": pa.DictionaryArray.from_arrays(np.where(missing, 4, codes), [*"abcd", None]),
            "integers": pa.array(codes, mask=missing),
            "NaN": pa.array(np.where(missing, np.nan, codes)),
            "coded NaN": pa.DictionaryArray.from_arrays(np.where(missing, 4, codes), [0.0, 1.0, 2.0, 3.0, math.nan]),
            "date": pa.array(pa.array(codes.astype(np.int32)).cast(pa.date32()).to_pylist(), mask=missing),
        }
        with_nulls = {**log, column: arrays[kind]}
        what = "NaN" if "NaN" in kind else "a null"
        assert_raises(
            ValueError, rf"{role} column '{column}' has {what} at row 7; on_invalid='drop'", evaluate, with_nulls
        )
        report = evaluate(with_nulls, on_invalid="drop", by="day")
        assert report.dropped == {f"null or NaN {role}": 12}
        present = {name: values[~missing] for name, values in {**log, column: codes}.items()}
        assert content(report) == content(evaluate(present, by="day"))

    def test_no_row_is_left(self):
        nothing = {"class": pa.array([None, None], pa.string()), "cluster": [1, 2]}
        assert_raises(
            ValueError, "no row is left of 2 read: 2 with null or NaN label", evaluate, nothing, on_invalid="drop"
        )
        assert_raises(
            ValueError, "data has no rows",
            evaluate, {"class": pa.array([], pa.string()), "cluster": pa.array([], pa.int64())},
        )

    def test_weights(self, log):
        for entry_point in (evaluate, lambda log, **options: new(**options)):
            assert_raises(
                ValueError, r"metrics of partitions \(.*\) have no weights .*weight='day'",
                entry_point, log, weight="day",
            )

    @pytest.mark.parametrize(
        ("metrics", "message"),
        [
            (["ari", "auc"], r"of classes \(auc\) and of partitions \(ari\)"),
            (["rmse", "purity"], r"of numbers \(rmse\) and of partitions \(purity\)"),
        ],
    )
    def test_other_metrics_beside(self, log, metrics, message):
        assert_raises(ValueError, f"{message} take labels and scores of different kinds", evaluate, log, metrics)

    def test_texts_beside(self, log):
        """Each metric reads the columns that it reads by default."""
        texts = {"reference": ["a b"] * len(log["class"]), "hypothesis": ["a c"] * len(log["class"])}
        report = fm.evaluate({**log, **texts, "label": log["class"]}, ["bleu", "purity"])
        assert report["purity"] == evaluate(log, ["purity"])["purity"]
        assert report.result("bleu").label == "reference"

    def test_no_rows_have_no_value(self):
        for metric in METRICS:
            request = registry.parse(metric)
            value = request.finalize(*(statistic.empty() for statistic in request.statistics()))
            assert math.isnan(value.value)
            assert (value.reason, value.coverage) == ("no rows", {"rows": 0, "classes": 0, "clusters": 0})

    @pytest.mark.usefixtures("scaled")
    def test_more_pairs_than_memory(self, tmp_path, monkeypatch):
        """Pairs that do not fit are spilled: the result is the same, and no file is left."""
        spilled, spill = [], KeyTable.spill
        monkeypatch.setattr(KeyTable, "spill", lambda *where, **how: (spilled.append(where), spill(*where, **how)))
        rows = np.arange(7500)
        log = {"class": np.tile(rows % 60, 3), "cluster": np.tile(rows // 60, 3).astype(str)}
        assert content(evaluate(log, memory_limit=MEMORY, spill_dir=str(tmp_path))) == content(evaluate(log))
        some = ["ari", "ami", "purity"]  # each metric reads all pairs
        large = {**log, "class": log["class"] * 2**40}
        assert content(evaluate(large, some, memory_limit=MEMORY)) == content(evaluate(log, some))
        by = {**log, "half": np.repeat([0, 1], rows.shape[0] * 3 // 2)}
        limited = evaluate(by, some, by="half", memory_limit=MEMORY)
        assert content(limited) == content(evaluate(by, some, by="half"))
        assert list(tmp_path.iterdir()) == []
        assert spilled
        few = {"class": rows % 50, "cluster": rows % 7}
        assert content(evaluate(few, some, memory_limit=MEMORY)) == content(evaluate(few, some))

    def test_more_labels_than_memory(self):
        """An error that names the limit before memory is exhausted; with enough memory the result is the same."""
        rows = 60_000
        log = {"class": np.arange(rows), "cluster": np.arange(rows).astype(str)}
        assert_raises(
            ValueError, r"the different labels take more than .*memory_limit=1 MiB",
            evaluate, log, memory_limit="1MiB",
        )
        assert content(evaluate(log, memory_limit="100MiB")) == content(evaluate(log))


@pytest.mark.parametrize("options", OPTIONS)
class TestAccumulator:
    def test_states_that_are_sent_and_merged(self, log, options):
        whole, one = merged(lambda: new(**options), log, 150), updated(new(**options), log)
        assert whole.result() == one.result() == evaluate(log, **options)
        assert fm.Accumulator.from_bytes(whole.to_bytes()).to_bytes() == whole.to_bytes()

    def test_refused_batches_change_nothing(self, log, options):
        state = updated(new(**options), log)
        before = state.to_bytes()
        label, score = state._state.states[0].names.labels[0], state._state.states[0].names.scores[0]
        for column, values in ((label, [*log[label][:-1], None]), (score, [[1]] * ROWS), (label, [1] * ROWS)):
            assert_raises((ValueError, TypeError), f"'{column}'.* (has|holds) ", state.update, {**log, column: values})
            assert state.to_bytes() == before

    def test_partitions_as_spark_makes_them(self, log, options):
        assert distributed_report(METRICS, COLUMNS | options, pieces(log, 90)) == evaluate(log, **options)


class TestStates:
    def test_equal_rows_make_equal_bytes(self, log):
        """Without slices, which are numbered in the order of rows, bytes do not depend on the order of rows."""
        whole = updated(new(label=["class", "kind"]), log)
        turned = new(label=["class", "kind"])
        for batch in pieces({name: column[::-1] for name, column in log.items()}, 50):
            turned.update(batch)
        turned._state.sources = whole._state.sources
        assert turned.to_bytes() == whole.to_bytes()

    def test_types_that_may_follow_each_other(self):
        codes = np.arange(ROWS) % 5
        expected = content(evaluate({"class": np.r_[as_text(codes), as_text(codes)], "cluster": np.r_[codes, codes]}))
        state = new()
        state.update({"class": pa.array(as_text(codes)).dictionary_encode(), "cluster": codes.astype(np.int8)})
        state.update({"class": pa.array(as_text(codes)).cast(pa.string_view()), "cluster": codes.astype(np.uint32)})
        assert content(state.result()) == expected

    @each_case("other", [np.arange(4.0), np.arange(4, dtype=np.uint64)])
    def test_values_that_the_first_type_holds_may_follow(self, other):
        numbers = {"class": np.arange(4), "cluster": np.arange(4)}
        expected = content(updated(updated(new(), numbers), numbers).result())
        for column in ("class", "cluster"):
            assert content(updated(updated(new(), numbers), {**numbers, column: other}).result()) == expected

    @each_case("other", [np.arange(4.0) + 0.5, np.array([1, 2, 3, 2**63], np.uint64), np.arange(4) > 1, list("abcd")])
    def test_other_types_are_refused(self, other):
        state = updated(new(), {"class": np.arange(4), "cluster": np.arange(4)})
        for column in ("class", "cluster"):
            assert_raises(
                TypeError, f"column '{column}' has Arrow type .*, but int64 in earlier batches",
                state.update, {"class": np.arange(4), "cluster": np.arange(4)} | {column: other},
            )
        theirs = updated(new(), {"class": other, "cluster": np.arange(4)})
        assert_raises(TypeError, "states of different column types do not merge", state.merge, theirs)

    def test_three_billion_rows(self, log):
        """A state merged with copies of itself: every count is multiplied by 2**k, and shares do not change."""
        state = updated(new(), log)
        small = state.result()
        doublings = 23
        for _ in range(doublings):
            state.merge(with_other_source(state))
        found = fm.Accumulator.from_bytes(state.to_bytes()).result()
        assert found == state.result()
        assert found.results[0].coverage["rows"] == ROWS << doublings > 3_000_000_000
        for result, before in zip(found, small, strict=True):
            assert 0 <= result.value <= (math.inf if result.metric == "mutual_info" else 1)
            assert result.value == pytest.approx(before.value, abs=0.02)
        # Metrics of shares of rows do not change by a bit.
        assert found["purity"] == small["purity"]
        assert found["mutual_info"] == pytest.approx(small["mutual_info"], rel=1e-14)

    def test_counts_never_pass_64_bits(self):
        state = updated(new(), {"class": [1, 1, 2], "cluster": ["a", "b", "b"]})
        for _ in range(61):
            state.merge(with_other_source(state))
        before = state.to_bytes()
        assert state.rows == 3 << 61
        assert_raises(
            OverflowError, r"are more than a state counts: at most 9,223,372,036,854,775,807",
            state.merge, with_other_source(state),
        )
        assert state.to_bytes() == before
        assert state.result()["purity"] == 2 / 3
        assert 0 <= state.result()["rand"] <= 1

    def test_states_of_no_rows(self, log):
        empty, full = new(by="day"), new(by="day")
        full.update(log)
        assert empty.copy().merge(full).result() == full.merge(empty).result() == full.result()
        assert_raises(ValueError, "no rows", empty.result)

    def test_results_between_updates(self, log):
        state = new()
        for stop, batch in enumerate(pieces(log, 100), 1):
            state.update(batch)
            assert state.result() == evaluate({name: column[: 100 * stop] for name, column in log.items()})
            assert state.result() == state.copy().result()

    @each_case(
        ("array", "change", "message"),
        [
            (0, lambda values: values[:-1], "arrays of cells have different lengths"),
            (2, lambda values: np.where(values == values[0], 0, values), "a cell has no rows"),
            (2, lambda values: -values, "a cell has no rows"),
            (2, lambda values: values + (1 << 62), r"more than 2\*\*63 - 1 rows"),
            (2, lambda values: values + 1, "not the rows it counts"),
            (0, lambda values: values * 0, "a cell occurs twice"),
            (0, lambda values: values - 1, "its cells are not sorted"),
            (0, lambda values: values + 1, "a cell has an unknown label"),
            (0, lambda values: values + (1 << 40), "a cell has an unknown label"),
            (5, lambda values: values[:-1], "offsets of texts do not match their bytes"),
            (6, lambda values: values[::-1].copy(), "offsets of texts do not match their bytes"),
            (6, lambda values: values - 1, "offsets of texts do not match their bytes"),
            (6, lambda values: values * 2, "offsets of texts do not match their bytes"),
            (6, lambda values: values[:0], "texts without offsets"),
            (5, lambda values: np.zeros_like(values), "a label occurs twice"),
            (8, lambda values: np.ones(3, np.uint8), "texts without offsets"),
            (0, lambda values: values.astype(np.int32), "another type or shape"),
            (6, lambda values: values.reshape(1, -1), "another type or shape"),
        ],
        ids=range(18),
    )
    def test_damaged_tables(self, array, change, message):
        state = updated(new(), {"class": ["aaa", "bbb", "ccc", "aaa"], "cluster": [1, 1, 2, 2]})
        header, arrays, sections = take_apart(state.to_bytes())
        assert fm.Accumulator.from_bytes(put_together(header, arrays, sections)).result() == state.result()
        _, _, _, *places = header["sums"][0]
        arrays[places[array]] = change(arrays[places[array]])
        bad = put_together(header, arrays, sections)
        assert_raises(ValueError, f"damaged: .*{message}", fm.Accumulator.from_bytes, bad)

    def test_damaged_headers(self, log):
        header, arrays, sections = take_apart(updated(new(), log).to_bytes())
        sums = header["sums"][0]
        for change, message in (
            ({"sums": []}, "not the rows it counts"),
            ({"sums": [sums[:-1]]}, "not the arrays it should have"),
            ({"sums": [[0, 1, *sums[2:]]]}, "of no statistic, column or slice"),
            ({"sums": [[0, 0, 0, *sums[3:]]]}, "of no statistic, column or slice"),
            ({"rows": 1 << 63}, "counts of rows"),
            ({"types": ["int64"]}, "no types"),
            ({"seen": [1]}, "labels are not of one kind"),
        ):
            bad = put_together({**header, **change}, arrays, sections)
            assert_raises(ValueError, message, fm.Accumulator.from_bytes, bad)
