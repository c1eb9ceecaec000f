"""Kernels of contingency tables, mutual information, distances of points, and cluster centers.

Only `metrics.clustering` imports these kernels. They import `_kernels.columns` and `_kernels.numeric`.
Start with `label_cells.pyx`; `mutual_info.pyx` sums over the cells of a table, `distances.pyx` and `dispersion.pyx` are
for metrics of points.

Layout. A contingency table is a list of non-empty cells with their row and column codes. Pairs of labels are counted in
a dense table if it fits, else by 64-bit keys in hash partitions that fit in the second-level cache. Points are grouped
by cluster and stored in transposed panels, so that each lane of a register is one pair of rows.

Numerics. Every sum is exact and rounded once, so no result depends on the order of rows, threads or register widths.
Mutual information is a sum of non-negative terms, so nothing cancels (mutual_info.h). Distances are computed from
differences of coordinates and added in two words of 52 bits each (distances.pyx); rows for which this is not accurate
enough are summed again in a superaccumulator.

Bounds. Cells of a dense table are uint32 and are added to int64 cells before they could overflow. Totals of rows are at
most 2**63 - 1, products of two sizes have 128 bits, and the error of a float32 silhouette is below 1e-6.
"""
