"""Kernels of regression metrics: sums of error terms, moments, quantiles, errors of groups, discordant pairs.

`metrics.regression` imports this family. It uses `numeric` and `columns` only. Start with `error_terms.h`, then read
`errors.pyx`.

Layout. Targets and predictions keep their type and layout; `columns/real_columns.pxd` converts 2048 rows at a time to
float64. `errors.pyx` adds the term of each row to an exact state, one state per output. `moments.pyx` adds products for
R^2 and explained variance; `moment_sums.h` sums them in double-doubles. `selection.pyx` finds quantiles.
`grouped_errors.pyx` writes the mean errors of the groups of one hash partition. `concordance.pyx` counts discordant
pairs for XAUC by merge sort.

Numerics. A term is computed in float64, each operation rounded once. Sums have no rounding error, and a mean is rounded
once. Products for moments are exact sums of two doubles. Where the rounding of a quotient of double-doubles is not
certain, the kernel returns no value, and the caller divides integers.

Bounds. Weights of XAUC are integers below 2**126, and a count of weighted pairs has six words of 64 bits. Without
weights a count fits 64 bits for less than 2**32 rows. Moments have seven bands of 2**1024, so that products of any
three doubles fit.

Threads. Every function works on a range of rows, runs or partitions, with states and scratch of the caller.
"""
