"""Calls on 100 rows, as in a notebook or a training loop, and the time of the import."""

import os
import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from sklearn import calibration, metrics

import fastmetrics as fm
from bench import workloads

ROWS = 100
CALLS = 200
IMPORTS = 31


LABELS = [
    "accuracy_score",
    "balanced_accuracy_score",
    "classification_report",
    "class_likelihood_ratios",
    "cohen_kappa_score",
    "confusion_matrix",
    "f1_score",
    "hamming_loss",
    "jaccard_score",
    "matthews_corrcoef",
    "multilabel_confusion_matrix",
    "precision_score",
    "precision_recall_fscore_support",
    "recall_score",
    "zero_one_loss",
]
SCORES = [
    "average_precision_score",
    "brier_score_loss",
    "calibration_curve",
    "d2_log_loss_score",
    "det_curve",
    "log_loss",
    "precision_recall_curve",
    "roc_auc_score",
    "roc_curve",
    "top_k_accuracy_score",
]
RANKINGS = [
    "coverage_error",
    "dcg_score",
    "label_ranking_average_precision_score",
    "label_ranking_loss",
    "ndcg_score",
]
VALUES = [
    "d2_absolute_error_score",
    "d2_pinball_score",
    "d2_tweedie_score",
    "explained_variance_score",
    "max_error",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "mean_gamma_deviance",
    "mean_pinball_loss",
    "mean_poisson_deviance",
    "mean_squared_error",
    "mean_squared_log_error",
    "mean_tweedie_deviance",
    "median_absolute_error",
    "r2_score",
    "root_mean_squared_error",
    "root_mean_squared_log_error",
]


@pytest.fixture(scope="module")
def columns():
    data = workloads.clicks(ROWS)
    return data.labels, data.probabilities


def data_for(name, data):
    labels, probabilities = data.labels, data.probabilities
    if name in LABELS:
        return labels, (probabilities >= np.median(probabilities)).astype(np.int64)
    if name in SCORES:
        return labels, probabilities
    if name in RANKINGS:
        return workloads.label_sets(ROWS, 10)
    return 0.01 + probabilities, 0.01 + probabilities[::-1].copy()


def test_auc_alone(timing, columns):
    ours = partial(fm.roc_auc_score, *columns)
    timing.measure("`roc_auc_score` on 100 rows", ours, calls=CALLS, rounds=31)


@pytest.mark.filterwarnings("ignore")  # top-k accuracy of only two classes
@pytest.mark.parametrize("name", sorted([*LABELS, *SCORES, *VALUES, *RANKINGS]))
def test_beside_scikit_learn(timing, name):
    """Every function that scikit-learn has too, with default options."""
    arguments = data_for(name, workloads.clicks(ROWS))
    theirs = getattr(calibration if name == "calibration_curve" else metrics, name)
    timing.compare(
        f"`{name}` on 100 rows", partial(getattr(fm, name), *arguments), "scikit-learn", partial(theirs, *arguments),
        within=1e-12, rounds=15, calls=CALLS // 4,
    )  # fmt: skip


def test_area_of_points(timing):
    x = np.linspace(0.0, 1.0, ROWS)
    timing.compare(
        "`auc` of 100 points", lambda: fm.auc(x, x), "scikit-learn", lambda: metrics.auc(x, x), within=1e-12,
        rounds=15, calls=CALLS,
    )  # fmt: skip


@pytest.fixture
def seconds_to_import(tmp_path):
    """Seconds of an import statement in a new process, without the start of Python.

    Bytecode is compiled beforehand for both sides, as installers do, whatever PYTHONDONTWRITEBYTECODE is.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(tmp_path)

    def measure(module):
        code = f"import time\nstart = time.perf_counter()\nimport {module}\nprint(time.perf_counter() - start)"
        command = [sys.executable, "-c", code]
        return float(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)

    measure("fastmetrics")
    return measure


def test_import(timing, seconds_to_import):
    timing.compare(
        "`import fastmetrics`", lambda: seconds_to_import("fastmetrics"), "`import numpy`",
        lambda: seconds_to_import("numpy"), within=None, rounds=IMPORTS, reported=True,
        note="in fresh processes with compiled bytecode; starting Python is not counted",
    )  # fmt: skip
