"""The forms in which ranked lists come: columns with a group for every row, offsets, rows of a matrix.

Columns with groups go through the exchange by group; where a rule for ties needs to know rows (their order, their
items), they are brought together by group first. The other forms are lists already.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from fastmetrics._core import inputs, keys
from fastmetrics._core.by_group import GroupExchange, GroupLayout, exchange_columns
from fastmetrics._core.group_runs import GroupPlan, reduce_groups
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.rows import BLOCK_ROWS, SERIAL_ROWS, Columns, Fresh, View
from fastmetrics._core.statistic import Value
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels import columns, joins, rankings
from fastmetrics.metrics.ranking import ids, measures
from fastmetrics.metrics.ranking.measures import BINARY_LOGARITHM, Discounts, Lists, Measure, Measured, MeasureTable
from fastmetrics.metrics.ranking.tables import TABLES, ListMean, finalise_mean

ONE_VIEW = View(0, 0)
FEW_ROWS = 2048  # brought together by sorting their keys, which takes less than to prepare an exchange
PUBLIC_TIES = ("average", "docid", "stable", "optimistic", "pessimistic")
FORMS = "give groups= (a key for every row), offsets= (where lists begin and end), or arrays of shape (lists, rows)"


class Options(NamedTuple):
    """What all functions of ranked lists take, checked."""

    ties: str
    empty: str
    n_threads: int
    items: Any = None
    signed_gains: bool = False
    discounts: Discounts = BINARY_LOGARITHM


def check_options(
    ties: str, empty: str, n_threads: int | None, items: Any = None, ignore_ties: Any = False, **more: Any
) -> Options:
    inputs.check_option(ties, "ties", PUBLIC_TIES)
    inputs.check_option(empty, "empty", measures.EMPTY)
    inputs.check_flag(ignore_ties, "ignore_ties")
    if ignore_ties:
        if ties != "average":
            raise inputs.OptionError(f"ignore_ties says how ties are broken, as ties={ties!r} does: give one of them")
        ties = "later"
    if ties == "docid" and items is None:
        raise inputs.OptionError("ties='docid' needs items=, the id of every row")
    return Options(ties, empty, count_threads(n_threads), items, **more)


def as_grades(values: Any, name: str = "y_true") -> np.ndarray:
    """Relevance, in any number of dimensions: uint8, int64, float32 or float64. What is in it is checked later."""
    array = inputs.as_array(values, name)
    kind = array.dtype.kind
    if kind == "b":
        return inputs.contiguous(array).view(np.uint8)
    if kind in "iu":
        if array.dtype == np.uint8:
            return inputs.contiguous(array)
        if array.dtype == np.uint64 and array.size and int(array.max()) > inputs.EXACT_INTEGER:
            return inputs.as_floats(array, name)
        return inputs.contiguous(array.astype(np.int64, copy=False))
    return inputs.as_floats(array, name)


def check_grades(array: np.ndarray, table: MeasureTable, signed_gains: bool, name: str = "y_true") -> None:
    """Finite, none below zero unless that is a gain, none above what a measure allows."""
    if array.size == 0:
        return
    low, high = array.min(), array.max()
    if not (np.isfinite(low) and np.isfinite(high)):
        raise_bad_grade(array, ~np.isfinite(array), "finite numbers are needed", name)
    if low < 0 and not signed_gains:
        raise_bad_grade(array, array < 0, "relevance must not be negative", name)
    if high > table.greatest_grade:
        raise_bad_grade(array, array > table.greatest_grade, f"grades may be at most {table.greatest_grade:g}", name)
    if array.dtype == np.int64 and max(-int(low), int(high)) > inputs.EXACT_INTEGER:
        raise_bad_grade(array, np.abs(array) > inputs.EXACT_INTEGER, "integers beyond 2**53 have no float64", name)


def raise_bad_grade(array: np.ndarray, bad: np.ndarray, why: str, name: str) -> None:
    where = tuple(int(index) for index in np.argwhere(bad)[0])
    value = "NaN" if array[where] != array[where] else array[where]
    place = where[0] if len(where) == 1 else where
    raise ValueError(f"{name} has {value} at row {place}: {why}")


def check_scores(array: np.ndarray, name: str = "y_score") -> None:
    found = np.zeros(1, np.int64)
    columns.any_nan(array, 0, array.shape[0], found)
    if found[0]:
        inputs.raise_nan(array, name)


def as_offsets(values: Any, rows: int) -> np.ndarray:
    """Where lists begin and end, as int64: from 0 to the number of rows, never going back."""
    offsets = inputs.as_array(values, "offsets")
    if offsets.ndim != 1 or offsets.dtype.kind not in "iu" or offsets.shape[0] == 0:
        raise inputs.InputError(
            f"offsets must be whole numbers in one dimension, one more than lists; found {offsets.dtype} of shape "
            f"{offsets.shape}"
        )
    offsets = inputs.contiguous(offsets.astype(np.int64))
    if offsets[0] != 0 or offsets[-1] != rows:
        raise ValueError(f"offsets must go from 0 to {rows}, the number of rows; found {offsets[0]} to {offsets[-1]}")
    back = np.flatnonzero(offsets[1:] < offsets[:-1])
    if back.shape[0]:
        place = int(back[0])
        raise ValueError(f"offsets go back from {offsets[place]} to {offsets[place + 1]} at place {place + 1}")
    return offsets


def as_list_weights(values: Any, n_lists: int) -> np.ndarray | None:
    """Weights of lists."""
    if values is None:
        return None
    weights = inputs.as_weights(values, n_lists, "the number of lists", "sample_weight")
    inputs.check_some_weight(weights)
    return weights


class ListRows(NamedTuple):
    """Lists in memory, with the weights of lists and the keys of groups where there are."""

    lists: Lists
    weights: np.ndarray | None
    groups: np.ndarray | None = None
    integers: ids.Integers | None = None  # items that are, in the order of rows
    longest: int | None = None  # rows of the longest list, where that is known

    def name_of(self, number: int) -> str:
        """A list as errors call it."""
        return f"list {number}" if self.groups is None else f"group {self.groups.tolist()[number]!r}"

    def with_items(self, items: Any, rows: np.ndarray | None = None) -> ListRows:
        """The same with the items of rows, once in a list each; `rows` is the order that rows were brought to."""
        if items is None:
            return self
        column = ids.as_ids(items, "items")
        inputs.check_lengths(int(self.lists.offsets[-1]), column.rows, "y_true", "items")
        column = column if rows is None else column.take(rows)
        found = self._replace(lists=self.lists._replace(order=order_of_items(column)))
        if isinstance(column, ids.Integers):
            found = found._replace(integers=column)
        refuse_repeated_items(found)
        return found


def read_matrix(y_true: np.ndarray, y_score: np.ndarray, sample_weight: Any) -> ListRows:
    """Rows of two matrices as lists."""
    if y_true.shape != y_score.shape:
        raise ValueError(f"y_true has shape {y_true.shape} but y_score has {y_score.shape}")
    if y_true.ndim != 2:
        raise inputs.InputError(f"y_true has {y_true.ndim} dimensions, shape {y_true.shape}: {FORMS}")
    n_lists, width = y_true.shape
    if n_lists == 0 or width == 0:
        raise ValueError(f"y_true is empty (shape {y_true.shape}): at least one list of one row is needed")
    weights = as_list_weights(sample_weight, n_lists)
    offsets = np.arange(0, n_lists * width + 1, width, dtype=np.int64)
    return ListRows(Lists(y_score.reshape(-1), y_true.reshape(-1), offsets), weights, longest=width)


def order_of_items(column: ids.Ids) -> Any:
    """What decides ties="docid" (Lists.order): the greater id first, integers as numbers, text by its bytes."""
    if isinstance(column, ids.Integers):
        bits = column.values.view(np.uint64)
        return ~bits if column.is_unsigned else ~(bits ^ np.uint64(1 << 63))
    return column.as_texts()


def refuse_repeated_items(found: ListRows) -> None:
    """An item stands in a list once, or not at all."""
    order, offsets = found.lists.order, found.lists.offsets
    rows = int(offsets[-1])
    codes = order
    if not isinstance(order, np.ndarray):
        codes, firsts = np.empty(rows, np.int64), np.empty(rows, np.int64)
        table = np.zeros(max(32, 1 << (2 * rows - 1).bit_length()), np.uint64)
        joins.number_texts(order.data, order.starts, order.stops, table, codes, firsts)
    owner = np.repeat(np.arange(found.lists.n_lists), np.diff(offsets))
    places = np.lexsort((codes, owner))
    same = (np.diff(owner[places]) == 0) & (np.diff(codes[places].view(np.int64)) == 0)
    if same.any():
        place = int(places[:-1][same].min())
        item = found.integers.at(place) if found.integers is not None else order.at(place)
        raise ValueError(f"items has {item!r} twice in {found.name_of(int(owner[place]))}")


def bring_together(y_true: np.ndarray, y_score: np.ndarray, groups: Any, sample_weight: Any, items: Any) -> ListRows:
    """Rows with a group each as lists: groups in the order of their keys, a group's rows as they stood."""
    column = keys.as_keys(groups)
    inputs.check_lengths(y_true.shape[0], column.rows, "y_true", "groups")
    names, codes = np.unique(
        column.values if isinstance(column, keys.IntegerKeys) else np.array(ids.of_keys(column).names()),
        return_inverse=True,
    )
    order = np.argsort(codes, kind="stable")
    offsets = np.zeros(names.shape[0] + 1, np.int64)
    np.cumsum(np.bincount(codes, minlength=names.shape[0]), out=offsets[1:])
    weights = None
    if sample_weight is not None:
        rows = inputs.as_weights(sample_weight, y_true.shape[0])
        inputs.check_some_weight(rows)
        weights = weights_of_lists(rows[order], offsets, names)
    return ListRows(Lists(y_score[order], y_true[order], offsets), weights, names).with_items(items, order)


