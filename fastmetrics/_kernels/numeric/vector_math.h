/* Loops that pay for wide registers, in C because an attribute on the function asks for them.
 *
 * On x86-64 Linux with gcc the functions marked FM_WIDE are compiled three times (SSE2, AVX2, AVX-512) and the dynamic linker
 * picks one at load time. All three run the same IEEE operations on the same operands (no fused multiply-add: the build
 * says -ffp-contract=off), so the bits of a result do not depend on the CPU. Elsewhere there is one version.
 */
#ifndef FASTMETRICS_VECTORMATH_H
#define FASTMETRICS_VECTORMATH_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__) \
    && !defined(__SANITIZE_ADDRESS__)
#define FM_WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define FM_WIDE
#endif

#define FM_LANES 16

/* -log(x), natural, for x in (0, 1] or any positive normal number; below one unit in the last place.
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

/* The probability given to what happened, q = p or 1 - p, clipped to [eps, upper]. Returns how many rows were clipped, or -1 when
 * a p is outside [0, 1] or NaN. n is at most 2^31 - 1. */
#define FM_OUTCOME_PROBABILITIES(NAME, TYPE)                                                                             \
    FM_WIDE static int64_t NAME(                                                                                         \
        const uint8_t* labels, const TYPE* probabilities, ptrdiff_t n, double eps, double upper, double* out) {          \
        int64_t clipped = 0, good = 0;                                                                                   \
        ptrdiff_t i;                                                                                                     \
        for (i = 0; i < n; i++) {                                                                                        \
            double p = (double)probabilities[i];                                                                         \
            double q = labels[i] ? p : 1.0 - p;                                                                          \
            double r = q < eps ? eps : q;                                                                                \
            r = r > upper ? upper : r;                                                                                   \
            good += (int64_t)(p >= 0.0) & (int64_t)(p <= 1.0);                                                           \
            clipped += (int64_t)(q != r);                                                                                \
            out[i] = r;                                                                                                  \
        }                                                                                                                \
        return good == n ? clipped : -1;                                                                                 \
    }

FM_OUTCOME_PROBABILITIES(fm_outcome_probabilities_f32, float)
FM_OUTCOME_PROBABILITIES(fm_outcome_probabilities_f64, double)

/* (p - y)^2 of every row. Returns whether every p lies in [0, 1]. */
#define FM_SQUARED_ERRORS(NAME, TYPE)                                                                                    \
    FM_WIDE static int NAME(const uint8_t* labels, const TYPE* probabilities, ptrdiff_t n, double* out) {                \
        int64_t good = 0;                                                                                                \
        ptrdiff_t i;                                                                                                     \
        for (i = 0; i < n; i++) {                                                                                        \
            double p = (double)probabilities[i];                                                                         \
            double difference = p - (double)labels[i];                                                                   \
            good += (int64_t)(p >= 0.0) & (int64_t)(p <= 1.0);                                                           \
            out[i] = difference * difference;                                                                            \
        }                                                                                                                \
        return good == n;                                                                                                \
    }

FM_SQUARED_ERRORS(fm_squared_errors_f32, float)
FM_SQUARED_ERRORS(fm_squared_errors_f64, double)

/* Rows, positives among them and both at once of the rows whose score reaches the threshold: counts[0] gains the positives,
 * counts[1] the rows predicted positive, counts[2] those that are both. COUNT is as wide as TYPE, so that a comparison and the
 * label stay in one lane; runs of 2^20 rows keep 32 bits from overflowing.
 */
#define FM_COUNT_REACHING(NAME, TYPE, COUNT)                                                                             \
    FM_WIDE static void NAME(                                                                                            \
        const uint8_t* labels, const TYPE* scores, ptrdiff_t n, TYPE threshold, int64_t* counts) {                       \
        ptrdiff_t start, stop, i;                                                                                        \
        for (start = 0; start < n; start = stop) {                                                                       \
            COUNT positive = 0, predicted = 0, both = 0;                                                                 \
            stop = n - start < (1 << 20) ? n : start + (1 << 20);                                                        \
            for (i = start; i < stop; i++) {                                                                             \
                COUNT reaches = scores[i] >= threshold;                                                                  \
                COUNT label = labels[i];                                                                                 \
                positive += label;                                                                                       \
                predicted += reaches;                                                                                    \
                both += label & reaches;                                                                                 \
            }                                                                                                            \
            counts[0] += positive;                                                                                       \
            counts[1] += predicted;                                                                                      \
            counts[2] += both;                                                                                           \
        }                                                                                                                \
    }

FM_COUNT_REACHING(fm_count_reaching_f32, float, int32_t)
FM_COUNT_REACHING(fm_count_reaching_f64, double, int64_t)

