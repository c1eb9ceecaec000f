"""The interface of sources: columns by name, batches of a bounded size, a few of them read ahead."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from fastmetrics._core.columns.arrow_columns import plain_batch, plain_column, plain_type
from fastmetrics._core.columns.validation import missing_column_text
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.optional_imports import compute
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics._core.parallel import submit

if TYPE_CHECKING:
    from fastmetrics.engine.expressions.column_tests import ColumnTest

BATCH_ROWS = 131_072
# Batches of a log with a filter have so many times the rows: most filters keep few, and every batch has a fixed cost.
FILTERED_BATCHES = 4
# Batches that one thread decodes and processes have up to so many times the rows, as long as they take few bytes.
OWN_BATCHES = 8
OWN_BATCH_BYTES = 16 << 20
# With a memory limit, those of all threads take at most this part of it. Blocks of rows that are spilled are as large,
# and reading many small pieces back would take longer than what is done with them.
OWN_BATCHES_DIVISOR = 32
UNKNOWN_BYTES = 128  # of a text, list or struct: batches with one stay small
# Limits of a batch with long texts: a row takes far more memory and work than a row of numbers.
TEXT_BATCH_ROWS = 8192
TEXT_BATCH_BYTES = 8 << 20
PLAIN_TEXT_BYTES = 64 << 20  # of a batch whose dictionaries become plain texts
LIST_BATCH_ROWS = 1 << 14  # of a batch with lists of numbers
# Smaller batches are joined: below this size the fixed cost per batch would show.
SMALL_SHARE = 2
SMALL_BATCH_ROWS = BATCH_ROWS // SMALL_SHARE
READ_AHEAD_BATCHES = 2


class MixedKeysError(Exception):
    """A column of keys that was read as integers has another value: it has to be read as texts."""

    def __init__(self, column: str) -> None:
        super().__init__(column)
        self.column = column


class SourcePartition(NamedTuple):
    """Consecutive rows of a source, and the function that reads them as batches."""

    first_row: int
    rows: int
    read: Callable[[], Iterator[pa.RecordBatch]]


class ColumnUses(NamedTuple):
    """How columns are used; sources read them accordingly.

    Attributes
    ----------
    dictionaries
        Those with few different texts may come as dictionaries, which cost less to read and to compare.
    texts
        Long texts, or lists of them: batches get fewer rows, and CSV values are not converted to numbers.
    lists
        Lists, which columns need not have; with `has_long_lists`, batches get fewer rows.
    numbers
        Where one looks like texts, the error names the first value that is no number.
    only_numbers
        Those that are nothing else, such as keys or parts of expressions.
    keys, compared
        Keys of groups, units or slices, and columns of expressions, which may be keys too. In text files, their numbers
        stay what they are: keys come as texts, columns of expressions as decimals.
    """

    dictionaries: frozenset[str] = frozenset()
    texts: frozenset[str] = frozenset()
    lists: frozenset[str] = frozenset()
    has_long_lists: bool = False
    numbers: frozenset[str] = frozenset()
    only_numbers: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()
    compared: frozenset[str] = frozenset()


class Source(ABC):
    """Anything with named columns that is read as record batches.

    Attributes
    ----------
    label : str
        The name of the source in messages.
    column_names : list of str
    rows : int or None
        The number of rows, if it is known before reading.
    uses : ColumnUses
        See `expect`.
    memory_limit : int or None
        The most bytes that a compressed piece of a file may expand to; None: half of the memory that is left.
    """

    label: str
    column_names: list[str]
    rows: int | None = None
    uses = ColumnUses()
    has_filter = False  # does every task of the pass have a filter?
    memory_limit: int | None = None
    n_threads: int | None = None  # the threads that parse text; None: as many as the process may use
    time_zone: str | None = None  # in which expressions count days and hours; None: that of the column
    numbers_rows = True  # are rows numbered in the caller's order, if their number is known?
    reads_once = False  # can it be read only once?
    reads_ahead = False  # does another thread read, if threads may be used?

    def require(self, column: str, argument: str = "columns") -> None:
        """Raise ValueError, naming `argument` and the nearest columns, unless the source has exactly one `column`.

        A field of a struct is a column too: "model.score", unless a column has that name.
        """
        if self.column_names.count(column) == 1:
            return
        root, fields = split_path(column, self.column_names)
        require_column(root, argument, self.label, self.column_names)
        if fields:
            try:
                self._require_field(column, root, fields)
            except ValueError as error:
                raise ValueError(f"{argument}: {error}") from None

    def _require_field(self, column: str, root: str, fields: Sequence[str]) -> None:
        """Raise ValueError if the column `root` is known to have no such field."""
        found = self.type_of(root)
        if found is not None:
            type_of_field(found, root, fields)

    def expect_filters(self, filters: Sequence[Sequence[ColumnTest]]) -> None:  # noqa: B027 - not every source can
        """Expect filters, of which each is a list of tests that hold for every row that it keeps.

        Rows that no filter keeps may be handed out as nulls, for which no test holds. Types of columns are known.
        """

    def type_of(self, column: str) -> pa.DataType | None:
        """The type of a column as batches have it, if it is known before the column is read."""
        found = self._type_of(column)
        return None if found is None else plain_type(found)

    def _type_of(self, column: str) -> pa.DataType | None:
        """As `type_of`, in the form that the source has."""
        return None

    def type_before_reading(self, column: str) -> pa.DataType | None:
        """As `type_of`, also of arrays of NumPy, which are converted when they are read."""
        return self.type_of(column)

    def batches(self, columns: Sequence[str], *, use_threads: bool = True) -> Iterator[pa.RecordBatch]:
        """Read `columns`, in the source's row order.

        Parameters
        ----------
        columns : sequence of str
            The only columns that are read, each once.
        use_threads : bool
            Decode with Arrow's threads and read a few batches ahead. False keeps all work in the calling thread.

        Returns
        -------
        iterator of pyarrow.RecordBatch
            Batches of 1 to `batch_rows` rows, all of one schema: `columns` in the order asked for, each in its plain
            form (`plain_column`). Columns of `only_numbers` may have another type of numbers in every batch.
        """
        distinct = list(dict.fromkeys(columns))
        for column in distinct:
            self.require(column)
        plain = map(plain_batch, self._read_fields(distinct, use_threads))
        batches = resize_batches(plain, self.batch_rows)
        return read_ahead(batches) if use_threads and self.reads_ahead else batches

    def expect(self, uses: ColumnUses) -> None:
        """Expect columns to be used so."""
        self.uses = uses

    def reads_numerals(self, column: str) -> bool:
        """Does a column of keys come as texts, of which some write numbers?"""
        return False

    def expect_mixed_keys(self, column: str) -> None:  # noqa: B027 - other sources know the types of all rows
        """Read a column of keys or of expressions so from now on: a row is no integer of 64 bits."""

    @property
    def batch_rows(self) -> int:
        """The most rows of a batch."""
        if self.uses.texts:
            return min(TEXT_BATCH_ROWS, BATCH_ROWS)
        if self.uses.has_long_lists:
            return min(LIST_BATCH_ROWS, BATCH_ROWS)
        return FILTERED_BATCHES * BATCH_ROWS if self.has_filter else BATCH_ROWS

    def replace_data(self, data: Any) -> bool:
        """Read the rows of `data` from now on, if it has the type and the columns of what was read before.

        None releases the rows. False: nothing was done, and `data` has to be opened.
        """
        return False

    def notes(self) -> list[str]:
        """What a reader of the result should know of the rows that were read."""
        return []

    def locate(self, row: int) -> str:
        """Describe a row, counted from 0 over all batches, for a message to the user."""
        return f"row {row}"

    def partitions(self, columns: Sequence[str]) -> list[SourcePartition]:
        """Partitions that can be read at the same time, in row order; empty if the source cannot be divided.

        Together they hold the rows of ``batches(columns)``, each row once.
        """
        return []

    def _read_fields(self, columns: list[str], use_threads: bool) -> Iterable[pa.RecordBatch]:
        """As `_read`, also of fields of structs. A source that can read single fields does so itself."""
        roots = list(dict.fromkeys(split_path(column, self.column_names)[0] for column in columns))
        batches = self._read(roots, use_threads)
        return batches if roots == columns else (select_fields(batch, columns) for batch in batches)

    @abstractmethod
    def _read(self, columns: list[str], use_threads: bool) -> Iterable[pa.RecordBatch]:
        """Batches of any size."""


def rows_of_own_batches(schema: pa.Schema, memory_limit: int | None, n_threads: int) -> int:
    """The rows of a batch for the thread that decodes it: as many as take OWN_BATCH_BYTES, within limits."""
    row_bytes = sum(bytes_of_value(field.type) for field in schema)
    most_bytes = OWN_BATCH_BYTES
    if memory_limit is not None:
        most_bytes = min(most_bytes, memory_limit // (OWN_BATCHES_DIVISOR * n_threads))
    return min(OWN_BATCHES * BATCH_ROWS, max(BATCH_ROWS, most_bytes // max(1, row_bytes)))


def bytes_of_value(data_type: pa.DataType) -> int:
    """What a value takes: UNKNOWN_BYTES for types without a width."""
    try:
        return max(1, int(data_type.bit_width) // 8)
    except ValueError:
        return UNKNOWN_BYTES


def split_path(column: str, known: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The column that has a field, and the names down to the field; none if a column has the whole name."""
    if column in known or not isinstance(column, str):
        return column, ()
    names = column.split(".")
    for length in range(len(names) - 1, 0, -1):
        root = ".".join(names[:length])
        if root in known:
            return root, tuple(names[length:])
    return column, ()


