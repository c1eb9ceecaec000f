"""What every source has in common: columns by name, batches of a bounded size, a few of them read ahead."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from fastmetrics._core.inputs import no_column

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 131_072
# Of a batch of texts, which take far more memory than numbers and more work a row.
TEXT_ROWS = 8192
TEXT_BATCH_BYTES = 8 << 20
# Smaller batches are gathered: below this size the fixed cost per batch would show.
SMALL_SHARE = 8
SMALL_BATCH_ROWS = BATCH_ROWS // SMALL_SHARE
READ_AHEAD_BATCHES = 2


class Part(NamedTuple):
    """Some consecutive rows of a source: where they begin, how many they are, and how to read them as batches."""

    first_row: int
    rows: int
    read: Callable[[], Iterator[pa.RecordBatch]]


class Source(ABC):
    """Columns with names, read as record batches.

    Attributes
    ----------
    label : str
        What the source is called in error messages.
    column_names : list of str
    rows : int or None
        The number of rows, where it is known before reading.
    dictionaries : frozenset of str
        See `keep_dictionaries`.
    texts : frozenset of str
        See `expect_texts`.
    """

    label: str
    column_names: list[str]
    rows: int | None = None
    dictionaries: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()

    def require(self, column: str, argument: str = "columns") -> None:
        """Raise ValueError, naming `argument` and the nearest columns, unless the source has exactly one `column`."""
        occurrences = self.column_names.count(column)
        if occurrences == 0:
            raise ValueError(f"{argument}: {no_column(column, self.label, self.column_names)}")
        if occurrences > 1:
            raise ValueError(f"{argument}: {self.label} has {occurrences} columns named {column!r}; rename all but one")

    def batches(self, columns: Sequence[str], *, use_threads: bool = True) -> Iterator[pa.RecordBatch]:
        """Read `columns`, in the source's row order.

        Parameters
        ----------
        columns : sequence of str
            The only columns that are read. A name that is given twice comes once.
        use_threads : bool
            Decode with Arrow's threads and read a few batches ahead. False keeps all work in the calling thread.

        Returns
        -------
        iterator of pyarrow.RecordBatch
            Never empty batches, of at most ``BATCH_ROWS`` rows, all of one schema: `columns` in the order asked for.
            Where texts are expected they are shorter.
        """
        wanted = list(dict.fromkeys(columns))
        for column in wanted:
            self.require(column)
        return self._read(wanted, use_threads)

    def keep_dictionaries(self, columns: Sequence[str]) -> None:
        """Columns of few different texts: they may come as dictionaries, which cost less to read and to tell apart."""
        self.dictionaries = frozenset(columns)

    def expect_texts(self, columns: Sequence[str]) -> None:
        """Columns of long texts, or of lists of them: batches are shorter, and what CSV has is not made a number."""
        self.texts = frozenset(columns)

    @property
    def batch_rows(self) -> int:
        """The rows of the longest batch."""
        return min(TEXT_ROWS, BATCH_ROWS) if self.texts else BATCH_ROWS

    def locate(self, row: int) -> str:
        """The row, counted from 0 over all batches, in the user's words."""
        return f"row {row}"

    def parts(self, columns: Sequence[str]) -> list[Part]:
        """The source cut into parts that can be read at the same time, in row order; empty where it cannot be cut.

        Together they hold the rows of ``batches(columns)``, each row once.
        """
        return []

    @abstractmethod
    def _read(self, columns: list[str], use_threads: bool) -> Iterator[pa.RecordBatch]: ...


def read_ahead(batches: Generator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The same batches, made by another thread, a few ahead of the one that the caller works on."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1, thread_name_prefix="fastmetrics-read") as thread:
        pending = deque(thread.submit(next, batches, None) for _ in range(READ_AHEAD_BATCHES))
        try:
            while (batch := pending.popleft().result()) is not None:
                pending.append(thread.submit(next, batches, None))
                yield batch
        finally:
            # Also when the caller stops early: the file is closed before control returns.
            thread.shutdown(cancel_futures=True)
            batches.close()


def resized(batches: Iterable[pa.RecordBatch], most_rows: int | None = None) -> Generator[pa.RecordBatch]:
    """Empty batches dropped, those of more than `most_rows` cut without a copy, short neighbours joined."""
    most = BATCH_ROWS if most_rows is None else most_rows
    small = min(SMALL_BATCH_ROWS, most // SMALL_SHARE)
    short: list[pa.RecordBatch] = []
    short_rows = short_bytes = 0
    for batch in batches:
        # Only where batches are to be shorter than usual are rows so long that bytes count.
        n_bytes = 0 if most >= BATCH_ROWS else batch.nbytes
        if short and (short_rows + batch.num_rows > most or short_bytes + n_bytes > TEXT_BATCH_BYTES):
            yield from _joined(short)
            short, short_rows, short_bytes = [], 0, 0
        if not short and (batch.num_rows >= small or n_bytes > TEXT_BATCH_BYTES // SMALL_SHARE):
            for start in range(0, batch.num_rows, most):
                yield batch.slice(start, most)
        elif batch.num_rows:
            short.append(batch)
            short_rows += batch.num_rows
            short_bytes += n_bytes
    yield from _joined(short)


def _joined(batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """Usually one batch; Arrow makes more where strings exceed the 2 GiB of one array."""
    import pyarrow as pa

    return batches if len(batches) < 2 else pa.Table.from_batches(batches).combine_chunks().to_batches()


def first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
