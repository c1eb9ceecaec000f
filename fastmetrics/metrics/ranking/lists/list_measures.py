"""Measures of ranked lists: their options as the kernel reads them, lists in memory, and means over lists.

A list is the rows of one group. `measure_lists` computes every measure of every list. A mean is a ratio of exact sums
of these values, so it does not depend on the order of lists or on threads. `_kernels/ranking/list_measures.pxd` and
the docstrings of the public functions define the measures.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.columns.row_blocks import SERIAL_ROWS
from fastmetrics._core.exact import divide
from fastmetrics._core.metric_strings import GREATEST_CUTOFF
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import for_each
from fastmetrics._core.state import Fields, Sums, exact_sum
from fastmetrics._kernels.ranking import list_means, ranked_lists

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
EMPTY_POLICIES = ("zero", "skip", "one", "nan", "raise")
GREATEST_FLOAT = float(np.finfo(np.float64).max)
GREATEST_GRADE = 1000.0  # for gain exp2: sums of 2**grade stay finite
NO_OFFSETS: np.ndarray = np.empty(0, np.int64)
ONE_GRADE = np.zeros(1)
# Columns of the counts of a list.
ROWS, POSITIVES, JUDGED, IDEAL, TIED_PAIRS, PAIRS, MISSING, TRUTH_ROWS = range(8)
MOST_STORED_WEIGHTS = 1 << 20  # of ranks, and as many sums of weights
ROWS_PER_CHUNK = 1 << 16  # rows of the lists that a thread measures at a time


class InvalidRowError(Exception):
    """A list has a NaN score or a grade that is not allowed; the kernel does not say where."""


class Measure(NamedTuple):
    """A measure and its options, as numbers for the kernel. k = 0 means no cutoff."""

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
        p: float = 0.0,
        max_grade: float = 0.0,
        number: float = 0.0,
    ) -> Measure:
        """A measure from checked options; `number` is the recall level of iprec."""
        option = NORMALIZE[normalize] if name == "map" else SHORT_LISTS[short_list]
        gain = "binary" if name == "mind_mrr" else gain
        number = float(p or max_grade or number)
        return cls(KINDS[name], k or 0, GAINS[gain], IDEALS[ideal], option, float(relevance_level), number)

    @classmethod
    def of_micro_hits(cls, k: int | None, relevance_level: float) -> tuple[Measure, Measure]:
        """The numerator and the denominator of the hits of all lists among the relevant rows of all lists."""
        return (
            cls.of("hits", k, relevance_level=relevance_level),
            cls.of("n_relevant", relevance_level=relevance_level),
        )


class MeasureTable:
    """Measures that are computed together."""

    def __init__(self, measures: Sequence[Measure]) -> None:
        if len(measures) > ranked_lists.MOST_MEASURES:
            raise ValueError(f"at most {ranked_lists.MOST_MEASURES} measures at a time; found {len(measures)}")
        self.measures = tuple(measures)
        integers = np.array([[m.kind, m.k, m.gain, m.ideal, m.option] for m in measures], np.int64)
        numbers = np.array([[m.level, m.number] for m in measures], np.float64)
        self.of_kernel = ranked_lists.Measures(integers, numbers)
        # An ideal list of k gains of one needs the sum of k weights; other cutoffs end at the list's last row.
        self.ranks = self.of_kernel.ideal_ranks
        self.greatest_grade = min((m.number for m in measures if m.kind == KINDS["err"]), default=np.inf)
        if any(m.gain == GAINS["exp2"] for m in measures):
            self.greatest_grade = min(self.greatest_grade, GREATEST_GRADE)
        self.greatest = min(self.greatest_grade, GREATEST_FLOAT)

    def __len__(self) -> int:
        return len(self.measures)


@lru_cache(maxsize=256)
def cached_table(measures: tuple[Measure, ...]) -> MeasureTable:
    """The table of some measures, cached: calls in a loop use the same one."""
    return MeasureTable(measures)


class Discounts:
    """The weights of ranks in DCG and their sums, computed once for a logarithm and extended when needed.

    For base 2 only the first MOST_STORED_WEIGHTS weights are stored, since lists of millions of rows are rare.
    """

    def __init__(self, log_base: float) -> None:
        self.log_base = log_base
        self.weights = ranked_lists.RankWeights(log_base, 0, 0)
        self.lock = Lock()

    def up_to(self, ranks: int) -> ranked_lists.RankWeights:
        """The weights of at least so many ranks. Safe to call from several threads."""
        weights = self.weights
        if weights.n_ranks <= ranks:
            with self.lock:
                weights = self.weights
                if weights.n_ranks <= ranks:
                    n_ranks = max(128, ranks + ranks // 2)
                    self.weights = weights = ranked_lists.RankWeights(self.log_base, n_ranks, MOST_STORED_WEIGHTS)
        return weights


BINARY_LOGARITHM = Discounts(2.0)


def discounts_of(log_base: Any) -> Discounts:
    """The discounts of a logarithm; those of base 2 are shared by all calls."""
    base = validation.check_number(log_base, "log_base", "a finite number above 1", lambda base: 1 < base < np.inf)
    return BINARY_LOGARITHM if base == 2 else Discounts(base)


class Lists(NamedTuple):
    """Lists one after the other: list i has the rows offsets[i]..offsets[i + 1].

    Grades are uint8, int64, float32 or float64; a negative grade marks an unjudged row. The judged items of list i that
    were not retrieved have the grades unretrieved[unretrieved_offsets[i]...] (float64). `order` decides ties="docid":
    None, one uint64 per row (the smallest comes first), or (data, starts, stops) of texts (the greatest comes first).
    """

    scores: np.ndarray
    grades: np.ndarray
    offsets: np.ndarray
    unretrieved: np.ndarray = ONE_GRADE
    unretrieved_offsets: np.ndarray = NO_OFFSETS
    order: Any = None

    @property
    def n_lists(self) -> int:
        return int(self.offsets.shape[0]) - 1


class MeasuredLists(NamedTuple):
    """Values (measure, list), NaN if a list has nothing relevant, and counts (list, count)."""

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
) -> MeasuredLists:
    """All measures of all lists.

    Negative grades mark unjudged rows if `unjudged`, are gains if `signed_gains`, and are invalid otherwise. An invalid
    grade or score raises InvalidRowError; the caller finds the row.
    """
    n_lists = lists.n_lists
    values = np.empty((len(table), n_lists))
    counts = np.zeros((n_lists, ranked_lists.N_COUNTS), np.int64)
    if n_lists == 0:
        return MeasuredLists(values, counts)
    order, rule = None, TIES[ties]
    if ties == "docid":
        order = lists.order
        if not isinstance(order, np.ndarray):
            data, starts, stops = order[:3]
            rule, order = TEXT_TIES, (data, starts.astype(np.int64, copy=False), stops.astype(np.int64, copy=False))
    columns = ranked_lists.ListColumns(
        lists.scores, lists.grades, lists.offsets, lists.unretrieved, lists.unretrieved_offsets, order
    )
    weights = discounts.up_to(max(table.ranks, columns.longest_ideal))
    least = -GREATEST_FLOAT if signed_gains or unjudged else 0.0

    def measure(start: int, stop: int) -> None:
        is_valid = ranked_lists.measure_lists(
            columns, table.of_kernel, weights, rule, least, table.greatest, signed_gains, start, stop, values, counts
        )
        if not is_valid:
            raise InvalidRowError

    if n_threads == 1 or columns.n_rows <= SERIAL_ROWS:
        measure(0, n_lists)
    else:
        edges = np.arange(0, columns.n_rows + ROWS_PER_CHUNK, ROWS_PER_CHUNK)
        bounds = sorted({0, n_lists, *np.searchsorted(lists.offsets, edges).clip(0, n_lists).tolist()})
        for_each(len(bounds) - 1, lambda: lambda chunk: measure(bounds[chunk], bounds[chunk + 1]), n_threads)
    return MeasuredLists(values, counts)


class MeanOverLists(NamedTuple):
    """A mean over lists, and the number of empty ones."""

    value: float
    empty: int


def new_mean_sums() -> Sums:
    """The state of a mean over lists."""
    return Sums(MEAN_FIELDS)


MEAN_FIELDS = Fields("lists", "empty lists", exact_sum("w value"), exact_sum("w"))


def fill_empty(values: np.ndarray, empty: str) -> np.ndarray:
    """The values of lists, with the policy for lists without a relevant row (NaN)."""
    return np.where(np.isnan(values), {"zero": 0.0, "one": 1.0}.get(empty, np.nan), values)


def add_values(sums: Sums, values: np.ndarray, weights: np.ndarray | None, empty: str) -> None:
    """Add the values of lists to the sums; the policy decides about empty lists (NaN)."""
    add_segments(sums.exact[None], sums.counts[None], values, weights, empty, None)


def add_segments(
    sums: np.ndarray,
    counts: np.ndarray,
    values: np.ndarray,
    weights: np.ndarray | None,
    empty: str,
    starts: np.ndarray | None,
) -> None:
    """As `add_values`, with the lists starts[i] to starts[i + 1] for state i."""
    list_means.mean_terms(
        values, NO_WEIGHTS if weights is None else weights, empty != "skip", 1.0 if empty == "one" else 0.0, starts,
        sums, counts,
    )  # fmt: skip


NO_WEIGHTS: np.ndarray = np.empty(0)


def mean(values: np.ndarray, weights: np.ndarray | None = None, empty: str = "zero") -> MeanOverLists:
    """The weighted mean of the values of lists; NaN if no list counts, or if the policy says so."""
    if weights is None:
        counts = np.zeros(2, np.int64)
        value = list_means.unweighted_mean(values, empty != "skip", 1.0 if empty == "one" else 0.0, counts)
        if value is not None:
            n_empty = int(counts[1])
            return MeanOverLists(float("nan") if empty == "nan" and n_empty else value, n_empty)
    sums = new_mean_sums()
    add_values(sums, values, weights, empty)
    n, n_empty = sums.counts.tolist()
    if n == 0 or (empty == "nan" and n_empty) or not (mass := sums.integer("w")):
        return MeanOverLists(float("nan"), n_empty)
    return MeanOverLists(divide(sums.integer("w value"), mass), n_empty)


def check_cutoff(k: Any, name: str = "k", required: bool = False) -> int | None:
    """A cutoff: a whole number of at least 1, or None unless `required`."""
    if k is None and not required:
        return None
    return check_positive_integer(k, name, "" if required else ", or None")


def check_positive_integer(value: Any, name: str, alternative: str = "") -> int:
    number = validation.check_integer(value, name, f"a whole number of at least 1{alternative}")
    return validation.check_integer(number, name, f"at most {GREATEST_CUTOFF}", most=GREATEST_CUTOFF)


def check_cutoffs(k: Any, required: bool = False) -> tuple[list[int | None], bool]:
    """The cutoffs, and whether k is a sequence: then the result is an array."""
    if isinstance(k, (list, tuple, range, np.ndarray)):
        if len(k) == 0:
            raise validation.OptionError("k is empty: name at least one cutoff")
        return [check_cutoff(cutoff, "every k", True) for cutoff in k], True
    return [check_cutoff(k, required=required)], False


def check_level(value: Any) -> float:
    return validation.check_number(value, "relevance_level", "a finite number above 0", lambda own: 0 < own < np.inf)


def check_max_grade(value: Any) -> float:
    wanted = f"a number above 0, at most {GREATEST_GRADE:g}"
    return validation.check_number(value, "max_grade", wanted, lambda grade: 0 < grade < GREATEST_GRADE + 1)


def check_persistence(value: Any) -> float:
    return validation.check_number(value, "p", "a number between 0 and 1, both excluded", lambda p: 0 < p < 1)


# The options of measures: what each may be, or its check.
MEASURE_CHECKS: dict[str, Any] = {
    "gain": tuple(GAINS), "ideal": tuple(IDEALS), "normalize": tuple(NORMALIZE), "short_list": tuple(SHORT_LISTS),
    "p": check_persistence, "max_grade": check_max_grade,
}  # fmt: skip


def scale_of_gains(gain: str, ideal: str = "k", **others: Any) -> str:
    """The scale of gains over those of the ideal list: at most 1, unless the ideal list has gains of 1 only."""
    return "mean" if gain == "binary" or ideal == "judged" else "nonnegative"


def check_measure_option(name: str, value: Any) -> None:
    check = MEASURE_CHECKS[name]
    if isinstance(check, tuple):
        validation.check_option(value, name, check)
    else:
        check(value)
