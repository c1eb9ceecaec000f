"""Classes of neighboring scores: how a row stands in the order of all scores is looked up by its class, not sorted.

A class is all rows whose keys begin with the same bits. Classes are divided, by as many further bits as they have too
many rows, until each is a small part of the log, or one score. So they depend on the rows alone, in any order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.resampling import score_classes as kernels
from fastmetrics._kernels.resampling.score_classes import FIRST_BITS

MOST_CLASSES = 1 << 16  # about so many are aimed at
LEAST_CLASSES = 1 << 10  # in slices
MOST_CELLS = 1 << 19  # classes of all slices together, if each has more than the least number
CROWDED = 8  # a class is divided again if it has so many times the rows that are aimed at
MOST_JOINED = 4  # with so many times the classes that are aimed at, neighbors are joined
MOST_BITS = 12  # by which a class is divided at a time
WEIGHT_BITS = 30  # of the integers that stand for weights
TERM_BITS = 30  # of the integers that stand for terms, whose greatest is below 2**TERM_BITS


class Division(NamedTuple):
    """How classes are divided: class c becomes firsts[c] + ((key >> shifts[c]) & masks[c])."""

    firsts: np.ndarray
    shifts: np.ndarray
    masks: np.ndarray


class ClassMasses(NamedTuple):
    """The weights of negatives and positives in every class of scores, from the lowest scores up (float64)."""

    negatives: np.ndarray
    positives: np.ndarray

    def below(self, masses: np.ndarray) -> np.ndarray:
        """What lies below every class, and half of what is in it."""
        return np.asarray(masses.cumsum() - masses / 2)

    def from_above(self, masses: np.ndarray) -> np.ndarray:
        """What lies in every class and above it."""
        return np.asarray(masses[::-1].cumsum()[::-1])


class ScoreClasses:
    """The classes of the scores of some rows, of one type."""

    def __init__(self, dtype: np.dtype) -> None:
        self.key_bits = 8 * dtype.itemsize
        self.divisions: list[Division] = []
        self.n_classes = 1 << FIRST_BITS
        self.bits_left = np.full(self.n_classes, self.key_bits - FIRST_BITS)

    def of_scores(self, scores: np.ndarray) -> np.ndarray:
        """The class of every row: int32."""
        classes = np.empty(scores.shape[0], np.int32)
        kernels.first_classes(scores, classes)
        for division in self.divisions:
            kernels.divide_classes(scores, *division, classes)
        return classes

    def divide(self, counts: np.ndarray, most: int) -> bool:
        """Divide classes that have more than a `most`-th of the rows; return whether there are any."""
        share = np.ceil(counts * (most / max(1, int(counts.sum())))).astype(np.int64)
        share[share <= (CROWDED if self.divisions else 1)] = 1
        bits = np.minimum(bit_length(share - 1), np.minimum(self.bits_left, MOST_BITS))
        sizes = np.left_shift(1, bits)
        firsts = sizes.cumsum() - sizes
        left = self.bits_left - bits
        masks = sizes - 1
        if not bits.any():
            return False
        self.divisions.append(Division(firsts.astype(np.int32), left.astype(np.uint8), masks.astype(np.uint32)))
        self.n_classes = int(sizes.sum())
        self.bits_left = np.repeat(left, sizes)
        return True


def bit_length(numbers: np.ndarray) -> np.ndarray:
    """The bits of nonnegative integers below 2**53."""
    return np.asarray(np.frexp(numbers.astype(np.float64))[1], np.int64)


def find_classes(dtype: np.dtype, count: Callable[[ScoreClasses], np.ndarray]) -> tuple[ScoreClasses, np.ndarray]:
    """The classes of rows, and the rows of each. `count(classes)` returns the number of rows of every class."""
    classes = ScoreClasses(dtype)
    counts = count(classes)
    while classes.divide(counts, MOST_CLASSES):
        counts = count(classes)
    return classes, counts


def join_classes(counts: np.ndarray, n_slices: int) -> np.ndarray | None:
    """The class in so many slices (0: in all rows) of every class, int32; None if there are few.

    `counts` is the number of rows of each class. Neighbors are joined to classes of about as many rows each; one with
    more rows stays alone.
    """
    most = min(MOST_CLASSES, max(LEAST_CLASSES, MOST_CELLS // n_slices)) if n_slices else MOST_CLASSES
    if counts.shape[0] <= (MOST_JOINED if most == MOST_CLASSES else 1) * most:
        return None
    below = counts.cumsum() - counts
    shares = below * most // max(1, int(counts.sum()))
    return np.append(0, (shares[1:] != shares[:-1]).cumsum()).astype(np.int32)


class ClassTerms(NamedTuple):
    """What a row of every class adds, as integers: int32[n_classes, 2] for negatives and positives, times `unit`."""

    table: np.ndarray
    unit: float


def terms_of(values: Any) -> ClassTerms:
    """The values of every class, float64[n_classes, 2], on a grid: sums of them have the same bits in any order."""
    greatest = float(np.abs(values).max(initial=0.0))
    exponent = TERM_BITS - int(np.frexp(greatest)[1]) if greatest else 0
    return ClassTerms(np.rint(np.ldexp(values, exponent)).astype(np.int32), float(np.ldexp(1.0, -exponent)))
