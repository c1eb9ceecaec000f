"""Two partitions of the same rows, counted against each other: what every score of them is made of.

A table holds the cells that are not empty. Nothing in it depends on the order of rows, and no score may depend on the
order of cells or on how labels are numbered.

Columns of integers close together are counted as they are, by threads that have a table each. Other labels are numbered
first, each column for itself; where both have so many labels that their table would have more cells than there are
rows, pairs of numbers are cut by a hash into partitions that are counted one by one in the cache.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import coding, inputs, labels
from fastmetrics._core.coding import Coded
from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._core.rows import SERIAL_ROWS
from fastmetrics._kernels import counts as ranges
from fastmetrics._kernels import labelpairs as kernel
from fastmetrics._kernels import labels as labels_kernel

__all__ = ["contingency_matrix"]

UNIT_ROWS = 1 << 18
FEW_CELLS = 1 << 12
MOST_CELLS = 1 << 25  # in the tables of all threads together
MOST_NUMBERS = 1 << 32  # two of them make a key
PARTITION_ROWS = 1 << 13
MOST_PARTITION_BITS = 11
Cells = tuple[np.ndarray, np.ndarray, np.ndarray]
Found = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]
SIGNED = frozenset("?bBhHiIlq") if np.dtype("l").itemsize == 8 else frozenset("?bBhHiIlLq")


class Contingency(NamedTuple):
    """Rows of each pair of labels: cell i counts `counts[i]` rows of class `rows[i]` and cluster `columns[i]`.

    `row_sums` and `column_sums` are the sizes of classes and clusters, none of them 0; `total` is the number of rows.
    All are int64; `total` is a Python integer, for its square is more. Cells, classes and clusters stand in any order.
    """

    rows: np.ndarray
    columns: np.ndarray
    counts: np.ndarray
    row_sums: np.ndarray
    column_sums: np.ndarray
    total: int
    classes: np.ndarray
    clusters: np.ndarray


class Column(NamedTuple):
    """A column as the kernels read it, integers of some type, and what makes labels of these integers (of int64)."""

    values: np.ndarray
    restore: Callable[[np.ndarray], np.ndarray]
    has_fractions: bool = False


def count_labels(
    labels_true: Any, labels_pred: Any, *, n_threads: int | None = None, warn: bool = True, stacklevel: int = 3
) -> Contingency:
    """The table of two columns of labels, of any kind each. Fractions are labels, with a warning if `warn`."""
    true, pred = open_labels(labels_true, "labels_true"), open_labels(labels_pred, "labels_pred")
    rows = true.values.shape[0]
    inputs.check_lengths(rows, pred.values.shape[0], "labels_true", "labels_pred")
    threads = threads_for(rows, n_threads)
    found = count_dense(true.values, pred.values, threads) if rows else kernel.TableCounter(0).cells()
    if found is None:
        true, pred = settle(true, "labels_true"), settle(pred, "labels_pred")
    if warn and (true.has_fractions or pred.has_fractions):
        name = "labels_true" if true.has_fractions else "labels_pred"
        warnings.warn(
            f"{name} has fractions: labels of partitions are compared as they are, and expected to be discrete",
            UserWarning,
            stacklevel=stacklevel,
        )
    if found is None:
        found = count_sparse(true.values, pred.values, threads)
    numbers, others, counts, row_sums, column_sums, row_labels, column_labels = found
    classes, clusters = true.restore(row_labels), pred.restore(column_labels)
    return Contingency(numbers, others, counts, row_sums, column_sums, rows, classes, clusters)


def threads_for(rows: int, n_threads: int | None) -> int:
    """How many threads are worth their start."""
    if n_threads is None and rows < SERIAL_ROWS:
        return 1
    threads = count_threads(n_threads)
    return threads if rows >= SERIAL_ROWS else 1


def count_dense(true: np.ndarray, pred: np.ndarray, n_threads: int) -> Found | None:
    """Cells, margins and labels of two columns of integers; None where labels are too many or too far apart."""
    rows = true.shape[0]
    most = max(FEW_CELLS, min(2 * rows, MOST_CELLS // n_threads))
    if rows <= UNIT_ROWS:
        counter = kernel.TableCounter(most)
        return counter.cells() if counter.add(true, pred, 0, rows) else None
    counters: list[kernel.TableCounter] = []

    def make_worker() -> Callable[[int], None]:
        counter = kernel.TableCounter(most)
        counters.append(counter)

        def count(unit: int) -> None:
            if not counter.add(true, pred, unit * UNIT_ROWS, min(rows, (unit + 1) * UNIT_ROWS)):
                raise WideRangeError

        return count

    try:
        for_each(-(-rows // UNIT_ROWS), make_worker, n_threads)
    except WideRangeError:
        return None
    whole, *others = counters
    return whole.cells() if all(whole.merge(other) for other in others) else None


class WideRangeError(Exception):
    """Labels that no table over their ranges holds."""


class Numbered(NamedTuple):
    """A column of integers whose labels have numbers: numbers[value - low], or value - low itself where they are None.

    `sums` and `labels` are those of the numbers.
    """

    values: np.ndarray
    low: int
    numbers: np.ndarray | None
    sums: np.ndarray
    labels: np.ndarray

    def codes(self) -> np.ndarray:
        """A column that has a range of its own without gaps, in the order of the numbers."""
        if self.numbers is None:
            return self.values
        codes = np.empty(self.values.shape[0], np.int64)
        labels_kernel.look_up(self.values, 0, codes.shape[0], self.low, self.numbers.astype(np.int64), codes)
        return codes


def number_column(values: np.ndarray) -> Numbered:
    """By its range, if that is no more than the rows; else by a hash table."""
    rows = values.shape[0]
    span = ranges.label_range(values, values, 0, rows)
    if span is None or span[1] - span[0] >= min(max(coding.WIDE_RANGE, rows), MOST_NUMBERS):
        codes, classes = coding.code_numbers(values)
        sums = np.zeros(classes.shape[0], np.int64)
        kernel.count_range(codes, 0, rows, 0, sums)
        return Numbered(codes, 0, None, sums, classes.astype(np.int64, copy=False))
    low, high = span
    sums = np.zeros(high - low + 1, np.int64)
    kernel.count_range(values, 0, rows, low, sums)
    present = sums > 0
    if present.all():
        return Numbered(values, low, None, sums, np.arange(high - low + 1) + low)
    numbers = np.cumsum(present, dtype=np.uint32)
    numbers -= np.uint32(1)
    return Numbered(values, low, numbers, sums[present], np.flatnonzero(present) + low)


def count_sparse(true: np.ndarray, pred: np.ndarray, n_threads: int) -> Found:
    """As count_dense, for any integers: numbered first, and counted by their numbers."""
    numbered: list[Numbered] = [None, None]  # type: ignore[list-item]

    def number(unit: int) -> None:
        numbered[unit] = number_column((true, pred)[unit])

    spread(2, n_threads, number)
    first, second = numbered
    n_cells = first.labels.shape[0] * second.labels.shape[0]
    found = count_dense(first.codes(), second.codes(), n_threads) if n_cells <= 2 * true.shape[0] + FEW_CELLS else None
    cells = count_keys(first, second, n_threads) if found is None else found[:3]
    return (*cells, first.sums, second.sums, first.labels, second.labels)


def count_keys(first: Numbered, second: Numbered, n_threads: int) -> Cells:
    """The cells of two columns that are numbered, by partitions of their pairs."""
    rows = first.values.shape[0]
    bits = min(MOST_PARTITION_BITS, (rows // PARTITION_ROWS).bit_length())
    n_parts = n_threads if bits else 1
    edges = [rows * part // n_parts for part in range(n_parts + 1)]
    sizes = np.zeros((n_parts, 1 << bits), np.int64)
    columns = first.values, second.values, first.low, second.low
    if bits:
        spread(
            n_parts, n_threads, lambda i: kernel.partition_sizes(*columns, edges[i], edges[i + 1], bits, sizes[i])
        )
    else:
        sizes[0, 0] = rows
    ends = np.cumsum(sizes.T.ravel()).reshape(-1, n_parts).T
    places = np.ascontiguousarray(ends - sizes)
    starts = [*places[0].tolist(), rows]
    keys, counts = np.empty(rows, np.uint64), np.empty(rows, np.int64)
    spread(
        n_parts, n_threads, lambda i: kernel.scatter_keys(*columns, edges[i], edges[i + 1], bits, places[i], keys)
    )
    found = [0] * (1 << bits)

    def make_worker() -> Callable[[int], None]:
        counter = kernel.KeyCounter()

        def count(i: int) -> None:
            found[i] = counter.count(keys, counts, starts[i], starts[i + 1])

        return count

    for_each(1 << bits, make_worker, n_threads)
    before = [0, *np.cumsum(found).tolist()]
    out = np.empty((3, before[-1]), np.int64)
    numbers = first.numbers, second.numbers
    spread(
        1 << bits,
        n_threads,
        lambda i: kernel.list_keys(keys, counts, starts[i], starts[i] + found[i], before[i], *numbers, out),
    )
    return out[0], out[1], out[2]


def spread(n_units: int, n_threads: int, work: Callable[[int], None]) -> None:
    """work(unit) for every unit, by threads."""
    for_each(n_units, lambda: work, n_threads)


def open_labels(values: Any, name: str) -> Column:
    """One column of labels of any kind."""
    if type(values) is np.ndarray and values.ndim == 1 and values.dtype.char in SIGNED:
        return Column(inputs.contiguous(values), as_type(values.dtype))
    if labels.is_sparse(values):
        raise inputs.InputError(f"{name} must be one column of labels; found a sparse matrix")
    target = labels.open_target(values, name)
    if isinstance(target, Coded):
        return of_coded(target)
    if target.ndim != 1:
        raise ValueError(f"{name} must have one dimension; found {target.ndim} (shape {target.shape})")
    kind = target.dtype.kind
    if target.shape[0] == 0:
        return of_coded(Coded(np.zeros(0, np.int64), target))
    if kind == "O":
        return of_coded(code_objects(target, name))
    if kind == "f":
        return open_floats(target, name)
    if kind in "mM" and np.isnat(target).any():
        raise ValueError(f"{name} has NaT at row {int(np.flatnonzero(np.isnat(target))[0])}")
    if kind not in "biumMU":
        labels.kind_of_target(target, name)
        raise inputs.InputError(f"{name} has dtype {target.dtype}: labels must be numbers, texts or dates")
    column = inputs.contiguous(target)
    if kind == "U":
        return of_coded(coding.code_text(column))
    if column.dtype.char in SIGNED:
        return Column(column, as_type(column.dtype))
    return Column(column.view(np.int64), lambda found: found.view(column.dtype))


def as_type(dtype: np.dtype) -> Callable[[np.ndarray], np.ndarray]:
    return lambda found: found.astype(dtype, copy=False)


def of_coded(coded: Coded) -> Column:
    return Column(coded.codes, coded.classes.__getitem__)


def open_floats(values: np.ndarray, name: str) -> Column:
    """A column of floats; nobody knows yet whether they are integers. Those that no kernel reads are numbered."""
    if values.dtype.itemsize <= 8:
        return Column(coding.contiguous(values), as_type(values.dtype))
    labels.has_fractions(values, name)
    classes, codes = np.unique(values, return_inverse=True)
    return Column(codes, classes.__getitem__, labels.has_fractions(classes, name))


def settle(column: Column, name: str) -> Column:
    """A column of integers: floats that are none become their bits, which tell equal numbers once zeros have one sign.

    NaN and infinities are errors. Only columns that were not counted at once are looked at.
    """
    floats, restore, _ = column
    if floats.dtype.kind != "f" or ranges.label_range(floats, floats, 0, floats.shape[0]) is not None:
        return column
    fractions = labels.has_fractions(floats, name)
    bits = np.dtype(f"i{floats.dtype.itemsize}")
    return Column(
        (floats + floats.dtype.type(0)).view(bits),
        lambda found: restore(found.astype(bits, copy=False).view(floats.dtype)),
        fractions,
    )


def code_objects(values: np.ndarray, name: str) -> Coded:
    """A column of Python's objects: texts, or anything else with one order."""
    if isinstance(values[0], str):
        return coding.code_objects(values, name)
    numbers: dict[Any, int] = {}
    try:
        codes = np.fromiter((numbers.setdefault(value, len(numbers)) for value in values), np.int64, values.shape[0])
        sorted(numbers)
    except TypeError as error:
        check_objects(values, name)
        raise inputs.InputError(f"{name} has labels without a common order: {error}") from None
    classes = np.empty(len(numbers), object)
    for label, number in numbers.items():
        classes[number] = label
    check_objects(classes, name, values)
    return Coded(codes, classes)


