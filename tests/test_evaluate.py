"""evaluate against the functions, with ==, whatever holds the log; what it drops, leaves out, refuses and says."""

import concurrent.futures
import itertools
import math

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet
import pytest
from peers import duckdb, pandas, polars

import fastmetrics as fm
import strategies

COLUMNS = {"label": "click", "score": "pctr", "group": "user_id"}

# Every metric, spelt canonically, beside the function that must give the same number, to the bit.
EXPECTED = {
    "auc": lambda log: fm.roc_auc_score(log["click"], log["pctr"]),
    "ks": lambda log: fm.ks_statistic(log["click"], log["pctr"]),
    "logloss": lambda log: fm.log_loss(log["click"], log["pctr"]),
    "ne": lambda log: fm.normalized_entropy(log["click"], log["pctr"]),
    "brier": lambda log: fm.brier_score_loss(log["click"], log["pctr"]),
    "copc": lambda log: fm.copc(log["click"], log["pctr"]),
    "pcoc": lambda log: fm.pcoc(log["click"], log["pctr"]),
    "ece": lambda log: fm.expected_calibration_error(log["click"], log["pctr"]),
    "ece(bins=10)": lambda log: fm.expected_calibration_error(log["click"], log["pctr"], bins=10),
    "ece(norm=l2)": lambda log: fm.expected_calibration_error(log["click"], log["pctr"], norm="l2"),
    "ece(bins=7, norm=max)": lambda log: fm.expected_calibration_error(log["click"], log["pctr"], bins=7, norm="max"),
    "ctr": lambda log: float(np.count_nonzero(log["click"] == 1)) / len(log["click"]),
    "gauc": lambda log: fm.gauc_score(log["click"], log["pctr"], log["user_id"]),
    "gauc(weight=pairs)": lambda log: fm.gauc_score(log["click"], log["pctr"], log["user_id"], weight="pairs"),
    "gauc(weight=uniform)": lambda log: fm.gauc_score(log["click"], log["pctr"], log["user_id"], weight="uniform"),
    "gauc(weight=positives, single_class=half)": lambda log: fm.gauc_score(
        log["click"], log["pctr"], log["user_id"], weight="positives", single_class="half"
    ),
}
METRICS = list(EXPECTED)
GLOBAL_METRICS = [metric for metric in METRICS if not metric.startswith("gauc")]


def log_of(rows, **options):
    log = strategies.click_log(rows, seed=rows, **options)
    return {"click": log["label"], "pctr": log["prob"], "user_id": log["group"]}


def expected_of(log, metrics=METRICS):
    return {metric: EXPECTED[metric](log) for metric in metrics}


def values_of(report, metrics=METRICS):
    return {metric: report[metric] for metric in metrics}


def evaluate(data, metrics=METRICS, **options):
    return fm.evaluate(data, metrics, **{**COLUMNS, **options})


def comparable(report):
    """All that a report says, without how long it took."""
    return {key: value for key, value in report.to_dict().items() if key != "seconds"}


def table_of(log):
    return pa.table(log)


def parquet_of(log, folder, **options):
    path = folder / "clicks.parquet"
    pyarrow.parquet.write_table(table_of(log), path, **options)
    return path


def parquet_parts(log, folder):
    table = table_of(log)
    third = len(table) // 3
    parts = [table.slice(0, third), table.slice(third, 1), table.slice(third + 1)]
    for number, part in enumerate(parts):
        pyarrow.parquet.write_table(part, folder / f"part-{number}.parquet")
    return sorted(folder.glob("part-*.parquet"))


def hive_of(log, folder):
    days = pa.array(np.arange(len(log["click"])) % 3)
    table = table_of(log).append_column("day", days)
    pyarrow.parquet.write_to_dataset(table, folder / "log", partition_cols=["day"])
    return folder / "log"


def csv_of(log, folder, name="clicks.csv"):
    with (
        pa.CompressedOutputStream(folder / name, "gzip") if name.endswith(".gz") else open(folder / name, "wb") as file
    ):
        pyarrow.csv.write_csv(table_of(log), file)
    return folder / name


def feather_of(log, folder):
    pyarrow.feather.write_feather(table_of(log), folder / "clicks.feather")
    return folder / "clicks.feather"


