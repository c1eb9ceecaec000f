"""The contingency table of two partitions of the same rows: the statistic of every metric of two partitions.

A table holds the non-empty cells. Its content does not depend on the order of rows, and no metric may depend on the
order of cells or on the codes of labels.

Columns of integers close together are counted directly; each thread has its own table. Other labels are encoded first,
each column separately. If both columns have so many labels that their table would have more cells than rows, pairs of
codes are partitioned by a hash, and the partitions are counted one after the other in the cache.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, cast, overload

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import categorical, class_labels, validation
from fastmetrics._core.columns.row_blocks import choose_thread_count
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.option_numbers import real_value
from fastmetrics._core.optional_imports import import_extra
from fastmetrics._core.parallel import accumulate, for_each
from fastmetrics._core.undefined import warn_user
from fastmetrics._kernels.classification import label_counts as ranges
from fastmetrics._kernels.clustering import label_cells as kernel
from fastmetrics._kernels.columns import label_encoding as labels_kernel

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    from fastmetrics._core.tables.cell_table import Cells
    from fastmetrics._core.types.arrays import ArrayLike, Floats, Ints, SparseMatrix

__all__ = ["contingency_matrix"]

INT64_TYPES = frozenset("?bBhHiIlq") if np.dtype("l").itemsize == 8 else frozenset("?bBhHiIlLq")
CHUNK_ROWS = 1 << 18
MOST_INTEGER = 2**63 - 1
SMALL_TABLE_CELLS = 1 << 12
MAX_CELLS = 1 << 25  # of the tables of all threads together
MAX_CODES = 1 << 32  # two codes make a key of 64 bits
PARTITION_ROWS = 1 << 13
MAX_PARTITION_BITS = 11
TableArrays = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


class Contingency(NamedTuple):
    """Rows of each pair of labels: cell i counts `counts[i]` rows of class `rows[i]` and cluster `columns[i]`.

    `row_sums` and `column_sums` are the sizes of classes and clusters, none of them 0. `total` is the number of rows, a
    Python integer because its square may exceed int64. Arrays are int64. Cells, classes and clusters are in any order.
    """

    rows: np.ndarray
    columns: np.ndarray
    counts: np.ndarray
    row_sums: np.ndarray
    column_sums: np.ndarray
    total: int
    classes: np.ndarray
    clusters: np.ndarray

    @property
    def n_cells(self) -> int:
        return int(self.counts.shape[0])

    @classmethod
    def of_cells(cls, first: np.ndarray, second: np.ndarray, counts: np.ndarray, total: int) -> Contingency:
        """The table of pairs of integers, each of which occurs once."""
        rows, classes, row_sums = compute_margin(first, counts)
        columns, clusters, column_sums = compute_margin(second, counts)
        return cls(rows, columns, counts, row_sums, column_sums, total, classes, clusters)

    def parts(self) -> Iterator[Contingency]:
        """The cells, a part at a time: all of them are in memory."""
        yield self


class LargeContingency(NamedTuple):
    """A contingency table whose cells do not fit in memory. Its other members are those of `Contingency`.

    `cells()` yields parts of the cells, as labels of classes and of clusters. `classes` and `clusters` are sorted.
    """

    cells: Callable[[], Iterator[Cells]]
    n_cells: int
    row_sums: np.ndarray
    column_sums: np.ndarray
    total: int
    classes: np.ndarray
    clusters: np.ndarray

    def parts(self) -> Iterator[Contingency]:
        """Tables with a part of the cells each, and the sizes of all classes and clusters."""
        for cells in self.cells():
            rows, columns = np.searchsorted(self.classes, cells.first), np.searchsorted(self.clusters, cells.second)
            yield Contingency(rows, columns, cells.counts, *self[2:])


AnyContingency = Contingency | LargeContingency


def compute_margin(labels: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For the labels of cells: their codes, the distinct labels, and the rows of each label."""
    if not labels.shape[0]:
        return labels, labels, labels
    codes, distinct = categorical.encode_numbers(labels)
    sums = np.zeros(distinct.shape[0], np.int64)
    np.add.at(sums, codes, counts)
    return codes.astype(np.int64, copy=False), distinct, sums


