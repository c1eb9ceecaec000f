"""Errors of truth tables: each names the table, the column and the row, and leaves states as they were."""

import os

import numpy as np
import pyarrow as pa
import pytest

import fastmetrics as fm
from support.ranking.truth_tables import COLUMNS, TRUTH, random_tables

LOG = {"user": [1, 1, 2], "item": [5, 6, 5], "score": [0.1, 0.2, 0.3]}
TABLE = {"user": [1, 2], "item": [5, 7], "grade": [1, 2]}
QUESTION = fm.Evaluation("ndcg@5", truth_columns=TRUTH, **COLUMNS)

BAD_TABLES = [
    ({"grade": [1, None]}, ValueError, r"truth: label column 'grade' has a null at row 1"),
    ({"grade": [1, -1]}, ValueError, r"truth: label column 'grade' has -1.0 at row 1.*must not be negative"),
    ({"grade": [1, np.inf]}, ValueError, r"truth: label column 'grade' has inf at row 1"),
    ({"grade": ["a", "b"]}, ValueError, r"truth: label column 'grade' has 'a' at row 0: numbers are needed"),
    ({"item": [5, None]}, ValueError, r"truth: item column 'item' has a null at row 1"),
    ({"item": [5.5, 6]}, TypeError, r"truth: item column 'item' has Arrow type double"),
    ({"item": ["5", "6"]}, TypeError, r"truth: item column 'item' has Arrow type string.*have integers"),
    ({"user": [1, None]}, ValueError, r"truth: group column 'user' has a null at row 1"),
    ({"user": ["1", "2"]}, TypeError, r"truth: group column 'user' has keys of type int64 in one table and text in"),
    ({"user": [1, 1], "item": [5, 5]}, ValueError, r"truth has item 5 of group 1 twice"),
    ({"user": [], "item": [], "grade": []}, ValueError, r"truth has no rows"),
    ({"other": [1, 2], "grade": None}, ValueError, r"truth: label: no column 'grade'.*Its columns: user, item, other"),
]


def table_of(changes):
    return {name: values for name, values in (TABLE | changes).items() if values is not None}


@pytest.mark.parametrize(("changes", "error", "text"), BAD_TABLES)
def test_bad_tables(changes, error, text):
    with pytest.raises(error, match=text):
        fm.evaluate(LOG, QUESTION, truth=table_of(changes))


@pytest.mark.parametrize(("changes", "error", "text"), [own for own in BAD_TABLES if "twice" not in own[2]])
def test_an_accumulator_is_unchanged_by_a_bad_table(changes, error, text):
    accumulator = fm.Accumulator(QUESTION)
    accumulator.update(LOG)
    if "no rows" in text:
        accumulator.update(table_of(changes), "truth")
        with pytest.raises(error, match=text):
            accumulator.result()
    else:
        with pytest.raises(error, match=text):
            accumulator.update(table_of(changes), "truth")
    accumulator.update(TABLE, "truth")
    assert accumulator.result()["ndcg@5"] == fm.evaluate(LOG, QUESTION, truth=TABLE)["ndcg@5"]


def test_the_type_of_keys_that_come_first_counts():
    accumulator = fm.Accumulator(QUESTION)
    accumulator.update(TABLE | {"user": ["1", "2"]}, "truth")
    with pytest.raises(TypeError, match="keys of type text in one table and int64 in the other"):
        accumulator.update(LOG)
    other = fm.Accumulator(QUESTION)
    other.update(LOG)
    with pytest.raises(TypeError, match="keys of type"):
        accumulator.merge(other)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"label": "grade", "item": None}, ValueError, "name the column of items, item="),
        ({"label": ["grade", "user"]}, ValueError, "truth has one column of labels"),
        ({"label": "grade", "group": None}, ValueError, "group"),
        ({"label": "grade", "metrics": ["auc"]}, ValueError, r"metric auc reads labels of single rows.*auc\(label="),
        ({"label": "grade", "metrics": ["gauc"]}, ValueError, "metric gauc reads labels of single rows"),
        ({"label": "grade", "metrics": None}, ValueError, "have no default metrics: name them"),
        ({"label": "grade", "truth_columns": {"label": "grade"}}, ValueError, "labels are named twice"),
        ({"truth_columns": {"labl": "grade"}}, ValueError, "has no role 'labl'; did you mean 'label'"),
        ({"truth_columns": {"label": 3.5}}, TypeError, "the label of truth_columns must be the name of a column"),
        ({"truth_columns": {"group": ["user", "item"]}}, ValueError, "the groups of truth have 2 columns"),
        ({"truth_columns": {"label": "grade"}, "truth": None}, ValueError, "truth is missing"),
        ({"metrics": QUESTION, "truth": None}, ValueError, "truth is missing"),
        ({"metrics": ["rmse"], "label": "score", "item": None}, ValueError, "name the column of items"),
    ],
)
def test_bad_questions(options, error, text):
    given = {"metrics": ["ndcg@5"], "score": "score", "group": "user", "item": "item", "truth": TABLE} | options
    if given["metrics"] is QUESTION:
        given = {"metrics": QUESTION, "truth": given["truth"]}
    with pytest.raises(error, match=text):
        fm.evaluate(LOG, **given)