def weights_of_lists(rows: np.ndarray, offsets: np.ndarray, names: np.ndarray) -> np.ndarray:
    """The weight that all rows of a list have."""
    least, greatest = (reduce(rows, offsets[:-1]) for reduce in (np.minimum.reduceat, np.maximum.reduceat))
    several = np.flatnonzero(least != greatest)
    if several.shape[0]:
        place = int(several[0])
        raise ValueError(
            f"group {names.tolist()[place]!r} has weights {least[place]} and {greatest[place]} in sample_weight: lists "
            "are weighted as a whole; give all rows of a group the same weight"
        )
    return least


class NotWholeError(Exception):
    """A grade is no whole number of one byte."""


def group_exchange(
    y_true: np.ndarray, y_score: np.ndarray, groups: Any, sample_weight: Any, table: MeasureTable, n_threads: int
) -> GroupExchange:
    """The rows of columns, checked, brought together by group. Whole grades below 256 travel as bytes.

    They nearly always are; where one turns out not to be, rows start anew with grades of eight bytes.
    """
    key_column = keys.as_keys(groups)
    rows = y_true.shape[0]
    inputs.check_lengths(rows, key_column.rows, "y_true", "groups")
    weights = None
    if sample_weight is not None:
        weights = inputs.as_weights(sample_weight, rows)
        inputs.check_some_weight(weights)
        present = weights > 0
        if not present.all():
            # Everything is judged before rows go, so that an error names the row the caller knows.
            check_rows(y_true, y_score, table)
            y_true, y_score, weights = y_true[present], y_score[present], weights[present]
            key_column = keys.select(key_column, present)
    found = np.zeros((-(-y_true.shape[0] // BLOCK_ROWS), 3), np.int64)

    def load_bytes(start: int, stop: int, scratch: np.ndarray) -> Columns:
        own = found[start // BLOCK_ROWS]
        rankings.whole_grades(y_true, start, stop, scratch, own)
        if own[0]:
            raise NotWholeError
        columns.any_nan(y_score, start, stop, own[2:])
        return Columns(
            (scratch[: stop - start],), (y_score[start:stop],), None if weights is None else weights[start:stop]
        )

    def load_floats(start: int, stop: int, scratch: np.ndarray) -> Columns:
        own = scratch[: stop - start]
        own[:] = y_true[start:stop]
        return Columns((own,), (y_score[start:stop],), None if weights is None else weights[start:stop])

    has_weights = weights is not None
    try:
        moved = exchange_columns(key_column, load_bytes, [y_score.dtype], has_weights, n_threads)
    except NotWholeError:
        check_rows(y_true, y_score, table)
        return exchange_columns(key_column, load_floats, [y_score.dtype], has_weights, n_threads, np.float64)
    if found[:, 2].any() or found[:, 1].max(initial=0) > table.greatest_grade:
        check_rows(y_true, y_score, table)
    return moved


def check_rows(y_true: np.ndarray, y_score: np.ndarray, table: MeasureTable, signed_gains: bool = False) -> None:
    """The error for the first bad value: grades, then scores."""
    check_grades(y_true, table, signed_gains)
    check_scores(y_score.reshape(-1))


def read_lists(
    grades: np.ndarray, scores: np.ndarray, groups: Any, offsets: Any, sample_weight: Any, options: Options
) -> ListRows:
    """Lists in memory, of whatever form."""
    if groups is None and offsets is None:
        items = None if options.items is None else inputs.as_array(options.items, "items").reshape(-1)
        return read_matrix(grades, scores, sample_weight).with_items(items)
    for array, name in ((grades, "y_true"), (scores, "y_score")):
        inputs.check_column(array, name)
    inputs.check_lengths(grades.shape[0], scores.shape[0], "y_true", "y_score")
    if groups is not None:
        return bring_together(grades, scores, groups, sample_weight, options.items)
    bounds = as_offsets(offsets, grades.shape[0])
    found = ListRows(Lists(scores, grades, bounds), as_list_weights(sample_weight, bounds.shape[0] - 1))
    return found.with_items(options.items)


class Given(NamedTuple):
    """What a function of ranked lists was given, as it was given."""

    y_true: Any
    y_score: Any
    groups: Any
    offsets: Any
    sample_weight: Any


def score_lists(given: Given, wanted: Sequence[Measure], options: Options) -> list[Value]:
    """The means of measures over lists."""
    y_true, y_score, groups, offsets, sample_weight = given
    if groups is not None and offsets is not None:
        raise inputs.OptionError(f"groups= and offsets= both say which rows are a list; {FORMS}")
    table = measures.table_of(tuple(wanted))
    grades = as_grades(y_true)
    scores = inputs.as_floats(y_score, "y_score")
    by_exchange = groups is not None and options.ties in TABLES and options.discounts is BINARY_LOGARITHM
    by_exchange = by_exchange and options.items is None and grades.size > FEW_ROWS
    if by_exchange and not (options.signed_gains and grades.size and grades.min() < 0):
        for array, name in ((grades, "y_true"), (scores, "y_score")):
            inputs.check_column(array, name)
        inputs.check_lengths(grades.shape[0], scores.shape[0], "y_true", "y_score")
        return exchange_means(grades, scores, groups, sample_weight, table, options)
    found = read_lists(grades, scores, groups, offsets, sample_weight, options)
    try:
        measured = measure(found, table, options)
    except measures.BadListsError:
        check_rows(grades, scores, table, options.signed_gains)
        raise
    values, weights = measured.values, found.weights
    if options.empty == "raise":
        refuse_empty(found, values)
    if weights is not None and not weights.all():
        # A list of weight zero is absent, also where an empty one would make the result NaN.
        values, weights = values.compress(weights > 0, axis=1), weights[weights > 0]
    return [mean_value(row, weights, options.empty) for row in values]


def measure(found: ListRows, table: MeasureTable, options: Options) -> Measured:
    return measures.measure_lists(
        found.lists, table, options.ties, options.n_threads, discounts=options.discounts,
        signed_gains=options.signed_gains, unjudged=False, longest=found.longest,
    )  # fmt: skip


def refuse_empty(found: ListRows, values: np.ndarray) -> None:
    """The error for the first list without a relevant row."""
    is_empty = np.isnan(values).any(axis=0)
    empty = np.flatnonzero(is_empty if found.weights is None else is_empty & (found.weights > 0))
    if empty.shape[0]:
        place = int(empty[0])
        raise ValueError(f"{found.name_of(place)} has no relevant row, and empty='raise'")


def mean_value(values: np.ndarray, weights: np.ndarray | None, empty: str) -> Value:
    mean = measures.mean(values, weights, empty)
    if mean.value == mean.value:
        return Value(mean.value, {})
    if empty == "nan" and mean.empty:
        return Value(mean.value, {}, f"{mean.empty} lists have no relevant row and empty is nan")
    return Value(mean.value, {}, "no list has a relevant row")


def exchange_means(
    grades: np.ndarray,
    scores: np.ndarray,
    groups: Any,
    sample_weight: Any,
    table: MeasureTable,
    options: Options,
) -> list[Value]:
    threads = options.n_threads if grades.shape[0] > SERIAL_ROWS else 1
    moved = group_exchange(grades, scores, groups, sample_weight, table, threads)
    statistics = [ListMean(own, options.ties, options.empty) for own in dict.fromkeys(table.measures)]
    states = reduce_groups(moved, GroupPlan(statistics, [ONE_VIEW], False), threads)
    values = {own.measure: finalise_mean({"empty": options.empty}, states[own, 0, None]) for own in statistics}
    return [values[own] for own in table.measures]


def exchange_table(
    grades: np.ndarray,
    scores: np.ndarray,
    groups: Any,
    table: MeasureTable,
    options: Options,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(keys, values, counts) of all groups, in the order of their keys."""
    wanted = table.measures
    moved = group_exchange(grades, scores, groups, None, table, options.n_threads)
    layout = GroupLayout(moved.store.held, moved.is_text, moved.key_dtype)
    statistics = [ListMean(own, options.ties, options.empty) for own in wanted]
    chunks = layout.chunks(len(wanted))
    by_group = TABLES[options.ties](statistics, layout, chunks, [ONE_VIEW], Fresh())
    parts = []
    for start, stop in chunks:
        for _, _, part in by_group.tables(start, stop, False):
            places = [part.place[own] for own in wanted]
            parts.append((part.keys.values(), part.values[places], part.counts.copy()))
    names = np.concatenate([part[0] for part in parts])
    order = np.argsort(names, kind="stable")
    values = np.concatenate([part[1] for part in parts], axis=1)[:, order]
    return names[order], values, np.concatenate([part[2] for part in parts])[order]


def answer(function: str, values: list[Value], several: bool) -> Any:
    """What a function returns: a float, or an array with a value for every k; undefined ones are warned of."""
    for value in values:
        if value.reason:
            warn_undefined(function, value.reason)
            break
    return np.array([value.value for value in values]) if several else values[0].value
