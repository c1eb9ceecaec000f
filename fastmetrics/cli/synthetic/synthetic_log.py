"""A synthetic click log with known true click probabilities, for the commands ``demo`` and ``sample-log``.

Columns (also the Parquet schema, in this order):

==========  ====================  ==========================================================================
user_id     int64                 scattered 48-bit ids; a user's share of the rows follows a power law
item_id     int64                 scattered 32-bit ids; the same for items
channel     dictionary of string  where the impression was shown; few values, skewed
ts          timestamp[ms]         four weeks from a Monday, with busy evenings and weekends, and up to 5 s of jitter:
                                  increasing, as logs of several servers are
p_true      float64               the probability with which ``click`` was drawn; greater at weekends
pctr        float64               what a noisy, over-confident model predicts: ranks worse, overestimates. It was
                                  trained before the first day, so it gets worse; and it does not know weekends
click       int8                  1 with probability ``p_true``; about one row in twenty
==========  ====================  ==========================================================================

The same arguments give the same rows everywhere, to the last bit:

- Rows come in blocks of ``BLOCK_ROWS``. Block b draws from its own Philox stream with key (seed, b), so neither the row
  group size nor the number of threads changes a row. Every log has four weeks: of the total number of rows depend the
  times, and what depends on them. A longer log starts with the users, items and channels of the shorter.
- Only raw 64-bit integers are drawn from the stream, because NumPy may change its distributions between versions.
- Only ``+ - * /`` and ``sqrt`` follow, which IEEE 754 rounds identically on every machine; ``exp`` and ``log`` are not.
  Hence the algebraic squashing function, bell-shaped noise from sums of uniforms, and a power law with exponent 3/2.

Memory does not grow with rows, users or items: the effect of a user or an item is a hash of its id.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from fastmetrics.engine.input.batches import read_ahead

BLOCK_ROWS = 65_536
BLOCKS_AHEAD = 4  # of the writer

CHANNELS = ("feed", "search", "related", "push", "email")
CHANNEL_SHARES = (0.55, 0.25, 0.12, 0.06, 0.02)
CHANNEL_EFFECTS = (0.0, 0.45, 0.15, -0.3, -0.55)

FIRST_TIMESTAMP = 1_788_739_200_000  # 2026-09-07T00:00:00Z, a Monday, in milliseconds
HOUR_MILLISECONDS = 3_600_000
JITTER_MILLISECONDS = 5_000
WEEKS = 4
# Rows of a day from Monday on, and of an hour, relative to each other.
TRAFFIC_OF_DAYS = (100, 96, 97, 99, 108, 131, 138)
TRAFFIC_OF_HOURS = (20, 12, 8, 6, 6, 9, 18, 32, 44, 48, 50, 54, 60, 58, 54, 52, 54, 60, 70, 82, 92, 90, 68, 40)

# The scale is that of `squash`: -2.06 is a probability of 0.05, 0 is one half.
BASE = -3.1
USER_EFFECT = 0.9
ITEM_EFFECT = 0.8
CONTEXT_EFFECT = 0.4
WEEKEND_EFFECT = 0.2  # which the model does not know
MODEL_NOISE = 0.55  # of the model's first day
NOISE_PER_WEEK = 0.1
MODEL_ODDS = 0.9

USER_ID_BITS = 48
ITEM_ID_BITS = 32
USER_SALT = 0x9E3779B97F4A7C15
ITEM_SALT = 0xD1B54A32D192ED03
DAY_SALT = 0x8CB92BA72F3D8DD7

SCHEMA = pa.schema(
    [
        pa.field("user_id", pa.int64(), nullable=False),
        pa.field("item_id", pa.int64(), nullable=False),
        pa.field("channel", pa.dictionary(pa.int8(), pa.string()), nullable=False),
        pa.field("ts", pa.timestamp("ms"), nullable=False),
        pa.field("p_true", pa.float64(), nullable=False),
        pa.field("pctr", pa.float64(), nullable=False),
        pa.field("click", pa.int8(), nullable=False),
    ]
)
# Only these columns repeat enough for a dictionary page; hashing the others would take most of the writing time.
DICTIONARY_COLUMNS = ["item_id", "channel"]

Uint64Array = NDArray[np.uint64]
Float64Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class ClickLog:
    """The parameters of a synthetic click log; they determine all its rows."""

    rows: int
    users: int
    items: int
    seed: int = 0

    def __post_init__(self) -> None:
        """Check that users and items fit into their ids, and the seed into the key of the random stream."""
        limits = {"rows": 2**53, "users": 2**USER_ID_BITS, "items": 2**ITEM_ID_BITS, "seed": 2**64 - 1}
        for name, limit in limits.items():
            value = getattr(self, name)
            if not (name != "seed") <= value <= limit:
                raise ValueError(f"{name} must be from {int(name != 'seed')} to {limit}, got {value}")

    def n_blocks(self) -> int:
        return -(-self.rows // BLOCK_ROWS)

    def block(self, index: int) -> pa.RecordBatch:
        """Rows ``index * BLOCK_ROWS`` and following, at most ``BLOCK_ROWS`` of them."""
        key = np.array([self.seed, index], dtype=np.uint64)
        draws = np.random.Philox(key=key).random_raw(6 * BLOCK_ROWS).reshape(6, BLOCK_ROWS)
        user_draw, item_draw, context_draw, model_draw, click_draw, channel_time_draw = draws

        user_id = scattered(power_law(unit_interval(user_draw), self.users), USER_ID_BITS)
        item_id = scattered(power_law(unit_interval(item_draw), self.items), ITEM_ID_BITS)
        channel = channels(channel_time_draw >> np.uint64(32))

        score = USER_EFFECT * hashed_effect(user_id, self.seed, USER_SALT)
        score += ITEM_EFFECT * hashed_effect(item_id, self.seed, ITEM_SALT)
        score += CONTEXT_EFFECT * bell(context_draw)
        score += np.asarray(CHANNEL_EFFECTS)[channel]
        score += BASE
        start = index * BLOCK_ROWS
        hours, into_hour = self.times(start)
        days = hours // 24
        p_true = squash(score + WEEKEND_EFFECT * (days % 7 > 4))
        noise = MODEL_NOISE + NOISE_PER_WEEK / 7 * days
        pctr = scale_odds(squash(score + noise * bell(model_draw)), MODEL_ODDS)
        click = unit_interval(click_draw) < p_true

        columns = [
            pa.array(user_id.view(np.int64)),
            pa.array(item_id.view(np.int64)),
            pa.DictionaryArray.from_arrays(pa.array(channel), pa.array(CHANNELS)),
            pa.array(timestamps(hours, into_hour, channel_time_draw & np.uint64(0xFFFFFFFF))).cast(pa.timestamp("ms")),
            pa.array(p_true),
            pa.array(pctr),
            pa.array(click.view(np.int8)),
        ]
        return pa.RecordBatch.from_arrays(columns, schema=SCHEMA).slice(0, min(BLOCK_ROWS, self.rows - start))

    def times(self, start: int) -> tuple[NDArray[np.int64], Float64Array]:
        """The hours, counted from the first one, of the rows of a block, and the parts of them that had passed."""
        ends = self.traffic()
        rows = np.minimum(np.arange(start, start + BLOCK_ROWS, dtype=np.int64), self.rows - 1)
        passed = rows.astype(np.float64) * (int(ends[-1]) / self.rows)
        hours = np.searchsorted(ends, passed, "right")
        traffic = np.diff(ends, prepend=0)[hours]
        return hours, (passed - (ends[hours] - traffic)) / traffic

    def traffic(self) -> NDArray[np.int64]:
        """The traffic up to the end of each hour: days of the week differ, and each day a little by chance."""
        days = np.arange(7 * WEEKS, dtype=np.uint64)
        of_days = np.tile(TRAFFIC_OF_DAYS, WEEKS) * (1000 + np.floor(30 * hashed_effect(days, self.seed, DAY_SALT)))
        return np.cumsum(np.outer(of_days.astype(np.int64), TRAFFIC_OF_HOURS))

    def write(self, path: str, *, row_group_rows: int, on_write: Callable[[int], None] | None = None) -> None:
        """Write the log as Parquet. ``on_write`` is called with the number of rows of every row group."""
        options: dict[str, Any] = {"compression": "snappy", "use_dictionary": DICTIONARY_COLUMNS}
        # Of a name, Arrow needs UTF-8.
        with open(path, "wb") as sink, pq.ParquetWriter(sink, SCHEMA, **options) as writer:
            for row_group in row_groups(self.stream(), row_group_rows):
                writer.write_table(pa.Table.from_batches(row_group), row_group_size=row_group_rows)
                if on_write is not None:
                    on_write(sum(batch.num_rows for batch in row_group))

    def stream(self) -> Iterator[pa.RecordBatch]:
        """The blocks in order. Another thread makes them while the caller writes; a few at most wait in memory."""
        return read_ahead((self.block(index) for index in range(self.n_blocks())), BLOCKS_AHEAD)


def row_groups(batches: Iterator[pa.RecordBatch], row_group_rows: int) -> Iterator[list[pa.RecordBatch]]:
    """Regroup batches into lists of exactly ``row_group_rows`` rows; the last may have fewer."""
    gathered: list[pa.RecordBatch] = []
    missing = row_group_rows
    for batch in batches:
        while batch.num_rows >= missing:
            yield [*gathered, batch.slice(0, missing)]
            batch = batch.slice(missing)
            gathered, missing = [], row_group_rows
        if batch.num_rows:
            gathered.append(batch)
            missing -= batch.num_rows
    if gathered:
        yield gathered


def unit_interval(draw: Uint64Array) -> Float64Array:
    """Uniform in [0, 1) with 53 bits."""
    return (draw >> np.uint64(11)).astype(np.float64) * 2.0**-53


def power_law(uniform: Float64Array, n: int) -> Uint64Array:
    """Ranks 0..n-1 with density proportional to (rank + q)^(-3/2), by the inverse of its distribution function.

    The offset q keeps the most active user at a fraction of a percent of a large log, as in real ones.
    """
    q = max(1.0, n / 50)
    reach = 1.0 - 1.0 / sqrt(1.0 + n / q)
    root = 1.0 - uniform * reach
    rank = (q * (1.0 / (root * root) - 1.0)).astype(np.uint64)
    return np.minimum(rank, np.uint64(n - 1), out=rank)


def scattered(rank: Uint64Array, bits: int) -> Uint64Array:
    """A one-to-one map of the integers below 2^bits: odd multiplication and xor-shift can both be undone."""
    mask = np.uint64((1 << bits) - 1)
    half = np.uint64(bits // 2)
    mixed = (rank + np.uint64(1)) * np.uint64(0xBF58476D1CE4E5B9) & mask
    mixed ^= mixed >> half
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed &= mask
    mixed ^= mixed >> half
    return mixed


def hashed_effect(identifier: Uint64Array, seed: int, salt: int) -> Float64Array:
    """A bell-shaped effect that belongs to (identifier, seed, salt): SplitMix64's mixing of the three."""
    mixed = identifier + np.uint64((salt * (2 * seed + 1)) & (1 << 64) - 1)
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return bell(mixed)


