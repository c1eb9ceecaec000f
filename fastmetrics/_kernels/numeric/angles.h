/* sin x, cos x, tan x, atan x and asin x, as elementary.h describes.
 *
 * x = n pi/2 + r, r in a pair, |r| <= pi/4. With a the nearest multiple of 1/64 to |r| and d = |r| - a, |d| <= 1/128,
 * sin(a + d) = sin a cos d + cos a sin d, and cos likewise.
 */
#ifndef FASTMETRICS_NUMERIC_ANGLES_H
#define FASTMETRICS_NUMERIC_ANGLES_H

#include <float.h>
#include <math.h>

#include "numeric/double_pairs.h"
#include "numeric/elementary_tables.h"
#include "numeric/vector_math.h"

/* The same as fm_reduce_angle, for x >= 2^20 (M. H. Payne and R. N. Hanek, 1983).
 *
 * x = M 2^e with an integer M < 2^53. Bits of 2/pi of a weight of 4 / 2^e or more give whole turns. (The table begins with
 * 64 zeros, for e < 2.) The next 192 bits times M, modulo 2^192, are the quarter turns modulo 4 in steps of 2^-190.
 */
static inline fm_pair fm_reduce_large_angle(double x, int* quarter) {
    uint64_t bits = fm_bits(x), m = (bits & UINT64_C(0x000fffffffffffff)) | UINT64_C(0x0010000000000000);
    int e = (int)(bits >> 52 & 2047) - 1075, first = e - 2 + 64, shift = first & 31, word = first >> 5, i;
    uint32_t window[6], product[6];
    uint64_t carry = 0, m_low = m & UINT64_C(0xffffffff), m_high = m >> 32;
    int negative;
    fm_pair turn = {0.0, 0.0}, angle;
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
    *quarter = (int)(product[0] >> 30);
    negative = (int)(product[0] >> 29 & 1);
    *quarter += negative;
    for (i = 0; i < 6; i++) {
        uint32_t digits = negative ? ~product[i] : product[i]; /* one step of 2^-190 less: far below the error */
        double value = (double)(i ? digits : digits & UINT32_C(0x1fffffff)) * fm_double((uint64_t)(1023 - 30 - 32 * i) << 52);
        fm_pair sum = fm_two_sum(turn.high, value);
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

/* The rest of |x| by pi/2, in [-pi/4, pi/4], and the number of quarter turns modulo 4. x is finite. */
static inline fm_pair fm_reduce_angle(double x, int* quarter) {
    fm_pair rest, sum;
    double n, left;
    x = fabs(x);
    if (x >= 0x1p20) return fm_reduce_large_angle(x, quarter);
    n = (x * FM_QUARTERS_PER_RADIAN + 0x1.8p52) - 0x1.8p52;
    *quarter = (int)((int64_t)n & 3);
    left = x - n * FM_QUARTER_FIRST; /* exact */
    sum = fm_two_sum(left, -(n * FM_QUARTER_SECOND));
    rest = fm_two_sum(sum.high, sum.low - n * FM_QUARTER_THIRD);
    return rest;
}

/* sin and cos of a reduced angle. */
static inline void fm_sine_and_cosine(fm_pair angle, fm_pair* sine, fm_pair* cosine) {
    double sign = angle.high < 0.0 ? -1.0 : 1.0;
    double place = (sign * angle.high * 64.0 + 0x1.8p52) - 0x1.8p52;
    int64_t index = (int64_t)place;
    fm_pair d = fm_two_sum(sign * angle.high - place / 64.0, sign * angle.low), product, sum;
    double square = d.high * d.high, less_cosine, less_sine;
    less_cosine = -square * (0.5 - square * (1.0 / 24 - square * (1.0 / 720 - square * (1.0 / 40320))));
    less_sine = -d.high * square * (1.0 / 6 - square * (1.0 / 120 - square * (1.0 / 5040)));
    product = fm_two_product(fm_cosine_high[index], d.high);
    sum = fm_two_sum(fm_sine_high[index], product.high);
    sine->high = sum.high;
    sine->low = (sum.low + product.low) + (fm_sine_low[index] + fm_cosine_low[index] * d.high)
        + (fm_cosine_high[index] * (d.low + less_sine) + fm_sine_high[index] * less_cosine);
    product = fm_two_product(fm_sine_high[index], d.high);
    sum = fm_two_sum(fm_cosine_high[index], -product.high);
    cosine->high = sum.high;
    cosine->low = (sum.low - product.low) + (fm_cosine_low[index] - fm_sine_low[index] * d.high)
        + (fm_cosine_high[index] * less_cosine - fm_sine_high[index] * (d.low + less_sine));
    *sine = fm_fast_sum(sign * sine->high, sign * sine->low);
    *cosine = fm_fast_sum(cosine->high, cosine->low);
}

/* sin x and cos x in pairs, for a finite x that is not tiny. */
FM_ONE_COPY static void fm_sine_and_cosine_of(double x, fm_pair* sine, fm_pair* cosine) {
    int quarter;
    fm_pair angle = fm_reduce_angle(x, &quarter), first, second;
    fm_sine_and_cosine(angle, &first, &second);
    quarter &= 3;
    *sine = quarter & 1 ? second : first;
    *cosine = quarter & 1 ? first : second;
    if (quarter & 2) sine->high = -sine->high, sine->low = -sine->low;
    if (quarter == 1 || quarter == 2) cosine->high = -cosine->high, cosine->low = -cosine->low;
    if (x < 0.0) sine->high = -sine->high, sine->low = -sine->low;
}

#define FM_TINY_ANGLE 0x1p-27 /* x - x^3 / 6 is within 0.502 ulp of x */

FM_ONE_COPY static double fm_sin(double x) {
    fm_pair sine, cosine;
    if (!(fabs(x) <= DBL_MAX)) return x - x;
    if (fabs(x) < FM_TINY_ANGLE) return x;
    fm_sine_and_cosine_of(x, &sine, &cosine);
    return sine.high + sine.low;
}

FM_ONE_COPY static double fm_cos(double x) {
    fm_pair sine, cosine;
    if (!(fabs(x) <= DBL_MAX)) return x - x;
    if (fabs(x) < FM_TINY_ANGLE) return 1.0;
    fm_sine_and_cosine_of(x, &sine, &cosine);
    return cosine.high + cosine.low;
}

FM_ONE_COPY static double fm_tan(double x) {
    fm_pair sine, cosine, tangent;
    if (!(fabs(x) <= DBL_MAX)) return x - x;
    if (fabs(x) < FM_TINY_ANGLE) return x;
    fm_sine_and_cosine_of(x, &sine, &cosine);
    tangent = fm_pair_quotient(sine, cosine);
    return tangent.high + tangent.low;
}

/* Arctangents: atan z = atan c + atan((z - c) / (1 + z c)) with c the nearest multiple of 1/32. */

/* atan(a / b) for 0 <= a, 0 <= b, not both 0. */
FM_ONE_COPY static fm_pair fm_arctangent_of_quotient(fm_pair a, fm_pair b) {
    int inverted = a.high > b.high;
    fm_pair z = inverted ? fm_pair_quotient(b, a) : fm_pair_quotient(a, b), numerator, denominator, q, sum, result;
    double place = (z.high * 32.0 + 0x1.8p52) - 0x1.8p52, c = place / 32.0, square;
    int64_t index = (int64_t)place;
    fm_pair product = fm_two_product(z.high, c);
    numerator = fm_two_sum(z.high - c, z.low);
    denominator = fm_fast_sum(1.0, product.high);
    denominator.low += product.low + z.low * c;
    q = fm_pair_quotient(numerator, denominator);
    square = q.high * q.high;
    q.low -= q.high * square
        * (1.0 / 3 - square * (1.0 / 5 - square * (1.0 / 7 - square * (1.0 / 9 - square * (1.0 / 11)))));
    sum = fm_two_sum(fm_arctangent_high[index], q.high);
    sum.low += q.low + fm_arctangent_low[index];
    if (!inverted) return sum;
    result = fm_two_sum(FM_QUARTER_HIGH, -sum.high);
    result.low += FM_QUARTER_LOW - sum.low;
    return result;
}

FM_ONE_COPY static double fm_atan(double x) {
    fm_pair size = {fabs(x), 0.0}, one = {1.0, 0.0}, angle;
    double result;
    if (x != x || size.high < FM_TINY_ANGLE) return x;
    if (size.high > 0x1p60) result = FM_QUARTER_HIGH;
    else {
        angle = fm_arctangent_of_quotient(size, one);
        result = angle.high + angle.low;
    }
    return x < 0.0 ? -result : result;
}

/* asin x = atan(x / sqrt(1 - x^2)) */
FM_ONE_COPY static double fm_asin(double x) {
    fm_pair size = {fabs(x), 0.0}, square, other, root, angle;
    double result;
    if (!(size.high <= 1.0)) return NAN;
    if (size.high < FM_TINY_ANGLE) return x;
    if (size.high == 1.0) result = FM_QUARTER_HIGH;
    else {
        square = fm_two_product(size.high, size.high);
        other = fm_fast_sum(1.0, -square.high);
        other.low -= square.low;
        root.high = sqrt(other.high + other.low);
        square = fm_two_product(root.high, root.high);
        root.low = (((other.high - square.high) - square.low) + other.low) / (2.0 * root.high);
        angle = fm_arctangent_of_quotient(size, root);
        result = angle.high + angle.low;
    }
    return x < 0.0 ? -result : result;
}

#endif
