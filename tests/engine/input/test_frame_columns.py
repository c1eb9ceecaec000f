"""Frames of pandas as people have them: columns without names, several levels, sparse columns, missing dates."""

import numpy as np
import pytest

import fastmetrics as fm
from support.cases import assert_raises, each_case
from support.peers import pandas

LABELS = [1, 0, 1, 0, 1, 0, 1, 0]
SCORES = [0.9, 0.1, 0.8, 0.3, 0.2, 0.4, 0.7, 0.6]
GROUPS = [1, 1, 1, 1, 2, 2, 2, 2]


def numbered():
    return pandas().DataFrame(np.c_[LABELS, SCORES, GROUPS])


def test_columns_may_be_named_by_integers():
    frame = numbered()
    for data in (frame, [frame.iloc[:3], frame.iloc[3:]], iter([frame]), {0: LABELS, 1: SCORES, 2: GROUPS}):
        report = fm.evaluate(data, "auc,gauc", label=0, score=1, group=2)
        assert (report["auc"], report["gauc"]) == (0.8125, 0.75)
    assert fm.evaluate(frame, "auc", label="0", score=np.int64(1), where='"2" = 1')["auc"] == 1.0
    assert fm.evaluate(frame, "auc", label=0, score=1, weight=2, unit=2, ci=0.9)["auc"] > 0.5
    assert fm.evaluate(frame, "auc", label=0, score=1, by=2).columns["by"] == "2"
    assert fm.evaluate(frame, "auc", label=0, score=[1, 2]).result("auc", score="2").value == 0.5
    rows = pandas().DataFrame(np.c_[LABELS, 1 - np.array(SCORES), SCORES])
    assert fm.evaluate(rows, "log_loss", label=0, probabilities=[1, 2])["log_loss"] == fm.log_loss(LABELS, SCORES)
    state = fm.Accumulator(["auc"], label=0, score=1)
    state.update(frame)
    assert state.result()["auc"] == 0.8125


def test_models_and_baselines_may_be_named_by_integers():
    rows = pandas().DataFrame(np.c_[LABELS, SCORES, SCORES[::-1], GROUPS])
    texts = rows.rename(columns=str)
    named = fm.compare(texts, "auc", label="0", score=["1", "2"], unit="3", baseline="2")
    for scores, baseline in (([1, 2], 2), ([1, "2"], np.int64(2)), ([1, 2], "2")):
        found = fm.compare(rows, "auc", label=0, score=scores, unit=3, baseline=baseline)
        assert [(own.baseline, own.difference) for own in found] == [(own.baseline, own.difference) for own in named]
    lists = pandas().DataFrame({0: LABELS, 1: [[0.5, 0.5]] * 8, 2: [[1 - own, own] for own in SCORES]})
    for models, baseline in (([1, 2], 1), ([[1], [2]], [1])):
        found = fm.compare(lists, "logloss", label=0, probabilities=models, unit="row", baseline=baseline)
        assert found.differences[0].baseline == "1"


@each_case("make", [list, lambda values: np.array(values, object)])
@each_case("odd", ["text", b"bytes"])
def test_a_column_of_numbers_and_texts_names_both_and_their_rows(make, odd):
    column = make([None, 1, True, 0, odd, 1, 0, 1])
    error = rf"data\['y'\] .*{odd!r} at row 4, {type(odd).__name__}, and 1 at row 1, int; give one kind"
    data = {"y": column, "s": SCORES}
    for log in (data, pandas().DataFrame(data)):
        assert_raises(ValueError, error, fm.evaluate, log, "auc", label="y", score="s")


def test_a_number_that_is_no_column_is_no_expression():
    assert_raises(ValueError, "no column '7'", fm.evaluate, numbered(), "auc", label=0, score=7)
    both = numbered().rename(columns={2: "1"})
    assert_raises(ValueError, "2 columns named '1'", fm.evaluate, both, "auc", label=0, score=1)
    assert_raises(TypeError, "label must be the name", fm.evaluate, numbered(), "auc", label=True, score=1)


def test_columns_of_several_levels_are_an_error_that_says_what_to_type():
    frame = numbered()
    frame.columns = pandas().MultiIndex.from_tuples([("a", "y"), ("a", "s"), ("b", "g")])
    assert_raises(ValueError, "several levels", fm.evaluate, frame, "auc", label="y", score="s")
    frame.columns = ["_".join(map(str, own)) for own in frame.columns]
    assert fm.evaluate(frame, "auc", label="a_y", score="a_s")["auc"] == 0.8125


def test_sparse_columns_are_read():
    pd = pandas()
    values = {"y": LABELS, "s": SCORES, "g": GROUPS}
    frame = pd.DataFrame({name: pd.arrays.SparseArray(own) for name, own in values.items()})
    assert fm.evaluate(frame, "gauc", label="y", score="s", group="g")["gauc"] == 0.75
    missing = frame.assign(s=pd.arrays.SparseArray([0.1, np.nan] * 4))
    assert_raises(ValueError, "score column 's' has a null at row 1", fm.evaluate, missing, "auc", label="y", score="s")


def test_missing_dates_among_labels_name_their_row():
    pd = pandas()
    dates = pd.Series(pd.to_datetime(["2026-01-01", None, "2026-01-02"]))
    for values in (dates, dates.to_numpy(), dates.dt.date, dates - dates[0]):
        with pytest.raises(ValueError, match=r"y_true has (a null|NaT) at row 1"):
            fm.accuracy_score(values, values)
    for values in (dates, dates.to_numpy(), list(dates), np.array(list(dates), object)):
        data = {"y": values, "p": values}
        error = "label column 'y' has a null at row 1"
        assert_raises(ValueError, error, fm.evaluate, data, "accuracy", label="y", prediction="p")
        report = fm.evaluate(data, "accuracy", label="y", prediction="p", on_invalid="drop")
        assert (report["accuracy"], report.dropped) == (1.0, {"null or NaN label": 1})
