"""ScoreOrder: rows sorted by score once, for any number of curves and metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.exchange.sorted_rows import order_rows
from fastmetrics._core.score_statistics.pair_counts import PairsWon
from fastmetrics.metrics.curves.auc import check_optional_max_fpr, partial_auc_from_rows, roc_auc_from_rows
from fastmetrics.metrics.curves.average_precision import PrecisionSum, average_precision_from_rows
from fastmetrics.metrics.curves.best_threshold import BestThreshold, best_threshold_from_rows
from fastmetrics.metrics.curves.det_curve import det_curve_from_rows
from fastmetrics.metrics.curves.eer import EqualErrorRate, equal_error_rate_from_rows
from fastmetrics.metrics.curves.far_frr_curve import far_frr_curve_from_rows
from fastmetrics.metrics.curves.ks import Extremes, ks_from_rows
from fastmetrics.metrics.curves.lift_curve import lift_curve_from_rows
from fastmetrics.metrics.curves.precision_recall_curve import precision_recall_curve_from_rows
from fastmetrics.metrics.curves.rate_crossing import RateCrossing
from fastmetrics.metrics.curves.roc_curve import roc_curve_from_rows

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, Floats, Label, NumericArrayLike, Thresholds
    from fastmetrics._core.types.options import EerMethod, ThresholdMetric

__all__ = ["ScoreOrder"]


class ScoreOrder:
    """Labels and scores sorted by score once, for any number of metrics and curves.

    Every method returns exactly the result of the function of the same name. The rows are sorted at the first call, and
    the sorted rows and the statistics are kept. AUC, average precision, EER and KS together take little more time than
    AUC alone. The object holds about 8 to 16 bytes per row.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1; any kind with `pos_label`.
    y_score : array-like of shape (n,)
        Scores, higher for more likely positive. float32 and float64 are read without conversion; integers and float16
        are widened. Infinities are ordered, -0.0 ties with 0.0, and scores tie only if they are exactly equal.

        Arrays are not copied. Do not change them while the object is used.
    pos_label : int, float, bool or str, optional
        The label of the positive class; all other labels are negative. Required if labels are not 0 and 1, or -1 and
        +1.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300. A row of weight zero is left out.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Raises
    ------
    ValueError
        Invalid labels, different lengths, no rows or invalid weights; NaN scores at the first call of a method. The
        message names the row.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> order = fm.ScoreOrder([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> order.roc_auc_score(), order.ks_statistic(), order.best_threshold(metric="f1").threshold
    (0.75, 0.5, 0.35)
    """

    @answers_unknown
    def __init__(
        self,
        y_true: ArrayLike,
        y_score: NumericArrayLike,
        *,
        pos_label: Label | None = None,
        sample_weight: NumericArrayLike | None = None,
        n_threads: int | None = None,
    ) -> None:
        self._dtype = validation.as_array(y_score, "y_score").dtype
        self._rows = order_rows(y_true, y_score, pos_label, sample_weight, n_threads)
        self._rows.expected_statistics = (PairsWon(), Extremes(), PrecisionSum(), RateCrossing())

    def __repr__(self) -> str:
        return f"ScoreOrder({self._rows.rows:,} rows)"

    @property
    def rows(self) -> int:
        """The number of rows, without rows of weight zero."""
        return self._rows.rows

    @property
    def positives(self) -> int:
        """The number of positive rows, without rows of weight zero."""
        return self._rows.totals().positives

    @answers_unknown
    def roc_auc_score(self, *, max_fpr: float | None = None) -> float:
        """See `fastmetrics.roc_auc_score`."""
        check_optional_max_fpr(max_fpr)
        return roc_auc_from_rows(self._rows, max_fpr)

    @answers_unknown
    def partial_auc_score(self, *, max_fpr: float, standardize: bool = False) -> float:
        """See `fastmetrics.partial_auc_score`."""
        return partial_auc_from_rows(self._rows, max_fpr, standardize)

    def average_precision_score(self) -> float:
        """See `fastmetrics.average_precision_score`."""
        return average_precision_from_rows(self._rows)

    def ks_statistic(self) -> float:
        """See `fastmetrics.ks_statistic`."""
        return ks_from_rows(self._rows)

    @answers_unknown
    def equal_error_rate(self, *, method: EerMethod = "interpolate") -> EqualErrorRate:
        """See `fastmetrics.equal_error_rate`."""
        return equal_error_rate_from_rows(self._rows, method)

    @answers_unknown
    def best_threshold(self, *, metric: ThresholdMetric = "f1", beta: float = 1.0) -> BestThreshold:
        """See `fastmetrics.best_threshold`."""
        return best_threshold_from_rows(self._rows, metric, beta)

    @answers_unknown
    def roc_curve(self, *, drop_intermediate: bool = True) -> tuple[Floats, Floats, Floats]:
        """See `fastmetrics.roc_curve`."""
        return roc_curve_from_rows(self._rows, drop_intermediate)

    @answers_unknown
    def precision_recall_curve(self, *, drop_intermediate: bool = False) -> tuple[Floats, Floats, Thresholds]:
        """See `fastmetrics.precision_recall_curve`."""
        validation.check_flag(drop_intermediate, "drop_intermediate")
        return precision_recall_curve_from_rows(self._rows, drop_intermediate, self._dtype)

    @answers_unknown
    def det_curve(self, *, drop_intermediate: bool = False) -> tuple[Floats, Floats, Floats]:
        """See `fastmetrics.det_curve`."""
        return det_curve_from_rows(self._rows, drop_intermediate)

    def far_frr_curve(self) -> tuple[Floats, Floats, Floats]:
        """See `fastmetrics.far_frr_curve`."""
        return far_frr_curve_from_rows(self._rows)

    def lift_curve(self) -> tuple[Floats, Floats, Floats]:
        """See `fastmetrics.lift_curve`."""
        return lift_curve_from_rows(self._rows)
