/* Vectorized loops over labels and probabilities, one chunk at a time (FM_WIDE: see vector_math.h).
 *
 * A chunk is at most 2048 rows. Probabilities are checked in the same pass that reads them.
 */
#ifndef FASTMETRICS_PROBABILITY_LOOPS_H
#define FASTMETRICS_PROBABILITY_LOOPS_H

#include "numeric/vector_math.h"

/* p / (p + (1 - p) / rate), in float64. Returns whether every p lies in [0, 1].
 *
 * The divisor is not below p after rounding, so the result never leaves [0, 1]; only p = 0 gives 0 / (0 + 1 / rate).
 */
#define FM_CORRECT(NAME, TYPE)                                                                                          \
    FM_WIDE static int NAME(const TYPE* probabilities, ptrdiff_t n, double rate, double* out) {                         \
        int64_t good = 0;                                                                                               \
        ptrdiff_t i;                                                                                                    \
        for (i = 0; i < n; i++) {                                                                                       \
            double p = (double)probabilities[i];                                                                        \
            good += (int64_t)(p >= 0.0) & (int64_t)(p <= 1.0);                                                          \
            out[i] = p / (p + (1.0 - p) / rate);                                                                        \
        }                                                                                                               \
        return good == n;                                                                                               \
    }

FM_CORRECT(fm_correct_f32, float)
FM_CORRECT(fm_correct_f64, double)

/* Probabilities as float64. Returns whether every one lies in [0, 1]. */
#define FM_LOAD(NAME, TYPE)                                                                                            \
    FM_WIDE static int NAME(const TYPE* probabilities, ptrdiff_t n, double* out) {                                     \
        int64_t good = 0;                                                                                              \
        ptrdiff_t i;                                                                                                   \
        for (i = 0; i < n; i++) {                                                                                      \
            double p = (double)probabilities[i];                                                                       \
            good += (int64_t)(p >= 0.0) & (int64_t)(p <= 1.0);                                                         \
            out[i] = p;                                                                                                \
        }                                                                                                              \
        return good == n;                                                                                              \
    }

FM_LOAD(fm_load_f32, float)
FM_LOAD(fm_load_f64, double)

/* Probabilities clipped to [lower, upper]. Returns how many were, or -1 when one is outside [0, 1] or NaN. */
#define FM_CLIP(NAME, TYPE)                                                                                            \
    FM_WIDE static int64_t NAME(const TYPE* values, ptrdiff_t n, double lower, double upper, double* out) {            \
        int64_t clipped = 0, good = 0;                                                                                 \
        ptrdiff_t i;                                                                                                   \
        for (i = 0; i < n; i++) {                                                                                      \
            double p = (double)values[i];                                                                              \
            double q = p < lower ? lower : p;                                                                          \
            q = q > upper ? upper : q;                                                                                 \
            good += (int64_t)(p >= 0.0) & (int64_t)(p <= 1.0);                                                         \
            clipped += (int64_t)(p != q);                                                                              \
            out[i] = q;                                                                                                \
        }                                                                                                              \
        return good == n ? clipped : -1;                                                                               \
    }

FM_CLIP(fm_clip_f32, float)
FM_CLIP(fm_clip_f64, double)

/* The sum of (p - y)^2 as whole numbers: totals[0] * 2^-51 + totals[1] * 2^-103.
 *
 * With sigma = 1.5 * 2^k, sigma + x is x rounded to a multiple of the last place of sigma. The bits of the sum minus the bits
 * of sigma are that multiple. Bits are added as integers, without rounding and in any order, so the compiler can use all
 * SIMD lanes. Terms are in [0, 1]: the first multiple is at most 2^51, and so is the second, which is the multiple of the
 * remainder. The sum of 2048 multiples is below 2^63. The result is 0 if the totals are exact, 1 if bits below 2^-103 are
 * left (the caller then uses the general loop), and -1 if a p is outside [0, 1] or NaN. n is at most 2048.
 */
#define FM_SQUARED_ERROR_SUMS(NAME, TYPE)                                                                              \
    FM_WIDE static int NAME(const uint8_t* labels, const TYPE* probabilities, ptrdiff_t n, int64_t* totals) {          \
        const double sigma_first = 3.0, sigma_second = 0x1.8p-51;                                                      \
        uint64_t first = 0, second = 0, left = 0, bits, sigma_bits;                                                    \
        int64_t good = 0;                                                                                              \
        ptrdiff_t i;                                                                                                   \
        for (i = 0; i < n; i++) {                                                                                      \
            double p = (double)probabilities[i];                                                                       \
            double difference = p - (double)labels[i];                                                                 \
            double x = difference * difference;                                                                        \
            double y = sigma_first + x;                                                                                \
            good += (int64_t)(p >= 0.0) & (int64_t)(p <= 1.0);                                                         \
            memcpy(&bits, &y, 8);                                                                                      \
            first += bits;                                                                                             \
            x -= y - sigma_first;                                                                                      \
            y = sigma_second + x;                                                                                      \
            memcpy(&bits, &y, 8);                                                                                      \
            second += bits;                                                                                            \
            x -= y - sigma_second;                                                                                     \
            memcpy(&bits, &x, 8);                                                                                      \
            left |= bits << 1;                                                                                         \
        }                                                                                                              \
        memcpy(&sigma_bits, &sigma_first, 8);                                                                          \
        totals[0] = (int64_t)(first - (uint64_t)n * sigma_bits);                                                       \
        memcpy(&sigma_bits, &sigma_second, 8);                                                                         \
        totals[1] = (int64_t)(second - (uint64_t)n * sigma_bits);                                                      \
        return good == n ? left != 0 : -1;                                                                             \
    }

FM_SQUARED_ERROR_SUMS(fm_squared_error_sums_f32, float)
FM_SQUARED_ERROR_SUMS(fm_squared_error_sums_f64, double)

#endif
