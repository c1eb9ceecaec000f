"""TREC run and qrels files, read at memory speed: plain or compressed by gzip, whatever their names say.

A file is read and cut into units of whole lines, which threads parse side by side (trecfiles.pyx). Text stays in the
file's bytes; queries and items are spans of them.
"""

from __future__ import annotations

import gzip
import os
import stat
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._kernels import trecfiles
from fastmetrics.metrics.ranking.ids import Texts

if TYPE_CHECKING:
    import pyarrow

    from fastmetrics.metrics.ranking.joined import Arranged

UNIT_BYTES = 1 << 22
GZIP_MAGIC = b"\x1f\x8b"
UTF8_MARK = b"\xef\xbb\xbf"
# So much of a line that is no row is shown.
SHOWN = 120

Progress = Callable[[str, int, int | None], None]


class Format(NamedTuple):
    """What the lines of a kind of file are."""

    parse: Callable[..., None]
    value_type: type
    fields: tuple[str, ...]
    value_place: int
    # What the file may be instead.
    other: str
    n_other_fields: int


RUN = Format(trecfiles.parse_run, np.float64, ("query", "Q0", "item", "rank", "score", "tag"), 4, "qrels", 4)
QRELS = Format(trecfiles.parse_qrels, np.int64, ("query", "iteration", "item", "relevance"), 3, "a run", 6)


class TrecFile:
    """Rows of a TREC file, in the file's order.

    Attributes
    ----------
    path : str
        The file's name.
    query, item : Texts
        Spans of the file's bytes for every row.
    segments : int64 array of shape (n_segments + 1,)
        Where the query changes: rows segments[i] to segments[i + 1] are of query ``segment_query[i]``. A query that
        comes back has several segments.
    segment_query : Texts
        The query of every segment.
    """

    value_name = ""

    def __init__(self, path: str, item: Texts, values: np.ndarray, segments: np.ndarray, segment_query: Texts) -> None:
        self.path = path
        self.item = item
        self.values = values
        self.segments = segments
        self.segment_query = segment_query

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.path!r}, {len(self):,} rows)"

    @property
    def query(self) -> Texts:
        """The query of every row."""
        lengths = np.diff(self.segments)
        data, starts, stops = self.segment_query
        return Texts(data, np.repeat(starts, lengths), np.repeat(stops, lengths))

    def to_arrow(self) -> pyarrow.Table:
        """The rows as an Arrow table of strings and numbers.

        Returns
        -------
        table : pyarrow.Table
            Columns ``query`` and ``item`` (large_string), and ``score`` (float64) or ``relevance`` (int64).

        Raises
        ------
        ValueError
            A query or item is no valid UTF-8; the message names the file and the line.
        ImportError
            pyarrow is not installed.
        """
        import pyarrow

        queries = np.repeat(np.arange(len(self.segments) - 1), np.diff(self.segments))
        columns = {
            "query": self.strings(self.segment_query, queries),
            "item": self.strings(self.item, np.arange(len(self))),
            self.value_name: self.values,
        }
        return pyarrow.table(columns)

    def strings(self, texts: Texts, places: np.ndarray) -> Any:
        """Some of the texts, one after the other, as an Arrow array."""
        import pyarrow

        # Text and what is between two texts take turns, so that starts and stops together are Arrow's offsets.
        offsets = np.stack((texts.starts, texts.stops), axis=1).ravel()
        buffers = [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(texts.data)]
        turns = pyarrow.LargeBinaryArray.from_buffers(pyarrow.large_binary(), len(offsets) - 1, buffers)
        try:
            return turns.take(pyarrow.array(2 * places)).cast(pyarrow.large_string())
        except pyarrow.ArrowInvalid:
            self.refuse_bytes(texts)

    def refuse_bytes(self, texts: Texts) -> NoReturn:
        for start, stop in zip(texts.starts.tolist(), texts.stops.tolist(), strict=True):
            try:
                bytes(texts.data[start:stop]).decode("utf-8")
            except UnicodeDecodeError:
                line = trecfiles.count_newlines(texts.data, 0, start) + 1
                shown = bytes(texts.data[start:stop]).decode("utf-8", "backslashreplace")
                raise ValueError(f"{self.path}, line {line}: {shown!r} is no valid UTF-8") from None
        raise ValueError(f"{self.path} has text that is no valid UTF-8")


