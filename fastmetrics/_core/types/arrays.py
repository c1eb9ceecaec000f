"""What functions accept as columns, matrices, keys and logs: lists, and the protocols of libraries.

A text is a sequence of texts, but no column: `Values` is a sequence that `str` and `bytes` do not match, because their
`__contains__` takes a text alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Protocol, SupportsFloat, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Item = TypeVar("Item", covariant=True)


class Values(Protocol[Item]):
    """A sequence: a list, a tuple, a range, an array.array, a deque; not a text."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Item]: ...

    def __getitem__(self, index: int, /) -> Item: ...

    def __contains__(self, item: object, /) -> bool: ...


class ColumnExpression(Protocol):
    """An expression of polars or pyarrow in place of the name of a column."""

    def is_null(self) -> ColumnExpression: ...

    def __or__(self, other: object, /) -> ColumnExpression: ...


class SupportsArray(Protocol):
    """NumPy arrays, columns of pandas, polars and Arrow, and CPU tensors: what NumPy makes an array of."""

    def __array__(self) -> object: ...


class SupportsArrowArray(Protocol):
    """An Arrow array or batch, of any library."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...


class SupportsArrowStream(Protocol):
    """A table, a data frame or a stream of batches, of any library that speaks Arrow."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class SparseMatrix(Protocol):
    """A sparse matrix or array of SciPy, of any format."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def nnz(self) -> int: ...

    def tocsr(self) -> object: ...

    def toarray(self) -> NDArray[np.float64]: ...


class SupportsRead(Protocol):
    """An open binary file, or any stream of bytes."""

    def read(self, size: int = ..., /) -> bytes: ...


class LazyFrame(Protocol):
    """A lazy frame of polars or narwhals: its columns are computed when they are read."""

    def collect_schema(self) -> object: ...


class SupportsToArrow(Protocol):
    """A scan of Iceberg, a relation of DuckDB."""

    def to_arrow(self) -> object: ...


class SupportsScan(Protocol):
    """A table of Iceberg."""

    def scan(self) -> object: ...


class DeltaTable(Protocol):
    """A table of deltalake."""

    def to_pyarrow_dataset(self) -> object: ...


class QueryResult(Protocol):
    """The result of a query of DuckDB."""

    def fetchall(self) -> object: ...


class HasDataset(Protocol):
    """An index of pycocotools, or one with its attribute."""

    @property
    def dataset(self) -> object: ...


# What functions return.
Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Thresholds: TypeAlias = NDArray[np.float32 | np.float64]  # of the type of the scores

Path: TypeAlias = str | PathLike[str]
Int: TypeAlias = int | np.integer
Label: TypeAlias = bool | int | float | str | np.generic
# A column of any type, or the rows of a matrix.
ArrayLike: TypeAlias = Values[object] | SupportsArray
NumericArrayLike: TypeAlias = Values[SupportsFloat | Values[SupportsFloat] | SupportsArray] | SupportsArray
MatrixLike: TypeAlias = ArrayLike | SparseMatrix
NumericMatrixLike: TypeAlias = NumericArrayLike | SparseMatrix
SupportsArrow: TypeAlias = SupportsArrowStream | SupportsArrowArray
# Keys of several columns are a frame, an Arrow table or a dict of columns.
KeysLike: TypeAlias = ArrayLike | SupportsArrow | Mapping[str, object]
Cutoffs: TypeAlias = Values[Int] | NDArray[np.integer]
# Data frames may have numbers as names of columns.
ColumnName: TypeAlias = str | int | ColumnExpression
Log: TypeAlias = (
    Path
    | SupportsRead
    | SupportsArrow
    | SupportsArray
    | Mapping[str, object]
    | Iterable[object]
    | LazyFrame
    | SupportsToArrow
    | SupportsScan
    | DeltaTable
    | QueryResult
)
RankedRows: TypeAlias = Path | SupportsArrow | Mapping[str, object]
FoundBoxes: TypeAlias = Path | SupportsArrow | Mapping[str, object] | Sequence[Mapping[str, object]] | HasDataset