def bell(draw: Uint64Array) -> Float64Array:
    """Mean 0, variance 1, within 3.47 standard deviations: the standardized sum of the draw's four 16-bit integers."""
    mask = np.uint64(0x0000FFFF0000FFFF)
    pairs = (draw & mask) + ((draw >> np.uint64(16)) & mask)
    total = (pairs & np.uint64(0xFFFFFFFF)) + (pairs >> np.uint64(32))
    spread = sqrt((65_536**2 - 1) / 3)
    return (total.astype(np.float64) - 131_070.0) * (1.0 / spread)


def squash(score: Float64Array) -> Float64Array:
    """A sigmoid without exp: (1 + x / sqrt(1 + x^2)) / 2."""
    return 0.5 + 0.5 * (score / np.sqrt(1.0 + score * score))


def scale_odds(probability: Float64Array, factor: float) -> Float64Array:
    """Multiply the odds p / (1 - p) by ``factor``."""
    return factor * probability / (1.0 + (factor - 1.0) * probability)


def channels(draw: Uint64Array) -> NDArray[np.int8]:
    """Channel codes by their shares, from 32-bit draws: the number of cumulative shares the draw has passed."""
    code = np.zeros(draw.shape, dtype=np.int8)
    bounds = np.floor(np.cumsum(CHANNEL_SHARES[:-1]) * 2.0**32).astype(np.uint64)
    for bound in bounds:
        code += draw >= bound
    return code


def timestamps(hours: NDArray[np.int64], into_hour: Float64Array, draw: Uint64Array) -> NDArray[np.int64]:
    """Milliseconds since 1970 within the weeks of the log, with jitter from 32-bit draws."""
    steady = HOUR_MILLISECONDS * hours + (HOUR_MILLISECONDS * into_hour).astype(np.int64)
    jitter = (draw * np.uint64(JITTER_MILLISECONDS)) >> np.uint64(32)
    return FIRST_TIMESTAMP + np.minimum(steady + jitter.view(np.int64), WEEKS * 7 * 24 * HOUR_MILLISECONDS - 1)
