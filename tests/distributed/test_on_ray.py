"""`fastmetrics.ray` on a local cluster of two processes: bit for bit the report of `evaluate`."""

import os
import shutil
import tempfile

import pytest

import fastmetrics.ray
from fastmetrics.ray import dataset
from support.states.round_cases import make_log
from support.states.runner_checks import ClusterChecks, Engine, no_process_left, thirds

os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_AUTH_MODE": "disabled"}
ray = pytest.importorskip("ray", reason="ray is not installed")
pytest.importorskip("ray.data")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ray")  # of its own options


def collect(tables):
    """A dataset with a block for every table."""
    return ray.data.from_arrow(tables)


@pytest.fixture(scope="module")
def log():
    return make_log()


@pytest.fixture(scope="module")
def engine():
    """On a cluster of two processes, none of which is left at the end."""
    with no_process_left():
        folder = tempfile.mkdtemp(prefix="ray-")  # the names of sockets have at most 107 characters
        try:
            ray.init(
                num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error",
                object_store_memory=80 << 20, _temp_dir=folder, _node_ip_address="127.0.0.1",
            )  # fmt: skip
            ray.data.DataContext.get_current().enable_progress_bars = False
            yield Engine(fastmetrics.ray, dataset, collect, "Ray block")
        finally:
            ray.shutdown()
            shutil.rmtree(folder)


@pytest.fixture(scope="module")
def data(engine, log):
    return collect(thirds(log))


class TestRay(ClusterChecks):
    pass
