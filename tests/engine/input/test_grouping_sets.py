"""Grouping sets: one scan gives the slices of every set, to the bits of one evaluation for each set."""

import datetime
import math

import numpy as np
import pyarrow as pa
import pytest

import fastmetrics as fm
from fastmetrics.engine.input import grouping_sets, set_covers
from fastmetrics.engine.scan import resolve
from support.cases import assert_raises, each_case
from support.registry_cases import REAL
from support.states.spilled_logs import (
    KEYS,
    MEMORY,
    METRICS,
    counted,
    evaluate,
    log_of,
    moved,
    repeated,
    slice_rows,
    small_batches,
)

ROWS = 2500
LOG = log_of(ROWS, users=60, seed=5)
LOG["day"] = pa.array([datetime.date(2026, 11, 1) + datetime.timedelta(int(hour) % 3) for hour in LOG["hour"]])
LOG["price"] = pa.array([None if row % 7 == 0 else (row % 5) / 2 for row in range(ROWS)])
SETS = [["city"], ["hour", "city"], ["day"], ["price"], ["price", "city"]]
WEIGHTED = ["auc", "ap", "logloss", "f1", "gauc"]
OPTIONS = {"label": "label", "score": "prob", "group": "group"}
# Groups, ranges with and without totals, sums, and rows in the order of other values.
SOME = ["auc", "ks", "logloss", "gauc", "ndcg@3", "f1"]
OF_METHOD = {"linearized": {}, "delong": {"unit": "row"}}  # the others resample


def separate(function, sets, **options):
    """The results of one call for each set: all rows once, then the slices."""
    found = [list(function(by=own, **options)) for own in sets]
    return [one for number, own in enumerate(found) for one in own if one.slice or number == 0]


def check_sets(log, metrics, sets=SETS, **options):
    """Compare the sets with an evaluation of each."""
    report = evaluate(log, metrics, by=sets, **options)
    expected = separate(lambda **own: evaluate(log, metrics, **own), sets, **options)
    assert list(report) == expected
    assert [(own.rows, own.positives) for own in report] == [(own.rows, own.positives) for own in expected]
    return report


