"""Files of segments, a line each: lines are found once, and read and decoded block by block when they are needed.

Of a file only the place of every MARKED_LINES-th line is kept in memory (of every line, where lines are LONG), so that
any block of lines is one read. Lines end at newlines and nowhere else: what Python's own splitlines takes for one
(U+2028, U+0085, a form feed) is text, or a file of translations would have more segments than its source. Bytes become
code points in a kernel; no string is made of them but where texts are lower-cased, which is Python's to say.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import Any, NamedTuple, NoReturn, overload

import numpy as np

from fastmetrics.metrics.text.stored import PIECE_BYTES, Stored, close_when_gone, open_path, open_stream

__all__ = ["TextFile", "read_segments"]

MARKED_LINES = 16
LONG = 1 << 13  # bytes of a line, on average
UTF8_MARK = b"\xef\xbb\xbf"
NEWLINE = ord("\n")
RETURN = ord("\r")

Progress = Callable[[str, int, int | None], None]


class Lines(NamedTuple):
    """Bytes of some lines: line i is data[starts[i] : stops[i]], without what ends it."""

    data: np.ndarray
    starts: np.ndarray
    stops: np.ndarray


class TextFile(Sequence[str]):
    """The lines of a file, as `read_segments` gives it: a sequence of strings that are not in memory.

    Functions of text take it for a list of hypotheses, or for a stream of references.

    Attributes
    ----------
    name : str
        What errors call the file.
    """

    def __init__(self, stored: Stored, name: str, progress: Progress | None = None) -> None:
        self.name = name
        self.close = close_when_gone(self, stored)
        self.stored = stored
        self.progress = progress
        self.done = 0
        self.lock = Lock()
        self.step = MARKED_LINES
        self.marks, self.n_lines = mark_lines(stored, name, self.step, progress)
        if self.mean_length > LONG:
            self.step = 1
            self.marks, self.n_lines = mark_lines(stored, name, self.step, None)

    def __len__(self) -> int:
        return self.n_lines

    @property
    def mean_length(self) -> int:
        """Bytes of a line."""
        return int(self.marks[-1] - self.marks[0]) // max(1, self.n_lines)

    def __repr__(self) -> str:
        return f"TextFile({self.name!r}, {len(self):,} lines)"

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            start, stop, step = place.indices(len(self))
            if step == 1:
                return self.texts(start, stop) if start < stop else []
            return [self[row] for row in range(start, stop, step)]
        row = operator.index(place)
        row += len(self) if row < 0 else 0
        if not 0 <= row < len(self):
            raise IndexError(f"{self.name} has {len(self)} lines: there is none at {place}")
        return self.texts(row, row + 1)[0]

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), MARKED_LINES * self.step):
            yield from self.texts(start, min(start + MARKED_LINES * self.step, len(self)))

    def __enter__(self) -> TextFile:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def texts(self, start: int, stop: int) -> list[str]:
        """Lines start..stop as strings."""
        data, starts, stops = self.lines(start, stop)
        text = data.tobytes()
        try:
            return [text[begin:end].decode() for begin, end in zip(starts.tolist(), stops.tolist(), strict=True)]
        except UnicodeDecodeError:
            self.refuse(start, stop)

    def lines(self, start: int, stop: int, lowercase: bool = False) -> Lines:
        """Lines start..stop, start < stop, as bytes; in lower case where they are UTF-8."""
        first, last = start // self.step, -(-stop // self.step)
        begin, end = int(self.marks[first]), int(self.marks[last])
        text = self.stored.read(begin, end)
        if lowercase:
            text = lowered(text)
        data = np.frombuffer(text, np.uint8)
        stops = np.flatnonzero(data == NEWLINE)
        if not text.endswith(b"\n"):
            stops = np.append(stops, data.shape[0])
        wanted = min(last * self.step, self.n_lines) - first * self.step
        if stops.shape[0] != wanted:
            raise ValueError(f"{self.name} was changed while it was read")
        starts = np.empty_like(stops)
        starts[0] = 0
        starts[1:] = stops[:-1] + 1
        rows = slice(start - first * self.step, stop - first * self.step)
        starts, stops = starts[rows], stops[rows]
        # Without the return of CRLF; before an empty line stands a newline.
        stops = stops - (data[np.maximum(stops, 1) - 1] == RETURN)
        return Lines(data, starts, stops)

    def report(self, n_lines: int) -> None:
        """Tell whoever wants to know that lines were read."""
        if self.progress is not None:
            with self.lock:
                self.done = self.done % len(self) + n_lines
                self.progress(f"scoring {os.path.basename(self.name)}", self.done, len(self))

    def title(self, row: int) -> str:
        return f"{self.name}, line {row + 1}"

    def refuse(self, start: int, stop: int) -> NoReturn:
        """The error for the first of some lines that is no UTF-8."""
        data, starts, stops = self.lines(start, stop)
        for row, (begin, end) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True), start):
            try:
                bytes(data[begin:end]).decode()
            except UnicodeDecodeError as error:
                byte = int(data[begin + error.start])
                hint = ""
                if self.stored.read(0, 2) in (b"\xff\xfe", b"\xfe\xff"):
                    hint = "; the file begins as UTF-16 does: convert it, for example with iconv -f UTF-16 -t UTF-8"
                raise ValueError(
                    f"{self.title(row)}, byte {error.start + 1}: 0x{byte:02x} is no valid UTF-8 ({error.reason}){hint}"
                ) from None
        raise ValueError(f"{self.name} was changed while it was read")


def lowered(text: bytes) -> bytes:
    """In lower case, by Unicode's rules; as it is where it is no UTF-8, which whoever decodes it finds out."""
    if text.isascii():
        return text.lower()
    try:
        return text.decode().lower().encode()
    except UnicodeDecodeError:
        return text


