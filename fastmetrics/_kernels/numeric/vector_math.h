/* Loops that gain from wide SIMD registers. They are in C because a function attribute asks for these registers.
 *
 * On x86-64 Linux with gcc, functions marked FM_WIDE are compiled three times (SSE2, AVX2, AVX-512) and the dynamic
 * linker picks one at load time. All three run the same IEEE operations on the same operands, so the bits of a result
 * do not depend on the CPU. (There is no fused multiply-add: the build passes -ffp-contract=off.) Elsewhere there is
 * one version.
 */
#ifndef FASTMETRICS_NUMERIC_VECTOR_MATH_H
#define FASTMETRICS_NUMERIC_VECTOR_MATH_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__)                          \
    && !defined(__SANITIZE_ADDRESS__)
#define FM_WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define FM_WIDE
#endif

#if defined(__GNUC__)
#define FM_ONE_COPY __attribute__((noinline)) /* large code with several callers */
#else
#define FM_ONE_COPY
#endif

#define FM_LANES 16

/* The negative natural logarithm of a positive normal number, with an error below one unit in the last place.
 *
 * x = 2^k m with m in [sqrt(1/2), sqrt(2)), f = m - 1 exactly, s = f / (2 + f). Then
 * log(1 + f) = 2 atanh(s) = 2s + s R with R = sum over i >= 1 of 2 s^(2i) / (2i + 1); s^2 < 0.0295, so eleven terms are
 * enough. 2s = f - s f, and s f is split as f^2/2 - s f^2/2, which keeps the rounding errors away from f's own bits.
 */
static inline double fm_negative_log(double x) {
    const double ln2_high = 0x1.62e42feep-1;           /* 32 bits, so k * ln2_high is exact */
    const double ln2_low = 0x1.a39ef35793c76p-33;
    const uint64_t sqrt_half = UINT64_C(0x3fe6a09e667f3bcd);
    uint64_t bits, mantissa;
    double m, k, f, s, z, r, half_square;
    memcpy(&bits, &x, 8);
    /* The distance to sqrt(1/2) in bits: its exponent field, taken with a bias that keeps it positive, is k. */
    bits -= sqrt_half;
    mantissa = (bits & UINT64_C(0x000fffffffffffff)) + sqrt_half;
    memcpy(&m, &mantissa, 8);
    /* Arithmetic shift by 52 without one: add a bias, shift, and read the integer as the low bits of 2^52. */
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
    half_square = 0.5 * f * f;
    return ((half_square - (s * (half_square + r) + k * ln2_low)) - f) - k * ln2_high;
}

FM_WIDE static void fm_negative_logs(double* values, ptrdiff_t n) {
    ptrdiff_t i;
    for (i = 0; i < n; i++) values[i] = fm_negative_log(values[i]);
}

/* out[i]: the predicted probability of the observed outcome, p or 1 - p, clipped to [eps, upper]. Returns the number of
 * clipped rows, or -1 if any p is outside [0, 1] or NaN. n is at most 2^31 - 1. */
#define FM_OUTCOME_PROBABILITIES(NAME, TYPE)                                                                           \
    FM_WIDE static int64_t NAME(                                                                                       \
        const uint8_t* labels, const TYPE* probabilities, ptrdiff_t n, double eps, double upper, double* out) {        \
        int64_t clipped = 0, n_valid = 0;                                                                              \
        ptrdiff_t i;                                                                                                   \
        for (i = 0; i < n; i++) {                                                                                      \
            double p = (double)probabilities[i];                                                                       \
            double q = labels[i] ? p : 1.0 - p;                                                                        \
            double r = q < eps ? eps : q;                                                                              \
            r = r > upper ? upper : r;                                                                                 \
            n_valid += (int64_t)(p >= 0.0) & (int64_t)(p <= 1.0);                                                      \
            clipped += (int64_t)(q != r);                                                                              \
            out[i] = r;                                                                                                \
        }                                                                                                              \
        return n_valid == n ? clipped : -1;                                                                            \
    }

FM_OUTCOME_PROBABILITIES(fm_outcome_probabilities_f32, float)
FM_OUTCOME_PROBABILITIES(fm_outcome_probabilities_f64, double)

