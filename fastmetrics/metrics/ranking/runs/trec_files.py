"""Reads TREC run and qrels files, plain or compressed by gzip, whatever their names.

A file is read and cut into chunks of whole lines, which threads parse in parallel (`_kernels/formats/trec_files.pyx`).
Text is not copied: queries and items are spans of the file's bytes.
"""

from __future__ import annotations

import gzip
import io
import os
import stat
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from fastmetrics._core.calls.missing_files import open_to_read
from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.exchange.memory_size import default_memory_limit, format_size
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.optional_imports import pyarrow
from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._core.results.table_columns import TableColumn
from fastmetrics._core.results.table_rows import ReadByName, refuse_place
from fastmetrics._kernels.formats import trec_files
from fastmetrics.metrics.ranking.lists.ids import TextIds

if TYPE_CHECKING:
    from fastmetrics.metrics.ranking.runs.join import RowsByQuery

__all__ = ["TrecQrels", "TrecRun", "read_qrels", "read_run"]

CHUNK_BYTES = 1 << 22
GZIP_MAGIC = b"\x1f\x8b"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
MOST_SHOWN = 120  # characters of a bad line in an error message

Progress = Callable[[str, int, int | None], None]


class TrecFormat(NamedTuple):
    """The format of the lines of a run or of qrels."""

    value_type: type
    fields: tuple[str, ...]
    value_field: int  # index of the score or relevance
    other: str  # the other kind of file, named if a line has its number of fields
    n_other_fields: int


RUN = TrecFormat(np.float64, ("query", "Q0", "item", "rank", "score", "tag"), 4, "qrels", 4)
QRELS = TrecFormat(np.int64, ("query", "iteration", "item", "relevance"), 3, "a run", 6)


class TrecFile(ReadByName[np.ndarray]):
    """Rows of a TREC file, in the file's order: a table, which has the columns of `to_arrow`.

    Attributes
    ----------
    path : str
        The file's name.
    query, item : TextIds
        The ids of every row, as spans of the file's bytes.
    segments : int64 array of shape (n_segments + 1,)
        Rows segments[i] to segments[i + 1] belong to query ``segment_query[i]``. A query has several segments if its
        rows are not contiguous.
    segment_query : TextIds
        The query of every segment.
    """

    _value_name = ""

    def __init__(
        self, path: str, item: TextIds, values: np.ndarray, segments: np.ndarray, segment_query: TextIds
    ) -> None:
        self.path = path
        self.item = item
        self.numbers = values
        self.segments = segments
        self.segment_query = segment_query

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, column: str) -> np.ndarray:
        """A column: ids as an array of strings, values as numbers."""
        refuse_place(column, type(self).__name__)
        if column not in self.keys():
            raise KeyError(f"no column {column!r} in {self.path}; it has {', '.join(self.keys())}")
        return self.numbers if column == self._value_name else np.array(getattr(self, column).to_list(), dtype=object)

    def __contains__(self, column: object) -> bool:
        return column in self.keys()

    def keys(self) -> tuple[str, ...]:
        """The names of the columns."""
        return "query", "item", self._value_name

    def _table_columns(self) -> list[TableColumn]:
        return [TableColumn(name, "array", self[name]) for name in self.keys()]

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """The items of every query with their values, as ranx and pytrec_eval take them.

        Returns
        -------
        dict of str to dict
        """
        found: dict[str, dict[str, Any]] = {}
        for query, item, value in self:
            found.setdefault(query, {})[item] = value
        return found

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r}, {len(self):,} rows)"

    @property
    def query(self) -> TextIds:
        """The query of every row."""
        lengths = np.diff(self.segments)
        data, starts, stops = self.segment_query.spans
        return TextIds(data, np.repeat(starts, lengths), np.repeat(stops, lengths))

    def to_arrow(self) -> pyarrow.Table:
        """The rows as an Arrow table of strings and numbers.

        Returns
        -------
        table : pyarrow.Table
            Columns ``query`` and ``item`` (large_string), and ``score`` (float64) or ``relevance`` (int64).

        Raises
        ------
        ValueError
            A query or item is not valid UTF-8. The message names the file and the line.
        ImportError
            pyarrow is not installed.
        """
        queries = np.repeat(np.arange(len(self.segments) - 1), np.diff(self.segments))
        columns = {
            "query": self._to_arrow_strings(self.segment_query, queries),
            "item": self._to_arrow_strings(self.item, np.arange(len(self))),
            self._value_name: self.numbers,
        }
        return pyarrow.table(columns)

    def _to_arrow_strings(self, texts: TextIds, indices: np.ndarray) -> Any:
        """The texts at the indices as an Arrow array of strings."""
        # Starts and stops, interleaved, are offsets of an Arrow array. Its even elements are the texts, its odd ones
        # the bytes between two texts.
        offsets = np.stack((texts.starts, texts.stops), axis=1).ravel()
        buffers = [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(texts.data)]
        interleaved = pyarrow.LargeBinaryArray.from_buffers(pyarrow.large_binary(), len(offsets) - 1, buffers)
        try:
            return interleaved.take(pyarrow.array(2 * indices)).cast(pyarrow.large_string())
        except pyarrow.ArrowInvalid:
            self._raise_invalid_utf8(texts)

    def _raise_invalid_utf8(self, texts: TextIds) -> NoReturn:
        """Raise for the first text that is not valid UTF-8."""
        for start, stop in zip(texts.starts.tolist(), texts.stops.tolist(), strict=True):
            try:
                bytes(texts.data[start:stop]).decode("utf-8")
            except UnicodeDecodeError:
                line = trec_files.count_newlines(texts.data, 0, start) + 1
                shown = bytes(texts.data[start:stop]).decode("utf-8", "backslashreplace")
                raise ValueError(f"{self.path}, line {line}: {shown!r} is no valid UTF-8") from None
        raise ValueError(f"{self.path} has text that is no valid UTF-8")


