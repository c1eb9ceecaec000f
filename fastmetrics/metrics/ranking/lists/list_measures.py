"""Measures of ranked lists: their options as the kernel reads them, lists in memory, and means over lists.

A list is the rows of one group. `measure_lists` gives every measure of every list; a mean is a ratio of exact sums of
these, so it depends neither on the order of lists nor on threads. What the measures are is told where their kernel is
(`_kernels/rankmeasures.pxd`) and by the functions of this folder.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import inputs
from fastmetrics._core.exact import divide
from fastmetrics._core.parallel import for_each
from fastmetrics._core.rows import SERIAL_ROWS
from fastmetrics._core.statistic import Sums
from fastmetrics._kernels import listmeans, rankings

KINDS = {
    "dcg": 0, "ndcg": 1, "idcg": 2, "cg": 3, "map": 4, "mrr": 5, "mind_mrr": 6, "hr": 7, "p": 8, "recall": 9, "f1": 10,
    "rprec": 11, "err": 12, "rbp": 13, "bpref": 14, "auc": 15, "iprec": 16, "n_retrieved": 17, "n_relevant": 18,
    "n_relevant_retrieved": 19, "hits": 20,
}  # fmt: skip
GAINS = {"linear": 0, "exp2": 1, "binary": 2}
IDEALS = {"judged": 0, "k": 1}
NORMALIZE = {"min": 0, "relevant": 1, "k": 2, "hits": 3}
SHORT_LISTS = {"k": 0, "n": 1}
TIES = {"average": 0, "optimistic": 1, "pessimistic": 2, "stable": 3, "later": 4, "docid": 5}
TEXT_TIES = 6
EMPTY = ("zero", "skip", "one", "nan", "raise")
GREATEST_FLOAT = float(np.finfo(np.float64).max)
GREATEST_GRADE = 1000.0  # of gain exp2: 2**grade stays a number, also when summed
NO_WORDS: np.ndarray = np.empty(0, np.uint64)
NO_BYTES: np.ndarray = np.empty(0, np.uint8)
NO_PLACES: np.ndarray = np.empty(0, np.int64)
NO_TEXT = (NO_BYTES, NO_PLACES, NO_PLACES)
ONE_GRADE = np.zeros(1)
ROWS, POSITIVES, JUDGED, IDEAL, TIED_PAIRS, PAIRS, MISSING = range(7)  # columns of a list's counts
MOST_KEPT = 1 << 20  # weights of ranks, and their sums
LISTS_OF_A_UNIT = 1 << 16  # rows that a thread takes at a time


class BadListsError(Exception):
    """A score is NaN, or a grade not allowed, somewhere in lists that were measured."""


class Measure(NamedTuple):
    """A measure and its options, as numbers for the kernel; k = 0 is no cutoff."""

    kind: int
    k: int = 0
    gain: int = 0
    ideal: int = 0
    option: int = 0
    level: float = 1.0
    number: float = 0.0

    @classmethod
    def of(
        cls,
        name: str,
        k: int | None = None,
        *,
        gain: str = "linear",
        ideal: str = "judged",
        normalize: str = "min",
        short_list: str = "k",
        relevance_level: float = 1,
        number: float = 0.0,
    ) -> Measure:
        """Options are checked before; `number` is p of rbp, max_grade of err, the recall of iprec."""
        option = NORMALIZE[normalize] if name == "map" else SHORT_LISTS[short_list]
        gain = "binary" if name == "mind_mrr" else gain
        return cls(KINDS[name], k or 0, GAINS[gain], IDEALS[ideal], option, float(relevance_level), float(number))

    @property
    def sees_empty(self) -> bool:
        """Is it undefined for some lists? Sums of gains and counts are not."""
        return self.kind not in (KINDS["dcg"], KINDS["idcg"], KINDS["cg"], *range(KINDS["n_retrieved"], 21))


class MeasureTable:
    """Measures to be taken together."""

    def __init__(self, measures: Sequence[Measure]) -> None:
        if len(measures) > rankings.MOST_MEASURES:
            raise ValueError(f"at most {rankings.MOST_MEASURES} measures at a time; found {len(measures)}")
        self.measures = tuple(measures)
        self.integers = np.array([[m.kind, m.k, m.gain, m.ideal, m.option] for m in measures], np.int64)
        self.numbers = np.array([[m.level, m.number] for m in measures], np.float64)
        # Of ideal lists of k ones a sum of k weights is read; other cutoffs end at the list's last row.
        self.ranks = max((m.k for m in measures if m.ideal), default=0)
        self.greatest_grade = min((m.number for m in measures if m.kind == KINDS["err"]), default=np.inf)
        if any(m.gain == GAINS["exp2"] for m in measures):
            self.greatest_grade = min(self.greatest_grade, GREATEST_GRADE)
        self.greatest = min(self.greatest_grade, GREATEST_FLOAT)

    def __len__(self) -> int:
        return len(self.measures)


@lru_cache(maxsize=256)
def table_of(measures: tuple[Measure, ...]) -> MeasureTable:
    """The table of some measures: calls in a loop ask for the same again and again."""
    return MeasureTable(measures)


class Discounts:
    """The weights of ranks in DCG, and their sums; made once for a logarithm and lengthened when needed.

    Lists of millions of rows are rare: of base 2, only the first weights are kept, and a sum now and then beyond.
    """

    def __init__(self, log_base: float) -> None:
        self.log_base = log_base
        self.made = (np.empty(0), np.zeros((1, 2)))
        self.lock = Lock()

    def up_to(self, ranks: int) -> tuple[np.ndarray, np.ndarray]:
        """(weights, sums) of at least so many ranks, whatever other threads ask for meanwhile."""
        made = self.made
        if reach_of(*made) <= ranks:
            with self.lock:
                made = self.made
                if reach_of(*made) <= ranks:
                    reach = max(128, ranks + ranks // 2)
                    kept = min(reach, MOST_KEPT) if self.log_base == 2 else reach
                    marks = -(-(reach - kept) // rankings.MARKED_RANKS)
                    made = np.empty(kept), np.empty((kept + 1 + marks, 2))
                    rankings.discounts(self.log_base, *made)
                    self.made = made
        return made


def reach_of(weights: np.ndarray, sums: np.ndarray) -> int:
    """How many ranks weights and sums are for."""
    kept: int = weights.shape[0]
    return kept + (int(sums.shape[0]) - kept - 1) * rankings.MARKED_RANKS


BINARY_LOGARITHM = Discounts(2.0)


class Lists(NamedTuple):
    """Lists one after the other: list i has the rows offsets[i]..offsets[i + 1].

    Grades are uint8, int64, float32 or float64; below zero they say that nobody judged the row. Judged items that were
    not retrieved have the grades unretrieved[unretrieved_offsets[i]...] (float64). What decides ties="docid": `order`
    is None, one uint64 a row (the smallest comes first), or (data, starts, stops): text, the greatest comes first.
    """

    scores: np.ndarray
    grades: np.ndarray
    offsets: np.ndarray
    unretrieved: np.ndarray = ONE_GRADE
    unretrieved_offsets: np.ndarray = NO_PLACES
    order: Any = None

    @property
    def n_lists(self) -> int:
        return int(self.offsets.shape[0]) - 1

    def longest(self) -> tuple[int, int]:
        """Rows of the longest list, and items of the longest ideal list."""
        lengths = np.diff(self.offsets)
        rows = int(lengths.max(initial=0))
        if self.unretrieved_offsets.shape[0]:
            lengths = lengths + np.diff(self.unretrieved_offsets)
        return rows, int(lengths.max(initial=0))


class Measured(NamedTuple):
    """Values (measure, list), NaN where a list has nothing relevant, and counts (list, what)."""

    values: np.ndarray
    counts: np.ndarray


def measure_lists(
    lists: Lists,
    table: MeasureTable,
    ties: str = "average",
    n_threads: int = 1,
    *,
    discounts: Discounts = BINARY_LOGARITHM,
    signed_gains: bool = False,
    unjudged: bool = True,
    longest: int | None = None,
) -> Measured:
    """All measures of all lists.

    `unjudged`: grades below zero say that nobody judged a row; else they are refused, unless they are gains. What is
    refused is found on the way (BadListsError); who called knows how to name it. `longest` is the length of the longest
    list, where that is known and no judged item is missing from the lists.
    """
    n_lists = lists.n_lists
    values = np.empty((len(table), n_lists))
    counts = np.zeros((n_lists, rankings.N_COUNTS), np.int64)
    if n_lists == 0:
        return Measured(values, counts)
    longest, longest_ideal = lists.longest() if longest is None else (longest, longest)
    weights, sums = discounts.up_to(max(table.ranks, longest_ideal, longest))
    least = -GREATEST_FLOAT if signed_gains or unjudged else 0.0
    rule = TIES[ties]
    keys, text = NO_WORDS, NO_TEXT
    if ties == "docid":
        if isinstance(lists.order, np.ndarray):
            keys = lists.order
        else:
            data, starts, stops = lists.order
            rule, text = TEXT_TIES, (data, starts.astype(np.int64, copy=False), stops.astype(np.int64, copy=False))
    scores, grades = padded(lists.scores), padded(lists.grades)

    def make_worker() -> Callable[[int], None]:
        memory = np.empty(rankings.WORDS_OF_A_ROW * (longest + 2) + longest_ideal + rankings.SPARE, np.uint64)
        kinds = np.empty(longest + 1, np.uint8)

        def work(unit: int) -> None:
            rankings.measure_lists(
                scores, grades, lists.offsets, lists.unretrieved, lists.unretrieved_offsets, table.integers,
                table.numbers, weights, sums, rule, keys, *text, least, table.greatest, signed_gains, bounds[unit],
                bounds[unit + 1], memory, kinds, values, counts, found[unit],
            )  # fmt: skip

        return work

    rows = int(lists.offsets[-1])
    bounds = [0, n_lists]
    if n_threads > 1 and rows > SERIAL_ROWS:
        edges = np.arange(0, rows + LISTS_OF_A_UNIT, LISTS_OF_A_UNIT)
        bounds = sorted({0, n_lists, *np.searchsorted(lists.offsets, edges).clip(0, n_lists).tolist()})
    found = np.zeros((len(bounds) - 1, 1), np.int64)
    if len(bounds) == 2:
        make_worker()(0)
    else:
        for_each(len(bounds) - 1, make_worker, n_threads)
    if found.any():
        raise BadListsError
    return Measured(values, counts)


def padded(column: np.ndarray) -> np.ndarray:
    """A column that has an address: one without rows gets one that nobody reads."""
    return column if column.shape[0] else np.zeros(1, column.dtype)


class Mean(NamedTuple):
    """A mean over lists, and what it is of."""

    value: float
    lists: int
    empty: int


def new_sums() -> Sums:
    """The state of a mean over lists: counts lists, empty ones; sums of w value and of w."""
    return Sums(2, 2)


def add_values(sums: Sums, values: np.ndarray, weights: np.ndarray | None, empty: str) -> None:
    """Add the lists' values to the sums, empty lists (NaN) as the policy says."""
    listmeans.mean_terms(
        values, NO_WEIGHTS if weights is None else weights, empty != "skip", 1.0 if empty == "one" else 0.0,
        sums.exact[0], sums.exact[1], sums.counts,
    )  # fmt: skip


