/* log x, log2 x and log(1 + x), as elementary.h describes.
 *
 * x = 2^k m, m in [0.705, 1.41). The interval of m among 256 gives c, close to 1/m, of 11 bits; both intervals beside 1
 * have c = 1. m is the sum of a number of 22 bits and a rest of 2^-22 or less, so m c - 1 = near + rest with a near of 25
 * bits: its square is exact. |m c - 1| < 2^-7.86. log x = k log 2 - log c + log(1 + near + rest). With c = 1, near is 0 or
 * twice as great as rest at least.
 */
#ifndef FASTMETRICS_NUMERIC_LOGARITHMS_H
#define FASTMETRICS_NUMERIC_LOGARITHMS_H

#include <float.h>
#include <math.h>

#include "numeric/double_pairs.h"
#include "numeric/elementary_tables.h"
#include "numeric/vector_math.h"

typedef struct {
    double k, near, rest;
    int64_t interval;
} fm_reduced;

static inline fm_reduced fm_reduce_logarithm(double x) {
    const uint64_t offset = UINT64_C(0x3fe6900000000000);
    fm_reduced reduced;
    uint64_t bits = fm_bits(x) - offset, mantissa = (bits & UINT64_C(0x000fffffffffffff)) + offset;
    double m = fm_double(mantissa), c;
    double m_high = fm_double((mantissa + UINT64_C(0x40000000)) & ~UINT64_C(0x7fffffff));
    reduced.interval = (int64_t)(bits >> 44 & 255);
    /* Arithmetic shift by 52 without one: add a bias, shift, and read the integer as the low bits of 2^52. */
    bits = ((bits + (UINT64_C(2048) << 52)) >> 52) & 4095;
    reduced.k = fm_double(bits | UINT64_C(0x4330000000000000)) - (4503599627370496.0 + 2048.0);
    c = fm_inverses[reduced.interval];
    reduced.near = m_high * c - 1.0;
    reduced.rest = (m - m_high) * c;
    return reduced;
}

/* (log(1 + r) - r + r^2 / 2) / r^3 for |r| < 2^-7.8, with an error below 2^-71 / r^2. */
static inline double fm_logarithm_tail(double r) {
    double tail = 1.0 / 9;
    tail = tail * r - 1.0 / 8;
    tail = tail * r + 1.0 / 7;
    tail = tail * r - 1.0 / 6;
    tail = tail * r + 1.0 / 5;
    tail = tail * r - 1.0 / 4;
    return tail * r + 1.0 / 3;
}

/* log(1 + near + rest) without near - near^2 / 2 + rest */
static inline double fm_logarithm_rest(double near, double rest) {
    double r = near + rest;
    return r * r * r * fm_logarithm_tail(r) - rest * (near + 0.5 * rest);
}

/* k log 2 - log c + log(1 + near + rest), with a relative error below 2^-69. */
static inline fm_pair fm_finish_logarithm(fm_reduced part) {
    /* All three are multiples of 2^-42, and no sum has more than 52 bits. */
    double first = (part.k * FM_LN2_HIGH + fm_log_high[part.interval]) + part.near;
    double low = part.k * FM_LN2_LOW + fm_log_low[part.interval];
    fm_pair sum = fm_fast_sum(first, -0.5 * part.near * part.near), all = fm_fast_sum(sum.high, part.rest);
    all.low = (sum.low + all.low) + (low + fm_logarithm_rest(part.near, part.rest));
    return all;
}

static inline fm_pair fm_log_pair(double x) { return fm_finish_logarithm(fm_reduce_logarithm(x)); }

#define FM_IS_POSITIVE_NORMAL(x) (((x) >= DBL_MIN) & ((x) <= DBL_MAX))
#define FM_IS_ABOVE_MINUS_ONE(x) (((x) > -1.0) & ((x) <= DBL_MAX))

static inline double fm_log_core(double x) {
    fm_pair logarithm = fm_log_pair(x);
    return logarithm.high + logarithm.low;
}

/* log(1 + x) = log(u) + t - t^2 / 2 with u = 1 + x, t = (rounding error of u) / u = (rounding error) - t (u - 1). */
static inline double fm_log1p_core(double x) {
    double u = 1.0 + x, rounded = u - 1.0, t, result;
    double lost = (1.0 - (u - rounded)) + (x - rounded); /* exact, whichever of 1 and x is greater */
    fm_pair logarithm = fm_log_pair(u), sum = fm_fast_sum(logarithm.high, lost);
    t = lost / u;
    result = sum.high + (sum.low + (logarithm.low - t * (rounded + 0.5 * t)));
    return x == 0.0 ? x : result;
}

static inline double fm_log2_core(double x) {
    fm_reduced part = fm_reduce_logarithm(x);
    double first = part.k + fm_log2_high[part.interval]; /* exact */
    fm_pair square = fm_fast_sum(part.near, -0.5 * part.near * part.near), natural = fm_two_sum(square.high, part.rest);
    fm_pair binary, sum;
    natural.low += square.low + fm_logarithm_rest(part.near, part.rest);
    binary = fm_two_product(natural.high, FM_LOG2_E_HIGH);
    binary.low += natural.high * FM_LOG2_E_LOW + natural.low * FM_LOG2_E;
    sum = fm_fast_sum(first, binary.high);
    return sum.high + (sum.low + (binary.low + fm_log2_low[part.interval]));
}

/* The logarithm of a number that is neither positive and normal nor subnormal. */
#define FM_SPECIAL_LOGARITHM(x)                                                                                        \
    if (x == 0.0) return -HUGE_VAL;                                                                                    \
    if (x < 0.0) return NAN;                                                                                           \
    if (!(x <= DBL_MAX)) return x;

FM_ONE_COPY static double fm_log(double x) {
    fm_reduced part;
    fm_pair logarithm;
    if (FM_IS_POSITIVE_NORMAL(x)) return fm_log_core(x);
    FM_SPECIAL_LOGARITHM(x)
    part = fm_reduce_logarithm(x * 0x1p54);
    part.k -= 54.0;
    logarithm = fm_finish_logarithm(part);
    return logarithm.high + logarithm.low;
}

FM_ONE_COPY static double fm_log2(double x) {
    if (FM_IS_POSITIVE_NORMAL(x)) return fm_log2_core(x);
    FM_SPECIAL_LOGARITHM(x)
    /* The sum is rounded twice. Logarithms of subnormal numbers lie between 2^10 and 2^11, and their distance to the
     * middle of two doubles is greater than the first rounding can move them, unless they are whole. */
    return fm_log2_core(x * 0x1p54) - 54.0;
}

FM_ONE_COPY static double fm_log1p(double x) {
    if (FM_IS_ABOVE_MINUS_ONE(x)) return fm_log1p_core(x);
    if (x == -1.0) return -HUGE_VAL;
    return x < -1.0 ? NAN : x;
}

#endif
