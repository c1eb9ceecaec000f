"""Undefined metrics: the result is NaN, with a warning that gives the reason."""

from __future__ import annotations

import sys
import warnings

__all__ = ["UndefinedMetricWarning"]


class ScikitLearnWarning(UserWarning):
    """Stands for scikit-learn's UndefinedMetricWarning as long as scikit-learn is not imported."""


class UndefinedMetricWarning(ScikitLearnWarning):
    """A metric is undefined for these rows; the result is NaN, or what an option such as `zero_division` asks for.

    Examples
    --------
    >>> import warnings
    >>> import fastmetrics as fm
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     value = fm.roc_auc_score([1, 1], [0.2, 0.9])
    ...
    >>> value, caught[0].category.__name__
    (nan, 'UndefinedMetricWarning')
    """


def warn_undefined(metric: str, reason: str) -> float:
    """Warn that `metric` is undefined because of `reason`, and return NaN."""
    warn_user(f"{metric} is undefined: {reason}; the result is NaN", UndefinedMetricWarning)
    return float("nan")


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn with the line of the user's code that called fastmetrics."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("fastmetrics."):
        level, frame = level + 1, frame.f_back
    inherit_from_scikit_learn()
    warnings.warn(message, category, stacklevel=level)


def inherit_from_scikit_learn() -> None:
    """Make our warning a kind of scikit-learn's, if that is imported: who catches or filters theirs catches ours.

    Only who has imported scikit-learn can name its class. So it is soon enough to look when there is a warning, and
    scikit-learn is never imported here. The class itself stays the same: for filters, for `is`, for pickle.
    """
    theirs = getattr(sys.modules.get("sklearn.exceptions"), "UndefinedMetricWarning", ScikitLearnWarning)
    if not issubclass(UndefinedMetricWarning, theirs):
        UndefinedMetricWarning.__bases__ = (theirs,)
