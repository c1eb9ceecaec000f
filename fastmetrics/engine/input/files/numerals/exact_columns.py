"""Columns of text files whose numbers never become floats: those of keys, and those of expressions, which may be keys.

Keys that are integers of 64 bits are read as such, and the file again, from the beginning, if a row shows that not all
are: then they are texts in which each number has its one text (`numerals.py`). Columns of expressions are integers or
floats; where these do not hold the numbers, decimals that do.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from itertools import chain
from typing import Any

from fastmetrics._core.optional_imports import pyarrow as pa
from fastmetrics.engine.input.batches import Source
from fastmetrics.engine.input.files.formats import SourceFile, name_file_in_errors
from fastmetrics.engine.input.files.numerals.numeral_texts import TextKeyColumns, decimal_type_of, has_long_numbers


class ExactColumns:
    """The columns of a source whose numbers are read as they are written.

    Attributes
    ----------
    mixed : set of str
        Columns of which a row has shown that not all values are integers of 64 bits.
    decimals : dict of str and pyarrow.DataType
        The types of columns of expressions that neither integers nor floats hold.
    """

    def __init__(
        self, source: Source, files_with: Callable[[str], Sequence[SourceFile]], find_later_type: Callable[[str], Any]
    ) -> None:
        self.source = source
        self.files_with = files_with
        self.find_later_type = find_later_type
        self.mixed: set[str] = set()
        self.decimals: dict[str, Any] = {}

    def are_numerals(self, column: str) -> bool:
        """Is a column of keys read as texts?"""
        if column not in self.source.uses.keys or not self.may_be_numerals(column):
            return False
        if self.source.reads_once or column in self.mixed:
            return True
        types = self.types_of(column)
        return types != {pa.int64()} if types else self.find_later_type(column) in (pa.string(), pa.float64())

    def find_decimals(self, column: str) -> Any | None:
        """The decimals that hold all numbers of a column of expressions; None if integers or floats do."""
        types = self.types_of(column) if column in self.source.uses.compared and self.may_be_numerals(column) else {}
        if not types or self.source.reads_once or pa.string() in types:
            return None
        if column not in self.mixed and not (pa.float64() in types and self.begins_with_long_numbers(column)):
            return None
        blocks = chain.from_iterable(self.read_numerals(file, column) for file in self.files_with(column))
        self.decimals[column] = decimal_type_of(blocks)
        return self.decimals[column]

    def columns_in(self, file: SourceFile, names: Iterable[str]) -> TextKeyColumns:
        """How the columns of these names are read from a file."""
        numerals = frozenset(name for name in names if name in self.decimals or self.are_numerals(name))
        texts = {field.name for field in file.schema if pa.types.is_string(field.type)}
        numbers = numerals - texts
        integers = self.source.uses.keys | self.source.uses.compared
        unmixed = frozenset() if self.source.reads_once else integers - numerals - self.mixed
        return TextKeyColumns(numerals, numbers, unmixed, self.source.uses.numbers)

    def types_of(self, column: str) -> set[Any]:
        """The types of a column in the first blocks of all files, but for those without a value."""
        return {file.schema.field(column).type for file in self.files_with(column)} - {pa.null()}

    def may_be_numerals(self, column: str) -> bool:
        """Are the types of a column just what its values look like, in text files, and are these numbers or texts?"""
        for file in self.files_with(column):
            if column in file.format.column_types or not file.format.is_text or column not in file.own_names:
                return False
            found = file.schema.field(column).type
            if found not in (pa.int64(), pa.float64(), pa.string(), pa.null()):
                return False
            if file.format.name == "JSON lines" and pa.types.is_string(found):
                return False  # texts, not numbers
        return True

    def begins_with_long_numbers(self, column: str) -> bool:
        """Does the first block of a file have a number that no float holds?"""
        for file in self.files_with(column):
            blocks = self.read_numerals(file, column)
            if has_long_numbers(next(blocks, pa.array([], pa.string()))):
                return True
            blocks.close()
        return False

    def read_numerals(self, file: SourceFile, column: str) -> Generator[Any]:
        """The numbers of a column as their texts."""
        source, own = self.source, frozenset([column])
        options = {"names": file.schema.names, "n_threads": source.n_threads, "keys": TextKeyColumns(own, own)}
        schema = pa.schema([(column, pa.string())])
        with name_file_in_errors(file.data_file, file.format):
            batches = file.format.read(file.data_file, schema, False, source.batch_rows, source.memory_limit, **options)
            for batch in batches:
                yield batch.column(0)
