/* exp x, 2^x and exp(x) - 1, as elementary.h describes.
 *
 * x = n (log 2) / 128 + r, |r| < 2^-8.5, n = 128 k + j: exp(x) = 2^k 2^(j / 128) exp(r). Adding 1.5 2^52 rounds to an
 * integer, which then stands in the low bits.
 */
#ifndef FASTMETRICS_NUMERIC_EXPONENTIALS_H
#define FASTMETRICS_NUMERIC_EXPONENTIALS_H

#include <float.h>
#include <math.h>

#include "numeric/double_double.h"
#include "numeric/elementary_tables.h"
#include "numeric/vector_math.h"

typedef struct {
    double power, power_low; /* 2^(j / 128) */
    double whole;            /* n */
    uint64_t scale;          /* k in the bits of an exponent */
} fm_binary_power;

/* An entry of fm_power_words: the 52 bits of a number in [1, 2), and above them 12 bits of what its rounding left, as a
 * multiple of 2^-64. */
FM_INLINE double fm_power_of_word(uint64_t word) {
    return fm_double((word & UINT64_C(0x000fffffffffffff)) | UINT64_C(0x3ff0000000000000));
}

FM_INLINE double fm_low_power_of_word(uint64_t word) {
    return fm_double(word >> 52 | UINT64_C(0x3f30000000000000)) - (0x1p-12 + 0x1p-53);
}

FM_INLINE fm_binary_power fm_take_power(double steps, double shifter) {
    fm_binary_power part;
    double shifted = steps + shifter;
    uint64_t bits = fm_bits(shifted), index = bits & 127, word = fm_power_words[index];
    part.whole = shifted - shifter;
    part.power = fm_power_of_word(word);
    part.power_low = fm_low_power_of_word(word);
    part.scale = (bits - index) << 45;
    return part;
}

/* exp(r) - 1 - r for |r| < 2^-8.4, relative error of about 2^-53. */
FM_INLINE double fm_exponential_tail(double r) {
    double tail = 1.0 / 720;
    tail = tail * r + 1.0 / 120;
    tail = tail * r + 1.0 / 24;
    tail = tail * r + 1.0 / 6;
    tail = tail * r + 0.5;
    return r * r * tail;
}

FM_INLINE double fm_exp_rest(double x, double low, double whole) {
    return (x - whole * FM_STEP_HIGH) - whole * FM_STEP_LOW + low;
}

/* exp(x + low), a normal number, for a low that is small beside x. */
FM_INLINE double fm_exp_pair_core(double x, double low) {
    fm_binary_power part = fm_take_power(x * FM_STEPS_PER_NAT, 0x1.8p52);
    double r = fm_exp_rest(x, low, part.whole);
    double result = part.power + (part.power_low + part.power * (r + fm_exponential_tail(r)));
    return fm_double(fm_bits(result) + part.scale);
}

FM_INLINE double fm_exp_core(double x) { return fm_exp_pair_core(x, 0.0); }

FM_INLINE double fm_exp2_core(double x) {
    fm_binary_power part = fm_take_power(x, 0x1.8p45); /* a last place of 1/128 */
    double r = (x - part.whole) * FM_LN2;
    double result = part.power + (part.power_low + part.power * (r + fm_exponential_tail(r)));
    return fm_double(fm_bits(result) + part.scale);
}

/* 2^k (high + low), rounded once, for high in [0.5, 2] and k from -1100 to 1024. */
FM_INLINE double fm_scale_power(double high, double low, int k) {
    fm_double_double value = fm_fast_sum(high, low), shifted;
    double unit, remainder;
    if (k > 1023) return value.high * 0x1p1023 * 2.0;
    if (k >= -1021 || (k == -1022 && value.high >= 1.0)) return value.high * fm_double((uint64_t)(k + 1023) << 52);
    if (k < -1076) return 0.0;
    /* The result is a multiple of 2^-1074: round value to a multiple of unit = 2^(-1074 - k). Added to 2^52 units, it
     * stays below 2^53 of them, where the last place is a unit. */
    unit = fm_double((uint64_t)(-1074 - k + 1023) << 52);
    shifted = fm_fast_sum(unit * 0x1p52, value.high);
    remainder = shifted.low + value.low;
    if (remainder > 0.5 * unit) shifted.high += unit;
    if (remainder < -0.5 * unit) shifted.high -= unit;
    return (shifted.high - unit * 0x1p52) * fm_double((uint64_t)(k + 1200 + 1023) << 52) * 0x1p-600 * 0x1p-600;
}

/* exp(x + low) for any finite x. */
FM_INLINE double fm_exp_pair(double x, double low) {
    fm_binary_power part;
    double r;
    if (x > 710.0) return HUGE_VAL;
    if (x < -746.0) return 0.0;
    part = fm_take_power(x * FM_STEPS_PER_NAT, 0x1.8p52);
    r = fm_exp_rest(x, low, part.whole);
    return fm_scale_power(
        part.power, part.power_low + part.power * (r + fm_exponential_tail(r)), (int)((int64_t)part.whole >> 7)
    );
}

#define FM_HAS_NORMAL_EXP(x) (((x) >= -708.0) & ((x) <= 709.0))
#define FM_HAS_NORMAL_EXP2(x) (((x) >= -1021.0) & ((x) <= 1023.0))

FM_ONE_COPY static double fm_exp(double x) {
    if (FM_HAS_NORMAL_EXP(x)) return fm_exp_core(x);
    if (x != x) return x;
    return fm_exp_pair(x, 0.0);
}

FM_ONE_COPY static double fm_exp2(double x) {
    fm_binary_power part;
    double r;
    if (FM_HAS_NORMAL_EXP2(x)) return fm_exp2_core(x);
    if (x != x) return x;
    if (x >= 1024.0) return HUGE_VAL;
    if (x < -1076.0) return 0.0;
    part = fm_take_power(x, 0x1.8p45);
    r = (x - part.whole) * FM_LN2;
    return fm_scale_power(
        part.power, part.power_low + part.power * (r + fm_exponential_tail(r)), (int)((int64_t)(part.whole * 128.0) >> 7)
    );
}

#define FM_HAS_NORMAL_EXPM1(x) (((x) >= -100.0) & ((x) <= 708.0))

/* exp(x) - 1: 2^k (power + power r + ...) - 1 with double-doubles as leading terms, and a power of all bits. */
FM_INLINE double fm_expm1_core(double x) {
    fm_binary_power part = fm_take_power(x * FM_STEPS_PER_NAT, 0x1.8p52);
    fm_double_double r = fm_two_sum(x - part.whole * FM_STEP_HIGH, -(part.whole * FM_STEP_LOW));
    fm_double_double linear = fm_two_product(part.power, r.high), less_one, sum;
    double scale = fm_double(part.scale + UINT64_C(0x3ff0000000000000)), rest, result;
    double power_low = fm_power_low[fm_bits(part.whole + 0x1.8p52) & 127];
    rest = (linear.low + power_low * (1.0 + r.high)) + part.power * (r.low + fm_exponential_tail(r.high));
    less_one = fm_two_sum(part.power * scale, -1.0);
    sum = fm_two_sum(less_one.high, linear.high * scale);
    result = sum.high + ((sum.low + less_one.low) + rest * scale);
    return x == 0.0 ? x : result;
}

FM_ONE_COPY static double fm_expm1(double x) {
    if (FM_HAS_NORMAL_EXPM1(x)) return fm_expm1_core(x);
    if (x < -100.0) return -1.0;
    return fm_exp(x);
}

#endif