def mark_lines(stored: Stored, name: str, step: int, progress: Progress | None) -> tuple[np.ndarray, int]:
    """Where every step-th line begins and where the file ends; and how many lines there are."""
    first = stored.read(0, len(UTF8_MARK))
    begin = len(UTF8_MARK) if first == UTF8_MARK else 0
    marks = [np.array([begin])]
    n_lines, place, last = 0, begin, b""
    stage = f"reading {os.path.basename(name)}"
    while piece := stored.read(place, place + PIECE_BYTES):
        ends = np.flatnonzero(np.frombuffer(piece, np.uint8) == NEWLINE)
        marks.append(ends[(-n_lines - 1) % step :: step] + (place + 1))
        n_lines += ends.shape[0]
        place += len(piece)
        last = piece[-1:]
        if progress is not None:
            progress(stage, n_lines, None)
    n_lines += last not in (b"\n", b"")
    if progress is not None:
        progress(stage, n_lines, n_lines)
    found = np.concatenate(marks)
    if found[-1] == place:  # a line would begin where the file ends
        found = found[:-1]
    return np.append(found, place), n_lines


def read_segments(
    source: str | os.PathLike[str] | Any, *, name: str | None = None, progress: Progress | None = None
) -> TextFile:
    """Open a file of segments, one a line, for functions of text: larger than memory if need be.

    The result stands for a list of strings wherever hypotheses or streams of references are wanted; lines are read
    again when they are looked at, block by block. Lines end at ``\\n``, and a ``\\r`` before it is dropped; U+2028,
    U+0085 and other separators do not end one. The last line may lack its end. A byte order mark at the beginning of
    the file is passed over; text is UTF-8.

    Parameters
    ----------
    source : str, path-like or binary file object
        The file, plain or compressed by gzip (known by its first bytes, not by its name), or an open one such as
        ``sys.stdin.buffer``. A plain file stays on disk and must not be changed meanwhile; what is compressed or comes
        through a pipe is kept, above 64 MB in a temporary file.
    name : str, optional
        What errors call the file; by default its path.
    progress : callable or None
        Called as ``progress(stage, lines done, lines in all or None)`` while lines are counted, and from the threads
        that look at them.

    Returns
    -------
    file : TextFile
        With ``len``, ``name``, iteration, ``[row]``, ``[start:stop]`` and ``close()``.

    Raises
    ------
    ValueError
        Compressed data is damaged or ends too early. Text that is no valid UTF-8 is an error when it is read: file,
        line and byte are named.
    OSError
        The file cannot be read.

    Notes
    -----
    A file without any byte has no segments; one of a single newline has one, which is empty.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import fastmetrics as fm
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "output.txt").write_text("The cat sat.\\nIt rained.\\n")
    >>> segments = fm.read_segments(folder / "output.txt")
    >>> len(segments), segments[1]
    (2, 'It rained.')
    """
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        return TextFile(open_path(path), name or path, progress)
    if not hasattr(source, "read"):
        raise TypeError(f"source must be a path or a binary file object; found {type(source).__name__}")
    known = name or str(getattr(source, "name", type(source).__name__))
    if isinstance(source.read(0), str):
        raise TypeError(f"{known} is open for text: bytes are needed, as of open(path, 'rb') or sys.stdin.buffer")
    return TextFile(open_stream(source, known), known, progress)
