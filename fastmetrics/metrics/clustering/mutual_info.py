"""Mutual information of two partitions, in nats: plain, normalized by entropy, and adjusted for chance.

Sums are exact and rounded once at the end, so no result depends on the order of cells or on the codes of labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import accumulate, count_threads
from fastmetrics._kernels.clustering import mutual_info as kernel
from fastmetrics._kernels.exchange.cell_counts import CellCounter
from fastmetrics.metrics.clustering.contingency import AnyContingency, Contingency, count_contingency

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import ArrayLike, NumericMatrixLike
    from fastmetrics._core.types.options import AverageMethod

__all__ = [
    "adjusted_mutual_info_score", "expected_mutual_information", "mutual_info_score", "normalized_mutual_info_score",
]  # fmt: skip

MAX_ROWS = (1 << 63) - 1
CHUNK_CELLS = 1 << 16
CHUNK_PAIRS = 1 << 12
FEW_PAIRS = 64  # up to this number, finding equal sizes costs more than it saves
AVERAGES = ("min", "geometric", "arithmetic", "max")


@answers_unknown
def mutual_info_score(
    labels_true: ArrayLike | None,
    labels_pred: ArrayLike | None,
    *,
    contingency: NumericMatrixLike | None = None,
    n_threads: int | None = None,
) -> float:
    """The mutual information of two partitions, in nats.

    MI = sum_ij n_ij/n log(n n_ij / (a_i b_j)) for n_ij rows of class i in cluster j, a_i rows of the class and b_j rows
    of the cluster; N. X. Vinh, J. Epps, J. Bailey, "Information theoretic measures for clusterings comparison", JMLR
    2010.

    Parameters
    ----------
    labels_true : array-like of shape (n,), or None
        Classes: integers of any size, bools, floats, strings, dates, or other objects that can be sorted.
    labels_pred : array-like of shape (n,), or None
        Clusters. Their type may differ from the type of the classes.
    contingency : array-like or sparse matrix of shape (n_classes, n_clusters), optional
        The rows of each class in each cluster. If given, labels are ignored.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float
        At least 0, at most the smaller of the two entropies.

    Raises
    ------
    ValueError
        Missing labels (NaN, None, NaT), labels that are not one column or that cannot be sorted together, different
        lengths, no rows, or counts that are negative or not whole.

    Warns
    -----
    UserWarning
        Labels with fractional values.

    Notes
    -----
    Computed as the sum of n_ij log(n n_ij / (a_i b_j)) - (n_ij - a_i b_j / n), over n, whose terms are not negative.
    The error is a few units in the last place, also for tiny values.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> round(fm.mutual_info_score([0, 0, 1, 1], ["a", "a", "b", "b"]), 6)
    0.693147
    >>> fm.mutual_info_score(None, None, contingency=[[3, 1], [6, 2]])
    0.0
    """
    if contingency is not None:
        count_threads(n_threads)
        return compute_information(table_from_matrix(contingency), n_threads).mutual
    table = count_contingency(labels_true, labels_pred, n_threads=n_threads)
    if table.total == 0:
        raise ValueError("labels_true is empty: mutual information needs at least one row")
    return compute_information(table, n_threads).mutual


@answers_unknown
def normalized_mutual_info_score(
    labels_true: ArrayLike,
    labels_pred: ArrayLike,
    *,
    average_method: AverageMethod = "arithmetic",
    n_threads: int | None = None,
) -> float:
    """The mutual information of two partitions divided by the mean of their entropies.

    NMI = MI / mean(H(classes), H(clusters)), H = sum_i a_i/n log(n / a_i); N. X. Vinh, J. Epps, J. Bailey, "Information
    theoretic measures for clusterings comparison", JMLR 2010. With the arithmetic mean it is the V-measure.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
        Classes: integers of any size, bools, floats, strings, dates, or other objects that can be sorted.
    labels_pred : array-like of shape (n,)
        Clusters. Their type may differ from the type of the classes.
    average_method : {"min", "geometric", "arithmetic", "max"}
        The mean of the two entropies.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float
        In [0, 1]; 1 for equal partitions.

    Raises
    ------
    ValueError
        Missing labels (NaN, None, NaT), labels that are not one column or that cannot be sorted together, different
        lengths, or an unknown average.

    Warns
    -----
    UserWarning
        Labels with fractional values.

    Notes
    -----
    1 without rows, and for one class in one cluster. 0 for one class in several clusters, or several in one cluster.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.normalized_mutual_info_score([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> fm.normalized_mutual_info_score([0, 0, 1, 1], [0, 1, 2, 3], average_method="max")
    0.5
    """
    validation.check_option(average_method, "average_method", AVERAGES)
    table = count_contingency(labels_true, labels_pred, n_threads=n_threads)
    return normalized_mutual_info(table, average_method, n_threads)


def normalized_mutual_info(
    table: AnyContingency, average_method: str = "arithmetic", n_threads: int | None = None
) -> float:
    """The normalized mutual information of a table."""
    if is_same_partition(table):
        return 1.0
    mutual, class_entropy, cluster_entropy = compute_information(table, n_threads)
    return mutual / average_entropies(class_entropy, cluster_entropy, average_method) if mutual else 0.0


@answers_unknown
def adjusted_mutual_info_score(
    labels_true: ArrayLike,
    labels_pred: ArrayLike,
    *,
    average_method: AverageMethod = "arithmetic",
    n_threads: int | None = None,
) -> float:
    """The mutual information of two partitions, corrected for the value expected by chance.

    AMI = (MI - E MI) / (mean(H(classes), H(clusters)) - E MI), with E MI the mean over all partitions with the same
    sizes: sum_ij sum_k P(k) k/n log(n k / (a_i b_j)), k hypergeometric; N. X. Vinh, J. Epps, J. Bailey, "Information
    theoretic measures for clusterings comparison", JMLR 2010.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
        Classes: integers of any size, bools, floats, strings, dates, or other objects that can be sorted.
    labels_pred : array-like of shape (n,)
        Clusters. Their type may differ from the type of the classes.
    average_method : {"min", "geometric", "arithmetic", "max"}
        The mean of the two entropies.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float
        At most 1; 1 for equal partitions, about 0 for random ones. It may be negative.

    Raises
    ------
    ValueError
        Missing labels (NaN, None, NaT), labels that are not one column or that cannot be sorted together, different
        lengths, or an unknown average.

    Warns
    -----
    UserWarning
        Labels with fractional values.

    Notes
    -----
    1 without rows, and for one class in one cluster. 0 for one class in several clusters, or several in one cluster.
    If each row is a class or a cluster of its own, all partitions with these sizes are equally good: the result is 0,
    or 1 if the mean entropy is not above the expected mutual information.

    The time depends on the number of pairs of distinct sizes, not on the number of rows.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.adjusted_mutual_info_score([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    >>> round(fm.adjusted_mutual_info_score([0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]), 6)
    0.298792
    """
    validation.check_option(average_method, "average_method", AVERAGES)
    table = count_contingency(labels_true, labels_pred, n_threads=n_threads)
    return adjusted_mutual_info(table, average_method, n_threads)


def adjusted_mutual_info(
    table: AnyContingency, average_method: str = "arithmetic", n_threads: int | None = None
) -> float:
    """The adjusted mutual information of a table."""
    if is_same_partition(table):
        return 1.0
    n_classes, n_clusters = table.row_sums.shape[0], table.column_sums.shape[0]
    if n_classes == 1 or n_clusters == 1:
        return 0.0
    mutual, class_entropy, cluster_entropy = compute_information(table, n_threads)
    expected = cluster_entropy if n_classes == table.total else class_entropy
    if n_classes != table.total and n_clusters != table.total:
        # The expectation is a mean of values that are at most the smaller entropy; rounding must not change that.
        expected = min(expected_information(table, n_threads), class_entropy, cluster_entropy)
    highest = average_entropies(class_entropy, cluster_entropy, average_method) - expected
    # 0 / 0: all partitions with these sizes have this mutual information. scikit-learn gives 1 too, but for rounding.
    return (mutual - expected) / highest if highest > 0 else 1.0


@answers_unknown
def expected_mutual_information(
    contingency: NumericMatrixLike, n_samples: int, *, n_threads: int | None = None
) -> float:
    """The mean mutual information of all pairs of partitions with the sizes of a table, in nats.

    E MI = sum_ij sum_k P(k) k/n log(n k / (a_i b_j)), with a_i and b_j the sums of rows and columns, and k
    hypergeometric; N. X. Vinh, J. Epps, J. Bailey, "Information theoretic measures for clusterings comparison", JMLR
    2010.

    Parameters
    ----------
    contingency : array-like or sparse matrix of shape (n_classes, n_clusters)
        The rows of each class in each cluster.
    n_samples : int
        The sum of all counts.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    float
        At least 0, at most the smaller of the two entropies.

    Raises
    ------
    ValueError
        Counts that are negative or not whole, no rows, or another number of rows than `n_samples`.

    Notes
    -----
    The time depends on the number of pairs of distinct sizes, not on the number of rows.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> round(fm.expected_mutual_information([[2, 0], [0, 2]], 4), 6)
    0.231049
    """
    count_threads(n_threads)
    table = table_from_matrix(contingency)
    if n_samples != table.total:
        raise ValueError(f"n_samples must be the sum of contingency, {table.total}; found {n_samples!r}")
    entropies = entropy_of_sizes(table.row_sums), entropy_of_sizes(table.column_sums)
    return min(expected_information(table, n_threads), *entropies)


def is_same_partition(table: AnyContingency) -> bool:
    """Are both partitions the same, except for the names of labels?"""
    return table.n_cells == len(table.row_sums) == len(table.column_sums)


def average_entropies(first: float, second: float, method: str) -> float:
    """A mean of two numbers."""
    if method == "min":
        return min(first, second)
    if method == "max":
        return max(first, second)
    return math.sqrt(first * second) if method == "geometric" else (first + second) / 2


def table_from_matrix(contingency: Any) -> Contingency:
    """A dense or sparse matrix of counts as a table without empty classes and clusters."""
    is_sparse = hasattr(contingency, "tocoo")
    matrix: Any = contingency.tocoo() if is_sparse else validation.as_array(contingency, "contingency")
    shape = matrix.shape
    if len(shape) != 2:
        raise ValueError(f"contingency must be a matrix of counts; found {len(shape)} dimensions")
    rows, columns = (matrix.row, matrix.col) if is_sparse else np.nonzero(matrix)
    counts = as_counts(matrix.data if is_sparse else matrix[rows, columns], rows, columns)
    used = counts > 0
    first, second, counts = (values[used].astype(np.int64, copy=False) for values in (rows, columns, counts))
    total = sum(counts.tolist())
    check_total(total)
    if total == 0:
        raise ValueError("contingency has no rows: all of its counts are 0")
    counter = CellCounter()
    counter.add(first, second, counts, None)  # a cell of a sparse matrix may stand there several times
    return Contingency.of_cells(*counter.cells(), total)


def as_counts(values: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """The counts as int64. Values that are not counts are an error."""
    if values.dtype.kind not in "buif":
        raise validation.OptionError(f"contingency must be a matrix of counts; found {values.dtype}")
    is_float = values.dtype.kind == "f"
    counts = values if is_float else values.astype(np.int64)
    bad = ~((values >= 0) & (values < 2.0**63) & (np.floor(values) == values)) if is_float else counts < 0
    if bad.any():
        cell = int(np.argmax(bad))
        raise ValueError(
            f"contingency must have whole counts of at least 0; found {values[cell]!s} in row {int(rows[cell])}, "
            f"column {int(columns[cell])}"
        )
    return counts.astype(np.int64, copy=False)


class PartitionInformation(NamedTuple):
    """The mutual information of two partitions, and the entropy of each."""

    mutual: float
    class_entropy: float
    cluster_entropy: float


def compute_information(table: AnyContingency, n_threads: int | None = None) -> PartitionInformation:
    """Mutual information and both entropies; NaN without rows.

    The mutual information is at most the smaller entropy. It equals an entropy in all bits if they are equal by
    definition: if every class lies in one cluster, or every cluster in one class.
    """
    if table.total == 0:
        return PartitionInformation(math.nan, math.nan, math.nan)
    check_total(table.total)
    class_entropy, cluster_entropy = entropy_of_sizes(table.row_sums), entropy_of_sizes(table.column_sums)
    n_cells = table.n_cells
    if n_cells == table.row_sums.shape[0]:
        mutual = cluster_entropy
    elif n_cells == table.column_sums.shape[0]:
        mutual = class_entropy
    else:
        mutual = min(mutual_information_of_cells(table, n_threads), class_entropy, cluster_entropy)
    return PartitionInformation(mutual, class_entropy, cluster_entropy)


def check_total(total: int) -> None:
    if total > MAX_ROWS:
        raise OverflowError(f"the table counts {total} rows; at most 2**63 - 1 are allowed")


def entropy_of_sizes(sizes: np.ndarray) -> float:
    """The sum of a / n log(n / a) over the sizes a, where n is their sum."""
    total = int(sizes.sum())
    state = exact.new_states()
    kernel.sum_entropy(sizes, total, state)
    return exact.divide(exact.to_integer(state), total << exact.EXPONENT)


def mutual_information_of_cells(table: AnyContingency, n_threads: int | None) -> float:
    """The sum of n_ij / n log(n n_ij / (a_i b_j)), computed as a sum of terms that are not negative."""
    expected: list[int] = []
    of_cells = 0
    for part in table.parts():

        def add(start: int, stop: int, state: np.ndarray, part: Contingency = part) -> None:
            expected.append(kernel.sum_information(*part[:6], start, stop, state))

        of_cells += sum_in_chunks(part.n_cells, CHUNK_CELLS, add, n_threads)
    square = table.total * table.total
    of_empty_cells = square - sum(expected)
    return exact.divide(of_cells + (of_empty_cells << exact.EXPONENT), square << exact.EXPONENT)


def expected_information(table: AnyContingency, n_threads: int | None = None) -> float:
    """The mean mutual information over all pairs of partitions with these sizes; NaN without rows.

    Sizes that occur more than once are computed once.
    """
    if table.total == 0:
        return math.nan
    check_total(table.total)
    n_pairs = table.row_sums.shape[0] * table.column_sums.shape[0]
    first, first_counts = distinct_sizes(table.row_sums, n_pairs)
    second, second_counts = distinct_sizes(table.column_sums, n_pairs)

    def add(start: int, stop: int, state: np.ndarray) -> None:
        kernel.sum_expected(first, first_counts, second, second_counts, table.total, start, stop, state)

    in_rows = sum_in_chunks(first.shape[0] * second.shape[0], CHUNK_PAIRS, add, n_threads)
    return exact.divide(in_rows, table.total << exact.EXPONENT)


def distinct_sizes(sizes: np.ndarray, n_pairs: int) -> tuple[np.ndarray, np.ndarray]:
    """The distinct sizes, and how often each occurs."""
    if n_pairs <= FEW_PAIRS:
        return sizes, np.ones_like(sizes)
    distinct, counts = np.unique(sizes, return_counts=True)
    return distinct, counts.astype(np.int64, copy=False)


def sum_in_chunks(
    n_terms: int, chunk_size: int, add: Callable[[int, int, np.ndarray], None], n_threads: int | None
) -> int:
    """The exact sum, times 2**EXPONENT, of n_terms terms; add(start, stop, state) adds some of them, in threads."""
    if n_terms <= chunk_size:
        state = exact.new_states()
        add(0, n_terms, state)
        return exact.to_integer(state)
    bounds = [(start, min(n_terms, start + chunk_size)) for start in range(0, n_terms, chunk_size)]
    states = accumulate(
        len(bounds), exact.new_states, lambda state, chunk: add(*bounds[chunk], state), count_threads(n_threads)
    )
    return sum(map(exact.to_integer, states))
