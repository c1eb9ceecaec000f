"""Scores against labels: scikit-learn's example of four rows, in whose order 3 of 4 pairs are right."""

from math import inf

import pytest

import fastmetrics as fm

from .cases import Case, near, of_type, plain

pytestmark = pytest.mark.smoke

LABEL = [0, 0, 1, 1]
SCORE = [0.1, 0.4, 0.35, 0.8]

# Average precision: the precisions at the two positives are 1 and 2/3.
AP = near((1 + 2 / 3) / 2)
ROC = ([0, 0, 0.5, 0.5, 1], [0, 0.5, 0.5, 1, 1], [inf, 0.8, 0.4, 0.35, 0.1])

CASES: list[Case] = [
    ("roc_auc_score", lambda function: function(LABEL, SCORE), 3 / 4),
    # The area of 0.25 up to a rate of 0.5, between that of chance, 0.125, and 0.5; McClish maps these to 0.5 and 1.
    ("roc_auc_score", lambda function: function(LABEL, SCORE, max_fpr=0.5), near((1 + (0.25 - 0.125) / 0.375) / 2)),
    ("partial_auc_score", lambda function: function(LABEL, SCORE, max_fpr=0.5), 1 / 4),
    ("average_precision_score", lambda function: function(LABEL, SCORE), AP),
    ("ks_statistic", lambda function: function(LABEL, SCORE), 1 / 2),
    # At a threshold of 0.4 one negative of two is accepted and one positive of two rejected.
    ("equal_error_rate", lambda function: function(LABEL, SCORE), 1 / 2),
    # Predicting from 0.35 on finds both positives among three rows.
    ("best_threshold", lambda function: function(LABEL, SCORE), 4 / 5),
    ("roc_curve", lambda function: function(LABEL, SCORE), ROC),
    (
        "precision_recall_curve",
        lambda function: function(LABEL, SCORE),
        ([1 / 2, 2 / 3, 1 / 2, 1, 1], [1, 1, 0.5, 0.5, 0], [0.1, 0.35, 0.4, 0.8]),
    ),
    ("det_curve", lambda function: function(LABEL, SCORE), ([0.5, 0.5, 0], [0, 0.5, 0.5], [0.35, 0.4, 0.8])),
    ("far_frr_curve", lambda function: function(LABEL, SCORE), (ROC[0], [1, 0.5, 0.5, 0, 0], ROC[2])),
    (
        "confusion_matrix_at_thresholds",
        lambda function: function(LABEL, SCORE),
        ([2, 1, 1, 0], [0, 1, 1, 2], [1, 1, 0, 0], [1, 1, 2, 2], [0.8, 0.4, 0.35, 0.1]),
    ),
    (
        "metric_at_thresholds",
        lambda function: function(LABEL, SCORE, fm.accuracy_score),
        ([3 / 4, 1 / 2, 3 / 4, 1 / 2], [0.8, 0.4, 0.35, 0.1]),
    ),
    # Precision over the share of positives, 1/2, for the first one to four rows.
    (
        "lift_curve",
        lambda function: function(LABEL, SCORE),
        ([0.25, 0.5, 0.75, 1], [2, 1, near(4 / 3), 1], [0.8, 0.4, 0.35, 0.1]),
    ),
    ("auc", lambda function: function([0, 1, 3], [0, 1, 2]), 1 / 2 + 3),
    ("ScoreOrder", lambda kind: (kind(LABEL, SCORE).rows, kind(LABEL, SCORE).roc_auc_score()), (4, 3 / 4)),
    ("EqualErrorRate", lambda kind: of_type(kind, fm.equal_error_rate(LABEL, SCORE)).threshold, 0.4),
    ("BestThreshold", lambda kind: of_type(kind, fm.best_threshold(LABEL, SCORE)).threshold, 0.35),
]


@pytest.mark.parametrize(("name", "call", "expected"), CASES, ids=[name for name, *_ in CASES])
def test_value(name, call, expected):
    assert plain(call(getattr(fm, name))) == expected
