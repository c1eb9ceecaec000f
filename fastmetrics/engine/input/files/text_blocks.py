"""Text files in blocks of whole rows, which several threads parse while the next block is read.

A row ends at a line break. One inside a quoted field is none: a quote opens a field only at its beginning, and a
doubled quote inside is a quote, as Arrow's parser has it. A quote that is not closed would take all rows up to the next
one for its text, so every quote of a file is checked, also those of columns that are not read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import Any

import numpy as np

from fastmetrics._core.exchange.memory_size import format_size
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics._core.parallel import count_threads, submit
from fastmetrics._kernels.formats.csv_quotes import count_line_breaks, find_end_of_rows
from fastmetrics.engine.input.files.text_streams import check_beginning

BLOCK_BYTES = 4 << 20  # types are inferred from the first block, and a row is at most as long
UTF8_MARK = b"\xef\xbb\xbf"
SHOWN_BYTES = 40  # of a line in messages
MOST_PARSERS = 8  # threads: each has a block in memory, and more parse faster than one thread reads


class Quoting(NamedTuple):
    """How fields of a row are divided. Without a quote, every line break ends a row.

    `is_given`: the user named the quote, so that a field may have lines that look like rows.
    """

    delimiter: bytes = b","
    quote: bytes | None = None
    escape: bytes | None = None
    is_given: bool = False


class FileBlock(NamedTuple):
    """Whole rows of a file; `number` counts blocks, `line` is the first line of the block, counted from 1."""

    number: int
    data: Any
    line: int


def read_blocks(stream: Any, quoting: Quoting) -> Iterator[FileBlock]:
    """The rows of a stream that has `read`. The last row gets a line break if it has none."""
    rest = b""
    number, line = 0, 1
    while True:
        data = fill_block(stream, rest)
        is_last = len(data) == len(rest)
        if is_last and not rest:
            break
        if number == 0 and not rest:
            check_beginning(data)
        data = data + b"\n" if is_last else data
        start = len(UTF8_MARK) if number == 0 and data.startswith(UTF8_MARK) else 0
        end, problem = end_of_rows(data, quoting, start)
        is_full = end == 0 and len(data) >= BLOCK_BYTES
        if problem is not None and (is_last or is_full or problem.kind != NOT_CLOSED):
            raise pa.ArrowInvalid(describe_field(problem, data, quoting, line))
        if is_full:
            raise LongRowError(number)
        if end:
            block = memoryview(data)[:end]
            yield FileBlock(number, pa.py_buffer(block), line)
            number += 1
            line += count_line_breaks(np.frombuffer(block, np.uint8))
        rest = data[end:]


def fill_block(stream: Any, rest: bytes) -> bytes:
    """A block that begins with `rest`, which is shorter only at the end of the stream: a pipe gives what it has."""
    parts, size = [rest], len(rest)
    while size < BLOCK_BYTES and (chunk := stream.read(BLOCK_BYTES - size)):
        parts.append(chunk)
        size += len(chunk)
    return b"".join(parts) if len(parts) > 2 or rest else bytes(parts[-1])


def first_types(
    blocks: Generator[FileBlock], columns: list[str], types_of: Callable[[FileBlock, list[str]], pa.Schema]
) -> dict[str, Any]:
    """The types of columns, each from the first block in which not all its values are null.

    `types_of` has the types of a block, at least of the columns that are still missing unless they have no value.
    """
    found: dict[str, Any] = {}
    with closing(blocks):
        for block in blocks:
            missing = [column for column in columns if column not in found]
            own = types_of(block, missing)
            types = {column: own.field(column).type for column in missing if column in own.names}
            found |= {column: known for column, known in types.items() if not pa.types.is_null(known)}
            if len(found) == len(columns):
                break
    return found


class EmptyTextError(Exception):
    """A text file has no line, which is an error unless it is one of several files."""


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


# Kinds of quoted fields, as the kernel finds them.
NOT_CLOSED, TEXT_BEHIND, LIKE_ROWS = 1, 2, 3


class QuotedField(NamedTuple):
    """A quoted field that is not right: its kind, and the places of its quotes."""

    kind: int
    opened: int
    closed: int


def end_of_rows(data: bytes, quoting: Quoting, start: int = 0) -> tuple[int, QuotedField | None]:
    """Where the last whole row ends, 0 if none does, and the first quoted field that is not right.

    The data begin with a row at `start`. A field that is not closed may go on behind them.
    """
    if quoting.quote is None and quoting.escape is None:
        return last_line_break(data), None
    view = np.frombuffer(data, np.uint8)
    found = np.zeros(3, np.int64)
    quote = -1 if quoting.quote is None else quoting.quote[0]
    escape = -1 if quoting.escape is None or quoting.escape not in data else quoting.escape[0]
    end = 0
    while True:
        end = max(end, find_end_of_rows(view, start, quote, quoting.delimiter[0], escape, found))
        field = QuotedField(*found.tolist()) if found[0] else None
        if field is None or field.kind != LIKE_ROWS:
            return end, field
        if not quoting.is_given and have_numbers_of_rows(data, field, quoting.delimiter):
            return end, field
        start = field.closed + 1


def last_line_break(data: bytes) -> int:
    """The place behind the last line break; 0 if there is none.

    A carriage return at the end may be the first half of a line break.
    """
    newline = data.rfind(b"\n")
    return newline + 1 if newline >= 0 else data.rfind(b"\r", 0, len(data) - 1) + 1


def have_numbers_of_rows(data: bytes, field: QuotedField, delimiter: bytes) -> bool:
    """Do all lines of a quoted field have numbers where its row has numbers, and some?"""
    lines = data[data.rfind(b"\n", 0, field.opened) + 1 : data.find(b"\n", field.closed)].split(b"\n")
    rows = [line.split(delimiter) for line in lines]
    numbers = [place for place, text in enumerate(rows[0]) if is_number(text)]
    return bool(numbers) and all(is_number(row[place]) for row in rows[1:] for place in numbers)


def is_number(text: str | bytes) -> bool:
    """Is a text a number to Arrow? Python takes more for one, such as 1_000."""
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and "_" not in str(text)


def describe_field(field: QuotedField, data: bytes, quoting: Quoting, line: int) -> str:
    """What is wrong with a quoted field, in which line, and what to type. The data begin with the line `line`."""
    shown = data[field.opened : field.opened + SHOWN_BYTES].splitlines()[0].decode(errors="replace")
    advice = "If quotes are characters like others, type quote=None: format_options={'quote': None}, or --quote ''"
    if field.kind == NOT_CLOSED:
        problem = "is not closed, so that the rows behind it would be its text"
    elif field.kind == TEXT_BEHIND:
        problem = f"has text behind the quote that closes it in line {line_at(data, field.closed, line):,}"
    else:
        problem = f"goes on to line {line_at(data, field.closed, line):,}, over lines that look like rows"
        quote = (quoting.quote or b"").decode()
        given = f"format_options={{'quote': {quote!r}}}, or --quote {quote!r}"
        advice += f". If the field has these lines, name its quote: {given}"
    opened = line_at(data, field.opened, line)
    return f"in line {opened:,} the quoted field that begins with {shown!r} {problem}. {advice}"


def line_at(data: bytes, place: int, line: int) -> int:
    """The number of the line of a place in data that begin with the line number `line`."""
    return line + count_line_breaks(np.frombuffer(data, np.uint8, place))


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
    problem: Exception | None = None  # of the reader; errors of earlier blocks come first
    with ThreadPoolExecutor(threads, thread_name_prefix="fastmetrics-parse") as pool:
        try:
            while True:
                try:
                    block = next(blocks, None)
                except (LongRowError, pa.ArrowException, OSError) as error:
                    block, problem = None, error
                if block is not None:
                    pending.append((block, submit(pool, attempt, parse, block)))
                while pending and (block is None or len(pending) > threads):
                    done, table = pending.popleft()
                    yield done, table.result()
                    del done, table
                if block is None:
                    break
        finally:
            pool.shutdown(cancel_futures=True)
    if problem is not None:
        raise problem


def attempt(parse: Callable[[FileBlock], pa.Table], block: FileBlock) -> pa.Table | Exception:
    """The table of a block, or the error: errors of earlier blocks, or of the reader, come first."""
    try:
        return parse(block)
    except (pa.ArrowException, ValueError) as error:
        return error
