"""Log-probabilities of tokens, in all the shapes that callers pass, as one flat column with the sequences' bounds."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, NoReturn

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.named_tuples import NamedTuple


class Ragged(NamedTuple):
    """Sequences of any lengths: sequence i is flat[bounds[i] : bounds[i + 1]].

    Values of `flat` outside of the bounds are ignored. If `nested`, error messages name a value by sequence and token,
    otherwise by its index in `flat`.
    """

    flat: np.ndarray
    bounds: np.ndarray
    nested: bool

    @property
    def n_sequences(self) -> int:
        return int(self.bounds.shape[0]) - 1

    def title(self, name: str, index: int) -> str:
        """The name of flat[index] in error messages, as the caller would write it."""
        sequence = int(np.searchsorted(self.bounds, index, side="right")) - 1
        token = index - int(self.bounds[sequence])
        if self.nested:
            return f"{name}[{sequence}][{token}]"
        flat_name = f"{name}[{index}]"
        return flat_name if self.n_sequences == 1 else f"{flat_name} (sequence {sequence}, token {token})"


class TokenLogProbs(NamedTuple):
    """Log-probabilities, float32 or float64, with a uint8 mask of the tokens that count (None: all do)."""

    values: np.ndarray
    mask: np.ndarray | None
    bounds: np.ndarray
    ragged: Ragged

    def raise_invalid(self) -> NoReturn:
        """Raise the error for the first token that counts and is not a log-probability."""
        first, last = int(self.bounds[0]), int(self.bounds[-1])
        bad = ~(self.values[first:last] <= 0)
        if self.mask is not None:
            bad &= self.mask[first:last] != 0
        index = first + validation.first_bad_row(bad)
        value = self.values[index]
        title = self.ragged.title("log_probs", index)
        if value != value:
            raise ValueError(f"{title} is NaN; mask tokens that have no log-probability")
        advice = "; pass np.log of probabilities" if value <= 1 else ""
        raise validation.ProbabilityError(f"{title} is {value}, but log-probabilities are at most 0{advice}")


def read_log_probs(log_probs: Any, mask: Any, offsets: Any) -> TokenLogProbs:
    """Convert and check the arguments of a public function. Values are checked later, by `raise_invalid`."""
    ragged = to_ragged(log_probs, offsets, "log_probs")
    values = validation.as_floats(ragged.flat, "log_probs")
    if ragged.n_sequences == 0 or (offsets is None and not ragged.nested and values.shape[0] == 0):
        raise ValueError("log_probs is empty: at least one sequence is needed")
    return TokenLogProbs(values, None if mask is None else read_mask(mask, offsets, ragged), ragged.bounds, ragged)


def read_mask(mask: Any, offsets: Any, tokens: Ragged) -> np.ndarray:
    """Return uint8 flags of `tokens.flat`, from a mask of bools or 0 and 1 with the shape of the log-probabilities."""
    ragged = to_ragged(mask, offsets, "mask")
    if ragged.n_sequences != tokens.n_sequences:
        raise ValueError(f"mask has {ragged.n_sequences} sequences but log_probs has {tokens.n_sequences}")
    lengths, expected = np.diff(ragged.bounds), np.diff(tokens.bounds)
    unequal = np.flatnonzero(lengths != expected)
    if unequal.shape[0]:
        at = int(unequal[0])
        index = f"[{at}]" if ragged.nested else ""
        raise ValueError(f"mask{index} has {lengths[at]} tokens but log_probs{index} has {expected[at]}")
    flat = ragged.flat
    if flat.dtype.kind not in "biu" and flat.shape[0]:
        raise validation.InputError(f"mask must hold True and False, or 1 and 0; found {flat.dtype}")
    if flat.dtype.kind in "iu":
        bad = np.flatnonzero((flat != 0) & (flat != 1))
        if bad.shape[0]:
            at = int(bad[0])
            raise ValueError(f"{ragged.title('mask', at)} is {flat[at]}: a mask holds True and False, or 1 and 0")
    first, last = int(ragged.bounds[0]), int(ragged.bounds[-1])
    if first == tokens.bounds[0] == 0 and last == tokens.flat.shape[0]:
        return validation.contiguous(flat[:last].astype(np.uint8, copy=False))
    flags = np.zeros(tokens.flat.shape[0], np.uint8)
    flags[int(tokens.bounds[0]) : int(tokens.bounds[-1])] = flat[first:last]
    return flags


def to_ragged(values: Any, offsets: Any, name: str) -> Ragged:
    """Convert sequences in any accepted shape to a flat column with bounds."""
    if offsets is not None:
        flat = number_column(values, name)
        bounds = validation.as_offsets(offsets, flat.shape[0], "sequences", f"tokens of {name}")
        return Ragged(flat, bounds, nested=False)
    if is_arrow_of_lists(values):
        return ragged_from_arrow(values, name)
    if isinstance(values, (list, tuple)):
        if values and validation.is_number(values[0]):
            return single_sequence(number_column(values, name))
        return ragged_from_lists(values, name)
    if hasattr(values, "to_arrow") and type(values).__module__.partition(".")[0] == "polars":
        return to_ragged(values.to_arrow(), None, name)
    array = validation.as_array(values, name)
    if array.ndim == 2:
        rows, width = array.shape
        bounds = np.arange(rows + 1, dtype=np.int64) * width
        return Ragged(np.ascontiguousarray(array).reshape(-1), bounds, nested=True)
    if array.ndim != 1:
        raise validation.InputError(
            f"{name} must have one or two dimensions; found shape {array.shape}. From a model's output over a "
            "vocabulary, select the log-probability of each token"
        )
    if array.dtype == object and array.shape[0] and not validation.is_number(array[0]):
        return ragged_from_lists(array.tolist(), name)
    return single_sequence(number_column(array, name))


def single_sequence(flat: np.ndarray) -> Ragged:
    """Return a flat column as one sequence."""
    return Ragged(flat, np.array([0, flat.shape[0]], np.int64), nested=False)


def number_column(values: Any, name: str) -> np.ndarray:
    """Return an array of numbers with one dimension."""
    array = validation.as_array(values, name)
    if array.ndim != 1:
        raise validation.InputError(
            f"{name} must have one dimension if offsets are given; found shape {array.shape}"
        )
    if array.dtype.kind not in "biuf" and array.shape[0]:
        for at, value in enumerate(array.tolist()):
            if not validation.is_number(value):
                raise validation.InputError(f"{name}[{at}] is {value!r}: a number is needed")
        array = validation.numbers_of_objects(array, name)
    return array


def ragged_from_lists(values: Sequence[Any], name: str) -> Ragged:
    """Convert a list of lists or arrays."""
    if all(type(sequence) in (list, tuple) for sequence in values):
        try:
            flat = np.array(list(chain.from_iterable(values)))
        except (ValueError, OverflowError):
            raise_not_number(values, name)
        if flat.shape[0] == 0:
            flat = flat.astype(np.float64 if name == "log_probs" else np.bool_)
        if flat.ndim != 1 or flat.dtype.kind not in "biuf":
            raise_not_number(values, name)
        lengths = np.fromiter(map(len, values), np.int64, len(values))
    else:
        arrays = [sequence_array(sequence, f"{name}[{at}]") for at, sequence in enumerate(values)]
        # Empty lists are left out: their dtype, float64, would decide the result's.
        flat = np.concatenate([array for array in arrays if array.shape[0]] or arrays[:1])
        lengths = np.array([array.shape[0] for array in arrays], np.int64)
    return Ragged(flat, np.append(0, np.cumsum(lengths)), nested=True)


def sequence_array(values: Any, name: str) -> np.ndarray:
    if not validation.is_array_like(values) or isinstance(values, (str, bytes)):
        raise validation.InputError(f"{name} is {values!r}: a sequence of numbers is needed")
    array = validation.as_array(values, name)
    if array.ndim != 1:
        raise validation.InputError(f"{name} must have one dimension; found shape {array.shape}")
    return number_column(array, name)


def raise_not_number(values: Sequence[Sequence[Any]], name: str) -> NoReturn:
    for at, sequence in enumerate(values):
        for token, value in enumerate(sequence):
            if not validation.is_number(value):
                raise validation.InputError(f"{name}[{at}][{token}] is {value!r}: a number is needed")
    raise validation.InputError(f"{name} must hold numbers that fit a float64")


def is_arrow_of_lists(values: Any) -> bool:
    """Whether the values are an Arrow array of lists, found without importing pyarrow."""
    return type(values).__module__.partition(".")[0] == "pyarrow" and "list" in str(getattr(values, "type", ""))


def ragged_from_arrow(values: Any, name: str) -> Ragged:
    """Convert an Arrow array of lists. An array of one chunk is not copied."""
    if hasattr(values, "combine_chunks"):
        values = values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()
    if values.null_count:
        at = int(np.flatnonzero(np.asarray(values.is_null()))[0])
        raise validation.InputError(f"{name}[{at}] is null: a sequence of numbers is needed")
    if hasattr(values, "sizes"):
        # List views may be in any order, so flattening copies them.
        bounds = np.append(0, np.cumsum(values.sizes.to_numpy(), dtype=np.int64))
        flat = values.flatten()
    elif hasattr(values, "offsets"):
        bounds = values.offsets.to_numpy().astype(np.int64)
        flat = values.values
    else:
        # Lists of a fixed size: flattening a slice returns the values of that slice only.
        flat = values.flatten()
        bounds = np.arange(len(values) + 1, dtype=np.int64) * values.type.list_size
    used = flat.slice(int(bounds[0]), int(bounds[-1] - bounds[0]))
    if used.null_count:
        ragged = Ragged(np.empty(0), bounds, nested=True)
        at = int(np.flatnonzero(np.asarray(used.is_null()))[0]) + int(bounds[0])
        raise validation.InputError(f"{ragged.title(name, at)} is null: a number is needed")
    return Ragged(number_column(used, name), bounds - bounds[0], nested=True)