class TrecRun(TrecFile):
    """A TREC run, as `read_run` gives it: ``query``, ``item``, ``score`` and ``tag``."""

    value_name = "score"

    def __init__(
        self, path: str, item: Texts, values: np.ndarray, segments: np.ndarray, segment_query: Texts, tag: str
    ) -> None:
        super().__init__(path, item, values, segments, segment_query)
        self.tag = tag

    @property
    def score(self) -> np.ndarray:
        return self.values


class TrecQrels(TrecFile):
    """Relevance judgements, as `read_qrels` gives them: ``query``, ``item`` and ``relevance``."""

    value_name = "relevance"
    # What evaluate_trec makes of the rows, kept for the next run.
    arranged: Arranged | None = None

    @property
    def relevance(self) -> np.ndarray:
        return self.values


def read_run(
    path: str | os.PathLike[str], *, n_threads: int | None = None, progress: Progress | None = None
) -> TrecRun:
    """Read a TREC run file: the items that a system retrieved for every query, with their scores.

    A line is ``query Q0 item rank score tag``, its fields apart by blanks and tabs. The second field and the rank
    are not looked at: the order is that of the scores. Empty lines, lines that begin with ``#`` and a byte order mark
    are passed over; CRLF ends a line as LF does.

    Scores are decimal numbers, rounded as Python's ``float`` does, or ``inf`` and ``-inf``, which order above and below
    all others. The format is that of trec_eval (NIST).

    Parameters
    ----------
    path : str or path-like
        The file, plain or compressed by gzip (known by its first bytes, not by its name).
    n_threads : int or None
        Threads; None: all cores. The result does not depend on it.
    progress : callable or None
        Called as ``progress(stage, rows done, rows in all)`` from the threads that read.

    Returns
    -------
    run : TrecRun
        With ``query`` and ``item`` (spans of the file's bytes), ``score`` (float64), ``tag`` (of the last line, as
        trec_eval shows it), ``path`` and ``to_arrow()``.

    Raises
    ------
    ValueError
        A line has fewer or more than six fields, a score is no number or NaN, the file has no rows, or its
        compressed data is damaged or ends too early. The message names the file, and the line with its text.
    OSError
        The file cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import fastmetrics as fm
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "bm25.run"
    >>> _ = path.write_text("q1 Q0 d3 1 12.5 bm25\\nq1 Q0 d1 2 9.75 bm25\\n")
    >>> run = fm.read_run(path)
    >>> run.tag, run.score
    ('bm25', array([12.5 ,  9.75]))
    """
    name = os.fspath(path)
    lines = Lines(name, RUN, count_threads(n_threads))
    return TrecRun(name, *lines.parse(progress), lines.tag)


def read_qrels(
    path: str | os.PathLike[str], *, n_threads: int | None = None, progress: Progress | None = None
) -> TrecQrels:
    """Read a TREC qrels file: which items were judged for every query, and how relevant they are.

    A line is ``query iteration item relevance``, its fields apart by blanks and tabs. The second field is not looked
    at. Relevance is an integer; negative means that the item was in the pool but not judged. Empty lines, lines that
    begin with ``#`` and a byte order mark are passed over; CRLF ends a line as LF does. The format is that of trec_eval
    (NIST).

    Parameters
    ----------
    path : str or path-like
        The file, plain or compressed by gzip (known by its first bytes, not by its name).
    n_threads : int or None
        Threads; None: all cores. The result does not depend on it.
    progress : callable or None
        Called as ``progress(stage, rows done, rows in all)`` from the threads that read.

    Returns
    -------
    qrels : TrecQrels
        With ``query`` and ``item`` (spans of the file's bytes), ``relevance`` (int64), ``path`` and ``to_arrow()``.

    Raises
    ------
    ValueError
        A line has fewer or more than four fields, a relevance is no integer, the file has no rows, or its
        compressed data is damaged or ends too early. The message names the file, and the line with its text.
    OSError
        The file cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import fastmetrics as fm
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "qrels.txt"
    >>> _ = path.write_text("q1 0 d1 2\\nq1 0 d7 0\\n")
    >>> fm.read_qrels(path).relevance
    array([2, 0])
    """
    name = os.fspath(path)
    return TrecQrels(name, *Lines(name, QRELS, count_threads(n_threads)).parse(progress))


