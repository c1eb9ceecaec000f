"""Any metric of predicted labels, at every threshold of the scores."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.columns.class_labels import as_label_weights
from fastmetrics._core.exchange.sorted_rows import as_column
from fastmetrics.metrics.curves.precision_recall_curve import cast_thresholds

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fastmetrics._core.types.arrays import ArrayLike, Floats, NumericArrayLike

__all__ = ["metric_at_thresholds"]


@answers_unknown
def metric_at_thresholds(
    y_true: ArrayLike,
    y_score: NumericArrayLike,
    metric_func: Callable[..., Any],
    *,
    sample_weight: NumericArrayLike | None = None,
    metric_params: Mapping[str, Any] | None = None,
) -> tuple[NDArray[Any], Floats]:
    """The value of a metric at every threshold: `metric_func(y_true, y_score >= t)` for each score t.

    It shows which threshold suits a metric (C. Elkan, The foundations of cost-sensitive learning, IJCAI 2001). The time
    is that of as many calls as there are distinct scores; the counts of all thresholds at once are
    `confusion_matrix_at_thresholds`.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels that `metric_func` understands, together with predictions of 0 and 1.
    y_score : array-like of shape (n_samples,)
        Finite scores, higher for more likely positive.
    metric_func : callable
        Called with `y_true`, a prediction of 0 and 1 (int32), and the options; rows stand in descending order of
        scores. It returns a number, or numbers, as many in each call.
    sample_weight : array-like of shape (n_samples,), optional
        Weights of rows, from 0 to 1e300, not all zero, which `metric_func` gets too. A row of weight zero is left out.
    metric_params : mapping, optional
        Further options of `metric_func`.

    Returns
    -------
    metric_values : ndarray of shape (n_thresholds,) or (n_thresholds, n_outputs)
        What `metric_func` returned.
    thresholds : ndarray of shape (n_thresholds,)
        The distinct scores, descending, with the dtype of `y_score`.

    Raises
    ------
    ValueError
        NaN or infinite scores, different lengths, no rows or invalid weights; the message names the row.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> values, thresholds = fm.metric_at_thresholds([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], fm.accuracy_score)
    >>> values.tolist(), thresholds.tolist()
    ([0.75, 0.5, 0.75, 0.5], [0.8, 0.4, 0.35, 0.1])
    """
    if not callable(metric_func):
        raise validation.OptionError(f"metric_func must be a function of y_true and y_pred; found {metric_func!r}")
    if metric_params is not None and not isinstance(metric_params, Mapping):
        raise validation.OptionError(f"metric_params must be a dict of options or None; found {metric_params!r}")
    options = dict(metric_params or {})
    given = as_column(validation.as_array(y_score, "y_score"))
    scores = validation.as_scores(given)
    validation.check_finite(scores, "y_score")
    truth = as_column(validation.as_array(y_true, "y_true"))
    validation.check_column(truth, "y_true")
    validation.check_lengths(truth.shape[0], scores.shape[0], "y_true", "y_score")
    order = np.argsort(-scores, kind="stable")
    weights = as_label_weights(sample_weight, scores.shape[0])
    if weights is not None:
        order = order[weights[order] > 0]
        options["sample_weight"] = weights[order]
    truth, scores = truth[order], scores[order]
    thresholds = scores[np.append(True, scores[1:] != scores[:-1])]
    values = [metric_func(truth, (scores >= threshold).astype(np.int32), **options) for threshold in thresholds]
    return np.asarray(values), cast_thresholds(thresholds, given.dtype)
