"""Calibration: predicted probabilities against observed rates. COPC, PCOC, expected calibration error, curve and plot.

The public package and the engine's registry import this package; no other metrics family does. It imports `_core` and
`_kernels`. Start with `calibration_bins.py`, the statistic of bins that the metrics share. `copc.py` needs no bins.
"""
