"""Statistics of the order of scores that several families need: pairs won (AUC) and placements (DeLong).

Start with `pair_counts.py`, the statistic of AUC. `delong_placements.py` and `row_placements.py` compute DeLong's
variance, from sums over ranges of scores and row by row. Metric families may import it. It imports `resampling`,
`exchange`, `columns` and the kernels.
"""
