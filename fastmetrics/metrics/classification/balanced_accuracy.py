"""Balanced accuracy: the mean recall of the classes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.exact import divide
from fastmetrics._core.undefined import warn_undefined, warn_user
from fastmetrics.metrics.classification.confusion_matrix import SINGLE_LABEL, ClassMargins, count_class_margins

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import MatrixLike, NumericArrayLike

__all__ = ["balanced_accuracy_score"]

NO_CHANCE_LEVEL = "y_true has one class, whose recall has no chance level"


@answers_unknown
def balanced_accuracy_score(
    y_true: MatrixLike,
    y_pred: MatrixLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    adjusted: bool = False,
    n_threads: int | None = None,
) -> float:
    """The mean recall of the classes: the accuracy if all classes were equally frequent.

    (1/k) sum over the k classes of y_true of (correct rows of the class) / (rows of the class); K. Brodersen et al.,
    "The balanced accuracy and its posterior distribution", ICPR 2010. If adjusted, (score - 1/k) / (1 - 1/k), which is
    0 at the chance level.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels: integers, bools, whole floats or strings.
    y_pred : array-like of shape (n,)
        Predicted labels.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300, not all zero.
    adjusted : bool
        Rescale so that the chance level is 0.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float
        In [0, 1]. If adjusted, in [1 / (1 - k), 1], and NaN with an UndefinedMetricWarning if y_true has one class.

    Raises
    ------
    ValueError
        Continuous or multilabel targets, targets of two kinds, different lengths, no rows, or invalid weights.

    Warns
    -----
    UserWarning
        y_pred has classes that y_true does not have (they are left out), or only one class occurs.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.balanced_accuracy_score([0, 1, 0, 0, 1, 0], [0, 1, 0, 0, 0, 1])
    0.625
    """
    validation.check_flag(adjusted, "adjusted")
    margins = count_class_margins(y_true, y_pred, sample_weight, n_threads)
    if len(margins.both) == 1:
        warn_user(SINGLE_LABEL, UserWarning)
    if not all(margins.true):
        warn_user("y_pred has classes that are not in y_true: they are left out", UserWarning)
    score = mean_recall(margins, adjusted)
    return warn_undefined("balanced_accuracy_score", NO_CHANCE_LEVEL) if math.isnan(score) else score


def mean_recall(margins: ClassMargins, adjusted: bool) -> float:
    """The mean recall of the classes that occur. If adjusted, NaN for one class."""
    recalls = [divide(both, true) for both, true in zip(margins.both, margins.true, strict=True) if true]
    score = math.fsum(recalls) / len(recalls)
    if not adjusted:
        return score
    if len(recalls) == 1:
        return math.nan
    chance = 1 / len(recalls)
    return (score - chance) / (1 - chance)


# Options that `fastmetrics.testing` checks.
CHECKED_OPTIONS: dict[str, Any] = {"balanced_accuracy_score": ({}, {"adjusted": True})}
