"""Text files as UTF-8: decompressed, decoded from the encoding that was named, and refused where they are no text.

Arrow decompresses all but gzip: tapes and block devices pad gzip files with zeros, which are no part of it.
"""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.input.files.data_file import DataFile

READ_BYTES = 1 << 18  # of a compressed file, or of one in another encoding
GZIP_MARK = b"\x1f\x8b"
GZIP_FORMAT = 16 + zlib.MAX_WBITS
UTF8 = "utf-8"
NO_UTF8 = "bytes that are not UTF-8"
BEGINNING = 64  # bytes that tell what a file is
# What files of other kinds begin with, and how they are read.
BEGINNINGS = {
    b"\x1f\x8b": "gzip", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ\0": "xz",
    b"PK\x03\x04": "a zip archive", b"\xd0\xcf\x11\xe0": "an Excel workbook", b"PAR1": "Parquet",
    b"ARROW1": "Arrow IPC", b"ORC": "ORC",
}  # fmt: skip
COMPRESSED = "Name it log.csv.{0}, or pipe it: {1} < log.csv | fastmetrics evaluate - ..."
ADVICE = {
    "gzip": COMPRESSED.format("gz", "zcat"),
    "bzip2": COMPRESSED.format("bz2", "bzcat"),
    "zstd": COMPRESSED.format("zst", "zstdcat"),
    "xz": "Pipe it: xzcat < log.csv | fastmetrics evaluate - ...",
    "a zip archive": "Unpack it, or export the sheet of a workbook as CSV",
    "an Excel workbook": "Export its sheet as CSV",
    "Parquet": "Name its format: format='parquet', or --input-format parquet",
    "Arrow IPC": "Name its format: format='arrow', or --input-format arrow",
    "ORC": "Name its format: format='orc', or --input-format orc",
}
ENCODINGS_BY_MARK = {b"\xff\xfe\0\0": "utf-32", b"\0\0\xfe\xff": "utf-32", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}


@contextmanager
def open_text(data_file: DataFile, compression: str | None, encoding: str) -> Iterator[Any]:
    """A stream of a text file as UTF-8, which has `read`. Decompressed first, if `compression` names a codec."""
    is_gzip = compression == "gzip"
    with data_file.open_stream(None if is_gzip else compression) as opened:
        stream: Any = GzipReader(opened) if is_gzip else opened
        yield stream if encoding == UTF8 else TranscodedReader(stream, encoding)


def decompress_beginning(first: bytes, compression: str) -> bytes:
    """What the first bytes of a compressed file tell of its content; nothing if they are too few."""
    opened = pa.BufferReader(first)
    try:
        stream = GzipReader(opened) if compression == "gzip" else pa.CompressedInputStream(opened, compression)
        return bytes(stream.read(1 << 12))
    except (OSError, pa.ArrowException):
        return b""


