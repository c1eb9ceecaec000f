"""Arrays that another thread changes while they are read: an answer or an error, never a crash.

Labels index tables, and kernels read a column more than once: its range first, then its rows. Before labels were copied
or checked at each read, these calls ended the process within seconds. They run in a process of their own.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np

from fastmetrics._kernels.columns import column_checks
from support import function_cases
from support.function_cases import PUBLIC, RANKING_FUNCTIONS, call
from support.hostile import changing_arrays

TESTS = Path(__file__).resolve().parents[2]

PROGRAM = """
import threading
import warnings

import numpy as np

import fastmetrics as fm

warnings.simplefilter("ignore")
ROWS = 150_000
random = np.random.default_rng(0)
labels, predictions = random.integers(0, 50, (2, ROWS))
classes, probabilities = random.integers(0, 5, ROWS // 5), random.dirichlet(np.ones(5), ROWS // 5)
many, others = random.integers(0, 100_000, (2, ROWS))
arrays = labels, predictions, classes, many, others
originals = [array.copy() for array in arrays]
stop = threading.Event()


def change():
    own = np.random.default_rng(1)
    while not stop.is_set():
        for array, original in zip(arrays, originals):
            start, length = own.integers(0, array.shape[0]), own.choice([1, 100, 50_000])
            array[start : start + length] = own.choice([0, -1, 65_536, 10**9, 2**62, -(2**62)])
            if own.random() < 0.3:
                array[:] = original


CALLS = [
    lambda: fm.adjusted_rand_score(labels, predictions),
    lambda: fm.pair_confusion_matrix(labels, predictions),
    lambda: fm.confusion_matrix(labels, predictions),
    lambda: fm.cohen_kappa_score(labels, predictions),
    lambda: fm.balanced_accuracy_score(labels, predictions),
    lambda: fm.f1_score(labels, predictions, average="macro"),
    lambda: fm.adjusted_rand_score(many, others),
    lambda: fm.mutual_info_score(many, others),
    lambda: fm.log_loss(classes, probabilities),
    lambda: fm.top_k_accuracy_score(classes, probabilities),
]
thread = threading.Thread(target=change)
thread.start()
answers = 0
try:
    for _ in range(40):
        for call in CALLS:
            try:
                call()
            except (ValueError, TypeError):
                pass
            answers += 1
finally:
    stop.set()
    thread.join()
print(answers)
"""


def test_labels_that_another_thread_changes():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "400\n"), done.stderr[-2000:]


FUNCTIONS = [
    "roc_curve", "ndcg_score", "gauc_score", "d2_pinball_score", "top_k_accuracy_score", "calinski_harabasz_score",
]  # fmt: skip


def test_numbers_that_another_thread_changes():
    """A few functions of all; `python -m support.hostile.changing_arrays` calls the rest.

    An IndexError from inside is printed behind the calls.
    """
    command = [sys.executable, "-m", "support.hostile.changing_arrays", "0.1", *FUNCTIONS]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=TESTS)
    lines = [line.split() for line in done.stdout.splitlines()]
    inner_errors = [line for line in lines if len(line) != 2]
    assert (done.returncode, inner_errors) == (0, []), done.stdout + done.stderr[-2000:]
    assert [line[0] for line in lines] == FUNCTIONS


def test_every_function_of_arrays_is_called():
    calls = changing_arrays.make_calls(changing_arrays.make_arrays())
    assert not set(PUBLIC) ^ (set(calls) - {"Accumulator"}) ^ changing_arrays.WITHOUT_ARRAYS


def test_scores_that_turn_to_nan(monkeypatch):
    """Lists are ranked after their scores were checked: a tie that begins with NaN has an end."""
    monkeypatch.setattr(column_checks, "any_nan", lambda values, start, stop, found: None)
    random = np.random.default_rng(0)
    rows, refused = 2000, set()
    for dtype in (np.float32, np.float64):
        scores = random.integers(0, 50, rows).astype(dtype)
        scores[random.integers(0, rows, rows // 2)] = np.nan
        labels, groups = random.integers(0, 2, rows), random.integers(0, 2, rows)
        log = {"label": labels, "score": scores, "group": groups}
        for name in RANKING_FUNCTIONS:
            try:
                call(name, log, **function_cases.FUNCTIONS[name].options[0])
            except ValueError:
                refused.add(name)
    assert {"hit_rate", "dcg_score", "ndcg_score"} <= refused