SOURCES = {
    "dict of arrays": lambda log, folder: log,
    "dict of lists": lambda log, folder: {name: column.tolist() for name, column in log.items()},
    "arrow table": lambda log, folder: table_of(log),
    "arrow record batch": lambda log, folder: table_of(log).to_batches()[0],
    "arrow reader": lambda log, folder: table_of(log).to_reader(max_chunksize=1000),
    "arrow dataset": lambda log, folder: pyarrow.dataset.dataset(parquet_parts(log, folder)),
    "parquet path": parquet_of,
    "parquet text path": lambda log, folder: str(parquet_of(log, folder)),
    "parquet, small row groups": lambda log, folder: parquet_of(log, folder, row_group_size=700),
    "parquet, dictionary pages": lambda log, folder: parquet_of(log, folder, use_dictionary=True, compression="zstd"),
    "parquet parts": parquet_parts,
    "parquet glob": lambda log, folder: str(parquet_parts(log, folder)[0].parent / "part-*.parquet"),
    "hive folder": hive_of,
    "feather": feather_of,
    "csv": csv_of,
    "csv.gz": lambda log, folder: csv_of(log, folder, "clicks.csv.gz"),
    "polars": lambda log, folder: polars().DataFrame(log),
    "pandas": lambda log, folder: pandas().DataFrame(log),
    "duckdb relation": lambda log, folder: duckdb().connect().from_arrow(table_of(log)),
}


@pytest.fixture(scope="module")
def log():
    return log_of(5000)


@pytest.fixture(scope="module")
def expected(log):
    return expected_of(log)


