"""GAUC: the weighted mean over groups of the AUC inside each group, a ratio of exact sums.

The pairs of every group are counted in `lists/group_pairs.py`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from fastmetrics._core.columns import validation
from fastmetrics._core.exact import divide, quotients
from fastmetrics._core.exchange.group_rows import reduce_columns
from fastmetrics._core.exchange.group_values import MeanOfGroups
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.registry import metric
from fastmetrics._core.state import Fields, ManySums, Sums, exact_sum, segment_starts, wide_count
from fastmetrics._core.statistic import ByUnit, StatesOfUnits, Value
from fastmetrics._core.undefined import warn_undefined
from fastmetrics._kernels.numeric import sums
from fastmetrics._kernels.ranking import grouped_auc
from fastmetrics.metrics.ranking.lists.group_pairs import GroupPairs, PairsByGroup

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import KeysLike, NumericArrayLike
    from fastmetrics._core.types.options import GroupWeight, SingleClass

__all__ = ["gauc_score"]

WEIGHTS = ("impressions", "uniform", "positives", "pairs", "weights")
KERNEL_WEIGHTS = {"uniform": 1, "positives": 2}  # codes of the kernel; for 0 the weight is the number of rows
SINGLE_CLASS = ("skip", "half", "nan", "raise")
ONE_CLASS_NO_POSITIVE = "one class: no positive"
ONE_CLASS_NO_NEGATIVE = "one class: no negative"
GROUP_COUNTS = (
    "groups", "groups without positive", "groups without negative", "rows", "rows without positive",
    "rows without negative",
)  # fmt: skip
N_GROUP_COUNTS = len(GROUP_COUNTS)


class GroupAuc(ByUnit, MeanOfGroups):
    """The additive statistic of GAUC: the sums of w AUC and of w over groups, and the groups and rows left out."""

    __slots__ = ("single_class", "weight")
    # The kernels add to the first counts and to both sums by place. Pairs are counted twice each, for ties are halves.
    fields = Fields(
        *GROUP_COUNTS, wide_count("pairs won"), wide_count("pairs"), exact_sum("w auc"), exact_sum("w"),
    )  # fmt: skip

    def __init__(self, weight: str, single_class: str) -> None:
        self.weight = weight
        self.single_class = single_class

    @property
    def table(self) -> type[PairsByGroup]:
        return PairsByGroup

    @property
    def needs_only_pairs(self) -> bool:
        return self.single_class in ("skip", "nan")

    def update(self, state: Sums, table: GroupPairs) -> None:
        if table.one_class is not None:
            no_positive, no_negative, *rows_of_one_class = table.one_class.tolist()
            state.counts[:N_GROUP_COUNTS] += (
                no_positive + no_negative, no_positive, no_negative, sum(rows_of_one_class), *rows_of_one_class,
            )  # fmt: skip
        if table.group_weights is None and self.weight != "pairs" and self.single_class != "raise":
            grouped_auc.auc_terms(
                table.class_rows, table.wins, KERNEL_WEIGHTS.get(self.weight, 0), self.single_class == "half",
                state.sum_of("w auc"), state.sum_of("w"), state.counts,
            )  # fmt: skip
            return
        negatives, positives = table.class_rows[:, 0], table.class_rows[:, 1]
        rows = negatives + positives
        no_positive, no_negative = positives == 0, negatives == 0
        if self.single_class == "raise" and (no_positive.any() or no_negative.any()):
            self.raise_single_class(table, int(np.flatnonzero(no_positive | no_negative)[0]))
        state.counts[:N_GROUP_COUNTS] += (
            rows.shape[0], np.count_nonzero(no_positive), np.count_nonzero(no_negative), rows.sum(),
            rows[no_positive].sum(), rows[no_negative].sum(),
        )  # fmt: skip
        if self.weight == "pairs" and table.group_weights is None:
            # With the number of pairs as weights, GAUC is a quotient of two integers.
            pairs = 2 * (negatives * positives).astype(np.uint64)
            state.add_total("pairs won", table.wins)
            state.add_total("pairs", pairs)
            return
        auc = table.auc()
        if self.single_class == "half":
            auc[no_positive | no_negative] = 0.5
            counted = slice(None)
        else:
            counted = ~(no_positive | no_negative)
        weight = self.group_weights(table)[counted]
        sums.sum_values(auc[counted], weight, state.sum_of("w auc"))
        sums.sum_values(weight, None, state.sum_of("w"))

    def group_values(self, table: GroupPairs) -> np.ndarray:
        """The AUC of every group, NaN if it is undefined or if the group has weight 0."""
        auc = table.auc()
        if self.single_class == "half":
            auc[np.isnan(auc)] = 0.5
            auc[self.group_weights(table) == 0] = np.nan
        return auc

    def update_units(self, states: StatesOfUnits, table: GroupPairs, numbers: np.ndarray) -> None:
        starts = segment_starts(numbers)
        if table.group_weights is None and self.weight != "pairs" and self.single_class != "raise":
            grouped_auc.auc_terms_of_segments(
                table.class_rows, table.wins, KERNEL_WEIGHTS.get(self.weight, 0), self.single_class == "half", starts,
                states.exact, states.counts,
            )  # fmt: skip
            return
        for number, (start, stop) in enumerate(pairwise(starts.tolist())):
            self.update(states.state(number), table.segment(slice(start, stop)))

    @staticmethod
    def raise_single_class(table: GroupPairs, index: int) -> NoReturn:
        key = table.keys.at(index)
        negatives, positives = table.class_rows[index].tolist()
        raise ValueError(
            f"group {key!r} has one class only ({negatives} negative rows, {positives} positive), "
            "and single_class='raise'"
        )

    def group_weights(self, table: GroupPairs) -> np.ndarray:
        """The weight w of every group."""
        rows = table.class_rows.sum(axis=1)
        if self.weight == "uniform":
            return np.ones(rows.shape[0])
        if self.weight == "positives":
            return table.class_rows[:, 1].astype(np.float64)
        if self.weight == "pairs":
            pairs: np.ndarray = table.class_rows[:, 0].astype(np.float64) * table.class_rows[:, 1]
            return pairs
        if self.weight == "weights" and table.group_weights is not None:
            return table.group_weights
        impressions: np.ndarray = rows.astype(np.float64)
        return impressions


def gauc_score(
    y_true: NumericArrayLike,
    y_score: NumericArrayLike,
    groups: KeysLike,
    *,
    weight: GroupWeight = "impressions",
    single_class: SingleClass = "skip",
    sample_weight: NumericArrayLike | None = None,
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
        Scores, higher for more likely positive. float32 and float64 are read without conversion; integers and float16
        are widened. Infinities are ordered, -0.0 ties with 0.0, and scores tie only if they are exactly equal.
    groups : array-like of shape (n,)
        Keys: integers, strings, booleans, dates, times or floats, in any order. Rows with equal keys are one group,
        wherever they stand. A DataFrame, an Arrow table or a dict of columns gives keys of several columns.
    weight : {"impressions", "uniform", "positives", "pairs", "weights"}
        The weight w_g of a group. "impressions": its number of rows. "uniform": 1. "positives": its number of positive
        rows. "pairs": positive times negative rows. "weights": the sum of its sample weights.
    single_class : {"skip", "half", "nan", "raise"}
        A group with only one class. "skip": it is left out. "half": it counts as 0.5. "nan": the result is NaN.
        "raise": it is an error.
    sample_weight : array-like of shape (n,), optional
        Weights of rows, from 0 to 1e300. A row of weight zero is left out.

        They count in the AUC of their group.
    n_threads : int, optional
        Number of threads; by default the number of CPUs that the process may use. The result does not depend on it.

    Returns
    -------
    float
        In [0, 1]. NaN, with an UndefinedMetricWarning, if no group has both classes.

    Raises
    ------
    ValueError
        A column has NaN or null, labels or options are invalid, lengths differ, or there are no rows. The message names
        the row.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> users = ["ann", "bob", "ann", "bob", "ann", "cid"]
    >>> fm.gauc_score([1, 0, 0, 1, 0, 1], [0.9, 0.3, 0.8, 0.2, 0.9, 0.5], users)
    0.45
    """
    validation.check_option(weight, "weight", WEIGHTS)
    validation.check_option(single_class, "single_class", SINGLE_CLASS)
    threads = count_threads(n_threads)
    state = reduce_columns(GroupAuc(weight, single_class), y_true, y_score, groups, sample_weight, threads)
    result = finalise_gauc({"weight": weight, "single_class": single_class}, state)
    return warn_undefined("gauc_score", result.reason) if result.reason else result.value


