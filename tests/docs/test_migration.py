"""Every row of the tables of docs/migration.md has a check: what was written for 0.1 does what the row says, and the
new way works. The code blocks of the page run in test_pages.py."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

import fastmetrics as fm
from support.cases import assert_raises, each_case
from support.pages import collected_names

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/migration.md"

pytestmark = pytest.mark.skipif(not PAGE.is_file(), reason="no docs beside the tests")

LOG = {"click": [0, 1, 1, 0], "p": [0.2, 0.7, 0.4, 0.5], "channel": ["feed", "feed", "search", None]}
COLUMNS = {"label": "click", "score": "p"}
LABELS, PROBABILITIES, WEIGHTS = [0, 1, 1, 0, 1], [0.1, 0.8, 0.6, 0.3, 0.4], np.array([1.0, 2.0, 3.0, 1.0, 5.0])


def rows_of_tables():
    """The cells of every row, without the rows of titles and of dashes."""
    lines = PAGE.read_text(encoding="utf-8").splitlines() if PAGE.is_file() else []
    tables = [line for line in lines if line.startswith("|")]
    dashes = {number for number, line in enumerate(tables) if line.startswith("|---")}
    left_out = dashes | {number - 1 for number in dashes}
    return [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for number, line in enumerate(tables)
        if number not in left_out
    ]


ROWS = rows_of_tables()


def names_in(cell):
    return re.findall(r"`(\w+)`", cell)


def words_in(cell):
    return re.findall(r'"(\w+)"', cell)


# --------------------------------------------------------------------------------------------------- new names, tables


def directions(row):
    pairs = dict(zip(words_in(row[1]), words_in(row[2]), strict=True))
    specs = fm.describe_metrics()
    assert {spec.best for spec in specs} == set(pairs)
    assert all(spec.direction == pairs[spec.best] for spec in specs)


def exchanges(row):
    for old, new in zip(words_in(row[1]), words_in(row[2]), strict=True):
        found = [spec.exchange for spec in fm.describe_metrics() if spec.exchange == old]
        assert found
        assert all(exchange == new for exchange in found)
        assert all(str(exchange) == new for exchange in found)


def cells_of_tables(row):
    """The old cell is code that fails; the new one has what the result has."""
    pytest.importorskip("pandas")
    report = fm.evaluate(LOG, "ctr", **COLUMNS, by="channel", where="channel IS NOT NULL")
    frame, results = report.to_pandas(), list(report)
    for i in (1, 2):
        names = {"frame": frame, "json": json, "i": i}
        old, new = (cell.strip("`") for cell in row)
        assert_raises(KeyError, "slice|coverage", eval, old, names)
        assert eval(new, names) == (results[i].slice | results[i].coverage)[words_in(new)[0]]


# --------------------------------------------------------------------------------------------------------------- slices


def nulls_are_a_slice(row):
    for nothing in (None, math.nan):
        log = {"click": [0, 1, 1], "p": [0.2, 0.7, 0.4], "price": [1.5, nothing, 1.5]}
        report = fm.evaluate(log, "ctr", **COLUMNS, by="price")
        assert report.slices() == [{}, {"price": 1.5}, {"price": None}]
        assert report.result("ctr", slice={"price": None}).rows == 1
    left = fm.evaluate(LOG, "ctr", **COLUMNS, by="channel", where="channel IS NOT NULL")
    assert left.slices() == [{}, {"channel": "feed"}, {"channel": "search"}]


def look_up_of_all_rows(row):
    report = fm.evaluate(LOG, "auc", **COLUMNS, by="channel")
    whole = fm.evaluate(LOG, "auc", **COLUMNS)["auc"]
    assert report["auc"] == report.value("auc") == report.value("auc", slice={}) == whole


# -------------------------------------------------------------------------------------------------------------- refused


def infinite_scores(row):
    scores = np.array([[0.1, np.inf, 0.3], [0.2, 0.1, 0.4]])
    names = [name for name in names_in(row[0]) if hasattr(fm, name)]
    assert len(names) == 10
    for name in names:
        function = getattr(fm, name)
        curves = name in ("roc_auc_score", "average_precision_score") or name.endswith("_curve")
        data = ([0, 1, 1], scores[0]) if curves else ([[0, 1, 1], [1, 0, 0]], scores)
        assert_raises(ValueError, "inf .*allow_infinite=True", function, *data)
        function(*data, allow_infinite=True)


def one_column(row):
    for name in names_in(row[0]):
        function = getattr(fm, name)
        assert_raises(ValueError, "one order only", function, [[1], [0]], [[0.5], [0.3]])
        assert function([1, 0], [0.5, 0.3], groups=["a", "b"]) == function([1, 0], [0.5, 0.3], offsets=[0, 1, 2])


def texts_as_tokens(row):
    text = "the cat sat on"
    for name in names_in(row[0]):
        function, options = getattr(fm, name), {"modules": ("exact",)} if "meteor" in name else {}
        assert_raises(ValueError, "pass the text itself, or split it into tokens", function, [text], [text], **options)
        assert function(text, text, **options).score == function(text.split(), [text.split()], **options).score


# ----------------------------------------------------------------------------------------------------- types of errors


def labels_of_bytes(row):
    for name in names_in(row[0]):
        assert_raises(TypeError, "labels of bytes", getattr(fm, name), [b"a", b"b"], [0.1, 0.2])


def no_weight(row):
    words = "sample_weight is zero at every row"
    options = {"k": 1, "sample_weight": [0, 0, 0]}
    assert_raises(ValueError, words, fm.top_k_accuracy_score, [0, 1, 2], np.eye(3), **options)


def missing_folders(row, folder):
    report = fm.evaluate(LOG, "auc", **COLUMNS)
    for method in (report.to_csv, report.to_html, report.to_parquet):
        assert_raises(FileNotFoundError, "there is no folder", method, folder / "nowhere" / "report")


# ---------------------------------------------------------------------------------------------------- corrected values


def weighted_medians(row):
    true, predicted = np.zeros(1000), np.arange(1000.0)
    for name in names_in(row[0]):
        function = getattr(fm, name)
        data = (true, predicted) if "median" in name else (predicted, predicted[::-1] ** 1.5)
        assert function(*data, sample_weight=np.full(1000, 0.1)) == function(*data)


def tiny_weights(row):
    """The weights 1, 2, 3 and 5 times 5e-324 have no other digits."""
    for function, predicted, options in (
        (fm.log_loss, PROBABILITIES, {}),
        (fm.brier_score_loss, PROBABILITIES, {}),
        (fm.average_precision_score, PROBABILITIES, {}),
        (fm.f1_score, [0, 1, 0, 0, 1], {"average": "weighted"}),
    ):
        values = {function(LABELS, predicted, sample_weight=WEIGHTS * unit, **options) for unit in (1.0, 5e-324)}
        assert len(values) == 1, function


def sums_of_integer_weights(row):
    labels = np.arange(1024) % 2
    for weight, kind in ((2**51, np.int64), (2**52, np.float64)):
        matrix = fm.confusion_matrix(labels, labels, sample_weight=np.full(1024, weight))
        assert matrix.dtype == kind
        assert matrix.tolist() == [[512 * weight, 0], [0, 512 * weight]]


# --------------------------------------------------------------------------------------------------------------- output


def lines_of_missing_queries(row, folder):
    (folder / "qrels").write_text("q 0 a 1\nr 0 b 1\n")
    (folder / "run").write_text("q Q0 a 1 2.5 tag\n")
    for complete, queries in ((False, {"q", "all"}), (True, {"q", "r", "all"})):
        result = fm.evaluate_trec(folder / "qrels", folder / "run", ["map"], complete=complete)
        assert {line.split()[1] for line in result.lines(per_query=True)} == queries


def equal_comparisons(row):
    systems = {"a": ["x y z", "x y", "z"] * 3, "b": ["x y", "x z", "z"] * 3}
    options = {"method": "randomisation", "replicates": 20}
    first, second, third = (fm.compare_texts(systems, systems["a"], "chrf", seed=seed, **options) for seed in (1, 1, 2))
    assert first == second
    assert first.systems == third.systems
    assert first != third


# ------------------------------------------------------------------------------------------------------------ the rows

CHECKS = {
    "which values are better": directions,
    "which rows must meet": exchanges,
    'json.loads(frame["slice"]': cells_of_tables,
    'json.loads(frame["coverage"]': cells_of_tables,
    "a null in a column of `by`": nulls_are_a_slice,
    '`report["auc"]`': look_up_of_all_rows,
    "with infinite scores": infinite_scores,
    "of a matrix of one column": one_column,
    "of a list of texts": texts_as_tokens,
    "of labels of bytes": labels_of_bytes,
    "with all weights zero": no_weight,
    "into a missing folder": missing_folders,
    "weighted medians": weighted_medians,
    "averages with": tiny_weights,
    "of integer weights": sums_of_integer_weights,
    "fastmetrics trec -q -c": lines_of_missing_queries,
    "results of `compare_texts`": equal_comparisons,
}
# Rows that tests of other files hold.
HELD_BY = {
    "Delta or Iceberg table": (
        "tests/engine/input/lake/test_delta.py::test_removed_files_are_not_read",
        "tests/engine/input/lake/test_delta.py::test_parts_of_a_table_are_an_error",
        "tests/engine/input/lake/test_iceberg.py::test_snapshots_by_folder_metadata_table_and_scan",
    ),
    "Hudi table": ("tests/engine/input/lake/test_delta.py::test_hudi_is_refused",),
    "a compressed file": (
        "tests/common/test_compressed_bombs.py::test_runs_and_qrels_take_half_of_the_memory_at_most",
        "tests/common/test_compressed_bombs.py::test_segments_take_half_of_the_free_space_at_most",
        "tests/common/test_compressed_bombs.py::test_pages_of_parquet",
    ),
    "a FIFO or a device": (
        "tests/engine/input/files/test_opened_files.py::test_a_fifo_is_an_error_or_a_stream",
        "tests/engine/input/files/test_opened_files.py::test_sockets_devices_and_terminals",
    ),
    "that has no effect": (
        "tests/cli/test_outputs.py::test_options_without_effect_are_wrong_usage",
        "tests/cli/test_outputs.py::test_an_output_that_is_an_input_is_refused",
    ),
    "a control character": ("tests/metrics/ranking/test_trec_files.py::test_a_bad_line_of_qrels_is_named",),
    "regression errors": (
        "tests/metrics/regression/test_ends_of_range.py::test_means",
        "tests/metrics/regression/test_ends_of_range.py::test_shares_explained",
        "tests/metrics/regression/test_ends_of_range.py::test_deviances",
    ),
    "squared errors in `evaluate`": (
        "tests/metrics/regression/test_ends_of_range.py::test_logs_at_the_ends_of_the_range_have_the_value_or_a_reason",
    ),
    "`chi2_test`": ("tests/metrics/significance/test_chi2_test.py::test_counts_near_the_least_numbers",),
    "`num_rel`": ("tests/metrics/ranking/test_evaluate_trec.py::test_a_relstring_has_no_summary",),
    "all_trec": ("tests/metrics/ranking/test_evaluate_trec.py::test_all_trec_is_that_of_trec_eval_9",),
    "printed tables of slices": ("tests/compatibility/test_commands.py::test_output",),
}


def row_of(phrase):
    (row,) = [row for row in ROWS if phrase in row[0]]
    return row


@each_case("phrase", CHECKS)
def test_rows(phrase, tmp_path):
    check = CHECKS[phrase]
    needed = {"folder": tmp_path} if "folder" in check.__code__.co_varnames[: check.__code__.co_argcount] else {}
    check(row_of(phrase), **needed)


@each_case("phrase", HELD_BY)
def test_rows_that_other_tests_hold(phrase):
    assert row_of(phrase)
    for test in HELD_BY[phrase]:
        path, _, name = test.partition("::")
        assert name in collected_names(ROOT / path), test


def test_every_row_has_a_check():
    phrases = [*CHECKS, *HELD_BY]
    assert len(ROWS) == len(phrases)
    assert [row[0] for row in ROWS if sum(phrase in row[0] for phrase in phrases) != 1] == []