class TestSources:
    @pytest.mark.parametrize("source", SOURCES)
    def test_the_functions_and_evaluate_agree_to_the_bit(self, source, log, expected, tmp_path):
        report = evaluate(SOURCES[source](log, tmp_path))
        assert values_of(report) == expected
        assert report.rows == 5000
        assert sum(report.dropped.values()) == 0

    @pytest.mark.parametrize("dtype", strategies.SCORE_DTYPES)
    def test_float32_scores(self, dtype):
        log = log_of(5000, dtype=dtype)
        assert values_of(evaluate(log)) == expected_of(log)

    @pytest.mark.parametrize("dtype", ["bool", "int32", "int64", "uint8", "float32", "float64"])
    def test_label_types(self, dtype, log, expected, tmp_path):
        log = {**log, "click": log["click"].astype(dtype)}
        assert values_of(evaluate(parquet_of(log, tmp_path))) == expected

    def test_labels_of_minus_one(self, log, expected):
        log = {**log, "click": (2 * log["click"] - 1).astype(np.int8)}
        assert values_of(evaluate(log)) == expected

    @pytest.mark.parametrize("kind", ["string", "large_string", "string_view", "dictionary", "int32", "uint64"])
    def test_group_types(self, kind, log, expected):
        keys = pa.array(log["user_id"])
        if kind == "dictionary":
            keys = keys.cast(pa.string()).dictionary_encode()
        else:
            keys = keys.cast(pa.string()).cast(kind) if "string" in kind else keys.cast(kind)
        assert values_of(evaluate({**log, "user_id": keys})) == expected

    def test_float16_scores(self, log):
        """The clip of log loss is that of the type the column came in."""
        score = log["pctr"].astype(np.float16)
        report = evaluate(pa.table({**log, "pctr": pa.array(score)}), ["auc", "logloss", "ne", "brier"])
        assert report["auc"] == fm.roc_auc_score(log["click"], score)
        assert report["logloss"] == fm.log_loss(log["click"], score)
        assert report["ne"] == fm.normalized_entropy(log["click"], score)
        assert report["brier"] == fm.brier_score_loss(log["click"], score)

    @pytest.mark.parametrize(
        ("first", "second"),
        [
            ("int32", "int64"),
            ("int64", "int32"),
            ("uint32", "int64"),
            ("string", "large_string"),
            ("string", "dictionary"),
        ],
    )
    def test_files_whose_keys_have_different_types(self, first, second, log, expected, tmp_path):
        """The same users, one type a file: joined by value."""
        for name, kind, rows in (("a", first, slice(0, 2000)), ("b", second, slice(2000, None))):
            part = {column: values[rows] for column, values in log.items()}
            keys = pa.array(part["user_id"])
            keys = keys.cast(pa.string()) if kind in ("string", "large_string", "dictionary") else keys
            part["user_id"] = keys.dictionary_encode() if kind == "dictionary" else keys.cast(kind)
            pyarrow.parquet.write_table(pa.table(part), tmp_path / f"{name}.parquet")
        assert values_of(evaluate(tmp_path)) == expected

    def test_keys_that_share_bits_but_not_values_are_not_joined(self, tmp_path):
        """int64 -1 and uint64 2**64 - 1."""
        for name, keys in (("a", pa.array([-1, -1])), ("b", pa.array([2**64 - 1] * 2, pa.uint64()))):
            pyarrow.parquet.write_table(
                pa.table({"click": [1, 0], "pctr": [0.1, 0.2], "user_id": keys}), tmp_path / f"{name}.parquet"
            )
        with pytest.raises(ValueError, match=r"user_id.*b\.parquet"):
            evaluate(tmp_path, ["gauc"])

    def test_text_keys_of_batches_that_are_gone(self):
        """A reader's batches are freed while the scan goes on: long keys must have been copied."""
        schema = pa.schema({"click": pa.int8(), "pctr": pa.float64(), "user_id": pa.string()})

        def batches():
            generator = np.random.default_rng(0)
            for _ in range(40):
                keys = [f"a-key-that-is-too-long-for-a-slot-{key:06d}" for key in generator.integers(0, 900, 2000)]
                yield pa.record_batch([generator.integers(0, 2, 2000), generator.random(2000), keys], schema=schema)

        table = pa.Table.from_batches(batches())
        expected = fm.gauc_score(table["click"], table["pctr"], table["user_id"])
        (result,) = evaluate(pa.RecordBatchReader.from_batches(schema, batches()), ["gauc"])
        assert (result.value, result.coverage["groups"]) == (expected, 900)

    def test_concurrent_scans(self, log, expected):
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            for report in pool.map(lambda _: evaluate(log), range(8)):
                assert values_of(report) == expected

    def test_dictionaries_that_differ_from_batch_to_batch(self, log, expected):
        keys = [f"user-{key}" for key in log["user_id"]]
        batches = [
            pa.record_batch(
                {
                    "click": log["click"][start : start + 700],
                    "pctr": log["pctr"][start : start + 700],
                    "user_id": pa.array(keys[start : start + 700]).dictionary_encode(),
                }
            )
            for start in range(0, 5000, 700)
        ]
        reader = pa.RecordBatchReader.from_batches(batches[0].schema, batches)
        assert values_of(evaluate(reader)) == expected

    def test_without_groups(self, log, expected):
        report = evaluate(log, GLOBAL_METRICS, group=None)
        assert values_of(report, GLOBAL_METRICS) == {metric: expected[metric] for metric in GLOBAL_METRICS}

    def test_other_columns_are_not_looked_at(self, log, expected):
        extra = {"nulls": pa.nulls(5000), "nested": pa.array([{"a": [1]}] * 5000), "pctr2": np.full(5000, np.nan)}
        assert values_of(evaluate(pa.table({**log, **extra}))) == expected

    def test_one_column_may_have_two_roles(self, log):
        report = fm.evaluate(log, ["auc", "gauc"], label="click", score="user_id", group="user_id")
        assert report["auc"] == fm.roc_auc_score(log["click"], log["user_id"])
        assert report["gauc"] == 0.5

    def test_metrics_as_one_string(self, log, expected):
        report = evaluate(log, "auc,gauc(weight=pairs), ece(bins=7,norm=max)")
        assert [result.value for result in report] == [
            expected[metric] for metric in ("auc", "gauc(weight=pairs)", "ece(bins=7, norm=max)")
        ]

    def test_a_reader_is_consumed_once(self, log):
        reader = table_of(log).to_reader()
        evaluate(reader, ["auc"])
        with pytest.raises((ValueError, OSError, pa.ArrowInvalid)):
            evaluate(reader, ["auc"])


