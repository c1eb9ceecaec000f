"""`TrainingMetrics`: batches, epochs, checkpoints and processes give the values of one `evaluate`."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

import fastmetrics as fm

METRICS = "auc,gauc,logloss,ndcg@10"
ROWS = {"label": [0, 1], "score": [0.5, 0.7]}


def batches(seed=0, rows=900, size=128):
    rng = np.random.default_rng(seed)
    columns = {
        "label": rng.integers(0, 2, rows),
        "score": rng.integers(1, 50, rows) / 50,
        "group": rng.integers(0, 60, rows),
    }
    return columns, [
        {name: values[start : start + size] for name, values in columns.items()} for start in range(0, rows, size)
    ]


def evaluated(columns, metrics=METRICS, **options):
    return fm.evaluate(columns, metrics, **{role: role for role in columns}, **options)


def of_batches(parts, metrics=METRICS, **options):
    state = fm.TrainingMetrics(metrics, **options)
    for part in parts:
        state.update(**part)
    return state


RANK = """
import pickle, sys
import fastmetrics as fm

metrics, parts = pickle.load(sys.stdin.buffer)
state = fm.TrainingMetrics(metrics, n_threads=1)
for part in parts:
    state.update(**part)
sys.stdout.buffer.write(state.to_bytes())
"""


def bytes_of_rank(parts):
    """What a process of its own sends."""
    rank = pickle.dumps((METRICS, parts))
    return subprocess.run([sys.executable, "-c", RANK], input=rank, stdout=subprocess.PIPE, check=True).stdout


def test_arrays_of_a_checkpoint_are_those_of_every_batch():
    """Also those that no metric reads."""
    rows = {**ROWS, "group": [1, 2], "weight": [1.0, 2.0]}
    again = fm.TrainingMetrics("auc")
    again.load_state_dict(of_batches([rows], "auc").state_dict())
    with pytest.raises(ValueError, match="same arrays: group, label, score, weight before, label, score now"):
        again.update(**ROWS)
    assert again.rows == 2
    again.update(**rows)
    assert again.result() == of_batches([rows, rows], "auc").result()
    rows = {"label": [0, 1], "prediction": [1, 1]}
    again = fm.TrainingMetrics("accuracy").merge(of_batches([rows], "accuracy"))
    again.update(**rows)
    assert again.rows == 4


def test_rows_beyond_the_memory_limit_are_spilled(tmp_path):
    """The values do not depend on it, nor those of a checkpoint that is read under the limit."""
    columns, parts = batches(rows=200_000, size=50_000)
    options = {"memory_limit": "1MiB", "spill_dir": tmp_path, "n_threads": 1}
    state = of_batches(parts, **options)
    assert state.result() == evaluated(columns)
    again = fm.TrainingMetrics(METRICS, **options)
    again.load_state_dict(state.state_dict())
    assert again.result() == state.result()
    nowhere = of_batches([], memory_limit="1MiB", spill_dir=tmp_path / "nowhere")
    with pytest.raises(OSError, match="nowhere"):
        nowhere.update(**columns)


def test_batches_equal_one_evaluation():
    columns, parts = batches()
    state = of_batches(reversed(parts))
    assert state.rows == 900
    assert state.result() == evaluated(columns)


def test_ranks_merge_by_bytes():
    """Three processes, one of which has no rows; in any order, and from any of them."""
    columns, parts = batches()
    states = list(map(bytes_of_rank, [parts[::2], [], parts[1::2]]))
    assert states[1] == b""
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        whole = fm.TrainingMetrics(METRICS)
        for rank in order:
            whole.merge(states[rank])
        assert whole.result() == evaluated(columns)


def test_merging_goes_on_with_batches():
    columns, parts = batches()
    state = fm.TrainingMetrics(METRICS).merge(of_batches(parts[3:]))
    state.merge(fm.TrainingMetrics(METRICS))
    for part in parts[:3]:
        state.update(**part)
    assert state.result() == evaluated(columns)


def test_reset_begins_an_epoch():
    columns, parts = batches()
    state = of_batches(batches(seed=1)[1])
    state.reset()
    assert state.rows == 0
    with pytest.raises(ValueError, match=r"no rows yet: call update\(label="):
        state.result()
    for part in parts:
        state.update(**part)
    assert state.result() == evaluated(columns)


def test_checkpoint_goes_on():
    columns, parts = batches()
    stored = pickle.loads(pickle.dumps(of_batches(parts[:4]).state_dict()))
    state = of_batches(batches(seed=1)[1])
    state.load_state_dict(stored)
    for part in parts[4:]:
        state.update(**part)
    assert state.result() == evaluated(columns)
    state.load_state_dict(fm.TrainingMetrics(METRICS).state_dict())
    assert state.rows == 0


def test_pickled_object_has_its_rows():
    columns, parts = batches()
    assert pickle.loads(pickle.dumps(of_batches(parts))).result() == evaluated(columns)


def test_weights_probabilities_and_other_roles():
    rng = np.random.default_rng(3)
    columns = {"label": rng.integers(0, 2, 50), "score": rng.random(50), "weight": rng.integers(1, 5, 50)}
    assert of_batches([columns], "auc,logloss").result() == evaluated(columns, "auc,logloss")
    shares = rng.dirichlet([1.0, 1.0, 1.0], size=50)
    state = fm.TrainingMetrics("logloss")
    state.update(label=rng.integers(0, 3, 50), probabilities=shares)
    assert state.result().keys() == ["logloss"]
    predicted = fm.TrainingMetrics("f1(average=macro)")
    predicted.update(label=["a", "b", "b"], prediction=["a", "b", "a"])
    assert dict(predicted.result()) == {"f1(average=macro)": 2 / 3}


def test_approximate_state_is_small():
    columns, parts = batches(rows=20_000, size=4_000)
    state = fm.TrainingMetrics("auc", approximate=True, state_size="32KiB")
    for part in parts:
        state.update(label=part["label"], score=part["score"])
    assert len(state.to_bytes()) <= 32 * 1024
    low, high = state.result().result("auc").interval
    assert low <= evaluated({name: columns[name] for name in ("label", "score")}, "auc")["auc"] <= high


def test_other_arrays_than_before_are_named():
    state = of_batches([{"label": [0, 1], "score": [0.1, 0.2]}], "auc")
    with pytest.raises(ValueError, match="same arrays: label, score before, label, score, weight now"):
        state.update(label=[1], score=[0.5], weight=[1])
    assert state.rows == 2


def test_refused_batch_changes_nothing():
    state = fm.TrainingMetrics("auc")
    with pytest.raises(ValueError, match="NaN at row 1"):
        state.update(label=[0, 1], score=[0.5, np.nan])
    assert state.rows == 0
    state.update(label=[0, 1], score=[0.5, 0.7])
    with pytest.raises(ValueError, match="NaN at row 0"):
        state.update(label=[1], score=[np.nan])
    assert (state.rows, dict(state.result())) == (2, {"auc": 1.0})


WHAT_DOES_NOT_MERGE = {
    "accumulator": (lambda: fm.Accumulator("bleu"), TypeError, "found Accumulator"),
    "bytes": (lambda: b"nothing", ValueError, "state"),
    "metrics": (lambda: of_batches([ROWS], "logloss"), ValueError, "questions do not merge: metrics is"),
    "columns": (lambda: of_batches([ROWS | {"weight": [1, 2]}], "auc,f1"), ValueError, "different"),
}


@pytest.mark.parametrize("other", WHAT_DOES_NOT_MERGE)
@pytest.mark.parametrize("parts", [[], [ROWS]], ids=["empty", "with rows"])
def test_what_does_not_merge(parts, other):
    make, error, message = WHAT_DOES_NOT_MERGE[other]
    state = of_batches(parts, "auc")
    with pytest.raises(error, match=message):
        state.merge(make())
    assert state.rows == 2 * len(parts)


def test_state_of_something_else_is_refused():
    with pytest.raises(ValueError, match=r"what state_dict\(\) returned.*found \['epoch'\]"):
        fm.TrainingMetrics("auc").load_state_dict({"epoch": b""})


def test_array_that_is_given_twice_is_named():
    state = fm.TrainingMetrics("auc")
    with pytest.raises(ValueError, match="label is given twice: as label=, and in roles="):
        state.update(label=[0, 1], score=[0.5, 0.7], roles={"label": [1, 0]})
    assert state.rows == 0


def test_list_of_metrics_that_the_caller_changes_afterwards():
    names = ["auc"]
    state = fm.TrainingMetrics(names)
    names.append("logloss")
    state.update(label=[0, 1], score=[0.5, 0.7])
    assert dict(state.result()) == {"auc": 1.0}


def test_missing_array_is_named():
    with pytest.raises(ValueError, match="group="):
        fm.TrainingMetrics("auc,gauc").update(label=[0, 1], score=[0.5, 0.7])


def test_unknown_metric_is_named_before_the_first_batch():
    with pytest.raises(ValueError, match="did you mean 'gauc'"):
        fm.TrainingMetrics("gacu")
