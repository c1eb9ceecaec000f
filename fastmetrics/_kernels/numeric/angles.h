/* sin x, cos x, tan x, atan x and asin x, as elementary.h describes.
 *
 * x = n pi/2 + r, r a double-double, |r| <= pi/4. With a the nearest multiple of 1/64 to |r| and d = |r| - a,
 * |d| <= 1/128, sin(a + d) = sin a cos d + cos a sin d, and cos likewise. Tables have 64 entries, so that no argument
 * reads beyond them.
 */
#ifndef FASTMETRICS_NUMERIC_ANGLES_H
#define FASTMETRICS_NUMERIC_ANGLES_H

#include <float.h>
#include <math.h>

#include "numeric/double_double.h"
#include "numeric/elementary_tables.h"
#include "numeric/vector_math.h"

/* The same as fm_reduce_angle, for x >= 2^20 (M. H. Payne and R. N. Hanek, 1983).
 *
 * x = M 2^e with an integer M < 2^53. Bits of 2/pi of a weight of 4 / 2^e or more give whole turns. (The table begins with
 * 64 zeros, for e < 2.) The next 192 bits times M, modulo 2^192, are the quarter turns modulo 4 in steps of 2^-190.
 */
static inline fm_double_double fm_reduce_large_angle(double x, uint64_t* quarter) {
    uint64_t bits = fm_bits(x), m = (bits & UINT64_C(0x000fffffffffffff)) | UINT64_C(0x0010000000000000);
    int e = (int)(bits >> 52 & 2047) - 1075, first = e - 2 + 64, shift = first & 31, word = first >> 5, i;
    uint32_t window[6], product[6];
    uint64_t carry = 0, m_low = m & UINT64_C(0xffffffff), m_high = m >> 32;
    int negative;
    fm_double_double turn = {0.0, 0.0}, angle;
    for (i = 0; i < 6; i++) {
        uint64_t two = (uint64_t)fm_two_over_pi[word + i] << 32 | fm_two_over_pi[word + i + 1];
        window[i] = (uint32_t)(two << shift >> 32);
    }
    for (i = 5; i >= 0; i--) {
        uint64_t low = window[i] * m_low, high = i < 5 ? window[i + 1] * m_high : 0;
        carry += (low & UINT64_C(0xffffffff)) + (high & UINT64_C(0xffffffff));
        product[i] = (uint32_t)carry;
        carry = (carry >> 32) + (low >> 32) + (high >> 32);
    }
    negative = (int)(product[0] >> 29 & 1);
    *quarter = (product[0] >> 30) + (uint64_t)negative;
    for (i = 0; i < 6; i++) {
        uint32_t digits = negative ? ~product[i] : product[i]; /* one step of 2^-190 less: far below the error */
        double value = (double)(i ? digits : digits & UINT32_C(0x1fffffff)) * fm_double((uint64_t)(1023 - 30 - 32 * i) << 52);
        fm_double_double sum = fm_two_sum(turn.high, value);
        turn.high = sum.high;
        turn.low += sum.low;
    }
    turn = fm_fast_sum(turn.high, turn.low);
    angle = fm_two_product(turn.high, FM_QUARTER_HIGH);
    angle.low += turn.high * FM_QUARTER_LOW + turn.low * FM_QUARTER_HIGH;
    angle = fm_fast_sum(angle.high, angle.low);
    if (negative) angle.high = -angle.high, angle.low = -angle.low;
    return angle;
}

/* The rest of |x| by pi/2, in [-pi/4, pi/4], and the number of quarter turns modulo 4, for |x| < 2^20. */
FM_INLINE fm_double_double fm_reduce_angle(double x, uint64_t* quarter) {
    double shifted = fabs(x) * FM_QUARTERS_PER_RADIAN + 0x1.8p52, n = shifted - 0x1.8p52;
    double left = fabs(x) - n * FM_QUARTER_FIRST; /* exact */
    fm_double_double sum = fm_two_sum(left, -(n * FM_QUARTER_SECOND));
    *quarter = fm_bits(shifted) & 3;
    return fm_two_sum(sum.high, sum.low - n * FM_QUARTER_THIRD);
}

/* sin(angle + quarter pi/2) for |angle| <= pi/4: the first half of fm_circle_high has sines, the second cosines. */
FM_INLINE fm_double_double fm_sine_of_quarter(fm_double_double angle, uint64_t quarter) {
    uint64_t odd = quarter & 1, first, second;
    double sign = angle.high < 0.0 ? -1.0 : 1.0, turned = odd ? -1.0 : 1.0;
    double factor = (odd ? 1.0 : sign) * (quarter & 2 ? -1.0 : 1.0);
    double shifted = sign * angle.high * 64.0 + 0x1.8p52, place = shifted - 0x1.8p52;
    fm_double_double d = fm_two_sum(sign * angle.high - place / 64.0, sign * angle.low), product, sum;
    double square = d.high * d.high, less_cosine, less_sine, of_cosine, of_sine, low;
    less_cosine = -square * (0.5 - square * (1.0 / 24 - square * (1.0 / 720 - square * (1.0 / 40320))));
    less_sine = -d.high * square * (1.0 / 6 - square * (1.0 / 120 - square * (1.0 / 5040)));
    first = (fm_bits(shifted) & 63) + (odd << 6);
    second = first ^ 64;
    of_cosine = fm_circle_high[first];
    of_sine = turned * fm_circle_high[second];
    product = fm_two_product(of_sine, d.high);
    sum = fm_two_sum(of_cosine, product.high);
    low = (sum.low + product.low) + (fm_circle_low[first] + turned * fm_circle_low[second] * d.high)
        + (of_sine * (d.low + less_sine) + of_cosine * less_cosine);
    return fm_fast_sum(factor * sum.high, factor * low);
}

