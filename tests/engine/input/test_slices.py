"""Slices: each equals an evaluation of its rows only, and all rows equal the log without slices."""

import datetime
import math
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import fastmetrics as fm
from fastmetrics.engine.input import grouping_sets
from support.cases import assert_raises, each_case
from support.registry_cases import REAL, taking_row_weights
from support.states.spilled_logs import METRICS, evaluate, log_of, moved, slice_rows, small_batches

ROWS = 3000
LOG = log_of(ROWS, users=60, seed=31)
WEIGHTED = [*METRICS, "gauc(weight=weights)"]
SOME = ["logloss", "auc", "gauc", "ndcg@5"]  # where the type of a column matters
COLUMNS_OF = {
    "int64": pa.array(LOG["hour"] - 2),
    "uint8": pa.array(LOG["hour"].astype(np.uint8)),
    "uint64": pa.array(LOG["hour"].astype(np.uint64) + np.uint64(2**64 - 10)),
    "text": LOG["city"],
    "large text": LOG["city"].cast(pa.large_string()),
    "text view": LOG["city"].cast(pa.string_view()),
    "bool": pa.array(LOG["hour"] == 2),
    "date": pa.array([datetime.date(2024, 2, 28) + datetime.timedelta(int(hour)) for hour in LOG["hour"]]),
    "dictionary": LOG["city"].dictionary_encode(),
    "dictionary of integers": pa.array(LOG["hour"]).dictionary_encode(),
    "one value": pa.array(["the same"] * ROWS),
    "double": pa.array(LOG["hour"] / 2 - 0.5),
    "float": pa.array((LOG["hour"] / 2).astype(np.float32)),
    "half float": pa.array((LOG["hour"] / 2).astype(np.float16)),
    "dictionary of floats": pa.array(LOG["hour"] / 2).dictionary_encode(),
}


def slices_of(report):
    """Slice values -> results; all rows have no slice values."""
    found = {}
    for result in report:
        found.setdefault(tuple(result.slice.values()), []).append(result)
    return found


def contents(results):
    return [
        (own.metric, own.label, own.score, own.value.hex(), own.signature, own.coverage, own.reason) for own in results
    ]


def check_slices(log, by, metrics=METRICS, **options):
    """Compare every slice with an evaluation of its rows, and all rows with an evaluation without slices."""
    names = [by] if isinstance(by, str) else by
    report = evaluate(log, metrics, by=by, **options)
    found = slices_of(report)
    columns = [pa.array(log[name]).to_pylist() for name in names]
    values = list(zip(*columns, strict=True))
    assert list(found) == [(), *sorted(set(values), key=lambda own: [(one is None, one) for one in own])]
    assert contents(found.pop(())) == contents(evaluate(log, metrics, **options))
    for own, results in found.items():
        alone = slice_rows(log, np.array([other == own for other in values]))
        assert contents(results) == contents(evaluate(alone, metrics, **options)), own
        assert all(result.slice == dict(zip(names, own, strict=True)) for result in results)
    assert report.columns["by"] == (names[0] if len(names) == 1 else tuple(names))
    return report


