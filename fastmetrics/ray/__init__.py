"""Metrics of a Dataset of Ray Data: `fastmetrics.ray.evaluate`, and `fastmetrics.ray.compare`.

An entry point beside the command line: it may import the engine, and nothing imports it. Read `dataset.py` first: it
runs on the driver. `fastmetrics/distributed/tasks.py` runs on workers. Importing the package does not import ray.
"""

from fastmetrics._core.suggestions import list_public
from fastmetrics.ray.dataset import compare, evaluate

__all__ = ["compare", "evaluate"]
__dir__ = list_public(globals())