def count_contingency(
    labels_true: Any, labels_pred: Any, *, n_threads: int | None = None, warn: bool = True
) -> Contingency:
    """Count two columns of labels of any type. Fractional labels are allowed, with a warning if `warn`."""
    true, pred = read_partition_labels(labels_true, "labels_true"), read_partition_labels(labels_pred, "labels_pred")
    rows = true.values.shape[0]
    validation.check_lengths(rows, pred.values.shape[0], "labels_true", "labels_pred")
    threads = choose_thread_count(rows, n_threads)
    arrays = count_dense(true.values, pred.values, threads) if rows else kernel.TableCounter(0).cells()
    if arrays is None:
        true, pred = floats_as_bits(true, "labels_true"), floats_as_bits(pred, "labels_pred")
    if warn and (true.has_fractions or pred.has_fractions):
        name = "labels_true" if true.has_fractions else "labels_pred"
        warn_user(
            f"{name} has fractions: labels of partitions are compared exactly and expected to be discrete",
            UserWarning,
        )
    if arrays is None:
        arrays = count_sparse(true.values, pred.values, threads)
    cell_rows, cell_columns, counts, row_sums, column_sums, row_labels, column_labels = arrays
    classes, clusters = true.restore(row_labels), pred.restore(column_labels)
    return Contingency(cell_rows, cell_columns, counts, row_sums, column_sums, rows, classes, clusters)


