"""Metrics of your own: the decorator of the built-in metrics, kinds of columns, and bases for statistics in NumPy.

Provisional: names may still change. A metric that is registered here works in every entry point: slices, intervals,
merging, memory limits, Spark and the command line. `fastmetrics.testing.check_metric` checks it. Nothing in the package
imports this module. The guide is docs/extending.md.

A mean over rows is a function of the columns (`row_mean`). Other metrics have a statistic, which says which rows have
to meet: none (`RowStatistic`), those of a group (`GroupStatistic`, `GroupKeyStatistic`), or those of neighboring
scores (`ScoreRangeStatistic`). Its methods get columns by role, as NumPy arrays.

Examples
--------
>>> import fastmetrics as fm
>>> from fastmetrics.extend import Real, row_mean
>>> @row_mean("mean_margin", roles={"price": Real(), "cost": Real()})
... def mean_margin(columns):
...     'The mean of price minus cost.'
...     return columns.price - columns.cost
>>> log = {"price": [3.0, 5.0], "unit_cost": [1.0, 4.0]}
>>> fm.evaluate(log, ["mean_margin"], roles={"price": "price", "cost": "unit_cost"})["mean_margin"]
1.5
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from fastmetrics._core import exact
from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns.row_blocks import Rows
from fastmetrics._core.exchange.group_rows import GroupMean, GroupRows, finalize_group_mean
from fastmetrics._core.exchange.row_ranges import RowRange, RowRangeStatistic
from fastmetrics._core.kinds import (
    LABEL_ROLE,
    PROBABILITIES_ROLE,
    SCORE_ROLE,
    Binary,
    Category,
    Key,
    Kind,
    NonNegative,
    Positive,
    Probability,
    Real,
    Text,
    Vector,
)
from fastmetrics._core.metric_spec import BinErrors, ClassesInfluence, IntervalSpec, PairInfluence, ScoreInfluence
from fastmetrics._core.registry import metric
from fastmetrics._core.registry.registration import own_metrics_with
from fastmetrics._core.score_statistics.score_classes import ClassMasses
from fastmetrics._core.state import Fields, ManySums, Sums
from fastmetrics._core.state import exact_sum as sum_field
from fastmetrics._core.statistic import AdditiveStatistic, Positioned, Value, many_quotients
from fastmetrics._core.suggestions import list_public
from fastmetrics._core.tables.group_tables import GroupTableStatistic, KeysOfGroups
from fastmetrics._kernels.columns import column_checks
from fastmetrics._kernels.numeric import sums as sum_kernels

__all__ = [
    "BinErrors",
    "Binary",
    "Category",
    "ClassMasses",
    "ClassesInfluence",
    "Columns",
    "GroupKeyStatistic",
    "GroupStatistic",
    "IntervalSpec",
    "Key",
    "Kind",
    "ManySums",
    "NonNegative",
    "PairInfluence",
    "Positive",
    "Probability",
    "Real",
    "RowStatistic",
    "ScoreInfluence",
    "ScoreRangeStatistic",
    "Text",
    "Value",
    "Vector",
    "cumulative_sums",
    "divide",
    "exact_sum",
    "finalize_group_mean",
    "metric",
    "row_mean",
]  # fmt: skip
__dir__ = list_public(globals())


MAX_INTEGER = float(1 << 53)  # sums of whole numbers below are exact
TERM_ROWS = 1 << 14  # whose terms are made at a time: temporary arrays stay in the second-level cache


class Columns:
    """Columns of some rows by role: `columns.label`, `columns.score`, `columns.reward`, as NumPy arrays.

    A column of kind `Vector` is a matrix with a row for each row.

    Attributes
    ----------
    weights : ndarray or None
        The weight of every row; None if rows have none.
    starts : ndarray or None
        Of groups, the first row of each group; of a range of scores, the first row of each distinct score.
    rows : int
        The number of rows.
    """

    __slots__ = ("by_role", "rows", "starts", "weights")

    def __init__(
        self, by_role: Mapping[str, np.ndarray], weights: np.ndarray | None, starts: np.ndarray | None = None
    ) -> None:
        self.by_role = by_role
        self.weights = weights
        self.starts = starts
        self.rows = next(iter(by_role.values())).shape[0]

    def __getattr__(self, role: str) -> np.ndarray:
        if role in Columns.__slots__:  # a copy is asked before it has any
            raise AttributeError(role)
        if role not in self.by_role:
            raise AttributeError(f"the metric declares no role {role!r}; it has {', '.join(self.by_role)}")
        return self.by_role[role]

    def select(self, where: Any) -> Columns:
        """The columns of some rows: a slice, a mask or indices."""
        weights = None if self.weights is None else self.weights[where]
        return Columns({role: column[where] for role, column in self.by_role.items()}, weights)

    def each(self) -> Iterator[Columns]:
        """The columns of each group."""
        edges = [*self.starts.tolist(), self.rows] if self.starts is not None else []
        return (self.select(slice(*bounds)) for bounds in pairwise(edges))


@cache
def fields_of_sums(names: tuple[str, ...]) -> Fields:
    """The fields of exact sums with these names."""
    return Fields(*map(sum_field, names))


def columns_of(
    labels: np.ndarray,
    scores: np.ndarray,
    others: Mapping[str, np.ndarray],
    weights: np.ndarray | None,
    starts: np.ndarray | None = None,
) -> Columns:
    """The columns of a block. Labels or scores without a row are roles that the metric has not."""
    usual = {LABEL_ROLE: labels, SCORE_ROLE if scores.ndim == 1 else PROBABILITIES_ROLE: scores}
    by_role = {role: column for role, column in usual.items() if column.shape[0]} | dict(others)
    return Columns(by_role, weights, starts)


class RowStatistic(AdditiveStatistic):
    """Base of a statistic of single rows: exact sums of terms. A subclass names `sums` and writes `terms`.

    The sums do not depend on the order of rows, batches or threads. Weights are factors of the terms.
    """

    __slots__ = ()
    sums: ClassVar[tuple[str, ...]]

    @abstractmethod
    def terms(self, columns: Columns) -> Mapping[str, Any]:
        """The terms by the name of their sum: arrays with one value for each row, which depends on that row alone.

        The engine adds them up: a sum of them is an error. Rows are counted by `np.ones(columns.rows)`.
        """

    @property
    def fields(self) -> Fields:
        return fields_of_sums(self.sums)

    def update(self, state: Sums, rows: Rows) -> None:
        columns = columns_of(rows.labels, rows.scores, rows.others, rows.weights)
        with np.errstate(all="ignore"):  # a term that is not finite is an error below, which names the row
            for start in range(0, columns.rows, TERM_ROWS):
                self.update_block(state, columns.select(slice(start, start + TERM_ROWS)), start, rows)

    def update_block(self, state: Sums, columns: Columns, start: int, rows: Rows) -> None:
        """Add the terms of some columns, which begin at row `start` of `rows`."""
        terms = self.terms(columns)
        if terms.keys() != set(self.sums):
            raise ValueError(
                f"{named(self)}terms of {self!r} must be those of {', '.join(self.sums)}; found {', '.join(terms)}"
            )
        for name in self.sums:
            values = one_for_each(terms[name], columns.rows, "row", self, f"term {name!r}")
            row = first_infinite(values)
            if row is not None:
                at = rows.row_number(start + row)
                raise ValueError(f"{named(self)}{name} of {self!r} is {values[row]} at row {at}: terms are finite")
            sum_kernels.sum_values(values, columns.weights, state.sum_of(name))


def one_for_each(found: Any, n: int, of_what: str, statistic: Any, what: str) -> np.ndarray:
    """The values that a statistic returned, one for each row or group; a number or another length is an error.

    A number is refused also where there is one row: a sum of all rows is wrong in the next block.
    """
    values = np.ascontiguousarray(found, np.float64) if np.ndim(found) else np.asarray(found)
    if np.ndim(found) == 1 and values.shape[0] == n:
        return values
    shown = f"the number {found!s}" if np.ndim(found) == 0 else f"an array of shape {np.shape(found)}"
    raise ValueError(
        f"{named(statistic)}{what} of {statistic!r} must be an array with one value for each {of_what}; found {shown} "
        f"for {n:,} {of_what}s. The engine adds them up: leave out .sum() and .mean()"
        + (", and count rows by np.ones(columns.rows)" if of_what == "row" else "")
    )


def named(statistic: Any) -> str:
    """The metrics that have the statistic, for an error; empty if none is registered in this process."""
    names = own_metrics_with(statistic)
    return f"metric {', '.join(names)}: " if names else ""


class RowMean(RowStatistic):
    """The statistic of `row_mean`: the sums of what a function of the columns returns."""

    __slots__ = ("function",)
    sums = ("numerator", "denominator")

    def __init__(self, function: Callable[[Columns], Any]) -> None:
        self.function = function

    def __repr__(self) -> str:
        return self.function.__name__

    def terms(self, columns: Columns) -> Mapping[str, Any]:
        found = self.function(columns)
        numerator, denominator = found if isinstance(found, tuple) else (found, np.ones(columns.rows))
        return {"numerator": numerator, "denominator": denominator}


@answers_unknown
def row_mean(
    name: str,
    *,
    roles: Mapping[str, Kind],
    undefined: str = "0 / 0",
    direction: str = "maximize",
    scale: str = "real",
) -> Callable[[Callable[[Columns], Any]], Any]:
    """Register a function of the columns as a metric: the mean over rows of the values that it returns.

    If it returns a pair of arrays, the metric is the ratio of their sums. Weights of rows are factors of both. The
    first line of the docstring is the summary.

    Parameters
    ----------
    name : str
        The name of the metric.
    roles : dict of str to Kind
        The columns that the function reads.
    undefined : str
        When there is no value: the reason of NaN.
    direction : {"maximize", "minimize", "closest_to_one", "closest_to_zero", "none"}
        Which of two values is better.
    scale : str
        The numbers that the metric may have: "real", "share", "mean", "ratio", "nonnegative", "percentage" ...

    Returns
    -------
    decorator
        It returns the function as it is.

    Examples
    --------
    >>> import numpy as np
    >>> import fastmetrics as fm
    >>> from fastmetrics.extend import Binary, row_mean
    >>> @row_mean("conversions_per_click", roles={"click": Binary(), "conversion": Binary()}, direction="none")
    ... def conversions_per_click(columns):
    ...     'The share of clicked rows with a conversion.'
    ...     return columns.click & columns.conversion, columns.click
    >>> log = {"clicked": [1, 1, 0, 1], "bought": [1, 0, 0, 0]}
    >>> fm.evaluate(log, "conversions_per_click(click=clicked, conversion=bought)").results[0].value
    0.3333333333333333
    """

    def register(function: Callable[[Columns], Any]) -> Callable[[Columns], Any]:
        def finalize(parameters: dict[str, Any], sums: Sums) -> float:
            return divide(sums["numerator"], sums["denominator"])

        for attribute in ("__doc__", "__module__", "__name__", "__qualname__"):
            setattr(finalize, attribute, getattr(function, attribute))
        metric(
            name, exchange="none", statistics=RowMean(function), roles=dict(roles), undefined=undefined,
            direction=direction, scale=scale, many=many_quotients(numerator_and_denominator),
        )(finalize)  # fmt: skip
        return function

    return register


def numerator_and_denominator(parameters: dict[str, Any], sums: Any) -> tuple[Any, Any]:
    return sums.number("numerator"), sums.number("denominator")


def first_infinite(values: np.ndarray) -> int | None:
    """The first row with NaN or infinity; None if there is none."""
    return int(np.argmin(np.isfinite(values))) if column_checks.any_not_finite(values) else None


class GroupStatistic(GroupMean):
    """Base of the mean over groups of a value. A subclass writes `value`, or `values` for many groups at once.

    A group without a value (NaN) is left out of the mean. The finalizer is `finalize_group_mean`.
    """

    __slots__ = ()

    def value(self, group: Columns) -> float:
        """The value of one group. Rows are in descending order of score."""
        raise NotImplementedError

    def values(self, groups: Columns) -> np.ndarray:
        """The value of every group; `groups.starts` are their first rows. By default `value` of each."""
        return np.array([one_number(self.value(group), self) for group in groups.each()], np.float64)

    def value_per_group(self, groups: GroupRows) -> np.ndarray:
        columns = columns_of(groups.labels, groups.scores, groups.others, groups.weights, groups.starts)
        return one_for_each(self.values(columns), groups.starts.shape[0], "group", self, "values")


def one_number(found: Any, statistic: Any) -> float:
    """The value of a group; an array is an error."""
    if np.ndim(found):
        raise ValueError(
            f"{named(statistic)}value of {statistic!r} must be one number for a group; found an array of shape "
            f"{np.shape(found)}"
        )
    return float(found)


class GroupKeyStatistic(GroupTableStatistic):
    """Base of a statistic that counts keys over groups, for instance items that users were shown.

    A subclass writes `entries`. The state is a table: it merges, and spills to disk under a memory limit.
    """

    __slots__ = ()

    @abstractmethod
    def entries(self, groups: Columns) -> tuple[np.ndarray, np.ndarray]:
        """Row numbers and keys (int64): each of these rows counts its key once.

        Inside a group, rows are in descending order of score; `groups.starts` are the first rows of the groups.
        """

    def keys_per_group(self, groups: GroupRows) -> KeysOfGroups:
        if (groups.weights != 1).any():
            raise ValueError(f"{self!r} counts keys, and rows have weights: leave out weight=...")
        columns = columns_of(groups.labels, groups.scores, groups.others, groups.weights, groups.starts)
        rows, keys = self.entries(columns)
        rows = np.asarray(rows, np.int64)
        if np.shape(rows) != np.shape(keys) or np.ndim(rows) != 1:
            raise ValueError(
                f"{named(self)}entries of {self!r} must be row numbers and as many keys; found arrays of shape "
                f"{np.shape(rows)} and {np.shape(keys)}"
            )
        numbers = np.searchsorted(groups.starts, rows, "right") - 1
        return KeysOfGroups(numbers, np.ascontiguousarray(keys, np.int64), np.ones(rows.shape[0], np.int64))


class ScoreRangeStatistic(Positioned, RowRangeStatistic):
    """Base of a statistic of the order of scores. A subclass writes `state`, `merge`, and perhaps `summary`.

    All rows are divided into ranges of neighboring scores; rows of equal score are in one range. Where the ranges are
    cut must not matter: the merged states of two ranges are the state of their rows together.

    With `ordered_by`, a static function of the columns by role, rows are ordered by its values in place of the scores.
    """

    __slots__ = ()

    def summary(self, columns: Columns) -> Any:
        """What lower ranges have to know of a range: an integer or an array of integers, which are added."""
        return None

    @abstractmethod
    def state(self, columns: Columns, above: Any, total: Any) -> Any:
        """The state of a range, whose rows are in descending order of score.

        `above` is the sum of the summaries of all higher ranges, or None if there is none; `total` that of all ranges.
        """

    def total_of_range(self, rows: RowRange) -> Any:
        return self.summary(columns_of(rows.labels, rows.scores, rows.others, rows.weights, rows.starts))

    def reduce(self, rows: RowRange, above: Any, total: Any) -> Any:
        return self.state(columns_of(rows.labels, rows.scores, rows.others, rows.weights, rows.starts), above, total)


@answers_unknown
def exact_sum(values: Any) -> int:
    """The exact sum of finite numbers, as an integer in units of 2**-1088: the ratio of two needs no unit.

    Parameters
    ----------
    values : array-like of float

    Returns
    -------
    int

    Examples
    --------
    >>> from fastmetrics.extend import divide, exact_sum
    >>> divide(exact_sum([1e300, 1.0, -1e300]), exact_sum([2.0]))
    0.5
    """
    return exact.integer_sum(np.ascontiguousarray(values, np.float64))


@answers_unknown
def divide(numerator: int, denominator: int) -> float:
    """The ratio of two integers, rounded once; NaN if the denominator is 0.

    Parameters
    ----------
    numerator, denominator : int

    Returns
    -------
    float

    Examples
    --------
    >>> from fastmetrics.extend import divide
    >>> divide(1, 3), divide(1, 0)
    (0.3333333333333333, nan)
    """
    return float(exact.divide(numerator, denominator)) if denominator else float("nan")


@answers_unknown
def cumulative_sums(columns: Columns, counted: Any) -> np.ndarray:
    """The exact weight of the counted rows, down to the end of each distinct score (or group).

    Parameters
    ----------
    columns : Columns
        The rows of a range, with `starts`.
    counted : array-like of bool
        Which rows are counted.

    Returns
    -------
    ndarray
        int64 numbers of rows. With weights, Python integers in units of 2**-1088.

    Examples
    --------
    >>> import numpy as np
    >>> from fastmetrics.extend import Columns, cumulative_sums
    >>> rows = Columns({"score": np.array([3.0, 2.0, 2.0])}, None, np.array([0, 1]))
    >>> cumulative_sums(rows, [True, False, True])
    array([1, 2])
    """
    counted = np.asarray(counted, bool)
    if columns.starts is None:
        raise ValueError("columns have no starts: cumulative sums are those of ranges or groups")
    if counted.shape != (columns.rows,):
        raise ValueError(f"counted must have one value for each of {columns.rows} rows; found shape {counted.shape}")
    ends = np.append(columns.starts[1:], columns.rows) - 1
    if columns.weights is None:
        sums: np.ndarray = np.cumsum(counted)[ends]
        return sums
    masses = np.where(counted, columns.weights, 0.0)
    if masses.sum() < MAX_INTEGER and (masses == np.floor(masses)).all():
        # Weights of replicates are whole numbers.
        whole: np.ndarray = np.cumsum(masses.astype(np.int64))[ends].astype(object) << exact.EXPONENT
        return whole
    weighted: np.ndarray = np.cumsum(np.array([exact.to_fixed(mass) for mass in masses.tolist()], object))[ends]
    return weighted
