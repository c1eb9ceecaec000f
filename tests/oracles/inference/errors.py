"""Jackknife errors by unit, in fractions.

J. Tukey, "Bias and confidence in not quite large samples", 1958; F. Satterthwaite, "An approximate distribution of
estimates of variance components", 1946.
"""

import math
from fractions import Fraction


def left_out_changes(finalize, units):
    """What leaving each unit out changes of finalize(sums), where a unit is a tuple of sums. None: undefined."""
    totals = [sum(own) for own in zip(*units, strict=True)]
    value = finalize(totals)
    changes = []
    for unit in units:
        without = finalize([total - own for total, own in zip(totals, unit, strict=True)])
        changes.append(None if value is None or without is None else value - without)
    return changes


def covariance(first, second):
    """(U - 1) / U times the sum of products, as a fraction."""
    n = len(first)
    return Fraction(n - 1, n) * sum(Fraction(a) * Fraction(b) for a, b in zip(first, second, strict=True))


def standard_error(changes):
    return math.sqrt(covariance(changes, changes))


def degrees_of_freedom(changes, n_effective):
    squares = [Fraction(change) ** 2 for change in changes]
    fourth_powers = sum(square**2 for square in squares)
    if not fourth_powers:
        return n_effective - 1
    return min(Fraction(n_effective - 1), 2 * sum(squares) ** 2 / fourth_powers - 1)


def squared_deviations_error(values):
    """The standard error of a mean, by the textbook: the root of sum of (x - mean)^2 / (n (n - 1))."""
    mean = Fraction(sum(map(Fraction, values)), len(values))
    squares = sum((Fraction(value) - mean) ** 2 for value in values)
    return math.sqrt(squares / (len(values) * (len(values) - 1)))


def error_by_leaving_out(value_of, units):
    """The jackknife's standard error of `value_of(rows)`, rows being a mask; `units` has the unit of every row.

    Units without which nothing changes count if any of the rows that the value reads are theirs: all do here.
    """
    distinct = sorted(set(units.tolist()))
    whole = value_of(units == units)
    return standard_error([whole - value_of(units != unit) for unit in distinct])
