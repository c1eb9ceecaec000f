# Written by tools/generate.py from tests/oracles/clustering/clustering_information.py.
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
from typing import Any

Cells = dict[tuple[Any, Any], int]
DIGITS = 60


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


def cells_of(labels_true: Sequence[Any], labels_pred: Sequence[Any]) -> Cells:
    return dict(Counter(zip(labels_true, labels_pred, strict=True)))


def sizes(cells: Cells, side: int) -> Counter[Any]:
    found: Counter[Any] = Counter()
    for pair, rows in cells.items():
        found[pair[side]] += rows
    return found


def mutual_information(cells: Cells) -> Decimal:
    n = sum(cells.values())
    a, b = sizes(cells, 0), sizes(cells, 1)
    return exact_sum(
        product(decimal(Fraction(rows, n)), log(Fraction(n * rows, a[i] * b[j]))) for (i, j), rows in cells.items()
    )