def many_gaucs(parameters: dict[str, Any], states: ManySums) -> np.ndarray:
    """The values of many states whose sums are floating-point numbers: see `MetricSpec.many`."""
    values = quotients(states.sum_of("w auc"), states.sum_of("w"))
    is_left = states.counts[:, N_GROUP_COUNTS:].any(axis=1)  # weights of pairs
    if parameters["single_class"] == "nan":
        is_left |= (states.counts_of("groups without positive") > 0) | (states.counts_of("groups without negative") > 0)
    values[is_left] = np.nan
    return values


@metric(
    "gauc",
    exchange="hash",
    statistics=lambda weight, single_class: (GroupAuc(weight, single_class),),
    function=gauc_score,
    undefined="no group with both classes",
    parameters={"weight": "impressions", "single_class": "skip"},
    checks={"weight": WEIGHTS, "single_class": SINGLE_CLASS},
    variants=(
        "gauc(weight=pairs)",
        "gauc(weight=uniform)",
        "gauc(single_class=half)",
        "gauc(weight=positives)",
        "gauc(stat=p10)",
        "gauc(stat=below, at=0.5)",
    ),
    aliases=("gauc_score", "group_auc", "grouped_auc"),
    near_names={
        "uauc": "where every user counts the same, write gauc(weight=uniform); 'gauc' weighs users by impressions",
        "user_auc": "where every user counts the same, write gauc(weight=uniform); 'gauc' weighs users by impressions",
    },
    many=many_gaucs,
)
def finalise_gauc(parameters: dict[str, Any], state: Sums) -> Value:
    """Group AUC: the weighted mean over groups of the AUC inside each group."""
    groups_seen, no_positive, no_negative, rows, rows_no_positive, rows_no_negative = map(state.count, GROUP_COUNTS)
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
    won, total = state.integer("w auc"), state.integer("w")
    if state.count("pairs"):
        won, total = state.count("pairs won"), state.count("pairs")
    if total == 0:
        reason = "no group has both classes" if groups_seen == single else "the groups with both classes weigh nothing"
        reason = reason if groups_seen else "every weight is zero"
        return Value(float("nan"), coverage, reason)
    return Value(divide(won, total), coverage)
