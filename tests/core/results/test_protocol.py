"""Every table and report has one protocol: rows, names, equality, and the tables of other libraries."""

import copy
import itertools
import json
import math
import pickle
import re

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fastmetrics as fm
from fastmetrics._core.results.table_rows import NamedValues, Tabular

LOG = {
    "click": [0, 1, 0, 1, 1, 0, 1, 0] * 6,
    "score": [0.1, 0.8, 0.4, 0.35, 0.9, 0.2, 0.7, 0.6] * 6,
    "other": [0.2, 0.7, 0.4, 0.45, 0.6, 0.1, 0.8, 0.3] * 6,
    "channel": ["feed", "search", None] * 16,
    "user": [1, 2, 3, 4] * 12,
    "day": np.repeat(np.array(["2024-01-01", "2024-01-02"], "datetime64[D]"), 24),
}
QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 1}, "q3": {"d1": 0}}
RUN = {"q1": {"d1": 0.3, "d2": 0.9}, "q2": {"d3": 0.5}, "q3": {"d1": 0.5}}
TRUTH = {"image": [1, 1], "category": ["cat", "dog"], "box": [[0, 0, 40, 40], [50, 50, 20, 20]]}
FOUND = {"image": [1, 1], "category": ["cat", "cow"], "score": [0.9, 0.8], "box": [[0, 0, 40, 38], [50, 52, 20, 20]]}
TEXTS = ["the cat sat", "a dog", "it rains"], ["the cat sat down", "the dog", "sun"]
GROUPS = {"a": ["x", "x", "y", "y"], "b": [1, 1, 2, 2]}
OPTIONS = {"label": "click", "score": "score"}


def trec(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path


def qrels_file(folder):
    return trec(folder, "qrels", "q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\n")


def run_file(folder):
    return trec(folder, "run", "q1 Q0 d2 1 0.9 bm25\nq1 Q0 d1 2 0.4 bm25\nq2 Q0 d3 1 inf bm25\n")


# Each class with real results; undefined and infinite values among them.
RESULTS = {
    "GroupTable": lambda folder: fm.auc_by_group([1, 0, 0, 1, 1], [0.9, 0.3, 0.8, 0.2, 0.1], ["a", "a", "b", "b", "c"]),
    "GroupTable of two keys": lambda folder: fm.auc_by_group([1, 0, 0, 1], [0.9, 0.3, 0.8, 0.2], GROUPS),
    "GroupTable of days": lambda folder: fm.auc_by_group(LOG["click"], LOG["score"], LOG["day"]),
    "ErrorTable": lambda folder: fm.errors_by_group([1.0, 2.0, 3.0], [1.5, 2.5, 2.0], [1, 1, 2]),
    "RankingTable": lambda folder: fm.evaluate_trec(qrels_file(folder), run_file(folder)).per_query,
    "RankingResult": lambda folder: ranking(),
    "TrecResult": lambda folder: fm.evaluate_trec(qrels_file(folder), run_file(folder)),
    "TrecRun": lambda folder: fm.read_run(run_file(folder)),
    "TrecQrels": lambda folder: fm.read_qrels(qrels_file(folder)),
    "RougeResult": lambda folder: fm.rouge_score(*TEXTS),
    "CocoResult": lambda folder: fm.coco_map(TRUTH, FOUND, box="xywh"),
    "CategoryTable": lambda folder: fm.coco_map(TRUTH, FOUND, box="xywh").per_class,
    "VocResult": lambda folder: fm.voc_map(TRUTH, FOUND, box="xywh"),
    "Report": lambda folder: fm.evaluate(LOG, "auc,gauc,ks", **OPTIONS, group="user", ci=0.9, replicates=20),
    "Report of slices": lambda folder: fm.evaluate(LOG, "auc,gauc", **OPTIONS, group="user", by=["channel", "day"]),
    "Report of undefined values": lambda folder: fm.evaluate({**LOG, "click": [1] * 48}, ["auc", "ctr"], **OPTIONS),
    "Comparison": lambda folder: fm.compare(
        LOG, ["auc", "logloss"], label="click", score=["score", "other"], group="user", by="channel"
    ),
    "TextComparison": lambda folder: fm.compare_texts(
        {"first": TEXTS[0] * 4, "second": TEXTS[1] * 4}, TEXTS[1] * 4, ["chrf"], replicates=20
    ),
}
# Results whose classes are numbers or records, which are tested with their protocols, and what computes results.
OTHERS = {
    "Accumulator", "AucInterval", "BestThreshold", "BleuScore", "COCO", "COCOeval", "ChrfScore", "Difference",
    "EqualErrorRate", "Estimate", "Evaluation", "MeteorScore", "Metric", "MetricSpec", "NistScore", "Result",
    "RougeScore", "ScoreOrder", "SegmentStatistics", "SignificanceResult", "SystemScore", "Task", "TerScore",
    "TextFile", "TrainingMetrics", "TukeyResult", "UndefinedMetricWarning",
}  # fmt: skip


def ranking():
    return fm.evaluate_ranking(metrics=["mrr", "ndcg@3"], run=RUN, qrels=QRELS)


def test_every_public_class_is_here():
    classes = {name for name in fm.__all__ if isinstance(getattr(fm, name), type)}
    tables = {name.split()[0] for name in RESULTS} | {"MetricTable"}  # whose iteration gives names
    assert classes == (tables | OTHERS) & (classes | tables)
    assert all(issubclass(getattr(fm, name), Tabular) for name in tables & classes)
    assert not any(issubclass(getattr(fm, name), Tabular) for name in OTHERS & classes)


@pytest.fixture(params=RESULTS)
def name(request):
    return request.param


@pytest.fixture
def result(name, tmp_path):
    found = RESULTS[name](tmp_path)
    assert type(found).__name__ == name.split()[0]
    return found


def plain(value):
    """A cell as something that compares: undefined and missing ones as one."""
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, dict):
        return tuple(map(plain, value.values()))
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, pd.Timestamp):
        value = value.to_pydatetime()
    return str(value)[:10] if hasattr(value, "isoformat") else value


