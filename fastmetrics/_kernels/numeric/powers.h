/* x^y = exp(y log x), as elementary.h describes: the logarithm and its product with y are double-doubles. */
#ifndef FASTMETRICS_NUMERIC_POWERS_H
#define FASTMETRICS_NUMERIC_POWERS_H

#include <float.h>
#include <math.h>

#include "numeric/exponentials.h"
#include "numeric/logarithms.h"
#include "numeric/two_product.h"
#include "numeric/vector_math.h"

/* A logarithm whose high part has 26 bits: exact times 26 bits of an exponent. */
FM_INLINE fm_double_double fm_split_logarithm(fm_reduced x) {
    fm_double_double logarithm = fm_finish_logarithm(x), split;
    split.high = fm_double(fm_bits(logarithm.high) & ~UINT64_C(0x7ffffff));
    split.low = (logarithm.high - split.high) + logarithm.low;
    return split;
}

/* y log(x); no product overflows or is subnormal. */
FM_INLINE fm_double_double fm_multiple_of_logarithm(fm_double_double split, double y) {
    double y_high = fm_high_part(y);
    fm_double_double exponent = {y_high * split.high, (y - y_high) * split.high + y * split.low};
    return exponent;
}

FM_INLINE fm_double_double fm_power_exponent(fm_reduced x, double y) {
    return fm_multiple_of_logarithm(fm_split_logarithm(x), y);
}

/* Powers of one x: fm_split_of(x) for a positive x, then fm_power_of_split for each y that is 0 or from 2^-64 to 2^64 in
 * size. They have the bits of fm_pow. */
static inline fm_double_double fm_split_of(double x) {
    int subnormal = x < DBL_MIN;
    fm_reduced part = fm_reduce_logarithm(subnormal ? x * 0x1p54 : x, fm_log_words);
    part.k -= subnormal ? 54.0 : 0.0;
    return fm_split_logarithm(part);
}

FM_ONE_COPY static double fm_power_of_split(fm_double_double split, double y) {
    fm_double_double exponent = fm_multiple_of_logarithm(split, y);
    if (FM_HAS_NORMAL_EXP(exponent.high)) return fm_exp_pair_core(exponent.high, exponent.low);
    return fm_exp_pair(exponent.high, exponent.low);
}

/* |x|^y for a finite x other than 0 and 1 in size, and a finite y other than 0. */
FM_INLINE double fm_power_of_size(double x, double y) {
    double size = fabs(y);
    if (size > 0x1p64) return (x > 1.0) == (y > 0.0) ? HUGE_VAL : 0.0; /* |log x| is 2^-53 or more */
    if (size < 0x1p-64) return 1.0;                                   /* |y log x| < 2^-54 */
    return fm_power_of_split(fm_split_of(x), y);
}

FM_ONE_COPY static double fm_pow(double x, double y) {
    double size = fabs(x), result;
    int whole, odd;
    if (y == 0.0 || x == 1.0) return 1.0;
    if (x != x || y != y) return x + y;
    whole = fabs(y) >= 0x1p52 || (fabs(y) + 0x1p52) - 0x1p52 == fabs(y);
    odd = whole && fabs(y) < 0x1p53 && (int64_t)fabs(y) & 1;
    if (fabs(y) > DBL_MAX) {
        if (size == 1.0) return 1.0;
        return (size > 1.0) == (y > 0.0) ? HUGE_VAL : 0.0;
    }
    if (x < 0.0 && !whole && size <= DBL_MAX) return NAN;
    if (size == 0.0 || size > DBL_MAX)
        result = (size == 0.0) == (y > 0.0) ? 0.0 : HUGE_VAL;
    else
        result = size == 1.0 ? 1.0 : fm_power_of_size(size, y);
    return odd && fm_bits(x) >> 63 ? -result : result;
}

static inline double fm_cube(double x) {
    double square = x * x, lost = fm_product_error(x, x, square), cube = square * x;
    return cube + (fm_product_error(square, x, cube) + lost * x);
}

static inline double fm_inverse_square(double x) {
    double square = x * x, lost = fm_product_error(x, x, square), inverse = 1.0 / square, product = square * inverse;
    double remainder = ((1.0 - product) - fm_product_error(square, inverse, product)) - lost * inverse;
    return inverse + inverse * remainder;
}

/* Is e one of -2, -1, 1, 2 and 3? */
static inline int fm_is_short_power(double e) { return e == rint(e) && e >= -2.0 && e <= 3.0 && e != 0.0; }

/* values[i]^e for such an e: rounded once, but for rare cases near the middle between two doubles. */
FM_WIDE static void fm_whole_powers(const double* values, ptrdiff_t n, int e, double* out) {
    ptrdiff_t i;
    switch (e) {
        case -2: for (i = 0; i < n; i++) out[i] = fm_inverse_square(values[i]); break;
        case -1: for (i = 0; i < n; i++) out[i] = 1.0 / values[i]; break;
        case 2: for (i = 0; i < n; i++) out[i] = values[i] * values[i]; break;
        case 3: for (i = 0; i < n; i++) out[i] = fm_cube(values[i]); break;
        default: for (i = 0; i < n; i++) out[i] = values[i]; break;
    }
}

#define FM_IS_USUAL_EXPONENT(y) ((fabs(y) >= 0x1p-64) & (fabs(y) <= 0x1p64))

/* e log(values[i]), double-doubles. Returns the number of values that are positive and normal, with normal powers. Two
 * short loops keep their numbers in registers; one long loop does not. */
