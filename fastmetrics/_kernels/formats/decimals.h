/* Decimal numbers, rounded correctly as Python's float() rounds them.
 *
 * A number of at most 19 digits w with at most 22 decimals is w / 10**k. It is divided in double-double arithmetic: w =
 * high + low, 10**k and the remainder of the quotient are exact. The sum is rounded if all numbers in an error interval
 * around it round to the same double (Ziv's strategy). Up to 44 decimals need two such divisions. If the rounding is
 * uncertain, the caller uses Python's float().
 */
#ifndef FASTMETRICS_FORMATS_DECIMALS_H
#define FASTMETRICS_FORMATS_DECIMALS_H

#include <math.h>
#include <stdint.h>

#define FM_LARGEST_POWER 22
#define FM_MAX_DIGITS 19

static const double fm_powers_of_ten[FM_LARGEST_POWER + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

/* value - quotient * divisor, without error, if quotient is value / divisor rounded. */
static inline double fm_exact_remainder(double value, double quotient, double divisor) {
    const double splitter = 134217729.0; /* 2**27 + 1: halves of 26 bits, whose products are exact */
    double product = quotient * divisor;
    double scaled = splitter * quotient;
    double left_high = scaled - (scaled - quotient);
    double left_low = quotient - left_high;
    double right_high, right_low, error;
    scaled = splitter * divisor;
    right_high = scaled - (scaled - divisor);
    right_low = divisor - right_high;
    error = ((left_high * right_high - product) + left_high * right_low + left_low * right_high) + left_low * right_low;
    return (value - product) - error;
}

/* digits / 10**power, rounded once; sets is_uncertain if the rounding is uncertain. power is at most 44. */
static inline double fm_divide_by_power_of_ten(uint64_t digits, int power, int* is_uncertain) {
    const double relative_margin = 2.8421709430404007e-14; /* 2**-45 */
    int first_power = power <= FM_LARGEST_POWER ? power : FM_LARGEST_POWER;
    double divisor = fm_powers_of_ten[first_power];
    double high = (double)digits;
    double low = (double)(int64_t)(digits - (uint64_t)high);
    double quotient = high / divisor;
    double correction, margin, below;
    if (low == 0.0 && high <= 9007199254740992.0 && power <= FM_LARGEST_POWER) return quotient;
    correction = (fm_exact_remainder(high, quotient, divisor) + low) / divisor;
    margin = fabs(correction) * relative_margin;
    if (power > FM_LARGEST_POWER) {
        high = quotient;
        divisor = fm_powers_of_ten[power - FM_LARGEST_POWER];
        quotient = high / divisor;
        margin /= divisor;
        correction = (fm_exact_remainder(high, quotient, divisor) + correction) / divisor;
        margin += fabs(correction) * relative_margin;
    }
    below = quotient + (correction - margin);
    if (below != quotient + (correction + margin)) *is_uncertain = 1;
    return below;
}

/* digits * 10**exponent, rounded once. Returns 0 if the caller has to use another method. */
static inline int fm_decimal_value(uint64_t digits, int64_t exponent, double* value) {
    int is_uncertain = 0;
    if (digits == 0) {
        *value = 0.0;
        return 1;
    }
    if (exponent > 0) {
        if (exponent > FM_LARGEST_POWER || digits > 9007199254740992u) return 0;
        *value = (double)digits * fm_powers_of_ten[exponent];
        return 1;
    }
    if (exponent < -2 * FM_LARGEST_POWER) return 0;
    *value = fm_divide_by_power_of_ten(digits, (int)-exponent, &is_uncertain);
    return !is_uncertain;
}

#endif
