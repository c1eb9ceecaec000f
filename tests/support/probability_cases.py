"""Comparison and weights that tests of probability metrics share."""

import math

from support import strategies

ROUNDINGS = 1e-15


def is_close(value, expected, rel_tol=ROUNDINGS):
    return math.isclose(value, float(expected), rel_tol=rel_tol, abs_tol=0.0)


def weights_with_two_positive(data, size):
    weights = data.draw(strategies.real_weights(size))
    weights[:2] = 0.5
    return weights
