"""Mutual information of partitions from its definitions, in exact fractions and sixty decimal digits.

N. X. Vinh, J. Epps, J. Bailey (2010), Information theoretic measures for clusterings comparison, JMLR 11, 2837-2854:
mutual information, its expectation under the hypergeometric model (equation 24a), adjusted and normalized forms.
A. Rosenberg, J. Hirschberg (2007), V-measure: a conditional entropy-based external cluster evaluation measure,
EMNLP-CoNLL 2007, 410-420: homogeneity, completeness, V.

A table is a dict of {(class, cluster): rows}. Results are Decimals.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from math import comb
from typing import Any

Cells = dict[tuple[Any, Any], int]

DIGITS = 60
LEAST = Decimal(10) ** -40


def log(ratio: Fraction) -> Decimal:
    """The natural logarithm of a fraction."""
    with localcontext() as context:
        context.prec = DIGITS
        return (Decimal(ratio.numerator) / Decimal(ratio.denominator)).ln()


def decimal(ratio: Fraction) -> Decimal:
    with localcontext() as context:
        context.prec = DIGITS
        return Decimal(ratio.numerator) / Decimal(ratio.denominator)


def exact_sum(terms: Iterable[Decimal]) -> Decimal:
    with localcontext() as context:
        context.prec = DIGITS
        return sum(terms, Decimal(0))


def product(first: Decimal, second: Decimal) -> Decimal:
    with localcontext() as context:
        context.prec = DIGITS
        return first * second


def quotient(first, second):
    with localcontext() as context:
        context.prec = DIGITS
        return first / second


def cells_of(labels_true: Sequence[Any], labels_pred: Sequence[Any]) -> Cells:
    return dict(Counter(zip(labels_true, labels_pred, strict=True)))


def sizes(cells: Cells, side: int) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for pair, rows in cells.items():
        found[pair[side]] += rows
    return found


def entropy(of_sizes):
    n = sum(of_sizes)
    return exact_sum(product(decimal(Fraction(size, n)), log(Fraction(n, size))) for size in of_sizes)


def mutual_information(cells: Cells) -> Decimal:
    n = sum(cells.values())
    a, b = sizes(cells, 0), sizes(cells, 1)
    return exact_sum(
        product(decimal(Fraction(rows, n)), log(Fraction(n * rows, a[i] * b[j]))) for (i, j), rows in cells.items()
    )


def expected_of_pair(a, b, n):
    """The sum over k of P(k) k/n log(n k / (a b))."""
    total = comb(n, b)
    return exact_sum(
        product(decimal(Fraction(comb(a, k) * comb(n - a, b - k), total) * Fraction(k, n)), log(Fraction(n * k, a * b)))
        for k in range(max(1, a + b - n), min(a, b) + 1)
    )


def expected_of_large_pair(a, b, n):
    """expected_of_pair for sizes whose factorials have too many digits: probabilities follow from their ratios."""
    with localcontext() as context:
        context.prec = DIGITS
        start = min(max(a * b // n, a + b - n, 0), a, b)
        weights = {start: Decimal(1)}
        k = start
        while k < min(a, b) and weights[k] > LEAST:
            weights[k + 1] = weights[k] * ((a - k) * (b - k)) / ((k + 1) * (n - a - b + k + 1))
            k += 1
        k = start
        while k > max(0, a + b - n) and weights[k] > LEAST:
            weights[k - 1] = weights[k] * (k * (n - a - b + k)) / ((a - k + 1) * (b - k + 1))
            k -= 1
        mean = Decimal(a * b) / n
        whole = sum(weights.values())
        return sum(weight * k * (k / mean).ln() for k, weight in weights.items() if k) / (whole * n)


def expected_mutual_information(first, second, of_output=expected_of_pair):
    n = sum(first)
    return exact_sum(
        product(Decimal(count_a * count_b), of_output(a, b, n))
        for a, count_a in Counter(first).items()
        for b, count_b in Counter(second).items()
    )


def average(first, second, method):
    if method == "geometric":
        with localcontext() as context:
            context.prec = DIGITS
            return (first * second).sqrt()
    means = {"min": min(first, second), "max": max(first, second), "arithmetic": quotient(first + second, 2)}
    return means[method]


def is_same(cells):
    return len(cells) == len(sizes(cells, 0)) == len(sizes(cells, 1))


def normalized_mutual_information(cells, method):
    if is_same(cells):
        return Decimal(1)
    if 1 in (len(sizes(cells, 0)), len(sizes(cells, 1))):
        return Decimal(0)
    mean = average(entropy(sizes(cells, 0).values()), entropy(sizes(cells, 1).values()), method)
    return quotient(mutual_information(cells), mean)


def adjusted_mutual_information(cells, method, of_output=expected_of_pair):
    """None if numerator and denominator are both 0 and the partitions differ."""
    a, b = sizes(cells, 0).values(), sizes(cells, 1).values()
    if is_same(cells):
        return Decimal(1)
    if 1 in (len(a), len(b)):
        return Decimal(0)
    n = sum(a)
    if n in (len(a), len(b)):  # all partitions with these sizes have the same mutual information
        smaller = entropy(b) if len(a) == n else entropy(a)
        return None if abs(average(entropy(a), entropy(b), method) - smaller) < LEAST else Decimal(0)
    expected = expected_mutual_information(a, b, of_output)
    with localcontext() as context:
        context.prec = DIGITS
        return (mutual_information(cells) - expected) / (average(entropy(a), entropy(b), method) - expected)


def homogeneity_completeness_v(cells, beta=1):
    if not cells:
        return Decimal(1), Decimal(1), Decimal(1)
    mutual = mutual_information(cells)
    of_classes, of_clusters = entropy(sizes(cells, 0).values()), entropy(sizes(cells, 1).values())
    h = quotient(mutual, of_classes) if len(sizes(cells, 0)) > 1 else Decimal(1)
    c = quotient(mutual, of_clusters) if len(sizes(cells, 1)) > 1 else Decimal(1)
    weight = decimal(Fraction(beta))
    with localcontext() as context:
        context.prec = DIGITS
        return h, c, (1 + weight) * h * c / (weight * h + c) if h and c else Decimal(0)
