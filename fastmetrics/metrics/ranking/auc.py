"""Scores against labels inside groups: AUC of every group, and GAUC, their weighted mean.

Rows of a group meet in a partition (`_core/by_group.py`), a kernel counts every group's pairs, and what is left of a
group is one row of integers. GAUC is a ratio of exact sums over those rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, NoReturn

import numpy as np

from fastmetrics._core import inputs, keys, weighted
from fastmetrics._core.blocks import BlockStore
from fastmetrics._core.by_group import GroupExchange, GroupKeys, GroupLayout, exchange_columns
from fastmetrics._core.exact import EXPONENT, divide
from fastmetrics._core.group_runs import GroupPlan, reduce_groups
from fastmetrics._core.pairs import PairsWon
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.registry import metric
from fastmetrics._core.replicates import LotTable
from fastmetrics._core.rows import (
    BLOCK_ROWS,
    SERIAL_ROWS,
    SLICE,
    WEIGHT,
    Columns,
    Fresh,
    Scratch,
    View,
    label_name,
    score_name,
)
from fastmetrics._core.score_runs import ScoreWork, resolve_scores
from fastmetrics._core.statistic import Statistic, Sums, Value
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._core.weighted import WeightedPairs
from fastmetrics._kernels import columns, groups, ranksum, sums, weightedpairs

WEIGHTS = ("impressions", "uniform", "positives", "pairs", "weights")
WEIGH = {"uniform": 1, "positives": 2}  # for the kernel; all others weigh rows
SINGLE_CLASS = ("skip", "half", "nan", "raise")
NO_SLICES: np.ndarray = np.empty(0, np.uint64)
ONE_VIEW = View(0, 0)
ONE_CLASS_NO_POSITIVE = "one class: no positive"
ONE_CLASS_NO_NEGATIVE = "one class: no negative"


class GroupPairs(NamedTuple):
    """Statistics of some groups: rows by class, twice the pairs won (ties count one).

    With weights, also the groups' sums of weights; `wins` is then the share of the weighted pairs that were won: AUC.
    """

    keys: GroupKeys
    class_rows: np.ndarray
    wins: np.ndarray
    group_weights: np.ndarray | None

    def take(self, order: np.ndarray) -> GroupPairs:
        """The groups in the order given."""
        weights = None if self.group_weights is None else self.group_weights[order]
        return GroupPairs(self.keys.take(order), self.class_rows[order], self.wins[order], weights)

    def part(self, where: slice) -> GroupPairs:
        """Some neighbouring groups."""
        keys = GroupKeys(self.keys.hashes[where], self.keys.heads[where], self.keys.tails[where], self.keys.dtype)
        weights = None if self.group_weights is None else self.group_weights[where]
        return GroupPairs(keys, self.class_rows[where], self.wins[where], weights)

    def auc(self) -> np.ndarray:
        """AUC of every group, NaN where a class is missing."""
        negatives, positives = self.class_rows[:, 0], self.class_rows[:, 1]
        defined = (negatives > 0) & (positives > 0)
        out = np.full(self.wins.shape[0], np.nan)
        if self.group_weights is None:
            pairs = 2 * negatives[defined].astype(np.uint64) * positives[defined].astype(np.uint64)
            out[defined] = self.wins[defined].astype(np.float64) / pairs.astype(np.float64)
        else:
            out[defined] = self.wins[defined]
        return out


class PairsByGroup:
    """The pairs of every group; asked for a run of partitions at a time, with working memory of its own."""

    ROW_BYTES = 52

    def __init__(
        self,
        statistics: Sequence[Any],
        layout: GroupLayout,
        chunks: list[tuple[int, int]],
        views: Sequence[View],
        scratch: Scratch,
    ) -> None:
        rows = max(1, int(layout.partition_rows.max()))
        most_groups = max(1, max(int(layout.partition_rows[start:stop].sum()) for start, stop in chunks))
        take = scratch.take
        self.layout = layout
        self.views = views
        self.label_of_view = np.array([view.label for view in views], np.int64)
        self.score_of_view = np.array([view.score for view in views], np.int64)
        self.table = take("table", np.uint32, max(64, 1 << (2 * rows - 1).bit_length()))
        self.group_of_row = take("group of row", np.uint32, rows)
        self.cursors = take("cursors", np.int64, 2 * rows)
        self.scores = take("scores", np.uint64, rows)
        self.scratch = take("scratch", np.uint64, rows)
        self.cells = take("cells", np.uint32, ranksum.MOST_CELLS + 2)
        self.conflicts = take("conflicts", np.uint64, ranksum.MOST_CONFLICTS)
        self.hashes = take("hashes", np.uint64, most_groups)
        self.heads = take("heads", np.uint64, most_groups if layout.is_text else 0)
        self.tails = take("tails", np.uint64, most_groups if layout.is_text else 0)
        self.slices = take("slices", np.uint16, most_groups if layout.slices.shape[0] else 0)
        self.class_rows = take("class rows", np.int64, 2 * layout.n_labels * most_groups).reshape(
            layout.n_labels, most_groups, 2
        )
        self.wins = take("wins", np.uint64, len(views) * most_groups).reshape(len(views), most_groups)
        self.n_groups = np.zeros(1, np.int64)

    @staticmethod
    def values_per_view(statistics: Sequence[Any]) -> int:
        return 1

    def tables(self, start: int, stop: int, by_slice: bool) -> Iterator[tuple[int, int | None, GroupPairs]]:
        """(view, slice, groups) of the partitions start..stop. A table's arrays are overwritten by the next."""
        layout = self.layout
        if layout.weighted:
            for partition in range(start, stop):
                if layout.partition_rows[partition]:
                    yield from self.weighted_tables(partition, by_slice)
            return
        groups.group_pairs(
            layout.hashes, layout.labels, layout.scores, layout.heads, layout.tails,
            layout.slices if by_slice else NO_SLICES, layout.offsets, layout.double_scores, self.label_of_view,
            self.score_of_view, start, stop, self.table, self.group_of_row, self.cursors, self.scores, self.scratch,
            self.cells, self.conflicts, self.hashes, self.heads, self.tails, self.slices, self.class_rows, self.wins,
            self.n_groups,
        )  # fmt: skip
        n = int(self.n_groups[0])
        if n == 0:
            return
        keys = self.keys(n)
        if not by_slice:
            for number, view in enumerate(self.views):
                yield number, None, GroupPairs(keys, self.class_rows[view.label, :n], self.wins[number, :n], None)
            return
        order, edges = self.by_slice(n)
        keys = keys.take(order)
        # Both counts of a group travel as one value of 16 bytes.
        pairs = self.class_rows.view(np.complex128)[:, :n, 0]
        class_rows = [pairs[label].take(order).view(np.int64).reshape(n, 2) for label in range(layout.n_labels)]
        for number, view in enumerate(self.views):
            whole = GroupPairs(keys, class_rows[view.label], self.wins[number, :n][order], None)
            for slice_number, part in edges:
                yield number, slice_number, whole.part(part)

    def by_slice(self, n: int) -> tuple[np.ndarray, list[tuple[int, slice]]]:
        """The order that brings the groups of a slice together, and where each slice's stand then."""
        own = self.slices[:n]
        order = np.argsort(own, kind="stable")
        counts = np.bincount(own)
        ends = np.cumsum(counts)
        present = np.flatnonzero(counts).tolist()
        return order, [(number, slice(int(ends[number] - counts[number]), int(ends[number]))) for number in present]

    def keys(self, n: int) -> GroupKeys:
        return GroupKeys(self.hashes[:n], self.heads[:n], self.tails[:n], self.layout.key_dtype)

    def weighted_tables(self, partition: int, by_slice: bool) -> Iterator[tuple[int, int | None, GroupPairs]]:
        layout = self.layout
        rows = int(layout.partition_rows[partition])
        table = self.table[: max(64, 1 << (2 * rows - 1).bit_length())]
        groups.number_groups(
            layout.hashes, layout.labels, layout.heads, layout.tails, layout.slices if by_slice else NO_SLICES,
            layout.offsets, partition, table, self.group_of_row, self.hashes, self.heads, self.tails, self.slices,
            self.class_rows[0], self.n_groups,
        )  # fmt: skip
        n = int(self.n_groups[0])
        slices = [(block.columns, slice(*block.offsets[partition : partition + 2])) for block in layout.blocks]
        weights = np.concatenate([columns[WEIGHT][where] for columns, where in slices])
        number = self.group_of_row[:rows]
        starts = np.zeros(n + 1, np.int64)
        np.cumsum(np.bincount(number, minlength=n), out=starts[1:])
        for view_number, view in enumerate(self.views):
            labels = np.concatenate([columns[label_name(view.label)][where] for columns, where in slices])
            scores = np.concatenate([columns[score_name(view.score)][where] for columns, where in slices])
            # In an order that the rows alone decide: sums of weights round.
            order = np.lexsort((weights, labels, scores, number))
            auc, totals = np.empty(n), np.empty(n)
            class_rows = np.empty((n, 2), np.int64)
            weightedpairs.weighted_pairs(scores[order], labels[order], weights[order], starts, auc, totals, class_rows)
            if not by_slice:
                yield view_number, None, GroupPairs(self.keys(n), class_rows, auc, totals)
                continue
            groups_order, edges = self.by_slice(n)
            whole = GroupPairs(
                self.keys(n).take(groups_order), class_rows[groups_order], auc[groups_order], totals[groups_order]
            )
            for slice_number, part in edges:
                yield view_number, slice_number, whole.part(part)

    @staticmethod
    def of_giant(
        statistics: Sequence[Any],
        rows: BlockStore,
        keys: GroupKeys,
        views: Sequence[View],
        by_slice: bool,
        n_threads: int,
    ) -> Iterator[tuple[int, int | None, GroupPairs]]:
        """The tables of one group that is too large to be loaded: its pairs are counted by ranges of its scores."""
        is_weighted = WEIGHT in rows.types
        n_slices = 1 + rows.greatest(SLICE) if by_slice else 0
        for number, view in enumerate(views):
            states = resolve_scores(ScoreWork(rows, view, is_weighted, [PairsWon()], n_threads), n_slices)
            for (_, slice_number), state in states.items():
                if isinstance(state, WeightedPairs):
                    class_rows = np.array([state.rows], np.int64)
                    both = 0 not in state.rows
                    wins = np.array([weighted.pair_share(state) if both else 0.0])
                    total = np.array([divide(sum(state.weights), 1 << EXPONENT)])
                    table = GroupPairs(keys, class_rows, wins, total)
                else:
                    wins = np.array([state.wins], np.uint64)
                    table = GroupPairs(keys, np.array([state[:2]], np.int64), wins, None)
                if table.class_rows.any():
                    yield number, slice_number, table