class TestEverySlice:
    @each_case("kind", COLUMNS_OF)
    def test_of_any_type(self, kind):
        check_slices({**LOG, "by": COLUMNS_OF[kind]}, "by", SOME)

    @pytest.mark.parametrize("weight", ["weight", "real"])
    def test_zeros_are_one_slice(self, weight):
        expected = evaluate({**LOG, "by": (LOG["hour"] == 0) / 2}, weight=weight, by="by")
        zeros = np.where(np.arange(ROWS) % 2, -0.0, 0.0)
        report = evaluate({**LOG, "by": np.where(LOG["hour"] == 0, 0.5, zeros)}, weight=weight, by="by")
        assert report == expected
        assert [str(own["by"]) for own in report.slices()[1:]] == ["0.0", "0.5"]

    @pytest.mark.parametrize("weight", ["weight", "real"])
    def test_with_weights(self, weight):
        check_slices(LOG, "hour", WEIGHTED, weight=weight)

    @pytest.mark.parametrize("weight", [None, "real"])
    def test_of_labels_that_are_numbers(self, weight):
        check_slices(LOG, ["hour", "city"], REAL, label="target", score="forecast", weight=weight)

    def test_of_several_columns(self):
        check_slices(LOG, ["city", "hour"])
        log = {**LOG, "flag": LOG["prob"] > 0.2, "day": COLUMNS_OF["date"]}
        report = check_slices(log, ["flag", "day", "city"], ["auc", "gauc", "ece"])
        assert list(report.results[-1].slice) == ["flag", "day", "city"]

    def test_the_order_of_the_columns_is_that_of_the_slices(self):
        one, other = (evaluate(LOG, ["auc"], by=by) for by in (["hour", "city"], ["city", "hour"]))
        assert {tuple(sorted(own.slice.items())): own.value for own in one} == {
            tuple(sorted(own.slice.items())): own.value for own in other
        }
        assert [own.slice for own in one] != [own.slice for own in other]
        assert evaluate(LOG, ["auc"], by=["hour", "hour"]) == evaluate(LOG, ["auc"], by="hour")

    @pytest.mark.parametrize("by", ["group", "label", "prob_bin"])
    def test_by_a_column_with_another_role(self, by):
        log = {**LOG, "prob_bin": np.digitize(LOG["prob"], [0.05, 0.2])}
        report = check_slices(log, by, ["auc", "gauc", "gauc(single_class=half)", "ctr", "ne"])
        if by == "label":
            assert all(math.isnan(own.value) for own in report if own.slice and own.metric == "auc")
            assert [own.value for own in report if own.slice and own.metric == "ctr"] == [0.0, 1.0]

    def test_a_user_in_several_slices_is_one_in_each(self):
        log = {"label": [1, 0, 1, 0], "prob": [0.9, 0.1, 0.2, 0.8], "group": [7, 7, 7, 7], "by": [1, 1, 2, 2]}
        all_rows, one, two = evaluate(log, ["gauc"], by="by")
        assert (all_rows.value, one.value, two.value) == (0.75, 1.0, 0.0)
        assert [own.coverage["groups"] for own in (all_rows, one, two)] == [1, 1, 1]

    def test_slices_in_which_a_metric_is_undefined(self):
        log = {**LOG, "label": np.where(LOG["hour"] == 1, 0, LOG["label"])}
        undefined = [own for own in check_slices(log, "hour") if math.isnan(own.value)]
        assert {own.slice["hour"] for own in undefined} == {1}
        assert all(own.reason for own in undefined)

    @pytest.mark.parametrize("n_threads", [1, 2, 3])
    def test_rows_in_several_batches_files_and_threads(self, n_threads, tmp_path):
        expected = evaluate(LOG, WEIGHTED, by=["hour", "city"], weight="real")
        options = {"by": ["hour", "city"], "weight": "real", "n_threads": n_threads}
        table = pa.table(moved(LOG, np.random.default_rng(n_threads).permutation(ROWS)))
        for number, start in enumerate(range(0, ROWS, 1000)):
            path = tmp_path / f"{number}.parquet"
            pa.parquet.write_table(table.slice(start, 1000), path, row_group_size=300)
        assert evaluate(tmp_path, WEIGHTED, **options) == expected
        with pytest.MonkeyPatch.context() as patch:
            small_batches(patch, 100)
            assert evaluate(table.to_reader(max_chunksize=70), WEIGHTED, **options) == expected

    def test_dictionaries_that_differ_from_batch_to_batch(self):
        def batches():
            for start in range(0, ROWS, 500):
                part = slice_rows(LOG, (np.arange(ROWS) >= start) & (np.arange(ROWS) < start + 500))
                values = ["none has it", *np.random.default_rng(start).permutation(["Ørsta", "Bern", "Köln"]).tolist()]
                codes = pa.array([values.index(city) for city in part["city"].to_pylist()], pa.int8())
                part["city"] = pa.DictionaryArray.from_arrays(codes, pa.array(values))
                yield pa.record_batch(part)

        pieces = list(batches())
        with pytest.MonkeyPatch.context() as patch:
            small_batches(patch, 500)
            reader = pa.RecordBatchReader.from_batches(pieces[0].schema, pieces)
            assert evaluate(reader, by="city") == evaluate(LOG, by="city")

    def test_dictionaries_with_many_unused_values(self):
        """Codes of all columns are combined in 64 bits: with five columns of 16 bits, the first would be lost."""
        names = ["one", "two", "three", "four", "five"]
        large = pa.array([f"value {number}" for number in range(1 << 16)])
        generator = np.random.default_rng(0)
        columns = {name: generator.choice([65_535, 41_003], ROWS) for name in names}
        coded = {name: pa.DictionaryArray.from_arrays(pa.array(own), large) for name, own in columns.items()}
        plain = {name: pa.array([f"value {code}" for code in own.tolist()]) for name, own in columns.items()}
        assert evaluate({**LOG, **coded}, ["auc"], by=names) == check_slices({**LOG, **plain}, names, ["auc"])

    def test_many_slices(self):
        numbers = np.random.default_rng(0).permutation(ROWS) % 1000
        log = {**LOG, "by": numbers}
        found = slices_of(evaluate(log, ["auc", "ks", "logloss", "gauc"], by="by"))
        assert len(found) == 1001
        for own in (0, 1, 500, 999):
            alone = evaluate(slice_rows(log, numbers == own), ["auc", "ks", "logloss", "gauc"])
            assert contents(found[own,]) == contents(alone)

    def test_several_scores_and_labels(self):
        other = np.round(LOG["prob"].astype(np.float32)[::-1], 2).copy()
        log = {**LOG, "other": other, "buy": np.roll(LOG["label"], 11)}
        for by, weight in ((None, "real"), ("hour", None)):
            options = {"weight": weight} | ({"by": by} if by else {})
            report = evaluate(log, score=["other", "prob"], label=["buy", "label"], **options)
            for label in ("buy", "label"):
                for score in ("other", "prob"):
                    own = [result for result in report if (result.label, result.score) == (label, score)]
                    assert own == list(evaluate(log, score=score, label=label, **options))
            assert len(report) == 4 * len(taking_row_weights(METRICS, weight)) * (5 if by else 1)