def count_dense(true: np.ndarray, pred: np.ndarray, n_threads: int) -> TableArrays | None:
    """Cells, margins and labels of two columns of integers; None if labels are too many or too far apart."""
    rows = true.shape[0]
    max_cells = max(SMALL_TABLE_CELLS, min(2 * rows, MAX_CELLS // n_threads))
    if rows <= CHUNK_ROWS:
        counter = kernel.TableCounter(max_cells)
        return counter.cells() if counter.add(true, pred, 0, rows) else None

    def count(counter: kernel.TableCounter, chunk: int) -> None:
        if not counter.add(true, pred, chunk * CHUNK_ROWS, min(rows, (chunk + 1) * CHUNK_ROWS)):
            raise TableTooLargeError

    try:
        total, *others = accumulate(-(-rows // CHUNK_ROWS), lambda: kernel.TableCounter(max_cells), count, n_threads)
    except TableTooLargeError:
        return None
    return total.cells() if all(total.merge(other) for other in others) else None


class TableTooLargeError(Exception):
    """A table over the ranges of the labels would have too many cells."""


class EncodedLabels(NamedTuple):
    """A column of integers and the codes of its labels: code_of[value - low], or value - low if `code_of` is None.

    `sums` are the rows of each code, `labels` the label of each code. `values` may be the caller's array, which another
    thread may change meanwhile.
    """

    values: np.ndarray
    low: int
    code_of: np.ndarray | None
    sums: np.ndarray
    labels: np.ndarray

    def codes(self) -> np.ndarray:
        """The column as codes, whose range has no gaps."""
        if self.code_of is None:
            return self.values
        values, codes = self.values.copy(), np.empty(self.values.shape[0], np.int64)
        span = ranges.label_range(values, values, 0, values.shape[0])
        if span is None or span[0] < self.low or span[1] >= self.low + self.width:
            validation.raise_changed()
        labels_kernel.look_up_codes(values, 0, codes.shape[0], self.low, self.code_of.astype(np.int64), codes)
        return codes

    @property
    def width(self) -> int:
        """Values are in the range from low to low + width - 1."""
        return int((self.labels if self.code_of is None else self.code_of).shape[0])


def encode_partition_labels(values: np.ndarray) -> EncodedLabels:
    """Encode a column: by its range if that is no larger than the number of rows, else by a hash table."""
    rows = values.shape[0]
    span = ranges.label_range(values, values, 0, rows)
    if span is None or span[1] - span[0] >= min(max(categorical.WIDE_RANGE, rows), MAX_CODES):
        codes, classes = categorical.encode_numbers(values)
        sums = np.zeros(classes.shape[0], np.int64)
        kernel.count_range(codes, 0, rows, 0, sums)
        return EncodedLabels(codes, 0, None, sums, classes.astype(np.int64, copy=False))
    low, high = span
    sums = np.zeros(high - low + 1, np.int64)
    fits = kernel.count_range(values, 0, rows, low, sums)
    present = sums > 0
    if not fits or not present[0]:
        validation.raise_changed()
    if present.all():
        return EncodedLabels(values, low, None, sums, np.arange(high - low + 1) + low)
    code_of = np.cumsum(present, dtype=np.uint32)
    code_of -= np.uint32(1)
    return EncodedLabels(values, low, code_of, sums[present], np.flatnonzero(present) + low)


def count_sparse(true: np.ndarray, pred: np.ndarray, n_threads: int) -> TableArrays:
    """count_dense for integers of any range: both columns are encoded first and counted by their codes."""
    first, second = for_each(2, lambda: lambda side: encode_partition_labels((true, pred)[side]), n_threads)
    n_cells = first.labels.shape[0] * second.labels.shape[0]
    is_dense = n_cells <= 2 * true.shape[0] + SMALL_TABLE_CELLS
    arrays = count_dense(first.codes(), second.codes(), n_threads) if is_dense else None
    if arrays is not None and [own.shape for own in arrays[5:]] != [first.labels.shape, second.labels.shape]:
        validation.raise_changed()
    cells = count_keys(first, second, n_threads) if arrays is None else arrays[:3]
    return (*cells, first.sums, second.sums, first.labels, second.labels)


def count_keys(
    first: EncodedLabels, second: EncodedLabels, n_threads: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The cells of two encoded columns, by hash partitions of the pairs of codes."""
    rows = first.values.shape[0]
    bits = min(MAX_PARTITION_BITS, (rows // PARTITION_ROWS).bit_length())
    n_ranges = n_threads if bits else 1
    bounds = [rows * i // n_ranges for i in range(n_ranges + 1)]
    sizes = np.zeros((n_ranges, 1 << bits), np.int64)
    columns = first.values, second.values, first.low, second.low
    if bits:
        for_each(
            n_ranges,
            lambda: lambda i: kernel.partition_sizes(*columns, bounds[i], bounds[i + 1], bits, sizes[i]),
            n_threads,
        )
    else:
        sizes[0, 0] = rows
    ends = np.ascontiguousarray(np.cumsum(sizes.T.ravel()).reshape(-1, n_ranges).T)
    offsets = ends - sizes
    starts = [*offsets[0].tolist(), rows]
    keys, counts = np.empty(rows, np.uint64), np.empty(rows, np.int64)

    def scatter(i: int) -> None:
        widths = first.width, second.width
        if not kernel.scatter_keys(*columns, bounds[i], bounds[i + 1], bits, *widths, offsets[i], ends[i], keys):
            validation.raise_changed()

    for_each(n_ranges, lambda: scatter, n_threads)

    def make_worker() -> Callable[[int], int]:
        counter = kernel.KeyCounter()
        return lambda i: counter.count(keys, counts, starts[i], starts[i + 1])

    n_distinct = for_each(1 << bits, make_worker, n_threads)
    cell_starts = [0, *np.cumsum(n_distinct).tolist()]
    out = np.empty((3, cell_starts[-1]), np.int64)

    def list_cells(i: int) -> None:
        stop = starts[i] + n_distinct[i]
        kernel.list_keys(keys, counts, starts[i], stop, cell_starts[i], first.code_of, second.code_of, out)

    for_each(1 << bits, lambda: list_cells, n_threads)
    return out[0], out[1], out[2]


@overload
def contingency_matrix(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, eps: float | None = ..., sparse: Literal[True],
    dtype: DTypeLike = ..., n_threads: int | None = ...,
) -> SparseMatrix: ...  # fmt: skip
@overload
def contingency_matrix(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, eps: None = ..., sparse: Literal[False] = ...,
    dtype: type[np.int64] = ..., n_threads: int | None = ...,
) -> Ints: ...  # fmt: skip
@overload
def contingency_matrix(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, eps: float, sparse: Literal[False] = ...,
    dtype: type[np.int64] | type[np.float64] = ..., n_threads: int | None = ...,
) -> Floats: ...  # fmt: skip
@overload
def contingency_matrix(
    labels_true: ArrayLike, labels_pred: ArrayLike, *, eps: float | None = ..., sparse: Literal[False] = ...,
    dtype: DTypeLike, n_threads: int | None = ...,
) -> NDArray[np.number]: ...  # fmt: skip
@answers_unknown
def contingency_matrix(
    labels_true: ArrayLike,
    labels_pred: ArrayLike,
    *,
    eps: float | None = None,
    sparse: bool = False,
    dtype: DTypeLike = np.int64,
    n_threads: int | None = None,
) -> NDArray[np.number] | SparseMatrix:
    """The number of rows with each pair of labels: one row per class, one column per cluster, both sorted.

    C[i, j] = sum over rows of [labels_true = class i] [labels_pred = cluster j]; L. Hubert, P. Arabie, "Comparing
    partitions", Journal of Classification 2, 1985.

    Parameters
    ----------
    labels_true : array-like of shape (n,)
        Classes: integers of any size, bools, floats, strings, dates, or other objects that can be sorted.
    labels_pred : array-like of shape (n,)
        Clusters. Their type may differ from the type of the classes.
    eps : float, optional
        A number of at least 0 that is added to every cell of a dense matrix.
    sparse : bool
        Return a `scipy.sparse.csr_matrix`, which holds only the non-empty cells.
    dtype : dtype, default int64
        The type of the counts: bool, integers or floats. Counts that an integer type cannot hold are an error.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

    Returns
    -------
    ndarray or scipy.sparse.csr_matrix of shape (n_classes, n_clusters)
        The counts, plus `eps`.

    Raises
    ------
    ValueError
        Missing labels (NaN, None, NaT), labels that are not one column or that cannot be sorted together, different
        lengths, `eps` together with `sparse`, an invalid option, or a count that `dtype` cannot hold.
    ImportError
        `sparse` without SciPy.

    Notes
    -----
    Without rows the matrix has shape (0, 0).

    Examples
    --------
    >>> import fastmetrics as fm
    >>> fm.contingency_matrix(["a", "a", "b", "b", "c"], [0, 1, 2, 1, 0])
    array([[1, 1, 0],
           [0, 1, 1],
           [1, 0, 0]])
    """
    validation.check_flag(sparse, "sparse")
    if eps is not None:
        check_eps(eps, sparse)
    count_dtype = np.dtype(dtype)
    if count_dtype.kind not in "biufc":
        raise validation.OptionError(f"dtype must be a type of numbers; found {count_dtype}")
    table = count_contingency(labels_true, labels_pred, n_threads=n_threads, warn=False)
    if count_dtype.kind in "iu" and count_dtype.itemsize < 8:
        largest = int(table.counts.max(initial=0))
        if largest > np.iinfo(count_dtype).max:
            raise ValueError(f"dtype {count_dtype} cannot hold a count of {largest}")
    rows, columns = sorted_positions(table.classes)[table.rows], sorted_positions(table.clusters)[table.columns]
    shape = table.classes.shape[0], table.clusters.shape[0]
    counts = table.counts.astype(count_dtype, copy=False)
    if sparse:
        return make_sparse_matrix(counts, rows, columns, shape)
    matrix = np.zeros(shape, count_dtype)
    matrix[rows, columns] = counts
    return matrix if eps is None else matrix + (eps if eps <= MOST_INTEGER else float(eps))


def sorted_positions(labels: np.ndarray) -> np.ndarray:
    """The position of each label in sorted order."""
    order = labels.argsort()
    positions = np.empty(order.shape[0], np.int64)
    positions[order] = np.arange(order.shape[0])
    return positions


def check_eps(eps: Any, sparse: bool) -> None:
    """Raise for what cannot be added to every cell."""
    if not 0 <= real_value(eps) < np.inf:
        raise validation.OptionError(f"eps must be a number of at least 0, or None; found {eps!r}")
    if sparse:
        raise ValueError("eps must be None with sparse=True: a sparse matrix does not store empty cells")


def make_sparse_matrix(
    counts: np.ndarray, rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]
) -> SparseMatrix:
    sparse = import_extra("scipy.sparse", "contingency_matrix with sparse=True")
    matrix: Any = sparse.csr_matrix((counts, (rows, columns)), shape=shape)
    matrix.sort_indices()
    return cast("SparseMatrix", matrix)


# ----------------------------------------------------------------------------------------------- labels of any type


class PartitionLabels(NamedTuple):
    """A column of numbers as kernels read it, and a function that turns these numbers (as int64) into labels."""

    values: np.ndarray
    restore: Callable[[np.ndarray], np.ndarray]
    has_fractions: bool = False


def read_partition_labels(values: Any, name: str) -> PartitionLabels:
    """Read one column of labels of any type."""
    if type(values) is np.ndarray and values.ndim == 1 and values.dtype.char in INT64_TYPES:
        return PartitionLabels(validation.contiguous(validation.as_array(values, name)), cast_to(values.dtype))
    if class_labels.is_sparse(values):
        raise validation.InputError(f"{name} must be one column of labels; found a sparse matrix")
    target = class_labels.read_labels(values, name)
    if isinstance(target, categorical.CategoricalColumn):
        return from_categorical(target)
    validation.check_one_dimension(target, name)
    kind = target.dtype.kind
    if target.shape[0] == 0:
        return from_categorical(categorical.CategoricalColumn(np.zeros(0, np.int64), target))
    if kind == "O":
        return from_categorical(encode_objects(target, name))
    if kind == "f":
        return read_floats(target, name)
    if kind in "mM" and np.isnat(target).any():
        raise ValueError(f"{name} has NaT at row {validation.first_bad_row(np.isnat(target))}")
    if kind not in "biumMU":
        class_labels.type_of_target(target, name)
        raise validation.InputError(f"{name} has dtype {target.dtype}: labels must be numbers, texts or dates")
    column = validation.contiguous(target)
    if kind == "U":
        return from_categorical(categorical.encode_text(column))
    if column.dtype.char in INT64_TYPES:
        return PartitionLabels(column, cast_to(column.dtype))
    return PartitionLabels(column.view(np.int64), lambda values: values.view(column.dtype))


def cast_to(dtype: np.dtype) -> Callable[[np.ndarray], np.ndarray]:
    return lambda values: values.astype(dtype, copy=False)


def from_categorical(column: categorical.CategoricalColumn) -> PartitionLabels:
    return PartitionLabels(column.codes, column.classes.__getitem__)


def read_floats(values: np.ndarray, name: str) -> PartitionLabels:
    """A column of floats, which may hold integers. Floats of more than 64 bits are encoded: no kernel reads them."""
    if values.dtype.itemsize <= 8:
        return PartitionLabels(categorical.contiguous(values), cast_to(values.dtype))
    class_labels.has_fractions(values, name)
    classes, codes = np.unique(values, return_inverse=True)
    return PartitionLabels(codes, classes.__getitem__, class_labels.has_fractions(classes, name))


def floats_as_bits(column: PartitionLabels, name: str) -> PartitionLabels:
    """The column as integers: floats with fractions become their bits, after -0.0 is replaced by 0.0.

    NaN and infinities are errors. This is needed only for columns that count_dense did not count.
    """
    floats, restore, _ = column
    if floats.dtype.kind != "f" or ranges.label_range(floats, floats, 0, floats.shape[0]) is not None:
        return column
    fractions = class_labels.has_fractions(floats, name)
    bits = np.dtype(f"i{floats.dtype.itemsize}")
    return PartitionLabels(
        (floats + floats.dtype.type(0)).view(bits),
        lambda values: restore(values.astype(bits, copy=False).view(floats.dtype)),
        fractions,
    )


def encode_objects(values: np.ndarray, name: str) -> categorical.CategoricalColumn:
    """Encode a column of Python objects: strings, or any other objects that can be sorted."""
    if isinstance(values[0], str):
        return categorical.encode_objects(values, name)
    code_of: dict[Any, int] = {}
    try:
        codes = np.fromiter((code_of.setdefault(value, len(code_of)) for value in values), np.int64, values.shape[0])
        sorted(code_of)
    except TypeError as error:
        check_objects(values, name)
        raise validation.InputError(f"{name} has labels without a common order: {error}") from None
    classes = np.fromiter(code_of, object, len(code_of))
    check_objects(classes, name, values)
    return categorical.CategoricalColumn(codes, classes)


def check_objects(labels: np.ndarray, name: str, values: np.ndarray | None = None) -> None:
    """Raise an error for bytes (as scikit-learn does) and for missing labels.

    If `labels` are the distinct labels of `values`, the error names the row in `values`.
    """
    for position, label in enumerate(labels):
        if isinstance(label, bytes):
            raise validation.InputError(f"{name} has labels of bytes: decode them to text first")
        if label is None or label is getattr(label, "_NA_SENTINEL", None) or label != label:
            if values is None:
                row = position
            else:
                row = next(row for row, value in enumerate(values) if value is label)
            raise ValueError(f"{name} has {'None' if label is None else 'NaN'} at row {row}")
