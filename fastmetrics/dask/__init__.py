"""Metrics of a Dask DataFrame: `fastmetrics.dask.evaluate`, and `fastmetrics.dask.compare`.

An entry point beside the command line: it may import the engine, and nothing imports it. Read `dataframe.py` first: it
runs on the driver. `fastmetrics/distributed/tasks.py` runs on workers. Importing the package does not import dask.
"""

from fastmetrics._core.suggestions import list_public
from fastmetrics.dask.dataframe import compare, evaluate

__all__ = ["compare", "evaluate"]
__dir__ = list_public(globals())