class TestNulls:
    @each_case("kind", ["text", "text view", "int64", "dictionary", "date", "bool", "double", "dictionary of floats"])
    @pytest.mark.parametrize("on_invalid", ["raise", "drop"])
    def test_a_null_is_a_slice(self, kind, on_invalid):
        whole = COLUMNS_OF[kind]
        missing = np.random.default_rng(0).random(ROWS) < 0.3
        values = [None if gone else value for gone, value in zip(missing, whole.to_pylist(), strict=True)]
        column = pa.array(values, whole.type.value_type if pa.types.is_dictionary(whole.type) else whole.type)
        if kind == "dictionary":
            column = column.dictionary_encode()
        report = check_slices({**LOG, "by": column}, "by", SOME, on_invalid=on_invalid)
        assert report.dropped == {}
        nulls = report.result("auc", slice={"by": None})
        assert nulls == [own for own in report if own.metric == "auc"][-1]
        assert nulls.rows == int(missing.sum())

    def test_nulls_among_the_values_of_a_dictionary(self):
        """A null may be an index without a value, or an index whose value is null: both are one slice."""
        codes = pa.array(LOG["hour"] % 3, mask=np.arange(ROWS) % 5 == 0)
        column = pa.DictionaryArray.from_arrays(codes, pa.array(["a", None, "b"]))
        report = check_slices({**LOG, "by": column}, "by", ["auc", "logloss"])
        assert [own["by"] for own in report.slices()[1:]] == ["a", "b", None]

    def test_nan_is_a_null(self):
        values = np.where(LOG["hour"] == 1, np.nan, LOG["hour"] / 2)
        with_nulls = pa.array(values, from_pandas=True)
        mixed = pa.array([None if row % 2 and value != value else value for row, value in enumerate(values.tolist())])
        expected = check_slices({**LOG, "by": with_nulls}, "by", ["auc"])
        assert evaluate({**LOG, "by": values}, ["auc"], by="by") == expected
        assert evaluate({**LOG, "by": mixed}, ["auc"], by="by") == expected
        assert evaluate({**LOG, "by": values.astype(np.float16)}, ["auc"], by="by") == expected

    def test_only_nulls(self):
        report = check_slices({**LOG, "by": pa.nulls(ROWS)}, "by", ["auc"])
        assert report.slices() == [{}, {"by": None}]

    def test_of_several_columns(self):
        column = pa.array([None if hour == 1 else "x" for hour in LOG["hour"]])
        report = evaluate({**LOG, "by": column}, ["auc"], by=["by", "city"])
        alone = slice_rows(LOG, (LOG["hour"] == 1) & np.array([city == "Bern" for city in LOG["city"].to_pylist()]))
        assert report.value("auc", slice={"by": None, "city": "Bern"}) == evaluate(alone, ["auc"])["auc"]

    def test_a_null_of_a_column_with_another_role_is_no_label(self):
        values = pa.array([None if row == 7 else int(own) for row, own in enumerate(LOG["group"])])
        log = {**LOG, "group": values}
        assert_raises(ValueError, r"group column 'group' has a null at row 7\b", evaluate, log, by="group")
        report = evaluate(log, by="group", on_invalid="drop")
        assert report.dropped == {"null or NaN group": 1}

    def test_in_text_and_json(self):
        log = {**LOG, "by": pa.array(["null" if hour else None for hour in LOG["hour"]])}
        report = evaluate(log, ["auc", "ctr"], by="by")
        lines = [line.split()[0] for line in str(report).splitlines()[4:7]]
        assert lines == ["(all)", "'null'", "null"]
        assert [own["slice"] for own in report.to_dict()["results"]][::2] == [{}, {"by": "null"}, {"by": None}]
        assert ">null<" in report.to_html()

    def test_states_of_nulls(self):
        """In any order of batches, and as bytes."""
        column = pa.array([None if hour == 1 else hour / 2 for hour in LOG["hour"].tolist()])
        log = {**LOG, "by": column}
        expected = evaluate(log, by="by")
        new = partial(fm.Accumulator, METRICS, label="label", score="prob", group="group", by="by")
        one, other = new(), new()
        other.update(slice_rows(log, np.arange(ROWS) >= 1000))
        one.update(slice_rows(log, np.arange(ROWS) < 1000))
        assert one.merge(fm.Accumulator.from_bytes(other.to_bytes())).result() == expected
        nulls = new()
        nulls.update({**slice_rows(LOG, LOG["hour"] == 1), "by": [None] * int((LOG["hour"] == 1).sum())})
        nulls.update(slice_rows(log, LOG["hour"] != 1))
        assert nulls.result() == expected