class GroupAuc(Statistic):
    """The additive statistic of GAUC: sums over groups of w AUC and of w; groups and rows left out, by reason."""

    __slots__ = ("single_class", "weight")

    def __init__(self, weight: str, single_class: str) -> None:
        self.weight = weight
        self.single_class = single_class

    @property
    def table(self) -> type[PairsByGroup]:
        return PairsByGroup

    def new(self) -> Sums:
        # counts: groups, without positive, without negative, rows, rows of those two kinds; twice the pairs won and all
        # pairs, each as its high and low 32 bits. sums: w AUC, w.
        return Sums(10, 2)

    def update(self, state: Sums, table: GroupPairs) -> None:
        if table.group_weights is None and self.weight != "pairs" and self.single_class != "raise":
            groups.auc_terms(
                table.class_rows, table.wins, WEIGH.get(self.weight, 0), self.single_class == "half", state.exact[0],
                state.exact[1], state.counts,
            )  # fmt: skip
            return
        negatives, positives = table.class_rows[:, 0], table.class_rows[:, 1]
        rows = negatives + positives
        no_positive, no_negative = positives == 0, negatives == 0
        if self.single_class == "raise" and (no_positive.any() or no_negative.any()):
            self.refuse(table, int(np.flatnonzero(no_positive | no_negative)[0]))
        state.counts[:6] += (
            rows.shape[0], np.count_nonzero(no_positive), np.count_nonzero(no_negative), rows.sum(),
            rows[no_positive].sum(), rows[no_negative].sum(),
        )  # fmt: skip
        if self.weight == "pairs" and table.group_weights is None:
            # Pairs weighted by pairs are a quotient of integers.
            pairs = 2 * (negatives * positives).astype(np.uint64)
            for index, values in ((6, table.wins), (8, pairs)):
                state.counts[index] += int((values >> np.uint64(32)).sum())
                state.counts[index + 1] += int((values & np.uint64(0xFFFFFFFF)).sum())
            return
        auc = table.auc()
        if self.single_class == "half":
            auc[no_positive | no_negative] = 0.5
            counted = slice(None)
        else:
            counted = ~(no_positive | no_negative)
        weight = self.weigh(table, rows)[counted]
        sums.sum_values(auc[counted], weight, state.exact[0])
        sums.sum_values(weight, None, state.exact[1])

    def group_values(self, table: GroupPairs) -> np.ndarray:
        """The AUC of every group, NaN where it has none or counts for nothing."""
        auc = table.auc()
        if self.single_class == "half":
            auc[np.isnan(auc)] = 0.5
            auc[self.weigh(table, table.class_rows.sum(axis=1)) == 0] = np.nan
        return auc

    def update_parts(self, states: LotTable, table: GroupPairs, starts: np.ndarray) -> None:
        """As `update`, of the groups starts[i] to starts[i + 1] for state i."""
        if table.group_weights is None and self.weight != "pairs" and self.single_class != "raise":
            groups.auc_terms_of_parts(
                table.class_rows, table.wins, WEIGH.get(self.weight, 0), self.single_class == "half", starts,
                states.exact, states.counts,
            )  # fmt: skip
            return
        for number, (start, stop) in enumerate(pairwise(starts.tolist())):
            self.update(states.state(number), table.part(slice(start, stop)))

    @staticmethod
    def refuse(table: GroupPairs, index: int) -> NoReturn:
        (key,) = table.keys.at(index).tolist()
        negatives, positives = table.class_rows[index].tolist()
        raise ValueError(
            f"group {key!r} has one class only ({negatives} negative rows, {positives} positive), "
            "and single_class='raise'"
        )

    def weigh(self, table: GroupPairs, rows: np.ndarray) -> np.ndarray:
        """w of every group."""
        if self.weight == "uniform":
            return np.ones(rows.shape[0])
        if self.weight == "positives":
            return table.class_rows[:, 1].astype(np.float64)
        if self.weight == "pairs":
            pairs: np.ndarray = table.class_rows[:, 0].astype(np.float64) * table.class_rows[:, 1]
            return pairs
        if self.weight == "weights" and table.group_weights is not None:
            weights: np.ndarray = table.group_weights
            return weights
        return rows.astype(np.float64)


