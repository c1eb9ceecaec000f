"""Resampling: Poisson bootstrap weights, sums with these weights, and threshold sweeps of 64 replicates at once.

`_core.resampling`, `_core.score_statistics`, `metrics.curves` and `metrics.text` import this family. It imports
`numeric` and `sweep`. Start with `poisson_weights.pyx`.

Weights. The weight of a unit in a replicate is a pure function of (seed, replicate, key): the result does not depend on
the order of the rows, on partitions or on threads. Weights are at most 12 and fit a byte.

Layout. Units are hashed to unit buckets, at most 2**14 for score replicates. A unit bucket has 64 weights, one byte for
each replicate of a batch. A row is a code of 16 bits (unit bucket, class, last row of a tie), sorted once by descending
score; each batch of 64 replicates then sweeps the same codes (`score_replicates.pyx`, `replicate_batch.h`). Statistics
that need all sums at some scores alone are consumers of runs (`run_batch.h`).

Weighted rows have a code and a weight (`weighted_replicates.pyx`, `weighted_batch.h`): sums are integers of 128 bits.

Numerics. Counts are integers. Precisions are rounded once per tie and summed exactly in three words
(`precision_batch.h`). Compilers without vector extensions sum tie by tie, with the same numbers.

Bounds. Bytes hold the weights of 255 / max_weight rows, 16 bits those of 65535 / max_weight rows. A replicate has fewer
than 2**62 rows of each class, fewer than 2**32 for KS, EER and average precision.
"""
