"""Scores against relevance inside groups: AUC of every group, gains, precision and recall at the top."""

from fastmetrics.metrics.ranking.auc import GroupTable, auc_by_group, gauc_score

__all__ = ["GroupTable", "auc_by_group", "gauc_score"]
