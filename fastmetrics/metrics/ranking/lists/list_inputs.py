"""Ranked lists as users pass them: columns with a group for every row, columns with offsets, or matrices.

Columns with groups go through the hash exchange. If the rule for ties needs the order of rows or their items, or if
rows are few, they are sorted by group instead. The other forms are lists already.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastmetrics._core.columns import group_keys, validation
from fastmetrics._core.columns.key_types import plain_value
from fastmetrics._core.columns.row_blocks import BLOCK_ROWS, SERIAL_ROWS, RowBlock, UnpooledScratch
from fastmetrics._core.columns.weights import as_weights, check_some_weight
from fastmetrics._core.exchange.group_reduction import GroupReduction, reduce_groups
from fastmetrics._core.exchange.group_rows import FIRST_OUTPUT, rows_with_weight
from fastmetrics._core.exchange.hash_exchange import GroupLayout, HashExchange, exchange_columns
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.statistic import Value
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels.columns import column_checks
from fastmetrics._kernels.ranking import ranked_lists, run_qrels_join
from fastmetrics.metrics.ranking.lists import ids, list_measures
from fastmetrics.metrics.ranking.lists.list_mean import ListMean, finalize_mean
from fastmetrics.metrics.ranking.lists.list_measures import (
    BINARY_LOGARITHM,
    Discounts,
    Lists,
    Measure,
    MeasuredLists,
    MeasureTable,
    discounts_of,
)
from fastmetrics.metrics.ranking.lists.list_tables import TABLE_OF_TIES

MOST_SORTED_ROWS = 2048  # up to so many rows, sorting by group is faster than an exchange
PUBLIC_TIES = ("average", "docid", "stable", "optimistic", "pessimistic")
FORMS = "give groups= (a key for every row), offsets= (where lists begin and end), or arrays of shape (lists, rows)"


class ListOptions(NamedTuple):
    """Checked options that all functions of ranked lists have."""

    ties: str
    empty: str
    n_threads: int
    items: Any = None
    signed_gains: bool = False
    least_width: int = 1  # the fewest columns of matrices
    allow_infinite: bool = True
    discounts: Discounts = BINARY_LOGARITHM


def check_options(
    ties: str,
    n_threads: int | None,
    empty: str = "zero",
    items: Any = None,
    ignore_ties: Any = False,
    log_base: Any = 2,
    **fields: Any,
) -> ListOptions:
    validation.check_option(ties, "ties", PUBLIC_TIES)
    validation.check_option(empty, "empty", list_measures.EMPTY_POLICIES)
    validation.check_flag(ignore_ties, "ignore_ties")
    if ignore_ties:
        if ties != "average":
            raise validation.OptionError(
                f"ignore_ties and ties={ties!r} are both rules for ties: give only one of them"
            )
        ties = "later"
    if ties == "docid" and items is None:
        raise validation.OptionError("ties='docid' needs items=, the id of every row")
    discounts = discounts_of(log_base)
    return ListOptions(ties, empty, count_threads(n_threads), items, discounts=discounts, **fields)


def as_grades(values: Any, name: str = "y_true") -> np.ndarray:
    """Relevance as uint8, int64, float32 or float64, of any number of dimensions. The values are checked later."""
    array = validation.as_array(values, name)
    kind = array.dtype.kind
    if kind == "b":
        return validation.contiguous(array).view(np.uint8)
    if kind in "iu":
        if array.dtype == np.uint8:
            return validation.contiguous(array)
        if array.dtype == np.uint64 and array.size and int(array.max()) > validation.EXACT_INTEGER:
            return validation.as_floats(array, name)
        return validation.contiguous(array.astype(np.int64, copy=False))
    return validation.as_floats(array, name)


def check_grades(array: np.ndarray, table: MeasureTable, signed_gains: bool, name: str = "y_true") -> None:
    """Check that grades are finite, not negative unless `signed_gains`, and not above what a measure allows."""
    if array.size == 0:
        return
    low, high = array.min(), array.max()
    if not (np.isfinite(low) and np.isfinite(high)):
        raise_bad_grade(array, ~np.isfinite(array), "finite numbers are needed", name)
    if low < 0 and not signed_gains:
        raise_bad_grade(array, array < 0, "relevance must not be negative", name)
    if high > table.greatest_grade:
        raise_bad_grade(array, array > table.greatest_grade, f"grades may be at most {table.greatest_grade:g}", name)
    if array.dtype == np.int64 and max(-int(low), int(high)) > validation.EXACT_INTEGER:
        raise_bad_grade(array, np.abs(array) > validation.EXACT_INTEGER, "integers beyond 2**53 have no float64", name)


def raise_bad_grade(array: np.ndarray, bad: np.ndarray, why: str, name: str) -> None:
    index = tuple(map(int, np.unravel_index(validation.first_bad_row(bad.reshape(-1)), bad.shape)))
    value = "NaN" if array[index] != array[index] else array[index]
    raise ValueError(f"{name} has {value} at row {index[0] if len(index) == 1 else index}: {why}")


def check_scores(array: np.ndarray, name: str = "y_score") -> None:
    has_nan = np.zeros(1, np.int64)
    column_checks.any_nan(array, 0, array.shape[0], has_nan)
    if has_nan[0]:
        validation.raise_nan(array, name)


def as_list_weights(values: Any, n_lists: int) -> np.ndarray | None:
    """Checked weights of lists, or None."""
    if values is None:
        return None
    weights = as_weights(values, n_lists, "the number of lists", "sample_weight")
    check_some_weight(weights)
    return weights


class InputLists(NamedTuple):
    """Lists in memory, with weights of lists and keys of groups if there are any."""

    lists: Lists
    weights: np.ndarray | None
    groups: np.ndarray | None = None
    integers: ids.IntegerIds | None = None  # integer items, in the order of rows

    def name_of(self, number: int) -> str:
        """The name of a list in error messages."""
        return f"list {number}" if self.groups is None else f"group {self.groups.tolist()[number]!r}"

    def with_items(self, items: Any, rows: np.ndarray | None = None) -> InputLists:
        """The same lists with the items of their rows; `rows` is the order that the rows were brought to."""
        if items is None:
            return self
        column = ids.as_ids(items, "items")
        validation.check_lengths(int(self.lists.offsets[-1]), column.rows, "y_true", "items")
        column = column if rows is None else column.take(rows)
        with_items = self._replace(lists=self.lists._replace(order=ids.docid_order(column)))
        if isinstance(column, ids.IntegerIds):
            with_items = with_items._replace(integers=column)
        check_items_unique(with_items)
        return with_items


def read_matrix(y_true: np.ndarray, y_score: np.ndarray, sample_weight: Any, least_width: int) -> InputLists:
    """The rows of two matrices, each row a list."""
    if y_true.shape != y_score.shape:
        raise ValueError(f"y_true has shape {y_true.shape} but y_score has {y_score.shape}")
    if y_true.ndim != 2:
        raise validation.InputError(f"y_true has {y_true.ndim} dimensions, shape {y_true.shape}: {FORMS}")
    n_lists, width = y_true.shape
    if n_lists == 0 or width == 0:
        raise ValueError(f"y_true is empty (shape {y_true.shape}): at least one list of one row is needed")
    if width < least_width:
        raise ValueError(
            f"y_true has shape {y_true.shape}: a list of {width} row has one order only. Lists of any length are given "
            "with groups= or offsets="
        )
    weights = as_list_weights(sample_weight, n_lists)
    offsets = np.arange(0, n_lists * width + 1, width, dtype=np.int64)
    return InputLists(Lists(y_score.reshape(-1), y_true.reshape(-1), offsets), weights)


def check_items_unique(lists: InputLists) -> None:
    """Raise if an item occurs twice in a list."""
    order, offsets = lists.lists.order, lists.lists.offsets
    codes = order
    if not isinstance(order, np.ndarray):
        codes = run_qrels_join.NumberedTexts(order.data, order.starts, order.stops).numbers
    list_of_row = np.repeat(np.arange(lists.lists.n_lists), np.diff(offsets))
    rows_by_item = np.lexsort((codes, list_of_row))
    same = (np.diff(list_of_row[rows_by_item]) == 0) & (np.diff(codes[rows_by_item].view(np.int64)) == 0)
    if same.any():
        row = int(rows_by_item[:-1][same].min())
        item = lists.integers.at(row) if lists.integers is not None else order.at(row)
        raise ValueError(f"items has {item!r} twice in {lists.name_of(int(list_of_row[row]))}")


def group_rows_by_sorting(
    y_true: np.ndarray, y_score: np.ndarray, groups: Any, sample_weight: Any, items: Any
) -> InputLists:
    """Columns with groups as lists: groups in the order of their keys, the rows of a group in the order given."""
    column = group_keys.as_keys(groups)
    validation.check_lengths(y_true.shape[0], column.rows, "y_true", "groups")
    keys, codes = np.unique(column.to_numpy(), return_inverse=True)
    order = np.argsort(codes, kind="stable")
    offsets = np.append(0, np.cumsum(np.bincount(codes, minlength=keys.shape[0])))
    weights = None
    if sample_weight is not None:
        row_weights = as_weights(sample_weight, y_true.shape[0])
        check_some_weight(row_weights)
        weights = weights_per_list(row_weights[order], offsets, keys)
    return InputLists(Lists(y_score[order], y_true[order], offsets), weights, keys).with_items(items, order)


def weights_per_list(row_weights: np.ndarray, offsets: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """The weight of every list, which is that of all its rows."""
    least, greatest = (reduce(row_weights, offsets[:-1]) for reduce in (np.minimum.reduceat, np.maximum.reduceat))
    unequal = np.flatnonzero(least != greatest)
    if unequal.shape[0]:
        index = int(unequal[0])
        raise ValueError(
            f"group {plain_value(keys[index])!r} has weights {least[index]} and {greatest[index]} in sample_weight: a "
            "list has one weight; give all rows of a group the same weight"
        )
    return least


class FractionalGradeError(Exception):
    """A grade is not a whole number below 256."""


def exchange_lists(
    y_true: np.ndarray, y_score: np.ndarray, groups: Any, sample_weight: Any, table: MeasureTable, n_threads: int
) -> HashExchange:
    """Check the columns and bring the rows of each group together. Whole grades below 256 are stored in one byte.

    Nearly all grades are whole numbers below 256. If one is not, the exchange starts again with float64 grades.
    """

    def check(weights: np.ndarray) -> None:
        check_some_weight(weights)
        check_rows(y_true, y_score, table)

    y_true, y_score, weights, key_column = rows_with_weight(y_true, y_score, groups, sample_weight, "y_score", check)
    # For every block: grades that are not whole, the greatest grade, NaN among the scores.
    block_checks = np.zeros((-(-y_true.shape[0] // BLOCK_ROWS), 3), np.int64)

    def load_bytes(start: int, stop: int, scratch: np.ndarray) -> RowBlock:
        checks = block_checks[start // BLOCK_ROWS]
        ranked_lists.grades_as_bytes(y_true, start, stop, scratch, checks)
        if checks[0]:
            raise FractionalGradeError
        column_checks.any_nan(y_score, start, stop, checks[2:])
        return RowBlock(
            (scratch[: stop - start],), (y_score[start:stop],), None if weights is None else weights[start:stop]
        )

    def load_floats(start: int, stop: int, scratch: np.ndarray) -> RowBlock:
        grades = scratch[: stop - start]
        grades[:] = y_true[start:stop]
        return RowBlock((grades,), (y_score[start:stop],), None if weights is None else weights[start:stop])

    has_weights = weights is not None
    try:
        exchange = exchange_columns(key_column, load_bytes, [y_score.dtype], has_weights, n_threads)
    except FractionalGradeError:
        check_rows(y_true, y_score, table)
        return exchange_columns(key_column, load_floats, [y_score.dtype], has_weights, n_threads, np.float64)
    if block_checks[:, 2].any() or block_checks[:, 1].max(initial=0) > table.greatest_grade:
        check_rows(y_true, y_score, table)
    return exchange


def check_rows(y_true: np.ndarray, y_score: np.ndarray, table: MeasureTable, signed_gains: bool = False) -> None:
    """Raise the error for the first invalid value: grades first, then scores."""
    check_grades(y_true, table, signed_gains)
    check_scores(y_score.reshape(-1))


def check_columns(grades: np.ndarray, scores: np.ndarray) -> None:
    """Both are columns of one length."""
    validation.check_column(grades, "y_true")
    validation.check_column(scores, "y_score")
    validation.check_lengths(grades.shape[0], scores.shape[0], "y_true", "y_score")


def read_lists(
    grades: np.ndarray, scores: np.ndarray, groups: Any, offsets: Any, sample_weight: Any, options: ListOptions
) -> InputLists:
    """Lists in memory, read from any of the forms."""
    if groups is None and offsets is None:
        items = None if options.items is None else validation.as_array(options.items, "items").reshape(-1)
        return read_matrix(grades, scores, sample_weight, options.least_width).with_items(items)
    check_columns(grades, scores)
    if groups is not None:
        return group_rows_by_sorting(grades, scores, groups, sample_weight, options.items)
    bounds = validation.as_offsets(offsets, grades.shape[0], "lists", "rows")
    lists = InputLists(Lists(scores, grades, bounds), as_list_weights(sample_weight, bounds.shape[0] - 1))
    return lists.with_items(options.items)


class ListArguments(NamedTuple):
    """The arguments of a function of ranked lists, unchecked."""

    y_true: Any
    y_score: Any
    groups: Any
    offsets: Any
    sample_weight: Any


def score_lists(arguments: ListArguments, measures: Sequence[Measure], options: ListOptions) -> list[Value]:
    """The mean over lists of every measure."""
    table = list_measures.cached_table(tuple(measures))
    grades, scores = as_columns(arguments)
    validation.check_infinities(scores, options.allow_infinite, options.n_threads)
    groups = arguments.groups
    by_exchange = groups is not None and options.ties in TABLE_OF_TIES and options.discounts is BINARY_LOGARITHM
    by_exchange = by_exchange and options.items is None and grades.size > MOST_SORTED_ROWS
    if by_exchange and not (options.signed_gains and grades.size and grades.min() < 0):
        check_columns(grades, scores)
        return means_by_exchange(grades, scores, groups, arguments.sample_weight, table, options)
    lists, measured = measure_in_memory(arguments, grades, scores, table, options)
    values, weights = measured.values, lists.weights
    if options.empty == "raise":
        check_no_list_is_empty(lists, values)
    if weights is not None and not weights.all():
        # A list of weight 0 is left out: an empty one must not make the result NaN.
        values, weights = values.compress(weights > 0, axis=1), weights[weights > 0]
    return [mean_as_value(row, weights, options.empty) for row in values]


def as_columns(arguments: ListArguments) -> tuple[np.ndarray, np.ndarray]:
    """The grades and the scores, of any number of dimensions."""
    if arguments.groups is not None and arguments.offsets is not None:
        raise validation.OptionError(f"groups= and offsets= both define the lists; {FORMS}")
    return as_grades(arguments.y_true), validation.as_floats(arguments.y_score, "y_score")


def measure_in_memory(
    arguments: ListArguments, grades: np.ndarray, scores: np.ndarray, table: MeasureTable, options: ListOptions
) -> tuple[InputLists, MeasuredLists]:
    """Read lists of any form and measure them."""
    lists = read_lists(grades, scores, arguments.groups, arguments.offsets, arguments.sample_weight, options)
    try:
        measured = list_measures.measure_lists(
            lists.lists, table, options.ties, options.n_threads, discounts=options.discounts,
            signed_gains=options.signed_gains, unjudged=False,
        )  # fmt: skip
    except list_measures.InvalidRowError:
        check_rows(grades, scores, table, options.signed_gains)
        validation.raise_changed()
    return lists, measured


def check_no_list_is_empty(lists: InputLists, values: np.ndarray) -> None:
    """Raise for the first list without a relevant row."""
    is_empty = np.isnan(values).any(axis=0)
    empty = np.flatnonzero(is_empty if lists.weights is None else is_empty & (lists.weights > 0))
    if empty.shape[0]:
        raise ValueError(f"{lists.name_of(int(empty[0]))} has no relevant row, and empty='raise'")


def mean_as_value(values: np.ndarray, weights: np.ndarray | None, empty: str) -> Value:
    mean = list_measures.mean(values, weights, empty)
    if mean.value == mean.value:
        return Value(mean.value, {})
    if empty == "nan" and mean.empty:
        return Value(mean.value, {}, f"{mean.empty} lists have no relevant row and empty is nan")
    return Value(mean.value, {}, "no list has a relevant row")


def means_by_exchange(
    grades: np.ndarray,
    scores: np.ndarray,
    groups: Any,
    sample_weight: Any,
    table: MeasureTable,
    options: ListOptions,
) -> list[Value]:
    threads = options.n_threads if grades.shape[0] > SERIAL_ROWS else 1
    exchange = exchange_lists(grades, scores, groups, sample_weight, table, threads)
    statistics = [ListMean(measure, options.ties, options.empty) for measure in dict.fromkeys(table.measures)]
    states = reduce_groups(exchange, GroupReduction(statistics, [FIRST_OUTPUT]), threads)
    policy = {"empty": options.empty}
    values = {statistic.measure: finalize_mean(policy, states[statistic, 0, None]) for statistic in statistics}
    return [values[measure] for measure in table.measures]


def measures_by_exchange(
    grades: np.ndarray,
    scores: np.ndarray,
    groups: Any,
    table: MeasureTable,
    options: ListOptions,
) -> tuple[np.ndarray, MeasuredLists]:
    """The keys and the measures of all groups, in the order of their keys."""
    measures = table.measures
    exchange = exchange_lists(grades, scores, groups, None, table, options.n_threads)
    layout = GroupLayout(exchange.store.blocks_in_memory, exchange.key_dtype)
    statistics = [ListMean(measure, options.ties, options.empty) for measure in measures]
    chunks = layout.chunks(len(measures))
    by_group = TABLE_OF_TIES[options.ties](statistics, layout, chunks, [FIRST_OUTPUT], UnpooledScratch())
    tables = []
    for start, stop in chunks:
        for _, groups_table in by_group.whole_tables(start, stop):
            rows_of_values = [groups_table.measure_index[measure] for measure in measures]
            tables.append((groups_table.keys.values(), groups_table.values[rows_of_values], groups_table.counts.copy()))
    keys, values, counts = (
        np.concatenate(column, axis=axis) for column, axis in zip(zip(*tables, strict=True), (0, 1, 0), strict=True)
    )
    order = np.argsort(keys, kind="stable")
    return keys[order], MeasuredLists(values[:, order], counts[order])


def unwrap_means(function: str, values: list[Value], is_sequence: bool) -> float | NDArray[np.float64]:
    """What a function returns: a float, or an array with a value for every k. Warns if a value is undefined."""
    if reason := next((value.reason for value in values if value.reason), None):
        warn_undefined(function, reason)
    return np.array([value.value for value in values]) if is_sequence else values[0].value


class ListFunction(NamedTuple):
    """A function of ranked lists: the mean over lists of a measure, for every cutoff."""

    name: str
    measure: str
    own_options: tuple[str, ...] = ()  # those of the measure
    needs_cutoff: bool = True
    signed_gains: bool = False
    least_width: int = 1

    def mean(
        self, y_true: Any, y_score: Any, groups: Any, *, offsets: Any, sample_weight: Any, relevance_level: Any,
        k: Any = None, **options: Any,
    ) -> float | NDArray[np.float64]:  # fmt: skip
        own = {name: options.pop(name) for name in self.own_options}
        for name, value in own.items():
            list_measures.check_measure_option(name, value)
        cutoffs, is_sequence = list_measures.check_cutoffs(k, self.needs_cutoff)
        level = list_measures.check_level(relevance_level)
        measures = [Measure.of(self.measure, cutoff, relevance_level=level, **own) for cutoff in cutoffs]
        arguments = ListArguments(y_true, y_score, groups, offsets, sample_weight)
        checked = check_options(**options, signed_gains=self.signed_gains, least_width=self.least_width)
        return unwrap_means(self.name, score_lists(arguments, measures, checked), is_sequence)
