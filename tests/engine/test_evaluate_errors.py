"""evaluate: dropped rows with counts and reasons; errors with column, row and value."""

import math

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet
import pytest

import fastmetrics as fm
from support.cases import assert_raises, each_case
from support.engine_cases import (
    GLOBAL_METRICS,
    comparable,
    evaluate,
    expected_of,
    log_of,
    parquet_of,
    table_of,
    values_of,
)
from support.peers import polars


class TestInvalidRows:
    @pytest.fixture
    def table(self):
        """Twelve rows: one with a null score, two with NaN, one null label, two null users, one with two defects."""
        log = log_of(12)
        score = [None if row == 2 else math.nan if row in (5, 11) else value for row, value in enumerate(log["pctr"])]
        label = [None if row in (7, 11) else int(value) for row, value in enumerate(log["click"])]
        group = [None if row in (8, 9) else int(value) for row, value in enumerate(log["user_id"])]
        return pa.table({"click": pa.array(label, pa.int8()), "pctr": score, "user_id": group})

    def test_dropped_rows_are_counted_by_reason(self, table):
        report = evaluate(table, on_invalid="drop")
        assert report.rows == 12
        by_column = dict.fromkeys(("score", "label", "group"), 0)
        for reason, rows in report.dropped.items():
            (name,) = [name for name in by_column if name in reason]
            by_column[name] += rows
        # The row whose score and label are both missing is dropped once.
        assert sum(by_column.values()) == 6
        assert by_column["group"] == 2
        assert by_column["score"] + by_column["label"] == 4
        kept = [0, 1, 3, 4, 6, 10]
        rest = {name: np.array(table[name].take(kept)) for name in table.column_names}
        assert values_of(report) == expected_of(rest)
        assert all(result.coverage["rows"] == 6 for result in report if result.metric in GLOBAL_METRICS)

    def test_dropping_is_order_and_batch_free(self, table):
        expected = comparable(evaluate(table, on_invalid="drop"))
        for size in (1, 5):
            assert comparable(evaluate(table.to_reader(max_chunksize=size), on_invalid="drop")) == expected
        moved = table.take(np.random.default_rng(0).permutation(12))
        assert comparable(evaluate(moved, on_invalid="drop")) == expected

    def test_a_column_that_no_metric_needs_drops_nothing(self, table):
        assert sum(evaluate(table, ["auc"], group=None, on_invalid="drop").dropped.values()) == 4

    @each_case("rows", [50, 200_003])
    @each_case("column", ["click", "pctr", "user_id"])
    @each_case("batch", [7, 65_536])
    def test_the_default_refuses_with_column_and_row_of_the_log(self, column, rows, batch):
        if rows / batch > 10_000:
            batch = 1000
        log = log_of(rows)
        values = pa.array(log[column])
        bad = rows - 5
        log[column] = pa.concat_arrays([values[:bad], pa.nulls(1, values.type), values[bad + 1 :]])
        reader = table_of(log).to_reader(max_chunksize=batch)
        assert_raises(ValueError, rf"{column}.*null.*row {bad}\b", evaluate, reader)

    @pytest.mark.parametrize("reason", ["null before", "zero weight before"])
    def test_dropped_rows_do_not_shift_the_row_that_is_named(self, reason):
        log = log_of(20)
        score = [
            None if row == 2 and reason == "null before" else value for row, value in enumerate(log["pctr"].tolist())
        ]
        weight = [0.0 if row < 3 and reason == "zero weight before" else 1.0 for row in range(20)]
        log |= {"w": weight, "pctr": score}
        options = {"weight": "w", "on_invalid": "drop"}
        for column, value in {"pctr": 1.5, "click": 7}.items():
            values = [value if row == 15 else before for row, before in enumerate(list(log[column]))]
            for size in (7, 20):
                reader = pa.table({**log, column: pa.array(values)}).to_reader(max_chunksize=size)
                assert_raises(ValueError, rf"{column}.*{value}.*row 15\b", evaluate, reader, ["logloss"], **options)

    def test_null_and_zero_weights(self):
        log = {**log_of(5), "w": pa.array([1.0, None, 0.0, 2.0, math.nan])}
        assert_raises(ValueError, r"w.*null.*row 1\b", evaluate, log, ["auc"], weight="w")
        report = evaluate(log, ["ctr"], weight="w", on_invalid="drop")
        (reason,) = [reason for reason in report.dropped if "null" in reason]
        assert report.dropped[reason] == 2
        assert report["ctr"] == (log["click"][0] + 2.0 * log["click"][3]) / 3.0

    @each_case(
        "kind", ["int64", "uint64", "string", "large_string", "string_view", "dictionary", "polars"]
    )
    def test_dropping_with_every_type_of_key(self, kind):
        log = log_of(200)
        log["w"] = np.arange(200) % 3 * 1.0
        kept = log["w"] > 0
        kept[[5, 17]] = False
        keys = pa.array(log["user_id"], mask=np.arange(200) == 17)
        if kind in ("polars", "dictionary"):
            keys = keys.cast(pa.string())
            keys = keys.dictionary_encode() if kind == "dictionary" else keys
        else:
            keys = keys.cast(pa.string()).cast(kind) if "string" in kind else keys.cast(kind)
        table = pa.table({**log, "user_id": keys, "pctr": pa.array(log["pctr"], mask=np.arange(200) == 5)})
        data = polars().from_arrow(table) if kind == "polars" else table
        rest = {name: column[kept] for name, column in log.items()}
        report = evaluate(data, ["gauc", "auc"], weight="w", on_invalid="drop")
        case = rest["click"], rest["pctr"]
        assert report["gauc"] == fm.gauc_score(*case, rest["user_id"], sample_weight=rest["w"])
        assert report["auc"] == fm.roc_auc_score(*case, sample_weight=rest["w"])

    def test_a_null_among_the_values_of_a_dictionary(self):
        log = log_of(4)
        keys = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), pa.array(["a", "b", None]))
        assert_raises(ValueError, r"user_id.*null.*row 2\b", evaluate, {**log, "user_id": keys}, ["gauc"])
        assert sum(evaluate({**log, "user_id": keys}, ["gauc"], on_invalid="drop").dropped.values()) == 1

    def test_nan_score(self):
        log = log_of(10_000)
        log["pctr"][[6543, 9000]] = np.nan
        assert_raises(ValueError, r"pctr.*NaN.*row 6543\b", evaluate, log)

    @pytest.mark.parametrize("on_invalid", ["raise", "drop"])
    def test_a_wrong_label_is_never_dropped_silently(self, on_invalid):
        log = log_of(10_000)
        log["click"][8765] = 3
        assert_raises(ValueError, r"click.*3.*row 8765\b", evaluate, log, on_invalid=on_invalid)

    def test_zero_and_minus_one_in_different_batches(self):
        first = pa.record_batch({"click": [1, 0], "pctr": [0.1, 0.2], "user_id": [1, 1]})
        second = pa.record_batch({"click": [1, -1], "pctr": [0.1, 0.2], "user_id": [1, 1]})
        reader = pa.RecordBatchReader.from_batches(first.schema, [first, second])
        assert_raises(ValueError, r"click.*-1", evaluate, reader)

    @pytest.mark.parametrize("value", [1.5, -0.1, math.inf])
    def test_values_that_are_not_probabilities(self, value):
        log = log_of(100)
        log["pctr"][42] = value
        assert_raises(ValueError, r"pctr.*row 42\b", evaluate, log, ["logloss"])
        # A score need not be a probability if no metric reads probabilities.
        found = fm.roc_auc_score(log["click"], log["pctr"], allow_infinite=True)
        assert evaluate(log, ["auc"])["auc"] == found


