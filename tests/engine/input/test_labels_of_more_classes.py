"""Labels of more than two classes beside a score: the error says how classes are given, and what it says works."""

import numpy as np
import pytest

import fastmetrics as fm
from support.cases import each_case
from support.command_line import assert_is_a_message, run

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
LOG = {
    "y": [0, 1, 2, 1], "text": ["a", "b", "c", "a"], "s": [0.1, 0.2, 0.3, 0.4], "guess": [0, 1, 2, 2],
    "day": np.array(["2026-01-01", "2026-01-02", "2026-01-03", "2026-01-01"], "datetime64[D]"), "g": [1, 1, 2, 2],
    "p0": [0.5, 0.2, 0.1, 0.3], "p1": [0.25, 0.5, 0.2, 0.5], "p2": [0.25, 0.3, 0.7, 0.2], "n": [0.5, 1.0, 2.0, 3.0],
}  # fmt: skip
WORDS = ("prediction='COLUMN' (--prediction COLUMN)", "probabilities=['COLUMN', ...]", "--probabilities")


def assert_says_how(call, *arguments, **options):
    with pytest.raises((ValueError, TypeError)) as caught:
        call(*arguments, **options)
    assert all(word in str(caught.value) for word in (*WORDS, f'label="{options["label"]} = CLASS"'))


@each_case("label", ["y", "text", "day"])
@each_case("metric", ["auc", "accuracy", "logloss", "gauc"])
def test_the_error_says_how_classes_are_given(label, metric):
    columns = {"label": label, "score": "s", "group": "g"}
    for log in (LOG, pa.table(LOG)):
        assert_says_how(fm.evaluate, log, metric, **columns)
    pandas = pytest.importorskip("pandas")
    assert_says_how(fm.evaluate, pandas.DataFrame(LOG), metric, **columns)
    accumulator = fm.Accumulator([metric], **columns)
    with pytest.raises((ValueError, TypeError), match=r"--prediction COLUMN"):
        accumulator.update(LOG)
    assert_says_how(fm.compare, LOG, metric, label=label, score=["s", "p1"], group="g")


def test_what_it_says_works():
    assert fm.evaluate(LOG, "accuracy", label="y", prediction="guess")["accuracy"] == 0.75
    assert fm.evaluate(LOG, "logloss", label="y", probabilities=["p0", "p1", "p2"])["logloss"] > 0
    assert fm.evaluate(LOG, "auc", label="y = 1", score="s")["auc"] == 0.75
    assert fm.evaluate(LOG, "auc", label="text = 'a'", score="s")["auc"] == 0.5


@each_case("labels", [[0.5, 1.0, 0.0, 1.0], [0, -1, 1, 1]])
def test_numbers_and_a_mix_of_zero_and_minus_one_are_no_classes(labels):
    with pytest.raises(ValueError, match="labels must be 0 and 1") as caught:
        fm.evaluate({**LOG, "y": labels}, "auc", label="y", score="s")
    assert "prediction=" not in str(caught.value)


def test_the_command_line(tmp_path):
    pq.write_table(pa.table(LOG), tmp_path / "log.parquet")
    for label in ("y", "text"):
        done = run("evaluate", "log.parquet", "--label", label, "--score", "s", "-m", "auc", folder=tmp_path)
        assert_is_a_message(done, *WORDS)
    words = ["--label", "y", "--prediction", "guess", "-m", "accuracy", "--json"]
    assert '"value": 0.75' in run("evaluate", "log.parquet", *words, folder=tmp_path).stdout


FUNCTIONS = {
    "gauc_score": lambda y: fm.gauc_score(y, LOG["s"], LOG["g"]),
    "normalized_entropy": lambda y: fm.normalized_entropy(y, LOG["s"]),
    "roc_curve": lambda y: fm.roc_curve(y, LOG["s"]),
    "det_curve": lambda y: fm.det_curve(y, LOG["s"]),
    "expected_calibration_error": lambda y: fm.expected_calibration_error(y, LOG["s"]),
    "copc": lambda y: fm.copc(y, LOG["s"]),
    "ks_statistic": lambda y: fm.ks_statistic(y, LOG["s"]),
}


@each_case("call", FUNCTIONS.values())
def test_functions_say_what_takes_classes(call):
    y_true = LOG["y"]
    for labels in (y_true, np.array(y_true), np.array(y_true, np.float32), [0, 1, -2, 1]):
        with pytest.raises(ValueError, match=r"at row 2: labels must be 0 and 1.*np\.asarray\(y_true\) == CLASS"):
            call(labels)
    call(np.asarray(y_true) == 1)
    for labels in ([0, 1, 0.5, 1], [0, 1, np.nan, 1], [0, -1, 1, 1]):
        with pytest.raises(ValueError, match="labels must be 0 and 1") as caught:
            call(labels)
        assert "CLASS" not in str(caught.value)


def test_what_functions_say_works():
    probabilities = np.column_stack([LOG["p0"], LOG["p1"], LOG["p2"]])
    assert fm.accuracy_score(LOG["y"], LOG["guess"]) == 0.75
    assert fm.f1_score(LOG["y"], LOG["guess"], average="macro") > 0
    assert fm.log_loss(LOG["y"], probabilities) > 0
    assert fm.roc_auc_score(LOG["y"], probabilities, multi_class="ovr") > 0
