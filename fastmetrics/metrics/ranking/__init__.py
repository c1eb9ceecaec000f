"""Scores against relevance inside groups: AUC of every group, gains, precision and recall at the top."""

from fastmetrics.metrics.ranking import auc_histogram as auc_histogram
from fastmetrics.metrics.ranking.auc import GroupTable, auc_by_group, gauc_score
from fastmetrics.metrics.ranking.average_precision import average_precision_at_k, mean_average_precision
from fastmetrics.metrics.ranking.by_group import ranking_by_group
from fastmetrics.metrics.ranking.gains import cumulative_gain, dcg_score, ideal_dcg, ndcg_score
from fastmetrics.metrics.ranking.labels import coverage_error, label_ranking_average_precision_score, label_ranking_loss
from fastmetrics.metrics.ranking.precision import f1_at_k, hit_rate, precision_at_k, r_precision, recall_at_k
from fastmetrics.metrics.ranking.preference import auc_at_k, bpref
from fastmetrics.metrics.ranking.reciprocal import (
    expected_reciprocal_rank,
    mean_reciprocal_rank,
    mind_mrr,
    rank_biased_precision,
)
from fastmetrics.metrics.ranking.recommendations import evaluate_recommendations
from fastmetrics.metrics.ranking.results import RankingResult, RankingTable
from fastmetrics.metrics.ranking.run_comparison import compare_runs
from fastmetrics.metrics.ranking.runs import evaluate_ranking
from fastmetrics.metrics.ranking.trec import TrecResult, evaluate_trec
from fastmetrics.metrics.ranking.trec_files import TrecQrels, TrecRun, read_qrels, read_run
from fastmetrics.metrics.ranking.trec_measures import trec_measure_names

__all__ = [
    "GroupTable",
    "RankingResult",
    "RankingTable",
    "TrecQrels",
    "TrecResult",
    "TrecRun",
    "auc_at_k",
    "auc_by_group",
    "average_precision_at_k",
    "bpref",
    "compare_runs",
    "coverage_error",
    "cumulative_gain",
    "dcg_score",
    "evaluate_ranking",
    "evaluate_recommendations",
    "evaluate_trec",
    "expected_reciprocal_rank",
    "f1_at_k",
    "gauc_score",
    "hit_rate",
    "ideal_dcg",
    "label_ranking_average_precision_score",
    "label_ranking_loss",
    "mean_average_precision",
    "mean_reciprocal_rank",
    "mind_mrr",
    "ndcg_score",
    "precision_at_k",
    "r_precision",
    "rank_biased_precision",
    "ranking_by_group",
    "read_qrels",
    "read_run",
    "recall_at_k",
    "trec_measure_names",
]