/* out[i] = (p - y)^2. Returns whether every p lies in [0, 1]. */
#define FM_SQUARED_ERRORS(NAME, TYPE)                                                                                  \
    FM_WIDE static int NAME(const uint8_t* labels, const TYPE* probabilities, ptrdiff_t n, double* out) {              \
        int64_t n_valid = 0;                                                                                           \
        ptrdiff_t i;                                                                                                   \
        for (i = 0; i < n; i++) {                                                                                      \
            double p = (double)probabilities[i];                                                                       \
            double difference = p - (double)labels[i];                                                                 \
            n_valid += (int64_t)(p >= 0.0) & (int64_t)(p <= 1.0);                                                      \
            out[i] = difference * difference;                                                                          \
        }                                                                                                              \
        return n_valid == n;                                                                                           \
    }

FM_SQUARED_ERRORS(fm_squared_errors_f32, float)
FM_SQUARED_ERRORS(fm_squared_errors_f64, double)

/* Add to counts[0] the positives, to counts[1] the rows with score >= threshold, to counts[2] the rows that are both.
 * COUNT is as wide as TYPE, so that a comparison and the label use one SIMD lane. Blocks of 2^20 rows keep 32-bit
 * counts from overflowing.
 */
#define FM_COUNT_PREDICTED(NAME, TYPE, COUNT)                                                                          \
    FM_WIDE static void NAME(                                                                                          \
        const uint8_t* labels, const TYPE* scores, ptrdiff_t n, TYPE threshold, int64_t* counts) {                     \
        ptrdiff_t start, stop, i;                                                                                      \
        for (start = 0; start < n; start = stop) {                                                                     \
            COUNT positive = 0, predicted = 0, both = 0;                                                               \
            stop = n - start < (1 << 20) ? n : start + (1 << 20);                                                      \
            for (i = start; i < stop; i++) {                                                                           \
                COUNT reaches = scores[i] >= threshold;                                                                \
                COUNT label = labels[i];                                                                               \
                positive += label;                                                                                     \
                predicted += reaches;                                                                                  \
                both += label & reaches;                                                                               \
            }                                                                                                          \
            counts[0] += positive;                                                                                     \
            counts[1] += predicted;                                                                                    \
            counts[2] += both;                                                                                         \
        }                                                                                                              \
    }

FM_COUNT_PREDICTED(fm_count_predicted_f32, float, int32_t)
FM_COUNT_PREDICTED(fm_count_predicted_f64, double, int64_t)

#define FM_IS_NAN(x) ((x) != (x))
#define FM_IS_NOT_FINITE(x) ((x) - (x) != 0) /* infinity minus infinity is NaN */

/* 1 if BAD(value) for a value, otherwise 0. */
#define FM_ANY(NAME, TYPE, FLAGS, BAD)                                                                                 \
    FM_WIDE static int NAME(const TYPE* values, ptrdiff_t n) {                                                         \
        FLAGS any = 0;                                                                                                 \
        ptrdiff_t i;                                                                                                   \
        for (i = 0; i < n; i++) {                                                                                      \
            any |= BAD(values[i]);                                                                                     \
        }                                                                                                              \
        return (int)any;                                                                                               \
    }

FM_ANY(fm_any_nan_f32, float, int32_t, FM_IS_NAN)
FM_ANY(fm_any_nan_f64, double, int64_t, FM_IS_NAN)
FM_ANY(fm_any_not_finite_f32, float, int32_t, FM_IS_NOT_FINITE)
FM_ANY(fm_any_not_finite_f64, double, int64_t, FM_IS_NOT_FINITE)

/* 1 if a value does not lie between low and high, or is NaN; otherwise 0. */
#define FM_ANY_OUTSIDE(NAME, TYPE)                                                                                     \
    FM_WIDE static int NAME(const TYPE* values, ptrdiff_t n, double low, double high) {                                \
        int64_t any = 0;                                                                                               \
        ptrdiff_t i;                                                                                                   \
        for (i = 0; i < n; i++) {                                                                                      \
            any |= !(values[i] >= low) | !(values[i] <= high);                                                         \
        }                                                                                                              \
        return (int)any;                                                                                               \
    }

FM_ANY_OUTSIDE(fm_any_outside_f32, float)
FM_ANY_OUTSIDE(fm_any_outside_f64, double)

