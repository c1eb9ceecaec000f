"""Logs of two partitions with labels of several types, and the registered metrics of partitions."""

from fastmetrics.testing.sample_logs import CITIES as CITIES
from fastmetrics.testing.sample_logs import partition_columns as partition_columns
from support.registry_cases import PARTITION


def partition_metrics() -> list[str]:
    """Every registered metric of partitions, with default and other parameters."""
    return PARTITION
