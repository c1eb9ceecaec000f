"""`fastmetrics.dask` on a local cluster of two processes, and with Dask's own threads: bit for bit `evaluate`."""

import logging

import pandas as pd
import pytest

import fastmetrics.dask
from fastmetrics.dask import dataframe
from support.states.round_cases import make_log
from support.states.runner_checks import ClusterChecks, Engine, RunnerChecks, no_process_left, thirds

dask = pytest.importorskip("dask", reason="dask is not installed")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")
dd = pytest.importorskip("dask.dataframe")


def collect(tables):
    """A frame with a partition for every table."""
    frames = [table.to_pandas(types_mapper=pd.ArrowDtype) for table in tables]
    return dd.concat([dd.from_pandas(frame, npartitions=1) for frame in frames]) if len(frames) > 1 else (
        dd.from_pandas(frames[0], npartitions=1)
    )


ENGINE = Engine(fastmetrics.dask, dataframe, collect, "Dask partition")


@pytest.fixture(scope="module")
def log():
    return make_log()


@pytest.fixture(scope="module")
def data(log):
    return collect(thirds(log))


@pytest.fixture(scope="module")
def client():
    """Of a cluster of two processes, none of which is left at the end."""
    options = {"dashboard_address": "127.0.0.1:0", "host": "127.0.0.1", "silence_logs": logging.CRITICAL}
    with (
        no_process_left(),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, **options) as cluster,
        distributed.Client(cluster, set_as_default=False) as found,
    ):
        yield found


class TestCluster(ClusterChecks):
    @pytest.fixture
    def engine(self, client):
        with client.as_current():
            yield ENGINE


class TestThreads(RunnerChecks):
    @pytest.fixture
    def engine(self):
        with dask.config.set(scheduler="threads"):
            yield ENGINE