def cells_of(rows):
    return [[plain(cell) for cell in row] for row in rows]


def test_rows_are_named_tuples(result):
    rows = list(result)
    assert len(rows) == len(result) > 0
    names = rows[0]._fields
    assert all(isinstance(row, tuple) and row._fields == names and len(row) == len(names) for row in rows)
    assert all(list(row._asdict()) == list(names) for row in rows)
    for row in rows[:3]:
        for other in (pickle.loads(pickle.dumps(row)), copy.copy(row), copy.deepcopy(row)):
            assert other == row
            assert hash(other) == hash(row)
        assert plain(getattr(row, names[0])) == plain(row[0])
        with pytest.raises(AttributeError):
            row.no_such_column  # noqa: B018


def test_libraries_have_the_same_columns_and_rows(result):
    rows = list(result)
    names, cells = list(rows[0]._fields), cells_of(rows)
    table = result.to_arrow()
    assert table.column_names == names
    assert cells_of(table.to_pylist() and [row.values() for row in table.to_pylist()]) == cells
    assert pa.table(result).schema == table.schema
    for frame in (pd.DataFrame(result), result.to_pandas()):
        assert list(frame.columns) == names
        assert cells_of(frame.itertuples(index=False, name=None)) == cells
    for frame in (pl.DataFrame(result), result.to_polars()):
        assert frame.columns == names
        assert cells_of(frame.rows()) == cells
    assert duckdb.sql("SELECT count(*), count(DISTINCT 1) FROM result").fetchall() == [(len(rows), 1)]
    assert result.to_csv().count("\n") >= len(rows) + 1
    assert result._repr_html_().count("<tr") > min(len(rows), 3)


PLACES = [(0, "0"), (-1, "-1"), (slice(3), ":3"), (slice(1, None), "1:"), (slice(0, 4, 2), "0:4:2")]


@pytest.mark.parametrize(("place", "typed"), PLACES)
def test_places_are_those_of_a_list(result, place, typed):
    """A result has names: an integer or a slice says so, unless its names are integers."""
    if isinstance(place, int) and not all(isinstance(own, str) for own in result.keys()):  # noqa: SIM118
        with pytest.raises(KeyError):
            result[10**9]
        return
    with pytest.raises(TypeError, match=rf"is read by names, not by places; list\(\.\.\.\)\[{typed}\] reads"):
        result[place]


