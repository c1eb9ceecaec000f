"""Kernels of ranking metrics, which `metrics.ranking` imports.

Ranked lists. A list is the rows of one group: scores and grades. `list_ranks.pxd` ranks a list: for every row with a
gain it finds how many rows are above it and how many tie with it. `list_measures.pxd` computes every measure from these
numbers; if scores tie, a measure is its expected value over all orders of the tied rows, in closed form.
`ranked_lists.pyx` applies both to contiguous lists (`loaded_lists.pxd` copies their rows) and to the groups of a hash
exchange. `list_means.pyx` adds the values of lists to exact sums, so that means do not depend on the order of
lists or on threads, and the values of the rows of a list to running sums. `rank_counts.h` has the vectorized loops.

Groups. `grouped_auc.pyx` counts the pairs won inside every group; GAUC is a ratio of exact sums over groups.

Runs and qrels. `run_qrels_join.pyx` joins two tables by query and item, and a log with its truth table inside the
partitions of a hash exchange; `run_qrels_dicts.pyx` joins dicts of dicts.

Labels. `label_ranking.pyx` (with `label_rank_counts.h`) ranks the labels of every row of a matrix.

Bounds: a list has less than 2**30 rows, a group of GAUC at most 2**32, a hash table of the join less than 2**32 - 1
keys. Counts are int64, and products of two counts of one list fit. -0.0 ties with 0.0. NaN is rejected by the callers
or reported by the kernel. Every function works on a range of lists, partitions or rows, and
each thread takes such ranges.

Start with `list_ranks.pxd`, then read `list_measures.pxd`.
"""
