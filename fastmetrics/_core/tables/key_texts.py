"""Texts in columns of keys that exchanges move: they move as numbers, and groups see these in the order of the texts.

Equal texts of all such columns of a plan's part have one number. Numbers are given in the order in which texts appear,
which depends on threads. So before groups are reduced, numbers are replaced by ranks: the positions of the texts among
all different texts, sorted by their bytes. Results then do not depend on the order of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any

import numpy as np

from fastmetrics._core.columns.arrow_columns import text_buffers
from fastmetrics._core.columns.group_keys import as_keys
from fastmetrics._core.columns.key_columns import NumberKeys, TextKeys
from fastmetrics._core.columns.role_columns import Locate
from fastmetrics._core.columns.row_blocks import role_name
from fastmetrics._core.exchange.memory_budget import MemoryBudget
from fastmetrics._core.optional_imports import compute, pyarrow
from fastmetrics._core.state import check_offsets, check_state
from fastmetrics._kernels.columns.text_codes import TextCodes

MAX_INT64 = np.iinfo(np.int64).max
COPIES = 2  # of the texts: by number, and by rank
TEXTS, INTEGERS = "texts", "integers"


class KeyTexts:
    """The numbers of texts in the columns of some roles; several threads may ask for them.

    Parameters
    ----------
    roles : sequence of str
        The roles whose columns have keys.
    allows_texts : bool
        May keys be texts?
    budget : MemoryBudget or None
        The different texts stay in memory, and count against it.

    Attributes
    ----------
    kind : str or None
        TEXTS or INTEGERS; None before the first batch.
    """

    def __init__(self, roles: Sequence[str], allows_texts: bool, budget: MemoryBudget | None = None) -> None:
        self.roles = roles
        self.allows_texts = allows_texts
        self.budget = budget
        self.reserved = 0
        self.kind: str | None = None
        self.codes = TextCodes()
        self.ranked: RankedTexts | None = None
        self.lock = Lock()

    @property
    def size(self) -> int:
        return self.codes.size

    def read(self, column: Any, name: str, locate: Locate) -> np.ndarray:
        """Keys as int64: integers and dates are themselves, texts their numbers."""
        keys = as_keys(column, name)
        if isinstance(keys, NumberKeys) and keys.dtype.kind in "biuMm":
            self.set_kind(INTEGERS, name, column)
            return as_int64(keys.values, name, locate)
        if not isinstance(keys, TextKeys) or not self.allows_texts:
            wanted = "integers, dates or texts" if self.allows_texts else "integers or dates: number other keys first"
            raise TypeError(f"{name} has Arrow type {column.type}: keys of this role are {wanted}")
        with self.lock:
            self.set_kind(TEXTS, name, column)
            return self.number(keys)

    def set_kind(self, kind: str, name: str, column: Any) -> None:
        """Check that all keys are texts, or none is."""
        if self.kind not in (None, kind):
            raise TypeError(
                f"{name} has Arrow type {column.type}, and other batches or columns of keys have {self.kind}: "
                "cast them to one type"
            )
        self.kind = kind

    def number(self, keys: TextKeys) -> np.ndarray:
        """The numbers of texts; new texts get the next ones."""
        numbers = np.empty(keys.rows, np.int64)
        offsets = keys.offsets.astype(np.int64, copy=False)
        self.codes.encode(keys.data, offsets[:-1], offsets[1:], numbers)
        grown = COPIES * self.codes.n_bytes - self.reserved
        if self.budget is not None and grown > 0:
            what = f"the different texts of {' and '.join(self.roles)}"
            self.budget.require_state(grown, what, ": allow more memory, or number the keys first")
            self.reserved += grown
        return numbers

    def check_mergeable(self, other: KeyTexts) -> None:
        if None not in (self.kind, other.kind) and self.kind != other.kind:
            raise TypeError(
                f"states of different keys do not merge: {' and '.join(self.roles)} are {self.kind} here, "
                f"{other.kind} there"
            )

    def merge(self, other: KeyTexts) -> np.ndarray | None:
        """Take in the texts of another object. Returns what its numbers become; None if they stay as they are."""
        self.kind = self.kind or other.kind
        data, offsets = other.codes.texts()
        with self.lock:
            numbers = self.number(TextKeys(data, offsets))
        return None if (numbers == np.arange(numbers.shape[0])).all() else numbers

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """The bytes of all texts, by their numbers, and the offsets."""
        data, offsets = self.codes.texts()
        return data, offsets

    def load(self, kind: str | None, data: np.ndarray, offsets: np.ndarray) -> None:
        """Take in what `arrays` returned. The texts are checked."""
        check_offsets(offsets, data, "the texts of keys")
        is_known = kind in (None, TEXTS, INTEGERS) and (kind == TEXTS or offsets.shape[0] == 1)
        check_state(is_known, "its keys are neither texts nor integers")
        self.kind = kind
        numbers = self.number(TextKeys(data, offsets))
        check_state((numbers == np.arange(numbers.shape[0])).all(), "a text of the keys is there twice")

    def value(self, number: int) -> int | str:
        """The key behind a number."""
        if self.kind != TEXTS:
            return number
        data, offsets = self.codes.texts()
        return bytes(data[offsets[number] : offsets[number + 1]]).decode()

    def rank(self) -> RankedTexts | None:
        """The texts by rank, after all rows; None if keys are no texts."""
        if self.kind != TEXTS:
            return None
        if self.ranked is None or self.ranked.rank_of.shape[0] != self.size:
            self.ranked = RankedTexts(self.roles, *self.codes.texts())
        return self.ranked

    def close(self) -> None:
        """Free the memory."""
        if self.budget is not None:
            self.budget.release_state(self.reserved)
        self.reserved = 0


class RankedTexts:
    """All different texts of keys, in the order of their bytes.

    Attributes
    ----------
    rank_of : ndarray of int64
        The rank of each number.
    """

    def __init__(self, roles: Sequence[str], data: np.ndarray, offsets: np.ndarray) -> None:
        n = offsets.shape[0] - 1
        buffers = [None, pyarrow.py_buffer(offsets), pyarrow.py_buffer(data)]
        texts = pyarrow.LargeBinaryArray.from_buffers(pyarrow.large_binary(), n, buffers)
        order = compute.array_sort_indices(texts)
        self.columns = [role_name(role) for role in roles]
        self.texts = texts.take(order)
        self.rank_of = np.empty(n, np.int64)
        self.rank_of[order.to_numpy().astype(np.int64)] = np.arange(n)

    def rank_columns(self, columns: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Stored columns in which numbers are replaced by ranks."""
        return columns | {name: self.rank_of[columns[name]] for name in self.columns if name in columns}

    def keys(self, ranks: np.ndarray) -> TextKeys:
        """The texts of ranks, as keys."""
        return TextKeys(*text_buffers(self.texts.take(pyarrow.array(ranks))))


def as_int64(values: np.ndarray, name: str, locate: Locate) -> np.ndarray:
    """Integers as int64. An error names the first that does not fit."""
    if values.dtype.kind == "u" and values.shape[0] and values.max() > MAX_INT64:
        row = int((values > MAX_INT64).argmax())
        raise ValueError(f"{name} has {values[row]} at row {locate(row)}: integer keys are at most 2**63 - 1")
    return values.astype(np.int64, copy=False)


def keys_of_numbers(numbers: np.ndarray, texts: RankedTexts | None) -> NumberKeys | TextKeys:
    """The keys behind the numbers that statistics of groups see."""
    return NumberKeys(numbers) if texts is None else texts.keys(numbers)