class TrecRun(TrecFile):
    """A TREC run, as `read_run` returns it: ``query``, ``item``, ``score`` and ``tag``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import fastmetrics as fm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "bm25.run")
    ...     _ = path.write_text("q1 Q0 d3 1 12.5 bm25\\nq1 Q0 d1 2 9.75 bm25\\n")
    ...     run = fm.read_run(path)
    ...
    >>> run.tag, run.score.tolist()
    ('bm25', [12.5, 9.75])
    """

    _value_name = "score"

    def __init__(
        self, path: str, item: TextIds, values: np.ndarray, segments: np.ndarray, segment_query: TextIds, tag: str
    ) -> None:
        super().__init__(path, item, values, segments, segment_query)
        self.tag = tag

    @property
    def score(self) -> np.ndarray:
        return self.numbers


class TrecQrels(TrecFile):
    """Relevance judgments, as `read_qrels` returns them: ``query``, ``item`` and ``relevance``.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import fastmetrics as fm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "qrels.txt")
    ...     _ = path.write_text("q1 0 d1 2\\nq1 0 d7 0\\n")
    ...     qrels = fm.read_qrels(path)
    ...
    >>> len(qrels), qrels.relevance.tolist()
    (2, [2, 0])
    """

    _value_name = "relevance"
    # The rows grouped by query, which evaluate_trec stores for further runs.
    _rows_by_query: RowsByQuery | None = None

    @property
    def relevance(self) -> np.ndarray:
        return self.numbers


@answers_unknown
def read_run(
    path: str | os.PathLike[str], *, n_threads: int | None = None, progress: Progress | None = None
) -> TrecRun:
    """Read a TREC run file: the items that a system retrieved for every query, with their scores.

    A line is ``query Q0 item rank score tag``, with fields separated by blanks and tabs. The second field and the rank
    are not used: items are ordered by score. Text behind the tag, empty lines, lines that begin with ``#`` and a byte
    order mark are ignored. Lines end with LF or CRLF.

    Scores are decimal numbers, rounded as by Python's ``float``, or ``inf`` and ``-inf``, which rank above and below
    all others. The format is that of trec_eval (NIST).

    Parameters
    ----------
    path : str or path-like
        The file, plain or compressed by gzip (known by its first bytes, not by its name).
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.
    progress : callable, optional
        Called as ``progress(stage, rows done, rows in all)`` from the threads that read.

    Returns
    -------
    run : TrecRun
        A table of ``query``, ``item`` and ``score`` (float64); also ``tag`` (that of the last line, as in trec_eval),
        ``path``, and ``to_dict()``, which has the items of every query.

    Raises
    ------
    ValueError
        A line has fewer than six fields, a score is not a number or is NaN, the file has no rows, or its compressed
        data is damaged or truncated. The message names the file, and the line with its text.
    OSError
        The file cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import fastmetrics as fm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "bm25.run")
    ...     _ = path.write_text("q1 Q0 d3 1 12.5 bm25\\nq1 Q0 d1 2 9.75 bm25\\n")
    ...     run = fm.read_run(path)
    >>> run.tag, run.score
    ('bm25', array([12.5 ,  9.75]))
    """
    name = os.fspath(path)
    lines = TrecLines(name, RUN, count_threads(n_threads))
    return TrecRun(name, *lines.parse(progress), lines.tag)


