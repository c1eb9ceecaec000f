"""`list_metrics`: names that evaluate as they are, the table of all metrics, and their entries."""

import copy
import json
import pickle

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import fastmetrics as fm
from fastmetrics._core.kinds import MODEL_ROLES
from fastmetrics._core.metric_spec import EXCHANGES
from fastmetrics._core.registry import parse
from support.subprocesses import run

METRICS = fm.list_metrics()
METRICS_WITH_CUTOFFS = [spec.example for spec in METRICS.values()]
COLUMNS = ["metric", "family", "target", "exchange", "direction", "parameters", "aliases", "summary"]


def test_iteration_gives_names_that_are_metrics():
    names = list(METRICS)
    assert len(set(names)) == len(names) == len(METRICS) > 80
    assert {type(name) for name in names} == {str}
    assert not [name for name in names if "@k" in name]
    for name, spec in zip(names, METRICS.values(), strict=True):
        assert METRICS[name] is spec
        assert parse(name, MODEL_ROLES).spec in spec.forms
    assert names == list(METRICS.keys()) == list(dict(METRICS))
    assert sorted(METRICS) == sorted(names)
    assert METRICS


@pytest.mark.parametrize("family", ["calibration", "curves", "probability", "ranking"])
def test_a_list_evaluates_as_it_is(family):
    """The table stands where a list of metric strings may."""
    metrics = fm.list_metrics(family=family, target="graded" if family == "ranking" else "binary")
    log = {"label": [0, 1, 0, 1], "score": [0.1, 0.8, 0.4, 0.35], "user": [1, 1, 2, 2]}
    report = fm.evaluate(log, metrics, label="label", score="score", group="user")
    assert list(report.keys()) == [repr(parse(name)) for name in metrics]
    assert fm.evaluate(log, ",".join(metrics), label="label", score="score", group="user") == report


def test_names_aliases_and_strings_lead_to_entries():
    for name, spec in METRICS.items():
        for own in (name, spec.name, *spec.aliases):
            assert own in METRICS
            assert METRICS[own] is spec
    for text in ("ROC-AUC", "auc(max_fpr=0.1)", "roc_auc_score"):
        assert METRICS[text] is METRICS["auc"]
    for text in ("hr", "HR", "hr@k", "hr@3"):
        assert METRICS[text].name == "hr@k"
    assert METRICS["f1(average=macro)"] is METRICS["f1"]  # a string of predictions
    for strange in ("no such metric", "aucc", "", 3, None, ("auc",)):
        assert strange not in METRICS
    with pytest.raises(KeyError, match=r"unknown metric 'aucc'.*did you mean 'auc'"):
        METRICS["aucc"]


@pytest.mark.parametrize("option", ["family", "target", "exchange"])
def test_filters_part_the_metrics(option):
    values = {getattr(form, option) for spec in METRICS.values() for form in spec.forms}
    found = {value: fm.list_metrics(**{option: value}) for value in values}
    assert set().union(*found.values()) == set(METRICS)
    for value, table in found.items():
        assert 0 < len(table) < len(METRICS)
        assert [name for name in METRICS if name in set(table)] == list(table)
        assert all(value in {getattr(form, option) for form in spec.forms} for spec in table.values())
        left_out = next(name for name in METRICS if name not in set(table))
        assert left_out not in table
        with pytest.raises(KeyError, match="is not in this table"):
            table[left_out]
    for wrong in ("no such value", "", 3, []):
        with pytest.raises(ValueError, match=f"there is no {option} .*known: "):
            fm.list_metrics(**{option: wrong})


def test_filters_hold_together_and_may_leave_nothing():
    both = fm.list_metrics(family="ranking", exchange=EXCHANGES[0])
    assert set(both) == set(fm.list_metrics(family="ranking")) & set(fm.list_metrics(exchange=EXCHANGES[0]))
    nothing = fm.list_metrics(family="text", exchange="hash")
    assert not nothing
    assert (list(nothing), nothing.rows, nothing.to_dict()) == ([], (), {})
    assert str(nothing).split() == ["metric", "family", "target", "direction", "summary"]
    assert pa.table(nothing).column_names == nothing.to_pandas().columns.to_list() == COLUMNS
    assert "<table" in nothing._repr_html_()