class TestErrors:
    def test_a_missing_column_names_the_near_ones(self):
        assert_raises((ValueError, KeyError), r"'clik'.*'click'", evaluate, log_of(10), label="clik")

    def test_a_missing_file_is_named(self, tmp_path):
        assert_raises(FileNotFoundError, r"nothing\.parquet", evaluate, tmp_path / "nothing.parquet")

    def test_a_glob_without_a_match_is_named(self, tmp_path):
        assert_raises(FileNotFoundError, r"nothing-\*", evaluate, str(tmp_path / "nothing-*.parquet"))

    def test_a_truncated_file_is_named(self, tmp_path):
        path = parquet_of(log_of(5000), tmp_path)
        content = path.read_bytes()
        for length in (0, 3, 100, len(content) - 10):
            path.write_bytes(content[:length])
            assert_raises(ValueError, r"clicks\.parquet", evaluate, path)

    def test_a_damaged_page_is_named(self, tmp_path):
        path = parquet_of(log_of(50_000), tmp_path, compression="zstd", write_page_checksum=True)
        content = bytearray(path.read_bytes())
        content[200:60_000] = bytes(len(content[200:60_000]))
        path.write_bytes(content)
        assert_raises(ValueError, r"clicks\.parquet", evaluate, path)

    @pytest.mark.parametrize("metric", ["aucc", "logless", "guac"])
    def test_an_unknown_metric_names_the_near_ones(self, metric):
        near = {"aucc": "auc", "logless": "log_loss", "guac": "gauc"}[metric]
        assert_raises((ValueError, KeyError), rf"{metric}.*\b{near}\b", evaluate, log_of(10), [metric])

    @pytest.mark.parametrize(
        "metric",
        ["ece(bin=10)", "ece(n_bins=ten)", "ece(n_bins=0)", "gauc(weight=clicks)", "ece(n_bins=10", "auc)", "", "a b"],
    )
    def test_a_bad_metric_string_is_named(self, metric):
        with pytest.raises((ValueError, TypeError, KeyError)) as raised:
            evaluate(log_of(10), [metric])
        words = dict.fromkeys(("ece(bin=10)", "ece(n_bins=ten)", "ece(n_bins=0)"), "n_bins") | {
            "gauc(weight=clicks)": "pairs"
        }
        assert words.get(metric, metric) in str(raised.value)

    @pytest.mark.parametrize("metric", ["ece(n_bins=__import__('os'))", "ece(n_bins=2**3)", "ece(n_bins=len('abc'))"])
    def test_metric_strings_hold_literals_only(self, metric):
        with pytest.raises((ValueError, TypeError)):
            evaluate(log_of(10), [metric])

    def test_a_group_metric_needs_a_group_column(self):
        assert_raises(ValueError, r"gauc.*group", evaluate, log_of(10), ["gauc"], group=None)

    def test_no_metric(self):
        assert_raises(ValueError, "metrics", evaluate, log_of(10), [])

    @pytest.mark.parametrize("on_invalid", ["ignore", None])
    def test_a_bad_policy_names_the_good_ones(self, on_invalid):
        assert_raises((ValueError, TypeError), r"on_invalid.*drop", evaluate, log_of(10), on_invalid=on_invalid)

    @pytest.mark.parametrize("n_threads", [0, -2, "two"])
    def test_a_bad_thread_count_is_named(self, n_threads):
        assert_raises((ValueError, TypeError), "n_threads", evaluate, log_of(10), n_threads=n_threads)

    @each_case("data", [None, 5, object(), [1, 2, 3], np.ones((3, 3))], ids=lambda x: type(x).__name__)
    def test_objects_that_are_not_logs(self, data):
        assert_raises((ValueError, TypeError), "data", evaluate, data)

    def test_columns_of_different_lengths(self):
        log = log_of(10)
        assert_raises(ValueError, r"(?s)9.*10|10.*9", evaluate, {**log, "pctr": log["pctr"][:9]})

    @each_case("kind", ["dict", "table", "parquet", "reader without batches"])
    def test_an_empty_log(self, kind, tmp_path):
        log = {name: column[:0] for name, column in log_of(10).items()}
        table = table_of(log)
        data = {
            "dict": log,
            "table": table,
            "parquet": parquet_of(log, tmp_path),
            "reader without batches": pa.RecordBatchReader.from_batches(table.schema, []),
        }[kind]
        assert_raises(ValueError, r"(?i)empty|no rows", evaluate, data)

    def test_string_labels_and_scores(self):
        log = log_of(4)
        assert_raises((ValueError, TypeError), "click", evaluate, {**log, "click": ["yes", "no", "no", "yes"]})
        assert_raises((ValueError, TypeError), "pctr", evaluate, {**log, "pctr": ["0.1", "0.2", "0.3", "0.4"]})

    def test_texts_where_numbers_are_needed_say_how_to_convert_them(self):
        log = log_of(4)
        texts = {**log, "pctr": ["0.1", "0.2", "0.3", "0.4"]}
        message = r"score column 'pctr' has '0.1' at row 0: numbers are needed; .*cast\(pctr as double\)"
        assert_raises(TypeError, message, evaluate, texts)
        lists = {**log, "pctr": pa.array([[0.1], [0.2], [0.3], [0.4]])}
        assert_raises(TypeError, "'pctr' has Arrow type list<.*: one number in every row", evaluate, pa.table(lists))
        structs = pa.table({**log, "pctr": pa.array([{"a": 0.1}] * 4)})
        assert_raises(TypeError, "'pctr' has Arrow type struct.*name a field of it, 'pctr.a'", evaluate, structs)


