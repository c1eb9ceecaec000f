"""Metrics of predicted numbers: errors, deviances, R^2 and D2 scores, XAUC, errors by group.

The public package and the engine's registry import this package; no other metrics family does. It imports `_core` and
`_kernels`. Start with `mean_squared_error.py` and with `mean_error.py`, the decorator of all mean errors.
`numeric_targets.py` has the checks and sums that the functions share, `error_totals.py` the means of these sums,
`output_averages.py` the means over outputs, and `error_statistics.py` the additive statistics of the metrics.
"""
