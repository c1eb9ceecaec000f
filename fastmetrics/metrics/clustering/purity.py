"""Purity: the share of rows that belong to the largest class of their cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.exact import divide
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels.clustering import mutual_info as kernel
from fastmetrics.metrics.clustering.contingency import AnyContingency, count_contingency

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike

__all__ = ["purity_score"]


def purity(table: AnyContingency) -> float:
    """purity_score of a table; NaN, without a warning, if it has no rows."""
    largest = np.zeros(table.column_sums.shape[0], np.int64)
    for part in table.parts():
        kernel.max_by_column(part.columns, part.counts, largest)
    return divide(sum(largest.tolist()), table.total) if table.total else float("nan")


@answers_unknown
def purity_score(labels_true: ArrayLike, labels_pred: ArrayLike, *, n_threads: int | None = None) -> float:
    """The share of rows that belong to the largest class of their cluster.

    purity = (1/n) sum over clusters k of max over classes c of |c and k|; Y. Zhao, G. Karypis, "Criterion functions for
    document clustering", 2001; C. Manning, P. Raghavan, H. Schütze, "Introduction to information retrieval", 2008,
    section 16.3. Clusters of one row are pure, so compare only partitions with the same number of clusters.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
        Classes: integers of any size, bools, floats, strings, dates, or other objects that can be sorted.
    labels_pred : array-like of shape (n,)
        Clusters. Their type may differ from the type of the classes.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float
        In (0, 1]; NaN with an UndefinedMetricWarning if there are no rows.

    Raises
    ------
    ValueError
        Missing labels (NaN, None, NaT), labels that are not one column or that cannot be sorted together, or different
        lengths.

    Warns
    -----
    UserWarning
        Labels with fractional values.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.purity_score(["x", "x", "x", "o", "o", "d"], [0, 0, 1, 1, 1, 1])
    0.6666666666666666
    """
    table = count_contingency(labels_true, labels_pred, n_threads=n_threads)
    if not table.total:
        return warn_undefined("purity_score", "there are no rows")
    return purity(table)
