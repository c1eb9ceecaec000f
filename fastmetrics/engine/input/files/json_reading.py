"""JSON lines: a file of objects, one in each line, read in blocks of whole lines by several threads.

Nested objects are structs. Types come from the first block; a key that a later object lacks is null there, and keys
that only later objects have are no columns. A key, or a field of a struct, whose values are of several kinds has the
kind of the first one: that is an error only where it is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from itertools import starmap
from typing import Any

from fastmetrics._core.optional_imports import compute
from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.input.batches import MixedKeysError, first_line, split_path
from fastmetrics.engine.input.files.data_file import DataFile
from fastmetrics.engine.input.files.format_options import TextOptions
from fastmetrics.engine.input.files.numerals.numeral_texts import (
    TextKeyColumns,
    as_texts,
    shorten_columns,
)
from fastmetrics.engine.input.files.text_blocks import (
    EmptyTextError,
    FileBlock,
    LongRowError,
    Quoting,
    explain_long_row,
    first_types,
    parse_blocks,
    read_blocks,
)
from fastmetrics.engine.input.files.text_streams import NO_UTF8, explain_bytes, open_text

MAX_SHOWN = 40  # characters of a value in messages
MARK, MARKED = rb"\\u0001", "\x01"  # a control character, as JSON writes it and as it is read
TWICE = "was specified twice"
TOO_BIG = "Number too big to be stored in double"
TEXT_OR_HUGE_NUMBER = re.compile(rb'"(?:[^"\\]|\\.)*"|(-?[0-9][0-9.]*[eE][+]?[0-9]{3,}|-?[0-9]{300,}[0-9.eE+]*)')



def parse_json(data: Any, schema: pa.Schema | None) -> pa.Table:
    """The columns of a schema, and no others; without one, all columns."""
    from pyarrow import json as arrow_json

    behavior = "infer" if schema is None else "ignore"

    def parse(rows: Any) -> pa.Table:
        return arrow_json.read_json(
            pa.BufferReader(rows),
            read_options=arrow_json.ReadOptions(use_threads=False, block_size=len(rows) + 1),
            parse_options=arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior=behavior),
        )

    try:
        return parse(data)
    except pa.ArrowInvalid as error:
        if TOO_BIG not in str(error):
            raise
    # Arrow reads no row of a block in which a number is too big for a float. Types are those of other numbers; where
    # types are known, such a number is a text, which is no value of a column of numbers.
    return parse(replace_huge_numbers(data, b"1e300" if schema is None else None))


def replace_huge_numbers(data: Any, number: bytes | None) -> Any:
    """The rows with another number for each that may be too big for a float, or with the text of it."""

    def replace(found: re.Match[bytes]) -> bytes:
        if found[1] is None:
            return found[0]
        return b'"' + found[1] + b'"' if number is None else number

    return pa.py_buffer(TEXT_OR_HUGE_NUMBER.sub(replace, bytes(data)))


def infer_schema(data: Any) -> pa.Schema:
    """The columns of a block and their types."""
    try:
        return parse_json(data, None).schema
    except pa.ArrowInvalid as error:
        if "changed from" not in str(error) and TWICE not in str(error):
            raise
        kinds = FirstKinds()
        try:
            rows = (json.loads(line) for line in data.to_pybytes().split(b"\n") if line.strip())
            lines = "\n".join(json.dumps(kinds.keep(row, ())) for row in rows)
        except (ValueError, RecursionError):
            raise error from None
    return parse_json(pa.py_buffer(lines.encode()), None).schema


class FirstKinds:
    """The kind of the first value of every key, and of every field and item below it."""

    def __init__(self) -> None:
        self.kinds: dict[tuple[str, ...], str] = {}

    def keep(self, value: Any, path: tuple[str, ...]) -> Any:
        """The value, with null for what is of another kind than the first value at its place."""
        if value is None or self.kinds.setdefault(path, kind_of(value)) != kind_of(value):
            return None
        if isinstance(value, dict):
            return {key: self.keep(own, (*path, key)) for key, own in value.items()}
        if isinstance(value, list):
            return [self.keep(own, (*path, "")) for own in value]
        return value


def kind_of(value: Any) -> str:
    """What a value of JSON is, in the words of messages."""
    if isinstance(value, bool):
        return "a boolean"
    kinds = {str: "a text", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return kinds[type(value)]


def open_lines(data_file: DataFile, compression: str | None, options: TextOptions) -> Generator[FileBlock]:
    with open_text(data_file, compression, options.encoding) as stream:
        for block in read_blocks(stream, Quoting()):
            if block.data.to_pybytes().isspace():
                continue
            yield block


def inspect(data_file: DataFile, compression: str | None, options: TextOptions) -> tuple[pa.Schema, int | None]:
    given = pa.schema(list(options.column_types.items())) if options.column_types else None
    with closing(open_lines(data_file, compression, options)) as blocks:
        try:
            first = next(blocks, None)
        except LongRowError as error:
            raise pa.ArrowInvalid(explain_long_row(0)) from error
        if first is None:
            raise EmptyTextError("the file is empty")
        check_lines(first.data)
        try:
            schema = infer_schema(first.data)
            types = dict(zip(schema.names, schema.types, strict=True))
            if given is not None:
                parse_json(first.data, given)
                types |= {name: own for name, own in options.column_types.items() if name in types}
            return pa.schema(list(types.items())), None
        except UnicodeDecodeError as error:  # a key
            raise pa.ArrowInvalid(explain_bytes(first.data.to_pybytes(), 1) or str(error)) from error
        except pa.ArrowException as error:
            raise explain_error(error, first.data, given, 0) from error


def find_missing_types(
    data_file: DataFile, names: list[str], columns: list[str], compression: str | None, options: TextOptions
) -> dict[str, Any]:
    """The types of columns whose values in the first block are all null, from the first block that has a value."""
    blocks = open_lines(data_file, compression, options)
    return first_types(blocks, columns, lambda block, missing: infer_schema(block.data))


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


def read(
    data_file: DataFile, schema: pa.Schema, use_threads: bool, batch_rows: int, memory_limit: int | None,
    *, names: list[str], n_threads: int | None, keys: TextKeyColumns, compression: str | None, options: TextOptions,
) -> Iterator[pa.RecordBatch]:  # fmt: skip
    """The batches of some columns, or fields of them, each of one block. `names` are those of all columns."""
    own_schema = schema_of_fields(schema, names)

    def parse(block: FileBlock) -> pa.Table:
        data = quote_numbers(block.data, keys.numerals) if keys.numerals else block.data
        table = parse_json(data, as_texts(own_schema, keys.numerals)).select(own_schema.names)
        check_texts(table, block)
        return shorten_columns(unmark_numbers(table, keys.numerals), keys.numerals).cast(own_schema)

    rows = 0
    try:
        for block, table in parse_blocks(open_lines(data_file, compression, options), parse, n_threads, use_threads):
            if isinstance(table, Exception):
                check_mixed_keys(block.data, keys)
                raise explain_error(table, block.data, own_schema, rows) from table
            rows += table.num_rows
            yield from table.to_batches()
    except LongRowError as error:
        raise pa.ArrowInvalid(explain_long_row(rows)) from error


def schema_of_fields(schema: pa.Schema, names: list[str]) -> pa.Schema:
    """The columns to parse: of a column of which only fields are read, a struct of these."""
    wanted: dict[str, Any] = {}
    for field in schema:
        root, path = split_path(field.name, names)
        if not path:
            wanted[root] = field.type
        elif not isinstance(wanted.get(root), pa.DataType):  # the whole column has its fields
            inner = wanted.setdefault(root, {})
            for name in path[:-1]:
                inner = inner if isinstance(inner, pa.DataType) else inner.setdefault(name, {})
            if not isinstance(inner, pa.DataType):
                inner[path[-1]] = field.type
    return pa.schema([(name, struct_of(own)) for name, own in wanted.items()])


def struct_of(wanted: Any) -> Any:
    """A type, or the struct of some names and what is below them."""
    if isinstance(wanted, pa.DataType):
        return wanted
    return pa.struct([(name, struct_of(own)) for name, own in wanted.items()])


def quote_numbers(data: Any, columns: frozenset[str]) -> Any:
    """The rows with the numbers of some keys as marked texts, so that each number stays as it is written."""
    text = bytes(data)
    for column in columns:
        key = re.escape(json.dumps(column, ensure_ascii=False).encode())
        text = re.sub(rb"(" + key + rb"\s*:\s*)(-?[0-9][0-9.eE+-]*)", rb'\1"' + MARK + rb'\2"', text)
    return pa.py_buffer(text)


def unmark_numbers(table: pa.Table, columns: frozenset[str]) -> pa.Table:
    """The table with the texts of numbers without their mark. Raises pyarrow.ArrowInvalid for other texts."""
    for number, name in enumerate(table.schema.names):
        if name in columns:
            column = table.column(number)
            if not compute.all(compute.starts_with(column, MARKED), min_count=0).as_py():
                raise pa.ArrowInvalid(f"column {name!r} has a text beside numbers")
            table = table.set_column(number, table.field(number), compute.utf8_slice_codeunits(column, 1))
    return table


def check_mixed_keys(data: Any, keys: TextKeyColumns) -> None:
    """Raise MixedKeysError if a column of keys that is read as integers has another number."""
    for line in data.to_pybytes().split(b"\n"):
        try:
            row = json.loads(line) if line.strip() else {}
        except ValueError:
            return
        for name in keys.integers & row.keys() if isinstance(row, dict) else ():
            value = row[name]
            if isinstance(value, float) or (isinstance(value, int) and not -(2**63) <= value < 2**63):
                raise MixedKeysError(name)


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
        if (key := repeated_key(line, schema or ())) is not None:
            return pa.ArrowInvalid(f"row {number:,} has the key {key!r} twice; write every key that is read once")
        for field in schema or ():
            if (misfit := find_misfit(row.get(field.name), field.type, field.name)) is not None:
                return pa.ArrowInvalid(describe_misfit(number, *misfit))
    return type(error)(first_line(error))


def repeated_key(line: bytes, fields: Iterable[pa.Field]) -> str | None:
    """The first key that an object of a line has twice, among those of columns and fields of structs that are read."""
    names = names_of_fields(fields)
    found: list[str] = []

    def keep(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        found.extend(key for key in names if keys.count(key) > 1)
        return dict(pairs)

    json.loads(line, object_pairs_hook=keep)
    return found[0] if found else None


def names_of_fields(fields: Iterable[pa.Field]) -> list[str]:
    """The names of fields, and of the fields of structs below them."""
    names = []
    for field in fields:
        data_type = field.type
        while pa.types.is_list(data_type):
            data_type = data_type.value_type
        names += [field.name, *(names_of_fields(data_type) if pa.types.is_struct(data_type) else [])]
    return names


def find_misfit(value: Any, data_type: pa.DataType, title: str) -> tuple[str, Any, pa.DataType] | None:
    """The first field or item whose value Arrow does not read as its type: its name, the value and the type."""
    if not fits(value, data_type):
        return title, value, data_type
    found = None
    if pa.types.is_struct(data_type) and value is not None:
        fields = ((value.get(field.name), field.type, f"{title}.{field.name}") for field in data_type)
        found = next(filter(None, starmap(find_misfit, fields)), None)
    elif pa.types.is_list(data_type) and value is not None:
        items = ((item, data_type.value_type, f"{title}[{number}]") for number, item in enumerate(value))
        found = next(filter(None, starmap(find_misfit, items)), None)
    return found


def describe_misfit(row: int, title: str, value: Any, data_type: pa.DataType) -> str:
    """What was found and what to type: a type that has all numbers, or that it can be no column as it is."""
    text = json.dumps(value)
    found = text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."
    text = (
        f"column {title!r} has {found} at row {row:,}, {kind_of(value)}, but its type is {data_type}, by its first "
        "values or as given"
    )
    if isinstance(value, float) and pa.types.is_integer(data_type) and title.isidentifier():
        return (
            f"{text}; numbers with fractions are read by format_options={{'column_types': {{{title!r}: 'double'}}}}, "
            f"or --column-type {title}=double"
        )
    return f"{text}; write all values of it as one type. A column that is not read may have several"


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
