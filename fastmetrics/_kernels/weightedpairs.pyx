"""Pairs won with weights: sum over pairs (positive, negative) of w+ w- (1 won, 1/2 tied), group by group.

Rows come sorted by group, then by score; label and weight come along. Running sums are in double-double arithmetic
(about 106 bits): integer weights are exact as long as the pair sum stays below 2**106, real ones agree to far better
than 1e-12 whatever the order inside a tie. Double-double needs strict IEEE evaluation; the build forbids contraction.
"""

from libc.math cimport frexp, ldexp
from libc.stdint cimport int64_t, uint8_t

ctypedef fused score_t:
    float
    double


cdef inline void add(double* total, double high, double low) noexcept nogil:
    """total (high, low) += (high, low)."""
    cdef double s = total[0] + high
    cdef double back = s - total[0]
    cdef double error = (total[0] - (s - back)) + (high - back)
    error += total[1] + low
    total[0] = s + error
    total[1] = error - (total[0] - s)


cdef inline void multiply(const double* left, const double* right, double* out) noexcept nogil:
    """out = left * right, all (high, low). Dekker's product; operands below 1e150."""
    cdef double p = left[0] * right[0]
    cdef double t = 134217729.0 * left[0]
    cdef double left_high = t - (t - left[0])
    cdef double left_low = left[0] - left_high
    cdef double right_high, right_low, error
    t = 134217729.0 * right[0]
    right_high = t - (t - right[0])
    right_low = right[0] - right_high
    error = ((left_high * right_high - p) + left_high * right_low + left_low * right_high) + left_low * right_low
    error += left[0] * right[1] + left[1] * right[0]
    out[0] = p + error
    out[1] = error - (out[0] - p)


cdef inline double quotient(const double* numerator, const double* denominator) noexcept nogil:
    """numerator / denominator, both (high, low), to the nearest double but for ties closer than 2**-100."""
    cdef double first[2]
    cdef double product[2]
    cdef double rest[2]
    first[0] = numerator[0] / denominator[0]
    first[1] = 0
    multiply(first, denominator, product)
    rest[0] = numerator[0]
    rest[1] = numerator[1]
    add(rest, -product[0], -product[1])
    return first[0] + rest[0] / denominator[0]


def weighted_pairs(
    const score_t[::1] scores, const uint8_t[::1] labels, const double[::1] weights, const int64_t[::1] starts,
    double[::1] auc, double[::1] totals, int64_t[:, ::1] counts
):
    """For every group g, rows starts[g]..starts[g + 1] in ascending order of score, all of positive weight.

    auc[g] receives the share of the weighted pairs that were won (0 when a class is missing), totals[g] the sum of the
    weights, counts[g, label] the rows of each class. Each class of a group is scaled by a power of two, which cancels
    in the share, so that no product leaves the range of a double whatever the weights.
    """
    cdef Py_ssize_t group, row, end, tie_end
    cdef double half[2]
    cdef double product[2]
    cdef double below[2]
    cdef double won[2]
    cdef double total[2]
    cdef double of_class[2][2]
    cdef double tie[2][2]
    cdef double greatest[2]
    cdef int exponent[2]
    cdef int label
    with nogil:
        for group in range(starts.shape[0] - 1):
            end = starts[group + 1]
            total[0] = 0
            total[1] = 0
            for label in range(2):
                greatest[label] = 0
                counts[group, label] = 0
                of_class[label][0] = 0
                of_class[label][1] = 0
            for row in range(starts[group], end):
                label = labels[row]
                counts[group, label] += 1
                greatest[label] = weights[row] if weights[row] > greatest[label] else greatest[label]
                add(total, weights[row], 0)
            totals[group] = total[0]
            for label in range(2):
                frexp(greatest[label], &exponent[label])
            row = starts[group]
            below[0] = 0
            below[1] = 0
            won[0] = 0
            won[1] = 0
            while row < end:
                tie[0][0] = 0
                tie[0][1] = 0
                tie[1][0] = 0
                tie[1][1] = 0
                tie_end = row
                while tie_end < end and scores[tie_end] == scores[row]:
                    label = labels[tie_end]
                    add(tie[label], ldexp(weights[tie_end], -exponent[label]), 0)
                    tie_end += 1
                half[0] = below[0]
                half[1] = below[1]
                add(half, tie[0][0] / 2, tie[0][1] / 2)
                multiply(half, tie[1], product)
                add(won, product[0], product[1])
                add(below, tie[0][0], tie[0][1])
                add(of_class[0], tie[0][0], tie[0][1])
                add(of_class[1], tie[1][0], tie[1][1])
                row = tie_end
            auc[group] = 0
            if counts[group, 0] and counts[group, 1]:
                multiply(of_class[0], of_class[1], product)
                auc[group] = quotient(won, product)
