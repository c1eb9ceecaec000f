"""JSON lines: a file of objects, one in each line, read in blocks of whole lines by several threads.

Nested objects are structs. Types come from the first block; a key that a later object lacks is null there, and keys
that only later objects have are no columns.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from typing import Any

from fastmetrics._core.columns.validation import missing_column_text
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.input.batches import first_line
from fastmetrics.engine.input.files.data_file import DataFile
from fastmetrics.engine.input.files.format_options import TextOptions
from fastmetrics.engine.input.files.text_blocks import (
    EmptyTextError,
    FileBlock,
    LongRowError,
    Quoting,
    explain_long_row,
    parse_blocks,
    read_blocks,
)
from fastmetrics.engine.input.files.text_streams import NO_UTF8, explain_bytes, open_text


def parse_json(data: Any, schema: pa.Schema | None, all_columns: bool = False) -> pa.Table:
    from pyarrow import json as arrow_json

    behaviour = "infer" if all_columns else "ignore"
    return arrow_json.read_json(
        pa.BufferReader(data),
        read_options=arrow_json.ReadOptions(use_threads=False, block_size=len(data) + 1),
        parse_options=arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=behaviour),
    )


def open_lines(data_file: DataFile, compression: str | None, options: TextOptions) -> Generator[FileBlock]:
    with open_text(data_file, compression, options.encoding) as stream:
        for block in read_blocks(stream, Quoting()):
            if block.data.to_pybytes().isspace():
                continue
            yield block


def inspect_json(data_file: DataFile, compression: str | None, options: TextOptions) -> tuple[pa.Schema, int | None]:
    blocks = open_lines(data_file, compression, options)
    given = pa.schema(list(options.column_types.items())) if options.column_types else None
    try:
        first = next(blocks, None)
        if first is None:
            raise EmptyTextError("the file is empty")
        check_lines(first.data)
        try:
            schema = parse_json(first.data, None).schema
            names = schema.names
            for column in options.column_types:
                if column not in names:
                    missing = missing_column_text(column, str(data_file), names)
                    raise ValueError(f"format_options: column_types: {missing}")
            return (schema if given is None else parse_json(first.data, given, all_columns=True).schema), None
        except UnicodeDecodeError as error:  # a key
            raise pa.ArrowInvalid(explain_bytes(first.data.to_pybytes(), 1) or str(error)) from error
        except pa.ArrowException as error:
            raise explain_error(error, first.data, given, 0) from error
    except LongRowError as error:
        raise pa.ArrowInvalid(explain_long_row(0)) from error
    finally:
        blocks.close()


def find_missing_types(
    data_file: DataFile, compression: str | None, options: TextOptions, columns: list[str]
) -> dict[str, Any]:
    """The types of columns whose values in the first block are all null, from the first block that has a value."""
    found: dict[str, Any] = {}
    blocks = open_lines(data_file, compression, options)
    try:
        for block in blocks:
            schema = parse_json(block.data, None).schema
            for column in columns:
                if column not in found and column in schema.names and not pa.types.is_null(schema.field(column).type):
                    found[column] = schema.field(column).type
            if len(found) == len(columns):
                break
    finally:
        blocks.close()
    return found


def check_lines(data: Any) -> None:
    """Refuse an array of objects, and an object of several lines, with what to type."""
    first = memoryview(data)[:4096].tobytes().lstrip(b"\xef\xbb\xbf \t\r\n")
    if first[:1] == b"[":
        raise pa.ArrowInvalid("it is an array, not one object in each line: convert it with jq -c '.[]'")
    if first[:1] != b"{":
        raise pa.ArrowInvalid("it does not begin with an object: JSON lines have one object in each line")
    line = first.partition(b"\n")[0].strip()
    if line == b"{":
        raise pa.ArrowInvalid("an object has several lines: JSON lines have one in each; convert it with jq -c .")


def read_json(
    data_file: DataFile,
    compression: str | None,
    options: TextOptions,
    schema: pa.Schema,
    use_threads: bool,
    n_threads: int | None = None,
) -> Iterator[pa.RecordBatch]:
    """The batches of some columns, each of one block."""

    def parse(block: FileBlock) -> pa.Table:
        table = parse_json(block.data, schema).select(schema.names)
        check_texts(table, block)
        return table

    rows = 0
    try:
        for block, table in parse_blocks(open_lines(data_file, compression, options), parse, n_threads, use_threads):
            if isinstance(table, Exception):
                raise explain_error(table, block.data, schema, rows) from table
            rows += table.num_rows
            yield from table.to_batches()
    except LongRowError as error:
        raise pa.ArrowInvalid(explain_long_row(rows)) from error


def check_texts(table: pa.Table, block: FileBlock) -> None:
    """Raise pyarrow.ArrowInvalid for texts that are not UTF-8, which Arrow reads as they are."""
    try:
        for column in table.columns:
            if pa.types.is_string(column.type) or pa.types.is_nested(column.type):
                column.validate(full=True)
    except pa.ArrowInvalid as error:
        raise pa.ArrowInvalid(explain_bytes(block.data.to_pybytes(), block.line) or str(error)) from error


def explain_error(error: Exception, data: Any, schema: pa.Schema | None, rows_before: int) -> Any:
    """Arrow's error with the row, counted from 0, and the first value that does not fit."""
    if NO_UTF8 in str(error):
        return error
    lines = (line for line in data.to_pybytes().split(b"\n") if line.strip())
    for number, line in enumerate(lines, rows_before):
        try:
            row = json.loads(line)
        except ValueError as problem:
            return pa.ArrowInvalid(f"row {number:,} is no JSON: {problem}")
        if not isinstance(row, dict):
            return pa.ArrowInvalid(f"row {number:,} is no object, but {type(row).__name__}")
        for field in schema or ():
            if not fits(row.get(field.name), field.type):
                found = json.dumps(row[field.name])
                return pa.ArrowInvalid(
                    f"column {field.name!r} has {found[:40]} at row {number:,}, but its type is {field.type}, by its "
                    "first values or as given. Values of a column have one type; numbers with fractions are read by "
                    f"format_options={{'column_types': {{{field.name!r}: 'double'}}}}, or --column-type "
                    f"{field.name}=double"
                )
    return type(error)(first_line(error))


def fits(value: Any, data_type: pa.DataType) -> bool:
    """Does Arrow read a value of JSON as this type? Only what is certain is refused."""
    types = pa.types
    if value is None:
        return True
    if types.is_integer(data_type):
        return isinstance(value, int) and not isinstance(value, bool)
    if types.is_floating(data_type):
        return isinstance(value, int | float) and not isinstance(value, bool)
    if types.is_string(data_type) or types.is_temporal(data_type):
        return isinstance(value, str)
    if types.is_boolean(data_type):
        return isinstance(value, bool)
    if types.is_struct(data_type):
        return isinstance(value, dict)
    return not types.is_list(data_type) or isinstance(value, list)