@pytest.mark.parametrize("role", ["score", "weight"])
def test_integers_without_an_exact_float_are_named_by_their_row_in_the_log(role):
    rows = 300_000
    values = np.ones(rows, np.int64)
    values[200_000] = 2**60 + 1
    log = {"y": np.arange(rows) % 2, "s": np.linspace(0, 1, rows), "w": np.ones(rows), role[0]: values}
    assert_raises(
        ValueError, rf"{role} column '{role[0]}' has {2**60 + 1} at row 200000:",
        fm.evaluate, log, ["auc"], label="y", score="s", weight="w",
    )


def test_a_group_of_one_class_is_named_with_weights_too():
    rows = 20_000
    groups = np.arange(rows) // 2
    y_true = np.arange(rows) % 2
    y_true[2 * 1234] = 1
    log = {"y": y_true, "s": np.linspace(0, 1, rows), "g": groups, "w": np.ones(rows)}
    for weight in (None, "w"):
        assert_raises(
            ValueError, "group 1234 has one class",
            fm.evaluate, log, ["gauc(single_class=raise)"], label="y", score="s", group="g", weight=weight,
        )


def test_a_parameter_given_twice():
    assert_raises(
        ValueError, "weight is given twice",
        fm.evaluate, {"y": [0, 1], "s": [0, 1]}, ["gauc(weight=pairs, weight=uniform)"], label="y", score="s",
    )
