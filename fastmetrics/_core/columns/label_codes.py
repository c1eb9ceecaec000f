"""The labels of a table as integers: integers stand for themselves, texts get codes in the order they are first seen.

A table has two columns of labels, which share the codes, because labels and predicted labels are compared. Numbers that
int64 does not hold are texts, and so are those few integers that the codes of texts would be taken for: the code of a
label never depends on other labels.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from fastmetrics._core.columns.key_types import dtype_of_arrow
from fastmetrics._core.columns.label_columns import (
    BOOLEAN,
    FIRST_TEXT,
    INTEGER,
    MAX_TEXTS,
    MIN_CODE,
    MIXED,
    NUMBER,
    NUMBER_OR_DATE,
    NUMBERS,
    TEXT,
    LabelColumn,
    text_column_of,
)
from fastmetrics._core.columns.text_columns import TextColumn
from fastmetrics._core.object_keys import value_of_numeral
from fastmetrics._core.optional_imports import pyarrow
from fastmetrics._core.state import check_offsets, check_state
from fastmetrics._kernels.columns.text_codes import TextCodes

MAX_TEXTS_PER_ROW = 4  # a dictionary with more texts per row is not read as a whole
NO_NUMBERS: np.ndarray = np.empty(0, np.int64)
NO_BYTES: np.ndarray = np.empty(0, np.uint8)


def check_type(name: str, title: str) -> None:
    """The name has to be that of a type of labels, or of values that may be keys."""
    if name not in (TEXT, NUMBER_OR_DATE, MIXED, *NUMBERS):
        dtype_of_arrow(name, title)


class LabelCodes:
    """The integers of labels and of predicted labels.

    Attributes
    ----------
    texts : TextCodes or None
        The codes of labels that are texts.
    types : list of str
        The type of labels and that of predicted labels; empty until a label is there.
    """

    __slots__ = ("texts", "types")

    def __init__(self) -> None:
        self.texts: TextCodes | None = None
        self.types = ["", ""]

    @property
    def n_bytes(self) -> int:
        return 0 if self.texts is None else self.texts.n_bytes

    def add_types(self, *types: str) -> None:
        """Check that labels are of one type. Numbers are, and numbers and texts of text files are with both."""
        for side, found in enumerate(types):
            self.types[side] = combine_types(self.types[side], found)
        combine_types(*self.types)

    def number(self, column: LabelColumn) -> np.ndarray:
        """The labels of rows as integers."""
        codes, texts = column.codes, column.texts
        if codes is not None and column.type_name in (INTEGER, NUMBER, MIXED):
            return self.number_integers(codes, texts)
        if texts is None:
            return np.ascontiguousarray(codes)
        return self.number_texts(texts) if codes is None else np.take(self.number_used(texts, codes), codes)

    def number_used(self, texts: TextColumn, codes: np.ndarray) -> np.ndarray:
        """The integers of those texts that the codes of rows are indices of; the others get no integer."""
        used = np.unique(codes) if texts.rows > MAX_TEXTS_PER_ROW * codes.shape[0] else rows_in_use(texts.rows, codes)
        numbers = np.empty(texts.rows, np.int64)
        numbers[used] = self.number_texts(texts if used.shape[0] == texts.rows else texts[used])
        return numbers

    def number_integers(self, codes: np.ndarray, texts: TextColumn | None) -> np.ndarray:
        """Integers, and codes of texts from FIRST_TEXT on; without texts, these are integers too."""
        codes = np.ascontiguousarray(codes)
        if not codes.shape[0] or codes.min() >= MIN_CODE:
            return codes
        is_text = codes < MIN_CODE
        numbers = codes.copy()
        if texts is None:
            numbers[is_text] = self.number_texts(text_column_of(pyarrow.array(codes[is_text]).cast(pyarrow.string())))
        else:
            own = codes[is_text] - FIRST_TEXT
            numbers[is_text] = np.take(self.number_used(texts, own), own)
        return numbers

    def number_texts(self, texts: TextColumn) -> np.ndarray:
        """The integers of texts. New texts get the next integers."""
        if self.texts is None:
            self.texts = TextCodes()
        numbers = np.empty(texts.rows, np.int64)
        self.texts.encode(texts.data, np.ascontiguousarray(texts.starts), np.ascontiguousarray(texts.stops), numbers)
        if self.texts.size > MAX_TEXTS:
            raise ValueError(f"there are more than {MAX_TEXTS} different labels")
        numbers += FIRST_TEXT
        return numbers

    def merge(self, other: LabelCodes) -> np.ndarray | None:
        """Add the labels of another table. Returns the integer of each of its texts; None if it has no texts."""
        self.add_types(*other.types)
        if other.texts is None:
            return None
        data, offsets = other.texts.texts()
        return self.number_texts(TextColumn(data, offsets[:-1], offsets[1:]))

    def copy_labels(self) -> LabelCodes:
        """The same labels; texts are shared and stay as they are."""
        codes = LabelCodes()
        codes.texts, codes.types = self.texts, list(self.types)
        return codes

    def class_texts(self) -> list[bytes]:
        """The texts of labels, by their codes."""
        data, offsets = (NO_BYTES, np.zeros(1, np.int64)) if self.texts is None else self.texts.texts()
        joined, ends = data.tobytes(), offsets.tolist()
        return [joined[start:stop] for start, stop in pairwise(ends)]

    def arrays(self) -> tuple[np.ndarray | None, tuple[np.ndarray, ...]]:
        """The integer of each text by its position among the sorted texts (None: no texts), and the arrays of a state.

        These are the sorted texts joined, their offsets, and the types.
        """
        types = np.frombuffer("\n".join(self.types).encode(), np.uint8)
        if self.texts is None:
            return None, (NO_BYTES, NO_NUMBERS, types)
        texts = self.class_texts()
        by_text = sorted(range(len(texts)), key=texts.__getitem__)
        offsets = np.cumsum([0, *(len(texts[number]) for number in by_text)], dtype=np.int64)
        data = np.frombuffer(b"".join(texts[number] for number in by_text), np.uint8)
        return FIRST_TEXT + inverse_order(by_text), (data, offsets, types)

    def load_arrays(self, data: np.ndarray, offsets: np.ndarray, types: np.ndarray) -> int | None:
        """Fill new codes with the arrays of a state. Returns the number of texts; None if labels are no texts."""
        words = types.tobytes().decode("utf-8", "replace").split("\n")
        check_state(len(words) == len(self.types), "its labels have no types")
        for word in words:
            check_type(word or NUMBER, "the label")
        self.add_types(*words)
        n_texts = int(offsets.shape[0]) - 1
        if n_texts < 0:
            check_state(not data.shape[0], "it has texts without offsets")
            return None
        check_offsets(offsets, data)
        numbers = self.number_texts(TextColumn(data, offsets[:-1], offsets[1:]))
        check_state((numbers == FIRST_TEXT + np.arange(n_texts)).all(), "a label occurs twice")
        return n_texts

    def sort_labels(self, codes: np.ndarray) -> tuple[list[Any], np.ndarray]:
        """Distinct labels in order, as Python values, and the position of each of the ascending integers among them."""
        if self.texts is None:
            return decode_classes(codes, self.types), np.arange(codes.shape[0])
        texts = self.class_texts()
        n_texts = int(np.searchsorted(codes, MIN_CODE))  # before the integers
        encoded = [texts[code] for code in (codes[:n_texts] - FIRST_TEXT).tolist()]
        if NUMBERS.isdisjoint(self.types) and MIXED not in self.types:
            order = sorted(range(n_texts), key=encoded.__getitem__)
            return [encoded[number].decode("utf-8", "surrogateescape") for number in order], inverse_order(order)
        values = [value_of_numeral(text.decode("utf-8", "surrogateescape")) for text in encoded]
        values += codes[n_texts:].tolist()
        order = sorted(range(len(values)), key=lambda number: (isinstance(values[number], str), values[number]))
        return [values[number] for number in order], inverse_order(order)

    def is_known(self, codes: np.ndarray, n_texts: int) -> bool:
        """Are all texts that are among the integers of a state there, and is nothing else if labels are texts?"""
        is_text = codes < MIN_CODE
        only_texts = NUMBERS.isdisjoint(self.types) and MIXED not in self.types
        return bool((codes[is_text] < FIRST_TEXT + n_texts).all() and (is_text.all() or not only_texts))


def translate_codes(codes: np.ndarray, integers: np.ndarray) -> np.ndarray:
    """Codes with integers[i] in place of the i-th text."""
    is_text = codes < MIN_CODE
    if is_text.all():
        return np.take(integers, codes - FIRST_TEXT)
    out = codes.copy()
    out[is_text] = np.take(integers, codes[is_text] - FIRST_TEXT)
    return out


def common_type(first: str, second: str) -> str | None:
    """The type of labels of two types together; None if they cannot be compared. No type is that of no labels."""
    if first == second or not second:
        return first
    if not first:
        return second
    found = {first, second}
    if found <= NUMBERS:
        return NUMBER if NUMBER in found else INTEGER
    return MIXED if MIXED in found and found <= {*NUMBERS, TEXT, MIXED} else None


def combine_types(first: str, second: str) -> str:
    """The type of labels of two types together, which have to be comparable."""
    common = common_type(first, second)
    if common is None:
        raise ValueError(f"labels of type {first} cannot be combined with labels of type {second}")
    return common


def rows_in_use(rows: int, indices: np.ndarray) -> np.ndarray:
    """Those rows that are among some indices."""
    present = np.zeros(rows, bool)
    present[indices] = True
    return np.flatnonzero(present)


def inverse_order(order: list[int]) -> np.ndarray:
    """The position of each number in an order of them."""
    positions = np.empty(len(order), np.int64)
    positions[order] = np.arange(len(order))
    return positions


def decode_classes(codes: np.ndarray, types: list[str]) -> list[Any]:
    """Classes that are no texts, as Python values."""
    known = set(filter(None, types))
    if known == {BOOLEAN}:
        return [bool(code) for code in codes.tolist()]
    if known <= {*NUMBERS, MIXED} or not codes.shape[0]:
        return [int(code) for code in codes.tolist()]
    return list(codes.view(dtype_of_arrow(known.pop(), "the label")).astype(object))