def test_names_lead_to_values(result):
    keys = list(result.keys())
    assert keys
    values = dict(result)
    assert list(values) == keys
    for key in keys:
        assert key in result
    assert "no such name" not in result
    with pytest.raises(KeyError, match="no such name"):
        result["no such name"]
    assert [name for name, _ in result.items()] == keys
    assert [*map(plain_or_array, result.values())] == [*map(plain_or_array, values.values())]
    assert result.get("no such name") is None
    assert result.get("no such name", 7) == 7
    assert plain_or_array(result.get(keys[0])) == plain_or_array(values[keys[0]])
    if isinstance(result, NamedValues):
        assert len(keys) == len(result)


def plain_or_array(value):
    return [plain(cell) for cell in value.tolist()] if isinstance(value, np.ndarray) else plain(value)


ATTRIBUTES = [("to_dataframe", "to_pandas"), ("df", "to_pandas"), ("to_table", "to_arrow"), ("to_csvs", "to_csv")]


@pytest.mark.parametrize(("attribute", "typed"), ATTRIBUTES)
def test_unknown_attributes_are_answered(result, attribute, typed):
    with pytest.raises(AttributeError, match=rf"has no attribute '{attribute}'; did you mean {typed}\(\)"):
        getattr(result, attribute)
    with pytest.raises(AttributeError, match=r"has no attribute '_repr_latex_'$"):
        result._repr_latex_  # noqa: B018


def test_attributes_of_reports_that_are_names_of_metrics_or_of_other_methods():
    report = fm.evaluate(LOG, "auc,logloss", **OPTIONS, by="channel")
    answers = {"auc": "['auc']", "roc_auc": "['roc_auc']", "slice": "slices", "metrics": "to_metrics()"}
    for name, typed in answers.items():
        with pytest.raises(AttributeError, match=rf"no attribute '{name}'; did you mean {re.escape(typed)}"):
            getattr(report, name)
    assert not hasattr(report, "shape")


def test_equal_after_pickles_and_copies(name, result, tmp_path):
    others = [pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result), RESULTS[name](tmp_path)]
    for other in others:
        assert other == result
        assert list(other) == list(result)
        assert str(other.to_dict()) == str(result.to_dict())
    assert all(repr(other) == repr(result) for other in others[:3])
    assert result != 3
    assert result != list(result)


def test_different_results_differ(tmp_path):
    found = [RESULTS[name](tmp_path) for name in RESULTS]
    for place, one in enumerate(found):
        assert [one == other for other in found] == [number == place for number in range(len(found))]


def test_one_changed_cell_makes_tables_different():
    first = fm.auc_by_group([1, 0, 0, 1], [0.9, 0.3, 0.8, 0.2], ["a", "a", "b", "b"])
    assert first != fm.auc_by_group([1, 0, 1, 0], [0.9, 0.3, 0.8, 0.2], ["a", "a", "b", "b"])
    assert fm.rouge_score(*TEXTS) != fm.rouge_score(TEXTS[1], TEXTS[0])


def test_a_run_is_what_ranx_and_pytrec_eval_take(tmp_path):
    assert fm.read_qrels(qrels_file(tmp_path)).to_dict() == {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2}}
    run = fm.read_run(run_file(tmp_path))
    assert run.to_dict() == {"q1": {"d2": 0.9, "d1": 0.4}, "q2": {"d3": math.inf}}
    assert run["query"].tolist() == ["q1", "q1", "q2"]
    assert run["score"] is run.score


def test_rows_of_a_report_have_the_attributes_of_their_results():
    report = fm.evaluate(LOG, "auc,gauc", **OPTIONS, group="user", by="channel")
    for row, item in zip(report, report.results, strict=True):
        assert row == item
        assert (row.slice, row.coverage, row.interval, row.groups) == (
            item.slice, item.coverage, item.interval, item.groups,
        )  # fmt: skip
    assert [row.channel for row in report if row.metric == "auc"] == [None, "feed", "search", None]


