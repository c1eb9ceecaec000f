"""`Evaluation`: a question is equal to the same question in another spelling, and gives the same bits everywhere."""

import copy
import pickle

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics.engine.evaluation.options import OPTIONS
from fastmetrics.engine.evaluation.options import option as table
from support.cases import assert_raises, each_case

ROWS = 240
CHANCE = np.random.default_rng(50)
LOG = {
    "click": CHANCE.integers(0, 2, ROWS), "buy": CHANCE.integers(0, 2, ROWS), "old": CHANCE.random(ROWS),
    "new": CHANCE.random(ROWS), "user": np.arange(ROWS) % 24, "channel": np.arange(ROWS) % 3,
    "w": CHANCE.integers(0, 4, ROWS).astype(float), "item": np.arange(ROWS) % 7,
}  # fmt: skip
COLUMNS = {"label": "click", "score": "new", "group": "user"}
METRICS = ["auc", "gauc", "logloss"]


def tables():
    pyarrow = pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    return pyarrow.compute, polars


# --------------------------------------------------------------------------------------------------- equal questions


@each_case(
    ("one", "other"),
    [
        (fm.Evaluation("auc,gauc", **COLUMNS), fm.Evaluation(["roc_auc_score", "gauc_score"], **COLUMNS)),
        (fm.Evaluation(fm.Metric.ndcg(k=10), **COLUMNS), fm.Evaluation("ndcg(gain=linear)@10", **COLUMNS)),
        (fm.Evaluation("auc", label="y", score="p"), fm.Evaluation(["auc"], label=["y"], score=["p"])),
        (fm.Evaluation("auc", label="1", score="2"), fm.Evaluation("auc", label=1, score=2)),
        (fm.Evaluation("auc", label="y", score="p", by="a"), fm.Evaluation("auc", label="y", score="p", by=["a"])),
        (fm.Evaluation("auc", label="y", score="p", ci=0.95), fm.Evaluation("auc", label="y", score="p", ci=0.950)),
        (
            fm.Evaluation("auc", tasks={"a": fm.Task(label=["y"], score="p")}),
            fm.Evaluation(["auc"], tasks={"a": fm.Task(label="y", score=["p"])}),
        ),
        (
            fm.Evaluation("auc", label="y", score="p", approximate=True, state_size="64KiB"),
            fm.Evaluation("auc", label="y", score="p", approximate=True, state_size=1 << 16),
        ),
        (
            fm.Evaluation("auc", label="y", score="p", correction=None),
            fm.Evaluation("auc", label="y", score="p", correction="none"),
        ),
    ],
)
def test_spellings_of_one_question(one, other):
    assert one == other
    assert hash(one) == hash(other)
    assert repr(one) == repr(other)


# Another value of each option: of its kind, if it needs no other.
OF_KINDS = {
    table.COLUMN: "item", table.COLUMNS: "item", table.UNITS: "item", table.BASELINE: "old", table.SLICES: "channel",
    table.FILTER: "old > 0.5", table.ZONE: "Asia/Tokyo", table.LEVEL: 0.9, table.COUNT: 5, table.SEED: 3,
    table.FLAG: True, table.SIZE: 1 << 20, table.METRICS: ["auc"], table.TASKS: {"a": fm.Task(label="buy")},
    table.MODELS: [["old", "new"]], table.ROLES: {"reward": "old"}, table.MARGINS: {"auc": 0.01},
    table.TRUTH: {"label": "buy"},
}  # fmt: skip
CHANGES = {own.name: own.choices[1] if own.choices else OF_KINDS[own.kind] for own in OPTIONS} | {
    "weight": "w", "label": "buy", "score": "old", "correction": "none",
}  # fmt: skip
NEEDS = {
    "prediction": {"metrics": "accuracy", "score": None, "prediction": "buy"},
    "probabilities": {"metrics": "brier", "score": None, "probabilities": ["new", "old"]},
    "truth_columns": {"metrics": "ndcg@5", "label": None, "item": "item", "truth_columns": {"group": "user"}},
    "unit": {"ci": 0.9}, "approximate": {"metrics": "auc"}, "state_size": {"metrics": "auc", "approximate": True},
}  # fmt: skip
# Roles of metrics that the library does not have: tests/engine/evaluation/test_question_files.py registers one.
OF_PLUGINS = ("item", "treatment", "propensity", "roles")


@each_case("name", [name for name in CHANGES if name not in OF_PLUGINS])
def test_each_option_is_a_part_of_the_question(name):
    plain = fm.Evaluation(**({"metrics": METRICS, **COLUMNS} | NEEDS.get(name, {})))
    other = plain.replace(**{name: CHANGES[name]})
    assert other != plain
    assert getattr(other, name) != getattr(plain, name)
    assert other.replace(**{name: getattr(plain, name)}) == plain
    assert eval(repr(other), {"Evaluation": fm.Evaluation, "Task": fm.Task}) == other
    assert name in other.options()


