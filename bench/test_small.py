"""What a notebook or a training loop feels: short calls, and the import."""

import os
import subprocess
import sys
from functools import partial

import pytest

import fastmetrics as fm
from bench import peers, workloads
from bench.race import at_least, at_most, at_most_seconds

ROWS = 100
CALLS = 200
IMPORTS = 31


@pytest.fixture(scope="module")
def columns():
    data = workloads.clicks(ROWS)
    return data.labels, data.probabilities


def test_auc_alone(race, columns):
    ours = partial(fm.roc_auc_score, *columns)
    race.alone("`roc_auc_score` on 100 rows", ours, target=at_most_seconds(20e-6), calls=CALLS, rounds=31)


@pytest.mark.parametrize(
    ("function", "peer", "target"),
    [
        (fm.roc_auc_score, peers.scikit_learn_auc, at_least(60)),
        (fm.log_loss, peers.scikit_learn_log_loss, None),
        (fm.brier_score_loss, peers.scikit_learn_brier, None),
    ],
    ids=["auc", "log_loss", "brier"],
)
def test_beside_scikit_learn(race, columns, function, peer, target):
    work = f"`{function.__name__}` on 100 rows"
    theirs = peer(*columns)
    race.against(
        work, lambda: function(*columns), "scikit-learn", theirs, within=1e-12, target=target, rounds=15, calls=CALLS
    )


@pytest.fixture
def seconds_to_import(tmp_path):
    """Imports in a fresh process and tells the seconds from the statement to the next; starting Python is not counted.

    Bytecode is compiled beforehand for both sides, as installers do, whatever the environment says about writing it.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(tmp_path)

    def measure(module):
        code = f"import time\nstart = time.perf_counter()\nimport {module}\nprint(time.perf_counter() - start)"
        command = [sys.executable, "-c", code]
        return float(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)

    measure("fastmetrics")
    return measure


def test_import(race, seconds_to_import):
    race.against(
        "`import fastmetrics`", lambda: seconds_to_import("fastmetrics"), "`import numpy`",
        lambda: seconds_to_import("numpy"), within=None, target=at_most(1.3), rounds=IMPORTS, reported=True,
        note="in fresh processes with compiled bytecode; starting Python is not counted",
    )  # fmt: skip
