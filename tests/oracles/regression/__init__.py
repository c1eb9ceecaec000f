"""Errors, deviances and shares explained, row by row and in fractions.

The term of a row is computed with 53 bits, every operation rounded once, as the library documents. So is its product
with the weight of the row. Exponents have no limits: no term over- or underflows. Sums and quotients are fractions.
Moments of targets, for R^2 and explained variance, are fractions too.

C. F. Gauss (1823), Theoria combinationis observationum erroribus minimis obnoxiae: the squared error. R. Koenker and
G. Bassett (1978), Regression quantiles, Econometrica 46: the pinball loss. B. Jorgensen (1987), Exponential dispersion
models, J. R. Stat. Soc. B 49: deviances of the Tweedie family. R. Koenker and J. Machado (1999), Goodness of fit and
related inference processes for quantile regression, J. Am. Stat. Assoc. 94: D^2. R. Hyndman and Y. Fan (1996), Sample
quantiles in statistical packages, Am. Stat. 50: definition 2. R. Zhan et al. (2022), Deconfounding duration bias in
watch-time prediction, KDD 2022, section 5: XAUC; F. Harrell et al. (1982), Evaluating the yield of medical tests, JAMA
247: the same as C.
"""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from oracles.sums import rounded, total

Number = float | int
Term = Callable[[float, float], Fraction | float]
EPSILON = 2.0**-52


def nearest(value: Fraction) -> Fraction:
    """The nearest number of 53 bits with any exponent; of two, the even one."""
    if not value:
        return value
    exponent = abs(value.numerator).bit_length() - value.denominator.bit_length()
    unit = Fraction(2) ** (exponent - 53)
    if abs(value) / unit >= 2**53:
        unit *= 2
    return round(value / unit) * unit  # round() of a fraction takes the even of two


def signed(y: float, p: float) -> Fraction:
    return nearest(Fraction(p) - Fraction(y))


def squared(y: float, p: float) -> Fraction:
    return nearest(signed(y, p) ** 2)


def absolute(y: float, p: float) -> Fraction:
    return abs(signed(y, p))


def percentage(y: float, p: float) -> Fraction:
    return nearest(absolute(y, p) / Fraction(max(abs(y), EPSILON)))


def pinball(alpha: float) -> Term:
    def term(y: float, p: float) -> Fraction:
        return nearest(absolute(y, p) * Fraction(alpha if y >= p else 1.0 - alpha))

    return term


def squared_log(y: float, p: float) -> float:
    """Uses the logarithm of the C library; that of the kernels may differ in the last bit."""
    difference = math.log1p(y) - math.log1p(p)
    return difference * difference


def tweedie(power: float) -> Term:
    def term(y: float, p: float) -> Fraction | float:
        if power == 0:
            return squared(y, p)
        if power == 1:
            return 2 * ((y * math.log(y / p) if y else 0.0) - y + p)
        if power == 2:
            return 2 * (math.log(p / y) + y / p - 1)
        one, two = 1 - power, 2 - power
        return 2 * (max(y, 0.0) ** two / (one * two) - y * p**one / one + p**two / two)

    return term


def weights_of(weights: Sequence[Number] | None, rows: int) -> list[float]:
    return [1.0] * rows if weights is None else [float(weight) for weight in weights]


def sum_of_terms(
    term: Term, y_true: Sequence[Number], y_pred: Sequence[Number], weights: Sequence[Number] | None = None
) -> Fraction:
    terms = [Fraction(term(float(y), float(p))) for y, p in zip(y_true, y_pred, strict=True)]
    if weights is not None:
        terms = [nearest(own * Fraction(w)) for own, w in zip(terms, weights_of(weights, len(terms)), strict=True)]
    return total(terms)


def mean(
    term: Term, y_true: Sequence[Number], y_pred: Sequence[Number], weights: Sequence[Number] | None = None
) -> float:
    """The (weighted) mean of a term, rounded once."""
    weight = total(map(Fraction, weights_of(weights, len(y_true))))
    return rounded(sum_of_terms(term, y_true, y_pred, weights) / weight)


def sum_of_squared_deviations(values: Sequence[Number], weights: Sequence[Number] | None = None) -> Fraction:
    """The sum of w (v - m)^2, m the weighted mean."""
    numbers = [Fraction(float(value)) for value in values]
    own = [Fraction(weight) for weight in weights_of(weights, len(numbers))]
    middle = total(w * v for w, v in zip(own, numbers, strict=True)) / total(own)
    return total(w * (v - middle) ** 2 for w, v in zip(own, numbers, strict=True))