class Lines:
    """The bytes of a file, cut into units of whole lines."""

    tag = ""

    def __init__(self, path: str, form: Format, n_threads: int) -> None:
        self.path = path
        self.form = form
        self.n_threads = n_threads
        self.data, self.size, newlines = load(path, n_threads)
        start = len(UTF8_MARK) if bytes(self.data[: len(UTF8_MARK)]) == UTF8_MARK else 0
        # A unit's lines are those that begin in its bytes; all newlines before it are ends of lines before it.
        edges = range(UNIT_BYTES, len(newlines) * UNIT_BYTES, UNIT_BYTES)
        starts = [trecfiles.line_start(self.data, edge, self.size) for edge in edges]
        before = np.cumsum(newlines).tolist()
        self.bounds = [start, *starts, self.size]
        self.first_rows = [0, *(n + (start > edge) for n, start, edge in zip(before[:-1], starts, edges, strict=True))]
        self.n_lines = before[-1] + int(self.data[self.size - 1] != ord("\n"))

    def parse(self, progress: Progress | None) -> tuple[Texts, np.ndarray, np.ndarray, Texts]:
        """Items, values, segments and their queries."""
        rows = (np.empty(self.n_lines, np.int64), np.empty(self.n_lines, np.int64))
        values = np.empty(self.n_lines, self.form.value_type)
        segments = tuple(np.empty(self.n_lines, np.int64) for _ in range(3))
        n_units = len(self.first_rows)
        states = np.zeros((n_units, trecfiles.N_STATE), np.int64)
        stage = f"reading {Path(self.path).name}"

        def work(unit: int) -> None:
            start, stop = self.bounds[unit : unit + 2]
            first, state = self.first_rows[unit], states[unit]
            self.form.parse(self.data, start, stop, first, *rows, values, *segments, state)
            if state[trecfiles.ERROR]:
                self.refuse(int(state[trecfiles.ERROR]), int(state[trecfiles.BAD_LINE]))
            if state[trecfiles.UNFINISHED]:
                here = slice(first, first + int(state[trecfiles.ROWS]))
                trecfiles.finish_scores(self.data, rows[1][here], values[here])
            if progress is not None:
                progress(stage, int(states[:, trecfiles.ROWS].sum()), self.n_lines)

        for_each(n_units, lambda: work, self.n_threads)
        n_rows = states[:, trecfiles.ROWS]
        if not n_rows.any():
            raise ValueError(f"{self.path} is empty: it has no lines to read")
        _, _, _, _, _, tag_start, tag_stop = states[np.flatnonzero(n_rows)[-1]].tolist()
        self.tag = bytes(self.data[tag_start:tag_stop]).decode("utf-8", "replace")
        starts, stops, values = (self.closed_up(column, n_rows) for column in (*rows, values))
        return Texts(self.data, starts, stops), values, *self.merged(segments, states)

    def closed_up(self, column: np.ndarray, n_rows: np.ndarray) -> np.ndarray:
        """The rows of all units, moved up in place where lines before them were no rows."""
        end = 0
        for first, count in zip(self.first_rows, n_rows.tolist(), strict=True):
            if first > end:
                column[end : end + count] = column[first : first + count]
            end += count
        return column[:end]

    def merged(self, columns: tuple[np.ndarray, ...], states: np.ndarray) -> tuple[np.ndarray, Texts]:
        """Where segments begin and end, and their queries; what begins only because a unit does is no segment."""
        starts, stops, rows = ([] for _ in range(3))
        n_rows = 0
        last = b""
        for first, state in zip(self.first_rows, states.tolist(), strict=True):
            begin, end = first, first + state[trecfiles.SEGMENTS]
            if begin < end:
                if bytes(self.data[columns[0][begin] : columns[1][begin]]) == last:
                    begin += 1
                starts.append(columns[0][begin:end])
                stops.append(columns[1][begin:end])
                rows.append(columns[2][begin:end] + (n_rows - first))
                last = bytes(self.data[columns[0][end - 1] : columns[1][end - 1]])
            n_rows += state[trecfiles.ROWS]
        rows.append(np.array([n_rows]))
        return np.concatenate(rows), Texts(self.data, np.concatenate(starts), np.concatenate(stops))

    def refuse(self, why: int, place: int) -> NoReturn:
        """Name the line that is no row, and say why it is none."""
        line = trecfiles.count_newlines(self.data, 0, place) + 1
        stop = trecfiles.line_start(self.data, place + 1, self.size)
        text = bytes(self.data[place:stop]).decode("utf-8", "backslashreplace").strip()
        fields = text.split()
        names = self.form.fields
        if why in (trecfiles.TOO_FEW_FIELDS, trecfiles.TOO_MANY_FIELDS):
            problem = f"{len(fields)} field{'s' * (len(fields) != 1)} where {len(names)} are wanted ({' '.join(names)})"
            if len(fields) == self.form.n_other_fields:
                problem += f"; {len(fields)} are those of {self.form.other}"
        else:
            wanted = "an integer" if why == trecfiles.NOT_AN_INTEGER else "a number"
            problem = f"the {names[self.form.value_place]} {fields[self.form.value_place]!r} is not {wanted}"
        shown = text if len(text) <= SHOWN else text[:SHOWN] + "…"
        raise ValueError(f"{self.path}, line {line}: {problem}: {shown!r}")