class GroupTable:
    """AUC of every group, as columns sorted by group.

    Attributes
    ----------
    group : numpy.ndarray
        The group keys: integers (int32, int64 or uint64; smaller types widened), or strings (dtype object).
    auc : numpy.ndarray of float64
        NaN where a group has one class only.
    n, n_pos : numpy.ndarray of int64
        Rows and positive rows (of positive weight).
    """

    __slots__ = ("auc", "group", "n", "n_pos")

    def __init__(self, group: np.ndarray, auc: np.ndarray, n: np.ndarray, n_pos: np.ndarray) -> None:
        self.group = group
        self.auc = auc
        self.n = n
        self.n_pos = n_pos

    def __len__(self) -> int:
        return len(self.group)

    def __repr__(self) -> str:
        defined = int(np.count_nonzero(~np.isnan(self.auc)))
        return f"GroupTable({len(self)} groups, {defined} with both classes: group, auc, n, n_pos)"

    def to_arrow(self) -> Any:
        """The columns as a pyarrow.Table; an undefined AUC is null.

        Returns
        -------
        pyarrow.Table
        """
        try:
            import pyarrow
        except ImportError:
            raise ImportError("to_arrow needs pyarrow; type: pip install 'fastmetrics[arrow]'") from None
        group = self.group.tolist() if self.group.dtype == object else self.group
        auc = pyarrow.array(self.auc, from_pandas=True)
        return pyarrow.table({"group": group, "auc": auc, "n": self.n, "n_pos": self.n_pos})


