"""Ranked lists: one of four rows with grades 0, 2, 0, 1 from the top, one of three rows with 1, 0, 0; TREC files."""

from math import log2

import pytest

import fastmetrics as fm

from .cases import Case, FileCase, near, of_type, plain

pytestmark = pytest.mark.smoke

GRADE = [0, 2, 0, 1, 1, 0, 0]
SCORE = [4, 3, 2, 1, 3, 2, 1]
QUERY = ["q1", "q1", "q1", "q1", "q2", "q2", "q2"]
LISTS = (GRADE, SCORE, QUERY)

DCG, IDEAL = 2 / log2(3) + 1 / log2(5), 2 + 1 / log2(3)  # of q1; both are 1 for q2

# AUC of ann 1 of 2 pairs, of bob 1; cid has no click.
CLICK, CTR, USER = [0, 1, 0, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.5, 0.5], ["ann", "ann", "ann", "bob", "bob", "cid"]

# scikit-learn's example of its label ranking metrics.
LABELS, LABEL_SCORES = [[1, 0, 0], [0, 0, 1]], [[0.75, 0.5, 1], [1, 0.2, 0.1]]

# The relevant item of q1 is second, that of q2 is first.
QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1}}
RUN = {"q1": {"a": 1.0, "b": 2.0}, "q2": {"a": 1.0}}
PERFECT = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"a": 1.0}}
QRELS_FILE = "q1 0 a 1\nq1 0 b 0\nq2 0 a 1\n"
RUN_FILE = "q1 Q0 b 1 2.0 tag\nq1 Q0 a 2 1.0 tag\nq2 Q0 a 1 1.0 tag\n"

CASES: list[Case] = [
    ("cumulative_gain", lambda function: function(*LISTS, k=2), (2 + 1) / 2),
    ("dcg_score", lambda function: function(*LISTS), near((DCG + 1) / 2)),
    ("ideal_dcg", lambda function: function(*LISTS), near((IDEAL + 1) / 2)),
    ("ndcg_score", lambda function: function(*LISTS), near((DCG / IDEAL + 1) / 2)),
    ("precision_at_k", lambda function: function(*LISTS, k=2), 1 / 2),
    ("recall_at_k", lambda function: function(*LISTS, k=2), (1 / 2 + 1) / 2),
    ("f1_at_k", lambda function: function(*LISTS, k=2), near((2 / 4 + 2 / 3) / 2)),
    ("hit_rate", lambda function: function(*LISTS, k=1), (0 + 1) / 2),
    ("r_precision", lambda function: function(*LISTS), (1 / 2 + 1) / 2),
    ("mean_average_precision", lambda function: function(*LISTS), ((1 / 2 + 2 / 4) / 2 + 1) / 2),
    ("average_precision_at_k", lambda function: function(*LISTS, k=2), (1 / 2 / 2 + 1) / 2),
    ("mean_reciprocal_rank", lambda function: function(*LISTS), (1 / 2 + 1) / 2),
    ("mind_mrr", lambda function: function(*LISTS), ((1 / 2 + 1 / 4) / 2 + 1) / 2),
    # Grades 2 and 1 stop a user with probability 3/16 and 1/16.
    (
        "expected_reciprocal_rank",
        lambda function: function(*LISTS),
        near((3 / 16 / 2 + 13 / 16 * 1 / 16 / 4 + 1 / 16) / 2),
    ),
    ("rank_biased_precision", lambda function: function(*LISTS, p=0.5), ((0.5**2 + 0.5**4) + 0.5) / 2),
    # Above the relevant rows of q1 stand one and two of its two irrelevant rows.
    ("bpref", lambda function: function(*LISTS), ((1 / 2 + 0) / 2 + 1) / 2),
    # Of the four pairs of q1 one is won, and one ties below rank 2.
    ("auc_at_k", lambda function: function(*LISTS, k=2), (1.5 / 4 + 1) / 2),
    ("ranking_by_group", lambda function: function(*LISTS, "mrr")["mrr"], [1 / 2, 1]),
    ("RankingTable", lambda kind: of_type(kind, fm.ranking_by_group(*LISTS, "p@2"))["p@2"], [1 / 2, 1 / 2]),
    ("gauc_score", lambda function: function(CLICK, CTR, USER), near((3 * 1 / 2 + 2 * 1) / 5)),
    ("auc_by_group", lambda function: function(CLICK[:5], CTR[:5], USER[:5]).auc, [1 / 2, 1]),
    ("GroupTable", lambda kind: of_type(kind, fm.auc_by_group(CLICK, CTR, USER)).n, [3, 2, 1]),
    (
        "label_ranking_average_precision_score",
        lambda function: function(LABELS, LABEL_SCORES),
        near((1 / 2 + 1 / 3) / 2),
    ),
    ("label_ranking_loss", lambda function: function(LABELS, LABEL_SCORES), (1 / 2 + 2 / 2) / 2),
    ("coverage_error", lambda function: function(LABELS, LABEL_SCORES), (2 + 3) / 2),
    ("evaluate_ranking", lambda function: function(QRELS, RUN, "mrr")["mrr"], (1 / 2 + 1) / 2),
    ("evaluate_recommendations", lambda function: function([[2], [3]], [[1, 2], [3]], "mrr")["mrr"], (1 / 2 + 1) / 2),
    ("RankingResult", lambda kind: of_type(kind, fm.evaluate_ranking(QRELS, RUN, "p@1"))["p@1"], (0 + 1) / 2),
    ("compare_runs", lambda function: compared(function(QRELS, {"old": RUN, "new": PERFECT}, "mrr")), (1 / 4, 1, 0, 1)),
    ("trec_metric_names", lambda function: function("P.5,10"), ("P_5", "P_10")),
]

FILE_CASES: list[FileCase] = [
    ("read_qrels", lambda function, folder: of_type(fm.TrecQrels, function(qrels(folder))).relevance, [1, 0, 1]),
    ("read_run", lambda function, folder: of_type(fm.TrecRun, function(run(folder))).score, [2.0, 1.0, 1.0]),
    (
        "TrecQrels",
        lambda kind, folder: of_type(kind, fm.read_qrels(qrels(folder))).to_arrow()["item"].to_pylist(),
        ["a", "b", "a"],
    ),
    ("TrecRun", lambda kind, folder: of_type(kind, fm.read_run(run(folder))).tag, "tag"),
    ("evaluate_trec", lambda function, folder: function(qrels(folder), run(folder), "map").summary["map"], 3 / 4),
    (
        "TrecResult",
        lambda kind, folder: of_type(kind, fm.evaluate_trec(qrels(folder), run(folder), "map")).per_query["map"],
        [1 / 2, 1],
    ),
]


def qrels(folder):
    (folder / "qrels.txt").write_text(QRELS_FILE)
    return folder / "qrels.txt"


def run(folder):
    (folder / "run.txt").write_text(RUN_FILE)
    return folder / "run.txt"


def compared(comparison):
    """The difference of means, and the queries won, lost and tied."""
    (found,) = comparison.differences
    return found.difference, found.won, found.lost, found.tied


@pytest.mark.parametrize(("name", "call", "expected"), CASES, ids=[name for name, *_ in CASES])
def test_value(name, call, expected):
    assert plain(call(getattr(fm, name))) == expected


@pytest.mark.parametrize(("name", "call", "expected"), FILE_CASES, ids=[name for name, *_ in FILE_CASES])
def test_value_from_files(name, call, expected, tmp_path):
    assert plain(call(getattr(fm, name), tmp_path)) == expected
