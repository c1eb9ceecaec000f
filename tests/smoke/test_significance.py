"""Tests and intervals: numbers of textbooks and manuals, or small cases in closed form."""

from math import erfc, sqrt
from statistics import NormalDist

import pytest

import fastmetrics as fm

from .cases import Case, near, of_type, plain, published

pytestmark = pytest.mark.smoke

# C. Darwin's maize in eighths of an inch: R. A. Fisher, The Design of Experiments, 1935. He counts 863 of the 32,768
# sums on either side. The signed-rank test is the example of scipy.stats.wilcoxon (1.17).
MAIZE = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]
# The example of scipy.stats.tukey_hsd, whose numbers are those of SAS's manual.
MEDICINES = (
    [24.5, 23.5, 26.4, 27.1, 29.9], [28.4, 34.2, 29.5, 32.2, 30.1], [26.1, 28.3, 24.3, 26.2, 27.8]
)  # fmt: skip
# G. Mendel's peas, 9:3:3:1; X^2 and p as R's chisq.test has them.
PEAS, EXPECTED = [315, 101, 108, 32], [312.75, 104.25, 104.25, 34.75]
# Physicians' Health Study, in A. Agresti, Categorical Data Analysis: heart attacks without and with aspirin.
ASPIRIN = (189, 11034, 104, 11037)

# Student's t of the differences 1, 2, 3; with two degrees of freedom p = 1 - t / sqrt(t^2 + 2).
STUDENT = 2 / (1 / sqrt(3))
# One model is perfect. The positives of the other win 1/2 and 1 of their pairs, the negatives lose 0 and 1/2:
# both variances of these shares are 1/8, of two rows each.
LABEL, PERFECT, OTHER = [0, 0, 1, 1], [1, 2, 3, 4], [0.1, 0.4, 0.35, 0.8]
DELONG_ERROR = sqrt(1 / 8 / 2 + 1 / 8 / 2)
DELONG = (1 - 3 / 4) / DELONG_ERROR
NORMAL_TAILS = erfc(DELONG / sqrt(2))
LOW = 3 / 4 - NormalDist().inv_cdf(0.975) * DELONG_ERROR

CASES: list[Case] = [
    ("sign_flip_test", lambda function: function(MAIZE, replicates=2**15).pvalue, 2 * 863 / 32768),
    ("wilcoxon", lambda function: both(function(MAIZE)), (24, near(0.041259765625))),
    ("paired_t_test", lambda function: both(function([2, 4, 6], [1, 2, 3])), (near(STUDENT), near(1 - sqrt(12 / 14)))),
    ("tukey_hsd", lambda function: function(*MEDICINES).pair(0, 1).pvalue, published(0.014, 3)),
    ("TukeyResult", lambda kind: of_type(kind, fm.tukey_hsd(*MEDICINES)).pair(1, 2).interval[0], published(0.691, 3)),
    ("chi2_test", lambda function: both(function(PEAS, EXPECTED)), (published(0.470, 3), published(0.9254, 4))),
    ("two_proportion_test", lambda function: function(*ASPIRIN).statistic, published(5.001, 3)),
    # Seven disagreements, at most one on one side: 2 (1 + 7) of 2^7 outcomes.
    ("mcnemar_test", lambda function: function(6, 1).pvalue, near(2 * 8 / 128)),
    ("holm", lambda function: function([0.01, 0.04, 0.03]), near([0.03, 0.06, 0.06])),
    ("benjamini_hochberg", lambda function: function([0.01, 0.04, 0.03]), near([0.03, 0.04, 0.04])),
    ("delong_test", lambda function: both(function(LABEL, PERFECT, OTHER)), (near(DELONG), near(NORMAL_TAILS))),
    ("roc_auc_interval", lambda function: plain(function(LABEL, OTHER))[:3], (3 / 4, near(LOW), 1)),
    ("AucInterval", lambda kind: of_type(kind, fm.roc_auc_interval(LABEL, OTHER)).standard_error, near(DELONG_ERROR)),
    ("SignificanceResult", lambda kind: of_type(kind, fm.paired_t_test([2, 4, 6], [1, 2, 3])).effect_size, near(2)),
    (
        "Estimate",
        lambda kind: of_type(kind, fm.two_proportion_test(*ASPIRIN).estimate("lift")).value,
        near(189 / 11034 / (104 / 11037) - 1),
    ),
]


def both(result):
    """Statistic and p-value."""
    return result.statistic, result.pvalue


@pytest.mark.parametrize(("name", "call", "expected"), CASES, ids=[name for name, *_ in CASES])
def test_value(name, call, expected):
    assert plain(call(getattr(fm, name))) == expected
