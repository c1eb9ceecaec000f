"""Metrics of a Spark DataFrame: `fastmetrics.spark.evaluate`, and `fastmetrics.spark.compare`.

An entry point beside the command line: it may import the engine, and nothing imports it. Read `dataframe.py` first: it
runs on the driver. `tasks.py` runs on the executors. Importing the package does not import pyspark.
"""

from fastmetrics._core.suggestions import list_public
from fastmetrics.spark.dataframe import compare, evaluate

__all__ = ["compare", "evaluate"]
__dir__ = list_public(globals())
