"""Rows that are put into the order of their scores once, for all curves and metrics that are asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core.ordered_rows import order_rows
from fastmetrics._core.pairs import PairsWon
from fastmetrics.metrics.curves import area, distance, error_rates, lift, precision_recall, roc, thresholds
from fastmetrics.metrics.curves.distance import Extremes
from fastmetrics.metrics.curves.error_rates import EqualErrorRate, RatesCross
from fastmetrics.metrics.curves.precision_recall import PrecisionSum
from fastmetrics.metrics.curves.thresholds import BestThreshold


class ScoreOrder:
    """Labels and scores in the order of the scores, sorted once however much is asked of them.

    Every method returns what the function of its name returns for the same rows, to the bit. The sort happens at the
    first question and is kept, as are the answers' statistics: AUC, average precision, EER and KS together take little
    more time than AUC alone. The object holds about 8 to 16 bytes a row.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1; any kind with `pos_label`.
    y_score : array-like of shape (n,)
        Scores, higher for more likely positive. Arrays are not copied: they must not change while the object is used.
    pos_label : int, float, bool or str, optional
        The label of the positive class; all others are negative.
    sample_weight : array-like of shape (n,), optional
        Weights, finite and not negative; a row of weight zero is absent.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. No result depends on it.

    Raises
    ------
    ValueError
        Wrong labels, lengths that differ, no rows, bad weights; NaN scores at the first question. The row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> order = fm.ScoreOrder([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> order.roc_auc_score(), order.ks_statistic(), order.best_threshold(metric="f1").threshold
    (0.75, 0.5, 0.35)
    """

    def __init__(
        self,
        y_true: Any,
        y_score: Any,
        *,
        pos_label: Any = None,
        sample_weight: Any = None,
        n_threads: int | None = None,
    ) -> None:
        self._dtype = inputs.as_array(y_score, "y_score").dtype
        self._rows = order_rows(y_true, y_score, pos_label, sample_weight, n_threads)
        self._rows.together = (PairsWon(), Extremes(), PrecisionSum(), RatesCross())

    def __repr__(self) -> str:
        return f"ScoreOrder({self._rows.rows:,} rows)"

    @property
    def rows(self) -> int:
        """How many rows there are, those of weight zero not counted."""
        return self._rows.rows

    @property
    def positives(self) -> int:
        """How many of them are positive."""
        return self._rows.totals().positives

    def roc_auc_score(self, *, max_fpr: float | None = None) -> float:
        """See `fastmetrics.roc_auc_score`."""
        if max_fpr is not None:
            area.check_max_fpr(max_fpr)
        return area.area_of(self._rows, max_fpr)

    def partial_auc_score(self, *, max_fpr: float, standardize: bool = False) -> float:
        """See `fastmetrics.partial_auc_score`."""
        return area.partial_of(self._rows, max_fpr, standardize)

    def average_precision_score(self) -> float:
        """See `fastmetrics.average_precision_score`."""
        return precision_recall.precision_of(self._rows)

    def ks_statistic(self) -> float:
        """See `fastmetrics.ks_statistic`."""
        return distance.distance_of(self._rows)

    def equal_error_rate(self, *, method: str = "interpolate") -> EqualErrorRate:
        """See `fastmetrics.equal_error_rate`."""
        return error_rates.equal_rate_of(self._rows, method)

    def best_threshold(self, *, metric: str = "f1", beta: float = 1.0) -> BestThreshold:
        """See `fastmetrics.best_threshold`."""
        return thresholds.best_of(self._rows, metric, beta)

    def roc_curve(self, *, drop_intermediate: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """See `fastmetrics.roc_curve`."""
        return roc.curve_of(self._rows, drop_intermediate)

    def precision_recall_curve(
        self, *, drop_intermediate: bool = False
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """See `fastmetrics.precision_recall_curve`."""
        inputs.check_flag(drop_intermediate, "drop_intermediate")
        return precision_recall.curve_of(self._rows, drop_intermediate, self._dtype)

    def det_curve(self, *, drop_intermediate: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """See `fastmetrics.det_curve`."""
        return error_rates.tradeoff_of(self._rows, drop_intermediate)

    def far_frr_curve(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """See `fastmetrics.far_frr_curve`."""
        return error_rates.rates_of(self._rows)

    def lift_curve(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """See `fastmetrics.lift_curve`."""
        return lift.lift_of(self._rows)
