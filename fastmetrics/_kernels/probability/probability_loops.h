/* Probabilities against labels, chunk by chunk: what pays for wide registers (vectormath.h tells about FM_WIDE).
 *
 * A chunk is at most 2048 rows. Probabilities are checked in the same pass that reads them.
 */
#ifndef FASTMETRICS_PROBABILITYMATH_H
#define FASTMETRICS_PROBABILITYMATH_H

#include "vectormath.h"

/* Labels of floats as FM_DECODE_LABELS reads those of integers, and for any of the types by the letter of the buffer protocol; 0, which no
 * column is, for a letter that is none of them. */
#define FM_DECODE_FLOAT_LABELS(NAME, TYPE)                                                                              \
    FM_WIDE static int NAME(const TYPE* labels, ptrdiff_t n, uint8_t* out) {                                            \
        int zeros = 0, ones = 0, minus_ones = 0;                                                                        \
        ptrdiff_t i;                                                                                                    \
        for (i = 0; i < n; i++) {                                                                                       \
            out[i] = labels[i] == 1;                                                                                    \
            zeros += labels[i] == 0;                                                                                    \
            ones += labels[i] == 1;                                                                                     \
            minus_ones += labels[i] == -1;                                                                              \
        }                                                                                                               \
        return (zeros > 0) | (ones > 0) << 1 | (minus_ones > 0) << 2 | (zeros + ones + minus_ones < n) << 3;            \
    }

FM_DECODE_FLOAT_LABELS(fm_decode_labels_f32, float)
FM_DECODE_FLOAT_LABELS(fm_decode_labels_f64, double)

static int fm_decode_labels(char letter, const void* labels, ptrdiff_t n, uint8_t* out) {
    switch (letter) {
        case '?':
        case 'B': return fm_decode_labels_u8((const uint8_t*)labels, n, out);
        case 'b': return fm_decode_labels_i8((const int8_t*)labels, n, out);
        case 'h': return fm_decode_labels_i16((const int16_t*)labels, n, out);
        case 'H': return fm_decode_labels_u16((const uint16_t*)labels, n, out);
        case 'i': return fm_decode_labels_i32((const int32_t*)labels, n, out);
        case 'I': return fm_decode_labels_u32((const uint32_t*)labels, n, out);
        case 'l': return sizeof(long) == 8 ? fm_decode_labels_i64((const int64_t*)labels, n, out)
                                           : fm_decode_labels_i32((const int32_t*)labels, n, out);
        case 'L': return sizeof(long) == 8 ? fm_decode_labels_u64((const uint64_t*)labels, n, out)
                                           : fm_decode_labels_u32((const uint32_t*)labels, n, out);
        case 'q': return fm_decode_labels_i64((const int64_t*)labels, n, out);
        case 'Q': return fm_decode_labels_u64((const uint64_t*)labels, n, out);
        case 'f': return fm_decode_labels_f32((const float*)labels, n, out);
        case 'd': return fm_decode_labels_f64((const double*)labels, n, out);
        default: return 0;
    }
}

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
#define FM_TAKE(NAME, TYPE)                                                                                            \
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

FM_TAKE(fm_take_f32, float)
FM_TAKE(fm_take_f64, double)

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
 * With sigma = 1.5 * 2^k, sigma + x is x rounded to a multiple of sigma's last place, and its bits, less those of sigma, are
 * that multiple: bits add up without rounding, in any order, so the compiler is free to use all lanes it has. Terms lie in
 * [0, 1]: the first multiples are at most 2^51, the second ones (of what the first left) too, and 2048 of them stay below
 * 2^63. The result is 0 when that is all, 1 when bits were left below 2^-103 (take the other way then), and -1 when a p is
 * outside [0, 1] or NaN. n is at most 2048.
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
