"""Clustering metrics: two partitions of the same rows, or one partition of points.

Only the public package and entry points import this package. It imports `_core` and `_kernels`, never another family.
Start with `contingency.py`, the table of two partitions, or with `cluster_points.py` for metrics of points; every
metric is in a file of its name. `registered_metrics.py` registers the metrics of two partitions for the engine.
"""
