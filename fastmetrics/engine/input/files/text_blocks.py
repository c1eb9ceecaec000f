"""Text files in blocks of whole rows, which several threads parse while the next block is read.

A row ends at a line break. One inside a quoted field is none: a quote opens a field only at its beginning, and a
doubled quote inside is a quote, as Arrow's parser has it. Where every quote stands at the beginning of a field, or
closes one, the quotes before a place tell by their number whether it is inside a field. Otherwise the fields are
walked through one by one, which is slow, and exact too.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from fastmetrics._core.exchange.memory_size import format_size
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics._core.parallel import count_threads, submit
from fastmetrics._kernels.formats.csv_quotes import count_field_quotes

BLOCK_BYTES = 4 << 20  # types are inferred from the first block, and a row is at most as long
LINE_BREAKS = b"\r\n"
MOST_PARSERS = 8  # threads: each has a block in memory, and more parse faster than one thread reads


class Quoting(NamedTuple):
    """How fields of a row are divided. Without a quote, every line break ends a row."""

    delimiter: bytes = b","
    quote: bytes | None = None
    escape: bytes | None = None


class FileBlock(NamedTuple):
    """Whole rows of a file; `number` counts blocks."""

    number: int
    data: Any


def read_blocks(stream: Any, quoting: Quoting) -> Iterator[FileBlock]:
    """The rows of a stream that has `read`. The last row gets a line break if it has none."""
    rest = b""
    number = 0
    while True:
        data = fill_block(stream, rest)
        if len(data) == len(rest):
            break
        end = end_of_rows(data, quoting)
        if end == 0 and len(data) >= BLOCK_BYTES:
            raise LongRowError(number)
        rest = data[end:]
        if end:
            yield FileBlock(number, pa.py_buffer(memoryview(data)[:end]))
            number += 1
    if rest:
        yield FileBlock(number, pa.py_buffer(rest + b"\n"))


def fill_block(stream: Any, rest: bytes) -> bytes:
    """A block that begins with `rest`, which is shorter only at the end of the stream: a pipe gives what it has."""
    parts, size = [rest], len(rest)
    while size < BLOCK_BYTES and (chunk := stream.read(BLOCK_BYTES - size)):
        parts.append(chunk)
        size += len(chunk)
    return b"".join(parts) if len(parts) > 2 or rest else bytes(parts[-1])


class LongRowError(Exception):
    """A row does not fit in a block. `number` is that of its block."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def explain_long_row(rows: int) -> str:
    """The message for a row behind row number `rows`, counted from 1."""
    return (
        f"A row behind row #{rows:,} is longer than {format_size(BLOCK_BYTES)}, the most read at once; is a quote not "
        "closed, or a line break missing?"
    )


def end_of_rows(data: bytes, quoting: Quoting) -> int:
    """Where the last whole row ends; 0 if none does. The data begin with a row."""
    quote, escape = quoting.quote, quoting.escape
    if escape is not None and escape in data:
        return walk_fields(data, quoting)
    if quote is None or quote not in data:
        return last_line_break(data, len(data))
    n_quotes = count_field_quotes(np.frombuffer(data, np.uint8), quote[0], quoting.delimiter[0])
    if n_quotes < 0:
        return walk_fields(data, quoting)
    # A field that is not closed ends no row. Before `limit` all are closed.
    limit = data.rfind(quote) if n_quotes % 2 else len(data)
    while (end := last_line_break(data, limit)) > 0 and data.count(quote, end, limit) % 2:
        limit = data.rfind(quote, 0, end)
    return end


def last_line_break(data: bytes, limit: int) -> int:
    """The place behind the last line break before a limit; 0 if there is none.

    A carriage return at the end may be the first half of a line break.
    """
    newline = data.rfind(b"\n", 0, limit)
    if newline >= 0:
        return newline + 1
    return data.rfind(b"\r", 0, min(limit, len(data) - 1)) + 1


def walk_fields(data: bytes, quoting: Quoting) -> int:
    """As `end_of_rows`, field by field. Between the halves of a line break is an empty row, which Arrow leaves out."""
    end = place = 0
    for field in field_pattern(quoting).finditer(data):
        if field.start() != place:
            break
        place = field.end()
        if field[1] and field[1] in LINE_BREAKS:
            end = place
        if not field[1]:
            break
    return end


def field_pattern(quoting: Quoting) -> re.Pattern[bytes]:
    """A field and what ends it: a delimiter, a line break, or the end of the data."""
    delimiter = re.escape(quoting.delimiter)
    escape = b"" if quoting.escape is None else re.escape(quoting.escape)
    pair = b"" if quoting.escape is None else b"|" + escape + rb"[\s\S]"
    plain = rb"(?:[^" + delimiter + escape + rb"\r\n]" + pair + rb")*+"
    if quoting.quote is None:
        return re.compile(plain + rb"(" + delimiter + rb"|[\r\n]|\Z)")
    quote = re.escape(quoting.quote)
    quoted = quote + rb"(?:[^" + quote + escape + rb"]|" + quote + quote + pair + rb")*+" + quote
    # A quote that is not closed makes a field that does not match: the walk ends there.
    first = rb"(?:" + quoted + rb"|(?!" + quote + rb"))"
    return re.compile(first + plain + rb"(" + delimiter + rb"|[\r\n]|\Z)")


# ------------------------------------------------------------------------------------------------------------ parsing


def parse_blocks(
    blocks: Iterator[FileBlock], parse: Callable[[FileBlock], pa.Table], n_threads: int | None, use_threads: bool
) -> Iterator[tuple[FileBlock, pa.Table | Exception]]:
    """Each block with its table, or with the error of its parser, in order; a few blocks wait in memory."""
    if not use_threads:
        yield from ((block, attempt(parse, block)) for block in blocks)
        return
    from concurrent.futures import ThreadPoolExecutor

    threads = min(count_threads(n_threads), MOST_PARSERS)
    pending: deque[Any] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="fastmetrics-parse") as pool:
        try:
            for block in blocks:
                pending.append((block, submit(pool, attempt, parse, block)))
                while len(pending) > threads:
                    done, table = pending.popleft()
                    yield done, table.result()
                    del done, table
            while pending:
                done, table = pending.popleft()
                yield done, table.result()
        finally:
            pool.shutdown(cancel_futures=True)


def attempt(parse: Callable[[FileBlock], pa.Table], block: FileBlock) -> pa.Table | Exception:
    """The table of a block, or the error: errors of earlier blocks, or of the reader, come first."""
    try:
        return parse(block)
    except (pa.ArrowException, ValueError) as error:
        return error
