"""GAUC: the weighted mean over groups of the AUC inside each group, a ratio of exact sums.

The pairs of every group are counted in `lists/group_pairs.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from fastmetrics._core.calls.unknown_keywords import answers_unknown
from fastmetrics._core.columns import validation
from fastmetrics._core.columns.binary_probabilities import warn_and_unwrap
from fastmetrics._core.columns.class_labels import binary_labels
from fastmetrics._core.exact import quotients
from fastmetrics._core.exchange.group_rows import reduce_columns
from fastmetrics._core.exchange.group_values import MeanOfGroups, group_coverage
from fastmetrics._core.parallel import count_threads
from fastmetrics._core.registry import metric
from fastmetrics._core.state import Fields, ManySums, Sums, exact_sum, segment_starts
from fastmetrics._core.statistic import ByUnit, StatesOfUnits, Value, rounded_quotient
from fastmetrics._kernels.ranking import grouped_auc
from fastmetrics.metrics.ranking.lists.group_pairs import GroupPairs, PairsByGroup

if TYPE_CHECKING:
    from fastmetrics._core.types.arrays import KeysLike, Label, NumericArrayLike
    from fastmetrics._core.types.options import GroupWeight, SingleClass

__all__ = ["gauc_score"]

WEIGHTS = ("impressions", "uniform", "positives", "pairs", "weights")  # in the order of the kernel
NO_WEIGHTS: np.ndarray = np.empty(0)
SINGLE_CLASS = ("skip", "half", "nan", "raise")
ONE_CLASS_NO_POSITIVE = "one class: no positive"
ONE_CLASS_NO_NEGATIVE = "one class: no negative"
GROUP_COUNTS = (
    "groups", "groups without positive", "groups without negative", "rows", "rows without positive",
    "rows without negative",
)  # fmt: skip


class GroupAuc(ByUnit, MeanOfGroups):
    """The additive statistic of GAUC: the sums of w AUC and of w over groups, and the groups and rows left out."""

    __slots__ = ("single_class", "weight")
    fields = Fields(*GROUP_COUNTS, exact_sum("w auc"), exact_sum("w"))  # the kernel adds to all of them by place

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
            state.counts += (
                no_positive + no_negative, no_positive, no_negative, sum(rows_of_one_class), *rows_of_one_class,
            )  # fmt: skip
        self.add_terms(state.exact[None], state.counts[None], table, None)

    def update_units(self, states: StatesOfUnits, table: GroupPairs, numbers: np.ndarray) -> None:
        self.add_terms(states.exact, states.counts, table, segment_starts(numbers))

    def add_terms(self, sums: np.ndarray, counts: np.ndarray, table: GroupPairs, starts: np.ndarray | None) -> None:
        """Add the groups starts[i] to starts[i + 1] to the sums and the counts of state i; or all groups to one."""
        if self.single_class == "raise" and not table.class_rows.all():
            self.raise_single_class(table, int((table.class_rows == 0).any(axis=1).argmax()))
        weights = NO_WEIGHTS if table.group_weights is None else table.group_weights
        grouped_auc.auc_terms(
            table.class_rows, table.wins.view(np.uint64), weights, WEIGHTS.index(self.weight),
            self.single_class == "half", starts, sums, counts,
        )  # fmt: skip

    def group_values(self, table: GroupPairs) -> np.ndarray:
        """The AUC of every group, NaN if it is undefined or if the group has weight 0."""
        auc = table.auc()
        if self.single_class == "half":
            auc[np.isnan(auc)] = 0.5
            auc[self.group_weights(table) == 0] = np.nan
        return auc

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
        if self.weight == "weights" and table.group_weights is not None:
            return table.group_weights
        negatives, positives = (column.astype(np.float64) for column in table.class_rows.T)
        rules = {"uniform": np.ones_like(positives), "positives": positives, "pairs": negatives * positives}
        weights: np.ndarray = rules.get(self.weight, negatives + positives)
        return weights


@answers_unknown
def gauc_score(
    y_true: NumericArrayLike,
    y_score: NumericArrayLike,
    groups: KeysLike,
    *,
    weight: GroupWeight = "impressions",
    single_class: SingleClass = "skip",
    sample_weight: NumericArrayLike | None = None,
    pos_label: Label | None = None,
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
    pos_label : int, float, bool or str, optional
        The label of the positive class; all other labels are negative. Required if labels are not 0 and 1, or -1 and
        +1.
    n_threads : int, optional
        Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not
        depend on it.

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
    labels = binary_labels(y_true, pos_label)
    state = reduce_columns(GroupAuc(weight, single_class), labels, y_score, groups, sample_weight, threads)
    result = finalize_gauc({"weight": weight, "single_class": single_class}, state)
    return warn_and_unwrap("gauc_score", result)


def many_gaucs(parameters: dict[str, Any], states: ManySums) -> np.ndarray:
    """The values of many states: see `MetricSpec.many`."""
    values = quotients(states.number("w auc"), states.number("w"))
    if parameters["single_class"] == "nan":
        left_out = states.counts_of("groups without positive") + states.counts_of("groups without negative")
        values[left_out > 0] = np.nan
    return values


@metric(
    "gauc",
    exchange="hash",
    scale="share",
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
    aliases=("gauc_score",),
    option_aliases={"grouped_auc": "weight=uniform, single_class=half"},  # TorchRec's
    near_names=dict.fromkeys(
        ("uauc", "user_auc", "group_auc", "mean_auc"),
        "where every user counts the same, write gauc(weight=uniform); 'gauc' weighs users by impressions",
    ),
    many=many_gaucs,
)
def finalize_gauc(parameters: dict[str, Any], state: Sums) -> Value:
    """Group AUC: the weighted mean over groups of the AUC inside each group."""
    groups_seen, no_positive, no_negative, rows, rows_no_positive, rows_no_negative = map(state.count, GROUP_COUNTS)
    single = no_positive + no_negative
    left_out = {
        ONE_CLASS_NO_POSITIVE: (no_positive, rows_no_positive),
        ONE_CLASS_NO_NEGATIVE: (no_negative, rows_no_negative),
    }
    is_left_out = single and parameters["single_class"] != "half"
    coverage = group_coverage(groups_seen, rows, left_out if is_left_out else {})
    if parameters["single_class"] == "nan" and single:
        return Value(float("nan"), coverage, f"{single} groups have one class only and single_class is nan")
    reason = "no group has both classes" if groups_seen == single else "the groups with both classes weigh nothing"
    reason = reason if groups_seen else "every weight is zero"
    return rounded_quotient(state.integer("w auc"), state.integer("w"), coverage, reason)