def test_a_truth_that_no_metric_reads():
    with pytest.raises(ValueError, match="truth is given, and no metric reads it"):
        fm.evaluate(LOG, fm.Evaluation("rmse", label="score", score="score"), truth=TABLE)
    accumulator = fm.Accumulator("rmse", label="score", score="score")
    with pytest.raises(ValueError, match="truth is given, and no metric reads it"):
        accumulator.update(TABLE, table="truth")
    with pytest.raises(ValueError, match="table must be one of 'log', 'truth'; found 'qrels'"):
        accumulator.update(TABLE, table="qrels")


def test_an_item_stands_once_in_a_list():
    with pytest.raises(ValueError, match="the log has item 5 of group 1 twice; an item stands once in a list"):
        fm.evaluate(LOG | {"item": [5, 5, 5]}, QUESTION, truth=TABLE)
    texts = {"item": ["a", "b"], "user": [1, 1], "grade": [1, 2]}
    with pytest.raises(ValueError, match="truth has item 'b' of group 1 twice"):
        fm.evaluate(LOG | {"item": ["a", "b", "a"]}, QUESTION, truth=texts | {"item": ["b", "b"]})
    # The same item twice in a group is two lists if these are groups of several columns.
    log = LOG | {"item": [5, 5, 5], "day": [1, 2, 1]}
    truth = {"user": [1, 1, 2], "item": [5, 5, 7], "day": [1, 2, 1], "grade": [1, 1, 2]}
    report = fm.evaluate(log, "hr@1", label="grade", score="score", group=["user", "day"], item="item", truth=truth)
    assert report["hr@1"] == pytest.approx(2 / 3)


def test_a_group_that_fits_no_memory():
    rows = 200_000
    log = {"user": np.zeros(rows, np.int64), "item": np.arange(rows), "score": np.linspace(0, 1, rows)}
    truth = {"user": np.zeros(3, np.int64), "item": np.array([1, 5, rows + 1]), "grade": np.ones(3)}
    expected = fm.evaluate(log, QUESTION, truth=truth)["ndcg@5"]
    assert expected == fm.evaluate(log, QUESTION, truth=truth, memory_limit="1GiB")["ndcg@5"]
    with pytest.raises(ValueError, match="group 0 has 200003 rows, more than the memory limit holds"):
        fm.evaluate(log, QUESTION, truth=truth, memory_limit="1MiB")


def test_a_full_disk_leaves_the_state(tmp_path):
    log, truth = random_tables(1, n_users=3_000, most_items=30)
    accumulator = fm.Accumulator(QUESTION, memory_limit="1MiB", spill_dir=tmp_path)
    accumulator.update(log)
    accumulator.update(truth, "truth")
    assert accumulator.result()["ndcg@5"] == fm.evaluate(log, QUESTION, truth=truth)["ndcg@5"]
    assert os.listdir(tmp_path) == []


def test_dropped_rows_of_truth():
    table = pa.table({"user": [1, 2, None], "item": [5, 7, 1], "grade": pa.array([1, None, 2])})
    report = fm.evaluate(LOG, QUESTION.replace(on_invalid="drop"), truth=table)
    alone = fm.evaluate(LOG, QUESTION, truth=table[:1])
    assert report["ndcg@5"] == alone["ndcg@5"]
    assert report.result("ndcg@5").coverage["truth_rows_dropped"] == 2


def test_numbers_of_text_files_are_what_they_are_in_the_log(tmp_path):
    (tmp_path / "truth.csv").write_text("user,item,grade\n17,1,1\n17,9,2\n")
    log = pa.table({"user": ["17", "a", "17"], "item": ["1", "2", "x"], "score": [0.1, 0.2, 0.3]})
    recall = fm.Evaluation("recall@5", truth_columns=TRUTH, **COLUMNS)
    assert recall.run(log, truth=tmp_path / "truth.csv")["recall@5"] == 0.25
    (tmp_path / "log.csv").write_text("user,item,score\n007,1,0.5\n8,0012,2\n9,x,1\n")
    (tmp_path / "other.csv").write_text("user,item,grade\n007,1,1\n8,0012,2\n")
    assert recall.run(tmp_path / "log.csv", truth=tmp_path / "other.csv")["recall@5"] == pytest.approx(2 / 3)
