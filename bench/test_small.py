"""What a notebook or a training loop feels: short calls, and the import."""

import subprocess
import sys

import pytest

import fastmetrics as fm
from bench import peers, workloads
from bench.race import at_least, at_most, at_most_seconds

ROWS = 100
CALLS = 200
IMPORTS = 31

SECONDS_TO_IMPORT = "import time\nt = time.perf_counter()\nimport {module}\nprint(time.perf_counter() - t)"


@pytest.fixture(scope="module")
def columns():
    data = workloads.clicks(ROWS)
    return data.labels, data.probabilities


def test_auc_alone(race, columns):
    ours = lambda: fm.roc_auc_score(*columns)  # noqa: E731
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


def seconds_to_import(module):
    """In a fresh process, from the statement to the next; starting Python is not counted."""
    code = SECONDS_TO_IMPORT.format(module=module)
    return float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)


def test_import(race):
    race.against(
        "`import fastmetrics`", lambda: seconds_to_import("fastmetrics"), "`import numpy`",
        lambda: seconds_to_import("numpy"), within=None, target=at_most(1.3), rounds=IMPORTS, reported=True,
        note="in fresh processes, one after the other; starting Python is not counted",
    )  # fmt: skip