class TestCounts:
    @pytest.mark.parametrize("weight", [None, "weight"])
    def test_rows_positives_and_groups(self, weight):
        report = evaluate(LOG, ["auc", "gauc", "logloss"], by=["city", "hour"], weight=weight)
        city = np.array(LOG["city"].to_pylist())
        present = np.ones(ROWS, bool) if weight is None else LOG["weight"] > 0
        for own in report:
            kept = present.copy()
            if own.slice:
                kept &= (city == own.slice["city"]) & (LOG["hour"] == own.slice["hour"])
            assert (own.rows, own.positives) == (kept.sum(), LOG["label"][kept].sum())
            assert own.groups == (own.coverage["groups"] if own.metric == "gauc" else None)
        assert sum(own.rows for own in report if own.slice) == report.result("auc").rows * 3

    def test_labels_that_are_no_classes(self):
        report = evaluate(LOG, ["rmse"], label="target", score="forecast", by="hour")
        assert [own.positives for own in report] == [None] * 5
        assert [own.rows for own in report][1:] == np.bincount(LOG["hour"]).tolist()

    def test_several_labels(self):
        log = {**LOG, "buy": np.roll(LOG["label"], 11)}
        report = evaluate(log, ["auc"], label=["buy", "label"], by="hour")
        for own in report:
            assert own.positives == log[own.label][LOG["hour"] == own.slice["hour"] if own.slice else ...].sum()

    @each_case("metrics", [["auc"], ["logloss"], ["brier"], ["f1"], ["gauc", "logloss"], ["rmse"]])
    @pytest.mark.parametrize("n_threads", [1, 2])
    def test_of_accumulators(self, metrics, n_threads):
        expected = evaluate(LOG, metrics, by="hour")
        new = partial(fm.Accumulator, metrics, label="label", score="prob", group="group", by="hour")
        parts = [new(n_threads=n_threads) for _ in range(2)]
        for number, part in enumerate(parts):
            part.update(slice_rows(LOG, np.arange(ROWS) % 2 == number))
        for state in (parts[1].copy().merge(parts[0]), fm.Accumulator.from_bytes(parts[0].merge(parts[1]).to_bytes())):
            found = state.result()
            assert found == expected
            assert [(own.rows, own.positives) for own in found] == [(own.rows, own.positives) for own in expected]

    def test_of_approximate_accumulators(self):
        state = fm.Accumulator(["auc"], label="label", score="prob", by="hour", approximate=True)
        state.update(LOG)
        expected = [(own.rows, own.positives) for own in evaluate(LOG, ["auc"], by="hour")]
        for found in (state.result(), fm.Accumulator.from_bytes(state.to_bytes()).result()):
            assert [(own.rows, own.positives) for own in found] == expected

    def test_rows_are_a_part_of_equality(self):
        """Positives are not: they are known if a metric beside this one needs labels of two classes."""
        result = evaluate(LOG, ["auc"], by="hour").results[1]
        names = ("metric", "score", "slice", "value", "signature", "coverage", "label", "rows")
        fields = {name: getattr(result, name) for name in names}
        assert fm.Result(**fields) == result
        assert fm.Result(**fields | {"rows": 1}) != result


