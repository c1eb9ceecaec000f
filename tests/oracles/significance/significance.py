"""Significance tests by definition: slow and exact, with citations."""

from fractions import Fraction
from itertools import product
from math import comb


def chi_square_of_fit(observed, expected):
    """sum (O - E)^2 / E as a fraction; K. Pearson, Philosophical Magazine 50, 1900."""
    return sum((Fraction(o) - Fraction(e)) ** 2 / Fraction(e) for o, e in zip(observed, expected, strict=True))


def chi_square_of_table(table, correction=False):
    """Pearson's chi-square of a table, with E = row total x column total / n.

    The correction is that of F. Yates, Supplement to the JRSS 1, 1934.
    """
    rows, columns = [sum(row) for row in table], [sum(column) for column in zip(*table, strict=True)]
    total = Fraction(0)
    for r, row in zip(rows, table, strict=True):
        for c, have in zip(columns, row, strict=True):
            want = Fraction(r * c, sum(rows))
            apart = abs(have - want)
            if correction:
                apart -= min(apart, Fraction(1, 2))
            total += apart**2 / want
    return total


def holm(pvalues):
    """Step down: the smallest times m, the next times m - 1, without decrease; S. Holm, 1979."""
    adjusted = {}
    greatest = 0.0
    for place, row in enumerate(sorted(range(len(pvalues)), key=lambda row: pvalues[row])):
        greatest = max(greatest, pvalues[row] * (len(pvalues) - place))
        adjusted[row] = min(greatest, 1.0)
    return [adjusted[row] for row in range(len(pvalues))]


def benjamini_hochberg(pvalues):
    """Step up: the largest as it is, the next times m / (m - 1), without increase; Benjamini and Hochberg, 1995."""
    adjusted = {}
    least, m = 1.0, len(pvalues)
    for place, row in sorted(enumerate(sorted(range(m), key=lambda row: pvalues[row]), 1), reverse=True):
        least = min(least, pvalues[row] * m / place)
        adjusted[row] = least
    return [adjusted[row] for row in range(m)]


def mcnemar(b: int, c: int) -> tuple[Fraction, Fraction]:
    """(exact p, mid-p) of b and c discordant pairs: all counts at least as far from n / 2, under Binomial(n, 1/2).

    M. Fagerland, S. Lydersen, P. Laake, "The McNemar test for binary matched-pairs data", BMC Medical Research
    Methodology 13:91, 2013: mid-p is the exact p minus the probability of the observed counts.
    """
    n, least = b + c, min(b, c)
    ways = [Fraction(comb(n, k), 2**n) for k in range(n + 1)]
    tail = sum(ways[: least + 1], Fraction(0))
    return min(2 * tail, Fraction(1)), (2 * tail - ways[least]) if b != c else Fraction(1)


def midranks(values):
    """Ranks from 1; equal values share their mean rank."""
    return [
        Fraction(sum(other < value for other in values) * 2 + sum(other == value for other in values) + 1, 2)
        for value in values
    ]


def signed_ranks(differences, zero_method="wilcox"):
    """(rank sum of positives, ranks of nonzero differences, contribution of zeros) for each treatment of zeros.

    F. Wilcoxon, Biometrics Bulletin 1, 1945; J. Pratt, JASA 54, 1959: zeros are ranked, then dropped; "zsplit": half
    of their ranks is added to each sum.
    """
    used = [d for d in differences if d != 0] if zero_method == "wilcox" else list(differences)
    ranks = midranks([abs(d) for d in used])
    zeros = sum((r for d, r in zip(used, ranks, strict=True) if d == 0), Fraction(0))
    added = zeros / 2 if zero_method == "zsplit" else Fraction(0)
    positive = sum((r for d, r in zip(used, ranks, strict=True) if d > 0), Fraction(0)) + added
    return positive, [r for d, r in zip(used, ranks, strict=True) if d != 0], added


def wilcoxon(differences, alternative="two-sided", zero_method="wilcox"):
    """The p-value over all 2^n choices of signs."""
    positive, ranks, added = signed_ranks(differences, zero_method)
    sums = [
        added + sum((r for r, sign in zip(ranks, signs, strict=True) if sign), Fraction(0))
        for signs in product((False, True), repeat=len(ranks))
    ]
    less = Fraction(sum(one <= positive for one in sums), len(sums))
    greater = Fraction(sum(one >= positive for one in sums), len(sums))
    return {"less": less, "greater": greater, "two-sided": min(2 * min(less, greater), Fraction(1))}[alternative]


def hodges_lehmann(differences):
    """The median of the means of all pairs of differences, each also with itself; Hodges and Lehmann, 1963."""
    means = sorted((a + b) / 2 for i, a in enumerate(differences) for b in differences[i:])
    middle = len(means) // 2
    return means[middle] if len(means) % 2 else (means[middle - 1] + means[middle]) / 2