def test_dicts_are_json(result):
    is_input = isinstance(result, fm.TrecRun | fm.TrecQrels)  # an infinite score is a score
    found = json.loads(json.dumps(result.to_dict(), allow_nan=is_input))
    assert str(found) == str(json.loads(json.dumps(copy.deepcopy(result).to_dict())))


def test_rows_have_an_order_and_results_a_truth(result):
    assert result
    rows = list(result)
    rows.reverse()
    for other in (sorted(rows), sorted(result)):
        assert sorted(map(repr, other)) == sorted(map(repr, rows))
    assert not any(first < first or first > first for first in rows)
    for first, second in itertools.combinations(rows, 2):
        assert (first < second) == (second > first)


def test_missing_cells_come_first():
    report = fm.evaluate(LOG, "auc", **OPTIONS, by="channel")
    assert [row.channel for row in sorted(report)] == [None, None, "feed", "search"]


def is_hashable(value):
    try:
        hash(value)
    except TypeError:
        return False
    return True


def test_hashes_agree_with_equality(result):
    for value in (result, next(iter(result))):
        if is_hashable(value):
            assert hash(pickle.loads(pickle.dumps(value))) == hash(copy.deepcopy(value)) == hash(value)


# Numbers with parts, records of tests, parts of results, and what asks for results.
RECORDS = {
    "BleuScore": lambda: fm.corpus_bleu(*TEXTS),
    "ChrfScore": lambda: fm.corpus_chrf(*TEXTS),
    "TerScore": lambda: fm.corpus_ter(*TEXTS),
    "NistScore": lambda: fm.corpus_nist(*TEXTS),
    "EqualErrorRate": lambda: fm.equal_error_rate(LOG["click"], LOG["score"]),
    "BestThreshold": lambda: fm.best_threshold(LOG["click"], LOG["score"]),
    "AucInterval": lambda: fm.roc_auc_interval(LOG["click"], LOG["score"]),
    "SignificanceResult": lambda: fm.delong_test(LOG["click"], LOG["score"], LOG["other"]),
    "TukeyResult": lambda: fm.tukey_hsd([1.0, 2.0, 3.0], [2.0, 3.0, 4.0], [5.0, 6.0, 7.0]),
    "Difference": lambda: RESULTS["Comparison"](None)["auc"],
    "Result": lambda: RESULTS["Report"](None).result("auc"),
    "SystemScore": lambda: RESULTS["TextComparison"](None).systems["first"]["chrf"],
    "SegmentStatistics": lambda: fm.segment_statistics("bleu", *TEXTS),
    "Metric": lambda: fm.Metric.ndcg(k=10),
    "MetricSpec": lambda: fm.list_metrics()["auc"],
    "Evaluation": lambda: fm.Evaluation("auc", **OPTIONS),
    "Task": lambda: fm.Task(**OPTIONS),
}


@pytest.mark.parametrize("name", RECORDS)
def test_records_are_equal_after_pickles_and_copies(name):
    found = RECORDS[name]()
    assert type(found).__name__ == name
    for other in (pickle.loads(pickle.dumps(found)), copy.copy(found), copy.deepcopy(found), RECORDS[name]()):
        assert other == found
        assert repr(other) == repr(found)
        assert not is_hashable(found) or hash(other) == hash(found)
    assert found != "another thing"
    for other in RECORDS:
        assert (RECORDS[other]() == found) == (other == name)


def test_tests_unpack_to_a_statistic_and_a_pvalue():
    for found in (RECORDS["SignificanceResult"](), fm.wilcoxon([1.0, 2, 3, 4], [2.0, 1, 5, 7])):
        statistic, pvalue = found
        assert (statistic, pvalue) == (found.statistic, found.pvalue)


HOSTILE = "<script>alert(1)</script>&\"'"


