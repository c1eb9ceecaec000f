"""Generated columns and logs; the same on every run with the same version of NumPy."""

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet

SEED = 20260101
POSITIVE_LOG_ODDS = -3.4  # about 5 % positives once the spread below is added
ROWS_PER_USER = 10
LOG_COLUMNS = ["user_id", "pctr", "click"]
TINY_ROWS = 1000


class Clicks(NamedTuple):
    """Labels, and the probabilities of a model that is better than chance."""

    labels: np.ndarray
    probabilities: np.ndarray

    @property
    def scores32(self) -> np.ndarray:
        return self.probabilities.astype(np.float32)


def clicks(rows: int) -> Clicks:
    """int64 labels, 5 % positive; float64 probabilities, shuffled, nearly all different."""
    random = np.random.default_rng(SEED)
    log_odds = random.standard_normal(rows) + POSITIVE_LOG_ODDS
    probabilities = 1.0 / (1.0 + np.exp(-log_odds))
    labels = (random.random(rows) < probabilities).astype(np.int64)
    noise = np.exp(0.5 * random.standard_normal(rows))
    return Clicks(labels, probabilities * noise / (1.0 + probabilities * (noise - 1.0)))


def label_sets(rows: int, n_labels: int) -> tuple[np.ndarray, np.ndarray]:
    """int64 indicators, three in ten of them 1, and float64 scores that correlate with them."""
    random = np.random.default_rng(SEED)
    labels = (random.random((rows, n_labels)) < 0.3).astype(np.int64)
    return labels, random.normal(size=(rows, n_labels)) + labels


def tied(data: Clicks) -> np.ndarray:
    """float32 scores rounded to three digits: a thousand distinct values."""
    return np.round(data.probabilities, 3).astype(np.float32)


def in_score_order(data: Clicks) -> tuple[np.ndarray, np.ndarray]:
    """Labels and float32 scores in ascending order of score: neighboring scores share their leading bits."""
    order = np.argsort(data.probabilities)
    return data.labels[order], data.scores32[order]


def clustered(data: Clicks) -> np.ndarray:
    """float64 scores, all different, 99% of them in a range of width 1e-9: these share their leading bits."""
    scores = 0.05 + 1e-9 * data.probabilities
    far = slice(None, None, 100)
    scores[far] = data.probabilities[far]
    return scores


class JudgedLists(NamedTuple):
    """A long table of ranked lists of about a hundred rows, shuffled."""

    clicks: np.ndarray
    grades: np.ndarray
    scores: np.ndarray
    lists: np.ndarray


def judged_lists(rows: int) -> JudgedLists:
    """int64 clicks and grades, float64 scores that correlate with them, int64 ids of lists."""
    data = clicks(rows)
    random = np.random.default_rng(SEED + 3)
    grades = random.choice(5, rows, p=[0.5, 0.25, 0.15, 0.07, 0.03]).astype(np.int64)
    return JudgedLists(data.labels, grades, data.probabilities, random.integers(0, max(1, rows // 100), rows))


def user_numbers(rows: int) -> np.ndarray:
    """The user of every row as 0, 1, ..., shuffled. Every user has a row; rows per user follow a power law.

    The most active of a million users has about 1 % of ten million rows, the median user six rows.
    """
    random = np.random.default_rng(SEED + 1)
    users = max(1, rows // ROWS_PER_USER)
    more = (users * random.random(rows - users) ** 3).astype(np.int64)
    return random.permutation(np.concatenate([np.arange(users), more]))


def user_ids(numbers: np.ndarray) -> np.ndarray:
    """int64 ids spread over the range of the type, independent of the number of rows of a user."""
    random = np.random.default_rng(SEED + 2)
    users = int(numbers.max()) + 1
    candidates = np.unique(random.integers(-(2**62), 2**62, users + 1000))
    return random.permutation(candidates)[:users][numbers]


def user_names(numbers: np.ndarray) -> pa.StringArray:
    """Arrow strings of 6 to 13 bytes: user_7, user_10238123."""
    users = int(numbers.max()) + 1
    scattered = np.random.default_rng(SEED + 3).permutation(10 * users)[:users]
    return pa.array([f"user_{number}" for number in scattered.tolist()]).take(pa.array(numbers))


def user_uuids(numbers: np.ndarray) -> pa.LargeStringArray:
    """Arrow strings of 36 bytes in the format of UUIDs."""
    users = int(numbers.max()) + 1
    digits = np.random.default_rng(SEED + 4).bytes(16 * users).hex()
    texts = (digits[32 * user : 32 * user + 32] for user in range(users))
    names = [f"{t[:8]}-{t[8:12]}-{t[12:16]}-{t[16:20]}-{t[20:]}" for t in texts]
    return pa.array(names, pa.large_string()).take(pa.array(numbers))


def sliced_log(folder: Path, rows: int) -> Path:
    """A Parquet log of three models and 64 channels: user_id click a b c channel."""
    data, random = clicks(rows), np.random.default_rng(SEED + 5)
    columns: dict[str, object] = {"user_id": user_ids(user_numbers(rows)), "click": data.labels.astype(np.int8)}
    for model, noise in (("a", 0.0), ("b", 0.3), ("c", 0.9)):
        blurred = data.probabilities * np.exp(noise * random.standard_normal(rows))
        columns[model] = np.minimum(blurred, 1.0)
    names = pa.array([f"channel_{number:02d}" for number in range(64)])
    columns["channel"] = names.take(pa.array((64 * random.random(rows) ** 2).astype(np.int64)))
    path = folder / f"sliced-{rows}.parquet"
    pyarrow.parquet.write_table(pa.table(columns), path, row_group_size=1_000_000)
    return path


def click_log(folder: Path, rows: int, rows_per_user: int = ROWS_PER_USER) -> Path:
    """A Parquet log in row groups of a million, with columns that no metric needs.

    Columns: user_id item_id channel ts p_true pctr click. `fastmetrics sample-log` writes it.
    """
    path = folder / f"clicks-{rows}.parquet"
    users = max(1, rows // rows_per_user)
    arguments = ["sample-log", path, "--rows", rows, "--users", users, "--row-group-rows", 1_000_000]
    command = [sys.executable, "-m", "fastmetrics", *map(str, arguments)]
    subprocess.run(command, check=True, capture_output=True)
    return path


def unit_weights(ids: np.ndarray, seed: int, replicates: int) -> tuple[np.ndarray, np.ndarray]:
    """The weights that the first replicates give (unit bucket, replicate), and the bucket of each row's unit."""
    from fastmetrics._core.columns.group_keys import as_keys
    from fastmetrics._core.columns.key_columns import KeyScratch
    from fastmetrics._core.resampling.resampling_units import draw_weights, find_unit_buckets

    keys = as_keys(ids)
    scratch = KeyScratch(keys.rows, keys.dtype)
    keys.hash_block(0, keys.rows, scratch)
    buckets = find_unit_buckets([scratch.hashes])
    return draw_weights(buckets, seed, 0, replicates), buckets.bucket_of(scratch.hashes)
