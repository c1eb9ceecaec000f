"""Scores against relevance inside groups: AUC of every group, gains, precision and recall at the top."""

from fastmetrics.metrics.ranking.auc import GroupTable, auc_by_group, gauc_score
from fastmetrics.metrics.ranking.labels import coverage_error, label_ranking_average_precision_score, label_ranking_loss
from fastmetrics.metrics.ranking.trec import TrecResult, evaluate_trec
from fastmetrics.metrics.ranking.trec_files import TrecQrels, TrecRun, read_qrels, read_run
from fastmetrics.metrics.ranking.trec_measures import trec_measure_names

__all__ = [
    "GroupTable",
    "TrecQrels",
    "TrecResult",
    "TrecRun",
    "auc_by_group",
    "coverage_error",
    "evaluate_trec",
    "gauc_score",
    "label_ranking_average_precision_score",
    "label_ranking_loss",
    "read_qrels",
    "read_run",
    "trec_measure_names",
]
