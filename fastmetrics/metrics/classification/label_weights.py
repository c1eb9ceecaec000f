"""Exact sums of the weights of two columns of labels: of each pair of labels, and of each label.

Few labels have a square of sums, a window of 128 bits for each pair (`superaccumulator.pxd`); a weight that does not
fit the window, because others are 2**40 times as great, is added to a superaccumulator of its pair. With many labels
the weights are sorted by label first, and each run is summed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.columns.row_blocks import block_bounds
from fastmetrics._core.parallel import accumulate, for_each
from fastmetrics._kernels.classification import label_counts
from fastmetrics._kernels.classification import label_weights as kernel
from fastmetrics._kernels.numeric import sums

WEIGHED_ROWS = 1 << 14  # rows whose pairs are numbered at once
MAX_SQUARE_BITS = 7
FEW_CELLS = 256  # a square of so many cells pays for few rows too
ROWS_PER_CELL = 8
N_COPIES = 4
CLASSES_PER_CHUNK = 1024
SIGNIFICAND_SHIFT = 1075  # the unit of a window at place p is 2**(p - 1075)

WeightStates = tuple[np.ndarray, np.ndarray, np.ndarray]


class WeightSquare:
    """The exact weight of each pair of n labels.

    Parameters
    ----------
    limbs : ndarray of int64, of shape (n, n, 4)
        Sums of limbs of 32 bits, in units of 2**(shift - EXPONENT).
    shift : int
        The shift from this unit to that of `exact.py`.
    wide : ndarray of object, of shape (n, n), optional
        What else belongs to the sums, as integers in the unit of `exact.py`.
    """

    def __init__(self, limbs: np.ndarray, shift: int, wide: np.ndarray | None = None) -> None:
        self.limbs = limbs
        self.shift = shift
        self.wide = wide

    def select(self, rows: np.ndarray, columns: np.ndarray) -> WeightSquare:
        """The sums of selected labels of the first and the second column."""
        where = np.ix_(rows, columns)
        return WeightSquare(self.limbs[where], self.shift, None if self.wide is None else self.wide[where])

    def move(self, n: int, rows: np.ndarray, columns: np.ndarray) -> WeightSquare:
        """The sums as those of n labels: `rows` and `columns` are the new numbers of both columns' labels."""
        where = np.ix_(rows, columns)
        limbs, wide = np.zeros((n, n, self.limbs.shape[2]), np.int64), None
        limbs[where] = self.limbs
        if self.wide is not None:
            wide = np.zeros((n, n), object)
            wide[where] = self.wide
        return WeightSquare(limbs, self.shift, wide)

    def integers(self, limbs: np.ndarray, wide: np.ndarray | None) -> list[int]:
        """Sums times 2**EXPONENT."""
        values = exact.join_limbs(limbs, self.shift)
        return values if wide is None else [one + other for one, other in zip(values, wide.tolist(), strict=True)]

    def margins(self) -> tuple[list[int], list[int], list[int]]:
        """The weight of each label in both columns, in the first and in the second, times 2**EXPONENT."""
        limbs, wide = self.limbs, self.wide
        return (
            self.integers(np.diagonal(limbs).T, None if wide is None else wide.diagonal()),
            self.integers(limbs.sum(axis=1), None if wide is None else wide.sum(axis=1)),
            self.integers(limbs.sum(axis=0), None if wide is None else wide.sum(axis=0)),
        )

    def by_distance(self) -> list[int]:
        """The weight of the rows whose labels are so many numbers apart, times 2**EXPONENT."""
        n = self.limbs.shape[0]
        limbs = np.array([self.limbs.trace(distance) for distance in range(-n + 1, n)])
        wide = None if self.wide is None else np.array([self.wide.trace(i) for i in range(-n + 1, n)], object)
        values = self.integers(limbs, wide)
        return [values[n - 1], *map(sum, zip(values[n:], values[: n - 1][::-1], strict=True))]

    def cells(self) -> tuple[np.ndarray, list[int]]:
        """The indices of the cells in the flattened square that are not zero, and their weights times 2**EXPONENT."""
        limbs = self.limbs.reshape(-1, self.limbs.shape[2])
        used = limbs.any(axis=1)
        if self.wide is not None:
            used |= self.wide.reshape(-1) != 0
        where = np.flatnonzero(used)
        return where, self.integers(limbs[where], None if self.wide is None else self.wide.reshape(-1)[where])


