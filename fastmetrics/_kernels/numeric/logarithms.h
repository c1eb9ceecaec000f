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

#include "numeric/double_double.h"
#include "numeric/elementary_tables.h"
#include "numeric/vector_math.h"

typedef struct {
    double k, near, rest, low; /* low: of -log c */
    int64_t interval;
} fm_reduced;

/* An entry of fm_log_words or fm_log2_words: c has 11 bits, so 42 bits of it are free for log c, as a multiple of 2^-84,
 * without the multiple of 2^-42 that another table has. One look-up costs as much as ten additions. */
FM_INLINE double fm_inverse_of(uint64_t word) { return fm_double(word & ~UINT64_C(0x3ffffffffff)); }

FM_INLINE double fm_low_of(uint64_t word) {
    return fm_double((word & UINT64_C(0x3ffffffffff)) | UINT64_C(0x3df0000000000000)) - (0x1p-32 + 0x1p-43);
}

FM_INLINE fm_reduced fm_reduce_logarithm(double x, const uint64_t* words) {
    const uint64_t offset = UINT64_C(0x3fe6900000000000);
    fm_reduced reduced;
    uint64_t bits = fm_bits(x) - offset, mantissa = (bits & UINT64_C(0x000fffffffffffff)) + offset, word;
    double m = fm_double(mantissa), c;
    double m_high = fm_double((mantissa + UINT64_C(0x40000000)) & ~UINT64_C(0x7fffffff));
    reduced.interval = (int64_t)(bits >> 44 & 255);
    /* Arithmetic shift by 52 without one: add a bias, shift, and read the integer as the low bits of 2^52. */
    bits = ((bits + (UINT64_C(2048) << 52)) >> 52) & 4095;
    reduced.k = fm_double(bits | UINT64_C(0x4330000000000000)) - (4503599627370496.0 + 2048.0);
    word = words[reduced.interval];
    c = fm_inverse_of(word);
    reduced.low = fm_low_of(word);
    reduced.near = m_high * c - 1.0;
    reduced.rest = (m - m_high) * c;
    return reduced;
}

/* (log(1 + r) - r + r^2 / 2) / r^3 for r^2 < FM_LARGEST_SQUARE, with an error below 2^-55: r^6 / 9 of the series is
 * replaced by the nearest polynomial of degree 4 (Chebyshev). */
#define FM_LARGEST_SQUARE 1.85e-5

FM_INLINE double fm_logarithm_tail(double r) {
    double tail = (1.0 / 7 + 3.0 / 2 * FM_LARGEST_SQUARE / 9) - r * (1.0 / 8);
    tail = tail * r - 1.0 / 6;
    tail = tail * r + (1.0 / 5 - 9.0 / 16 * FM_LARGEST_SQUARE * FM_LARGEST_SQUARE / 9);
    tail = tail * r - 1.0 / 4;
    return tail * r + 1.0 / 3;
}

/* log(1 + near + rest) without near - near^2 / 2 + rest */
FM_INLINE double fm_logarithm_rest(double near, double rest) {
    double r = near + rest;
    return r * r * r * fm_logarithm_tail(r) - rest * (near + 0.5 * rest);
}

/* k log 2 - log c + log(1 + near + rest), with a relative error below 2^-69. */
FM_INLINE fm_double_double fm_finish_logarithm(fm_reduced part) {
    /* All three are multiples of 2^-42, and no sum has more than 52 bits. */
    double first = (part.k * FM_LN2_HIGH + fm_log_high[part.interval]) + part.near;
    double low = part.k * FM_LN2_LOW + part.low;
    fm_double_double sum = fm_fast_sum(first, -0.5 * part.near * part.near), all = fm_fast_sum(sum.high, part.rest);
    all.low = (sum.low + all.low) + (low + fm_logarithm_rest(part.near, part.rest));
    return all;
}

/* log(1 + r) - r. It is below r^2, so rounding errors are below 2^-60 of a logarithm, and so is that of leaving r^8 out: in
 * the series, r^5 / 8 of the tail is replaced by the nearest cubic polynomial. */
FM_INLINE double fm_logarithm_bend(double r) {
    double tail = 1.0 / 7 * r - (1.0 / 6 + 5.0 / 4 * FM_LARGEST_SQUARE / 8);
    tail = tail * r + 1.0 / 5;
    tail = tail * r - (1.0 / 4 - 5.0 / 16 * FM_LARGEST_SQUARE * FM_LARGEST_SQUARE / 8);
    tail = tail * r + 1.0 / 3;
    return r * r * (r * tail - 0.5);
}