def test_a_question_is_never_changed():
    labels = ["click", "buy"]
    question = fm.Evaluation(METRICS, label=labels, score="new", group="user")
    labels.append("item")
    assert question.label == ("click", "buy")
    with pytest.raises(AttributeError, match="cannot be changed"):
        question.label = "buy"
    assert question.replace(seed=1).seed == 1
    assert question.seed is None


def test_copies_and_pickles():
    question = fm.Evaluation(METRICS, **COLUMNS, by=[["channel"], ["channel", "item"]], where="old > 0.1")
    for own in (copy.copy(question), copy.deepcopy(question), pickle.loads(pickle.dumps(question))):
        assert own == question
        assert own.run(LOG) == question.run(LOG)


def test_native_filters_compare_by_their_own_equals():
    compute, polars = tables()
    arrow = fm.Evaluation(METRICS, **COLUMNS, where=compute.field("old") > 0.5)
    assert arrow == fm.Evaluation(METRICS, **COLUMNS, where=compute.field("old") > 0.5)
    assert arrow != fm.Evaluation(METRICS, **COLUMNS, where=compute.field("old") > 0.6)
    lazy = fm.Evaluation(METRICS, **COLUMNS, where=polars.col("old") > 0.5)
    assert lazy == fm.Evaluation(METRICS, **COLUMNS, where=polars.col("old") > 0.5)
    assert lazy != arrow
    assert lazy != fm.Evaluation(METRICS, **COLUMNS, where="old > 0.5")
    report = arrow.run(LOG)
    assert report == fm.evaluate(LOG, METRICS, **COLUMNS, where="old > 0.5")._replace(columns=report.columns)
    assert report.to_dict()["evaluation"] is None
    assert "write it in SQL" in report.to_dict()["no_evaluation"]
    two = {"label": "click", "score": ["old", "new"], "unit": "user", "replicates": 5}
    compared = fm.compare(LOG, "auc", **two, where=compute.field("old") > 0.5)
    assert compared.evaluation is not None
    assert compared.to_dict()["evaluation"] is None
    assert "write it in SQL" in compared.to_dict()["no_evaluation"]
    assert_raises(TypeError, "a stored question cannot run an expression of pyarrow", arrow.to_toml)


# ------------------------------------------------------------------------------------------------------- entry points


@each_case(
    "options",
    [
        {},
        {"by": "channel", "min_rows": 3},
        {"weight": "w", "where": "old > 0.2", "on_invalid": "drop"},
        {"ci": 0.9, "replicates": 20, "seed": 2**64 - 1},
        {"score": ["old", "new"], "by": [["channel"], ["channel", "item"]]},
        {"tasks": {"ctr": fm.Task(label="click"), "sales": fm.Task(label="buy", where="click = 1")}},
    ],
)
def test_one_question_in_every_entry_point(options):
    question = fm.Evaluation(METRICS, **{**COLUMNS, **options})
    report = fm.evaluate(LOG, METRICS, **{**COLUMNS, **options})
    assert report.evaluation == question
    assert question.run(LOG, n_threads=1) == report
    assert fm.evaluate(LOG, question) == report
    assert fm.evaluate(LOG, report.evaluation) == report
    state = fm.Accumulator(question)
    state.update(LOG)
    assert state.result() == report
    assert state.result().evaluation == question
    again = fm.Accumulator.from_bytes(state.to_bytes())
    assert again.evaluation == question
    assert again.result() == report


def test_compare_takes_a_question():
    question = fm.Evaluation(["auc", "gauc"], label="click", score=["old", "new"], group="user", baseline="new")
    options = {"label": "click", "score": ["old", "new"], "group": "user", "baseline": "new"}
    comparison = fm.compare(LOG, ["auc", "gauc"], **options)
    assert fm.compare(LOG, question) == comparison
    assert comparison.evaluation == question.replace(ci=0.95)
    assert fm.compare(LOG, comparison.evaluation) == comparison
    assert fm.compare(LOG, question.replace(ci=0.5)).level == 0.5
    assert comparison.to_dict()["evaluation"]["baseline"] == "new"


def test_models_of_several_classes_in_compare():
    log = {"label": [0, 1, 1, 0], "a": [[0.2, 0.8]] * 4, "b": [[0.5, 0.5], [0.25, 0.75]] * 2, "u": [1, 2, 3, 4]}
    comparison = fm.compare(log, "logloss", label="label", probabilities=["a", "b"], group="u")
    assert comparison.evaluation.probabilities == (("a",), ("b",))
    assert fm.compare(log, comparison.evaluation) == comparison


