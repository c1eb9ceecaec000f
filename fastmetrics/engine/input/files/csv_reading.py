"""CSV and TSV files: blocks of whole rows, parsed by several threads, with errors that name the row of the file.

Types are inferred from the first block, unless they are given. A column without a value there gets its type from the
first block that has one.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from itertools import chain
from typing import Any

from fastmetrics._core.columns.validation import missing_column_text
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.input.batches import first_line
from fastmetrics.engine.input.files.data_file import DataFile
from fastmetrics.engine.input.files.format_options import TextOptions
from fastmetrics.engine.input.files.text_blocks import (
    FileBlock,
    LongRowError,
    QuoteError,
    explain_long_row,
    is_number,
    parse_blocks,
    read_blocks,
)

ROW = re.compile(r"Row #(\d+)")
BAD_VALUE = re.compile(
    r"In CSV column #(\d+): (?:Row #(\d+): )?CSV conversion error to ([^:]+): invalid value '(.*)'", re.DOTALL
)
SHOWN = 40  # characters of a value in messages


def parse_csv(
    data: Any, options: TextOptions, names: list[str] | None = None, schema: pa.Schema | None = None
) -> pa.Table:
    """The rows of a block. Only the first block has a header: `names` are those of the columns of a later one."""
    from pyarrow import csv

    header = options.header
    header_names = list(header) if isinstance(header, tuple) else None
    quote, escape = options.quoting.quote, options.quoting.escape
    convert: dict[str, Any] = {"decimal_point": options.decimal_point}
    if schema is not None:
        convert |= {"include_columns": schema.names, "column_types": schema}
    elif options.column_types:
        convert["column_types"] = dict(options.column_types)
    if options.null_values is not None:
        convert |= {"null_values": list(options.null_values), "strings_can_be_null": True}
    # csv.read_csv takes over the signals of the process, and may lose an interrupt at its end.
    with csv.open_csv(
        pa.BufferReader(data),
        read_options=csv.ReadOptions(
            use_threads=False,
            block_size=len(data) + 1,
            column_names=header_names if names is None else names,
            autogenerate_column_names=header is False and names is None,
        ),
        parse_options=csv.ParseOptions(
            delimiter=options.quoting.delimiter.decode(),
            quote_char=False if quote is None else quote.decode(),
            escape_char=False if escape is None else escape.decode(),
        ),
        convert_options=csv.ConvertOptions(**convert),
    ) as reader:
        return reader.read_all()


def open_blocks(data_file: DataFile, compression: str | None, options: TextOptions) -> Generator[FileBlock]:
    with data_file.open_stream(compression) as stream:
        blocks = read_blocks(stream, options.quoting)
        first = next(blocks, None)
        if first is None:
            raise pa.ArrowInvalid("Empty CSV file")
        yield from chain([first], blocks)


def inspect_csv(data_file: DataFile, compression: str | None, options: TextOptions) -> tuple[pa.Schema, int | None]:
    blocks = open_blocks(data_file, compression, options)
    try:
        first = next(blocks)
        schema = parse_csv(first.data, options).schema
    except LongRowError as error:
        raise pa.ArrowInvalid(explain_long_row(1)) from error
    except QuoteError as error:
        raise pa.ArrowInvalid(str(error)) from error
    finally:
        blocks.close()
    for column in options.column_types:
        if column not in schema.names:
            missing = missing_column_text(column, str(data_file), schema.names)
            raise ValueError(f"format_options: column_types: {missing}")
    return schema, None


def find_missing_types(
    data_file: DataFile, compression: str | None, options: TextOptions, names: list[str], columns: list[str]
) -> dict[str, Any]:
    """The types of columns whose values in the first block are all null, from the first block that has a value."""
    found: dict[str, Any] = {}
    blocks = open_blocks(data_file, compression, options)
    try:
        for block in blocks:
            schema = pa.schema([(column, pa.string()) for column in columns if column not in found])
            texts = parse_csv(block.data, options, names if block.number else None, schema)
            if not any(set(texts[column].unique().to_pylist()) - {"", None} for column in schema.names):
                continue
            inferred = parse_csv(block.data, options, names if block.number else None).schema
            for column in schema.names:
                if not pa.types.is_null(inferred.field(column).type):
                    found[column] = inferred.field(column).type
            if len(found) == len(columns):
                break
    finally:
        blocks.close()
    return found


def read_csv(
    data_file: DataFile,
    compression: str | None,
    options: TextOptions,
    names: list[str],
    schema: pa.Schema,
    use_threads: bool,
    n_threads: int | None = None,
) -> Iterator[pa.RecordBatch]:
    """The batches of some columns, each of one block; `names` are the names of all columns."""

    def parse(block: FileBlock) -> pa.Table:
        return parse_csv(block.data, options, names if block.number else None, schema)

    rows = 0
    has_header = options.header is True
    try:
        for block, table in parse_blocks(open_blocks(data_file, compression, options), parse, n_threads, use_threads):
            if isinstance(table, Exception):
                raise explain_error(table, names, rows + has_header if block.number else 0) from table
            rows += table.num_rows
            yield from table.to_batches()
    except LongRowError as error:
        raise pa.ArrowInvalid(explain_long_row(1 + rows)) from error
    except QuoteError as error:
        raise pa.ArrowInvalid(str(error)) from error


def explain_error(error: Exception, names: list[str], rows_before: int) -> Any:
    """Arrow's error with the row of the file, and for a value of another type with what to type."""
    text = first_line(error)
    bad = BAD_VALUE.search(str(error))
    if bad is not None:
        column, value = names[int(bad[1])], bad[4]
        wanted = "double" if bad[3] != "double" and is_number(value) else "string"
        if bad[3].startswith(("timestamp", "date")):
            wanted = "timestamp" if value[:1].isdigit() else "string"
        where = "" if bad[2] is None else f" at row #{int(bad[2]) + rows_before:,}"
        shown = value if len(value) <= SHOWN else value[:SHOWN] + "..."
        return pa.ArrowInvalid(
            f"column {column!r} has {shown!r}{where}, but its first values have the type {bad[3]}. Give its type: "
            f"format_options={{'column_types': {{{column!r}: {wanted!r}}}}}, or --column-type {column}={wanted}"
        )
    located = ROW.sub(lambda row: f"Row #{int(row[1]) + rows_before:,}", text)
    return type(error)(located)