class TestPromises:
    @pytest.mark.parametrize("rows", [2, 63, 64, 65, 1000, 131_073])
    def test_batches_of_any_size(self, rows):
        log = log_of(rows)
        expected = comparable(evaluate(log))
        for size in (1, 7, 64, 1000, 65_536, rows):
            if rows / size < 5000:
                reader = table_of(log).to_reader(max_chunksize=size)
                assert comparable(evaluate(reader)) == expected, size

    def test_uneven_chunks_and_empty_ones(self):
        log = log_of(20_000)
        table = table_of(log)
        cuts = [0, 0, 1, 1, 2, 65, 130, 5000, 5000, 19_999, 20_000, 20_000]
        pieces = [table.slice(start, stop - start) for start, stop in itertools.pairwise(cuts)]
        assert comparable(evaluate(pa.concat_tables(pieces))) == comparable(evaluate(log))

    @pytest.mark.parametrize("rows", [65, 5000, 300_000])
    def test_any_row_order_and_thread_count(self, rows):
        log = log_of(rows, users=max(2, rows // 20))
        expected = comparable(evaluate(log, n_threads=1))
        for n_threads in (2, 3, 7, None):
            order = np.random.default_rng(n_threads).permutation(rows)
            moved = {name: column[order] for name, column in log.items()}
            assert comparable(evaluate(moved, n_threads=n_threads)) == expected, n_threads
        assert {result["metric"]: result["value"] for result in expected["results"]} == expected_of(log)

    def test_any_order_of_files(self, tmp_path):
        log = log_of(5000)
        parts = parquet_parts(log, tmp_path)
        expected = comparable(evaluate(parts))
        assert comparable(evaluate(parts[::-1])) == expected
        assert comparable(evaluate([str(part) for part in parts])) == expected

    def test_any_order_and_company_of_metrics(self):
        log = log_of(2000)
        together = {result.metric: result for result in evaluate(log)}
        for metric in reversed(METRICS):
            (alone,) = evaluate(log, [metric])
            assert alone == together[alone.metric]

    def test_the_log_is_only_read(self):
        log = log_of(70_000)
        before = {name: column.tobytes() for name, column in log.items()}
        for column in log.values():
            column.flags.writeable = False
        evaluate(log)
        assert {name: column.tobytes() for name, column in log.items()} == before

    @pytest.mark.parametrize("layout", ["strided", "byte-swapped"])
    def test_any_memory_layout_of_arrays(self, layout):
        log = log_of(3000)
        changes = {
            "strided": lambda column: np.repeat(column, 2)[::2],
            "byte-swapped": lambda column: column.astype(column.dtype.newbyteorder()),
        }
        moved = {name: changes[layout](column) for name, column in log.items()}
        assert comparable(evaluate(moved)) == comparable(evaluate(log))

    def test_one_user_in_several_files_is_joined(self, tmp_path):
        first = {"click": [1], "pctr": [0.9], "user_id": [5]}
        second = {"click": [0], "pctr": [0.1], "user_id": [5]}
        for name, part in (("a", first), ("b", second)):
            pyarrow.parquet.write_table(pa.table(part), tmp_path / f"{name}.parquet")
        report = evaluate(tmp_path, ["gauc"])
        assert report["gauc"] == 1.0
        (result,) = report
        assert result.coverage["groups"] == 1


class TestWeights:
    @pytest.mark.parametrize("rows", [100, 20_000])
    def test_weights(self, rows):
        log = log_of(rows)
        log["w"] = np.random.default_rng(0).integers(0, 4, rows).astype(np.float64)
        metrics = ["auc", "logloss", "ne", "brier", "copc", "ece", "gauc(weight=weights)", "ctr"]
        report = evaluate(log, metrics, weight="w")
        y_true, y_prob, weight = log["click"], log["pctr"], log["w"]
        assert values_of(report, metrics) == {
            "auc": fm.roc_auc_score(y_true, y_prob, sample_weight=weight),
            "logloss": fm.log_loss(y_true, y_prob, sample_weight=weight),
            "ne": fm.normalized_entropy(y_true, y_prob, sample_weight=weight),
            "brier": fm.brier_score_loss(y_true, y_prob, sample_weight=weight),
            "copc": fm.copc(y_true, y_prob, sample_weight=weight),
            "ece": fm.expected_calibration_error(y_true, y_prob, sample_weight=weight),
            "gauc(weight=weights)": fm.gauc_score(
                y_true, y_prob, log["user_id"], weight="weights", sample_weight=weight
            ),
            "ctr": weight[y_true == 1].sum() / weight.sum(),
        }

    def test_weights_of_one(self):
        log = log_of(3000)
        metrics = ["auc", "logloss", "ne", "brier", "copc", "ece", "gauc", "ctr"]
        weighted = evaluate({**log, "w": np.ones(3000)}, metrics, weight="w")
        assert values_of(weighted, metrics) == values_of(evaluate(log, metrics), metrics)

    def test_all_weights_zero(self):
        log = {**log_of(100), "w": np.zeros(100)}
        report = evaluate(log, ["auc", "logloss"], weight="w")
        for result in report:
            assert math.isnan(result.value)
            assert "weight" in result.reason

    def test_a_negative_weight_is_refused_with_its_row(self):
        log = {**log_of(100), "w": np.ones(100)}
        log["w"][77] = -2.0
        with pytest.raises(ValueError, match=r"'?w'?.*-2.*row 77"):
            evaluate(log, ["auc"], weight="w")


class TestUndefined:
    @pytest.mark.parametrize(("label", "words"), [(0, "no positive"), (1, "no negative")])
    def test_one_class(self, label, words):
        log = {**log_of(10), "click": np.full(10, label)}
        report = evaluate(log, ["auc", "ks", "ne"])
        assert all(math.isnan(result.value) for result in report)
        assert all(words in result.reason for result in report.results[:2])
        assert "one class" in report.results[2].reason
        results = report.to_dict()["results"]
        assert [result["value"] for result in results] == [None] * 3
        assert [result["reason"] for result in results] == [result.reason for result in report]

    def test_every_group_of_one_class(self):
        log = {"click": [1, 1, 0, 0, 0], "pctr": [0.1, 0.2, 0.3, 0.4, 0.5], "user_id": [1, 1, 2, 2, 3]}
        report = evaluate(log, ["gauc"])
        (result,) = report
        assert math.isnan(result.value)
        assert "no group has both classes" in result.reason
        assert result.coverage["groups"] == 3
        assert result.coverage["groups_used"] == 0
        assert result.coverage["groups_left_out"] == {"one class: no positive": 2, "one class: no negative": 1}
        assert result.coverage["rows_left_out"] == {"one class: no positive": 3, "one class: no negative": 2}

    def test_nothing_clicked_and_nothing_predicted(self):
        (result,) = evaluate({"click": [0, 1], "pctr": [0.0, 0.0], "user_id": [1, 2]}, ["copc"])
        assert math.isnan(result.value)
        assert result.reason

    def test_single_class_policies(self):
        log = {"click": [1, 0, 0], "pctr": [0.9, 0.1, 0.5], "user_id": [1, 1, 2]}
        report = evaluate(log, ["gauc", "gauc(single_class=half)", "gauc(single_class=nan)"])
        assert report["gauc"] == 1.0
        assert report["gauc(single_class=half)"] == 2.5 / 3
        assert math.isnan(report["gauc(single_class=nan)"])
        with pytest.raises(ValueError, match="one class"):
            evaluate(log, ["gauc(single_class=raise)"])


class TestCoverage:
    def test_groups_used_and_left_out(self):
        log = {
            "click": [1, 0, 1, 1, 0, 0, 0],
            "pctr": [0.9, 0.1, 0.2, 0.3, 0.5, 0.6, 0.7],
            "user_id": ["a", "a", "b", "b", "c", "c", "d"],
        }
        (result,) = evaluate(log, ["gauc"])
        assert result.coverage["rows"] == 2
        assert result.coverage["groups"] == 4
        assert result.coverage["groups_used"] == 1
        assert result.coverage["groups_left_out"] == {"one class: no positive": 2, "one class: no negative": 1}
        assert result.coverage["rows_left_out"] == {"one class: no positive": 3, "one class: no negative": 2}

    def test_rows_clipped_by_log_loss(self):
        log = {"click": [0, 1, 0, 1], "pctr": [0.0, 0.5, 1.0, 1.0], "user_id": [1, 1, 1, 1]}
        (result,) = evaluate(log, ["logloss"])
        assert result.coverage["rows"] == 4
        assert result.coverage["rows_clipped"] == 3

    def test_rows_of_every_metric(self):
        report = evaluate(log_of(1000))
        assert report.rows == 1000
        assert all(result.coverage["rows"] == 1000 for result in report if result.metric in GLOBAL_METRICS)


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
        report = evaluate(table, ["auc"], group=None, on_invalid="drop")
        assert sum(report.dropped.values()) == 4

    @pytest.mark.parametrize("rows", [50, 200_003])
    @pytest.mark.parametrize("column", ["click", "pctr", "user_id"])
    @pytest.mark.parametrize("batch", [7, 65_536])
    def test_the_default_refuses_with_column_and_row_of_the_log(self, column, rows, batch):
        if rows / batch > 10_000:
            batch = 1000
        log = log_of(rows)
        values = pa.array(log[column])
        bad = rows - 5
        log[column] = pa.concat_arrays([values[:bad], pa.nulls(1, values.type), values[bad + 1 :]])
        reader = table_of(log).to_reader(max_chunksize=batch)
        with pytest.raises(ValueError, match=rf"{column}.*null.*row {bad}\b"):
            evaluate(reader)

    @pytest.mark.parametrize("reason", ["null before", "zero weight before"])
    def test_rows_left_out_do_not_shift_the_row_that_is_named(self, reason):
        log = log_of(20)
        score = [
            None if row == 2 and reason == "null before" else value for row, value in enumerate(log["pctr"].tolist())
        ]
        weight = [0.0 if row < 3 and reason == "zero weight before" else 1.0 for row in range(20)]
        log |= {"w": weight, "pctr": score}
        options = {"weight": "w", "on_invalid": "drop"}
        wrong = {"pctr": 1.5, "click": 7}
        for column, value in wrong.items():
            values = [value if row == 15 else before for row, before in enumerate(list(log[column]))]
            for size in (7, 20):
                reader = pa.table({**log, column: pa.array(values)}).to_reader(max_chunksize=size)
                with pytest.raises(ValueError, match=rf"{column}.*{value}.*row 15\b"):
                    evaluate(reader, ["logloss"], **options)

    def test_null_and_zero_weights(self):
        log = {**log_of(5), "w": pa.array([1.0, None, 0.0, 2.0, math.nan])}
        with pytest.raises(ValueError, match=r"w.*null.*row 1\b"):
            evaluate(log, ["auc"], weight="w")
        report = evaluate(log, ["ctr"], weight="w", on_invalid="drop")
        (reason,) = [reason for reason in report.dropped if "null" in reason]
        assert report.dropped[reason] == 2
        assert report["ctr"] == (log["click"][0] + 2.0 * log["click"][3]) / 3.0

    def test_a_null_inside_of_a_dictionary(self):
        log = log_of(4)
        keys = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), pa.array(["a", "b", None]))
        with pytest.raises(ValueError, match=r"user_id.*null.*row 2\b"):
            evaluate({**log, "user_id": keys}, ["gauc"])
        report = evaluate({**log, "user_id": keys}, ["gauc"], on_invalid="drop")
        assert sum(report.dropped.values()) == 1

    def test_nan_score(self):
        log = log_of(10_000)
        log["pctr"][[6543, 9000]] = np.nan
        with pytest.raises(ValueError, match=r"pctr.*NaN.*row 6543\b"):
            evaluate(log)

    @pytest.mark.parametrize("on_invalid", ["raise", "drop"])
    def test_a_label_that_is_no_label_is_never_dropped_in_silence(self, on_invalid):
        log = log_of(10_000)
        log["click"][8765] = 3
        with pytest.raises(ValueError, match=r"click.*3.*row 8765\b"):
            evaluate(log, on_invalid=on_invalid)

    def test_zero_and_minus_one_in_different_batches(self):
        first = pa.record_batch({"click": [1, 0], "pctr": [0.1, 0.2], "user_id": [1, 1]})
        second = pa.record_batch({"click": [1, -1], "pctr": [0.1, 0.2], "user_id": [1, 1]})
        reader = pa.RecordBatchReader.from_batches(first.schema, [first, second])
        with pytest.raises(ValueError, match=r"click.*-1"):
            evaluate(reader)

    @pytest.mark.parametrize("value", [1.5, -0.1, math.inf])
    def test_no_probability(self, value):
        log = log_of(100)
        log["pctr"][42] = value
        with pytest.raises(ValueError, match=r"pctr.*row 42\b"):
            evaluate(log, ["logloss"])
        # A score need not be a probability where nothing asks for one.
        assert evaluate(log, ["auc"])["auc"] == fm.roc_auc_score(log["click"], log["pctr"])


