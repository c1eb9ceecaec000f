"""evaluate equals the functions for every container of a log and all types of columns."""

import concurrent.futures

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.feather
import pyarrow.parquet
import pytest

import fastmetrics as fm
from support import strategies
from support.cases import assert_raises, each_case
from support.engine_cases import (
    GLOBAL_METRICS,
    evaluate,
    expected_of,
    log_of,
    parquet_files,
    parquet_of,
    table_of,
    values_of,
)
from support.peers import duckdb, pandas, polars


def hive_of(log, folder):
    table = table_of(log).append_column("day", pa.array(np.arange(len(log["click"])) % 3))
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
    "arrow dataset": lambda log, folder: pyarrow.dataset.dataset(parquet_files(log, folder)),
    "parquet path": parquet_of,
    "parquet text path": lambda log, folder: str(parquet_of(log, folder)),
    "parquet, small row groups": lambda log, folder: parquet_of(log, folder, row_group_size=700),
    "parquet, dictionary pages": lambda log, folder: parquet_of(log, folder, use_dictionary=True, compression="zstd"),
    "parquet parts": parquet_files,
    "parquet glob": lambda log, folder: str(parquet_files(log, folder)[0].parent / "part-*.parquet"),
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
    @each_case("source", SOURCES)
    def test_the_functions_and_evaluate_agree_to_the_bit(self, source, log, expected, tmp_path):
        report = evaluate(SOURCES[source](log, tmp_path))
        assert values_of(report) == expected
        assert report.rows == 5000
        assert sum(report.dropped.values()) == 0

    @pytest.mark.parametrize("dtype", strategies.SCORE_DTYPES)
    def test_float32_scores(self, dtype):
        log = log_of(5000, dtype=dtype)
        assert values_of(evaluate(log)) == expected_of(log)

    @each_case("dtype", ["bool", "int32", "int64", "uint8", "float32", "float64"])
    def test_label_types(self, dtype, log, expected, tmp_path):
        log = {**log, "click": log["click"].astype(dtype)}
        assert values_of(evaluate(parquet_of(log, tmp_path))) == expected

    def test_labels_of_minus_one(self, log, expected):
        log = {**log, "click": (2 * log["click"] - 1).astype(np.int8)}
        assert values_of(evaluate(log)) == expected

    @each_case("kind", ["string", "large_string", "string_view", "dictionary", "int32", "uint64"])
    def test_group_types(self, kind, log, expected):
        keys = pa.array(log["user_id"])
        if kind == "dictionary":
            keys = keys.cast(pa.string()).dictionary_encode()
        else:
            keys = keys.cast(pa.string()).cast(kind) if "string" in kind else keys.cast(kind)
        assert values_of(evaluate({**log, "user_id": keys})) == expected

    def test_float16_scores(self, log):
        """Log loss clips at the epsilon of the column's type."""
        score = log["pctr"].astype(np.float16)
        report = evaluate(pa.table({**log, "pctr": pa.array(score)}), ["auc", "logloss", "ne", "brier"])
        assert report["auc"] == fm.roc_auc_score(log["click"], score)
        assert report["logloss"] == fm.log_loss(log["click"], score)
        assert report["ne"] == fm.normalized_entropy(log["click"], score)
        assert report["brier"] == fm.brier_score_loss(log["click"], score)

    @each_case(
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
        """The same users with another key type in each file are joined by value."""
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
        assert_raises(ValueError, r"user_id.*b\.parquet", evaluate, tmp_path, ["gauc"])

    def test_text_keys_of_batches_that_were_freed(self):
        """A reader's batches are freed during the scan, so long keys have to be copied."""
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
        assert values_of(evaluate(pa.RecordBatchReader.from_batches(batches[0].schema, batches))) == expected

    def test_without_groups(self, log, expected):
        report = evaluate(log, GLOBAL_METRICS, group=None)
        assert values_of(report, GLOBAL_METRICS) == {metric: expected[metric] for metric in GLOBAL_METRICS}

    def test_other_columns_are_not_read(self, log, expected):
        extra = {"nulls": pa.nulls(5000), "nested": pa.array([{"a": [1]}] * 5000), "pctr2": np.full(5000, np.nan)}
        assert values_of(evaluate(pa.table({**log, **extra}))) == expected

    def test_one_column_may_have_two_roles(self, log):
        report = fm.evaluate(log, ["auc", "gauc"], label="click", score="user_id", group="user_id")
        assert report["auc"] == fm.roc_auc_score(log["click"], log["user_id"])
        assert report["gauc"] == 0.5

    def test_metrics_as_one_string(self, log, expected):
        assert [result.value for result in evaluate(log, "auc,gauc(weight=pairs), ece(n_bins=7,norm=max)")] == [
            expected[metric] for metric in ("auc", "gauc(weight=pairs)", "ece(n_bins=7, norm=max)")
        ]

    def test_a_reader_is_consumed_once(self, log):
        reader = table_of(log).to_reader()
        evaluate(reader, ["auc"])
        with pytest.raises((ValueError, OSError, pa.ArrowInvalid)):
            evaluate(reader, ["auc"])