class TestAllRows:
    """A metric without a slice is that of all rows."""

    def test_of_reports(self):
        report = evaluate(LOG, ["auc", "gauc"], by=["hour", "city"])
        whole = evaluate(LOG, ["auc", "gauc"])
        assert (report["auc"], report.value("gauc")) == (whole["auc"], whole["gauc"])
        assert report.result("auc") == whole.result("auc")
        assert report.result("auc", slice={"hour": 1, "city": "Bern"}).value != whole["auc"]

    def test_of_several_scores(self):
        log = {**LOG, "other": LOG["prob"][::-1].copy()}
        report = evaluate(log, ["auc"], score=["prob", "other"], by="hour")
        assert_raises(KeyError, "2 results for 'auc'.*score='prob'", report.__getitem__, "auc")
        assert report.value("auc", score="prob") == evaluate(LOG, ["auc"])["auc"]

    def test_of_comparisons(self):
        log = {**LOG, "other": LOG["prob"][::-1].copy()}
        options = {"label": "label", "score": ["prob", "other"], "unit": "group", "replicates": 9}
        comparison = fm.compare(log, ["auc"], by="hour", **options)
        assert comparison["auc"].other_value == fm.compare(log, ["auc"], **options)["auc"].other_value
        assert comparison["auc"].slice == {}
        assert comparison.difference("auc", slice={"hour": 1}).slice == {"hour": 1}


class TestWeightZero:
    def test_weight_zero(self):
        """A slice whose rows all have weight zero is in the report, with undefined values."""
        log = {**LOG, "weight": np.where(LOG["hour"] == 2, 0.0, LOG["weight"])}
        report = check_slices(log, "hour", WEIGHTED, weight="weight")
        assert report.dropped == {"zero weight": int(np.count_nonzero(log["weight"] == 0))}
        gone = [own for own in report if own.slice.get("hour") == 2]
        assert len(gone) == len(taking_row_weights(WEIGHTED))
        assert all(math.isnan(own.value) and own.reason for own in gone)