class TestErrors:
    def test_a_missing_column_names_the_near_ones(self):
        with pytest.raises((ValueError, KeyError), match=r"'clik'.*'click'"):
            evaluate(log_of(10), label="clik")

    def test_a_missing_file_is_named(self, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"nothing\.parquet"):
            evaluate(tmp_path / "nothing.parquet")

    def test_a_glob_without_a_match_is_named(self, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"nothing-\*"):
            evaluate(str(tmp_path / "nothing-*.parquet"))

    def test_a_truncated_file_is_named(self, tmp_path):
        path = parquet_of(log_of(5000), tmp_path)
        content = path.read_bytes()
        for length in (0, 3, 100, len(content) - 10):
            path.write_bytes(content[:length])
            with pytest.raises(ValueError, match=r"clicks\.parquet"):
                evaluate(path)

    def test_a_damaged_page_is_named(self, tmp_path):
        path = parquet_of(log_of(50_000), tmp_path, compression="zstd", write_page_checksum=True)
        content = bytearray(path.read_bytes())
        content[200:60_000] = bytes(len(content[200:60_000]))
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"clicks\.parquet"):
            evaluate(path)

    @pytest.mark.parametrize("metric", ["aucc", "logless", "guac"])
    def test_an_unknown_metric_names_the_near_ones(self, metric):
        near = {"aucc": "auc", "logless": "logloss", "guac": "gauc"}[metric]
        with pytest.raises((ValueError, KeyError), match=rf"{metric}.*\b{near}\b"):
            evaluate(log_of(10), [metric])

    @pytest.mark.parametrize(
        "metric",
        ["ece(bin=10)", "ece(bins=ten)", "ece(bins=0)", "gauc(weight=clicks)", "ece(bins=10", "auc)", "", "a b"],
    )
    def test_a_bad_metric_string_is_named(self, metric):
        with pytest.raises((ValueError, TypeError, KeyError)) as raised:
            evaluate(log_of(10), [metric])
        words = {"ece(bin=10)": "bins", "ece(bins=ten)": "bins", "ece(bins=0)": "bins", "gauc(weight=clicks)": "pairs"}
        assert words.get(metric, metric) in str(raised.value)

    @pytest.mark.parametrize("metric", ["ece(bins=__import__('os'))", "ece(bins=2**3)", "ece(bins=len('abc'))"])
    def test_metric_strings_hold_literals_only(self, metric):
        with pytest.raises((ValueError, TypeError)):
            evaluate(log_of(10), [metric])

    def test_a_group_metric_needs_a_group_column(self):
        with pytest.raises(ValueError, match=r"gauc.*group"):
            evaluate(log_of(10), ["gauc"], group=None)

    def test_no_metric(self):
        with pytest.raises(ValueError, match="metrics"):
            evaluate(log_of(10), [])

    @pytest.mark.parametrize("on_invalid", ["ignore", None])
    def test_a_bad_policy_names_the_good_ones(self, on_invalid):
        with pytest.raises((ValueError, TypeError), match=r"on_invalid.*drop"):
            evaluate(log_of(10), on_invalid=on_invalid)

    @pytest.mark.parametrize("n_threads", [0, -1, "two"])
    def test_a_bad_thread_count_is_named(self, n_threads):
        with pytest.raises((ValueError, TypeError), match="n_threads"):
            evaluate(log_of(10), n_threads=n_threads)

    @pytest.mark.parametrize("data", [None, 5, object(), [1, 2, 3], np.ones((3, 3))], ids=str)
    def test_data_that_is_no_log(self, data):
        with pytest.raises((ValueError, TypeError), match="data"):
            evaluate(data)

    def test_columns_of_different_lengths(self):
        log = log_of(10)
        with pytest.raises(ValueError, match=r"(?s)9.*10|10.*9"):
            evaluate({**log, "pctr": log["pctr"][:9]})

    @pytest.mark.parametrize("kind", ["dict", "table", "parquet", "reader without batches"])
    def test_an_empty_log(self, kind, tmp_path):
        log = {name: column[:0] for name, column in log_of(10).items()}
        table = table_of(log)
        data = {
            "dict": log,
            "table": table,
            "parquet": parquet_of(log, tmp_path),
            "reader without batches": pa.RecordBatchReader.from_batches(table.schema, []),
        }[kind]
        with pytest.raises(ValueError, match=r"(?i)empty|no rows"):
            evaluate(data)

    def test_string_labels_and_scores(self):
        log = log_of(4)
        with pytest.raises((ValueError, TypeError), match="click"):
            evaluate({**log, "click": ["yes", "no", "no", "yes"]})
        with pytest.raises((ValueError, TypeError), match="pctr"):
            evaluate({**log, "pctr": ["0.1", "0.2", "0.3", "0.4"]})

    def test_a_float_group_is_refused(self):
        log = log_of(4)
        with pytest.raises((ValueError, TypeError), match="user_id"):
            evaluate({**log, "user_id": [0.5, 1.0, 1.0, 2.0]})


