"""Partitions of six rows, and four points on a line."""

from itertools import permutations
from math import log, sqrt

import pytest

import fastmetrics as fm

from .cases import Case, near, plain

pytestmark = pytest.mark.smoke

KIND = ["cat", "cat", "dog", "dog", "dog", "owl"]
CLUSTER = [1, 1, 2, 2, 1, 3]
COUNTS = [[2, 0, 0], [1, 2, 0], [0, 0, 1]]

# Ordered pairs: 10 - 6 together in both, 14 - 10 in one alone, 36 - 14 - 14 + 10 in neither.
TOGETHER, ONE_ALONE, NEITHER = 4, 4, 18

ENTROPY = log(3) / 3 + log(2) / 2 + log(6) / 6  # of classes of 2, 3 and 1 rows, and of clusters of 3, 2 and 1 rows


def information(one, other):
    """Mutual information, cell by cell."""
    n = len(one)
    cells = {(a, b): sum(pair == (a, b) for pair in zip(one, other, strict=True)) for a in one for b in other}
    return sum(c / n * log(n * c / (one.count(a) * other.count(b))) for (a, b), c in cells.items() if c)


def adjusted():
    """Adjusted mutual information; what chance gives is the mean over all 720 orders of the clusters."""
    orders = list(permutations(CLUSTER))
    by_chance = sum(information(KIND, order) for order in orders) / len(orders)
    return (log(2) - by_chance) / (ENTROPY - by_chance)


POINTS = [[0.0], [2.0], [10.0], [12.0]]
SIDE = [0, 0, 1, 1]
# A row at the outside is 2 from its own cluster and 11 from the other on average, one at the inside 2 and 9.
SILHOUETTES = [9 / 11, 7 / 9, 7 / 9, 9 / 11]

CASES: list[Case] = [
    ("contingency_matrix", lambda function: function(KIND, CLUSTER), COUNTS),
    ("pair_confusion_matrix", lambda function: function(KIND, CLUSTER), [[NEITHER, ONE_ALONE], [ONE_ALONE, TOGETHER]]),
    ("rand_score", lambda function: function(KIND, CLUSTER), (TOGETHER + NEITHER) / 30),
    ("adjusted_rand_score", lambda function: function(KIND, CLUSTER), 2 * (4 * 18 - 4 * 4) / (8 * 22 + 8 * 22)),
    ("fowlkes_mallows_score", lambda function: function(KIND, CLUSTER), 4 / sqrt(8 * 8)),
    ("pair_jaccard_score", lambda function: function(KIND, CLUSTER), 4 / 12),
    ("purity_score", lambda function: function(KIND, CLUSTER), 5 / 6),
    ("entropy", lambda function: function(KIND), near(ENTROPY)),
    # Of two halves of two rows, one of three partitions is the same, with log 2, and the others share nothing.
    ("expected_mutual_information", lambda function: function([[2, 0], [0, 2]], 4), near(log(2) / 3)),
    # (2 log 2 + log(2/3) + 2 log 2 + log 6) / 6
    ("mutual_info_score", lambda function: function(KIND, CLUSTER), near(log(2))),
    ("normalized_mutual_info_score", lambda function: function(KIND, CLUSTER), near(log(2) / ENTROPY)),
    ("adjusted_mutual_info_score", lambda function: function(KIND, CLUSTER), pytest.approx(adjusted(), rel=1e-10)),
    ("homogeneity_score", lambda function: function(KIND, CLUSTER), near(log(2) / ENTROPY)),
    ("completeness_score", lambda function: function(KIND, CLUSTER), near(log(2) / ENTROPY)),
    ("v_measure_score", lambda function: function(KIND, CLUSTER), near(log(2) / ENTROPY)),
    (
        "homogeneity_completeness_v_measure",
        lambda function: function(KIND, CLUSTER),
        (near(log(2) / ENTROPY), near(log(2) / ENTROPY), near(log(2) / ENTROPY)),
    ),
    ("silhouette_samples", lambda function: function(POINTS, SIDE), near(SILHOUETTES)),
    ("silhouette_score", lambda function: function(POINTS, SIDE), near(sum(SILHOUETTES) / 4)),
    # Between clusters 4 * 25 / (2 - 1), within them 4 * 1 / (4 - 2).
    ("calinski_harabasz_score", lambda function: function(POINTS, SIDE), near(100 / 2)),
    # Both spread by 1, and their means are 10 apart.
    ("davies_bouldin_score", lambda function: function(POINTS, SIDE), near((1 + 1) / 10)),
]


@pytest.mark.parametrize(("name", "call", "expected"), CASES, ids=[name for name, *_ in CASES])
def test_value(name, call, expected):
    assert plain(call(getattr(fm, name))) == expected