def type_of_field(data_type: pa.DataType, root: str, fields: Sequence[str]) -> pa.DataType:
    """The type of a field of a struct; raise ValueError if there is none."""
    path = root
    for name in fields:
        if not pa.types.is_struct(data_type):
            raise ValueError(f"column {path!r} has Arrow type {data_type}, which has no field {name!r}")
        known = [field.name for field in data_type]
        if known.count(name) != 1:
            raise ValueError(missing_column_text(name, f"the fields of column {path!r}", known))
        data_type, path = data_type.field(name).type, f"{path}.{name}"
    return data_type


def select_fields(batch: pa.RecordBatch, columns: Sequence[str]) -> pa.RecordBatch:
    """The columns and fields of a batch; a field of a null is null."""
    known = batch.schema.names
    return pa.RecordBatch.from_arrays([field_of_batch(batch, column, known) for column in columns], names=columns)


def field_of_batch(batch: pa.RecordBatch, column: str, known: Sequence[str]) -> pa.Array:
    root, fields = split_path(column, known)
    array = batch.column(known.index(root))
    if not fields:
        return array
    array = plain_column(array)
    type_of_field(array.type, root, fields)
    return compute.struct_field(array, list(fields))


def require_column(column: str, argument: str, where: str, known: list[str]) -> None:
    """Raise ValueError, naming `argument` and the nearest columns, unless exactly one of the columns is `column`."""
    occurrences = known.count(column)
    if occurrences == 0:
        raise ValueError(f"{argument}: {missing_column_text(column, where, known)}")
    if occurrences > 1:
        raise ValueError(f"{argument}: {where} has {occurrences} columns named {column!r}; rename all but one")


