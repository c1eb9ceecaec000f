"""Do 95 % intervals hold the truth in 93 to 97 % of logs? Rows of one user are not independent of each other here.

Users have a rate and a skill of their own, so an interval that took rows for independent would be far too narrow.
The truth is the value of a log with so many users that chance hardly matters.
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
    taste = rng.normal(size=user.shape[0])
    click = rng.random(user.shape[0]) < 1 / (1 + np.exp(-(rate[user] + skill[user] * taste)))
    score = 1 / (1 + np.exp(-(0.7 * rate[user] - 0.3 + taste + 0.5 * rng.normal(size=user.shape[0]))))
    return {"click": click.astype(np.uint8), "pctr": score, "user": user}


@pytest.mark.parametrize("method", ["bootstrap", "normal"])
def test_intervals_hold_the_truth(method):
    truth = fm.evaluate(simulate(MANY_USERS, 10**6), METRICS, **COLUMNS)
    held = dict.fromkeys(METRICS, 0)
    for seed in range(LOGS):
        report = fm.evaluate(
            simulate(USERS, seed), METRICS, **COLUMNS, ci=0.95, ci_method=method, replicates=400, seed=seed
        )
        for metric in METRICS:
            low, high = report.result(metric).interval
            held[metric] += low <= truth[metric] <= high
    shares = {metric: count / LOGS for metric, count in held.items()}
    print(method, shares)
    assert all(0.93 <= share <= 0.97 for share in shares.values()), shares


def test_rows_taken_for_independent_do_not():
    """What goes wrong with the wrong unit: the interval of a mean is much too narrow."""
    truth = fm.evaluate(simulate(MANY_USERS, 10**6), "ctr", **COLUMNS)["ctr"]
    held = 0
    for seed in range(LOGS):
        found = fm.evaluate(simulate(USERS, seed), "ctr", **COLUMNS, ci=0.95, replicates=200, seed=seed, unit="row")
        low, high = found.result("ctr").interval
        held += low <= truth <= high
    print("rows", held / LOGS)
    assert held / LOGS < 0.9
