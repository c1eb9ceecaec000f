"""Log-probabilities of tokens in all the shapes they come in, as one flat column and where each sequence begins."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple, NoReturn

import numpy as np

from fastmetrics._core import inputs

FORMS = (
    "a sequence of sequences, one flat column (with offsets= where it holds several sequences), or a matrix with a row "
    "for every sequence"
)


class Ragged(NamedTuple):
    """Sequences one after the other: sequence i is flat[bounds[i] : bounds[i + 1]].

    Not all of flat need belong to one. `nested` tells whether a value is named by sequence and token, or by its place.
    """

    flat: np.ndarray
    bounds: np.ndarray
    nested: bool

    @property
    def n_sequences(self) -> int:
        return int(self.bounds.shape[0]) - 1

    def place(self, name: str, at: int) -> str:
        """How a user would write the value at a place of flat, and what it is."""
        sequence = int(np.searchsorted(self.bounds, at, side="right")) - 1
        token = at - int(self.bounds[sequence])
        if self.nested:
            return f"{name}[{sequence}][{token}]"
        where = f"{name}[{at}]"
        return where if self.n_sequences == 1 else f"{where} (sequence {sequence}, token {token})"


class Tokens(NamedTuple):
    """Log-probabilities, float32 or float64, and which of them count (uint8, None: all)."""

    values: np.ndarray
    mask: np.ndarray | None
    bounds: np.ndarray
    form: Ragged

    def refuse(self) -> NoReturn:
        """The error for the first token that counts and is no logarithm of a probability."""
        first, last = int(self.bounds[0]), int(self.bounds[-1])
        bad = ~(self.values[first:last] <= 0)
        if self.mask is not None:
            bad &= self.mask[first:last] != 0
        at = first + int(np.flatnonzero(bad)[0])
        value = self.values[at]
        where = self.form.place("log_probs", at)
        if value != value:
            raise ValueError(f"{where} is NaN; mask tokens that have no log-probability")
        advice = ", pass np.log of probabilities" if value <= 1 else ""
        raise inputs.ProbabilityError(f"{where} is {value}: logarithms of probabilities are at most 0{advice}")


def read_tokens(log_probs: Any, mask: Any, offsets: Any) -> Tokens:
    """Any of the forms, checked but for the values themselves."""
    form = split(log_probs, offsets, "log_probs")
    values = inputs.as_floats(form.flat, "log_probs")
    if form.n_sequences == 0 or (offsets is None and not form.nested and values.shape[0] == 0):
        raise ValueError("log_probs is empty: at least one sequence is needed")
    flags = None if mask is None else read_mask(mask, offsets, form)
    return Tokens(values, flags, form.bounds, form)


def read_mask(mask: Any, offsets: Any, tokens: Ragged) -> np.ndarray:
    """Which tokens count, by their places in `tokens.flat`: shaped as the log-probabilities are, of 0 and 1 or bool."""
    own = split(mask, offsets, "mask")
    if own.n_sequences != tokens.n_sequences:
        raise ValueError(f"mask has {own.n_sequences} sequences but log_probs has {tokens.n_sequences}")
    lengths, wanted = np.diff(own.bounds), np.diff(tokens.bounds)
    other = np.flatnonzero(lengths != wanted)
    if other.shape[0]:
        at = int(other[0])
        which = f"[{at}]" if own.nested else ""
        raise ValueError(f"mask{which} has {lengths[at]} tokens but log_probs{which} has {wanted[at]}")
    flat = own.flat
    if flat.dtype.kind not in "biu" and flat.shape[0]:
        raise inputs.InputError(f"mask must hold True and False, or 1 and 0; found {flat.dtype}")
    if flat.dtype.kind in "iu":
        bad = np.flatnonzero((flat != 0) & (flat != 1))
        if bad.shape[0]:
            at = int(bad[0])
            raise ValueError(f"{own.place('mask', at)} is {flat[at]}: a mask holds True and False, or 1 and 0")
    first, last = int(own.bounds[0]), int(own.bounds[-1])
    if first == tokens.bounds[0] == 0 and last == tokens.flat.shape[0]:
        return inputs.contiguous(flat[:last].astype(np.uint8, copy=False))
    flags = np.zeros(tokens.flat.shape[0], np.uint8)
    flags[int(tokens.bounds[0]) : int(tokens.bounds[-1])] = flat[first:last]
    return flags


def split(values: Any, offsets: Any, name: str) -> Ragged:
    """Sequences of whatever they are, as a flat column and bounds."""
    if offsets is not None:
        flat = column(values, name)
        return Ragged(flat, as_offsets(offsets, flat.shape[0], name), nested=False)
    if is_arrow_of_lists(values):
        return split_arrow(values, name)
    if isinstance(values, (list, tuple)):
        if values and inputs.is_number(values[0]):
            return whole(column(values, name))
        return split_sequences(values, name)
    if hasattr(values, "to_arrow") and type(values).__module__.partition(".")[0] == "polars":
        return split(values.to_arrow(), None, name)
    array = inputs.as_array(values, name)
    if array.ndim == 2:
        rows, width = array.shape
        bounds = np.arange(rows + 1, dtype=np.int64) * width
        return Ragged(np.ascontiguousarray(array).reshape(-1), bounds, nested=True)
    if array.ndim != 1:
        raise inputs.InputError(
            f"{name} must have one or two dimensions; found shape {array.shape}. Of a model's output over a vocabulary "
            "take what it says of the tokens themselves"
        )
    if array.dtype == object and array.shape[0] and not inputs.is_number(array[0]):
        return split_sequences(array.tolist(), name)
    return whole(column(array, name))


def whole(flat: np.ndarray) -> Ragged:
    """One sequence."""
    return Ragged(flat, np.array([0, flat.shape[0]], np.int64), nested=False)


def column(values: Any, name: str) -> np.ndarray:
    """One dimension of numbers."""
    array = inputs.as_array(values, name)
    if array.ndim != 1:
        raise inputs.InputError(f"{name} must have one dimension where offsets are given; found shape {array.shape}")
    if array.dtype.kind not in "biuf" and array.shape[0]:
        for at, value in enumerate(array.tolist()):
            if not inputs.is_number(value):
                raise inputs.InputError(f"{name}[{at}] is {value!r}: a number is needed")
        array = inputs.object_numbers(array, name)
    return array


def split_sequences(values: Sequence[Any], name: str) -> Ragged:
    """A list of lists or arrays."""
    if all(type(own) in (list, tuple) for own in values):
        try:
            flat = np.array(list(chain.from_iterable(values)))
        except (ValueError, OverflowError):
            refuse_nested(values, name)
        if flat.shape[0] == 0:
            flat = flat.astype(np.float64 if name == "log_probs" else np.bool_)
        if flat.ndim != 1 or flat.dtype.kind not in "biuf":
            refuse_nested(values, name)
        lengths = np.fromiter(map(len, values), np.int64, len(values))
    else:
        parts = [one_sequence(own, f"{name}[{at}]") for at, own in enumerate(values)]
        # An empty list says nothing of its type.
        flat = np.concatenate([part for part in parts if part.shape[0]] or parts[:1])
        lengths = np.array([part.shape[0] for part in parts], np.int64)
    bounds = np.zeros(len(values) + 1, np.int64)
    np.cumsum(lengths, out=bounds[1:])
    return Ragged(flat, bounds, nested=True)


def one_sequence(values: Any, name: str) -> np.ndarray:
    if not inputs.has_rows(values) or isinstance(values, (str, bytes)):
        raise inputs.InputError(f"{name} is {values!r}: a sequence of numbers is needed")
    array = inputs.as_array(values, name)
    if array.ndim != 1:
        raise inputs.InputError(f"{name} must have one dimension; found shape {array.shape}")
    return column(array, name)


def refuse_nested(values: Sequence[Sequence[Any]], name: str) -> NoReturn:
    for at, sequence in enumerate(values):
        for token, value in enumerate(sequence):
            if not inputs.is_number(value):
                raise inputs.InputError(f"{name}[{at}][{token}] is {value!r}: a number is needed")
    raise inputs.InputError(f"{name} must hold numbers that fit a float64")


def as_offsets(values: Any, n_tokens: int, name: str) -> np.ndarray:
    """Where sequences begin and end: from 0 to the number of tokens, never falling."""
    offsets = inputs.as_array(values, "offsets")
    if offsets.ndim != 1 or offsets.dtype.kind not in "iu" or offsets.shape[0] == 0:
        raise inputs.InputError(
            f"offsets must be whole numbers in one dimension, one more than sequences; found {offsets.dtype} of shape "
            f"{offsets.shape}"
        )
    offsets = inputs.contiguous(offsets.astype(np.int64))
    if offsets[0] != 0 or offsets[-1] != n_tokens:
        raise ValueError(
            f"offsets must go from 0 to {n_tokens}, the number of tokens of {name}; found {offsets[0]} to {offsets[-1]}"
        )
    falls = np.flatnonzero(offsets[1:] < offsets[:-1])
    if falls.shape[0]:
        at = int(falls[0])
        raise ValueError(f"offsets fall from {offsets[at]} to {offsets[at + 1]} at place {at + 1}")
    return offsets


def is_arrow_of_lists(values: Any) -> bool:
    """Known without importing pyarrow."""
    return type(values).__module__.partition(".")[0] == "pyarrow" and "list" in str(getattr(values, "type", ""))


def split_arrow(values: Any, name: str) -> Ragged:
    """An Arrow array of lists: its own buffers, without a copy where it is one chunk."""
    if hasattr(values, "combine_chunks"):
        values = values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()
    if values.null_count:
        at = int(np.flatnonzero(np.asarray(values.is_null()))[0])
        raise inputs.InputError(f"{name}[{at}] is null: a sequence of numbers is needed")
    if hasattr(values, "sizes"):
        # Views of lists, which may stand in any order: one after the other they are a copy.
        bounds = np.zeros(len(values) + 1, np.int64)
        np.cumsum(values.sizes.to_numpy(), out=bounds[1:])
        flat = values.flatten()
    elif hasattr(values, "offsets"):
        bounds = values.offsets.to_numpy().astype(np.int64)
        flat = values.values
    else:
        # Lists of one size: what is flattened begins where a slice does.
        flat = values.flatten()
        bounds = np.arange(len(values) + 1, dtype=np.int64) * values.type.list_size
    own = flat.slice(int(bounds[0]), int(bounds[-1] - bounds[0]))
    if own.null_count:
        ragged = Ragged(np.empty(0), bounds, nested=True)
        at = int(np.flatnonzero(np.asarray(own.is_null()))[0]) + int(bounds[0])
        raise inputs.InputError(f"{ragged.place(name, at)} is null: a number is needed")
    return Ragged(column(own, name), bounds - bounds[0], nested=True)
