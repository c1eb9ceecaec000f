"""The entropy of a partition. `mutual_info.py` has the information that two partitions share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics.metrics.clustering.contingency import (
    encode_partition_labels,
    floats_as_bits,
    read_partition_labels,
)
from fastmetrics.metrics.clustering.mutual_info import entropy_of_sizes

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike

__all__ = ["entropy"]


@answers_unknown
def entropy(labels: ArrayLike) -> float:
    """The entropy of a partition, in nats.

    H = sum_i a_i/n log(n / a_i), with a_i rows of cluster i among n rows; C. E. Shannon, "A mathematical theory of
    communication", Bell System Technical Journal 27, 1948.

    Parameters
    ----------
    labels : array-like of shape (n,)
        The cluster of each row: numbers, bools or strings. At least two clusters, and fewer clusters than rows.

    Returns
    -------
    float
        At least 0, at most the logarithm of the number of clusters; 0 for one cluster. 1 without rows, as in
        scikit-learn.

    Raises
    ------
    ValueError
        Missing labels (NaN, None, NaT), or labels that are not one column or that cannot be sorted together.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> round(fm.entropy(["a", "a", "b", "b"]), 6)
    0.693147
    """
    column = floats_as_bits(read_partition_labels(labels, "labels"), "labels")
    if column.values.shape[0] == 0:
        return 1.0
    return entropy_of_sizes(encode_partition_labels(column.values).sums)