def test_rows_are_records():
    assert len(METRICS.rows) == len(METRICS)
    for row, (name, spec) in zip(METRICS.rows, METRICS.items(), strict=True):
        assert list(row._asdict()) == list(row._fields) == COLUMNS
        assert (row.metric, row.family, row.direction, row.summary) == (name, spec.family, spec.direction, spec.summary)
        assert row._asdict() == METRICS.to_dict()[name]
    assert next(row.parameters for row in METRICS.rows if row.metric == "fbeta") == "beta=1.0, threshold=0.5"
    assert json.loads(json.dumps(METRICS.to_dict())) == METRICS.to_dict()


def test_texts_are_never_cut():
    for text in (str(METRICS), repr(METRICS), METRICS._repr_html_()):
        assert all(name in text for name in METRICS)
        assert "..." not in text
        assert "…" not in text
    lines = str(METRICS).splitlines()
    assert [line.split()[0] for line in lines[1:]] == list(METRICS)
    assert all(line.endswith(spec.summary) for line, spec in zip(lines[1:], METRICS.values(), strict=True))
    assert METRICS._repr_html_().count("<tr") == len(METRICS) + 1


def test_tables_of_other_libraries():
    for columns in (pa.table(METRICS).column_names, pl.DataFrame(METRICS).columns, METRICS.to_polars().columns):
        assert columns == COLUMNS
    for frame in (METRICS.to_pandas(), pd.DataFrame(METRICS.rows)):
        assert frame.columns.to_list() == COLUMNS
        assert frame["metric"].to_list() == list(METRICS)
    assert duckdb.sql("SELECT metric FROM METRICS WHERE family = 'calibration' ORDER BY 1").fetchall() == [
        (name,) for name in fm.list_metrics(family="calibration")
    ]
    assert METRICS.to_csv().count("\n") == len(METRICS) + 1


def test_pickles_and_copies_are_equal():
    others = [copier(METRICS) for copier in (copy.copy, copy.deepcopy, lambda own: pickle.loads(pickle.dumps(own)))]
    for other in (*others, fm.list_metrics()):
        assert other == METRICS
        assert list(other.values()) == list(METRICS.values())
    assert fm.list_metrics(family="text") != METRICS
    assert list(METRICS) != METRICS


def test_entries_are_the_same_objects_after_pickling():
    """They hold functions, so a pickle has their name."""
    for spec in METRICS.values():
        for form in spec.forms:
            assert pickle.loads(pickle.dumps(form)) is form
            assert copy.deepcopy(form) is form
    assert repr(METRICS["hr"]) == "<MetricSpec hr@k>"


def test_every_metric_is_pickled():
    """By the entry of its form; `stat` and columns are in metric strings alone."""
    texts = [(text, form.model_role) for form in all_forms() for text in (form.example, *form.variants)]
    texts += [(text, "score") for text in ("gauc(stat=p10)", "gauc(stat=p10, weight=pairs)", "auc(label=a, score=b)")]
    for text, role in texts:
        metric = parse(text, () if role is None else (role,))
        copied = pickle.loads(pickle.dumps(metric))
        assert copied == metric
        assert (copied.spec, repr(copied), copied.group_stat) == (metric.spec, repr(metric), metric.group_stat)
        assert (copied.shown, copied.written) == (metric.shown, metric.written)


def test_metrics_are_read_where_none_were_imported(tmp_path):
    """Also those that are registered in another module than that of their function."""
    for names in (["auc@10"], ["ndcg@10"], ["map"], ["gauc"], list(map(repr, map(parse, METRICS_WITH_CUTOFFS)))):
        (tmp_path / "metrics").write_bytes(pickle.dumps(list(map(parse, names))))
        code = "import pickle\nprint(*pickle.load(open(sys.argv[1], 'rb')), sep='\\n')"
        assert run(code, tmp_path / "metrics") == names


def all_forms():
    return [form for spec in fm.list_metrics().values() for form in spec.forms]
