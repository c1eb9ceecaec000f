/* Sums in double-doubles: TwoSum adds without error, and what it rounds off is summed in a second double (T. Ogita, S.
 * M. Rump, S. Oishi, 2005, Accurate sum and dot product).
 *
 * The error of m values is below m^2 2^-106 times the sum of their absolute values: 2^-88 for the 256 values that a chunk
 * has in each SIMD lane. Double-doubles are added with a relative error below 2^-103. Infinities, NaN and an overflow
 * make a sum NaN.
 */
#ifndef FASTMETRICS_NUMERIC_DOUBLE_DOUBLE_SUMS_H
#define FASTMETRICS_NUMERIC_DOUBLE_DOUBLE_SUMS_H

#include "numeric/vector_math.h"

#define FM_ADD_EXACTLY(HIGH, LOW, X)                                                                                    \
    do {                                                                                                                \
        double term = (X), sum = (HIGH) + term, rounded = sum - (HIGH);                                                 \
        (LOW) += ((HIGH) - (sum - rounded)) + (term - rounded);                                                         \
        (HIGH) = sum;                                                                                                   \
    } while (0)

/* Add a double-double to a double-double. The relative error is below 2^-103. */
static inline void fm_add_double_double(double* out, double high, double low) {
    double total = out[0], rest = out[1] + low;
    FM_ADD_EXACTLY(total, rest, high);
    out[0] = total + rest;
    out[1] = rest - (out[0] - total);
}

/* Add n <= 2048 values to a double-double. */
FM_WIDE static void fm_add_to_double_double(const double* values, ptrdiff_t n, double* out) {
    double high[FM_LANES], low[FM_LANES];
    ptrdiff_t i, whole = n - n % FM_LANES;
    int lane;
    for (lane = 0; lane < FM_LANES; lane++) high[lane] = low[lane] = 0;
    for (i = 0; i < whole; i += FM_LANES)
        for (lane = 0; lane < FM_LANES; lane++) FM_ADD_EXACTLY(high[lane], low[lane], values[i + lane]);
    for (i = whole; i < n; i++) FM_ADD_EXACTLY(high[0], low[0], values[i]);
    for (lane = 1; lane < FM_LANES; lane++) {
        FM_ADD_EXACTLY(high[0], low[0], high[lane]);
        low[0] += low[lane];
    }
    fm_add_double_double(out, high[0], low[0]);
}

#endif
