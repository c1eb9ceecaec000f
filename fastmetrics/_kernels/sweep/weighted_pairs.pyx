"""Weighted AUC of every group: the sum over (positive, negative) pairs of w+ w-, where a tie counts one half.

Rows are sorted by group, then by score. Sums are in double-double arithmetic (about 106 bits). Integer weights are
exact as long as the sum over pairs is below 2**106. For real weights, results agree far better than 1e-12 for any order
inside a tie. Double-double arithmetic needs strict IEEE evaluation; the build forbids contraction (fused multiply-add).
"""

from libc.math cimport frexp, ldexp
from libc.stdint cimport int64_t, uint8_t

from fastmetrics._kernels.columns.ordered_bits cimport score_t
from fastmetrics._kernels.numeric.quotient cimport (
    DoubleDouble, add_double_doubles, multiply_double_doubles, negate_double_double, two_sum,
)


cdef inline DoubleDouble add_positive(DoubleDouble x, DoubleDouble y) noexcept nogil:
    """x + y for numbers that are not negative: the second sum then needs half the operations of two_sum.

    With add_double_doubles the kernel takes 1.1 times as long.
    """
    cdef DoubleDouble rounded = two_sum(x.high, y.high)
    cdef double low = rounded.low + (x.low + y.low)
    x.high = rounded.high + low
    x.low = low - (x.high - rounded.high)
    return x


cdef inline double quotient(DoubleDouble numerator, DoubleDouble denominator) noexcept nogil:
    """numerator / denominator rounded to nearest, except within 2**-100 of a midpoint."""
    cdef double first = numerator.high / denominator.high
    cdef DoubleDouble product = multiply_double_doubles(DoubleDouble(first, 0), denominator)
    return first + add_double_doubles(numerator, negate_double_double(product)).high / denominator.high


def weighted_group_auc(
    const score_t[::1] scores, const uint8_t[::1] labels, const double[::1] weights, const int64_t[::1] starts,
    double[::1] auc, double[::1] totals, int64_t[:, ::1] counts
):
    """The weighted AUC of every group g: rows starts[g]..starts[g + 1], ascending in score, with positive weights.

    auc[g] receives the fraction of the weighted pairs that the positives win (0 if a class is missing), totals[g] the
    sum of the weights, and counts[g, label] the rows of each class. The weights of each class of a group are scaled by
    a power of two, which cancels in the fraction, so no product overflows or underflows.
    """
    cdef Py_ssize_t group, row, end, tie_end
    cdef DoubleDouble zero = DoubleDouble(0, 0)
    cdef DoubleDouble beaten_negatives, negatives_below, wins, total
    cdef DoubleDouble class_totals[2]
    cdef DoubleDouble tie[2]
    cdef double greatest[2]
    cdef int exponent[2]
    cdef int label
    with nogil:
        for group in range(starts.shape[0] - 1):
            end = starts[group + 1]
            total = zero
            for label in range(2):
                greatest[label] = 0
                counts[group, label] = 0
                class_totals[label] = zero
            for row in range(starts[group], end):
                label = labels[row]
                counts[group, label] += 1
                greatest[label] = weights[row] if weights[row] > greatest[label] else greatest[label]
                total = add_positive(total, DoubleDouble(weights[row], 0))
            totals[group] = total.high
            for label in range(2):
                frexp(greatest[label], &exponent[label])
            row = starts[group]
            negatives_below = zero
            wins = zero
            while row < end:
                tie[0] = zero
                tie[1] = zero
                tie_end = row
                while tie_end < end and scores[tie_end] == scores[row]:
                    label = labels[tie_end]
                    tie[label] = add_positive(tie[label], DoubleDouble(ldexp(weights[tie_end], -exponent[label]), 0))
                    tie_end += 1
                beaten_negatives = add_positive(negatives_below, DoubleDouble(tie[0].high / 2, tie[0].low / 2))
                wins = add_positive(wins, multiply_double_doubles(beaten_negatives, tie[1]))
                negatives_below = add_positive(negatives_below, tie[0])
                for label in range(2):
                    class_totals[label] = add_positive(class_totals[label], tie[label])
                row = tie_end
            auc[group] = 0
            if counts[group, 0] and counts[group, 1]:
                auc[group] = quotient(wins, multiply_double_doubles(class_totals[0], class_totals[1]))