def read_ahead(
    batches: Generator[pa.RecordBatch], n_ahead: int = READ_AHEAD_BATCHES
) -> Iterator[pa.RecordBatch]:
    """The same batches, read by another thread a few batches ahead of the caller."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1, thread_name_prefix="fastmetrics-read") as thread:
        pending = deque(submit(thread, next, batches, None) for _ in range(n_ahead))
        try:
            while (batch := pending.popleft().result()) is not None:
                pending.append(submit(thread, next, batches, None))
                yield batch
        finally:
            # The file is closed before control returns, also if the caller stops early.
            thread.shutdown(cancel_futures=True)
            batches.close()


def resize_batches(batches: Iterable[pa.RecordBatch], max_rows: int | None = None) -> Generator[pa.RecordBatch]:
    """Drop empty batches, split batches of more than `max_rows` rows without a copy, and join short neighbors.

    Batches whose dictionaries of texts would be too large as plain texts, which some columns become, are split too.
    """
    most = BATCH_ROWS if max_rows is None else max_rows
    small = min(SMALL_BATCH_ROWS, most // SMALL_SHARE)
    short: list[pa.RecordBatch] = []
    short_rows = short_bytes = 0
    for batch in batches:
        # Bytes count only if long texts are expected: then batches have fewer rows than BATCH_ROWS.
        n_bytes = 0 if most >= BATCH_ROWS else batch.nbytes
        too_long = short_rows + batch.num_rows > most or short_bytes + n_bytes > TEXT_BATCH_BYTES
        if short and (too_long or batch.schema != short[0].schema):
            yield from combine_batches(short)
            short, short_rows, short_bytes = [], 0, 0
        if not short and (batch.num_rows >= small or n_bytes > TEXT_BATCH_BYTES // SMALL_SHARE):
            for start in range(0, batch.num_rows, most):
                yield from split_long_texts(batch.slice(start, most))
        elif batch.num_rows:
            short.append(batch)
            short_rows += batch.num_rows
            short_bytes += n_bytes
    yield from combine_batches(short)


def combine_batches(batches: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Usually one batch; Arrow makes more if strings exceed the 2 GiB of one array."""
    joined = batches if len(batches) < 2 else pa.Table.from_batches(batches).combine_chunks().to_batches()
    return chain.from_iterable(map(split_long_texts, joined))


def split_long_texts(batch: pa.RecordBatch) -> list[pa.RecordBatch]:
    """The parts of a batch in which dictionaries of texts are small enough as plain texts."""
    rows = min((rows_of_texts(column) for column in batch.columns), default=BATCH_ROWS)
    if batch.num_rows <= rows:
        return [batch]
    return [batch.slice(start, rows) for start in range(0, batch.num_rows, rows)]


def rows_of_texts(column: pa.Array) -> int:
    """How many rows of a column surely take at most PLAIN_TEXT_BYTES as plain texts."""
    is_text = pa.types.is_dictionary(column.type) and column.type.value_type in (pa.string(), pa.large_string())
    if not is_text or column.dictionary.nbytes * len(column) <= PLAIN_TEXT_BYTES:
        return max(1, len(column))
    longest = compute.max(compute.binary_length(column.dictionary)).as_py()
    return max(1, PLAIN_TEXT_BYTES // max(1, longest or 0))


def first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
