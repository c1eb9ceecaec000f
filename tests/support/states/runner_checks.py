"""What every runner must do, as tests: a class of tests of an engine is one of these, with a fixture `engine`."""

import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import psutil
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import fastmetrics as fm
from fastmetrics.distributed import tasks
from support import pages
from support.cases import assert_raises, each_case
from support.extend.worked_examples import ALL_COLUMNS, NAMES, evaluate, load_example
from support.extend.worked_examples import make_log as make_example_log
from support.ranking.truth_tables import COLUMNS as LISTS
from support.ranking.truth_tables import METRICS, TRUTH, random_tables
from support.registry_cases import own_metrics
from support.states import round_cases
from support.states.round_cases import COLUMNS, ROWS, SETS, UNITS

PAGE = Path(__file__).resolve().parents[3] / "docs" / "distributed.md"
USERS = {"label": "click", "score": ["pctr", "coarse"], "group": "user"}
QUESTIONS = [
    *((metrics, COLUMNS | options) for metrics, _, options in round_cases.REPORTS),
    *((metrics, {"label": "kind", "probabilities": "probs"} | options) for metrics, options in round_cases.OF_CLASSES),
    *((metrics, COLUMNS | UNITS | options) for metrics, options in round_cases.INTERVALS),
    *((metrics, COLUMNS | options | {"ci": 0.9}) for metrics, options in round_cases.LINEARIZED),
    (["auc", "logloss"], COLUMNS | {"tasks": round_cases.TASKS, "by": "channel", "min_rows": 1300}),
    (["bleu", "rouge1"], {"by": "channel"}),
    (["gauc", "ctr"], COLUMNS | {"group": "user", "where": "day > 0 and channel != 'tv'", "by": "cut(w, [0.5])"}),
    (["auc"], COLUMNS | {"where": pc.field("day") > 0}),
]  # fmt: skip


class Engine(NamedTuple):
    """An engine that runs.

    Attributes
    ----------
    entry : module
        It has `evaluate` and `compare`.
    runner : module
        It calls the steps.
    collect : callable
        The engine's data, of a table for each source.
    place : str
        What a source is called.
    """

    entry: ModuleType
    runner: ModuleType
    collect: Callable[[list[pa.Table]], Any]
    place: str