@answers_unknown
def read_qrels(
    path: str | os.PathLike[str], *, n_threads: int | None = None, progress: Progress | None = None
) -> TrecQrels:
    """Read a TREC qrels file: which items were judged for every query, and how relevant they are.

    A line is ``query iteration item relevance``, with fields separated by blanks and tabs. The second field is not
    used. Relevance is an integer; a negative one means that the item was in the pool but not judged. Empty lines, lines
    that begin with ``#`` and a byte order mark are ignored. Lines end with LF or CRLF. The format is that of trec_eval
    (NIST).

    Parameters
    ----------
    path : str or path-like
        The file, plain or compressed by gzip (known by its first bytes, not by its name).
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.
    progress : callable, optional
        Called as ``progress(stage, rows done, rows in all)`` from the threads that read.

    Returns
    -------
    qrels : TrecQrels
        A table of ``query``, ``item`` and ``relevance`` (int64); also ``path``, and ``to_dict()``, which has the items
        of every query.

    Raises
    ------
    ValueError
        A line does not have four fields, a relevance is not an integer, the file has no rows, or its compressed data is
        damaged or truncated. The message names the file, and the line with its text.
    OSError
        The file cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import fastmetrics as fm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "qrels.txt")
    ...     _ = path.write_text("q1 0 d1 2\\nq1 0 d7 0\\n")
    ...     qrels = fm.read_qrels(path)
    >>> qrels.relevance
    array([2, 0])
    """
    name = os.fspath(path)
    return TrecQrels(name, *TrecLines(name, QRELS, count_threads(n_threads)).parse(progress))


class TrecLines:
    """The bytes of a file, cut into chunks of whole lines, and the rows parsed from them."""

    tag = ""

    def __init__(self, path: str, line_format: TrecFormat, n_threads: int) -> None:
        self.path = path
        self.line_format = line_format
        self.n_threads = n_threads
        self.data, self.size, newlines = read_bytes(path, n_threads)
        start = len(BYTE_ORDER_MARK) if bytes(self.data[: len(BYTE_ORDER_MARK)]) == BYTE_ORDER_MARK else 0
        # A chunk has the lines that begin in its bytes. The newlines before it end the lines before it.
        edges = range(CHUNK_BYTES, len(newlines) * CHUNK_BYTES, CHUNK_BYTES)
        starts = [trec_files.line_start(self.data, edge, self.size) for edge in edges]
        before = np.cumsum(newlines).tolist()
        self.bounds = [start, *starts, self.size]
        self.first_rows = [0, *(n + (start > edge) for n, start, edge in zip(before[:-1], starts, edges, strict=True))]
        self.n_lines = before[-1] + int(self.data[self.size - 1] != ord("\n"))

    def parse(self, progress: Progress | None) -> tuple[TextIds, np.ndarray, np.ndarray, TextIds]:
        """Parse all chunks: the items, the values, the segments, and the query of each segment."""
        rows = (np.empty(self.n_lines, np.int64), np.empty(self.n_lines, np.int64))
        values = np.empty(self.n_lines, self.line_format.value_type)
        segments = tuple(np.empty(self.n_lines, np.int64) for _ in range(3))
        n_chunks = len(self.first_rows)
        states = np.zeros((n_chunks, trec_files.N_STATE), np.int64)
        stage = f"reading {Path(self.path).name}"

        def work(chunk: int) -> None:
            start, stop = self.bounds[chunk : chunk + 2]
            first, state = self.first_rows[chunk], states[chunk]
            trec_files.parse_lines(
                self.data, start, stop, first, *rows, values, segments[0], segments[1], segments[2], state
            )
            if state[trec_files.ERROR]:
                self.raise_bad_line(int(state[trec_files.ERROR]), int(state[trec_files.BAD_LINE]))
            if state[trec_files.UNFINISHED]:
                chunk_rows = slice(first, first + int(state[trec_files.ROWS]))
                trec_files.finish_scores(self.data, rows[1][chunk_rows], values[chunk_rows])
            if progress is not None:
                progress(stage, int(states[:, trec_files.ROWS].sum()), self.n_lines)

        for_each(n_chunks, lambda: work, self.n_threads)
        n_rows = states[:, trec_files.ROWS]
        if not n_rows.any():
            raise ValueError(f"{self.path} is empty: it has no lines to read")
        _, _, _, _, _, tag_start, tag_stop = states[np.flatnonzero(n_rows)[-1]].tolist()
        self.tag = bytes(self.data[tag_start:tag_stop]).decode("utf-8", "replace")
        starts, stops, values = (self.close_gaps(column, n_rows) for column in (*rows, values))
        return TextIds(self.data, starts, stops), values, *self.merge_segments(segments, states)

    def close_gaps(self, column: np.ndarray, n_rows: np.ndarray) -> np.ndarray:
        """The rows of all chunks without gaps: a chunk has fewer rows than lines if lines are empty or comments."""
        end = 0
        for first, count in zip(self.first_rows, n_rows.tolist(), strict=True):
            if first > end:
                column[end : end + count] = column[first : first + count]
            end += count
        return column[:end]

    def merge_segments(self, columns: tuple[np.ndarray, ...], states: np.ndarray) -> tuple[np.ndarray, TextIds]:
        """The edges of all segments and their queries. A segment that goes on in the next chunk is one segment."""
        starts, stops, rows = ([] for _ in range(3))
        n_rows = 0
        last_query = b""
        for first, state in zip(self.first_rows, states.tolist(), strict=True):
            begin, end = first, first + state[trec_files.SEGMENTS]
            if begin < end:
                if bytes(self.data[columns[0][begin] : columns[1][begin]]) == last_query:
                    begin += 1
                starts.append(columns[0][begin:end])
                stops.append(columns[1][begin:end])
                rows.append(columns[2][begin:end] + (n_rows - first))
                last_query = bytes(self.data[columns[0][end - 1] : columns[1][end - 1]])
            n_rows += state[trec_files.ROWS]
        rows.append(np.array([n_rows]))
        return np.concatenate(rows), TextIds(self.data, np.concatenate(starts), np.concatenate(stops))

    def raise_bad_line(self, problem_code: int, start: int) -> NoReturn:
        """Raise for the line at byte `start`: the message has its number, the problem and its text."""
        line = trec_files.count_newlines(self.data, 0, start) + 1
        stop = trec_files.line_start(self.data, start + 1, self.size)
        # Bytes are split at the blanks of ASCII, as the kernel does; a text is also split at other control characters.
        line_bytes = bytes(self.data[start:stop]).strip()
        text = line_bytes.decode("utf-8", "backslashreplace")
        fields = [field.decode("utf-8", "backslashreplace") for field in line_bytes.split()]
        names = self.line_format.fields
        if problem_code in (trec_files.TOO_FEW_FIELDS, trec_files.TOO_MANY_FIELDS):
            problem = f"{len(fields)} field{'s' * (len(fields) != 1)} where {len(names)} are wanted ({' '.join(names)})"
            if len(fields) == self.line_format.n_other_fields:
                problem += f"; {len(fields)} are those of {self.line_format.other}"
        else:
            wanted = "an integer" if problem_code == trec_files.NOT_AN_INTEGER else "a number"
            field = self.line_format.value_field
            problem = f"the {names[field]} {fields[field]!r} is not {wanted}"
        shown = text if len(text) <= MOST_SHOWN else text[:MOST_SHOWN] + "…"
        raise ValueError(f"{self.path}, line {line}: {problem}: {shown!r}")


