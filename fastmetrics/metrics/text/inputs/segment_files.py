"""`read_segments`: files with one segment per line. Lines are indexed once, then read and decoded block by block.

Memory holds the position of every LINES_PER_MARK-th line only (of every line, if lines are LONG_LINE_BYTES long on
average), so that any block of lines is one read. Lines end at newlines and nowhere else. Python's splitlines also ends
them at U+2028, U+0085 and form feeds: a file of translations would then have more segments than its source. A kernel
decodes bytes to code points. Strings are made only to lower-case texts, because lower case follows Python's rules.
"""

from __future__ import annotations

import operator
import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import Any, NoReturn, overload

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.metrics.text.inputs.random_access_bytes import (
    CHUNK_BYTES,
    RandomAccessBytes,
    open_path,
    open_stream,
)

__all__ = ["TextFile", "read_segments"]

LINES_PER_MARK = 16
MAX_LINE_BYTES = 1 << 28
LONG_LINE_BYTES = 1 << 13  # mean bytes per line from which on every line is marked
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
NEWLINE = ord("\n")
CARRIAGE_RETURN = ord("\r")

Progress = Callable[[str, int, int | None], None]


class LineSpans(NamedTuple):
    """Bytes of some lines: line i is data[starts[i] : stops[i]], without its line ending."""

    data: np.ndarray
    starts: np.ndarray
    stops: np.ndarray


class TextFile(Sequence[str]):
    """The lines of a file opened by `read_segments`: a sequence of strings that are read from the file when needed.

    Text functions accept it in place of a list of hypotheses, or of a stream of references.

    Attributes
    ----------
    name : str
        The file's name in error messages.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import fastmetrics as fm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "output.txt")
    ...     _ = path.write_text("The cat sat.\\nIt rained.\\n")
    ...     segments = fm.read_segments(path)
    ...     lines = list(segments)
    ...
    >>> lines
    ['The cat sat.', 'It rained.']
    """

    def __init__(self, content: RandomAccessBytes, name: str, progress: Progress | None = None) -> None:
        self.name = name
        # Closes the content earlier than the garbage collector, which closes it with this object.
        self.close: Callable[[], Any] = weakref.finalize(self, content.close)
        self.content = content
        self.progress = progress
        self.n_reported = 0
        self.lock = Lock()
        self.lines_per_mark = LINES_PER_MARK
        self.marks, self.n_lines = index_lines(content, name, self.lines_per_mark, progress)
        if self.mean_length > LONG_LINE_BYTES:
            self.lines_per_mark = 1
            self.marks, self.n_lines = index_lines(content, name, self.lines_per_mark, None)

    def __len__(self) -> int:
        return self.n_lines

    @property
    def mean_length(self) -> int:
        """Mean bytes per line."""
        return int(self.marks[-1] - self.marks[0]) // max(1, self.n_lines)

    def __repr__(self) -> str:
        return f"TextFile({self.name!r}, {len(self):,} lines)"

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step == 1:
                return self.texts(start, stop) if start < stop else []
            return [self[row] for row in range(start, stop, step)]
        row = operator.index(index)
        row += len(self) if row < 0 else 0
        if not 0 <= row < len(self):
            raise IndexError(f"{self.name} has {len(self)} lines; found index {index}")
        return self.texts(row, row + 1)[0]

    def __iter__(self) -> Iterator[str]:
        lines_per_read = LINES_PER_MARK * self.lines_per_mark
        for start in range(0, len(self), lines_per_read):
            yield from self.texts(start, min(start + lines_per_read, len(self)))

    def __enter__(self) -> TextFile:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @answers_unknown
    def texts(self, start: int, stop: int) -> list[str]:
        """Return the lines start..stop as strings."""
        data, starts, stops = self.lines(start, stop)
        text = data.tobytes()
        try:
            return [text[begin:end].decode() for begin, end in zip(starts.tolist(), stops.tolist(), strict=True)]
        except UnicodeDecodeError:
            raise_invalid_utf8(self, start, stop)

    @answers_unknown
    def lines(self, start: int, stop: int, lowercase: bool = False) -> LineSpans:
        """Return the lines start..stop, start < stop, as bytes; `lowercase` converts them if they are valid UTF-8."""
        first_mark, last_mark = start // self.lines_per_mark, -(-stop // self.lines_per_mark)
        text = self.content.read(int(self.marks[first_mark]), int(self.marks[last_mark]))
        if lowercase:
            text = lowercase_utf8(text)
        data = np.frombuffer(text, np.uint8)
        stops = np.flatnonzero(data == NEWLINE)
        if not text.endswith(b"\n"):
            stops = np.append(stops, data.shape[0])
        first_line = first_mark * self.lines_per_mark
        n_lines = min(last_mark * self.lines_per_mark, self.n_lines) - first_line
        if stops.shape[0] != n_lines:
            raise ValueError(f"{self.name} was changed while it was read")
        starts = np.empty_like(stops)
        starts[0] = 0
        starts[1:] = stops[:-1] + 1
        rows = slice(start - first_line, stop - first_line)
        starts, stops = starts[rows], stops[rows]
        # Drop the carriage return of CRLF. The byte before an empty line is a newline, so it is not taken for one.
        stops = stops - (data[np.maximum(stops, 1) - 1] == CARRIAGE_RETURN)
        return LineSpans(data, starts, stops)

    @answers_unknown
    def report(self, n_lines: int) -> None:
        """Call `progress` with the number of lines scored so far."""
        if self.progress is not None:
            with self.lock:
                self.n_reported = self.n_reported % len(self) + n_lines
                self.progress(f"scoring {os.path.basename(self.name)}", self.n_reported, len(self))

    @answers_unknown
    def title(self, row: int) -> str:
        """The name of a line in error messages."""
        return f"{self.name}, line {row + 1}"


