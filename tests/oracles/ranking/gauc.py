"""Slow definitions of the AUC of every group and of GAUC, their weighted mean.

H. Zhu et al. (2017), Optimized cost per click in Taobao display advertising, KDD, section 4 (GAUC weighted by
impressions); G. Zhou et al. (2018), Deep interest network for click-through rate prediction, KDD, equation 5.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from oracles.curves import HALF, Number, auc
from oracles.sums import total


@dataclass(frozen=True)
class GroupRow:
    """One group: its AUC (None with one class), rows, positive rows, and sum of weights."""

    group: Any
    auc: Fraction | None
    n: int
    n_positives: int
    weight: Fraction

    def weight_by(self, rule: str) -> Fraction:
        """The group's weight in GAUC."""
        return {
            "impressions": Fraction(self.n),
            "uniform": Fraction(1),
            "positives": Fraction(self.n_positives),
            "pairs": Fraction(self.n_positives * (self.n - self.n_positives)),
            "weights": self.weight,
        }[rule]


def auc_by_group(
    labels: Sequence[int],
    scores: Sequence[float],
    groups: Sequence[Any],
    weights: Sequence[Number] | None = None,
) -> list[GroupRow]:
    """One row for each distinct group, sorted by group. Rows of weight 0 are left out."""
    rows_of: dict[Any, list[int]] = {}
    for row, group in enumerate(groups):
        if weights is None or weights[row] > 0:
            rows_of.setdefault(group, []).append(row)
    table = []
    for group in sorted(rows_of):
        rows = rows_of[group]
        row_weights = [Fraction(1) if weights is None else Fraction(weights[row]) for row in rows]
        group_labels = [1 if labels[row] == 1 else 0 for row in rows]
        value = auc(group_labels, [scores[row] for row in rows], row_weights)
        table.append(GroupRow(group, value, len(rows), sum(group_labels), total(row_weights)))
    return table


class SingleClassGroupError(Exception):
    """Raised by the policy single_class="raise"."""


def gauc(
    labels: Sequence[int],
    scores: Sequence[float],
    groups: Sequence[Any],
    weight: str = "impressions",
    single_class: str = "skip",
    weights: Sequence[Number] | None = None,
) -> Fraction | None:
    """The sum of w_g AUC_g divided by the sum of w_g; None if undefined."""
    total_weight = weighted_auc = Fraction(0)
    for row in auc_by_group(labels, scores, groups, weights):
        value = row.auc
        if value is None:
            if single_class == "raise":
                raise SingleClassGroupError(row.group)
            if single_class == "nan":
                return None
            if single_class == "skip":
                continue
            value = HALF
        total_weight += row.weight_by(weight)
        weighted_auc += row.weight_by(weight) * value
    return weighted_auc / total_weight if total_weight else None