/* The same with a relative error below 2^-60. */
FM_INLINE fm_double_double fm_round_logarithm(fm_reduced part) {
    double first = (part.k * FM_LN2_HIGH + fm_log_high[part.interval]) + part.near;
    double low = part.k * FM_LN2_LOW + part.low;
    fm_double_double sum = fm_fast_sum(first, part.rest);
    sum.low += low + fm_logarithm_bend(part.near + part.rest);
    return sum;
}

#define FM_IS_POSITIVE_NORMAL(x) (((x) >= DBL_MIN) & ((x) <= DBL_MAX))
#define FM_IS_ABOVE_MINUS_ONE(x) (((x) > -1.0) & ((x) <= DBL_MAX))

FM_INLINE double fm_log_core(double x) {
    fm_double_double logarithm = fm_round_logarithm(fm_reduce_logarithm(x, fm_log_words));
    return logarithm.high + logarithm.low;
}

/* log(1 + x) = log(u) + t - t^2 / 2 with u = 1 + x, t = (rounding error of u) / u = (rounding error) - t (u - 1). */
FM_INLINE double fm_log1p_rounded(double x) {
    double u = 1.0 + x, rounded = u - 1.0;
    double lost = (1.0 - (u - rounded)) + (x - rounded); /* exact, whichever of 1 and x is greater */
    double t = lost / u;
    fm_double_double logarithm = fm_round_logarithm(fm_reduce_logarithm(u, fm_log_words));
    fm_double_double sum = fm_fast_sum(logarithm.high, lost);
    return sum.high + (sum.low + (logarithm.low - t * (rounded + 0.5 * t)));
}

/* The sign of a zero is kept. */
FM_INLINE double fm_log1p_core(double x) {
    double result = fm_log1p_rounded(x);
    return x == 0.0 ? x : result;
}

/* near, rest and the leading 22 bits of 1 / log 2 have exact products. */
FM_INLINE double fm_round_binary_logarithm(fm_reduced part) {
    double r = part.near + part.rest;
    double first = part.k + fm_log2_high[part.interval]; /* exact */
    fm_double_double sum = fm_fast_sum(first, part.near * FM_LOG2_E_HIGH);
    fm_double_double all = fm_fast_sum(sum.high, part.rest * FM_LOG2_E_HIGH);
    return all.high + ((all.low + sum.low) + (part.low + (r * FM_LOG2_E_LOW + fm_logarithm_bend(r) * FM_LOG2_E)));
}

FM_INLINE double fm_log2_core(double x) { return fm_round_binary_logarithm(fm_reduce_logarithm(x, fm_log2_words)); }

/* log2 of a positive whole number, with an error below 2^-70: rounded correctly for all below 2^20, which a test tries. */
FM_ONE_COPY static double fm_log2_of_rank(double rank) {
    fm_reduced part = fm_reduce_logarithm(rank, fm_log2_words);
    fm_double_double square = fm_fast_sum(part.near, -0.5 * part.near * part.near);
    fm_double_double natural = fm_two_sum(square.high, part.rest);
    fm_double_double binary = fm_two_product(natural.high, FM_LOG2_E_HIGH);
    fm_double_double sum = fm_fast_sum(part.k + fm_log2_high[part.interval], binary.high);
    natural.low += square.low + fm_logarithm_rest(part.near, part.rest);
    binary.low += natural.high * FM_LOG2_E_LOW + natural.low * FM_LOG2_E;
    return sum.high + (sum.low + (binary.low + part.low));
}

/* The logarithm of a number that is neither positive and normal nor subnormal. */
#define FM_SPECIAL_LOGARITHM(x)                                                                                        \
    if (x == 0.0) return -HUGE_VAL;                                                                                    \
    if (x < 0.0) return NAN;                                                                                           \
    if (!(x <= DBL_MAX)) return x;

FM_ONE_COPY static double fm_log(double x) {
    fm_reduced part;
    fm_double_double logarithm;
    if (FM_IS_POSITIVE_NORMAL(x)) return fm_log_core(x);
    FM_SPECIAL_LOGARITHM(x)
    part = fm_reduce_logarithm(x * 0x1p54, fm_log_words);
    part.k -= 54.0;
    logarithm = fm_round_logarithm(part);
    return logarithm.high + logarithm.low;
}

FM_ONE_COPY static double fm_log2(double x) {
    fm_reduced part;
    if (FM_IS_POSITIVE_NORMAL(x)) return fm_log2_core(x);
    FM_SPECIAL_LOGARITHM(x)
    part = fm_reduce_logarithm(x * 0x1p54, fm_log2_words);
    part.k -= 54.0;
    return fm_round_binary_logarithm(part);
}

FM_ONE_COPY static double fm_log1p(double x) {
    if (FM_IS_ABOVE_MINUS_ONE(x)) return fm_log1p_core(x);
    if (x == -1.0) return -HUGE_VAL;
    return x < -1.0 ? NAN : x;
}

#endif