class TestReport:
    def test_signatures_tell_version_and_choices(self):
        report = evaluate(log_of(500))
        signatures = [result.signature for result in report]
        assert len(set(signatures)) == len(METRICS)
        for result in report:
            assert result.signature.split("|")[0].split("(")[0] == result.metric.split("(")[0]
            assert result.signature.endswith(f"v:{fm.__version__}")
            assert "threads" not in result.signature
        by_metric = {result.metric: result.signature for result in report}
        assert "weight:pairs" in by_metric["gauc(weight=pairs)"]
        assert "single_class:skip" in by_metric["gauc"]
        assert "bins:15" in by_metric["ece"]

    def test_any_spelling_finds_the_value(self):
        report = evaluate(log_of(500), ["gauc(weight=pairs)", "ece(bins=15)"])
        assert report["gauc( weight = 'pairs' )"] == report["gauc(weight=pairs)"]
        assert report["ece"] == report["ece(bins=15)"]
        with pytest.raises(KeyError, match="gauc"):
            report["gauc"]

    def test_progress_is_told(self):
        calls = []
        table = table_of(log_of(100_000))
        evaluate(table, progress=lambda *arguments: calls.append(arguments))
        assert {stage for stage, _, _ in calls} <= {"scan", "resolve"}
        scanned = [done for stage, done, _ in calls if stage == "scan"]
        assert scanned == sorted(scanned)
        assert scanned[-1] == 100_000
        assert {total for stage, _, total in calls if stage == "scan"} == {100_000}

    def test_an_error_in_progress_is_not_swallowed(self):
        def stop(*arguments):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            evaluate(table_of(log_of(1000)), progress=stop)

    def test_columns_and_rows_stand_in_the_report(self):
        report = evaluate(log_of(500), ["auc"])
        assert dict(report.columns) == {"label": "click", "score": "pctr", "group": "user_id"}
        content = report.to_dict()
        assert (content["schema"], content["rows"], content["version"]) == (1, 500, fm.__version__)
        assert content["results"][0]["score"] == "pctr"
        assert content["results"][0]["slice"] == {}


