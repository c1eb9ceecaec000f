"""Keys prepared against the fixed hashes of the exchange, beside random keys: at most twice the time."""

import numpy as np
import pytest

import fastmetrics as fm
from bench.workloads import SEED
from tests.support.hostile import crafted_keys

KINDS = {
    "integers, one slot": crafted_keys.integers_in_one_slot,
    "integers, equal distances": lambda n: crafted_keys.integers_at_distance(n, 16),
    "texts, one hash": lambda n: crafted_keys.arrow_texts(crafted_keys.texts_with_equal_hashes(n)),
}


MOST_TEXTS = 1_000_000  # beyond, the prepared texts repeat


def random_keys(kind, n):
    random = np.random.default_rng(SEED + 90)
    if kind.startswith("integers"):
        return random.integers(-(2**63), 2**63 - 1, n)
    return crafted_keys.arrow_texts(random.integers(64, 96, (n, 16)).astype(np.uint8))


@pytest.fixture(scope="module")
def columns(rows):
    random = np.random.default_rng(SEED + 91)
    return random.integers(0, 2, rows), random.random(rows), random.integers(0, max(1, rows // 2), rows)


@pytest.mark.parametrize("kind", list(KINDS))
@pytest.mark.parametrize("function", [fm.gauc_score, fm.ndcg_score])
def test_crafted_groups(timing, rows, columns, kind, function):
    labels, scores, users = columns
    n_keys = max(1, rows // 2) if kind.startswith("integers") else max(1, min(rows // 2, MOST_TEXTS))
    crafted, random = (keys.take(users % n_keys) for keys in (KINDS[kind](n_keys), random_keys(kind, n_keys)))
    timing.compare(
        f"`{function.__name__}`, {{rows}} rows, {kind}", lambda: function(labels, scores, crafted),
        "random keys", lambda: function(labels, scores, random), within=0.0, rounds=5,
    )  # fmt: skip
