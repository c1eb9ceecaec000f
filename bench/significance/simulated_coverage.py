"""Coverage of 95 % intervals: they contain the true value in 93 to 97 % of simulated logs.

Every user has a click rate and a skill, so the rows of one user are not independent. An interval that assumes
independent rows would be far too narrow. The true value comes from a log with very many users.
"""

import numpy as np
import pytest

import fastmetrics as fm

METRICS = ["gauc", "logloss", "ctr", "auc"]
COLUMNS = {"label": "click", "score": "pctr", "group": "user"}
LOGS, USERS, MOST_ROWS, MANY_USERS = 400, 400, 24, 600_000


def simulate(users: int, seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    rate = rng.normal(-1.0, 0.9, users)
    skill = rng.normal(1.0, 0.5, users)
    rows = rng.integers(2, MOST_ROWS + 1, users)
    user = np.repeat(np.arange(users), rows)
    affinity = rng.normal(size=user.shape[0])
    click = rng.random(user.shape[0]) < 1 / (1 + np.exp(-(rate[user] + skill[user] * affinity)))
    score = 1 / (1 + np.exp(-(0.7 * rate[user] - 0.3 + affinity + 0.5 * rng.normal(size=user.shape[0]))))
    return {"click": click.astype(np.uint8), "pctr": score, "user": user}


@pytest.mark.parametrize("method", ["bootstrap", "normal"])
def test_intervals_contain_the_true_value(method):
    true_value = fm.evaluate(simulate(MANY_USERS, 10**6), METRICS, **COLUMNS)
    covered = dict.fromkeys(METRICS, 0)
    for seed in range(LOGS):
        report = fm.evaluate(
            simulate(USERS, seed), METRICS, **COLUMNS, ci=0.95, ci_method=method, replicates=400, seed=seed
        )
        for metric in METRICS:
            low, high = report.result(metric).interval
            covered[metric] += low <= true_value[metric] <= high
    coverage = {metric: count / LOGS for metric, count in covered.items()}
    print(method, coverage)
    assert all(0.93 <= value <= 0.97 for value in coverage.values()), coverage


def test_intervals_by_row_are_too_narrow():
    """With the row as resampling unit, the interval of a mean is much too narrow."""
    true_value = fm.evaluate(simulate(MANY_USERS, 10**6), "ctr", **COLUMNS)["ctr"]
    covered = 0
    for seed in range(LOGS):
        report = fm.evaluate(simulate(USERS, seed), "ctr", **COLUMNS, ci=0.95, replicates=200, seed=seed, unit="row")
        low, high = report.result("ctr").interval
        covered += low <= true_value <= high
    print("rows", covered / LOGS)
    assert covered / LOGS < 0.9