def check_objects(found: np.ndarray, name: str, values: np.ndarray | None = None) -> None:
    """Refuse what is no label among those found: bytes, as scikit-learn does, and what is missing."""
    for place, label in enumerate(found):
        if isinstance(label, bytes):
            raise TypeError(f"{name} has labels of bytes: decode them to text first")
        if label is None or label is getattr(label, "_NA_SENTINEL", None) or label != label:
            rows = found if values is None else values
            row = next(row for row, value in enumerate(rows) if value is label) if values is not None else place
            raise ValueError(f"{name} has {'None' if label is None else 'NaN'} at row {row}")


def contingency_matrix(
    labels_true: Any,
    labels_pred: Any,
    *,
    eps: Any = None,
    sparse: bool = False,
    dtype: Any = np.int64,
    n_threads: int | None = None,
) -> Any:
    """How many rows have each pair of labels: a row per class, a column per cluster, both sorted.

    C[i, j] = sum over rows of [labels_true = class i] [labels_pred = cluster j]; L. Hubert, P. Arabie, "Comparing
    partitions", Journal of Classification 2, 1985.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
        Classes: integers of any size, bools, floats, texts, dates, or other objects with one order.
    labels_pred : array-like of shape (n,)
        Clusters, of the same kind or another.
    eps : float, optional
        A number of at least 0 that is added to every cell of a dense matrix.
    sparse : bool
        Return a `scipy.sparse.csr_matrix`, which holds only cells that are not empty.
    dtype : dtype, default int64
        The type of the counts: bool, integers or floats. Counts that an integer type cannot hold are an error.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    ndarray or scipy.sparse.csr_matrix of shape (n_classes, n_clusters)
        Counts, `eps` added.

    Raises
    ------
    ValueError
        Labels that are missing (NaN, None, NaT), no column, or without one order; lengths that differ; `eps` beside
        `sparse`; an option not allowed; a count that `dtype` cannot hold.
    ImportError
        `sparse` without SciPy.

    Notes
    -----
    No rows give a matrix of shape (0, 0).

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.contingency_matrix(["a", "a", "b", "b", "c"], [0, 1, 2, 1, 0])
    array([[1, 1, 0],
           [0, 1, 1],
           [1, 0, 0]])
    """
    inputs.check_flag(sparse, "sparse")
    if eps is not None:
        if not isinstance(eps, Real) or not 0 <= float(eps) < np.inf:
            raise inputs.OptionError(f"eps must be a number of at least 0, or None; found {eps!r}")
        if sparse:
            raise ValueError("eps must be None with sparse=True: empty cells are not held")
    wanted = np.dtype(dtype)
    if wanted.kind not in "biufc":
        raise inputs.OptionError(f"dtype must be a type of numbers; found {wanted}")
    table = count_labels(labels_true, labels_pred, n_threads=n_threads, warn=False)
    if wanted.kind in "iu" and wanted.itemsize < 8:
        most = int(table.counts.max(initial=0))
        if most > np.iinfo(wanted).max:
            raise ValueError(f"dtype {wanted} cannot hold a count of {most}")
    rows, columns = places_of(table.classes)[table.rows], places_of(table.clusters)[table.columns]
    shape = table.classes.shape[0], table.clusters.shape[0]
    counts = table.counts.astype(wanted, copy=False)
    if sparse:
        return sparse_matrix(counts, rows, columns, shape)
    matrix = np.zeros(shape, wanted)
    matrix[rows, columns] = counts
    return matrix if eps is None else matrix + eps


def places_of(labels: np.ndarray) -> np.ndarray:
    """The place of each label among the sorted."""
    order = labels.argsort()
    places = np.empty(order.shape[0], np.int64)
    places[order] = np.arange(order.shape[0])
    return places


def sparse_matrix(counts: np.ndarray, rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> Any:
    try:
        from scipy.sparse import csr_matrix
    except ImportError:
        raise ImportError("contingency_matrix with sparse=True needs SciPy: pip install scipy") from None
    matrix = csr_matrix((counts, (rows, columns)), shape=shape)
    matrix.sort_indices()
    return matrix
