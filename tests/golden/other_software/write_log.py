"""Write the log: 24 uneven users, 12 days of 20 rows, weights, two scores with ties, rows alike within users."""

import csv

import numpy as np

USERS, ROWS, DAYS = 24, 240, 12


def main() -> None:
    rng = np.random.default_rng(20)
    shares = 1 / np.arange(1, USERS + 1)
    user = np.concatenate([np.arange(USERS), rng.choice(USERS, ROWS - USERS, p=shares / shares.sum())])
    effect = 0.8 * rng.normal(size=USERS)
    logit = rng.normal(size=ROWS) + effect[user] - 0.5
    click = rng.random(ROWS) < 1 / (1 + np.exp(-logit))
    scores = [np.clip(np.round(1 / (1 + np.exp(-(logit + rng.normal(size=ROWS)))), 2), 0.01, 0.99) for _ in range(2)]
    with open("clustered_log.csv", "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["user", "day", "click", "old", "new", "weight"])
        for row in range(ROWS):
            weight = 0.5 + (row % 5) / 2
            writer.writerow([user[row], row % DAYS, int(click[row]), scores[0][row], scores[1][row], weight])


if __name__ == "__main__":
    main()
