"""Simulated click logs of which the true values of metrics are known, many logs at once.

Every row has a chance of a click and the scores of three models: `a` and `b` have the same errors in distribution, so
every metric of both is the same in truth; `rate` is the chance itself, so it is calibrated. In logs that are correlated
within users, chances and errors of scores have a part that all rows of a user share. Users, with their numbers of rows,
are drawn anew in every log.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

import fastmetrics as fm

MOST_ROWS = 500  # of a Zipf user
ROW_SPREAD, USER_SPREAD = 1.0, 0.8  # of the log odds of a click
ROW_ERROR, USER_ERROR = 0.7, 0.4  # of a score, as log odds
NODES = 80  # of the quadrature over a normal distribution
GRID = np.linspace(-8.0, 8.0, 200_001)  # of scores, in standard deviations
TRUTH_USERS, TRUTH_LOGS = 500_000, 2


class Kind(NamedTuple):
    """A kind of log."""

    ctr: float
    zipf: bool
    correlated: bool

    def name(self) -> str:
        sizes = "Zipf" if self.zipf else "even"
        return f"{self.ctr:g} {sizes} {'correlated' if self.correlated else 'independent'}"

    def spread(self) -> float:
        """The standard deviation of the log odds of clicks."""
        return float(np.hypot(ROW_SPREAD, USER_SPREAD * self.correlated))

    def error(self) -> float:
        """The standard deviation of the errors of scores."""
        return float(np.hypot(ROW_ERROR, USER_ERROR * self.correlated))


KINDS = tuple(itertools.starmap(Kind, itertools.product((0.005, 0.05, 0.5), (False, True), (False, True))))


def simulate(kind: Kind, users: int, logs: int, seed: Sequence[int]) -> dict[str, np.ndarray]:
    """The rows of many logs, with their number in `log`; every log has users 0 to `users` - 1."""
    rng = np.random.default_rng(seed)
    total = users * logs
    person = np.repeat(np.arange(total), draw_sizes(rng, total, kind.zipf))
    rows = person.shape[0]
    logit = find_intercept(kind) + ROW_SPREAD * rng.normal(size=rows)
    if kind.correlated:
        logit += USER_SPREAD * rng.normal(size=total)[person]
    rate = expit(logit)
    columns = {"click": (rng.random(rows) < rate).astype(np.uint8), "rate": rate}
    for model in ("a", "b"):
        error = ROW_ERROR * rng.normal(size=rows)
        if kind.correlated:
            error += USER_ERROR * rng.normal(size=total)[person]
        columns[model] = expit(logit + error)
    return columns | {"log": person // users, "user": person % users}


def draw_sizes(rng: np.random.Generator, users: int, zipf: bool) -> np.ndarray:
    """Rows of each user: 10 to 30, or 1 to 500 with shares that fall as size^-1.5; the means are 20 and 17."""
    if not zipf:
        return rng.integers(10, 31, users)
    sizes = np.arange(1, MOST_ROWS + 1)
    shares = sizes**-1.5
    return rng.choice(sizes, size=users, p=shares / shares.sum())


@cache
def find_intercept(kind: Kind) -> float:
    """The mean of the log odds for which the mean chance is the click rate."""
    low, high = -15.0, 15.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if mean_chance(np.array([middle]), kind.spread())[0] < kind.ctr else (low, middle)
    return low


def mean_chance(means: np.ndarray, deviation: float) -> np.ndarray:
    """The mean chance of normal log odds, for each of their means."""
    found = np.zeros(means.shape[0])
    for node, weight in normal_nodes():
        found += weight * expit(means + deviation * node)
    return found


@cache
def normal_nodes() -> list[tuple[float, float]]:
    """Nodes and weights of the mean over a normal distribution."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(NODES)
    return list(zip(nodes.tolist(), (weights / weights.sum()).tolist(), strict=True))


def expit(values: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-values))


def true_values(kind: Kind, of_rows: Sequence[str], of_groups: Sequence[str]) -> dict[str, float]:
    """The values of model `a` in a log without end.

    Metrics of rows are those of a fine grid of scores, whose weights are their densities, times the chance of a click
    or of none. Means over groups are those of some very large logs.
    """
    intercept, variance = find_intercept(kind), kind.spread() ** 2
    share = variance / (variance + kind.error() ** 2)  # of the variance of scores: regression towards the mean
    score = intercept + GRID * np.sqrt(variance / share)
    chance = mean_chance(intercept + share * (score - intercept), np.sqrt(variance * (1 - share)))
    density = np.exp(-GRID * GRID / 2)
    grid = {
        "click": np.repeat(np.array([1, 0], np.uint8), GRID.shape[0]),
        "a": np.tile(expit(score), 2),
        "mass": np.concatenate([density * chance, density * (1 - chance)]),
    }
    report = fm.evaluate(grid, list(of_rows), label="click", score="a", weight="mass")
    values = {one.metric: one.value for one in report}
    if not of_groups:
        return values
    logs = [simulate(kind, TRUTH_USERS, 1, [0, KINDS.index(kind), number]) for number in range(TRUTH_LOGS)]
    reports = [fm.evaluate(log, list(of_groups), label="click", score="a", group="user") for log in logs]
    return values | {metric: float(np.mean([one[metric] for one in reports])) for metric in of_groups}


def users_with(kind: Kind, users: int) -> dict[str, float]:
    """Medians over logs: users with positives, with negatives, and with both."""
    logs = max(3, 4000 // users)
    log = simulate(kind, users, logs, [1, KINDS.index(kind), users])
    unit = log["log"] * users + log["user"]
    clicks, others = (
        np.bincount(unit, counted, logs * users).reshape(logs, users) for counted in (log["click"], 1 - log["click"])
    )
    kinds = {"positive": clicks > 0, "negative": others > 0, "both": (clicks > 0) & (others > 0)}
    return {name: float(np.median(has.sum(axis=1))) for name, has in kinds.items()}
