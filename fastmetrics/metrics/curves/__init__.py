"""Scores against labels in global order: curves, areas, distances and thresholds."""

from fastmetrics.metrics.curves import pictures as pictures
from fastmetrics.metrics.curves.area import partial_auc_score, roc_auc_score
from fastmetrics.metrics.curves.distance import ks_statistic
from fastmetrics.metrics.curves.error_rates import EqualErrorRate, det_curve, equal_error_rate, far_frr_curve
from fastmetrics.metrics.curves.lift import lift_curve
from fastmetrics.metrics.curves.precision_recall import average_precision_score, precision_recall_curve
from fastmetrics.metrics.curves.roc import auc, roc_curve
from fastmetrics.metrics.curves.score_order import ScoreOrder
from fastmetrics.metrics.curves.thresholds import BestThreshold, best_threshold

__all__ = [
    "BestThreshold",
    "EqualErrorRate",
    "ScoreOrder",
    "auc",
    "average_precision_score",
    "best_threshold",
    "det_curve",
    "equal_error_rate",
    "far_frr_curve",
    "ks_statistic",
    "lift_curve",
    "partial_auc_score",
    "precision_recall_curve",
    "roc_auc_score",
    "roc_curve",
]