/* Integer labels to 0 or 1, and which values were seen: 1 a zero, 2 a one, 4 a minus one, 8 anything else.
 *
 * With u = label + 1 as an unsigned number, -1, 0 and 1 are 0, 1 and 2: bits 0 and 1 of the union of all u tell zeros and
 * ones, any higher bit or both bits in one u is another value, and only 0 borrows when 1 is taken from it. UNSIGNED is as
 * wide as TYPE; for unsigned labels -1 does not exist, and their greatest value must count as another.
 */
#define FM_DECODE_LABELS(NAME, TYPE, UNSIGNED, MINUS_ONE)                                                               \
    FM_WIDE static int NAME(const TYPE* labels, ptrdiff_t n, uint8_t* out) {                                            \
        UNSIGNED all = 0, both = 0, borrow = 0;                                                                         \
        ptrdiff_t i;                                                                                                    \
        for (i = 0; i < n; i++) {                                                                                       \
            UNSIGNED u = (UNSIGNED)((UNSIGNED)labels[i] + 1u);                                                          \
            all |= u;                                                                                                   \
            both |= (UNSIGNED)(u & (u >> 1));                                                                           \
            borrow |= (UNSIGNED)(~u & (u - 1u));                                                                        \
            out[i] = (uint8_t)((u >> 1) & 1u);                                                                          \
        }                                                                                                               \
        borrow >>= 8 * sizeof(UNSIGNED) - 1;                                                                            \
        return (int)(all & 3u) | (borrow ? MINUS_ONE : 0) | ((all >> 2) || (both & 1u) ? 8 : 0);                        \
    }

FM_DECODE_LABELS(fm_decode_labels_i8, int8_t, uint8_t, 4)
FM_DECODE_LABELS(fm_decode_labels_u8, uint8_t, uint8_t, 8)
FM_DECODE_LABELS(fm_decode_labels_i16, int16_t, uint16_t, 4)
FM_DECODE_LABELS(fm_decode_labels_u16, uint16_t, uint16_t, 8)
FM_DECODE_LABELS(fm_decode_labels_i32, int32_t, uint32_t, 4)
FM_DECODE_LABELS(fm_decode_labels_u32, uint32_t, uint32_t, 8)
FM_DECODE_LABELS(fm_decode_labels_i64, int64_t, uint64_t, 4)
FM_DECODE_LABELS(fm_decode_labels_u64, uint64_t, uint64_t, 8)

/* A bijection of 64 bits that mixes: xor with a shift by half the width, multiplication by an odd number, twice. */
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

/* The greatest absolute value; NaN is passed over (the sums below then are NaN and show it). n is a multiple of FM_LANES. */
FM_WIDE static double fm_greatest_magnitude(const double* values, ptrdiff_t n) {
    double greatest[FM_LANES];
    double result = 0;
    ptrdiff_t i;
    int lane;
    for (lane = 0; lane < FM_LANES; lane++) greatest[lane] = 0;
    for (i = 0; i < n; i += FM_LANES)
        for (lane = 0; lane < FM_LANES; lane++) {
            double magnitude = fabs(values[i + lane]);
            greatest[lane] = magnitude > greatest[lane] ? magnitude : greatest[lane];
        }
    for (lane = 0; lane < FM_LANES; lane++) result = greatest[lane] > result ? greatest[lane] : result;
    return result;
}

/* Sums split at two binary places: with sigma = 1.5 * 2^k, (sigma + x) - sigma is x rounded to a multiple of sigma's last
 * place, exactly, and so is the rest. Sums of the first parts and of the second parts stay exact as long as the count is
 * small against the bits left above (the caller's affair). What remains of each value goes to `rest`; the result says
 * whether any of it is not zero. totals has FM_LANES entries for each of the two levels. n is a multiple of FM_LANES.
 */
FM_WIDE static int fm_split_sums(
    const double* values, ptrdiff_t n, double sigma_first, double sigma_second, double* totals, double* rest
) {
    double first[FM_LANES], second[FM_LANES];
    uint64_t left[FM_LANES];
    uint64_t any = 0;
    ptrdiff_t i;
    int lane;
    for (lane = 0; lane < FM_LANES; lane++) {
        first[lane] = 0;
        second[lane] = 0;
        left[lane] = 0;
    }
    for (i = 0; i < n; i += FM_LANES)
        for (lane = 0; lane < FM_LANES; lane++) {
            double x = values[i + lane];
            double part = (sigma_first + x) - sigma_first;
            uint64_t bits;
            first[lane] += part;
            x -= part;
            part = (sigma_second + x) - sigma_second;
            second[lane] += part;
            x -= part;
            rest[i + lane] = x;
            memcpy(&bits, &x, 8);
            left[lane] |= bits << 1;
        }
    for (lane = 0; lane < FM_LANES; lane++) {
        totals[lane] = first[lane];
        totals[FM_LANES + lane] = second[lane];
        any |= left[lane];
    }
    return any != 0;
}

#endif