/* Integer labels to 0 or 1. Returns the kinds of labels seen: 1 a zero, 2 a one, 4 a minus one, 8 anything else.
 *
 * Let u = label + 1 as an unsigned number: -1, 0 and 1 become 0, 1 and 2. Bits 0 and 1 of the union of all u are set by
 * zeros and ones. A higher bit, or both bits in one u, is another value. Only u = 0 borrows when 1 is subtracted.
 * UNSIGNED is as wide as TYPE. Unsigned labels have no -1: their greatest value must count as another value.
 */
#define FM_DECODE_LABELS(NAME, TYPE, UNSIGNED, MINUS_ONE)                                                              \
    FM_WIDE static int NAME(const TYPE* labels, ptrdiff_t n, uint8_t* out) {                                           \
        UNSIGNED all = 0, both = 0, borrow = 0;                                                                        \
        ptrdiff_t i;                                                                                                   \
        for (i = 0; i < n; i++) {                                                                                      \
            UNSIGNED u = (UNSIGNED)((UNSIGNED)labels[i] + 1u);                                                         \
            all |= u;                                                                                                  \
            both |= (UNSIGNED)(u & (u >> 1));                                                                          \
            borrow |= (UNSIGNED)(~u & (u - 1u));                                                                       \
            out[i] = (uint8_t)((u >> 1) & 1u);                                                                         \
        }                                                                                                              \
        borrow >>= 8 * sizeof(UNSIGNED) - 1;                                                                           \
        return (int)(all & 3u) | (borrow ? MINUS_ONE : 0) | ((all >> 2) || (both & 1u) ? 8 : 0);                       \
    }

FM_DECODE_LABELS(fm_decode_labels_i8, int8_t, uint8_t, 4)
FM_DECODE_LABELS(fm_decode_labels_u8, uint8_t, uint8_t, 8)
FM_DECODE_LABELS(fm_decode_labels_i16, int16_t, uint16_t, 4)
FM_DECODE_LABELS(fm_decode_labels_u16, uint16_t, uint16_t, 8)
FM_DECODE_LABELS(fm_decode_labels_i32, int32_t, uint32_t, 4)
FM_DECODE_LABELS(fm_decode_labels_u32, uint32_t, uint32_t, 8)
FM_DECODE_LABELS(fm_decode_labels_i64, int64_t, uint64_t, 4)
FM_DECODE_LABELS(fm_decode_labels_u64, uint64_t, uint64_t, 8)

/* A mixing bijection of 64 bits: xor with a shift by half the width and multiplication by an odd number, twice. */
#define FM_HASH_FACTOR UINT64_C(0xD6E8FEB86659FD93)

static inline uint64_t fm_hash_integer(uint64_t key) {
    key ^= key >> 32;
    key *= FM_HASH_FACTOR;
    key ^= key >> 32;
    key *= FM_HASH_FACTOR;
    key ^= key >> 32;
    return key;
}

FM_WIDE static void fm_hash_i32(const int32_t* keys, ptrdiff_t n, uint64_t* out) {
    ptrdiff_t i;
    for (i = 0; i < n; i++) out[i] = fm_hash_integer((uint64_t)(int64_t)keys[i]);
}

FM_WIDE static void fm_hash_u64(const uint64_t* keys, ptrdiff_t n, uint64_t* out) {
    ptrdiff_t i;
    for (i = 0; i < n; i++) out[i] = fm_hash_integer(keys[i]);
}

/* The greatest absolute value. NaN is skipped: it shows in the sums of fm_split_sums. n is a multiple of FM_LANES. */
FM_WIDE static double fm_max_abs(const double* values, ptrdiff_t n) {
    double lane_max[FM_LANES];
    double result = 0;
    ptrdiff_t i;
    int lane;
    for (lane = 0; lane < FM_LANES; lane++) lane_max[lane] = 0;
    for (i = 0; i < n; i += FM_LANES)
        for (lane = 0; lane < FM_LANES; lane++) {
            double magnitude = fabs(values[i + lane]);
            lane_max[lane] = magnitude > lane_max[lane] ? magnitude : lane_max[lane];
        }
    for (lane = 0; lane < FM_LANES; lane++) result = lane_max[lane] > result ? lane_max[lane] : result;
    return result;
}

