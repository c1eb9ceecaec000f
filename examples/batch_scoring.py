"""Score a log in several processes and evaluate it at the same time. No scored row is written or sent.

Each worker scores its batches with the model and adds them to its own accumulator, which it returns as bytes. The
parent merges the states in any order and prints the report. The report is bit for bit that of one evaluation over all
rows. The rows of a user may be on several workers.

    python examples/batch_scoring.py --workers 4 --batches 64 --rows 50000
    python examples/batch_scoring.py --check

Needs `pip install 'fastmetrics-engine[arrow]'`.
"""

from __future__ import annotations

import argparse
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context

import numpy as np

import fastmetrics as fm

QUESTION = fm.Evaluation(
    ["auc", "gauc", "logloss", "ne", "copc", "ctr"], label="click", score="pctr", group="user_id", by="country"
)
MEMORY = "256MiB"  # of each process; rows that do not fit go to a spill file
COUNTRIES = np.array(["de", "fr", "jp"])
USERS = 5_000


def new_accumulator() -> fm.Accumulator:
    """An empty state. States merge if they ask the same question."""
    return fm.Accumulator(QUESTION, n_threads=1, memory_limit=MEMORY)


def read_batch(number: int, rows: int) -> dict[str, np.ndarray]:
    """Read one batch of the log. Here it is generated; a real job reads a file or a queue."""
    generator = np.random.default_rng(number)
    features = generator.normal(size=(rows, 3))
    user_id = (USERS * generator.power(3.0, rows)).astype(np.int64)
    country = COUNTRIES[user_id % len(COUNTRIES)]
    taste = np.sin(user_id.astype(np.float64))
    logit = features @ [0.8, -0.5, 0.3] + 0.7 * taste - 2.5
    click = (generator.random(rows) < 1 / (1 + np.exp(-logit))).astype(np.int8)
    return {"features": features, "user_id": user_id, "country": country, "click": click}


def score(features: np.ndarray) -> np.ndarray:
    """The model: a click-through rate for each row. It does not know the taste of users."""
    return (1 / (1 + np.exp(2.4 - features @ [0.8, -0.5, 0.25]))).astype(np.float32)


def add_batch(accumulator: fm.Accumulator, number: int, rows: int) -> None:
    """Score one batch and add it to the accumulator, which ignores the columns it does not need."""
    batch = read_batch(number, rows)
    accumulator.update({**batch, "pctr": score(batch["features"])})


def score_batches(numbers: range, rows: int) -> bytes:
    """Score the batches of one worker, and return its state as bytes."""
    accumulator = new_accumulator()
    for number in numbers:
        add_batch(accumulator, number, rows)
    return accumulator.to_bytes()


def score_log(workers: int, batches: int, rows: int) -> fm.Accumulator:
    """Score all batches in new processes, and merge their states as they arrive."""
    merged = new_accumulator()
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        states = [pool.submit(score_batches, range(first, batches, workers), rows) for first in range(workers)]
        for state in as_completed(states):
            merged.merge(fm.Accumulator.from_bytes(state.result(), memory_limit=MEMORY))
    return merged


def main() -> None:
    parser = argparse.ArgumentParser(description="Score a generated log in several processes and evaluate it.")
    parser.add_argument("--workers", type=int, default=2, help="processes (default: %(default)s)")
    parser.add_argument("--batches", type=int, default=16, help="batches of the log (default: %(default)s)")
    parser.add_argument("--rows", type=int, default=50_000, help="rows of a batch (default: %(default)s)")
    parser.add_argument("--check", action="store_true", help="repeat in one process, and compare the reports")
    arguments = parser.parse_args()

    started = time.perf_counter()
    merged = score_log(arguments.workers, arguments.batches, arguments.rows)
    report = merged.result()
    print(report)
    print(f"\n{merged.rows:,} rows by {arguments.workers} workers in {time.perf_counter() - started:.1f} s")

    if arguments.check:
        single = new_accumulator()
        for number in range(arguments.batches):
            add_batch(single, number, arguments.rows)
        if single.result() != report:
            raise SystemExit("the report of one process differs")
        print("one process gives the same report")


if __name__ == "__main__":
    main()
