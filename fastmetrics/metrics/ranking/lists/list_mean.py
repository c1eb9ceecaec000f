"""Metrics that are means over ranked lists: their statistic and their final value."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from fastmetrics._core.exact import quotients
from fastmetrics._core.exchange.group_values import MeanOfGroups, group_coverage
from fastmetrics._core.state import Fields, ManySums, Sums, exact_sum, segment_starts, wide_count
from fastmetrics._core.statistic import ByUnit, StatesOfUnits, Value, rounded_quotient
from fastmetrics.metrics.ranking.lists import list_measures as lists
from fastmetrics.metrics.ranking.lists.list_tables import TABLE_OF_TIES, ListsByGroup, ListTable

NO_RELEVANT_ROW = "no relevant row"

# Parameters that metrics of ranked lists have in common. The rules "stable" and "docid" are for functions only: the
# exchange does not keep the order of rows, and it has no items.
PARAMETER_CHECKS = {
    "relevance_level": lists.check_level,
    "ties": ("average", "optimistic", "pessimistic"),
    "empty": lists.EMPTY_POLICIES,
}

COUNT_COLUMNS = {
    "rows": lists.ROWS, "tied pairs": lists.TIED_PAIRS, "pairs": lists.PAIRS, "truth rows": lists.TRUTH_ROWS,
}  # fmt: skip
FIRST_LIST = np.zeros(1, np.int64)
COVERAGE_COUNTS = ("lists", "empty lists", "rows", "rows of empty lists", "tied pairs", "pairs", "truth rows")


class ListMean(ByUnit, MeanOfGroups):
    """The additive statistic of a mean over lists: sums of w value and of w; counts of lists, rows and tied pairs."""

    __slots__ = ("empty_policy", "measure", "ties")
    # Kernels add to the first two counts and to both sums by place.
    fields = Fields(
        "lists", "empty lists", "rows", "rows of empty lists", "truth rows", wide_count("tied pairs"),
        wide_count("pairs"), exact_sum("w value"), exact_sum("w"),
    )  # fmt: skip

    def __init__(self, measure: lists.Measure, ties: str, empty: str) -> None:
        self.measure = measure
        self.ties = ties
        self.empty_policy = empty

    @property
    def greatest_grade(self) -> float:
        """The greatest grade that the measure is defined for. The engine rejects greater ones when it reads them."""
        return lists.MeasureTable([self.measure]).greatest_grade

    @property
    def table(self) -> type[ListsByGroup]:
        return TABLE_OF_TIES[self.ties]

    def update(self, state: Sums, table: ListTable) -> None:
        counts = self.add_terms(state.exact[None], state.counts[None], table, None)
        for name, (number,) in counts.items():
            state.add_count(name, int(number))

    def update_units(self, states: StatesOfUnits, table: ListTable, numbers: np.ndarray) -> None:
        counts = self.add_terms(states.exact, states.counts, table, segment_starts(numbers))
        for name, own in counts.items():
            states.add_counts(name, own)

    def add_terms(
        self, sums: np.ndarray, counts: np.ndarray, table: ListTable, starts: np.ndarray | None
    ) -> dict[str, np.ndarray]:
        """Add the lists starts[i] to starts[i + 1], or all, to the sums of state i. Return the counts of their rows."""
        values = np.ascontiguousarray(table.values[table.measure_index[self.measure]])
        lists.add_segments(sums, counts, values, table.weights, self.empty_policy, starts)
        first = FIRST_LIST if starts is None else starts[:-1]
        totals = np.add.reduceat(table.counts, first)
        found = {name: totals[:, column] for name, column in COUNT_COLUMNS.items()}
        is_empty = np.isnan(values)
        if is_empty.any():
            if self.empty_policy == "raise":
                self.raise_empty(table, int(is_empty.argmax()))
            found["rows of empty lists"] = np.add.reduceat(np.where(is_empty, table.counts[:, lists.ROWS], 0), first)
        return found

    def group_values(self, table: ListTable) -> np.ndarray:
        """The value of every list; NaN if it has none and the policy gives it none."""
        values = table.values[table.measure_index[self.measure]]
        return lists.fill_empty(values, self.empty_policy)

    def group_weights(self, table: ListTable) -> np.ndarray | None:
        """The weight of every list."""
        return table.weights

    @staticmethod
    def raise_empty(table: ListTable, index: int) -> NoReturn:
        key = table.keys.at(index)
        rows = int(table.counts[index, lists.ROWS])
        raise ValueError(f"group {key!r} has no relevant row ({rows} rows), and empty='raise'")


def list_coverage(state: Sums, empty: str) -> dict[str, Any]:
    """The coverage of a mean over lists."""
    groups, n_empty, rows, rows_empty, tied, pairs, truth_rows = map(state.count, COVERAGE_COUNTS)
    left_out = {NO_RELEVANT_ROW: (n_empty, rows_empty)} if empty == "skip" and n_empty else {}
    return group_coverage(groups, rows, left_out) | {
        "groups_without_relevant": n_empty,
        "rows_per_group": rows / groups if groups else float("nan"),
        "tied_pairs": tied / pairs if pairs else 0.0,
        **({"truth_rows": truth_rows} if truth_rows else {}),
    }


def finalize_mean(parameters: dict[str, Any], state: Sums) -> Value:
    """The mean over lists, with the policy for lists without a relevant row."""
    empty = parameters.get("empty", "zero")
    coverage = list_coverage(state, empty)
    groups, n_empty = state.count("lists"), state.count("empty lists")
    if empty == "nan" and n_empty:
        return Value(float("nan"), coverage, f"{n_empty} groups have no relevant row and empty is nan")
    reason = "no group has a relevant row" if groups else "every weight is zero"
    return rounded_quotient(state.integer("w value"), state.integer("w"), coverage, reason)


def finalize_ratio(parameters: dict[str, Any], numerator: Sums, denominator: Sums) -> Value:
    """The ratio of two sums over all lists: a micro average."""
    coverage = list_coverage(numerator, "zero")
    total = denominator.integer("w value")
    return rounded_quotient(numerator.integer("w value"), total, coverage, "no group has a relevant row")


def many_means(parameters: dict[str, Any], states: ManySums) -> np.ndarray:
    """The means of many states: see `MetricSpec.many`."""
    values = quotients(states.number("w value"), states.number("w"))
    if parameters.get("empty", "zero") == "nan":
        values[states.counts_of("empty lists") > 0] = np.nan
    return values
