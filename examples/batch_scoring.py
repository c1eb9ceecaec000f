"""Score a log in several processes and evaluate it while it is scored: no row is written or sent anywhere.

Every worker scores its batches with the model and feeds them to an accumulator of its own, which it sends back as
bytes. The parent merges them, in whatever order they come, and prints the report: it is that of one evaluation over all
rows, to the last bit. Users' rows may be spread over all workers.

    python examples/batch_scoring.py --workers 4 --batches 64 --rows 50000
    python examples/batch_scoring.py --check

Needs `pip install 'fastmetrics[arrow]'`.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

import numpy as np

import fastmetrics as fm

METRICS = ["auc", "gauc", "logloss", "ne", "copc", "ctr"]
COUNTRIES = np.array(["de", "fr", "jp"])
USERS = 5_000


def new_accumulator() -> fm.Accumulator:
    """What every worker and the parent agree on: states merge when metrics and columns are the same."""
    return fm.Accumulator(METRICS, label="click", score="pctr", group="user_id", by="country", n_threads=1)


def read_batch(number: int, rows: int) -> dict[str, np.ndarray]:
    """A batch of the log. Here it is made up, from a seed of its own; a real job reads a file or a queue."""
    generator = np.random.default_rng(number)
    features = generator.normal(size=(rows, 3))
    user_id = (USERS * generator.power(3.0, rows)).astype(np.int64)
    country = COUNTRIES[user_id % len(COUNTRIES)]
    taste = np.sin(user_id.astype(np.float64))
    logit = features @ [0.8, -0.5, 0.3] + 0.7 * taste - 2.5
    click = (generator.random(rows) < 1 / (1 + np.exp(-logit))).astype(np.int8)
    return {"features": features, "user_id": user_id, "country": country, "click": click}


def score(features: np.ndarray) -> np.ndarray:
    """The model: a click-through rate for every row. It has never heard of users' tastes."""
    return (1 / (1 + np.exp(2.4 - features @ [0.8, -0.5, 0.25]))).astype(np.float32)


def take_in(accumulator: fm.Accumulator, number: int, rows: int) -> None:
    """Score one batch, and let the accumulator see it; columns that it was not told of are not looked at."""
    batch = read_batch(number, rows)
    accumulator.update({**batch, "pctr": score(batch["features"])})


def score_batches(numbers: range, rows: int) -> bytes:
    """What a worker does: all its batches, and its state for the parent."""
    accumulator = new_accumulator()
    for number in numbers:
        take_in(accumulator, number, rows)
    return accumulator.to_bytes()


def score_log(workers: int, batches: int, rows: int) -> fm.Accumulator:
    """All batches, in processes started afresh; states are merged as they come in."""
    whole = new_accumulator()
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        parts = [pool.submit(score_batches, range(first, batches, workers), rows) for first in range(workers)]
        for part in as_completed(parts):
            whole.merge(fm.Accumulator.from_bytes(part.result()))
    return whole


def main() -> None:
    parser = argparse.ArgumentParser(description="Score a made-up log in several processes and evaluate it.")
    parser.add_argument("--workers", type=int, default=2, help="processes (default: %(default)s)")
    parser.add_argument("--batches", type=int, default=16, help="batches of the log (default: %(default)s)")
    parser.add_argument("--rows", type=int, default=50_000, help="rows of a batch (default: %(default)s)")
    parser.add_argument("--check", action="store_true", help="do it again in one process, and compare")
    arguments = parser.parse_args()

    started = time.perf_counter()
    whole = score_log(arguments.workers, arguments.batches, arguments.rows)
    report = whole.result()
    print(report)
    print(f"\n{whole.rows:,} rows by {arguments.workers} workers in {time.perf_counter() - started:.1f} s")

    if arguments.check:
        alone = new_accumulator()
        for number in range(arguments.batches):
            take_in(alone, number, arguments.rows)
        if alone.result() != report:
            raise SystemExit("the report of one process differs")
        print("one process gives the same report")


if __name__ == "__main__":
    main()
