"""Several questions of one log in one pass: each is evaluated as if it were alone."""

import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fastmetrics as fm
from support.cases import assert_raises

ROWS = 3000
METRICS = ["auc", "gauc", "logloss", "ctr"]
TASKS = {
    "ctr": fm.Task(label="click", score="pctr"),
    "cvr": fm.Task(label="conversion", score="pcvr"),
    "sessions": fm.Task(label="click", score="pctr", group="session", metrics=["gauc", "ndcg@5"]),
}


@pytest.fixture(scope="module")
def log():
    """Conversions are known of clicked rows only: the others are null."""
    generator = np.random.default_rng(21)
    click = generator.integers(0, 2, ROWS)
    session = generator.integers(0, 700, ROWS)
    bought = generator.integers(0, 2, ROWS)
    conversion = [int(own) if clicked else None for own, clicked in zip(bought, click, strict=True)]
    return pa.table(
        {
            "click": click,
            "conversion": pa.array(conversion, pa.int8()),
            "pctr": generator.random(ROWS),
            "pcvr": generator.random(ROWS).astype(np.float32),
            "pcvr_old": generator.random(ROWS).astype(np.float32),
            "user": generator.integers(0, 300, ROWS),
            "session": session,
            "weight": session % 3 * 0.5,  # metrics of lists weigh whole lists
            "channel": generator.choice(["feed", "search"], ROWS),
        }
    )


OPTIONS = {"group": "user", "on_invalid": "drop"}


def alone(log, task, metrics=METRICS, **options):
    columns = {name: value for name, value in task.columns_and_metrics().items() if value is not None}
    return fm.evaluate(log, columns.pop("metrics", metrics), **{**OPTIONS, **options, **columns})


def content(results):
    return [
        (own.metric, own.label, own.score, own.slice, own.value, own.interval, own.signature, own.coverage, own.reason)
        for own in results
    ]


@pytest.mark.parametrize(
    "options",
    [{}, {"by": "channel"}, {"weight": "weight"}, {"ci": 0.9, "replicates": 40}, {"n_threads": 1}],
    ids=lambda options: next(iter(options), "plain"),
)
def test_each_task_has_the_results_it_has_alone(log, options):
    report = fm.evaluate(log, METRICS, tasks=TASKS, **OPTIONS, **options)
    for name, task in TASKS.items():
        expected = alone(log, task, **options)
        assert content(own for own in report if own.task == name) == content(expected)
        assert report.tasks[name].rows == expected.rows - sum(expected.dropped.values())
        assert report.tasks[name].dropped == expected.dropped
        assert report.tasks[name].columns == expected.columns
    assert report.rows == ROWS
    assert [own.task for own in report] == sorted((own.task for own in report), key=list(TASKS).index)


def test_a_file_is_read_once_for_all_tasks(log, tmp_path, monkeypatch):
    path = tmp_path / "log.parquet"
    pq.write_table(log, path, row_group_size=500)
    opened = []
    real = pq.ParquetFile.iter_batches
    monkeypatch.setattr(pq.ParquetFile, "iter_batches", lambda *a, **k: opened.append(a[3]) or real(*a, **k))
    report = fm.evaluate(path, METRICS, tasks=TASKS, n_threads=1, **OPTIONS)
    assert report == fm.evaluate(log, METRICS, tasks=TASKS, **OPTIONS)
    assert len(opened) == 1
    assert set(opened[0]) == {"click", "pctr", "conversion", "pcvr", "user", "session"}


def test_look_up_by_task(log):
    report = fm.evaluate(log, ["auc"], tasks={name: TASKS[name] for name in ("ctr", "cvr")}, **OPTIONS)
    assert report.value("auc", task="cvr") == alone(log, TASKS["cvr"])["auc"]
    with pytest.raises(KeyError, match=r"choose with report.value\('auc', task=\.\.\."):
        report["auc"]
    assert report.result("auc", task="ctr").to_dict()["task"] == "ctr"
    assert set(report.to_dict()["tasks"]) == {"ctr", "cvr"}
    assert report.to_arrow().column("task").to_pylist() == ["ctr", "cvr"]
    assert pickle.loads(pickle.dumps(report)) == report
    text = str(report)
    assert "cvr: label conversion, score pcvr, group user; " in text
    assert "dropped (null or NaN label: " in text


def test_accumulators_merge_and_travel(log):
    whole = fm.evaluate(log, METRICS, tasks=TASKS, by="channel", **OPTIONS)
    halves = []
    for half in (log.slice(0, 1100), log.slice(1100)):
        state = fm.Accumulator(METRICS, tasks=TASKS, by="channel", **OPTIONS)
        for batch in half.to_batches(max_chunksize=400):
            state.update(batch)
        halves.append(pickle.loads(pickle.dumps(state)))
    first, second = halves
    merged = fm.Accumulator.from_bytes(second.merge(first).to_bytes())
    assert merged.result() == whole
    assert merged.rows == ROWS
    assert merged.copy().result() == whole


def test_a_refused_batch_leaves_every_task_as_it_was(log):
    state = fm.Accumulator(METRICS, tasks=TASKS, group="user")
    clicked = log.filter(pa.compute.is_valid(log["conversion"]))
    state.update(clicked)
    before = state.to_bytes()
    message = "task 'cvr': label column 'conversion' has a null at row"
    assert_raises(ValueError, message, state.update, log)
    assert state.to_bytes() == before


