"""The self-normalized inverse propensity score.

A. Swaminathan and T. Joachims (2015), The self-normalized estimator for counterfactual learning, NIPS, equation 9.
"""

from collections.abc import Sequence
from fractions import Fraction

from oracles.sums import total


def snips(
    rewards: Sequence[float],
    propensities: Sequence[float],
    target_propensities: Sequence[float],
    weights: Sequence[float] | None = None,
) -> Fraction | None:
    """The mean reward, weighted by the ratio of the propensities. Terms of a row are doubles; their sums are exact.

    None if no row could have been chosen by the target policy.
    """
    repeats = [1.0] * len(rewards) if weights is None else weights
    ratios = [target / logged for target, logged in zip(target_propensities, propensities, strict=True)]
    mass = total(Fraction(repeat * ratio) for repeat, ratio in zip(repeats, ratios, strict=True))
    reward = total(
        Fraction(repeat * (ratio * own)) for repeat, ratio, own in zip(repeats, ratios, rewards, strict=True)
    )
    return reward / mass if mass else None