def test_names_are_escaped_in_notebooks():
    labels, scores, groups = [1, 0, 1, 0] * 9, [0.9, 0.1, 0.3, 0.4] * 9, [HOSTILE, HOSTILE, "b", "b"] * 9
    log = {"click": labels, HOSTILE: scores, "other": scores[::-1], "group": groups}
    truth = {"image": [1], "category": [HOSTILE], "box": [[0, 0, 4, 4]]}
    qrels, run = {HOSTILE: {"a": 1}}, {HOSTILE: {"a": 0.1}}
    results = [
        fm.auc_by_group(labels, scores, groups),
        fm.errors_by_group(scores, scores, groups),
        fm.evaluate(log, ["auc"], label="click", score=HOSTILE, by="group"),
        fm.compare(log, ["auc"], label="click", score=[HOSTILE, "other"], by="group"),
        fm.evaluate_ranking(qrels, run, ["mrr"]).per_query,
        fm.compare_runs(qrels, {HOSTILE: run, "other": run}, ["mrr"]),
        fm.compare_texts({HOSTILE: ["a b"] * 4, "other": ["a c"] * 4}, ["a b"] * 4, ["chrf"], replicates=20),
        fm.voc_map(truth, truth | {"score": [0.9]}, box="xywh"),
        fm.coco_map(truth, truth | {"score": [0.9]}, box="xywh").per_class,
    ]
    for found in results:
        html = found._repr_html_()
        assert "alert(1)" in html
        assert "<script" not in html


def test_long_tables_have_a_short_repr():
    """`print` of a report or a comparison shows all rows."""
    n = 3000
    groups, labels, scores = np.arange(n).repeat(2), np.tile([0, 1], n), np.arange(2.0 * n)
    log = {"click": labels, "score": scores, "other": scores[::-1], "group": groups}
    names = {f"q{number}": {"a": 1} for number in range(n)}
    boxes = {"image": [1] * 400, "category": [f"c{number}" for number in range(400)], "box": [[0, 0, 4, 4]] * 400}
    found = [
        fm.auc_by_group(labels, scores, groups),
        fm.errors_by_group(scores, scores, groups),
        fm.evaluate_ranking(names, names, ["mrr"]).per_query,
        fm.voc_map(boxes, boxes | {"score": [0.9] * 400}, box="xywh"),
        fm.coco_map(boxes, boxes | {"score": [0.9] * 400}, box="xywh").per_class,
        report := fm.evaluate(log, ["auc"], **OPTIONS, by="group"),
        comparison := fm.compare(log, ["auc"], label="click", score=["score", "other"], by="group"),
    ]
    assert all(len(repr(one).splitlines()) < 120 for one in found)
    for one in (report, comparison):
        assert "... 2,901 more rows: print shows all" in repr(one).splitlines()
        assert len(str(one).splitlines()) > n
        assert "more rows" not in str(one)


@pytest.mark.parametrize("unit", ["D", "s", "ms", "us", "ns"])
def test_times_are_times_in_rows_and_dicts(unit):
    days = LOG["day"].astype(f"datetime64[{unit}]")
    table = fm.auc_by_group(LOG["click"], LOG["score"], days)
    for row, day in zip(table, ("2024-01-01", "2024-01-02"), strict=True):
        assert row.group.isoformat()[:10] == day
    assert [text[:10] for text in table.to_dict()["group"]] == ["2024-01-01", "2024-01-02"]
    assert [line[:10] for line in table.to_csv().splitlines()[1:]] == ["2024-01-01", "2024-01-02"]
    finer = fm.auc_by_group(LOG["click"], LOG["score"], LOG["day"].astype("datetime64[ns]") + np.timedelta64(1, "ns"))
    assert finer.to_csv().splitlines()[1].startswith("2024-01-01T00:00:00.000000001,")


@pytest.mark.parametrize("digits", [0, -1, 18, "4", 2.5, True])
def test_digits_of_markdown_are_a_count(digits):
    report = fm.evaluate(LOG, "auc", label="click", score="score")
    with pytest.raises(ValueError, match=r"^digits must be an integer from 1 to 17, or None for all digits; found "):
        report.to_markdown(digits)


@pytest.mark.parametrize("indent", ["report.json", -1, 65, 2.5])
def test_indent_of_json_is_a_count_and_no_path(indent):
    report = fm.evaluate(LOG, "auc", label="click", score="score")
    with pytest.raises(ValueError, match=r"^indent must be an integer from 0 to 64, .*to write a file: path\.write"):
        report.to_json(indent)
    assert report.to_json(0).startswith('{\n"')
