"""Metrics that are means over ranked lists: their statistic, their final value, and how to register one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np

from fastmetrics._core.exact import divide, quotients
from fastmetrics._core.exchange.group_values import MeanOfGroups
from fastmetrics._core.immutable import EMPTY
from fastmetrics._core.kinds import GRADES, SIGNED_GRADES
from fastmetrics._core.registry import metric
from fastmetrics._core.state import Fields, ManySums, Sums, exact_sum, segment_starts, wide_count
from fastmetrics._core.statistic import ByUnit, StatesOfUnits, Value
from fastmetrics._kernels.ranking import list_means
from fastmetrics.metrics.ranking.lists import list_measures as lists
from fastmetrics.metrics.ranking.lists.list_tables import TABLE_OF_TIES, ListsByGroup, ListTable

NO_RELEVANT_ROW = "no relevant row"

# Parameters of metrics of ranked lists, with their defaults and allowed values. The rules "stable" and "docid" are for
# functions only: the exchange does not keep the order of rows, and it has no items.
GAIN_PARAMETER = {"gain": ("linear", tuple(lists.GAINS))}
IDEAL_PARAMETER = {"ideal": ("judged", tuple(lists.IDEALS))}
GAIN_PARAMETERS = {"relevance_level": 1, "ties": "average"}
LIST_PARAMETERS = {**GAIN_PARAMETERS, "empty": "zero"}
PARAMETER_CHECKS = {
    "relevance_level": lists.check_level,
    "ties": ("average", "optimistic", "pessimistic"),
    "empty": lists.EMPTY_POLICIES,
}

COUNT_COLUMNS = {"rows": lists.ROWS, "tied pairs": lists.TIED_PAIRS, "pairs": lists.PAIRS}
COVERAGE_COUNTS = ("lists", "empty lists", "rows", "rows of empty lists", "tied pairs", "pairs")


class ListMean(ByUnit, MeanOfGroups):
    """The additive statistic of a mean over lists: sums of w value and of w; counts of lists, rows and tied pairs."""

    __slots__ = ("empty_policy", "measure", "ties")
    # Kernels add to the first two counts and to both sums by place.
    fields = Fields(
        "lists", "empty lists", "rows", "rows of empty lists", wide_count("tied pairs"), wide_count("pairs"),
        exact_sum("w value"), exact_sum("w"),
    )  # fmt: skip

    def __init__(self, measure: lists.Measure, ties: str, empty: str) -> None:
        self.measure = measure
        self.ties = ties
        self.empty_policy = empty

    @property
    def greatest_grade(self) -> float:  # type: ignore[override]
        """The greatest grade that the measure is defined for. The engine rejects greater ones when it reads them."""
        return lists.MeasureTable([self.measure]).greatest_grade

    @property
    def table(self) -> type[ListsByGroup]:
        return TABLE_OF_TIES[self.ties]

    def update(self, state: Sums, table: ListTable) -> None:
        values = table.values[table.measure_index[self.measure]]
        lists.add_values(state, values, table.weights, self.empty_policy)
        rows = table.counts[:, lists.ROWS]
        empty = np.isnan(values)
        for name, column in COUNT_COLUMNS.items():
            state.add_count(name, int(table.counts[:, column].sum()))
        if empty.any():
            if self.empty_policy == "raise":
                self.raise_empty(table, int(np.flatnonzero(empty)[0]))
            state.add_count("rows of empty lists", rows[empty].sum())

    def group_values(self, table: ListTable) -> np.ndarray:
        """The value of every list; NaN if it has none and the policy gives it none."""
        values = table.values[table.measure_index[self.measure]]
        return lists.fill_empty(values, self.empty_policy)

    def group_weights(self, table: ListTable) -> np.ndarray | None:
        """The weight of every list."""
        return table.weights

    def update_units(self, states: StatesOfUnits, table: ListTable, numbers: np.ndarray) -> None:
        starts = segment_starts(numbers)
        values = np.ascontiguousarray(table.values[table.measure_index[self.measure]])
        list_means.mean_terms_of_segments(
            values, lists.NO_WEIGHTS if table.weights is None else table.weights, self.empty_policy != "skip",
            1.0 if self.empty_policy == "one" else 0.0, starts, states.exact, states.counts,
        )  # fmt: skip
        rows_of_empty = np.where(np.isnan(values), table.counts[:, lists.ROWS], 0)
        states.add_counts("rows of empty lists", np.add.reduceat(rows_of_empty, starts[:-1]))
        for name, column in COUNT_COLUMNS.items():
            states.add_counts(name, np.add.reduceat(table.counts[:, column], starts[:-1]))

    @staticmethod
    def raise_empty(table: ListTable, index: int) -> NoReturn:
        key = table.keys.at(index)
        rows = int(table.counts[index, lists.ROWS])
        raise ValueError(f"group {key!r} has no relevant row ({rows} rows), and empty='raise'")


def list_coverage(state: Sums, empty: str) -> dict[str, Any]:
    """The coverage of a mean over lists."""
    groups, n_empty, rows, rows_empty, tied, pairs = map(state.count, COVERAGE_COUNTS)
    skipped = empty == "skip" and n_empty
    return {
        "rows": rows - (rows_empty if skipped else 0),
        "groups": groups,
        "groups_used": groups - (n_empty if skipped else 0),
        "groups_left_out": {NO_RELEVANT_ROW: n_empty} if skipped else {},
        "rows_left_out": {NO_RELEVANT_ROW: rows_empty} if skipped else {},
        "groups_without_relevant": n_empty,
        "rows_per_group": rows / groups if groups else float("nan"),
        "tied_pairs": tied / pairs if pairs else 0.0,
    }


def finalise_mean(parameters: dict[str, Any], state: Sums) -> Value:
    """The mean over lists, with the policy for lists without a relevant row."""
    empty = parameters.get("empty", "zero")
    coverage = list_coverage(state, empty)
    groups, n_empty = state.count("lists"), state.count("empty lists")
    if empty == "nan" and n_empty:
        return Value(float("nan"), coverage, f"{n_empty} groups have no relevant row and empty is nan")
    mass = state.integer("w")
    if mass == 0:
        return Value(float("nan"), coverage, "no group has a relevant row" if groups else "every weight is zero")
    return Value(divide(state.integer("w value"), mass), coverage)


def finalise_ratio(parameters: dict[str, Any], numerator: Sums, denominator: Sums) -> Value:
    """The ratio of two sums over all lists: a micro average."""
    coverage = list_coverage(numerator, "zero")
    total = denominator.integer("w value")
    if total == 0:
        return Value(float("nan"), coverage, "no group has a relevant row")
    return Value(divide(numerator.integer("w value"), total), coverage)


def many_means(parameters: dict[str, Any], states: ManySums) -> np.ndarray:
    """The means of many states: see `MetricSpec.many`."""
    values = quotients(states.sum_of("w value"), states.sum_of("w"))
    if parameters.get("empty", "zero") == "nan":
        values[states.counts_of("empty lists") > 0] = np.nan
    return values


OwnParameters = dict[str, tuple[Any, Any]]  # name: (default, allowed values or check)


def register_list_mean(
    name: str,
    summary: str,
    function: Callable[..., Any],
    own_parameters: OwnParameters | None = None,
    *,
    cutoff: bool | str = False,
    may_be_empty: bool = True,
    number: str | None = None,
    negative_grades: bool = False,
    direction: str = "maximize",
    variants: tuple[str, ...] = (),
    aliases: tuple[str, ...] = (),
    near_names: Mapping[str, str] = EMPTY,
) -> None:
    """Register a metric that is the mean over groups of the measure of its name.

    `own_parameters` are those that not all metrics of ranked lists have; `number` is the name of the one that is
    Measure.number. `may_be_empty` is False for a measure that every list has; it takes no policy for empty lists.
    """
    own_parameters = own_parameters or {}
    common = LIST_PARAMETERS if may_be_empty else GAIN_PARAMETERS

    def statistics(ties: str, empty: str = "zero", k: int | None = None, **options: Any) -> tuple[ListMean]:
        if number is not None:
            options["number"] = options.pop(number)
        return (ListMean(lists.Measure.of(name, k, **options), ties, empty),)

    def finalise(parameters: dict[str, Any], state: Sums) -> Value:
        return finalise_mean(parameters, state)

    finalise.__doc__ = summary
    metric(
        name,
        exchange="hash",
        statistics=statistics,
        function=function,
        undefined="no group",
        parameters={name: default for name, (default, _) in own_parameters.items()} | common,
        checks=PARAMETER_CHECKS | {name: check for name, (_, check) in own_parameters.items()},
        default=False,
        cutoff=cutoff,
        roles=SIGNED_GRADES if negative_grades else GRADES,
        direction=direction,
        variants=variants,
        aliases=aliases,
        near_names=near_names,
        many=many_means,
    )(finalise)