/* Sums split at three binary places that are known before, in one pass: see fm_split_sums. The greatest absolute value
 * shows whether the places fit. The result is whether bits of a value are left, also of NaN and infinity. totals has
 * FM_LANES entries for each of the three levels. n is a multiple of FM_LANES.
 */
FM_WIDE static int fm_split_levels(
    const double* values, ptrdiff_t n, const double* sigmas, double* totals, double* greatest
) {
    double first[FM_LANES], second[FM_LANES], third[FM_LANES], most[FM_LANES];
    double sigma_first = sigmas[0], sigma_second = sigmas[1], sigma_third = sigmas[2];
    uint64_t left[FM_LANES];
    uint64_t any = 0;
    ptrdiff_t i;
    int lane;
    for (lane = 0; lane < FM_LANES; lane++) {
        first[lane] = 0;
        second[lane] = 0;
        third[lane] = 0;
        most[lane] = 0;
        left[lane] = 0;
    }
    for (i = 0; i < n; i += FM_LANES)
        for (lane = 0; lane < FM_LANES; lane++) {
            double x = values[i + lane];
            double size = fabs(x);
            double part = (sigma_first + x) - sigma_first;
            uint64_t bits;
            most[lane] = size > most[lane] ? size : most[lane];
            first[lane] += part;
            x -= part;
            part = (sigma_second + x) - sigma_second;
            second[lane] += part;
            x -= part;
            part = (sigma_third + x) - sigma_third;
            third[lane] += part;
            x -= part;
            memcpy(&bits, &x, 8);
            left[lane] |= bits << 1;
        }
    *greatest = 0;
    for (lane = 0; lane < FM_LANES; lane++) {
        totals[lane] = first[lane];
        totals[FM_LANES + lane] = second[lane];
        totals[2 * FM_LANES + lane] = third[lane];
        *greatest = most[lane] > *greatest ? most[lane] : *greatest;
        any |= left[lane];
    }
    return any != 0;
}

/* Whether a weight is not in [0, most]; NaN is not. The number of zeros is added to *zeros. */
FM_WIDE static int fm_check_weights(const double* weights, ptrdiff_t n, double most, int64_t* zeros) {
    int64_t good = 0, zero = 0;
    ptrdiff_t i;
    for (i = 0; i < n; i++) {
        good += (int64_t)(weights[i] >= 0.0) & (int64_t)(weights[i] <= most);
        zero += (int64_t)(weights[i] == 0.0);
    }
    *zeros += zero;
    return good != n;
}

/* Sums split at two binary places. With sigma = 1.5 * 2^k, (sigma + x) - sigma is x rounded to a multiple of sigma's
 * last place, and the remainder is exact. Sums of the multiples are exact if the caller leaves enough spare bits for
 * the number of values. The second remainders are written to `remainders`; the result is whether any of them is not
 * zero. totals has FM_LANES entries for each of the two levels. n is a multiple of FM_LANES.
 */
FM_WIDE static int fm_split_sums(
    const double* values, ptrdiff_t n, double sigma_first, double sigma_second, double* totals, double* remainders
) {
    double first[FM_LANES], second[FM_LANES];
    uint64_t remainder_bits[FM_LANES];
    uint64_t any_remainder = 0;
    ptrdiff_t i;
    int lane;
    for (lane = 0; lane < FM_LANES; lane++) {
        first[lane] = 0;
        second[lane] = 0;
        remainder_bits[lane] = 0;
    }
    for (i = 0; i < n; i += FM_LANES)
        for (lane = 0; lane < FM_LANES; lane++) {
            double x = values[i + lane];
            double multiple = (sigma_first + x) - sigma_first;
            uint64_t bits;
            first[lane] += multiple;
            x -= multiple;
            multiple = (sigma_second + x) - sigma_second;
            second[lane] += multiple;
            x -= multiple;
            remainders[i + lane] = x;
            memcpy(&bits, &x, 8);
            remainder_bits[lane] |= bits << 1;
        }
    for (lane = 0; lane < FM_LANES; lane++) {
        totals[lane] = first[lane];
        totals[FM_LANES + lane] = second[lane];
        any_remainder |= remainder_bits[lane];
    }
    return any_remainder != 0;
}

#endif