class TestRealData:
    def test_microsoft_web_visits(self, visits_path, visits):
        """The reference values of the data's README, from one scan of the file."""
        report = fm.evaluate(
            visits_path, ["auc", "gauc", "gauc(weight=uniform)"], label="label", score="score", group="user_id"
        )
        assert math.isclose(report["auc"], 0.9600813796015879, rel_tol=1e-14)
        assert math.isclose(report["gauc"], 0.9642351182117777, rel_tol=1e-14)
        assert math.isclose(report["gauc(weight=uniform)"], 0.9642085405188081, rel_tol=1e-14)
        assert report["auc"] == fm.roc_auc_score(visits["label"], visits["score"])
        assert report.rows == 980_067

    def test_open_bandit_impressions_from_four_files(self, data_folder):
        """Real CSV logs: `click` against the logged propensity, grouped by a hashed user feature."""
        paths = sorted((data_folder / "obd").glob("*.csv.gz"))
        metrics = ["auc", "logloss", "ne", "copc", "brier", "ctr", "gauc"]
        columns = {"label": "click", "score": "propensity_score", "group": "user_feature_0"}
        report = fm.evaluate(paths, metrics, **columns)
        tables = [pandas().read_csv(path) for path in paths]
        log = pandas().concat(tables, ignore_index=True)
        case = log["click"].to_numpy(), log["propensity_score"].to_numpy()
        assert report.rows == 40_000
        assert report["auc"] == fm.roc_auc_score(*case)
        assert report["logloss"] == fm.log_loss(*case)
        assert report["copc"] == fm.copc(*case)
        assert report["ctr"] == 207 / 40_000
        assert report["gauc"] == fm.gauc_score(*case, log["user_feature_0"].tolist())
