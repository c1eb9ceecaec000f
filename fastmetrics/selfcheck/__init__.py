"""Checks of this installation, on this machine: `fastmetrics selfcheck`, or `python -m fastmetrics.selfcheck`.

Slow definitions in plain Python compute each value again, on drawn input; then the same rows are computed in other
orders, with other numbers of threads, in batches, from merged states and under a memory limit, and must have the same
bits. It needs NumPy; with pyarrow it also checks `evaluate`. The command line imports this package, and nothing else
does. Read `checks.py` first.
"""
