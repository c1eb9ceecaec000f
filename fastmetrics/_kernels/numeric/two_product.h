/* The rounding error of a product of two doubles, which is a double itself (T. J. Dekker, 1971, A floating-point
 * technique for extending the available precision). It is exact as long as nothing overflows or underflows.
 */
#ifndef FASTMETRICS_NUMERIC_TWO_PRODUCT_H
#define FASTMETRICS_NUMERIC_TWO_PRODUCT_H

/* A loop with a call is not vectorized, and -O2 leaves calls of functions that are not small. */
#if defined(__GNUC__)
#define FM_INLINE static inline __attribute__((always_inline))
#else
#define FM_INLINE static inline
#endif

FM_INLINE double fm_high_part(double x) {
    double t = 134217729.0 * x; /* 2^27 + 1 */
    return t - (t - x);
}

FM_INLINE double fm_product_error(double x, double y, double product) {
    double x_high = fm_high_part(x), y_high = fm_high_part(y);
    double x_low = x - x_high, y_low = y - y_high;
    return ((x_high * y_high - product) + x_high * y_low + x_low * y_high) + x_low * y_low;
}

#endif
