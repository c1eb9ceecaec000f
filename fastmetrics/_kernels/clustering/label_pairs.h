/* Loops over pairs of labels that pay for wide registers (vectormath.h tells how FM_WIDE works). */
#ifndef FASTMETRICS_LABELPAIRS_H
#define FASTMETRICS_LABELPAIRS_H

#include "vectormath.h"

/* cells[i] = (first - low) * other_width + (second - other_low). Returns 0 if all labels lie in their ranges, of at least
 * one label and less than 2^63; else the cells mean nothing. */
FM_WIDE static uint64_t fm_table_cells(
    const int64_t* first, const int64_t* second, ptrdiff_t n, int64_t low, int64_t width, int64_t other_low,
    int64_t other_width, uint32_t* cells
) {
    uint64_t seen = 0, last = (uint64_t)width - 1, other_last = (uint64_t)other_width - 1;
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        uint64_t one = (uint64_t)first[i] - (uint64_t)low;
        uint64_t other = (uint64_t)second[i] - (uint64_t)other_low;
        seen |= one | other | (last - one) | (other_last - other);
        cells[i] = (uint32_t)one * (uint32_t)other_width + (uint32_t)other;
    }
    return seen >> 63;
}

/* The sum of squares, modulo 2^64. */
FM_WIDE static uint64_t fm_sum_squares(const int64_t* counts, ptrdiff_t n) {
    uint64_t sum = 0;
    ptrdiff_t i;
    for (i = 0; i < n; i++) sum += (uint64_t)counts[i] * (uint64_t)counts[i];
    return sum;
}

/* With a count h * 2^32 + l: the sums of l^2, of h * l and of h^2, of 128 bits each, low words first. */
static inline void fm_sum_wide_squares(const int64_t* counts, ptrdiff_t n, uint64_t* sums) {
    ptrdiff_t i;
    int part;
    for (part = 0; part < 6; part++) sums[part] = 0;
    for (i = 0; i < n; i++) {
        uint64_t low = (uint64_t)counts[i] & UINT32_MAX, high = (uint64_t)counts[i] >> 32;
        uint64_t products[3];
        products[0] = low * low;
        products[1] = high * low;
        products[2] = high * high;
        for (part = 0; part < 3; part++) {
            sums[2 * part] += products[part];
            sums[2 * part + 1] += sums[2 * part] < products[part];
        }
    }
}

#endif