def load(path: str, n_threads: int) -> tuple[np.ndarray, int, list[int]]:
    """The bytes of a file with newlines behind them, their number, and the newlines in every UNIT_BYTES of them."""
    with open(path, "rb") as file:
        status = os.fstat(file.fileno())
        size = status.st_size
        magic = file.read(len(GZIP_MAGIC))
        if magic == GZIP_MAGIC or not stat.S_ISREG(status.st_mode):
            contents = magic + file.read()
            data = decompressed(contents, path) if magic == GZIP_MAGIC else bytearray(contents)
            size = len(data)
            data += b"\n" * trecfiles.PADDING
            text = np.frombuffer(data, np.uint8)
        else:
            text = np.empty(size + trecfiles.PADDING, np.uint8)
            text[size:] = ord("\n")
            data = None
    if size == 0:
        raise ValueError(f"{path} is empty: it has no lines to read")
    newlines = [0] * -(-size // UNIT_BYTES)

    def make_worker() -> Callable[[int], None]:
        def work(unit: int) -> None:
            start, stop = unit * UNIT_BYTES, min((unit + 1) * UNIT_BYTES, size)
            if data is None:
                read_part(path, start, text[start:stop])
            newlines[unit] = trecfiles.count_newlines(text, start, stop)

        return work

    for_each(len(newlines), make_worker, n_threads)
    return text, size, newlines


def read_part(path: str, start: int, out: np.ndarray) -> None:
    """Fill `out` with the file's bytes from `start` on, by a handle of its own: threads read side by side."""
    with open(path, "rb", buffering=0) as file:
        file.seek(start)
        view = memoryview(out.data)
        while view:
            count = file.readinto(view)
            if not count:
                raise ValueError(f"{path} became shorter while it was read")
            view = view[count:]


def decompressed(contents: bytes, path: str) -> bytearray:
    try:
        return bytearray(gzip.decompress(contents))
    except EOFError:
        raise ValueError(f"{path} ends too early: its gzip data is truncated") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path} has damaged gzip data: {error}") from None
