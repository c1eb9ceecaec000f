"""Kernels that count pairs of class labels.

`metrics.classification` imports these kernels, and so do `_core.columns` and `metrics.clustering`, which read the range
of a column of labels here. The kernels import only `_kernels.columns` and `_kernels.numeric`.
Start with `label_counts.pyx`; `label_weights.pyx` sums weights, and `fixed_threshold.pyx` counts the four cells of
scores at a threshold.

Layout. A column is a one-dimensional contiguous array of any numeric type. Blocks of 1024 labels become int64,
and int64 columns are read in place. A table over a range of labels has 2**bits rows and columns, so the cell of a pair
is two shifted differences. Rows are counted in up to four copies of the table, because successive increments of one
cell would wait for each other.

Numerics. Counts are int64 and exact. Weights are ordered by cell with a counting sort, each cell is summed exactly in
one superaccumulator and rounded once, so no result depends on the order of rows or on threads.

Bounds. At most 2**30 rows are added to a weight sum between two normalizations. Float labels are accepted only if they
are integers in the range of int64; a function reports other labels, and the caller encodes them first.
"""
