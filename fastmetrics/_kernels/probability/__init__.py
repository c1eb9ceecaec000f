"""Kernels of probability metrics: log loss, squared errors, calibration bins, likelihoods of tokens.

`metrics.probability`, `metrics.calibration`, `metrics.text` and `_core.columns` import this family. It uses `numeric`
and `columns` only. Start with `loss_terms.pxd`, then read `losses.pyx`.

Layout. Labels are decoded to uint8 0 or 1; probabilities are contiguous float32 or float64. `loss_terms.pxd` has the
loops for two classes, with the vectorized ones in `probability_loops.h`. `losses.pyx` adds blocks of columns to exact
states, `short_losses.pyx` computes a whole call on few rows. `class_losses.pyx` reads matrices with one column per
class, `likelihoods.pyx` log-probabilities of tokens.

Numerics. Terms are computed in float64 whatever the input type, then added without rounding. Probabilities are clipped
before the logarithm, and clipped rows are counted. Squared errors of 2048 rows are added as integers at two binary
exponents; if bits are left, the general sum is used.

Bounds. A bin takes at most 2**30 rows per call. Weights are at most 1e300, so that weighted terms stay finite.

Errors. A kernel reports that a probability is outside [0, 1] or NaN; the caller searches for the row.
"""