#define FM_TINY_ANGLE 0x1p-27 /* x - x^3 / 6 is within 0.502 ulp of x */
#define FM_IS_SMALL_ANGLE(x) (fabs(x) < 0x1p20)

FM_INLINE double fm_sin_core(double x) {
    uint64_t quarter;
    fm_double_double angle = fm_reduce_angle(x, &quarter);
    double sine = fm_sine_of_quarter(angle, quarter).high;
    sine = x < 0.0 ? -sine : sine;
    return fabs(x) < FM_TINY_ANGLE ? x : sine;
}

FM_INLINE double fm_cos_core(double x) {
    uint64_t quarter;
    fm_double_double angle = fm_reduce_angle(x, &quarter);
    return fm_sine_of_quarter(angle, quarter + 1).high;
}

FM_ONE_COPY static double fm_sin(double x) {
    uint64_t quarter;
    fm_double_double angle;
    double sine;
    if (FM_IS_SMALL_ANGLE(x)) return fm_sin_core(x);
    if (!(fabs(x) <= DBL_MAX)) return x - x;
    angle = fm_reduce_large_angle(fabs(x), &quarter);
    sine = fm_sine_of_quarter(angle, quarter).high;
    return x < 0.0 ? -sine : sine;
}

FM_ONE_COPY static double fm_cos(double x) {
    uint64_t quarter;
    fm_double_double angle;
    if (FM_IS_SMALL_ANGLE(x)) return fm_cos_core(x);
    if (!(fabs(x) <= DBL_MAX)) return x - x;
    angle = fm_reduce_large_angle(fabs(x), &quarter);
    return fm_sine_of_quarter(angle, quarter + 1).high;
}

FM_ONE_COPY static double fm_tan(double x) {
    uint64_t quarter;
    fm_double_double angle, tangent;
    if (!(fabs(x) <= DBL_MAX)) return x - x;
    if (fabs(x) < FM_TINY_ANGLE) return x;
    angle = FM_IS_SMALL_ANGLE(x) ? fm_reduce_angle(x, &quarter) : fm_reduce_large_angle(fabs(x), &quarter);
    tangent = fm_double_double_quotient(fm_sine_of_quarter(angle, quarter), fm_sine_of_quarter(angle, quarter + 1));
    return x < 0.0 ? -(tangent.high + tangent.low) : tangent.high + tangent.low;
}

/* Arctangents: atan z = atan c + atan((z - c) / (1 + z c)) with c the nearest multiple of 1/32. */

/* atan(a / b) for 0 <= a, 0 <= b, not both 0. */
FM_INLINE double fm_arctangent_of_quotient(fm_double_double a, fm_double_double b) {
    int inverted = a.high > b.high;
    fm_double_double less = {inverted ? b.high : a.high, inverted ? b.low : a.low};
    fm_double_double more = {inverted ? a.high : b.high, inverted ? a.low : b.low};
    fm_double_double z = fm_double_double_quotient(less, more), numerator, denominator, q, sum, rest;
    double shifted = z.high * 32.0 + 0x1.8p52, c = (shifted - 0x1.8p52) / 32.0, square;
    uint64_t index = fm_bits(shifted) & 63;
    fm_double_double product = fm_two_product(z.high, c);
    numerator = fm_two_sum(z.high - c, z.low);
    denominator = fm_fast_sum(1.0, product.high);
    denominator.low += product.low + z.low * c;
    q = fm_double_double_quotient(numerator, denominator);
    square = q.high * q.high;
    q.low -= q.high * square
        * (1.0 / 3 - square * (1.0 / 5 - square * (1.0 / 7 - square * (1.0 / 9 - square * (1.0 / 11)))));
    sum = fm_two_sum(fm_arctangent_high[index], q.high);
    sum.low += q.low + fm_arctangent_low[index];
    rest = fm_two_sum(FM_QUARTER_HIGH, -sum.high);
    rest.low += FM_QUARTER_LOW - sum.low;
    return inverted ? rest.high + rest.low : sum.high + sum.low;
}

#define FM_IS_SMALL_TANGENT(x) (fabs(x) <= 0x1p60)
#define FM_IS_SINE(x) (fabs(x) <= 1.0)

FM_INLINE double fm_atan_core(double x) {
    fm_double_double size = {fabs(x), 0.0}, one = {1.0, 0.0};
    double result = fm_arctangent_of_quotient(size, one);
    result = x < 0.0 ? -result : result;
    return fabs(x) < FM_TINY_ANGLE ? x : result;
}

FM_ONE_COPY static double fm_atan(double x) {
    if (FM_IS_SMALL_TANGENT(x)) return fm_atan_core(x);
    if (x != x) return x;
    return x < 0.0 ? -FM_QUARTER_HIGH : FM_QUARTER_HIGH;
}

/* asin x = atan(x / sqrt(1 - x^2)) */
FM_INLINE double fm_asin_core(double x) {
    fm_double_double size = {fabs(x), 0.0}, square = fm_two_product(size.high, size.high), other, root;
    double result;
    other = fm_fast_sum(1.0, -square.high);
    other.low -= square.low;
    root.high = sqrt(other.high + other.low);
    square = fm_two_product(root.high, root.high);
    root.low = (((other.high - square.high) - square.low) + other.low) / (2.0 * root.high);
    result = fm_arctangent_of_quotient(size, root);
    result = size.high == 1.0 ? FM_QUARTER_HIGH : result;
    result = x < 0.0 ? -result : result;
    return size.high < FM_TINY_ANGLE ? x : result;
}

FM_ONE_COPY static double fm_asin(double x) { return FM_IS_SINE(x) ? fm_asin_core(x) : NAN; }

#endif
