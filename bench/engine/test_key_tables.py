"""Tables of keys: how often each item occurs."""

import numpy as np
import polars
import pytest

from bench.workloads import SEED
from fastmetrics._core.columns.group_keys import as_keys
from fastmetrics._core.tables.key_table import count_keys

ITEMS = 1_000_000
FAR_APART = 7919


def item_numbers(rows, order):
    random = np.random.default_rng(SEED + 70)
    if order == "shuffled":
        return random.integers(0, ITEMS, rows) * FAR_APART
    return np.minimum(random.zipf(1.2, rows), ITEMS) * FAR_APART


@pytest.mark.parametrize("order", ["shuffled", "skewed"])
@pytest.mark.parametrize("kind", ["int64", "text"])
def test_item_counts(timing, rows, order, kind):
    items = polars.Series("item", item_numbers(rows, order))
    table = polars.DataFrame({"item": items if kind == "int64" else items.cast(polars.String)})
    column = table["item"].to_arrow()

    def ours():
        return count_keys(as_keys(column))

    def theirs():
        return table.group_by("item").len()

    counted, grouped = ours(), theirs()
    assert dict(zip(counted.keys().tolist(), counted.counts()[:, 0].tolist(), strict=True)) == dict(grouped.iter_rows())
    timing.compare(
        f"item counts, {{rows}} {order} {kind} keys, up to a million items", ours, "polars group_by", theirs,
        within=None, rounds=3,
    )  # fmt: skip