NO_WEIGHTS: np.ndarray = np.empty(0)


def mean(values: np.ndarray, weights: np.ndarray | None = None, empty: str = "zero") -> Mean:
    """The weighted mean of the lists' values; NaN where there is none, or where `empty` says so."""
    if weights is None:
        found = np.zeros(2, np.int64)
        value = rankings.plain_mean(values, empty != "skip", 1.0 if empty == "one" else 0.0, found)
        if value is not None:
            n, n_empty = found.tolist()
            return Mean(float("nan") if empty == "nan" and n_empty else value, n, n_empty)
    sums = new_sums()
    add_values(sums, values, weights, empty)
    n, n_empty = sums.counts.tolist()
    if n == 0 or (empty == "nan" and n_empty) or not (mass := sums.integer(1)):
        return Mean(float("nan"), n, n_empty)
    return Mean(divide(sums.integer(0), mass), n, n_empty)


def check_cutoff(k: Any, name: str = "k", required: bool = False) -> int | None:
    """A cutoff: a whole number of at least 1, or None where that is allowed."""
    if k is None and not required:
        return None
    if isinstance(k, (bool, np.bool_)) or not isinstance(k, (int, np.integer)) or k < 1:
        allowed = "a whole number of at least 1" + ("" if required else ", or None")
        raise inputs.OptionError(f"{name} must be {allowed}; found {k!r}")
    return int(k)


def check_cutoffs(k: Any, required: bool = False) -> tuple[list[int | None], bool]:
    """One cutoff, or several: then the result has as many values."""
    if isinstance(k, (list, tuple, range, np.ndarray)):
        if len(k) == 0:
            raise inputs.OptionError("k is empty: name at least one cutoff")
        return [check_cutoff(own, "every k", True) for own in k], True
    return [check_cutoff(k, required=required)], False


def check_number(value: Any, name: str, low: float, high: float, wanted: str) -> float:
    """A finite number with low < value < high."""
    is_number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, (bool, np.bool_))
    if not is_number or not low < float(value) < high:
        raise inputs.OptionError(f"{name} must be {wanted}; found {value!r}")
    return float(value)


def check_level(value: Any) -> float:
    return check_number(value, "relevance_level", 0.0, np.inf, "a finite number above 0")


def check_max_grade(value: Any) -> float:
    return check_number(value, "max_grade", 0.0, GREATEST_GRADE + 1, f"a number above 0, at most {GREATEST_GRADE:g}")


def check_persistence(value: Any) -> float:
    return check_number(value, "p", 0.0, 1.0, "a number between 0 and 1, both excluded")
