"""CSV logs beside pyarrow's own readers of the same columns: log loss of all rows."""

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import fastmetrics as fm

COLUMNS = ["click", "pctr"]


@pytest.fixture(scope="module", params=["needed", "none"])
def path(request, clicks, tmp_path_factory):
    """A log with texts in quotes, as pyarrow writes it by default, or without quotes."""
    path = tmp_path_factory.mktemp("csv") / f"quotes {request.param}.csv"
    users = np.arange(clicks.labels.shape[0]) * 7919 % 1_000_003
    texts = pa.array(["DE", "FR", "US"]).take(pa.array(users % 3))
    table = pa.table({"click": clicks.labels, "pctr": clicks.probabilities, "user_id": users, "country": texts})
    pa.csv.write_csv(table, path, pa.csv.WriteOptions(quoting_style=request.param))
    return path


def read_columns(path):
    options = pa.csv.ConvertOptions(include_columns=COLUMNS)
    table = pa.csv.read_csv(path, convert_options=options)
    return table.num_rows


def count_rows(path):
    return fm.evaluate(path, ["logloss"], label="click", score="pctr").rows


def test_logloss_of_csv(timing, path):
    timing.compare(
        f"`evaluate` of logloss: a CSV log of {timing.rows:,} rows, {path.stem}",
        lambda: count_rows(path), "pyarrow.csv.read_csv of the two columns", lambda: read_columns(path),
        within=0, rounds=5,
    )  # fmt: skip
