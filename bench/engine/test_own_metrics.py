"""A metric of the user's own beside the same lines of NumPy over the same batches of a Parquet file."""


import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fastmetrics as fm
from bench.workloads import SEED
from fastmetrics._core import exact
from fastmetrics._kernels.numeric import sums as sum_kernels
from fastmetrics.engine.input.batches import BATCH_ROWS
from fastmetrics.engine.input.files.data_file import DataFile
from fastmetrics.engine.input.files.parquet_reading import read_parquet
from fastmetrics.engine.scan.read_log import release_arrow_memory
from fastmetrics.extend import NonNegative, Positive, Real, RowStatistic, divide, metric

COLUMNS = ["reward", "propensity", "target"]
ROLES = {"reward": "reward", "target_propensity": "target"}


class ImportanceWeights(RowStatistic):
    """The sums of SNIPS."""

    __slots__ = ()
    sums = ("weighted_reward", "weight")

    def terms(self, columns):
        ratio = columns.target_propensity / columns.propensity
        return {"weighted_reward": ratio * columns.reward, "weight": ratio}


@metric(
    "bench_snips", exchange="none", statistics=ImportanceWeights(),
    roles={"reward": Real(), "propensity": Positive(), "target_propensity": NonNegative()},
)
def bench_snips(parameters, sums):
    """Self-normalized inverse propensity score."""
    return divide(sums["weighted_reward"], sums["weight"])


@pytest.fixture(scope="module")
def path(rows, tmp_path_factory):
    random = np.random.default_rng(SEED + 71)
    found = tmp_path_factory.mktemp("own_metrics") / "log.parquet"
    columns = {
        "reward": random.normal(1.0, 3.0, rows), "propensity": random.uniform(0.05, 1.0, rows),
        "target": random.random(rows),
    }  # fmt: skip
    pq.write_table(pa.table(columns), found, compression="none", use_dictionary=False)
    return str(found)


def test_row_metric_in_numpy(timing, path):
    def ours():
        return fm.evaluate(path, ["bench_snips"], propensity="propensity", roles=ROLES, n_threads=1)["bench_snips"]

    def theirs():
        states = exact.new_states(2)
        schema = pq.read_schema(path)
        log = DataFile.local(path)
        batches = read_parquet(log, schema, use_threads=False, batch_rows=BATCH_ROWS, memory_limit=None)
        for batch in batches:
            reward, propensity, target = (batch.column(name).to_numpy() for name in COLUMNS)
            ratio = target / propensity
            for values, state in zip((ratio * reward, ratio), states, strict=True):
                sum_kernels.sum_values(values, None, state)
        release_arrow_memory()  # as after every scan: the next one pays for it
        return divide(exact.to_integer(states[0]), exact.to_integer(states[1]))

    timing.compare(
        "a metric of one's own by rows (SNIPS), {rows} rows of Parquet, one thread", ours,
        "the same NumPy lines over the same batches, exact sums, no checks", theirs, within=0.0,
    )  # fmt: skip
