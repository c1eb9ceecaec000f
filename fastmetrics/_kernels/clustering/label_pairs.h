/* Loops over pairs of labels that are compiled for wide registers (see FM_WIDE in vector_math.h). */
#ifndef FASTMETRICS_LABELPAIRS_H
#define FASTMETRICS_LABELPAIRS_H

#include "numeric/vector_math.h"

/* cells[i] = (first - low) * other_width + (second - other_low). Widths are at least 1 and less than 2^63. Returns 0 if
 * all labels are in their ranges; otherwise the cells are invalid. */
FM_WIDE static uint64_t fm_table_cells(
    const int64_t* first, const int64_t* second, ptrdiff_t n, int64_t low, int64_t width, int64_t other_low,
    int64_t other_width, uint32_t* cells
) {
    uint64_t sign_bits = 0, last = (uint64_t)width - 1, other_last = (uint64_t)other_width - 1;
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        uint64_t row = (uint64_t)first[i] - (uint64_t)low;
        uint64_t column = (uint64_t)second[i] - (uint64_t)other_low;
        sign_bits |= row | column | (last - row) | (other_last - column);
        cells[i] = (uint32_t)row * (uint32_t)other_width + (uint32_t)column;
    }
    return sign_bits >> 63;
}

/* The sum of squares, modulo 2^64. */
FM_WIDE static uint64_t fm_sum_squares(const int64_t* counts, ptrdiff_t n) {
    uint64_t sum = 0;
    ptrdiff_t i;
    for (i = 0; i < n; i++) sum += (uint64_t)counts[i] * (uint64_t)counts[i];
    return sum;
}

/* For counts h * 2^32 + l, the sums of l^2, of h * l and of h^2 in 128 bits each, low words first. */
static inline void fm_sum_wide_squares(const int64_t* counts, ptrdiff_t n, uint64_t* sums) {
    ptrdiff_t i;
    int k;
    for (k = 0; k < 6; k++) sums[k] = 0;
    for (i = 0; i < n; i++) {
        uint64_t low = (uint64_t)counts[i] & UINT32_MAX, high = (uint64_t)counts[i] >> 32;
        uint64_t products[3];
        products[0] = low * low;
        products[1] = high * low;
        products[2] = high * high;
        for (k = 0; k < 3; k++) {
            sums[2 * k] += products[k];
            sums[2 * k + 1] += sums[2 * k] < products[k];
        }
    }
}

#endif
