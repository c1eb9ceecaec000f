"""Significance tests: placements for DeLong's test, sums with flipped signs for randomization tests, and tails.

`_core.score_statistics` and `_core.comparison` import this family. It imports `numeric`, `columns` and `sweep`. Start
with `delong_placements.pyx`.

Placements. A row's placement is twice the number of rows of the other class that it beats, plus those that it ties
with. Placements are computed by score range, in the buckets of `sweep/mann_whitney.pyx`, and then restored to the order
of the rows, because the test compares two models row by row. Columns with few distinct scores have a faster path.

Sign flips. `sign_flips.pyx` adds values with random signs, or with all sign patterns. The signs are a pure function of
(seed, tile, replicate), so any thread may compute any part. With AVX-512 the tables of signed sums are in registers;
the sums are the same.

Tails. `tail_integrals.pyx` has the tails of all distributions, which `_core.distributions` makes p-values and quantiles
of. Its loops are in `tail_loops.h`.

Bounds. Placements need fewer than 2**31 rows; squares have 64 bits, their sums 128 bits. Magnitudes of the values of a
sign-flip test add up to less than 2**62.
"""