FM_WIDE static int64_t fm_power_exponents(
    const double* values, ptrdiff_t n, double e, double* restrict high, double* restrict low
) {
    int64_t ordinary = 0;
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        fm_double_double exponent = fm_power_exponent(fm_reduce_logarithm(values[i], fm_log_words), e);
        ordinary += (int64_t)FM_IS_POSITIVE_NORMAL(values[i]) & (int64_t)FM_HAS_NORMAL_EXP(exponent.high);
        high[i] = exponent.high;
        low[i] = exponent.low;
    }
    return ordinary;
}

FM_WIDE static void fm_exp_pairs(const double* high, const double* low, ptrdiff_t n, double* restrict out) {
    ptrdiff_t i;
    for (i = 0; i < n; i++) out[i] = fm_exp_pair_core(high[i], low[i]);
}

#define FM_HAS_NORMAL_POWER(x, exponent) (FM_IS_POSITIVE_NORMAL(x) & FM_HAS_NORMAL_EXP(exponent))

/* out[i] = values[i]^e, for any values; out may be values. */
static inline void fm_powers_of(const double* values, double e, ptrdiff_t n, double* out) {
    enum { BLOCK = 256 };
    double high[BLOCK], low[BLOCK], powers[BLOCK];
    ptrdiff_t start, i;
    for (start = 0; start < n; start += BLOCK) {
        const double* own = values + start;
        ptrdiff_t length = n - start < BLOCK ? n - start : BLOCK;
        if (!FM_IS_USUAL_EXPONENT(e)) {
            for (i = 0; i < length; i++) out[start + i] = fm_pow(own[i], e);
            continue;
        }
        int64_t ordinary = fm_power_exponents(own, length, e, high, low);
        fm_exp_pairs(high, low, length, powers);
        if (ordinary != length)
            for (i = 0; i < length; i++)
                if (!FM_HAS_NORMAL_POWER(own[i], high[i])) powers[i] = fm_pow(own[i], e);
        memcpy(out + start, powers, (size_t)length * sizeof(double));
    }
}

/* fm_power_exponents with an exponent of each value. */
FM_WIDE static int64_t fm_power_exponents_of_pairs(
    const double* values, const double* exponents, ptrdiff_t n, double* restrict high, double* restrict low
) {
    int64_t ordinary = 0;
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        fm_double_double exponent = fm_power_exponent(fm_reduce_logarithm(values[i], fm_log_words), exponents[i]);
        ordinary += (int64_t)FM_IS_POSITIVE_NORMAL(values[i]) & (int64_t)FM_HAS_NORMAL_EXP(exponent.high)
            & (int64_t)FM_IS_USUAL_EXPONENT(exponents[i]);
        high[i] = exponent.high;
        low[i] = exponent.low;
    }
    return ordinary;
}

/* out[i] = values[i]^exponents[i] */
static inline void fm_powers_of_pairs(const double* values, const double* exponents, ptrdiff_t n, double* out) {
    enum { BLOCK = 256 };
    double high[BLOCK], low[BLOCK];
    ptrdiff_t start, i;
    for (start = 0; start < n; start += BLOCK) {
        ptrdiff_t length = n - start < BLOCK ? n - start : BLOCK;
        int64_t ordinary = fm_power_exponents_of_pairs(values + start, exponents + start, length, high, low);
        fm_exp_pairs(high, low, length, out + start);
        if (ordinary != length)
            for (i = 0; i < length; i++) {
                double x = values[start + i], y = exponents[start + i];
                if (!(FM_HAS_NORMAL_POWER(x, high[i]) & FM_IS_USUAL_EXPONENT(y))) out[start + i] = fm_pow(x, y);
            }
    }
}

FM_WIDE static int64_t fm_multiples_of_logarithm(
    fm_double_double split, const double* exponents, ptrdiff_t n, double* restrict high, double* restrict low
) {
    int64_t ordinary = 0;
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        fm_double_double exponent = fm_multiple_of_logarithm(split, exponents[i]);
        ordinary += (int64_t)FM_HAS_NORMAL_EXP(exponent.high) & (int64_t)FM_IS_USUAL_EXPONENT(exponents[i]);
        high[i] = exponent.high;
        low[i] = exponent.low;
    }
    return ordinary;
}

/* out[i] = x^exponents[i] */
static inline void fm_powers_with_base(double x, const double* exponents, ptrdiff_t n, double* out) {
    enum { BLOCK = 256 };
    double high[BLOCK], low[BLOCK];
    int is_ordinary = FM_IS_POSITIVE_NORMAL(x);
    fm_double_double split = fm_split_of(is_ordinary ? x : 1.0);
    ptrdiff_t start, i;
    for (start = 0; start < n; start += BLOCK) {
        ptrdiff_t length = n - start < BLOCK ? n - start : BLOCK;
        int64_t ordinary = fm_multiples_of_logarithm(split, exponents + start, length, high, low);
        fm_exp_pairs(high, low, length, out + start);
        if (!is_ordinary || ordinary != length)
            for (i = 0; i < length; i++) {
                double y = exponents[start + i];
                if (!(is_ordinary & FM_HAS_NORMAL_EXP(high[i]) & FM_IS_USUAL_EXPONENT(y))) out[start + i] = fm_pow(x, y);
            }
    }
}

/* fm_powers_of in place, for positive normal numbers, and with fewer operations for short powers. */
static inline void fm_powers(double* values, ptrdiff_t n, double e) {
    if (fm_is_short_power(e)) fm_whole_powers(values, n, (int)e, values);
    else fm_powers_of(values, e, n, values);
}

#endif