class TestTheSameAsSeparateCalls:
    def test_every_metric(self):
        report = check_sets(LOG, METRICS)
        assert report.columns["by"] == tuple(map(tuple, SETS))
        assert report["auc"] == evaluate(LOG, ["auc"])["auc"]
        assert report.value("auc", slice={"price": None, "city": "Bern"}) != report.value("auc", slice={"price": None})

    @pytest.mark.parametrize("n_threads", [1, 2])
    @pytest.mark.parametrize("weight", [None, "real"])
    def test_threads_batches_and_weights(self, n_threads, weight, monkeypatch):
        small_batches(monkeypatch, 300)
        check_sets(LOG, WEIGHTED, n_threads=n_threads, weight=weight)

    def test_any_order_of_rows(self):
        shuffled = moved(LOG, np.random.default_rng(1).permutation(ROWS))
        assert evaluate(shuffled, SOME, by=SETS) == evaluate(LOG, SOME, by=SETS)

    @pytest.mark.parametrize("n_threads", [1, 2])
    def test_spilled_rows(self, n_threads):
        rows = 80_000
        log = log_of(rows, users=900, seed=4)
        small = evaluate(log, SOME, by=SETS[:2], memory_limit="1MiB", n_threads=n_threads)
        assert small == check_sets(log, SOME, SETS[:2])

    @pytest.mark.usefixtures("scaled")
    @each_case("dtype", ["float32", "float64"])
    @each_case("n_threads", [1, 2])
    def test_models_labels_and_ties_in_little_memory(self, dtype, n_threads):
        """A user and a score that do not fit the memory, and rows that are written to disk."""
        log = log_of(10_000 if dtype == "float64" else 17_500, users=300, seed=8, dtype=dtype)
        log = repeated(repeated(log, "group", 0.4, 3), "prob", 0.6, 0.25, seed=6)
        log |= {"other": log["prob"][::-1].copy(), "buy": np.roll(log["label"], 11)}
        options = {"score": ["prob", "other"], "label": ["label", "buy"]}
        metrics = ["auc", "gauc", "gauc(weight=pairs)", "ndcg@3"]
        expected = check_sets(log, metrics, SETS[:2], **options)
        with counted() as calls:
            assert evaluate(log, metrics, by=SETS[:2], memory_limit=MEMORY, n_threads=n_threads, **options) == expected
        assert all(calls[path] for path in ("spilled", "large partition", "large group", "large tie"))

    @each_case("keys", [*KEYS])
    def test_keys_of_groups(self, keys):
        log = {**LOG, "group": KEYS[keys](LOG["group"])}
        assert check_sets(log, ["gauc", "gauc(stat=p10)"], SETS[:2])["gauc"] == evaluate(LOG, ["gauc"])["gauc"]

    def test_groups_of_one_class(self):
        log = {**LOG, "label": (LOG["group"] % 3 == 0).astype(np.int8)}
        check_sets(log, ["gauc(single_class=half)", "auc"], SETS[:2])
        assert_raises(ValueError, "has one class only", evaluate, log, ["gauc(single_class=raise)"], by=SETS[:2])

    def test_several_passes(self, monkeypatch):
        """More slices than the counters of one pass have."""
        monkeypatch.setattr(resolve, "MOST_SLICES", 5)
        check_sets(LOG, ["auc"])

    def test_scores_of_any_value(self):
        generator = np.random.default_rng(4)
        log = {**LOG, "prob": generator.choice([-np.inf, -1e300, -0.0, 0.0, 1e-310, 2.0, np.inf], ROWS)}
        check_sets(log, ["auc", "gauc"], SETS[:2])

    def test_numbers(self):
        """Statistics whose rows are ordered by other values than scores, and quantiles that come after them."""
        options = {"label": "target", "score": "forecast"}
        check_sets(LOG, [*REAL, "xauc", "median_ae"] if "median_ae" in fm.list_metrics() else REAL, SETS[:3], **options)

    def test_several_labels_and_scores(self):
        log = {**LOG, "other": LOG["prob"][::-1].copy(), "buy": np.roll(LOG["label"], 11)}
        check_sets(log, ["auc", "gauc", "logloss"], SETS[:3], score=["prob", "other"], label=["label", "buy"])

    def test_texts_and_partitions(self):
        log = {**LOG, "hypothesis": LOG["city"], "reference": moved(LOG, np.arange(ROWS)[::-1])["city"]}
        for metrics, options in ((["bleu"], {}), (["ari", "purity"], {"label": "hour", "score": "city"})):
            plain = {"label": None, "score": None, "group": None} | options
            check_sets(log, metrics, SETS[:3], **plain)
            check_sets(log, metrics, SETS[:2], ci=0.9, replicates=5, unit="group", **plain)

    @each_case("method", ["linearized", "bootstrap", "normal", "delong"])
    def test_intervals(self, method):
        options = {"ci": 0.9, "ci_method": method} | OF_METHOD.get(method, {"replicates": 12})
        report = check_sets(LOG, ["auc"] if method == "delong" else SOME, SETS[:3], **options)
        assert all(own.interval or math.isnan(own.value) or "interval" in own.coverage for own in report)
        assert any(own.interval for own in report if own.slice)

    @each_case("method", ["linearized", "bootstrap", "delong"])
    def test_comparisons(self, method):
        log = {**LOG, "other": np.clip(LOG["prob"] * 0.9 + 0.05 * (np.arange(ROWS) % 3), 0, 1)}
        metrics = ["auc"] if method == "delong" else ["auc", "logloss", "gauc"]
        options = {"label": "label", "score": ["prob", "other"], "group": "group", "correction": None}
        options |= {"ci_method": method} | OF_METHOD.get(method, {"replicates": 12})
        found = fm.compare(log, metrics, by=SETS, **options)
        assert list(found) == separate(lambda by: fm.compare(log, metrics, by=by, **options), SETS)
        assert any(own.won for own in found) or method == "delong"

    def test_more_combinations_of_all_columns_than_slices(self):
        """Every set has few slices, all columns together have more than a set may have."""
        generator = np.random.default_rng(2)
        names = ["one", "two", "three", "four", "five"]
        log = LOG | {name: generator.integers(0, 9, ROWS) for name in names}
        sets = [[own] for own in names] + [["one", "two"], ["four", "two"], names[2:]]
        check_sets(log, ["auc", "logloss"], sets)
        check_sets(log, ["auc"], [names, ["three"]])

    def test_values_that_occur_later(self, monkeypatch):
        small_batches(monkeypatch, 100)
        log = {**LOG, "number": np.arange(ROWS) // 10}
        check_sets(log, ["auc", "logloss"], [["number"], ["city"], ["city", "number"]])

    @each_case("n_threads", [1, 2])
    def test_columns_that_are_in_the_same_sets(self, n_threads, monkeypatch):
        """They have one code together, whatever the order in which a set names them."""
        small_batches(monkeypatch, 300)
        sets = [["price", "city"], ["day", "city", "hour", "price"], ["hour"], ["hour", "day"]]
        report = check_sets(LOG, SOME, sets, n_threads=n_threads)
        assert [[*one] for one in {tuple(own.slice): None for own in report}] == [[], *sets]

    def test_more_columns_than_a_table_may_have(self):
        log = LOG | {f"column {number}": np.arange(ROWS) % (2 + number % 2) for number in range(70)}
        names = [name for name in log if name.startswith("column")]
        check_sets(log, ["auc", "logloss"], [names])
        report = check_sets(log, ["auc", "logloss"], [names, *([name, "city"] for name in names[:40:2]), names[1:40:2]])
        assert len(report.slices()) > 6

    def test_slices_that_are_known_in_another_order_than_their_values(self):
        """A set of one column numbers its slices as the column its values, until one is registered out of order."""
        sets = grouping_sets.GroupingSets(("city", "day"), [("city",), ("city", "day")])
        known = sets.number_slices([(1, "a", 0), (0, "b"), (0, "a")]).tolist()
        days = pa.array([0] * 4)
        codes = sets.encode_rows([pa.array(["a", "b", "c", "a"]), days], int)
        numbers = sets.sets[0].global_numbers()[sets.number_set(0, codes)].tolist()
        assert numbers == [known[2], known[1], sets.numbers[0, "c"], known[2]]


class TestArguments:
    def test_the_empty_set_is_all_rows(self):
        assert evaluate(LOG, ["auc"], by=[[], ["city"]]) == evaluate(LOG, ["auc"], by=[["city"]])
        assert evaluate(LOG, ["auc"], by=[[]]) == evaluate(LOG, ["auc"])

    def test_one_set_has_the_results_of_a_flat_list(self):
        assert list(evaluate(LOG, ["auc"], by=[["city", "hour"]])) == list(evaluate(LOG, ["auc"], by=["city", "hour"]))

    def test_equal_sets_are_one(self):
        report = evaluate(LOG, ["auc"], by=[("city", "hour"), ["hour", "city"], ["city"], ["city"]])
        assert report.columns["by"] == (("city", "hour"), ("city",))

    @each_case("by", [["city", ["hour"]], [["city"], 3], [["city"], [3.5]]])
    def test_a_mix_is_refused(self, by):
        assert_raises(TypeError, "by must be", evaluate, LOG, by=by)

    def test_too_many_slices_of_one_set(self):
        log = log_of(grouping_sets.MAX_SLICES + 50, users=60)
        log["number"] = np.arange(len(log["label"]))
        text = r"more than 10,000 slices of \['number'\]; the one at row 10000 \(number=10000\) is one too many"
        assert_raises(ValueError, text, evaluate, log, ["ctr"], by=[["city"], ["number"]])
        log["number"] //= 2
        assert_raises(
            ValueError, r"slices of \['number', 'part'\]; the one at row 10000",
            evaluate, {**log, "part": np.arange(len(log["label"])) % 2}, ["ctr"], by=[["number"], ["number", "part"]],
        )

    def test_in_text_and_documents(self):
        report = evaluate(LOG, ["auc"], by=[["city"], ["city", "hour"]])
        assert "by (city), (city, hour)" in str(report)
        assert report.to_dict()["columns"]["by"] == [["city"], ["city", "hour"]]
        assert "(city), (city, hour)" in report.to_html()


class TestAccumulators:
    @each_case("metrics", [["logloss", "f1"], ["auc", "logloss"], ["auc", "gauc", "ndcg@3"]])
    def test_batches_copies_merges_and_bytes(self, metrics):
        expected = evaluate(LOG, metrics, by=SETS)
        parts = [fm.Accumulator(metrics, by=SETS, **OPTIONS) for _ in range(2)]
        for number, start in enumerate(range(0, ROWS, 500)):
            parts[number % 2].update(slice_rows(LOG, (np.arange(ROWS) >= start) & (np.arange(ROWS) < start + 500)))
        parts[0].flush()
        copied = parts[0].copy().merge(parts[1])
        read = fm.Accumulator.from_bytes(parts[1].to_bytes()).merge(fm.Accumulator.from_bytes(parts[0].to_bytes()))
        for state in (copied, read, fm.Accumulator.from_bytes(read.to_bytes())):
            found = state.result()
            assert found == expected
            assert [(own.rows, own.positives) for own in found] == [(own.rows, own.positives) for own in expected]

    def test_a_refused_batch_changes_nothing(self):
        state = fm.Accumulator(["auc", "logloss"], by=SETS, **OPTIONS)
        state.update(slice_rows(LOG, np.arange(ROWS) < 900))
        before = state.to_bytes()
        bad = slice_rows(LOG, np.arange(ROWS) >= 900)
        bad |= {"city": pa.array(["new"] * len(bad["label"])), "prob": np.full(len(bad["label"]), np.nan)}
        assert_raises(ValueError, "'prob' has NaN", state.update, bad)
        assert state.to_bytes() == before
        other = fm.Accumulator(["auc", "logloss"], by=[["city"]], **OPTIONS)
        assert_raises(ValueError, "questions do not merge: by is", state.merge, other)

    def test_approximate(self):
        options = {"approximate": True, "label": "label", "score": "prob"}
        states = [fm.Accumulator(["auc"], by=own, **options) for own in (SETS, *SETS)]
        for state in states:
            state.update(LOG)
        found = [list(state.result()) for state in states]
        assert found[0] == [one for number, own in enumerate(found[1:]) for one in own if one.slice or number == 0]
        assert list(fm.Accumulator.from_bytes(states[0].to_bytes()).result()) == found[0]

    def test_intervals(self):
        options = OPTIONS | {"ci": 0.9, "replicates": 9}
        state = fm.Accumulator(["auc", "gauc"], by=SETS[:2], **options)
        state.update(LOG)
        assert state.result() == fm.evaluate(LOG, ["auc", "gauc"], by=SETS[:2], **options)


class TestCovers:
    """Blocks are numbered by combinations of more columns than a set has, where that is less work."""

    SUMS = ("logloss", "f1", "ctr", "brier", "ece")

    @pytest.fixture(autouse=True)
    def small(self, monkeypatch):
        monkeypatch.setattr(grouping_sets, "COVERED_ROWS", 1)

    @pytest.mark.parametrize("weight", [None, "weight"])
    @pytest.mark.parametrize("most", [4, 40, 4096])
    def test_the_same_as_separate_calls(self, weight, most, monkeypatch):
        small_batches(monkeypatch, 500)
        monkeypatch.setattr(set_covers, "MOST_COMBINATIONS", most)
        check_sets(LOG, [*self.SUMS], weight=weight)
        check_sets(LOG, [*self.SUMS, "auc"], SETS[1:4], weight=weight)

    @each_case("rows_of_slice", [1, 1 << 20])
    def test_one_set(self, rows_of_slice, monkeypatch):
        """A set of many slices has a cover, one of few has none."""
        small_batches(monkeypatch, 500)
        monkeypatch.setattr(grouping_sets, "ROWS_OF_SLICE", rows_of_slice)
        check_sets(LOG, [*self.SUMS], [["hour", "city"]])

    def test_values_that_occur_later(self, monkeypatch):
        small_batches(monkeypatch, 100)
        monkeypatch.setattr(grouping_sets, "MOST_MEMBERS", 60)
        log = {**LOG, "number": np.arange(ROWS) // 10}
        check_sets(log, ["logloss", "f1"], [["number"], ["city"], ["city", "number"], ["hour", "city"]])

    def test_accumulators(self):
        expected = evaluate(LOG, [*self.SUMS], by=SETS)
        state = fm.Accumulator([*self.SUMS], by=SETS, label="label", score="prob")
        for start in range(0, ROWS, 500):
            state.update(slice_rows(LOG, (np.arange(ROWS) >= start) & (np.arange(ROWS) < start + 500)))
        bad = {**slice_rows(LOG, np.arange(ROWS) < 50), "city": ["new"] * 50, "prob": np.full(50, 2.0)}
        before = state.to_bytes()
        assert_raises(ValueError, "probabilities", state.update, bad)
        assert state.to_bytes() == before
        found = fm.Accumulator.from_bytes(state.to_bytes()).result()
        assert list(found) == list(expected)
        assert [(own.rows, own.positives) for own in found] == [(own.rows, own.positives) for own in expected]

    def test_too_many_slices_name_the_first_row(self):
        log = log_of(grouping_sets.MAX_SLICES + 50, users=60)
        log["number"] = np.arange(len(log["label"])) // 2
        log["part"] = np.arange(len(log["label"])) % 2
        assert_raises(
            ValueError, r"slices of \['number', 'part'\]; the one at row 10000",
            evaluate, log, ["ctr"], by=[["part"], ["number", "part"]],
        )

    def test_which_covers_are_chosen(self):
        sizes = [5, 3, 12, 24, 7, 5]
        pairs = [(first, second) for first in range(6) for second in range(first + 1, 6)]
        covers = set_covers.choose_covers(pairs, sizes)
        assert sorted(number for cover in covers for number in cover.sets) == list(range(15))
        assert len(covers) < 6
        for cover in covers:
            assert math.prod(sizes[position] for position in cover.positions) <= set_covers.MOST_COMBINATIONS
            assert all(set(pairs[number]) <= set(cover.positions) for number in cover.sets)
        assert set_covers.choose_covers([(0, 1)], [100, 100]) == []