def test_states_of_other_tasks_do_not_merge(log):
    one = fm.Accumulator(["auc"], tasks={"ctr": TASKS["ctr"]})
    without = fm.Accumulator(["auc"], label="click", score="pctr")
    assert_raises(ValueError, "states of different questions do not merge: label is None here", one.merge, without)
    other = fm.Accumulator(["auc"], tasks={"ctr": TASKS["cvr"]})
    assert_raises(ValueError, "states of different questions do not merge: tasks is", one.merge, other)


def test_compare_answers_every_task(log):
    tasks = {
        "cvr": fm.Task(label="conversion", score=["pcvr_old", "pcvr"]),
        "ctr": fm.Task(label="click", score=["pcvr", "pctr"]),
    }
    options = {"group": "user", "on_invalid": "drop", "replicates": 50, "correction": "none"}
    comparison = fm.compare(log, ["auc", "gauc"], tasks=tasks, **options)
    for name, task in tasks.items():
        expected = fm.compare(log, ["auc", "gauc"], label=task.label, score=task.score, **options)
        found = [own for own in comparison if own.task == name]
        assert [own.replace(task=None) for own in found] == list(expected)
        assert comparison.tasks[name].dropped == expected.dropped
    assert comparison.difference("auc", task="cvr").baseline == "pcvr_old"
    assert "cvr" in str(comparison)
    assert comparison.to_dict()["tasks"]["cvr"]["columns"]["label"] == "conversion"


def test_curves_have_the_models_of_all_tasks(log):
    tasks = {name: TASKS[name] for name in ("ctr", "cvr")}
    report = fm.evaluate(log, ["auc"], tasks=tasks, curves=True, on_invalid="drop")
    assert [line.name for line in report.pictures["roc"].lines] == ["ctr: pctr", "cvr: pcvr"]
    page = report.to_html()
    assert "cvr: pcvr" in page
    assert "task cvr" in page


@pytest.mark.parametrize(
    ("tasks", "error", "message"),
    [
        ({}, ValueError, "tasks is an empty dict"),
        ([TASKS["ctr"]], TypeError, "tasks must be a dict of name and fastmetrics.Task"),
        ({"ctr": {"label": "click"}}, TypeError, "tasks must be a dict of name and fastmetrics.Task"),
        ({" ": TASKS["ctr"]}, ValueError, "tasks must have names"),
        ({"ctr": fm.Task(label="clik", score="pctr")}, ValueError, "did you mean 'click'"),
        ({"ctr": fm.Task(label="click")}, TypeError, "task 'ctr': score is missing"),
        ({"cvr": TASKS["cvr"]}, ValueError, "task 'cvr': label column 'conversion' has a null at row"),
    ],
    ids=["empty", "list", "dict", "blank name", "unknown column", "no score", "null"],
)  # fmt: skip
def test_bad_tasks(log, tasks, error, message):
    assert_raises(error, message, fm.evaluate, log, ["auc"], tasks=tasks)


def test_no_row_of_a_task(log):
    empty = log.set_column(1, "conversion", pa.nulls(ROWS, pa.int8()))
    message = f"task 'cvr': no row is left of {ROWS} read"
    assert_raises(ValueError, message, fm.evaluate, empty, ["auc"], tasks=TASKS, **OPTIONS)


def test_an_error_behind_the_scan_names_the_task(log):
    tasks = {"lists": fm.Task(label="click", score="pctr", group="user", weight="weight", metrics="ndcg@5")}
    assert_raises(ValueError, "task 'lists': group .* has weights", fm.evaluate, log, ["auc"], tasks=tasks)


def test_ctr_cvr_and_ctcvr_come_from_one_scan(log, tmp_path):
    """Conversions are evaluated on clicked rows, and clicks that convert on all rows."""
    pq.write_table(log, tmp_path / "log.parquet", row_group_size=700)
    tasks = {
        "ctr": fm.Task(label="click", score="pctr"),
        "cvr": fm.Task(label="conversion", score="pcvr", where="click = 1"),
        "ctcvr": fm.Task(label="click = 1 and conversion = 1", score="pctr * pcvr"),
    }
    options = {"group": "user", "by": "channel"}
    report = fm.evaluate(tmp_path / "log.parquet", METRICS, tasks=tasks, **options)
    for name, task in tasks.items():
        columns = {role: value for role, value in task.columns_and_metrics().items() if value is not None}
        expected = fm.evaluate(log, METRICS, **options, **columns)
        assert content(own for own in report if own.task == name) == content(expected)
    clicked = log.filter(pa.compute.equal(log["click"], 1))
    of_clicked = fm.evaluate(clicked, METRICS, label="conversion", score="pcvr", **options)
    of_task = [own for own in report if own.task == "cvr"]
    assert [(own.metric, own.slice, own.value) for own in of_task] == [
        (own.metric, own.slice, own.value) for own in of_clicked
    ]


def test_filters_of_the_call_and_of_a_task_are_joined(log):
    tasks = {"cvr": fm.Task(label="conversion", score="pcvr", where="click = 1")}
    report = fm.evaluate(log, ["auc"], tasks=tasks, where="channel = 'feed' or channel = 'none'")
    kept = log.filter(pa.compute.and_(pa.compute.equal(log["click"], 1), pa.compute.equal(log["channel"], "feed")))
    assert report.value("auc", task="cvr") == fm.evaluate(kept, ["auc"], label="conversion", score="pcvr")["auc"]
    assert report.tasks["cvr"].rows == kept.num_rows
