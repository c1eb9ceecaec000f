/* Powers x^e of many numbers in wide registers, by logarithms and exponentials of extra precision.
 *
 * Only IEEE additions, multiplications and divisions, so the bits do not depend on the CPU or on the C library.
 */
#ifndef FASTMETRICS_NUMERIC_POWERS_H
#define FASTMETRICS_NUMERIC_POWERS_H

#include <float.h>
#include <math.h>

#include "numeric/exponentials.h"
#include "numeric/logarithms.h"
#include "numeric/two_product.h"
#include "numeric/vector_math.h"

/* y log(x), for a positive normal x; |y| < 2^900, and no product overflows or is subnormal. */
static inline fm_pair fm_power_exponent(double x, double y) {
    fm_pair logarithm = fm_log_pair(x), exponent;
    logarithm = fm_fast_sum(logarithm.high, logarithm.low);
    exponent = fm_two_product(y, logarithm.high);
    exponent.low += y * logarithm.low;
    return exponent;
}

/* |x|^y for a finite x other than 0 and 1 in size, and a finite y other than 0. */
static inline double fm_power_of_size(double x, double y) {
    fm_pair exponent;
    fm_reduced part;
    fm_pair logarithm;
    int subnormal = x < DBL_MIN;
    double size = fabs(y);
    if (size > 0x1p64) return (x > 1.0) == (y > 0.0) ? HUGE_VAL : 0.0; /* |log x| is 2^-53 or more */
    if (size < 0x1p-64) return 1.0;                                   /* |y log x| < 2^-54 */
    part = fm_reduce_logarithm(subnormal ? x * 0x1p54 : x);
    part.k -= subnormal ? 54.0 : 0.0;
    logarithm = fm_finish_logarithm(part);
    logarithm = fm_fast_sum(logarithm.high, logarithm.low);
    exponent = fm_two_product(y, logarithm.high);
    exponent.low += y * logarithm.low;
    if (FM_HAS_NORMAL_EXP(exponent.high)) return fm_exp_pair_core(exponent.high, exponent.low);
    return fm_exp_pair(exponent.high, exponent.low);
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

#define FM_LARGEST_POWER_EXPONENT 8.0 /* with a larger e, the errors of logarithms would show in the powers */
#define FM_LARGEST_BINARY_LOGARITHM 995.0 /* of a power, in size: powers within are normal numbers */

/* log(x) = high[i] + low[i] for x = values[i], a positive normal number, with an error below 2^-58 + |log(x)| 2^-75.
 *
 * The reduction and the polynomial are those of fm_negative_log. f is exact; so is f^2 / 2, in two parts.
 */
FM_WIDE static void fm_log_pairs(const double* values, ptrdiff_t n, double* restrict high, double* restrict low) {
    const double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;
    const uint64_t sqrt_half = UINT64_C(0x3fe6a09e667f3bcd);
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        uint64_t bits, mantissa;
        double m, k, f, s, z, r, half, half_square, lost, first, sum, rest;
        memcpy(&bits, &values[i], 8);
        bits -= sqrt_half;
        mantissa = (bits & UINT64_C(0x000fffffffffffff)) + sqrt_half;
        memcpy(&m, &mantissa, 8);
        bits = ((bits + (UINT64_C(2048) << 52)) >> 52) & 4095;
        bits |= UINT64_C(0x4330000000000000);
        memcpy(&k, &bits, 8);
        k -= 4503599627370496.0 + 2048.0;
        f = m - 1.0;
        s = f / (2.0 + f);
        z = s * s;
        r = 2.0 / 23;
        r = r * z + 2.0 / 21;
        r = r * z + 2.0 / 19;
        r = r * z + 2.0 / 17;
        r = r * z + 2.0 / 15;
        r = r * z + 2.0 / 13;
        r = r * z + 2.0 / 11;
        r = r * z + 2.0 / 9;
        r = r * z + 2.0 / 7;
        r = r * z + 2.0 / 5;
        r = r * z + 2.0 / 3;
        r = r * z;
        half = 0.5 * f;
        half_square = half * f;
        lost = fm_product_error(half, f, half_square);
        /* k ln2_high + f - half_square, each sum with its exact remainder: |k ln2_high| > |f|, or k = 0. */
        first = k * ln2_high;
        sum = first + f;
        rest = f - (sum - first);
        high[i] = sum - half_square;
        rest += (sum - high[i]) - half_square;
        low[i] = (s * (half_square + r) + k * ln2_low) + (rest - lost);
    }
}

/* out[i] = exp(e (high[i] + low[i])), with an error of about 0.6 ulp for |e| <= FM_LARGEST_POWER_EXPONENT. The result lies
 * between 2^-FM_LARGEST_BINARY_LOGARITHM and 2^FM_LARGEST_BINARY_LOGARITHM.
 *
 * t = e log(x) in two parts, n = t / ln 2 rounded, r = t - n ln 2, |r| < 0.35: exp(t) = 2^n exp(r).
 */
FM_WIDE static void fm_exp_products(
    const double* high, const double* low, ptrdiff_t n, double e, double* restrict out
) {
    const double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;
    const double shifter = 0x1.8p52; /* added, it rounds to an integer, which then stands in the low bits */
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        double t = e * high[i];
        double rest = fm_product_error(e, high[i], t) + e * low[i];
        double shifted = t * 0x1.71547652b82fep0 + shifter;
        double whole = shifted - shifter;
        double r = t - whole * ln2_high, q, result;
        uint64_t bits, scale;
        rest -= whole * ln2_low;
        q = r + rest;
        rest += r - q;
        result = 1.0 / 6227020800;
        result = result * q + 1.0 / 479001600;
        result = result * q + 1.0 / 39916800;
        result = result * q + 1.0 / 3628800;
        result = result * q + 1.0 / 362880;
        result = result * q + 1.0 / 40320;
        result = result * q + 1.0 / 5040;
        result = result * q + 1.0 / 720;
        result = result * q + 1.0 / 120;
        result = result * q + 1.0 / 24;
        result = result * q + 1.0 / 6;
        result = result * q + 0.5;
        result = 1.0 + (q + (result * (q * q) + rest));
        memcpy(&bits, &result, 8);
        memcpy(&scale, &shifted, 8);
        bits += scale << 52;
        memcpy(&out[i], &bits, 8);
    }
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

/* values[i]^e for positive normal numbers and |e| <= FM_LARGEST_POWER_EXPONENT. */
static inline void fm_powers(double* values, ptrdiff_t n, double e) {
    enum { BLOCK = 256 };
    double high[BLOCK], low[BLOCK];
    ptrdiff_t start;
    if (fm_is_short_power(e)) {
        fm_whole_powers(values, n, (int)e, values);
        return;
    }
    for (start = 0; start < n; start += BLOCK) {
        ptrdiff_t length = n - start < BLOCK ? n - start : BLOCK;
        fm_log_pairs(values + start, length, high, low);
        fm_exp_products(high, low, length, e, values + start);
    }
}

#endif