class WindowSquare:
    """One thread's windows, and the weights that do not fit them.

    A few cells have several windows, used in turn: otherwise a window would wait for its previous store in every row.
    """

    __slots__ = ("copies", "n_others", "numbers", "others", "states", "windows")

    def __init__(self, n_cells: int) -> None:
        n_copies = N_COPIES if n_cells <= FEW_CELLS else 1
        self.windows = np.zeros((n_cells, n_copies, 2), np.uint64)
        self.copies = np.tile(np.arange(n_copies, dtype=np.uint16), WEIGHED_ROWS // n_copies)
        self.states: np.ndarray | None = None
        self.n_others = 0  # values added to the states since they were normalized
        self.numbers = np.empty(WEIGHED_ROWS, np.int32)
        self.others = np.empty(WEIGHED_ROWS, np.int32)

    def add(
        self, first: np.ndarray, second: np.ndarray, weights: np.ndarray, bounds: tuple[int, int], low: int, bits: int,
        place: int,
    ) -> None:  # fmt: skip
        """Add the weights of the rows between two bounds."""
        for start in range(*bounds, WEIGHED_ROWS):
            stop = min(bounds[1], start + WEIGHED_ROWS)
            numbers, own = self.numbers[: stop - start], weights[start:stop]
            if label_counts.number_cells(first, second, start, stop, low, bits, numbers) < stop:
                raise ValueError("the labels changed while they were read")
            copies = self.copies[: stop - start]
            n_others = sums.add_to_windows(own, numbers, copies, 0, place, self.windows, self.others)
            if n_others:
                if self.states is None:
                    self.states = exact.new_states(self.windows.shape[0], 1)
                rows = self.others[:n_others]
                self.n_others += n_others
                if self.n_others > exact.MAX_UNNORMALIZED:
                    sums.normalize_states(self.states)
                    self.n_others = n_others
                sums.add_by_number(own[rows], numbers[rows], self.states[:, 0])


def has_square(n_labels: int, rows: int) -> bool:
    """Is a square of sums faster than sorted weights?"""
    bits = (n_labels - 1).bit_length()
    return bits <= MAX_SQUARE_BITS and 1 << 2 * bits <= max(FEW_CELLS, rows // ROWS_PER_CELL)


def weigh_square(
    first: np.ndarray, second: np.ndarray, weights: np.ndarray, low: int, n_labels: int, n_threads: int
) -> WeightSquare:
    """Sum the weights of two columns of integers from `low` on, which kernels can read."""
    bits = (n_labels - 1).bit_length()
    place = sums.place_of_window(weights)
    bounds = list(block_bounds(weights.shape[0]))
    squares = accumulate(
        len(bounds), lambda: WindowSquare(1 << 2 * bits),
        lambda square, block: square.add(first, second, weights, bounds[block], low, bits, place), n_threads,
    )  # fmt: skip
    shape = 1 << bits, 1 << bits
    limbs = np.zeros((*shape, 4), np.int64)
    wide = None
    for square in squares:
        windows = square.windows.astype("<u8", copy=False).view("<u4")
        limbs += windows.reshape(*shape, -1, 4).sum(axis=2, dtype=np.int64)
        if square.states is not None:
            wide = np.zeros(shape, object) if wide is None else wide
            sums.normalize_states(square.states)
            states = square.states[:, 0]
            used = np.flatnonzero(states.any(axis=1))
            wide.reshape(-1)[used] += np.array([exact.to_integer(states[cell]) for cell in used.tolist()], object)
    part = slice(n_labels)
    shift = place - SIGNIFICAND_SHIFT + exact.EXPONENT
    return WeightSquare(limbs[part, part], shift, None if wide is None else wide[part, part])


def weigh_equal_rows(first: np.ndarray, second: np.ndarray, weights: np.ndarray, n_threads: int) -> int | None:
    """The weight of the rows with equal labels, times 2**EXPONENT; None if kernels cannot read the columns."""
    bounds = list(block_bounds(weights.shape[0]))
    states = exact.new_states(len(bounds))

    def add(block: int) -> bool:
        own = slice(*bounds[block])
        same = np.empty(own.stop - own.start, np.uint8)
        is_read: bool = label_counts.mark_equal(first[own], second[own], same)
        sums.sum_selected(weights[own], same, states[block])
        return is_read

    if not all(for_each(len(bounds), lambda: add, n_threads)):
        return None
    return sum(map(exact.to_integer, states))


def round_integers(values: Iterable[int]) -> list[float]:
    """Sums times 2**EXPONENT as floats, each rounded once."""
    return [exact.divide(value, 1 << exact.EXPONENT) for value in values]


def order_weights(codes: np.ndarray, n_cells: int, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The weights ordered by the code of their row, and the start of each code."""
    starts = np.zeros(n_cells + 2, np.int64)
    ordered = np.empty(weights.shape[0])
    kernel.order_weights(codes, None, 0, weights, starts, ordered)
    return ordered, starts


def sum_code_weights(codes: np.ndarray, n_codes: int, weights: np.ndarray) -> Iterator[np.ndarray]:
    """The exact weight of each code: superaccumulator states, in chunks."""
    ordered, starts = order_weights(codes, n_codes, weights)
    for start in range(0, n_codes, CLASSES_PER_CHUNK):
        states = exact.new_states(min(CLASSES_PER_CHUNK, n_codes - start))
        kernel.sum_run_states(ordered, starts, start, states)
        yield states


def weights_by_code(codes: np.ndarray, n_codes: int, weights: np.ndarray) -> list[int]:
    """The exact weight of each code, times 2**EXPONENT."""
    return [weight for states in sum_code_weights(codes, n_codes, weights) for weight in exact.to_integers(states)]


def sum_class_weights(
    first: np.ndarray, second: np.ndarray, n_classes: int, weights: np.ndarray
) -> Iterator[WeightStates]:
    """Exact weights of each code in both columns, the first and the second: superaccumulator states, in chunks."""
    equal = first == second
    return zip(
        sum_code_weights(first[equal], n_classes, weights[equal]),
        sum_code_weights(first, n_classes, weights),
        sum_code_weights(second, n_classes, weights),
        strict=True,
    )


def round_class_weights(chunks: Iterable[WeightStates], weights: np.ndarray) -> np.ndarray:
    """The weighted tp, fp, fn, tn of each class, rounded once."""
    total = exact.sum_state(weights, None)
    rounded = []
    for states in chunks:
        counts = np.empty((4, states[0].shape[0]))
        kernel.round_counts(*states, total, counts)
        rounded.append(counts)
    return np.concatenate(rounded, axis=1)


def sum_cell_weights(first: np.ndarray, second: np.ndarray, n_classes: int, weights: np.ndarray) -> np.ndarray:
    """The weight of every pair of codes: an exact sum, rounded once."""
    starts = np.zeros(n_classes * n_classes + 2, np.int64)
    ordered = np.empty(weights.shape[0])
    kernel.order_weights(first, second, n_classes, weights, starts, ordered)
    out = np.empty(n_classes * n_classes)
    kernel.sum_runs(ordered, starts, out)
    return out.reshape(n_classes, n_classes)
