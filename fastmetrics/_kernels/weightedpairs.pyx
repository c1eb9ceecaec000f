"""Pairs won with weights: sum over pairs (positive, negative) of w+ w- (1 won, 1/2 tied), group by group.

Rows come sorted by group, then by score; label and weight come along. Running sums are in double-double arithmetic
(about 106 bits): integer weights are exact as long as the pair sum stays below 2**106, real ones agree to far better
than 1e-12 whatever the order inside a tie. Double-double needs strict IEEE evaluation; the build forbids contraction.
"""

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
    double[:, ::1] won, double[:, :, ::1] totals, int64_t[:, ::1] counts
):
    """For every group g, rows starts[g]..starts[g + 1] in ascending order of score.

    won[g] receives the pairs won as (high, low), and their share of all pairs (0 when a class is missing);
    totals[g, label] the weights of each class as (high, low); counts[g, label] the rows of each class with a positive
    weight.
    """
    cdef Py_ssize_t group, row, end, tie_end
    cdef double half[2]
    cdef double product[2]
    cdef double below[2]
    cdef double tie[2][2]
    cdef int label
    with nogil:
        for group in range(starts.shape[0] - 1):
            row = starts[group]
            end = starts[group + 1]
            below[0] = 0
            below[1] = 0
            won[group, 0] = 0
            won[group, 1] = 0
            for label in range(2):
                totals[group, label, 0] = 0
                totals[group, label, 1] = 0
                counts[group, label] = 0
            while row < end:
                tie[0][0] = 0
                tie[0][1] = 0
                tie[1][0] = 0
                tie[1][1] = 0
                tie_end = row
                while tie_end < end and scores[tie_end] == scores[row]:
                    add(tie[labels[tie_end]], weights[tie_end], 0)
                    counts[group, labels[tie_end]] += weights[tie_end] > 0
                    tie_end += 1
                half[0] = below[0]
                half[1] = below[1]
                add(half, tie[0][0] / 2, tie[0][1] / 2)
                multiply(half, tie[1], product)
                add(&won[group, 0], product[0], product[1])
                add(below, tie[0][0], tie[0][1])
                add(&totals[group, 0, 0], tie[0][0], tie[0][1])
                add(&totals[group, 1, 0], tie[1][0], tie[1][1])
                row = tie_end
            won[group, 2] = 0
            if counts[group, 0] > 0 and counts[group, 1] > 0:
                multiply(&totals[group, 0, 0], &totals[group, 1, 0], product)
                won[group, 2] = quotient(&won[group, 0], product)