def read_bytes(path: str, n_threads: int) -> tuple[np.ndarray, int, list[int]]:
    """The bytes of a file followed by newlines, their number, and the number of newlines in every CHUNK_BYTES."""
    with open_to_read(path) as file:
        status = os.fstat(file.fileno())
        size = status.st_size
        magic = file.read(len(GZIP_MAGIC))
        if magic == GZIP_MAGIC or not stat.S_ISREG(status.st_mode):
            contents = magic + file.read()
            data = decompress(contents, path) if magic == GZIP_MAGIC else bytearray(contents)
            size = len(data)
            data += b"\n" * trec_files.PADDING
            text = np.frombuffer(data, np.uint8)
        else:
            text = np.empty(size + trec_files.PADDING, np.uint8)
            text[size:] = ord("\n")
            data = None
    if size == 0:
        raise ValueError(f"{path} is empty: it has no lines to read")

    def work(chunk: int) -> int:
        start, stop = chunk * CHUNK_BYTES, min((chunk + 1) * CHUNK_BYTES, size)
        if data is None:
            read_range(path, start, text[start:stop])
        return trec_files.count_newlines(text, start, stop)

    return text, size, for_each(-(-size // CHUNK_BYTES), lambda: work, n_threads)


def read_range(path: str, start: int, out: np.ndarray) -> None:
    """Fill `out` with the file's bytes from `start` on. Each call opens the file, so that threads read in parallel."""
    with open(path, "rb", buffering=0) as file:
        file.seek(start)
        view = memoryview(out.data)
        while view:
            count = file.readinto(view)
            if not count:
                raise ValueError(f"{path} became shorter while it was read")
            view = view[count:]


def decompress(contents: bytes, path: str) -> bytearray:
    """The decompressed bytes: at most half of the memory that is left, for a small file may expand to gigabytes."""
    limit = default_memory_limit()
    data = bytearray()
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(contents)) as file:
            while chunk := file.read(CHUNK_BYTES):
                data += chunk
                if len(data) > limit:
                    raise ValueError(
                        f"{path} expands to more than {format_size(limit)}, half of the memory that is left; "
                        "split the file by queries"
                    )
    except EOFError:
        raise ValueError(f"{path} ends too early: its gzip data is truncated") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path} has damaged gzip data: {error}") from None
    return data