def group_columns(y_true: Any, y_score: Any, key_values: Any, sample_weight: Any, n_threads: int) -> GroupExchange:
    """The rows of four columns, checked, brought together by group."""
    labels = inputs.as_labels(y_true)
    scores = inputs.as_scores(y_score)
    key_column = keys.as_keys(key_values)
    rows = labels.shape[0]
    inputs.check_lengths(rows, scores.shape[0], "y_true", "y_score")
    inputs.check_lengths(rows, key_column.rows, "y_true", "groups")
    weights = None
    if sample_weight is not None:
        weights = inputs.as_weights(sample_weight, rows)
        present = weights > 0
        if not present.all():
            # Everything is judged before rows go, so that an error names the row the caller knows.
            inputs.decode_labels(labels)
            if np.isnan(scores).any():
                inputs.raise_nan(scores, "y_score")
            labels, scores, weights = labels[present], scores[present], weights[present]
            key_column = keys.select(key_column, present)
    seen = np.zeros((-(-labels.shape[0] // BLOCK_ROWS), 2), np.int64)
    nan = np.zeros(seen.shape[0], np.int64)

    def load_rows(start: int, stop: int, scratch: np.ndarray) -> Columns:
        unit = start // BLOCK_ROWS
        columns.decode_labels(labels, start, stop, scratch, seen[unit])
        columns.any_nan(scores, start, stop, nan[unit : unit + 1])
        own_weights = None if weights is None else weights[start:stop]
        return Columns((scratch[: stop - start],), (scores[start:stop],), own_weights)

    moved = exchange_columns(key_column, load_rows, [scores.dtype], weights is not None, n_threads)
    inputs.check_seen_labels(
        int(np.bitwise_or.reduce(seen[:, 0])), lambda what: inputs.find_label(labels, what), "y_true"
    )
    if nan.any():
        inputs.raise_nan(scores, "y_score")
    return moved


def gauc_score(
    y_true: Any,
    y_score: Any,
    groups: Any,
    *,
    weight: str = "impressions",
    single_class: str = "skip",
    sample_weight: Any = None,
    n_threads: int | None = None,
) -> float:
    """Group AUC: the weighted mean over groups (users) of the AUC inside each group.

    GAUC = sum_g w_g AUC_g / sum_g w_g (Zhu et al., KDD 2017; w_g = impressions in Zhou et al., "Deep Interest Network",
    KDD 2018).

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1.
    y_score : array-like of shape (n,)
        Scores; float32 and float64 are read as they are, integers and float16 widened.
    groups : array-like of shape (n,)
        Keys: integers or strings, in any order. Rows with equal keys are one group, wherever they stand.
    weight : {"impressions", "uniform", "positives", "pairs", "weights"}
        w_g: rows of the group; 1; its positive rows; positive times negative rows; the sum of its sample weights.
    single_class : {"skip", "half", "nan", "raise"}
        A group with one class only: left out; counted as 0.5; makes the result NaN; is an error.
    sample_weight : array-like of shape (n,), optional
        Weights of rows inside their group's AUC; a row of weight zero is absent.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    float
        In [0, 1]; NaN with an UndefinedMetricWarning when no group has both classes.

    Raises
    ------
    ValueError
        NaN or null in any column, bad labels or options, lengths that differ, no rows; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> users = ["ann", "bob", "ann", "bob", "ann", "cid"]
    >>> fm.gauc_score([1, 0, 0, 1, 0, 1], [0.9, 0.3, 0.8, 0.2, 0.9, 0.5], users)
    0.45
    """
    inputs.check_option(weight, "weight", WEIGHTS)
    inputs.check_option(single_class, "single_class", SINGLE_CLASS)
    threads = count_threads(n_threads)
    moved = group_columns(y_true, y_score, groups, sample_weight, threads)
    statistic = GroupAuc(weight, single_class)
    state = statistic.new()
    rows = moved.store.rows
    if rows:
        plan = GroupPlan([statistic], [ONE_VIEW], False)
        state = reduce_groups(moved, plan, threads if rows > SERIAL_ROWS else 1)[statistic, 0, None]
    result = finalise_gauc({"weight": weight, "single_class": single_class}, state)
    return warn_undefined("gauc_score", result.reason) if result.reason else result.value


def auc_by_group(
    y_true: Any, y_score: Any, groups: Any, *, sample_weight: Any = None, n_threads: int | None = None
) -> GroupTable:
    """AUC of every group, with its numbers of rows.

    AUC_g = (pairs won + pairs tied / 2) / (positives * negatives) over the group's rows.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        Labels 0 and 1, or -1 and +1.
    y_score : array-like of shape (n,)
        Scores; float32 and float64 are read as they are, integers and float16 widened.
    groups : array-like of shape (n,)
        Keys: integers or strings, in any order.
    sample_weight : array-like of shape (n,), optional
        Weights of rows; a row of weight zero is absent.
    n_threads : int, optional
        Threads to use; by default as many as the process may run on. The result does not depend on it.

    Returns
    -------
    GroupTable
        Columns group, auc (NaN with one class only), n, n_pos, sorted by group.

    Raises
    ------
    ValueError
        NaN or null in any column, bad labels, lengths that differ, no rows; the row is named.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> table = fm.auc_by_group([1, 0, 0, 1], [0.9, 0.3, 0.8, 0.2], [7, 5, 7, 5])
    >>> table.group.tolist(), table.auc.tolist(), table.n.tolist(), table.n_pos.tolist()
    ([5, 7], [0.0, 1.0], [2, 2], [1, 1])
    """
    threads = count_threads(n_threads)
    moved = group_columns(y_true, y_score, groups, sample_weight, threads)
    if not moved.store.rows:
        nothing = np.empty(0, np.int64)
        return GroupTable(np.empty(0, moved.key_dtype), np.empty(0), nothing, nothing)
    layout = GroupLayout(moved.store.held, moved.is_text, moved.key_dtype)
    by_group = PairsByGroup([], layout, chunks := layout.chunks(1), [ONE_VIEW], Fresh())
    parts = []
    for start, stop in chunks:
        for _, _, table in by_group.tables(start, stop, False):
            rows = table.class_rows.sum(axis=1)
            parts.append((table.keys.values(), table.auc(), rows, table.class_rows[:, 1].copy()))
    group, auc, n, n_pos = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.argsort(group, kind="stable")
    return GroupTable(group[order], auc[order], n[order], n_pos[order])


@metric(
    "gauc",
    exchange="group",
    statistics=lambda weight, single_class: (GroupAuc(weight, single_class),),
    function=gauc_score,
    undefined="no group with both classes",
    parameters={"weight": "impressions", "single_class": "skip"},
    checks={"weight": WEIGHTS, "single_class": SINGLE_CLASS},
)
def finalise_gauc(parameters: dict[str, Any], state: Sums) -> Value:
    """Group AUC: the weighted mean over groups of the AUC inside each group."""
    groups_seen, no_positive, no_negative, rows, rows_no_positive, rows_no_negative, *pairs = state.counts.tolist()
    single = no_positive + no_negative
    left_out = 0 if parameters["single_class"] == "half" else single
    rows_left_out = 0 if parameters["single_class"] == "half" else rows_no_positive + rows_no_negative
    coverage = {
        "rows": rows - rows_left_out,
        "groups": groups_seen,
        "groups_used": groups_seen - left_out,
        "groups_left_out": {ONE_CLASS_NO_POSITIVE: no_positive, ONE_CLASS_NO_NEGATIVE: no_negative} if left_out else {},
        "rows_left_out": {ONE_CLASS_NO_POSITIVE: rows_no_positive, ONE_CLASS_NO_NEGATIVE: rows_no_negative}
        if left_out
        else {},
    }
    if parameters["single_class"] == "nan" and single:
        return Value(float("nan"), coverage, f"{single} groups have one class only and single_class is nan")
    won, total = state.integer(0), state.integer(1)
    if any(pairs):
        won, total = (pairs[0] << 32) + pairs[1], (pairs[2] << 32) + pairs[3]
    if total == 0:
        reason = "no group has both classes" if groups_seen == single else "the groups with both classes weigh nothing"
        reason = reason if groups_seen else "every weight is zero"
        return Value(float("nan"), coverage, reason)
    return Value(divide(won, total), coverage)