class TestRefusals:
    @pytest.mark.parametrize("kind", ["float", "double", "dictionary"])
    def test_too_many_floats(self, kind):
        log = log_of(12_000, users=60)
        values = pa.array(np.arange(12_000) + 0.5)
        values = values.dictionary_encode() if kind == "dictionary" else values.cast(kind)
        assert_raises(
            ValueError, r"row 10000 \(by=10000.5\) is one too many.*into bins first", evaluate, {**log, "by": values},
            ["auc"], by="by",
        )  # fmt: skip

    def test_nested_columns(self):
        for values in (pa.array([[1]] * ROWS), pa.array([{"a": 1}] * ROWS)):
            assert_raises(
                TypeError, r"by column 'by' has Arrow type (list|struct).*name a column", evaluate,
                pa.table({**LOG, "by": values}), by="by",
            )  # fmt: skip

    @each_case("by", [7.5, [7.5], {"hour"}, b"hour"])
    def test_by_that_is_not_a_column_name(self, by):
        assert_raises(TypeError, "by must be the name of a column or a list of names", evaluate, LOG, by=by)

    def test_a_missing_column(self):
        assert_raises(ValueError, r"by: no column 'hours'.*did you mean 'hour'", evaluate, LOG, by=["city", "hours"])

    def test_an_empty_list_makes_no_slices(self):
        assert evaluate(LOG, by=[]) == evaluate(LOG)

    @each_case("n_threads", [1, 2])
    @each_case("kind", ["int64", "text", "two columns"])
    def test_too_many(self, kind, n_threads, monkeypatch):
        monkeypatch.setattr(grouping_sets, "MAX_SLICES", 1000)
        rows = 1200
        log = log_of(rows, users=60)
        numbers = np.arange(rows) % (grouping_sets.MAX_SLICES + 1)
        log["by"] = pa.array([f"{number:05}" for number in numbers]) if kind == "text" else numbers
        names = ["by"]
        if kind == "two columns":
            log |= {"by": numbers // 100, "and": numbers % 100}
            names = ["by", "and"]
        text = {"int64": "by=1000", "text": "by='01000'", "two columns": "by=10, and=0"}[kind]
        assert_raises(
            ValueError, rf"than 1,000 slices; the one at row 1000 \({text}\) is one too many",
            evaluate, log, ["auc"], by=names, n_threads=n_threads,
        )
        most = moved(log, np.arange(grouping_sets.MAX_SLICES))
        report = evaluate(most, ["ctr"], by=names, n_threads=n_threads)
        assert len(report) == grouping_sets.MAX_SLICES + 1
        assert sum(own.value for own in report.results[1:]) == np.count_nonzero(most["label"])

    def test_the_most_slices(self):
        rows = np.arange(grouping_sets.MAX_SLICES)
        report = evaluate({**log_of(len(rows), users=60), "by": rows[::-1]}, ["ctr"], by="by", n_threads=2)
        assert [own["by"] for own in report.slices()[1:]] == rows.tolist()

    def test_too_many_in_several_batches(self, monkeypatch):
        small_batches(monkeypatch, 1000)
        log = log_of(12_000, users=60)
        log["by"] = 20_000 - np.minimum(np.arange(12_000), 11_500)
        assert_raises(
            ValueError, r"the one at row 10000 \(by=10000\) is one too many",
            evaluate, log, ["auc"], by="by", n_threads=1,
        )

    def test_after_too_many_slices_known_slices_are_still_numbered(self):
        """As in another thread that processes an earlier batch."""
        met = grouping_sets.GroupingSets(("by",), [("by",)])

        def number(values):
            (codes,) = met.encode_rows([pa.array(values)], int)
            return codes.tolist()

        known = list(range(grouping_sets.MAX_SLICES - 5))
        assert number(known) == known
        assert_raises(
            ValueError, r"row 6 \(by=99006\) is one too many",
            number, [99_000, 99_001, 99_002, 3, 99_003, 99_004, 99_006, 99_007],
        )
        assert number([99_004, 7, 99_000, 7]) == [9999, 7, 9995, 7]
        for late in (99_007, 99_008):
            assert_raises(
                ValueError, rf"row 2 \(by={late}\) is one too many", number, [7, 99_000, late, 99_007]
            )

    def test_the_first_row_is_named_whatever_the_order_of_a_dictionary(self):
        rows = grouping_sets.MAX_SLICES + 5
        values = pa.array(np.arange(rows)[::-1]).dictionary_encode()
        by = pa.DictionaryArray.from_arrays(pa.array(np.arange(rows)[::-1].astype(np.int32)), values.dictionary)
        assert_raises(
            ValueError, r"the one at row 10000 \(by=10000\) is one too many",
            evaluate, {**log_of(rows, users=60), "by": by}, ["ctr"], by="by",
        )

    def test_too_many_values_of_a_column_after_too_many_slices(self):
        rows = 2 * grouping_sets.MAX_SLICES + 50
        log = {**log_of(rows, users=60), "by": np.arange(rows) // 2, "and": np.arange(rows) % 2}
        assert_raises(
            ValueError, r"the one at row 10000 \(by=5000, and=0\) is one too many",
            evaluate, log, ["ctr"], by=["by", "and"],
        )
        assert_raises(
            ValueError, r"the one at row 10000 \(by=10000, and=7\) is one too many",
            evaluate, {**log, "by": np.arange(rows), "and": np.full(rows, 7)}, ["ctr"], by=["by", "and"],
        )

    @each_case("bad", [1.5, -0.25])
    @each_case("weight", [None, "weight"])
    def test_the_first_bad_probability_is_named(self, bad, weight):
        """Slices are updated one after the other, but the first bad row of the log is named."""
        of_hour = [np.flatnonzero((LOG["hour"] == hour) & (LOG["weight"] > 0)) for hour in range(4)]
        first, later = int(of_hour[3][99]), int(of_hour[0][300])
        assert first < later
        log = {**LOG, "prob": LOG["prob"].copy(), "sure": np.ones(ROWS)}
        log["prob"][[first, later]] = bad
        for batch_rows in (7, 1000, ROWS):
            reader = pa.table(log).to_reader(max_chunksize=batch_rows)
            assert_raises(
                ValueError, rf"prob.*{bad}.*row {first}\b",
                evaluate, reader, ["logloss", "auc"], by="hour", weight=weight,
            )
        assert_raises(
            ValueError, rf"prob.*{bad}.*row {first}\b", evaluate, log, ["ece"], score=["sure", "prob"], by="hour"
        )

    def test_a_label_inside_a_slice(self):
        log = {**LOG, "label": LOG["label"].copy()}
        log["label"][[1777, 1999]] = 5
        assert_raises(ValueError, r"label.*5.*row 1777\b", evaluate, log, by="hour")

    def test_a_group_may_have_one_class_in_a_slice_only(self):
        log = {"label": [1, 0, 1, 1], "prob": [0.9, 0.1, 0.2, 0.8], "group": ["ann"] * 4, "by": [1, 1, 2, 2]}
        assert evaluate(log, ["gauc(single_class=raise)"])["gauc(single_class=raise)"] == 1.0
        assert_raises(
            ValueError, "group 'ann' has one class only", evaluate, log, ["gauc(single_class=raise)"], by="by"
        )


def test_these_tests_can_fail():
    """A row that moves to another slice changes both slices, and not all rows."""
    log = {**LOG, "hour": LOG["hour"].copy()}
    log["hour"][0] = (log["hour"][0] + 1) % 4
    one, other = slices_of(evaluate(LOG, by="hour")), slices_of(evaluate(log, by="hour"))
    differing = {values for values in one if contents(one[values]) != contents(other[values])}
    assert differing == {(LOG["hour"][0],), (log["hour"][0],)}