def thirds(log: pa.Table) -> list[pa.Table]:
    """The rows in three sources: one has none, and the others have rows of the same groups."""
    return [log[: ROWS // 3], log[:0], log[ROWS // 3 :]]


@contextmanager
def no_process_left() -> Iterator[None]:
    """Fail if a process that is started here is still there at the end, but for Python's own of multiprocessing."""
    before = set(psutil.Process().children(recursive=True))
    yield
    left = set(psutil.Process().children(recursive=True)) - before
    found = [own for own in psutil.wait_procs(left, timeout=1)[1] if "multiprocessing.resource_tracker" not in
             " ".join(own.cmdline())]
    assert not psutil.wait_procs(found, timeout=30)[1]


class RunnerChecks:
    """Checks of any engine. A subclass has a fixture `engine` of the class or the module."""

    @each_case(("metrics", "options"), QUESTIONS)
    def test_reports_are_those_of_evaluate(self, engine, log, data, metrics, options):
        question = fm.Evaluation(metrics, **options)
        found, expected = engine.entry.evaluate(data, question), question.run(log)
        assert found == expected
        assert [own.rows for own in found] == [own.rows for own in expected]
        assert found.seconds > 0

    @each_case(
        ("metrics", "options"),
        [
            (["auc", "gauc", "logloss", "ndcg@5"], USERS | {"by": SETS, "weight": "of_user", "min_rows": 400}),
            (["auc", "ks", "ne"], USERS | {"unit": "household", "replicates": 9, "baseline": "coarse"}),
            (["auc", "gauc", "ne"], USERS | {"score": ["pctr"], "by": SETS, "baseline": "rest"}),
            (["logloss"], USERS | {"unit": "day", "ci": 0.9, "correction": "none", "margin": {"logloss": 0.01}}),
        ],
    )
    def test_comparisons_are_those_of_compare(self, engine, log, data, metrics, options):
        if "weight" in options:
            metrics = [metric for metric in metrics if "@" not in metric]
        found, expected = engine.entry.compare(data, metrics, **options), fm.compare(log, metrics, **options)
        assert found == expected
        assert found.evaluation == expected.evaluation

    def test_lists_that_are_joined_with_truth(self, engine):
        shown, truth = random_tables(3, texts=True)
        question = fm.Evaluation(METRICS, truth_columns=TRUTH, by="country", weight="weight", ci=0.9, **LISTS)
        tables = engine.collect([shown[:200], shown[200:]]), engine.collect([truth[:50], truth[:0], truth[50:]])
        assert engine.entry.evaluate(tables[0], question, truth=tables[1]) == question.run(shown, truth=truth)
        options = LISTS | {"label": "grade", "baseline": "rest", "by": "country"}
        expected = fm.compare(shown, METRICS, truth=truth, **options)
        assert engine.entry.compare(tables[0], METRICS, truth=tables[1], **options) == expected
        assert_raises(ValueError, "truth is missing", engine.entry.evaluate, tables[0], question)
        bad = truth.set_column(2, "grade", pa.array([None] + [1] * (len(truth) - 1)))
        words = rf"truth: label column 'grade' has a (null|NaN) at row 0.*{engine.place} 0"
        assert_raises(
            ValueError, words, engine.entry.evaluate, tables[0], question, truth=engine.collect([bad, truth[:0]])
        )
        assert_raises(TypeError, "truth must be a", engine.entry.evaluate, tables[0], question, truth=truth)

    def test_little_memory_and_many_targets(self, engine, log, data, tmp_path):
        options = COLUMNS | {"group": "name", "by": "channel"}
        run = {"n_partitions": 7, "memory_limit": "1MiB", "spill_dir": str(tmp_path)}
        metrics = ["auc", "gauc", "ks"]
        assert engine.entry.evaluate(data, metrics, **options, **run) == fm.evaluate(log, metrics, **options)
        assert engine.entry.evaluate(data, "auc", **COLUMNS, n_partitions=1) == fm.evaluate(log, "auc", **COLUMNS)
        assert not list(tmp_path.iterdir())

    def test_errors_name_the_source(self, engine, log):
        bad = log.set_column(0, "click", pa.array([0, 1, 3] + [1] * (ROWS - 3)))
        words = rf"'click' has 3 at row 2: .*\(rows are counted within {engine.place} 1\)"
        question = fm.Evaluation(["auc", "gauc"], group="user", **COLUMNS)
        assert_raises(ValueError, words, engine.entry.evaluate, engine.collect([log, bad]), question)
        nulls = log.set_column(1, "pctr", pa.array([None] + [0.5] * (ROWS - 1)))
        words = f"'pctr' has a (null|NaN) at row 0.*within {engine.place} 0"
        assert_raises(ValueError, words, engine.entry.evaluate, engine.collect([nulls, log]), question)
        wrong = log.set_column(1, "pctr", pa.array([1.5] + [0.5] * (ROWS - 1)))
        words = f"'pctr' has 1.5 at row 0.*within {engine.place} 1"
        probabilities = question.replace(metrics=["gauc", "auc", "logloss"])
        assert_raises(ValueError, words, engine.entry.evaluate, engine.collect([log, wrong]), probabilities)
        missing = engine.collect([log.drop_columns("user")])
        assert_raises(ValueError, "group: no column 'user'|group: .*'user'", engine.entry.evaluate, missing, question)
        assert_raises(ValueError, "data has no rows", engine.entry.evaluate, engine.collect([log[:0]]), question)
        assert_raises(OSError, "nowhere", engine.entry.evaluate, missing, "auc", **COLUMNS, spill_dir="/nowhere")

    @pytest.mark.skipif(not PAGE.is_file(), reason="no docs beside the tests")
    def test_code_of_the_page_runs(self, engine, tmp_path):
        mark = engine.entry.__name__.removeprefix("fastmetrics.")
        blocks = [own for own in pages.BLOCKS.finditer(PAGE.read_text(encoding="utf-8")) if own["mark"] == mark]
        code, namespace = "\n".join(own["code"] for own in blocks), {}
        assert '"clicks.parquet"' in code
        with chdir(tmp_path), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Dask uses what pandas will drop
            pages.run_command("fastmetrics sample-log clicks.parquet --rows 50000")
            exec(code.replace('"clicks.parquet"', repr(str(tmp_path / "clicks.parquet"))), namespace)
        assert namespace["report"].result("gauc", slice={"channel": "feed"}).rows > 0
        assert namespace["comparison"]["auc"].verdict == "better"

    def test_an_error_of_a_worker_is_the_same_here(self, engine, data, monkeypatch):
        for name in ("summarize_source", "cut_source", "summarize_target"):
            with monkeypatch.context() as patched:
                patched.setattr(engine.runner, name, failing(name))
                words = rf"^{name} has no such key$"
                assert_raises(ArithmeticError, words, engine.entry.evaluate, data, "auc", **COLUMNS)

    def test_metrics_that_workers_do_not_have(self, engine):
        with own_metrics():
            for name in NAMES:
                load_example(name)
            log = pa.table(make_example_log(900))
            found = engine.entry.evaluate(engine.collect([log[:300], log[300:]]), list(NAMES), **ALL_COLUMNS)
            assert found.results == evaluate(log).results

    @each_case(
        ("options", "words"),
        [
            ({"ci": 0.9, "unit": "row"}, "rows of batches and partitions have no places in a log"),
            ({"by": "qcut(pctr, 4)"}, "needs all rows before the first is divided"),
            ({"n_partitions": 0}, "targets must be a positive integer; found 0"),
            ({"memory_limit": "much"}, "memory_limit"),
        ],
    )
    def test_what_it_cannot_do(self, engine, data, options, words):
        assert_raises(ValueError, words, engine.entry.evaluate, data, "auc", **COLUMNS, **options)

    def test_questions_it_cannot_answer(self, engine, data):
        curves = fm.Evaluation("auc", **COLUMNS, curves=True)
        assert_raises(ValueError, "has no curves=True", engine.entry.evaluate, data, curves)
        delong = USERS | {"ci_method": "delong", "unit": "row"}
        words = "rows of batches and partitions have no places|has no ci_method='delong'"
        assert_raises(ValueError, words, engine.entry.compare, data, "auc", **delong)

    def test_other_data_is_refused(self, engine, log):
        words = "found Table. For other data use fastmetrics.evaluate"
        assert_raises(TypeError, words, engine.entry.evaluate, log, "auc", **COLUMNS)
        words = "found Table. For other data use fastmetrics.compare"
        assert_raises(TypeError, words, engine.entry.compare, log, "auc", **USERS)


class ClusterChecks(RunnerChecks):
    """Checks of engines whose workers are processes."""

    @each_case("ci", [None, 0.9])
    def test_workers_are_killed_in_every_step(self, engine, log, data, tmp_path, monkeypatch, ci):
        question = fm.Evaluation(["auc", "gauc", "ks", "logloss"], **COLUMNS, group="user", by="day", ci=ci)
        steps = ("summarize_source", "cut_source", "summarize_target")
        for name in steps:
            monkeypatch.setattr(engine.runner, name, killing(getattr(tasks, name), str(tmp_path / name)))
        assert engine.entry.evaluate(data, question) == question.run(log)
        assert all((tmp_path / name).exists() for name in steps)


def failing(name: str) -> Callable[..., Any]:
    def step(*arguments: Any) -> Any:
        raise ArithmeticError(f"{name} has no such key")

    return step


def killing(step: Callable[..., Any], marker: str) -> Callable[..., Any]:
    """The step, of which the first worker is killed when it has done its work."""

    def run(*arguments: Any) -> Any:
        found = step(*arguments)
        if not os.path.exists(marker):
            with open(marker, "x"):
                os._exit(1)
        return found

    return run