def test_options_of_files_that_change_values_are_noted(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("y;p;q;user\n1;0,9;0,8;007\n0;0,2;0,3;007\n0;-;0,1;07\n", encoding="utf-8")
    options = {"delimiter": ";", "decimal_point": ",", "null_values": ["-"], "column_types": {"user": "string"}}
    run = {"format_options": options, "on_invalid": "drop"}
    notes = (
        "files are read with column_types={'user': 'string'}", "files are read with null_values=['-']",
        "files are read with decimal_point=','",
    )  # fmt: skip
    report = fm.evaluate(path, "auc", label="y", score="p", **run)
    assert report.notes == notes
    assert report.to_dict()["notes"] == list(notes)
    compared = fm.compare(path, "auc", label="y", score=["p", "q"], unit="user", replicates=5, **run)
    assert compared.notes[:3] == notes


@each_case("call", [fm.evaluate, fm.compare, lambda log, question, **options: fm.Accumulator(question, **options)])
def test_options_of_a_question_are_not_said_twice(call):
    question = fm.Evaluation("auc", label="click", score=["old", "new"])
    assert_raises(TypeError, r"by= is a part of the question, which is given: say evaluation.replace\(by=", call, LOG,
                  question, by="channel")  # fmt: skip


@each_case(
    ("call", "change", "words"),
    [
        (fm.evaluate, {"approximate": True}, "evaluate has no approximate=True; an Accumulator has it"),
        (fm.compare, {"curves": True}, "compare has no curves=True"),
        (lambda log, question: fm.Accumulator(question), {"curves": True}, "Accumulator has no curves=True"),
    ],
)
def test_what_an_entry_point_cannot_do_is_said(call, change, words):
    question = fm.Evaluation("auc", label="click", score=["old", "new"], **change)
    assert_raises(ValueError, words, call, LOG, question)


REFUSED = {
    ("curves", None): ({"curves": True}, "has no curves=True"),
    ("approximate", None): ({"approximate": True, "group": None}, "has no approximate=True"),
    ("by", table.QUANTILES): ({"by": "qcut(old, 4)"}, r"'qcut\(old, 4\)' needs all rows"),
    ("unit", table.ROWS): ({"ci": 0.9, "group": None}, "rows of batches and partitions have no places in a log"),
    ("ci_method", table.DELONG_TEST): ({"ci": 0.9, "ci_method": "delong", "unit": "row"}, "has no ci_method='delong'"),
    ("ci", table.COUNTED_ROWS): (
        {"metrics": "bleu", "ci": 0.9, "group": None, "unit": "user"}, "has no intervals for metrics of text",
    ),
    ("where", table.NATIVE_EXPRESSIONS): ({"where": "an expression"}, "cannot run an expression of pyarrow"),
    ("where", table.MASKS): ({"where": [True, False]}, "does not number the rows of a log"),
}  # fmt: skip


@each_case(("option", "refusal"), [(option, refusal) for option in OPTIONS for refusal in option.refusals])
def test_every_refusal_of_the_table_is_an_error(option, refusal):
    compute, _ = tables()
    options, words = REFUSED[option.name, refusal.of]
    if options.get("where") == "an expression":
        options = {"where": compute.field("old") > 0.5}
    question = fm.Evaluation(**({"metrics": "auc", **COLUMNS} | options))
    for name in (*table.EVERYWHERE, table.DISTRIBUTED, table.STORED):
        if name in refusal.entry_points:
            assert_raises(refusal.error, f"{name}.*{words}|{words}.*", question.plan_for, name)
        else:
            assert question.plan_for(name) == question.planned_tasks()


@each_case(
    ("options", "error", "words"),
    [
        ({"metrics": "auk"}, ValueError, "unknown metric 'auk'"),
        ({"metrics": []}, ValueError, "metrics is empty"),
        ({"metrics": "gauc", "group": None}, ValueError, "name|group=..."),
        ({"score": None}, TypeError, "score is missing"),
        ({"label": 0.5}, TypeError, "label must be the name of a column"),
        ({"min_rows": -1}, ValueError, "min_rows must be an integer of at least 0"),
        ({"ci": 95}, ValueError, "ci must be a number between 0 and 1"),
        ({"ci_method": "jackknife"}, ValueError, "ci_method must be one of"),
        ({"replicates": 0}, ValueError, "replicates must be an integer of at least 1"),
        ({"seed": 2**64}, ValueError, "seed must be an integer from 0"),
        ({"curves": "yes"}, ValueError, "curves must be True or False"),
        ({"time_zone": "Mars/Base"}, ValueError, "time_zone"),
        ({"state_size": 1, "approximate": True, "group": None}, ValueError, "state_size must be at least 4096"),
        ({"where": ""}, ValueError, "where is empty"),
        ({"tasks": {}}, ValueError, "tasks is an empty dict"),
        ({"tasks": {"a": fm.Task(label=0.5)}}, TypeError, "task 'a': label must be the name of a column"),
        ({"correction": "tukey"}, ValueError, "correction must be one of"),
        ({"margin": 0.01}, TypeError, "margin must map metrics to numbers"),
        ({"margin": {"auc": 0}}, ValueError, "the margin of auc must be a finite number above 0; found 0"),
        ({"margin": {"auc": True}}, ValueError, "the margin of auc must be a finite number above 0; found True"),
        ({"margin": {"auc": 0.1, "roc_auc_score": 0.2}}, ValueError, "margin names auc twice"),
        ({"margin": {"aucc": 0.1}}, ValueError, "did you mean 'auc'"),
    ],
)
def test_errors_come_before_any_log_is_read(options, error, words):
    assert_raises(error, words, fm.Evaluation, **({"metrics": "auc", **COLUMNS} | options))