def raise_invalid_utf8(file: TextFile, start: int, stop: int) -> NoReturn:
    """Raise the error for the first of the lines start..stop that is not valid UTF-8."""
    data, starts, stops = file.lines(start, stop)
    for row, (begin, end) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True), start):
        try:
            bytes(data[begin:end]).decode()
        except UnicodeDecodeError as error:
            byte = int(data[begin + error.start])
            hint = ""
            if file.content.read(0, 2) in (b"\xff\xfe", b"\xfe\xff"):
                hint = "; the file begins like UTF-16: convert it, for example with iconv -f UTF-16 -t UTF-8"
            raise ValueError(
                f"{file.title(row)}, byte {error.start + 1}: 0x{byte:02x} is not valid UTF-8 ({error.reason}){hint}"
            ) from None
    raise ValueError(f"{file.name} was changed while it was read")


def lowercase_utf8(text: bytes) -> bytes:
    """Return the text in lower case by Unicode's rules, or unchanged if it is not UTF-8: decoding it fails later."""
    if text.isascii():
        return text.lower()
    try:
        return text.decode().lower().encode()
    except UnicodeDecodeError:
        return text


def index_lines(
    content: RandomAccessBytes, name: str, lines_per_mark: int, progress: Progress | None
) -> tuple[np.ndarray, int]:
    """Return the starts of every lines_per_mark-th line with the end of the file, and the number of lines."""
    position = len(BYTE_ORDER_MARK) if content.read(0, len(BYTE_ORDER_MARK)) == BYTE_ORDER_MARK else 0
    starts = [np.array([position])]
    n_lines, last_byte, last_start = 0, b"", position
    stage = f"reading {os.path.basename(name)}"
    while chunk := content.read(position, position + CHUNK_BYTES):
        ends = np.flatnonzero(np.frombuffer(chunk, np.uint8) == NEWLINE)
        starts.append(ends[(-n_lines - 1) % lines_per_mark :: lines_per_mark] + (position + 1))
        n_lines += ends.shape[0]
        if ends.shape[0]:
            last_start = position + int(ends[-1]) + 1
        position += len(chunk)
        if position - last_start > MAX_LINE_BYTES:
            raise ValueError(
                f"{name}, line {n_lines + 1}: it is longer than {MAX_LINE_BYTES >> 20} MiB, the most that a line may "
                "have; are line breaks missing?"
            )
        last_byte = chunk[-1:]
        if progress is not None:
            progress(stage, n_lines, None)
    n_lines += last_byte not in (b"\n", b"")
    if progress is not None:
        progress(stage, n_lines, n_lines)
    marks = np.concatenate(starts)
    if marks[-1] == position:  # no line begins at the end of the file
        marks = marks[:-1]
    return np.append(marks, position), n_lines


@answers_unknown
def read_segments(
    source: str | os.PathLike[str] | Any, *, name: str | None = None, progress: Progress | None = None
) -> TextFile:
    """Open a file with one segment per line, for use in text functions. It may be larger than memory.

    The result can be passed in place of a list of strings, as hypotheses or as a stream of references. Lines are read
    block by block when they are needed. Text is UTF-8; a byte order mark at the beginning of the file is skipped. Lines
    end at ``\\n``, and a ``\\r`` before it is dropped. U+2028, U+0085 and other separators do not end a line. The last
    line need not end with a newline.

    Parameters
    ----------
    source : str, path-like or binary file object
        A file, plain or compressed by gzip (recognized by its first bytes, not by its name), or an open one such as
        ``sys.stdin.buffer``. A plain file is read from disk and must not be changed while it is in use. Compressed
        content and content of a pipe is copied: up to 64 MB to memory, beyond that to a temporary file.
    name : str, optional
        The file's name in error messages; by default its path.
    progress : callable or None
        Called as ``progress(stage, lines done, total lines or None)`` while lines are counted, and by the threads that
        score them.

    Returns
    -------
    file : TextFile
        With ``len``, ``name``, iteration, ``[row]``, ``[start:stop]`` and ``close()``.

    Raises
    ------
    ValueError
        Compressed data is damaged or ends too early. Text that is not valid UTF-8 raises when it is read; the message
        names file, line and byte.
    OSError
        The file cannot be read.

    Notes
    -----
    An empty file has no segments. A file of a single newline has one segment, which is empty.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import fastmetrics as fm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "output.txt")
    ...     _ = path.write_text("The cat sat.\\nIt rained.\\n")
    ...     segments = list(fm.read_segments(path))
    >>> len(segments), segments[1]
    (2, 'It rained.')
    """
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        return TextFile(open_path(path), name or path, progress)
    if not hasattr(source, "read"):
        raise TypeError(f"source must be a path or a binary file object; found {type(source).__name__}")
    title = name or str(getattr(source, "name", type(source).__name__))
    if isinstance(source.read(0), str):
        raise TypeError(f"{title} is open in text mode; open it in binary mode: open(path, 'rb') or sys.stdin.buffer")
    return TextFile(open_stream(source, title), title, progress)
