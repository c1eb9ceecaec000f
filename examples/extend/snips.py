"""SNIPS, the self-normalized inverse propensity score: the mean reward that another policy would have had.

Swaminathan, A. and Joachims, T. (2015). The self-normalized estimator for counterfactual learning. NIPS.
"""

from __future__ import annotations

from typing import Any

from fastmetrics.extend import Columns, NonNegative, Positive, Real, RowStatistic, divide, metric


class ImportanceWeights(RowStatistic):
    """The sum of importance weights, and of weights times rewards."""

    __slots__ = ()
    sums = ("weighted_reward", "weight")

    def terms(self, columns: Columns) -> dict[str, Any]:
        ratio = columns.target_propensity / columns.propensity
        return {"weighted_reward": ratio * columns.reward, "weight": ratio}


@metric(
    "snips",
    exchange="none",
    statistics=ImportanceWeights(),
    roles={"reward": Real(), "propensity": Positive(), "target_propensity": NonNegative()},
    undefined="no row could have been chosen by the target policy",
)
def snips(parameters: dict[str, Any], sums: Any) -> float:
    """Self-normalized inverse propensity score: the reward of another policy, from logged actions."""
    return divide(sums["weighted_reward"], sums["weight"])