def explained_fraction(lost: Fraction, whole: Fraction, force_finite: bool = True) -> float:
    """1 - lost / whole, rounded once; if whole is zero, scikit-learn's convention."""
    if whole:
        return rounded(1 - lost / whole)
    if force_finite:
        return 0.0 if lost else 1.0
    return -math.inf if lost else math.nan


def r2(
    y_true: Sequence[Number], y_pred: Sequence[Number], weights: Sequence[Number] | None = None,
    force_finite: bool = True,
) -> float:  # fmt: skip
    return explained_fraction(
        sum_of_terms(squared, y_true, y_pred, weights), sum_of_squared_deviations(y_true, weights), force_finite
    )


def explained_variance(
    y_true: Sequence[Number], y_pred: Sequence[Number], weights: Sequence[Number] | None = None,
    force_finite: bool = True,
) -> float:  # fmt: skip
    errors = [signed(float(y), float(p)) for y, p in zip(y_true, y_pred, strict=True)]
    return explained_fraction(
        sum_of_squared_deviations(errors, weights), sum_of_squared_deviations(y_true, weights), force_finite
    )


def quantile(values: Sequence[Number | Fraction], alpha: Fraction, weights: Sequence[Number] | None = None) -> float:
    """The first value that reaches alpha of the weight. If it is reached exactly, the mean of it and the next."""
    rows = sorted(
        (float(value), Fraction(weight))
        for value, weight in zip(values, weights_of(weights, len(values)), strict=True)
        if weight > 0
    )
    wanted = alpha * total(weight for _, weight in rows)
    reached = Fraction(0)
    for place, (value, weight) in enumerate(rows):
        reached += weight
        if reached > wanted:
            return value
        if reached == wanted and wanted > 0:
            return (value + rows[min(place + 1, len(rows) - 1)][0]) / 2
    raise ValueError("no weight")


def median_absolute(
    y_true: Sequence[Number], y_pred: Sequence[Number], weights: Sequence[Number] | None = None
) -> float:
    errors = [absolute(float(y), float(p)) for y, p in zip(y_true, y_pred, strict=True)]
    return quantile(errors, Fraction(1, 2), weights)


def d2_pinball(
    y_true: Sequence[Number], y_pred: Sequence[Number], alpha: float, weights: Sequence[Number] | None = None
) -> float:
    constant = quantile(y_true, Fraction(alpha), weights)
    lost = sum_of_terms(pinball(alpha), y_true, y_pred, weights)
    return explained_fraction(lost, sum_of_terms(pinball(alpha), y_true, [constant] * len(y_true), weights))


def xauc(
    y_true: Sequence[Number], y_score: Sequence[Number], weights: Sequence[Number] | None = None
) -> Fraction | None:
    """The share of the pairs with different targets that the scores order as the targets; ties in score count half.

    A pair weighs the product of its rows' weights.
    """
    rows = list(zip(y_true, y_score, map(Fraction, weights_of(weights, len(y_true))), strict=True))
    concordant = pairs = Fraction(0)
    for y, s, w in rows:
        for other_y, other_s, other_w in rows:
            if y > other_y:
                pairs += w * other_w
                concordant += w * other_w * (1 if s > other_s else Fraction(1, 2) if s == other_s else 0)
    return concordant / pairs if pairs else None


def errors_by_group(
    y_true: Sequence[Number], y_pred: Sequence[Number], groups: Sequence[object],
    weights: Sequence[Number] | None = None,
) -> list[tuple[object, int, float, float, float]]:  # fmt: skip
    """(group, rows, mean squared, mean absolute, mean signed error) in ascending order of the group."""
    rows: dict[object, list[int]] = {}
    for row, group in enumerate(groups):
        if weights is None or weights[row] > 0:
            rows.setdefault(group, []).append(row)
    table = []
    for group in sorted(rows):  # type: ignore[type-var]
        own = rows[group]
        y, p = [y_true[row] for row in own], [y_pred[row] for row in own]
        w = None if weights is None else [weights[row] for row in own]
        table.append((group, len(own), mean(squared, y, p, w), mean(absolute, y, p, w), mean(signed, y, p, w)))
    return table
