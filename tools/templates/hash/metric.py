"""The share of positive rows at the top score of a group, averaged over groups."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core.columns.binary_probabilities import warn_and_unwrap
from fastmetrics._core.exchange.group_rows import GroupMean, GroupRows, finalize_group_mean, reduce_columns
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.registry import metric
from fastmetrics._core.state import Sums
from fastmetrics._core.statistic import Value

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, KeysLike, NumericArrayLike

__all__ = ["new_metric"]

# The docstring has the texts of this function's parameters (tools/parameter_texts.toml), whatever the family says.
PARAMETERS_AS = "gauc_score"


class NewMetricByGroup(GroupMean):
    """The (weighted) share of positive rows among the rows with the greatest score of their group."""

    __slots__ = ()

    def value_per_group(self, groups: GroupRows) -> np.ndarray:
        rows = np.diff(groups.starts, append=groups.labels.shape[0])
        is_top = groups.scores == np.repeat(groups.scores[groups.starts], rows)
        weights = np.where(is_top, groups.weights, 0.0)
        shares = np.add.reduceat(weights * groups.labels, groups.starts) / np.add.reduceat(weights, groups.starts)
        has_positive = np.maximum.reduceat(groups.labels, groups.starts) == 1
        return np.where(has_positive, shares, np.nan)


def new_metric(
    y_true: ArrayLike,
    y_score: NumericArrayLike,
    groups: KeysLike,
    *,
    sample_weight: NumericArrayLike | None = None,
    n_threads: int | None = None,
) -> float:
    """The share of positive rows at the top score of a group, averaged over groups.

    mean over groups g of the (weighted) share of positive rows among those with the greatest score of g: the precision
    at 1, averaged over the orders of tied rows (McSherry and Najork, ECIR 2008). Groups without a positive row are left
    out. The sum over groups is exact.

    Parameters
    ----------
    y_true
    y_score
    groups
    sample_weight
    n_threads

    Returns
    -------
    float
        In [0, 1]; NaN with an UndefinedMetricWarning if no group has a positive row.

    Raises
    ------
    ValueError
        A column has NaN or null, labels are invalid, lengths differ, or there are no rows. The message names the row.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> users = ["ann", "ann", "ann", "bob", "bob"]
    >>> fm.new_metric([1, 0, 0, 1, 0], [0.9, 0.9, 0.2, 0.8, 0.3], users)
    0.75
    """
    threads = count_threads(n_threads)
    statistic = NewMetricByGroup()
    state = reduce_columns(statistic, y_true, y_score, groups, sample_weight, threads)
    result = finalize_new_metric({}, state)
    return warn_and_unwrap("new_metric", result)


@metric(
    "new_metric",
    exchange="hash",
    statistics=lambda: (NewMetricByGroup(),),
    function=new_metric,
    undefined="no group with a positive row",
    default=False,
)
def finalize_new_metric(parameters: dict[str, Any], state: Sums) -> Value:
    """The share of positive rows at the top score of a group, averaged over groups."""
    return finalize_group_mean(state, "no positive row", "no group has a positive row")


# Calls with their values, worked out by hand.
CHECKED_VALUES: dict[str, Any] = {
    "new_metric": [
        (([1, 0, 0, 1, 0], [0.9, 0.9, 0.2, 0.8, 0.3], ["ann", "ann", "ann", "bob", "bob"]), {}, 0.75),
        (([1, 0, 0, 1], [0.9, 0.9, 0.8, 0.3], [1, 1, 2, 2]), {"sample_weight": [3, 1, 1, 1]}, 0.375),
    ]
}