class GzipReader:
    """The content of a gzip file: of its members, between and behind which there may be zeros."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._member: Any = None
        self._compressed = b""
        self._is_empty = True

    def read(self, size: int) -> bytes:
        """At most `size` bytes; none at the end."""
        while True:
            self._compressed = self._compressed or bytes(self._stream.read(READ_BYTES))
            if self._member is None:
                if not self._compressed:
                    return b""
                self._compressed = self._compressed if self._is_empty else self._compressed.lstrip(b"\0")
                if not self._compressed:
                    continue
                if self._is_empty and not self._compressed.startswith(GZIP_MARK[: len(self._compressed)]):
                    found = self._compressed[:8].hex(" ")
                    raise pa.ArrowInvalid(f"it begins with {found}, and gzip with {GZIP_MARK.hex(' ')}")
                self._member, self._is_empty = zlib.decompressobj(GZIP_FORMAT), False
            if not self._compressed:
                raise pa.ArrowInvalid("Truncated compressed stream")
            try:
                data = self._member.decompress(self._compressed, size)
            except zlib.error as error:
                raise pa.ArrowInvalid(f"the gzip data are damaged, or other data follow them: {error}") from error
            self._compressed = self._member.unconsumed_tail
            if self._member.eof:
                self._compressed, self._member = self._member.unused_data, None
            if data:
                return bytes(data)


class TranscodedReader:
    """A text in another encoding as UTF-8."""

    def __init__(self, stream: Any, encoding: str) -> None:
        self._stream = stream
        self._encoding = encoding
        self._decoder = codecs.getincrementaldecoder(encoding)()
        self._lines = 1

    def read(self, size: int) -> bytes:
        """About `size` bytes; none at the end."""
        while True:
            data = bytes(self._stream.read(min(size, READ_BYTES)))
            try:
                text = self._decoder.decode(data, final=not data)
            except UnicodeError as error:
                raise pa.ArrowInvalid(self._explain(error)) from error
            self._lines += text.count("\n")
            if text or not data:
                return text.encode()

    def _explain(self, error: UnicodeError) -> str:
        line, found = self._lines, ""
        if isinstance(error, UnicodeDecodeError):
            line += error.object[: error.start].decode(self._encoding, "ignore").count("\n")
            found = f" ({error.object[error.start : error.end].hex(' ')})"
        return f"line {line:,} has bytes{found} that are not {self._encoding}: is its encoding another one?"


def check_beginning(data: bytes) -> None:
    """Raise pyarrow.ArrowInvalid if a file that should be text in UTF-8 begins like another kind of file."""
    first = bytes(data[:BEGINNING])
    shown = first[:8].hex(" ")
    if (encoding := encoding_of(first)) is not None:
        raise pa.ArrowInvalid(f"at byte 0 ({shown}) it begins like {describe_encoding(encoding)}")
    if (kind := kind_of_beginning(first)) is not None:
        raise pa.ArrowInvalid(f"at byte 0 it begins like {kind} ({shown}), which is not text. {ADVICE[kind]}")


def kind_of_beginning(first: bytes) -> str | None:
    """The kind of file that begins with these bytes, if it is none of text."""
    if any(byte < 9 or byte > 126 for byte in first[:BEGINNING]):  # a header may begin with the letters PAR1 too
        return next((kind for beginning, kind in BEGINNINGS.items() if first.startswith(beginning)), None)
    return None


def describe_encoding(encoding: str) -> str:
    """What a file in another encoding is, and what to type."""
    given = f"format_options={{'encoding': {encoding!r}}}, or --encoding {encoding}"
    return f"a text in {encoding.upper()}. Name its encoding: {given}"


def encoding_of(first: bytes) -> str | None:
    """The encoding of a text that begins with a mark, or whose characters are mostly ASCII, with zeros between them."""
    first = first[:BEGINNING]
    found = next((own for mark, own in ENCODINGS_BY_MARK.items() if first.startswith(mark)), None)
    if found is None and len(first) > 3:
        pairs = len(first) // 2
        for own, zeros in (("utf-16-le", first[1::2]), ("utf-16-be", first[::2])):
            if zeros.count(0) > pairs // 2 and first.count(0) <= pairs:
                found = own
    return found


def explain_bytes(data: bytes, line: int) -> str | None:
    """The first bytes of data that are not UTF-8, with their line and what to type; None if all are.

    The data begin with the line number `line`.
    """
    try:
        data.decode()
    except UnicodeDecodeError as error:
        start = data.rfind(b"\n", 0, error.start) + 1
        line += data.count(b"\n", 0, start)
        shown = data[max(start, error.start - 20) : error.end + 10].partition(b"\n")[0].rstrip(b"\r")
        return (
            f"line {line:,} has {NO_UTF8} at its byte {error.start - start}: {shown!r}. Name its encoding, "
            "such as format_options={'encoding': 'latin-1'}, or --encoding latin-1"
        )
    return None
