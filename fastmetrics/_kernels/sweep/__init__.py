"""Threshold sweeps: what the order of the scores gives, by score range, for AUC, curves, KS, EER and average precision.

Kernels of metric families, `_core` and `metrics.curves` may import this family. It imports `numeric` and `columns`.
Start with `mann_whitney.pyx`, then `rank_table.pxd`, `threshold_sweep.pyx` and `runs.pyx`.

Layout. `range_partition` scatters a block's sort keys (`ordered_bits.pxd`) into buckets of neighboring scores,
negatives before positives. A bucket fits the cache. Pairs of different buckets are products of counts, so buckets are
independent and may be counted by different threads.

Method. Only one class is sorted: the minority class for pair counts, the pivot class for sweeps. The rows of the other
class are looked up in a table of cells over the range of the sorted keys. Ties are counted exactly.

Kernels. `mann_whitney.pyx` counts pairs. `threshold_sweep.pyx` counts rows at and between the pivots: they are runs,
and `runs.pyx` reads runs. `curve_points.pyx` writes the points of a curve. `weighted_sweep.pyx` orders weighted rows,
and does both for them in integers of 128 bits. `short_curves.pyx` serves calls on at most 1024 rows.

Bounds. A block has at most 2**31 - 1 rows, a table at most 2**29 sorted keys. Pairs of a bucket have 128 bits. Counts
are below 2**53 and thus exact as float64; rates are rounded once.
"""
