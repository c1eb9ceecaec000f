"""CSV and TSV files: blocks of whole rows, parsed by several threads, with errors that name the row of the file.

Types are inferred from the first block, unless they are given. A column without a value there gets its type from the
first block that has one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Generator, Iterator
from contextlib import closing
from itertools import chain
from typing import Any

from fastmetrics._core.optional_imports import compute
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.input.batches import MixedKeysError, first_line
from fastmetrics.engine.input.files.data_file import DataFile
from fastmetrics.engine.input.files.format_options import TextOptions
from fastmetrics.engine.input.files.numerals.numeral_texts import (
    TextKeyColumns,
    as_texts,
    nulls_among_numbers,
    shorten_columns,
)
from fastmetrics.engine.input.files.text_blocks import (
    EmptyTextError,
    FileBlock,
    LongRowError,
    explain_long_row,
    first_types,
    is_number,
    parse_blocks,
    read_blocks,
)
from fastmetrics.engine.input.files.text_streams import explain_bytes, open_text

ROW = re.compile(r"Row #(\d+)")
BAD_VALUE = re.compile(
    r"In CSV column #(\d+): (?:Row #(\d+): )?CSV conversion error to ([^:]+): invalid value '(.*)'", re.DOTALL
)
SHOWN = 40  # characters of a value in messages
NUMBER_TYPES = ("int64", "double", "float")
NULL_MARK = "\\N"
BACKSLASH = b"\\"
OTHER_DELIMITERS = (b";", b"\t", b"|", b",")
FIRST_LINES = 1 << 16  # bytes in which the header and the first row are looked for
DECIMAL_COMMA = re.compile(rb"\d,\d")


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
    else:
        convert["null_values"] = default_null_words()
    if options.quoting.escape == BACKSLASH:
        data = keep_null_marks(data, options.quoting.delimiter)
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
        table = reader.read_all()
    return table if options.null_values is not None else without_null_marks(table)


def default_null_words() -> list[str]:
    """The words that mean null in columns that are no texts: those that Arrow knows, and the mark of exports."""
    from pyarrow import csv

    return [*csv.ConvertOptions().null_values, NULL_MARK]


def keep_null_marks(data: Any, delimiter: bytes) -> Any:
    """The rows with the mark of a null, \\N, escaped: the backslash of a field \\N is none that escapes."""
    text = bytes(data)
    if NULL_MARK.encode() not in text:
        return data
    end = re.escape(delimiter) + rb"\r\n"
    return re.sub(rb"(?<![^" + end + rb"])\\N(?![^" + end + rb"])", rb"\\\\N", text)


def without_null_marks(table: pa.Table) -> pa.Table:
    """The table with nulls for the texts \\N, as MySQL, Hive and Redshift export them."""
    for number, column in enumerate(table.columns):
        if pa.types.is_string(column.type):
            marks = compute.equal(column, NULL_MARK)
            if compute.any(marks).as_py():
                column = compute.if_else(marks, pa.scalar(None, column.type), column)
                table = table.set_column(number, table.field(number), column)
    return table


def read_schema(block: FileBlock, options: TextOptions, names: list[str] | None = None) -> pa.Schema:
    """The types of a block. Bytes that are not UTF-8 are texts too, so that reading them is an error everywhere."""
    try:
        schema = parse_csv(block.data, options, names).schema
        for number, field in enumerate(schema):
            if pa.types.is_binary(field.type) and field.name not in options.column_types:
                schema = schema.set(number, field.with_type(pa.string()))
    except UnicodeDecodeError as error:  # a name
        raise pa.ArrowInvalid(explain_bytes(block.data.to_pybytes(), block.line) or str(error)) from error
    return schema


def check_delimiter(data: Any, options: TextOptions) -> None:
    """Raise pyarrow.ArrowInvalid if the header and the first row are divided, but by another delimiter."""
    delimiter = options.quoting.delimiter
    header, *rows = bytes(memoryview(data)[:FIRST_LINES]).splitlines()[:2]
    if options.is_delimiter_given or options.header is not True or delimiter in header or not rows:
        return
    for other in OTHER_DELIMITERS:
        if other != delimiter and header.count(other) == rows[0].count(other) > 0:
            shown = other.decode()
            given, typed = {"delimiter": shown}, f"--delimiter {shown!r}"
            if other != b"," and DECIMAL_COMMA.search(rows[0]):
                given["decimal_point"] = ","
                typed += " --decimal-point ,"
            raise pa.ArrowInvalid(
                f"Its fields are divided by {shown!r}, not by {delimiter.decode()!r}: format_options={given}, or "
                f"{typed}"
            )


def open_blocks(data_file: DataFile, compression: str | None, options: TextOptions) -> Generator[FileBlock]:
    with open_text(data_file, compression, options.encoding) as stream:
        blocks = read_blocks(stream, options.quoting)
        first = next(blocks, None)
        if first is None:
            raise EmptyTextError("Empty CSV file")
        yield from chain([first], blocks)


def inspect(data_file: DataFile, compression: str | None, options: TextOptions) -> tuple[pa.Schema, int | None]:
    with closing(open_blocks(data_file, compression, options)) as blocks:
        try:
            first = next(blocks)
            check_delimiter(first.data, options)
            return read_schema(first, options), None
        except LongRowError as error:
            raise pa.ArrowInvalid(explain_long_row(1)) from error


def find_missing_types(
    data_file: DataFile, names: list[str], columns: list[str], compression: str | None, options: TextOptions
) -> dict[str, Any]:
    """The types of columns whose values in the first block are all null, from the first block that has a value."""

    def types_of(block: FileBlock, missing: list[str]) -> pa.Schema:
        header_names = names if block.number else None
        schema = pa.schema([(column, pa.string()) for column in missing])
        texts = parse_csv(block.data, options, header_names, schema)
        has_value = any(set(texts[column].unique().to_pylist()) - {"", None} for column in missing)
        return read_schema(block, options, header_names) if has_value else pa.schema([])

    return first_types(open_blocks(data_file, compression, options), columns, types_of)


def find_text(
    data_file: DataFile, names: list[str], column: str, compression: str | None, options: TextOptions
) -> str | None:
    """The first value of a column that is no number, and where; None if there is none in the first block."""
    with closing(open_blocks(data_file, compression, options)) as blocks:
        texts = parse_csv(next(blocks).data, options, schema=pa.schema([(column, pa.string())]))[column].to_pylist()
    nulls = {None, "", *(options.null_values or default_null_words())}
    for row, text in enumerate(texts, 1 + (options.header is True)):
        if text not in nulls and not is_number_with(text, options.decimal_point):
            where = f"at row #{row:,} of {data_file}"
            return f"{text[:SHOWN]!r} {where}: numbers are needed. {advise_on_text(column, text, options)}"
    return None


def read(
    data_file: DataFile, schema: pa.Schema, use_threads: bool, batch_rows: int, memory_limit: int | None,
    *, names: list[str], n_threads: int | None, keys: TextKeyColumns, compression: str | None, options: TextOptions,
) -> Iterator[pa.RecordBatch]:  # fmt: skip
    """The batches of some columns, each of one block; `names` are the names of all columns."""
    nulls = ["", *(options.null_values or default_null_words())]
    has_header = options.header is True

    def parse(block: FileBlock) -> pa.Table:
        table = parse_csv(block.data, options, names if block.number else None, as_texts(schema, keys.numerals))
        if has_header:
            check_headers(table, 1 if block.number == 0 else 0)
        table = nulls_among_numbers(table, keys.numbers, nulls)
        return shorten_columns(table, keys.numerals, options.decimal_point).cast(schema)

    rows = 0
    try:
        for block, table in parse_blocks(open_blocks(data_file, compression, options), parse, n_threads, use_threads):
            if isinstance(table, Exception):
                check_mixed_keys(table, names, keys)
                first_row = rows + has_header if block.number else 0
                raise explain_error(table, block, names, first_row, options, keys.values) from table
            rows += table.num_rows
            yield from table.to_batches()
    except LongRowError as error:
        raise pa.ArrowInvalid(explain_long_row(1 + rows)) from error


def check_headers(table: pa.Table, rows_before: int) -> None:
    """Raise pyarrow.ArrowInvalid if all columns that are read are texts, and have their own names in a row.

    Files that were put behind each other have such rows. Among numbers they are errors anyway.
    """
    is_text = (pa.types.is_string(own) or pa.types.is_dictionary(own) for own in table.schema.types)
    if table.num_columns < 2 or not all(is_text):
        return
    found = None
    for name, column in zip(table.schema.names, table.columns, strict=True):
        is_name = compute.equal(column, name)
        found = is_name if found is None else compute.and_(found, is_name)
        if not compute.any(found).as_py():
            return
    row = compute.index(found, True).as_py() + 1 + rows_before
    raise pa.ArrowInvalid(f"Row #{row} is the header again: remove it")


def check_mixed_keys(error: Exception, names: list[str], keys: TextKeyColumns) -> None:
    """Raise MixedKeysError if a column of keys that is read as integers has another value."""
    bad = BAD_VALUE.search(str(error))
    if bad is not None and bad[3] == "int64" and names[int(bad[1])] in keys.integers:
        raise MixedKeysError(names[int(bad[1])]) from error


def is_number_with(text: str, decimal_point: str) -> bool:
    """Is a text a number with this decimal point?"""
    return is_number(text if decimal_point == "." else text.replace(".", "_").replace(decimal_point, "."))


def advise_on_text(column: str, text: str, options: TextOptions) -> str:
    """What to do about a text among the numbers of a column."""
    if text == column:
        return "The header stands there again: remove it"
    other = "." if options.decimal_point == "," else ","
    if is_number_with(text, other):
        return (
            f"If its decimal point is {other!r}, type format_options={{'decimal_point': {other!r}}}, or "
            f"--decimal-point {other}"
        )
    return f"If it means a null, name it: format_options={{'null_values': [{text[:SHOWN]!r}]}}, or --null-value"


def number_type(text: str) -> str:
    """The type that holds a number as it is written: decimals for more digits than a float has."""
    whole, _, fraction = text.strip().lstrip("+-").partition(".")
    if (whole + fraction).isdecimal() and 18 <= len(whole + fraction) <= 38:
        return f"decimal128(38, {len(fraction)})"
    return "double"


def explain_error(
    error: Exception,
    block: FileBlock,
    names: list[str],
    rows_before: int,
    options: TextOptions,
    numbers: Collection[str],
) -> Any:
    """Arrow's error with the row of the file, and for a value of another type with what to type."""
    if "UTF8" in str(error) and (problem := explain_bytes(block.data.to_pybytes(), block.line)):
        return pa.ArrowInvalid(problem)
    text = first_line(error)
    bad = BAD_VALUE.search(str(error))
    if bad is not None:
        column, value = names[int(bad[1])], bad[4]
        wanted = number_type(value) if bad[3] != "double" and is_number(value) else "string"
        if bad[3].startswith(("timestamp", "date")):
            wanted = "timestamp" if value[:1].isdigit() else "string"
        where = "" if bad[2] is None else f" at row #{int(bad[2]) + rows_before:,}"
        shown = value if len(value) <= SHOWN else value[:SHOWN] + "..."
        problem = f"column {column!r} has {shown!r}{where}, but its first values have the type {bad[3]}"
        advice = "Give its type"
        if bad[3] in NUMBER_TYPES and wanted == "string":
            advice = advise_on_text(column, value, options)
            if column in numbers:  # texts are an error there too
                return pa.ArrowInvalid(f"{problem}: numbers are needed. {advice}")
            advice += ". If the column holds texts, give its type"
        return pa.ArrowInvalid(
            f"{problem}. {advice}: format_options={{'column_types': {{{column!r}: {wanted!r}}}}}, or --column-type "
            f"{column}={wanted}"
        )
    located = ROW.sub(lambda row: f"Row #{int(row[1]) + rows_before:,}", text)
    return type(error)(located)
