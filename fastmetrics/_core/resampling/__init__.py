"""Resampling: replicates of statistics for the bootstrap, with Poisson weights per resampling unit.

Start with `resampling_units.py`: it groups units into unit buckets and draws their weights. `additive_replicates.py`
computes replicates of sums, `row_replicates.py` adds rows to them, and `range_replicates.py` computes those of score
statistics. The engine and metric families may import it. It imports `exchange`, `columns` and the kernels.
"""
