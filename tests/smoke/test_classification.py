"""Labels against labels: ten rows whose counts are tp 3, fn 1, fp 2, tn 4."""

from math import sqrt

import pytest

import fastmetrics as fm

from .cases import Case, near, plain

pytestmark = pytest.mark.smoke

TRUE = [1, 1, 1, 1, 0, 0, 0, 0, 0, 0]
GUESS = [1, 1, 1, 0, 1, 1, 0, 0, 0, 0]

# Three classes: the greatest score is right in row 0, the greatest two hold the class in rows 0 and 1.
KIND = [0, 1, 2]
SHARES = [[0.5, 0.3, 0.2], [0.5, 0.3, 0.2], [0.5, 0.3, 0.2]]

PRECISION, RECALL, F1 = (4 / 5, 3 / 5), (4 / 6, 3 / 4), (8 / 11, 6 / 9)  # of class 0 and of class 1

CASES: list[Case] = [
    ("accuracy_score", lambda function: function(TRUE, GUESS), 7 / 10),
    ("zero_one_loss", lambda function: function(TRUE, GUESS), 3 / 10),
    ("hamming_loss", lambda function: function(TRUE, GUESS), 3 / 10),
    ("balanced_accuracy_score", lambda function: function(TRUE, GUESS), near((3 / 4 + 4 / 6) / 2)),
    ("precision_score", lambda function: function(TRUE, GUESS), 3 / 5),
    ("recall_score", lambda function: function(TRUE, GUESS), 3 / 4),
    ("specificity_score", lambda function: function(TRUE, GUESS), 4 / 6),
    ("f1_score", lambda function: function(TRUE, GUESS), 6 / 9),
    ("f1_score", lambda function: function(TRUE, GUESS, average="macro"), near(sum(F1) / 2)),
    ("fbeta_score", lambda function: function(TRUE, GUESS, beta=2), 15 / 21),
    ("jaccard_score", lambda function: function(TRUE, GUESS), 3 / 6),
    ("jaccard_distance", lambda function: function(TRUE, GUESS), 3 / 6),
    ("geometric_mean_score", lambda function: function(TRUE, GUESS), near(sqrt(3 / 4 * 4 / 6))),
    ("matthews_corrcoef", lambda function: function(TRUE, GUESS), near((3 * 4 - 2 * 1) / sqrt(5 * 4 * 6 * 5))),
    # Observed agreement 0.7, expected by chance (4 * 5 + 6 * 5) / 100 = 0.5.
    ("cohen_kappa_score", lambda function: function(TRUE, GUESS), near((0.7 - 0.5) / (1 - 0.5))),
    ("class_likelihood_ratios", lambda function: function(TRUE, GUESS), (near(3 / 4 / (2 / 6)), near(1 / 4 / (4 / 6)))),
    ("confusion_matrix", lambda function: function(TRUE, GUESS), [[4, 2], [1, 3]]),
    ("multilabel_confusion_matrix", lambda function: function(TRUE, GUESS), [[[3, 1], [2, 4]], [[4, 2], [1, 3]]]),
    (
        "precision_recall_fscore_support",
        lambda function: function(TRUE, GUESS),
        (list(PRECISION), list(RECALL), list(F1), [6, 4]),
    ),
    (
        "classification_report",
        lambda function: function(TRUE, GUESS, output_dict=True)["1"],
        {"precision": 3 / 5, "recall": 3 / 4, "f1-score": 6 / 9, "support": 4},
    ),
    ("top_k_accuracy_score", lambda function: function(KIND, SHARES, k=2), 2 / 3),
]


@pytest.mark.parametrize(("name", "call", "expected"), CASES, ids=[name for name, *_ in CASES])
def test_value(name, call, expected):
    assert plain(call(getattr(fm, name))) == expected
